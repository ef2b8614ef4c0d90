"""Whether the shared budget would last longer under zCDP, or with Gaussian noise under it: by public numbers.

What is counted is a COUNT at the policy's epsilon, which one unit moves by one step: the worst of discrete
Laplace noise. Of Gaussian noise of the same standard deviation rho is smaller; but rho adds up to little only
where there are many, so that both are worth it for large budgets only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from proxy.mechanisms.rho_of_noise import rho_of_pure
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.policy.amount_findings import STATEMENT_EPSILON
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import Accounting, Noise, Policy

_WORTH_IT = Fraction(11, 10)
_BISECTIONS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """How many typical COUNTs the total admits: as the policy is, by rho, and with Gaussian noise as exact as
    now, which takes this epsilon a statement. None: no such epsilon may be given."""

    now: int
    by_rho: int
    by_gaussian: int
    gaussian_epsilon: Fraction | None


def accounting_findings(policy: Policy) -> Iterator[Finding]:
    """
    Given    a policy that is consistent in itself
    Gives    one finding, where a tenth more could be asked
    """
    total = policy.budgets.total.limit
    if policy.privacy.noise is not Noise.LAPLACE or total.epsilon == 0 or total.delta == 0:
        return
    lasting = how_long(policy)
    epsilon = lasting.gaussian_epsilon
    best_laplace = max(lasting.now, lasting.by_rho)
    is_small = epsilon is not None and epsilon <= STATEMENT_EPSILON
    if epsilon is not None and is_small and lasting.by_gaussian > best_laplace * _WORTH_IT:
        count = lasting.by_gaussian
        other = ". All but COUNT and SUM then cost more: a session can lower its epsilon for them"
        change = f"`accounting: zcdp`, `noise: gaussian` and `epsilon: {float(epsilon):g}`"
    elif lasting.by_rho > lasting.now * _WORTH_IT:
        count, change, other = lasting.by_rho, "`accounting: zcdp`", ""
    else:
        return
    what = (
        f"with {change} the total would last for {count:,} COUNTs as exact as now, instead of {lasting.now:,}."
        f" Half of each budget's delta is set aside for that: statements with delta get half as many{other}"
    )
    yield Finding(
        name=FindingName.TOTAL_COULD_LAST_LONGER,
        where="budgets",
        what=what,
        path=("budgets", "total"),
    )


def how_long(policy: Policy) -> Lasting:
    """Of a policy with Laplace noise and a total above 0."""
    privacy, total = policy.privacy, policy.budgets.total.limit
    most = rho_of_loss(total.epsilon, total.delta / 2)
    by_epsilon = math.floor(total.epsilon / privacy.epsilon)
    by_rho = max(by_epsilon, math.floor(most / rho_of_pure(privacy.epsilon)))
    # The variance of DLap(1/epsilon) is 1 / (2 sinh^2(epsilon/2)); rho of a Gaussian with it 1/(2 sigma2).
    rho = math.sinh(float(privacy.epsilon) / 2) ** 2 if privacy.epsilon < 40 else math.inf
    epsilon = _epsilon_of(rho, privacy.delta)
    return Lasting(
        now=by_rho if policy.accounting is Accounting.ZCDP else by_epsilon,
        by_rho=by_rho,
        by_gaussian=0
        if epsilon is None
        else math.floor(most / rho_of_loss(epsilon, privacy.delta)),
        gaussian_epsilon=epsilon,
    )


@lru_cache(maxsize=64)  # a hundred conversions; each look at a policy asks for the same
def _epsilon_of(rho: float, delta: Fraction) -> Fraction | None:
    """The least epsilon, in three digits, at which a statement's noise has this rho. None above 100."""
    low, high = 0.0, 100.0
    if not rho < rho_of_loss(Fraction(100), delta):
        return None
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if rho_of_loss(Fraction(middle), delta) < rho else (low, middle)
    digits = 2 - math.floor(math.log10(high))
    return Fraction(math.ceil(high * 10**digits)) / Fraction(10) ** digits
