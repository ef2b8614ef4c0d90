"""AVG as a noisy sum over a noisy count, without a centre: the simple variant, by the policy's choice.

Values are grid indices within low..high; the sum moves by the larger of their ends, not by half their
distance, so that ratio_mean is never worse by more than its noise in the count. Here SUM is a part of the
mean and costs nothing more beside it. Proof: PROOFS.md, "Sum over count".
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.ratio_mean import NoisySumAndCount, RatioScales
from proxy.mechanisms.split import split

RELEASES = 2  # a sum and a count


def total_sensitivity(low: int, high: int, rows_per_unit: int = 1) -> int:
    """How far one unit moves the sum of its clamped grid indices.

    Source   docs/design/mechanisms.md 2.2
    """
    if low > high:
        raise ValueError("the lower bound is above the upper bound")
    if rows_per_unit < 1:
        raise ValueError("a unit has at least one row")
    return rows_per_unit * max(1, abs(low), abs(high))


def scales(low: int, high: int, epsilon: Fraction, rows_per_unit: int = 1) -> RatioScales:
    """The scales with which sum and count together are epsilon-DP: half of epsilon each.

    Given    low <= high, epsilon > 0; one unit has at most rows_per_unit rows
    Refuses  anything else with ValueError
    Source   docs/design/mechanisms.md 7.3

    >>> scales(0, 100, Fraction(1))
    RatioScales(total=Fraction(200, 1), count=Fraction(2, 1))
    """
    each = split(Loss(epsilon, Fraction(0)), RELEASES).epsilon
    return RatioScales(
        total=discrete_laplace.scale_for(total_sensitivity(low, high, rows_per_unit), each),
        count=discrete_laplace.scale_for(rows_per_unit, each),
    )


def release(
    total: int,
    count: int,
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
) -> Fraction:
    """An epsilon-DP mean in grid steps, within low..high.

    Given    total = the exact sum of the rows' grid indices, each within low..high, and count =
             their number: non-NULL rows in both
    Refuses  what scales refuses
    """
    noise = scales(low, high, epsilon, rows_per_unit)
    noisy = NoisySumAndCount(
        total=total + discrete_laplace.sample(bits, noise.total),
        count=count + discrete_laplace.sample(bits, noise.count),
    )
    return mean(noisy, low, high)


def mean(sums: NoisySumAndCount, low: int, high: int) -> Fraction:
    """The mean in grid steps: post-processing.

    >>> mean(NoisySumAndCount(total=7, count=2), 0, 9)
    Fraction(7, 2)
    """
    ratio = Fraction(sums.total, max(1, sums.count))
    return min(max(ratio, Fraction(low)), Fraction(high))


def interval(
    sums: NoisySumAndCount,
    noise: RatioScales,
    low: int,
    high: int,
    level: Fraction | float = Fraction(95, 100),
) -> tuple[Fraction, Fraction]:
    """Bounds that hold the exact mean with at least this probability, if there are rows at all.

    Source   docs/design/mechanisms.md 9.1, union bound
    """
    each = 1 - (1 - Fraction(level)) / RELEASES
    totals = discrete_laplace.half_width(noise.total, each)
    counts = discrete_laplace.half_width(noise.count, each)
    means = [
        mean(
            NoisySumAndCount(total=sums.total + a * totals, count=sums.count + b * counts),
            low,
            high,
        )
        for a, b in product((-1, 1), repeat=2)
    ]
    return min(means), max(means)


def error_times_rows(
    noise: RatioScales, low: int, high: int, level: Fraction | float = Fraction(95, 100)
) -> Fraction:
    """As ratio_mean_estimate.error_times_rows.

    >>> error_times_rows(scales(0, 100, Fraction(1)), 0, 100)
    Fraction(1438, 1)
    """
    each = 1 - (1 - Fraction(level)) / RELEASES
    total, count = (discrete_laplace.half_width(s, each) for s in (noise.total, noise.count))
    return Fraction(total + max(abs(low), abs(high)) * count)
