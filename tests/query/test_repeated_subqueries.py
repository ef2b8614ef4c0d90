"""A subquery that a statement has twice is asked once, and one that only looks alike is asked for itself."""

from __future__ import annotations

import pytest

from tests.pipeline_world import walk

_MEAN = "(SELECT avg(i4) FROM people)"
_ABOVE = f"(SELECT count(*) FROM people WHERE i4 > {_MEAN})"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (f"SELECT {_MEAN}, {_MEAN}", 1),
        (f"SELECT count(*), {_MEAN} FROM people WHERE i4 > {_MEAN}", 2),
        (f"SELECT count(*) FROM people WHERE i4 > {_MEAN} AND i8 < {_MEAN}", 2),
        (f"SELECT {_ABOVE}, {_ABOVE}", 2),
        (f"SELECT {_MEAN}, (SELECT AVG(i4)  FROM /* all */ people)", 2),
        ("SELECT count(*) FROM people UNION ALL SELECT count(*) FROM people", 1),
        (
            "SELECT a.n, b.n FROM (SELECT i4 > 3 AS f, count(*) AS n FROM people GROUP BY i4 > 3) a"
            " JOIN (SELECT i4 > 3 AS f, count(*) AS n FROM people GROUP BY i4 > 3) b ON b.f = a.f",
            1,
        ),
        ("SELECT (SELECT count(*) FROM people), (SELECT count(*) FROM people WHERE i4 > 3)", 2),
        (
            "SELECT (SELECT count(*) FROM people WHERE i4 = 1), (SELECT count(*) FROM people WHERE i4 = 2)",
            2,
        ),
        # The same words, in which a name means something else.
        (
            f"SELECT {_MEAN}, q.x FROM (WITH people AS (SELECT * FROM w.people WHERE i4 > 3)"
            f" SELECT {_MEAN} AS x) q",
            2,
        ),
    ],
)
def test_it_is_asked_once(text: str, blocks: int) -> None:
    pipeline = walk(text)
    assert pipeline is not None
    assert len(pipeline.plan.blocks) == blocks
