"""The generated relations alone, without a question written for it, find every mutant of planner and compiler
that neighbours or costs can show."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, seed, settings

from proxy.base.errors import Fault, Refusal
from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.audit.layers import WANTED, Patch, cost_complains, neighbours_complain
from tests.audit.questions import Question, questions
from tests.audit.reach import by_plan
from tests.audit.test_generated_questions import SLOW
from tests.audit.test_generated_relations import BASES
from tests.audit.test_mutants import MUTANTS
from tests.pipeline_world import POLICIES, walk

_SEEN_HERE = [
    mutant
    for mutant, layer in MUTANTS
    if layer in (neighbours_complain, cost_complains)
    and mutant.__module__.endswith(("planner_mutants", "compiler_mutants"))
]


@cache
def _questions() -> tuple[Question, ...]:
    found: dict[Question, None] = {}
    for start in range(16):

        @seed(start)
        @settings(max_examples=40, deadline=None, suppress_health_check=SLOW, database=None)
        @given(questions())
        def collect(question: Question) -> None:
            found[question] = None

        collect()
    return tuple(found)


def _is_seen(question: Question, auditor: Auditor) -> bool:
    try:
        pipeline = walk(question.sql, POLICIES[question.policy])
    except Refusal:
        return False
    assert pipeline is not None
    cost, loss = spent(pipeline.plan, by_plan), pipeline.plan.loss
    if cost.epsilon > loss.epsilon or cost.delta > loss.delta:
        return True
    if loss.epsilon > WANTED.epsilon or loss.delta > WANTED.delta:
        return True
    bases = [base.small() for base in auditor.bases if base.name in BASES]
    return bool(auditor.audit(pipeline.plan, bases, by_plan))


@pytest.mark.long
@pytest.mark.parametrize("mutant", _SEEN_HERE, ids=lambda mutant: mutant.__name__)
def test_a_generated_question_finds_it(
    mutant: Patch, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _questions()
    mutant(monkeypatch)
    for question in asked:
        try:
            if _is_seen(question, auditor):
                return
        except (Fault, TypeError):  # a statement that raises, or a row without a partition
            return
    raise AssertionError("no generated question finds it")
