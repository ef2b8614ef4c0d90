"""A LIMIT on rows of which only the groups are shown, as Metabase asks for the values of a column.

It is read as if it were not there; wherever it could change an answer it is refused.
"""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import read

_INNER = re.compile(r"LIMIT \d+(?=\))")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT q.t AS t FROM (SELECT people.t AS t FROM people LIMIT 100000) AS q GROUP BY q.t"
        " ORDER BY q.t LIMIT 1000",
        "SELECT DISTINCT t FROM (SELECT t FROM people WHERE i4 > 3 LIMIT 50) q LIMIT 50",
        "SELECT t FROM (SELECT t FROM people LIMIT 9) q WHERE t <> 'x' GROUP BY t LIMIT 0",
    ],
)
def test_groups_are_those_of_all_rows(text: str) -> None:
    limited, whole = read(text), read(_INNER.sub(lambda found: " " * len(found[0]), text))
    assert limited is not None
    assert whole is not None
    assert limited[1].query == whole[1].query


@pytest.mark.parametrize(
    "text",
    [
        # What is counted depends on how many rows there are.
        "SELECT t, count(*) FROM (SELECT t FROM people LIMIT 1000) q GROUP BY t LIMIT 10",
        "SELECT count(*) FROM (SELECT t FROM people LIMIT 1000) q",
        "SELECT t FROM (SELECT t FROM people LIMIT 1000) q GROUP BY t ORDER BY count(*) LIMIT 10",
        "SELECT t FROM (SELECT t FROM people LIMIT 1000) q GROUP BY t HAVING count(*) > 3 LIMIT 10",
        # More groups than so many rows can have.
        "SELECT t FROM (SELECT t FROM people LIMIT 10) q GROUP BY t",
        "SELECT t FROM (SELECT t FROM people LIMIT 10) q GROUP BY t LIMIT 11",
        # Which rows stay is said.
        "SELECT t FROM (SELECT t FROM people ORDER BY i4 LIMIT 1000) q GROUP BY t LIMIT 10",
        "SELECT t FROM (SELECT t FROM people LIMIT 1000 OFFSET 5) q GROUP BY t LIMIT 10",
        "SELECT t FROM (SELECT t FROM people LIMIT 1000) q GROUP BY t LIMIT 10 OFFSET 5",
        # Rows that are joined, or of two queries, or windows over groups.
        "SELECT q.t FROM (SELECT t FROM people LIMIT 1000) q, people p GROUP BY q.t LIMIT 10",
        "SELECT t FROM (SELECT t FROM people UNION ALL (SELECT t FROM people LIMIT 9)) q GROUP BY t LIMIT 5",
        "SELECT t, row_number() OVER () FROM (SELECT t FROM people LIMIT 1000) q GROUP BY t LIMIT 10",
        "SELECT t FROM (SELECT t FROM people LIMIT 1000) q GROUP BY ROLLUP (t) ORDER BY grouping(t) LIMIT 10",
        "SELECT t FROM (SELECT t FROM people LIMIT 5 + 5) q GROUP BY t LIMIT 10",
    ],
)
def test_where_it_could_change_an_answer_it_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        read(text)
