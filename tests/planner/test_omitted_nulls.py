"""A histogram over a nullable column whose values do not list null says that null rows are not in it."""

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
