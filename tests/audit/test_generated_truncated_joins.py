"""Generated questions over joins by truncation: a change of one table or of both moves them by no more than the
policy's rows and join keys promise."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, seed, settings

from proxy.base.errors import Code, Refusal
from tests.audit import truncated
from tests.audit.exact_results import Auditor
from tests.audit.test_generated_questions import SLOW
from tests.audit.truncated_questions import Asked, truncated_questions
from tests.pipeline_world import POLICIES, walk

# A generated expression may have too fine a grid or too many groups; nothing else may be refused.
_ALLOWED = {Code.UNSUPPORTED, Code.INFEASIBLE, Code.TOO_COMPLEX}


def _run(rounds: range, examples: int, auditor: Auditor) -> Counter[str]:
    seen: Counter[str] = Counter()
    asked: set[Asked] = set()

    def check(question: Asked) -> None:
        if question in asked:
            return
        asked.add(question)
        try:
            walk(question.sql, POLICIES[question.policy])
        except Refusal as refusal:
            assert refusal.code in _ALLOWED, f"{refusal.message}: {question.sql}"
            seen["refused"] += 1
            return
        rows = 0 if question.join is None else truncated.rows_of_all(question.join)
        assert list(truncated.violations(auditor, [question.sql], question.policy, rows)) == []
        if question.join is None:
            assert list(truncated.too_dear([question.sql], question.policy)) == []
        seen["answered"] += 1
        seen.update([*question.features, question.policy])

    for start in rounds:
        given_question = given(truncated_questions())(check)
        seed(start)(
            settings(
                max_examples=examples, deadline=None, suppress_health_check=SLOW, database=None
            )(given_question)
        )()
    return seen


_KINDS = (
    *("by a label", "by another column", "subquery", "another condition", "groups", "no groups"),
    *("joins", "joins best", "joins gaussian", "joins best gaussian", "gaussian", "left join"),
)


@pytest.mark.long
def test_some_generated_truncated_joins(auditor: Auditor) -> None:
    seen = _run(range(1), 16, auditor)
    assert seen["answered"] >= 10, seen


@pytest.mark.long
def test_generated_truncated_joins(auditor: Auditor) -> None:
    seen = _run(range(2), 20, auditor)
    assert seen["answered"] >= 25, seen
    assert all(seen[kind] for kind in _KINDS), seen


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 120, 5))
def test_many_generated_truncated_joins(first: int, auditor: Auditor) -> None:
    """In pieces, each far under the time that a test has, also where others run beside it."""
    seen = _run(range(first, first + 5), 50, auditor)
    assert seen["answered"] >= 150 and seen["refused"] <= seen["answered"] // 5, seen
    assert all(seen[kind] >= 12 for kind in _KINDS) and seen["three tables"] >= 8, seen
