"""AVG as a noisy sum over a noisy count, about the middle of the bounds.

The two releases are integers with discrete Laplace noise; the mean, clamped, is post-processing.
Values are grid indices i in low..high. The middle may lie between two of them, so everything is
counted in half grid steps: y = 2i - (low + high), an integer within -(high-low) .. high-low.
Proof: PROOFS.md, "Mean as a ratio".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.split import split

RELEASES = 2  # a sum and a count


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioScales:
    """The scales of discrete Laplace noise: public."""

    total: Fraction
    count: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisySumAndCount:
    """The two noisy results: private already, everything made from them is post-processing."""

    total: int
    count: int


def total_sensitivity(low: int, high: int, rows_per_unit: int = 1) -> int:
    """How far one unit moves the sum of y: high - low for each of its rows.

    The uncentred sum, in the same half steps, would move by 2 max(|low|, |high|).
    """
    if low > high:
        raise ValueError("the lower bound is above the upper bound")
    if rows_per_unit < 1:
        raise ValueError("a unit has at least one row")
    return rows_per_unit * (high - low)


def scales(low: int, high: int, epsilon: Fraction, rows_per_unit: int = 1) -> RatioScales:
    """The scales with which sum and count together are epsilon-DP: half of epsilon each.

    Given    low < high, epsilon > 0; one unit has at most rows_per_unit rows
    Refuses  anything else with ValueError
    Source   docs/design/mechanisms.md 7.1

    >>> scales(0, 100, Fraction(1))
    RatioScales(total=Fraction(200, 1), count=Fraction(2, 1))
    """
    each = split(Loss(epsilon, Fraction(0)), RELEASES).epsilon
    sensitivity = total_sensitivity(low, high, rows_per_unit)
    return RatioScales(
        total=discrete_laplace.scale_for(sensitivity, each),
        count=discrete_laplace.scale_for(rows_per_unit, each),
    )


def noisy(total: int, count: int, noise: RatioScales, bits: RandomBits) -> NoisySumAndCount:
    """The epsilon-DP moments of which a mean is made.

    Given    total = the exact sum of y over the rows, from `centred`, each index within low..high, and
             count = their number: non-NULL rows in both; noise: from `scales`
    """
    return NoisySumAndCount(
        total=total + discrete_laplace.sample(bits, noise.total),
        count=count + discrete_laplace.sample(bits, noise.count),
    )
