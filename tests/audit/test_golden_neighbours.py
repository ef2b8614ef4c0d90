"""Every golden question, compiled, on planted databases and all their neighbours."""

from __future__ import annotations

import pytest

from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.planner.test_golden_road import golden_road, planned_cases
from tests.world import POLICIES

CASES = planned_cases()


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_neighbours_move_by_no_more_than_planned(number: int, auditor: Auditor) -> None:
    assert auditor.audit(golden_road(CASES[number]).plan) == []


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_the_mechanisms_cost_what_is_charged(number: int) -> None:
    road = golden_road(CASES[number])
    cost = spent(road.plan)
    assert cost.epsilon <= road.plan.loss.epsilon and cost.delta <= road.plan.loss.delta
    privacy = POLICIES["world"].privacy
    assert road.plan.loss.epsilon <= privacy.epsilon and road.plan.loss.delta <= privacy.delta
