"""What a mean about a noisy centre is, of the sums that `mechanisms.recentred_mean` has released:
post-processing."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from proxy.estimates import ratio_mean_estimate
from proxy.estimates.ratio_mean_estimate import ends
from proxy.mechanisms import discrete_laplace, ratio_mean
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.estimate import Estimate
from proxy.mechanisms.ratio_mean import NoisySumAndCount
from proxy.mechanisms.recentred_mean import NoisyMeanSums, allocation, noisy, sensitivity_about


def release(
    total: int,
    count: int,
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
    level: Fraction | float = Fraction(95, 100),
) -> Estimate:
    """An epsilon-DP mean with its interval, as `noisy` and `estimate` give it.

    Refuses  with ValueError what `noisy` refuses
    """
    moments = noisy(total, count, low, high, epsilon, bits, rows_per_unit)
    return estimate(moments, low, high, epsilon, rows_per_unit, level)


def estimate(
    moments: NoisyMeanSums,
    low: int,
    high: int,
    epsilon: Fraction,
    rows_per_unit: int = 1,
    level: Fraction | float = Fraction(95, 100),
) -> Estimate:
    """The mean with its interval, from moments that were drawn with these very numbers: post-processing."""
    share = allocation(epsilon)
    centre = moments.centre
    if centre is None:
        noise = ratio_mean.scales(low, high, share.few, rows_per_unit)
        few = NoisySumAndCount(total=moments.total, count=moments.count)

        def of_few(level: Fraction | float) -> Estimate:
            least, most = ratio_mean_estimate.interval(few, noise, low, high, level)
            value = ratio_mean_estimate.mean(few, low, high)
            return Estimate(value=value, least=least, most=most, at=of_few)

        return of_few(level)
    of_count = discrete_laplace.scale_for(rows_per_unit, share.count)
    distance = sensitivity_about(centre, low, high, rows_per_unit)
    of_total = discrete_laplace.scale_for(distance, share.many)

    def of_many(level: Fraction | float) -> Estimate:
        each = 1 - (1 - Fraction(level)) / 2
        totals = ends(moments.total, of_total, each)
        counts = ends(moments.count, of_count, each)
        among = [_mean(centre, part, number, low, high) for part, number in product(totals, counts)]
        value = _mean(centre, moments.total, moments.count, low, high)
        return Estimate(value=value, least=min(among), most=max(among), at=of_many)

    return of_many(level)


def count_half_width(
    moments: NoisyMeanSums,
    low: int,
    high: int,
    epsilon: Fraction,
    rows_per_unit: int = 1,
    level: Fraction | float = Fraction(95, 100),
) -> int:
    """Compute the half width of the interval of the noisy count in `moments`.

    Privacy: post-processing; the branch shows in whether there is a centre.

    >>> far = NoisyMeanSums(total=0, count=5000, centre=3)
    >>> count_half_width(far, 0, 100, Fraction(1)), discrete_laplace.half_width(Fraction(25))
    (75, 75)
    """
    share = allocation(epsilon)
    if moments.centre is None:
        noise = ratio_mean.scales(low, high, share.few, rows_per_unit)
        return discrete_laplace.half_width(noise.count, level)
    of_count = discrete_laplace.scale_for(rows_per_unit, share.count)
    return discrete_laplace.half_width(of_count, level)


def error_times_rows(
    low: int, high: int, epsilon: Fraction, rows_per_unit: int = 1, level: Fraction | float = 0.95
) -> Fraction:
    """E, where the mean of n rows is off by E / n grid steps at most, with this probability, n large beside the
    count's noise: of the sum about the farthest mean.

    Source   docs/design/mechanisms.md 9.1

    >>> error_times_rows(0, 10, Fraction(1))
    Fraction(65, 2)
    """
    distance = sensitivity_about(high - low, low, high, rows_per_unit)
    noise = discrete_laplace.scale_for(distance, allocation(epsilon).many)
    return Fraction(discrete_laplace.half_width(noise, level), 2)


def _mean(centre: int, distances: int, rows: int, low: int, high: int) -> Fraction:
    """From half steps about the middle to steps, clamped."""
    y = centre + Fraction(distances, max(1, rows))
    return min(max((low + high + y) / 2, Fraction(low)), Fraction(high))
