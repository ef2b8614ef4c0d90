"""A histogram over a nullable column whose values do not list null says that null rows are not in it, and an
answer of a table whose unit can be null that rows of nobody do not count."""

from __future__ import annotations

import pytest

from proxy.engine.answer_accuracy import accuracies
from tests.pipeline_world import walk


@pytest.mark.parametrize(
    ("statement", "is_told"),
    [
        ("SELECT c, count(*) FROM people GROUP BY c", True),
        ("SELECT c, count(*) FROM people WHERE i4 > 3 GROUP BY c", True),
        ("SELECT c, count(*) FROM people WHERE c IS NOT NULL GROUP BY c", False),
        ("SELECT c, count(*) FROM people WHERE c <> 'a' GROUP BY c", False),
        ("SELECT coalesce(c, 'a') AS k, count(*) FROM people GROUP BY 1", False),
        ("SELECT t, count(*) FROM people GROUP BY t", False),  # null is listed
        ("SELECT s, count(*) FROM people GROUP BY s", False),  # private keys have a null group
        ("SELECT count(*) FROM people", False),
    ],
)
def test_it_is_a_condition_of_the_answers(statement: str, is_told: bool) -> None:
    pipeline = walk(statement)
    assert pipeline is not None
    (entry,) = accuracies(pipeline.plan)
    assert ("rows whose c is null are in no group" in entry.condition) is is_told


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("SELECT count(*) FROM visits", ["uid of w.visits"]),
        ("SELECT count(*) FROM members", ["uid of w.members"]),  # unique, but can be null
        (
            "SELECT count(*) FROM visits v JOIN orders o ON v.uid = o.uid",
            ["uid of w.visits", "uid of w.orders"],
        ),
        ("SELECT count(*) FROM lines", ["order_id of w.lines", "uid of w.orders"]),
        (
            "SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM calls GROUP BY uid) q",
            ["uid of w.calls"],
        ),
        ("SELECT count(*) FROM people", []),
        ("SELECT count(*) FROM events", []),
    ],
)
def test_rows_of_nobody_do_not_count(statement: str, columns: list[str]) -> None:
    pipeline = walk(statement)
    assert pipeline is not None
    (entry,) = accuracies(pipeline.plan)
    told = [f"rows whose {column} is null belong to nobody and do not count" for column in columns]
    assert entry.condition == "; ".join(told)
