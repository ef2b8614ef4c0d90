"""What a statement draws of each protected table is a part of what it costs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.mechanisms.loss import NOTHING
from tests.cases import Case
from tests.pipeline_world import POLICIES
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases

_ROUNDED = Fraction(1, 10**15)  # where events tell decimals


@pytest.mark.every(8)
@pytest.mark.parametrize("case", planned_cases(), ids=lambda case: case.name)
def test_of_each_golden_plan(case: Case) -> None:
    plan = golden_pipeline(case).checked
    policy = POLICIES[case.headers.get("policy", "world")]
    protected = {str(table.name) for table in policy.protected()}
    read = {name for one in plan.blocks for name in one.block.tables()}
    assert plan.tables.keys() == read & protected
    for one in plan.blocks:
        told = [
            sum((Fraction(str(event[part])) for event in one.price.events), Fraction(0))
            for part in ("epsilon", "delta")
        ]
        for of_events, of_block in zip(told, (one.loss.epsilon, one.loss.delta), strict=True):
            assert 0 <= of_events - of_block <= _ROUNDED
    for name, loss in plan.tables.items():
        assert loss.epsilon <= plan.loss.epsilon and loss.delta <= plan.loss.delta
        alone = all(name in one.tables for one in plan.blocks)
        assert loss == plan.loss or not alone
    assert sum((one.loss for one in plan.blocks), NOTHING) == plan.loss
