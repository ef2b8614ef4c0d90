"""`policy check` proposes zCDP, and Gaussian noise under it, where the total would last longer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.mechanisms import discrete_gaussian, discrete_laplace
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.policy.amount_findings import accounting_findings, how_long
from proxy.policy.finding_names import FindingName
from proxy.policy.policy_model import Accounting, Budget, Noise, Policy
from tests.pipeline_world import POLICIES

_MILLIONTH = Fraction(1, 10**6)


def _policy(
    total: int,
    delta: Fraction = Fraction(1, 10**4),
    epsilon: Fraction = Fraction(1),
    noise: Noise = Noise.LAPLACE,
    accounting: Accounting = Accounting.BASIC,
) -> Policy:
    policy = POLICIES["world"]
    privacy = replace(policy.privacy, epsilon=epsilon, delta=_MILLIONTH, noise=noise)
    budgets = replace(policy.budgets, total=Budget(Loss(Fraction(total), delta)))
    return replace(policy, privacy=privacy, budgets=budgets, accounting=accounting)


def _said(policy: Policy) -> str:
    return " ".join(f"{one.name.name} {one.what}" for one in accounting_findings(policy))


def test_gaussian_noise_is_proposed_from_25_on() -> None:
    assert _said(_policy(15)) == ""
    said = _said(_policy(25))
    assert said.startswith(FindingName.TOTAL_COULD_LAST_LONGER.name)
    assert "`accounting: zcdp`, `noise: gaussian` and `epsilon: 3.71`" in said
    assert "30 COUNTs as exact as now, instead of 25" in said


def test_laplace_is_compared_with_what_the_policy_does_already() -> None:
    said = _said(_policy(1000, accounting=Accounting.ZCDP))
    assert "instead of 1,780" in said
    assert _said(_policy(1000, noise=Noise.GAUSSIAN)) == ""


def test_zcdp_alone_where_no_epsilon_gives_gaussian_noise_that_size() -> None:
    lasting = how_long(_policy(100_000, epsilon=Fraction(30)))
    assert lasting.gaussian_epsilon is None
    assert lasting.by_gaussian == 0


@pytest.mark.parametrize("delta", [Fraction(0)])
def test_a_total_without_delta_stays_as_it_is(delta: Fraction) -> None:
    assert _said(_policy(1000, delta=delta)) == ""


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_what_is_proposed_is_as_exact(epsilon: Fraction) -> None:
    """The half widths of both noises, of a unit with many rows, where they are not whole steps."""
    proposed = how_long(_policy(1000, epsilon=epsilon)).gaussian_epsilon
    assert proposed is not None
    rows = 1000
    laplace = discrete_laplace.scale_for(rows, epsilon)
    sigma2 = discrete_gaussian.sigma2_for(rows**2, rho_of_loss(proposed, _MILLIONTH))
    assert float(sigma2) <= 2 * float(laplace) ** 2
    assert float(sigma2) > 1.5 * float(laplace) ** 2 / (1 + float(epsilon) ** 2 / 8)


def test_no_epsilon_is_proposed_that_is_a_finding_itself() -> None:
    said = _said(_policy(1000, epsilon=Fraction(2)))
    assert "epsilon: " not in said
