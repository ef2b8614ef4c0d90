"""What a statement draws of each protected table is a part of what it costs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from proxy.engine.table_losses import protected_names, table_losses
from proxy.planner.loss_events import block_events, block_loss

from proxy.mechanisms.loss import NOTHING
from tests.cases import Case
from tests.pipeline_world import POLICIES
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases

_ROUNDED = Fraction(1, 10**15)  # where events tell decimals


@pytest.mark.every(8)
@pytest.mark.parametrize("case", planned_cases(), ids=lambda case: case.name)
def test_of_each_golden_plan(case: Case) -> None:
    plan = golden_pipeline(case).plan
    policy = POLICIES[case.headers.get("policy", "world")]
    found = table_losses(plan, protected_names(policy))
    read = {name for block in plan.blocks for name in block.tables()}
    assert found.keys() == read & protected_names(policy)
    for block in plan.blocks:
        told = [
            sum((Fraction(str(event[part])) for event in block_events(block)), Fraction(0))
            for part in ("epsilon", "delta")
        ]
        exact = block_loss(block)
        for of_events, of_block in zip(told, (exact.epsilon, exact.delta), strict=True):
            assert 0 <= of_events - of_block <= _ROUNDED
    for name, loss in found.items():
        assert loss.epsilon <= plan.loss.epsilon and loss.delta <= plan.loss.delta
        alone = all(name in block.tables() for block in plan.blocks)
        assert loss == plan.loss or not alone
    whole = sum((block_loss(block) for block in plan.blocks), NOTHING)
    assert whole.epsilon >= plan.loss.epsilon
