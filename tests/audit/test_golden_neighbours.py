"""Every golden question, compiled, on synthetic databases and all their neighbours."""

from __future__ import annotations

import pytest

from proxy.kernel.plan import BlockPlan
from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.audit.reach import Reach, by_plan, by_policy
from tests.pipeline_world import POLICIES
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases

CASES = planned_cases()


# A third of them in every run, the others at night; the cost is looked at of each in every run.
_THIRD = [
    pytest.param(number, id=case.name, marks=[pytest.mark.long] * (number % 12 > 0))
    for number, case in enumerate(CASES)
]


def _promise(block: BlockPlan) -> Reach:
    """Of rows whose bound is chosen the policy promises none: there it is the one of the plan."""
    return by_plan(block) if block.chooses_rows else by_policy(block)


@pytest.mark.every(2)
@pytest.mark.parametrize("number", _THIRD)
def test_neighbours_move_by_no_more_than_planned(number: int, auditor: Auditor) -> None:
    assert auditor.audit(golden_pipeline(CASES[number]).plan, promise=_promise) == []


@pytest.mark.every(6)
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_the_mechanisms_cost_what_is_charged(number: int) -> None:
    pipeline = golden_pipeline(CASES[number])
    cost = spent(pipeline.plan)
    assert cost.epsilon <= pipeline.plan.loss.epsilon and cost.delta <= pipeline.plan.loss.delta
    privacy = POLICIES["world"].privacy
    assert (
        pipeline.plan.loss.epsilon <= privacy.epsilon and pipeline.plan.loss.delta <= privacy.delta
    )
