"""The events of a plan tell all of its loss, and rho of each follows from the event alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.accounting import events
from proxy.accounting.amounts import charge
from proxy.mechanisms import rho_of_noise
from proxy.mechanisms.zcdp import rho_of_loss
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases


@pytest.mark.every(3)
@pytest.mark.parametrize("part", range(3))
def test_events_cover_the_loss_and_no_more(part: int) -> None:
    """What does not, the ledger would charge as one approximate mechanism."""
    kinds = set()
    for case in planned_cases()[part::3]:
        plan = golden_pipeline(case).checked
        found = plan.price.events
        events.check(found)
        cost = charge(plan.loss)
        step = len(found) * Fraction(1, 10**18)
        epsilon = sum((Fraction(str(one["epsilon"])) for one in found), Fraction(0))
        delta = sum((Fraction(str(one["delta"])) for one in found), Fraction(0))
        assert cost.epsilon <= epsilon <= plan.loss.epsilon + step, case.statement
        assert cost.delta <= delta <= plan.loss.delta + step, case.statement
        kinds |= {str(one["kind"]) for one in found}
    assert kinds == {"dlaplace", "gaussian", "pure", "approx"}


@pytest.mark.long
def test_noise_costs_no_more_rho_than_its_loss_allows() -> None:
    for case in planned_cases():
        for event in golden_pipeline(case).checked.price.events:
            epsilon, delta, rho = (
                Fraction(str(event[name])) for name in ("epsilon", "delta", "rho")
            )
            if event["kind"] == "gaussian":
                allowed = rho_of_loss(epsilon, delta) * (1 + Fraction(1, 10**9))
            else:
                allowed = rho_of_noise.rho_of_pure(epsilon) + Fraction(1, 10**30)
            assert rho <= allowed, f"{case.statement}: {event}"
