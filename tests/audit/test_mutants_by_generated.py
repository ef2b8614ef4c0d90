"""The generated relations alone, without a question written for it, find every mutant of planner and compiler
that neighbours or costs can show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import given, seed, settings

from proxy.base.errors import Fault, Refusal
from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.audit.layers import WANTED, Patch, cost_complains, neighbours_complain
from tests.audit.planner_mutants import sign_of_a_sum_by_its_given_total
from tests.audit.questions import Question, questions
from tests.audit.reach import by_plan
from tests.audit.test_generated_questions import SLOW
from tests.audit.test_generated_relations import BASES
from tests.audit.test_mutants import MUTANTS
from tests.audit.without_kernel import without_kernel
from tests.pipeline_world import POLICIES, Pipeline, walk

# Needs bounds that the policy gives of what a unit adds: test_generated_bounds.py draws them, and finds it.
_SEEN_THERE = (sign_of_a_sum_by_its_given_total,)
_SEEN_HERE = [
    mutant
    for mutant, layer in MUTANTS
    if layer in (neighbours_complain, cost_complains)
    and mutant not in _SEEN_THERE
    and mutant.__module__.endswith(("planner_mutants", "compiler_mutants"))
]


_STARTS = 100  # of 40 questions each; most mutants are found by the first


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """A question that is answered, and the plan and SQL of it."""

    question: Question
    text: str


@cache
def _planned(start: int) -> tuple[_Planned, ...]:
    """As they are without a mutant."""
    asked: dict[Question, None] = {}

    @seed(start)
    @settings(max_examples=40, deadline=None, suppress_health_check=SLOW, database=None)
    @given(questions())
    def collect(question: Question) -> None:
        asked[question] = None

    collect()
    found = ((question, _pipeline(question)) for question in asked)
    return tuple(
        _Planned(question=question, text=_text(pipeline))
        for question, pipeline in found
        if pipeline is not None
    )


def _pipeline(question: Question) -> Pipeline | None:
    try:
        return walk(question.sql, POLICIES[question.policy])
    except Refusal:
        return None


def _text(pipeline: Pipeline) -> str:
    return repr((pipeline.plan, pipeline.queries))


def _is_seen(planned: _Planned, auditor: Auditor) -> bool:
    pipeline = _pipeline(planned.question)
    if pipeline is None:
        return False
    cost, loss = spent(pipeline.plan, by_plan), pipeline.plan.loss
    if cost.epsilon > loss.epsilon or cost.delta > loss.delta:
        return True
    if loss.epsilon > WANTED.epsilon or loss.delta > WANTED.delta:
        return True
    if _text(pipeline) == planned.text:  # which neighbours cannot tell apart
        return False
    bases = [base.small() for base in auditor.bases if base.name in BASES]
    return bool(auditor.audit(pipeline.plan, bases, by_plan))


@pytest.mark.long
@pytest.mark.parametrize("mutant", _SEEN_HERE, ids=lambda mutant: mutant.__name__)
def test_a_generated_question_finds_it(
    mutant: Patch, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for start in range(_STARTS):
        asked = _planned(start)
        with monkeypatch.context() as patch:
            mutant(patch)
            without_kernel(patch)
            for planned in asked:
                try:
                    if _is_seen(planned, auditor):
                        return
                except (Fault, TypeError):  # a statement that raises, or a row without a partition
                    return
    raise AssertionError("no generated question finds it")
