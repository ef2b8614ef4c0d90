"""AVG from noisy sums: a small part of epsilon finds about where the mean is, the rest measures the sum
of the distances from there.

A mean is sum over count, and noise in the count harms it as much as the mean is away from the centre
about which the sum is taken. About the mean itself it does no harm, so hardly any epsilon need go there:
with many rows the noise is that of one sum at nearly all of epsilon, instead of two results at half of
it. With few rows nothing can be found for a small part, and the two halves are the better choice; which
it is, is decided by the noisy count. In half grid steps, as in ratio_mean. Proof: PROOFS.md, "Mean about
a noisy centre".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proxy.mechanisms import discrete_laplace, ratio_mean
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.ratio_mean import total_sensitivity

# Measured over 30 to 10^6 rows and means from the middle to the ends of the bounds: these shares make
# the error with few rows at most 6 % larger than two halves do, and with many a third to a half smaller.
COUNT_SHARE = Fraction(1, 25)
CENTRE_SHARE = Fraction(1, 25)
# Noisy rows, times epsilon and per row of a unit, from which the centre is worth finding.
MANY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanAllocation:
    """How epsilon is divided. With few rows: count and few; with many: count, centre and many."""

    count: Fraction
    few: Fraction
    centre: Fraction
    many: Fraction


def allocation(epsilon: Fraction) -> MeanAllocation:
    """
    >>> [str(share) for share in (allocation(Fraction(1)).count, allocation(Fraction(1)).many)]
    ['1/25', '23/25']
    """
    count, centre = epsilon * COUNT_SHARE, epsilon * CENTRE_SHARE
    return MeanAllocation(
        count=count, few=epsilon - count, centre=centre, many=epsilon - count - centre
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMeanSums:
    """What was drawn for a mean: private already. centre: about which the total was taken, in half grid steps;
    None: the middle of the bounds, where there were few rows."""

    total: int
    count: int
    centre: int | None


def noisy(
    total: int,
    count: int,
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
) -> NoisyMeanSums:
    """The epsilon-DP moments of which a mean is made.

    Given    total = the exact sum of y = 2i - (low + high) over the rows' grid indices i, each within
             low..high, and count = their number: non-NULL rows in both; low < high, epsilon > 0; one
             unit has at most rows_per_unit rows
    Refuses  anything else with ValueError
    Source   adaptive composition, Dwork, Roth 2014, theorem 3.16
    """
    sensitivity = total_sensitivity(low, high, rows_per_unit)
    share = allocation(epsilon)
    of_count = discrete_laplace.scale_for(rows_per_unit, share.count)
    rows = count + discrete_laplace.sample(bits, of_count)
    if rows * epsilon < MANY * rows_per_unit:
        noise = ratio_mean.scales(low, high, share.few, rows_per_unit)
        few = ratio_mean.noisy(total, count, noise, bits)
        return NoisyMeanSums(total=few.total, count=few.count, centre=None)
    width = high - low
    of_centre = discrete_laplace.scale_for(sensitivity, share.centre)
    about = total + discrete_laplace.sample(bits, of_centre)
    centre = min(max(round(Fraction(about, rows)), -width), width)
    distance = sensitivity_about(centre, low, high, rows_per_unit)
    of_total = discrete_laplace.scale_for(distance, share.many)
    distances = total - centre * count + discrete_laplace.sample(bits, of_total)
    return NoisyMeanSums(total=distances, count=rows, centre=centre)


def sensitivity_about(centre: int, low: int, high: int, rows_per_unit: int = 1) -> int:
    """How far one unit moves the sum of y - centre: y is within -(high - low) .. high - low.

    >>> sensitivity_about(-4, 0, 10)  # of -10 .. 10
    14
    """
    return total_sensitivity(low, high, rows_per_unit) + rows_per_unit * abs(centre)


def cost(
    total: int, count: int, low: int, high: int, epsilon: Fraction, rows_per_unit: int = 1
) -> Fraction:
    """The most that a release tells data apart whose sums of y and counts differ by so much: the largest
    log ratio, over both branches and all centres.

    >>> cost(10, 1, 0, 10, Fraction(1)), cost(0, 1, 0, 10, Fraction(1))
    (Fraction(1, 1), Fraction(13, 25))
    """
    share = allocation(epsilon)
    of_total = Fraction(abs(total), total_sensitivity(low, high, rows_per_unit))
    of_count = Fraction(abs(count), rows_per_unit)
    few = share.few * (of_total + of_count) / 2
    # |total - c count| / (width + |c|) is greatest with c = 0 or at one of the two ends.
    many = share.centre * of_total + share.many * max(of_total, (of_total + of_count) / 2)
    return share.count * of_count + max(few, many)
