"""Every golden question, compiled, on planted databases and all their neighbours."""

from __future__ import annotations

import pytest

from proxy.query.statements import Kind
from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.cases import in_folder
from tests.planner.test_golden_road import ROAD, road_of
from tests.world import POLICIES

CASES = list(in_folder(ROAD))


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_neighbours_move_by_no_more_than_planned(number: int, auditor: Auditor) -> None:
    road = road_of(CASES[number])
    if road is None or road.statement.kind is Kind.EXPLAIN:
        return
    assert auditor.audit(road.plan) == []


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_the_mechanisms_cost_what_is_charged(number: int) -> None:
    road = road_of(CASES[number])
    if road is None:
        return
    cost = spent(road.plan)
    assert cost.epsilon <= road.plan.loss.epsilon and cost.delta <= road.plan.loss.delta
    privacy = POLICIES["world"].privacy
    assert road.plan.loss.epsilon <= privacy.epsilon and road.plan.loss.delta <= privacy.delta
