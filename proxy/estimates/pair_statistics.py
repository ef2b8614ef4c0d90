"""Covariance, correlation and regression from noisy sums about the middles of the bounds of two columns.

Per row of both columns u = 2i - (low + high) of the first, v of the second, in half grid steps, with widths D_u
and D_v: a count, the sums of u and v, of u v (within -D_u D_v .. D_u D_v), and of 2 u^2 - D_u^2 as for a
variance. All the rest is post-processing, clamped to what is possible on any data. Where a noisy variance that
is divided by is not above 0 nothing can be seen: the answer is 0, its interval all that is possible. Proof:
PROOFS.md 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from proxy.estimates import ratio_mean_estimate, variance
from proxy.estimates.ratio_mean_estimate import ends
from proxy.mechanisms import ratio_mean
from proxy.mechanisms.estimate import LEVEL, Estimate
from proxy.mechanisms.real_bounds import root_bounds

_DIGITS = 30  # of a root, as of a deviation
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisySum:
    """One result with the scale of its Laplace noise: both are public."""

    value: int
    scale: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two columns. squares: where its variance is needed."""

    low: int
    high: int
    total: NoisySum
    squares: NoisySum | None = None

    @property
    def width(self) -> int:
        return self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """of: how many sums there are, among which what may be missed is divided. level: of the interval."""

    count: NoisySum
    first: Side
    second: Side
    products: NoisySum
    of: int
    level: Fraction = LEVEL

    @property
    def each(self) -> Fraction:
        """The probability with which the noise of one sum is within its half width."""
        return 1 - (1 - self.level) / self.of


def covariance(pairs: Pairs) -> Estimate:
    """COVAR_POP in products of grid steps, within +- D_u D_v / 4 (Popoviciu's and Cauchy's inequalities).

    With the count fixed it is linear in each other sum, and in 1/count a parabola: the corners, and the turning
    points between them, are enough.
    """
    each, found = pairs.each, []
    fewest, most = (max(1, n) for n in ends(pairs.count.value, pairs.count.scale, each))
    for products, first, second in product(
        _ends(pairs.products, each), _ends(pairs.first.total, each), _ends(pairs.second.total, each)
    ):
        counts = {fewest, most}
        if products:
            turning = 2 * first * second // products
            counts |= {min(max(turning + step, fewest), most) for step in (0, 1)}
        found += [_covariance(pairs, products, first, second, n) for n in counts]
    value = _covariance(
        pairs,
        pairs.products.value,
        pairs.first.total.value,
        pairs.second.total.value,
        max(1, pairs.count.value),
    )
    return Estimate(value=value, least=min(found), most=max(found))


def sample_covariance(pairs: Pairs) -> Estimate:
    """COVAR_SAMP: COVAR_POP n/(n-1), with at least two rows."""
    rows = max(2, pairs.count.value)
    fewest = max(2, ends(pairs.count.value, pairs.count.scale, pairs.each)[0])
    found = covariance(pairs)
    most = Fraction(fewest, fewest - 1)
    return Estimate(
        value=found.value * Fraction(rows, rows - 1),
        least=min(found.least, found.least * most),
        most=max(found.most, found.most * most),
    )


def slope(pairs: Pairs) -> Estimate:
    """REGR_SLOPE of the first column by the second, in steps by step: covariance over the second's variance,
    within +- D_u. On the grid that holds for all data: a slope is a weighted mean of those between two rows, of
    which none is steeper than the first's whole range within one step of the second."""
    steepest = Fraction(pairs.first.width)
    return _quotient(covariance(pairs), _variance(pairs, pairs.second), steepest)


def intercept(pairs: Pairs, first: Fraction, second: Fraction) -> Estimate:
    """REGR_INTERCEPT, in the first column's unit: mean of the first - slope * mean of the second.

    Given    first, second: the grid steps of the columns, which tell where 0 is. It is within what the means in
             their bounds and the steepest slope can give
    """
    steep = slope(pairs).times(first / second)
    above = _mean(pairs, pairs.first).times(first)
    along = _mean(pairs, pairs.second).times(second)
    offs = [a * b for a, b in product((steep.least, steep.most), (along.least, along.most))]
    return Estimate(
        value=above.value - steep.value * along.value,
        least=above.least - max(offs),
        most=above.most - min(offs),
    )


def correlation(pairs: Pairs) -> Estimate:
    """CORR: covariance over the root of the product of the variances, within -1 .. 1."""
    first, second = _variance(pairs, pairs.first), _variance(pairs, pairs.second)
    deviations = Estimate(
        value=_root(first.value * second.value),
        least=_root(first.least * second.least),
        most=_root(first.most * second.most),
    )
    return _quotient(covariance(pairs), deviations, _ONE)


def determination(pairs: Pairs) -> Estimate:
    """REGR_R2: the square of the correlation, within 0 .. 1."""
    found = correlation(pairs)
    squares = found.least**2, found.most**2
    least = Fraction(0) if found.least <= 0 <= found.most else min(squares)
    return Estimate(value=found.value**2, least=least, most=max(squares))


def _covariance(pairs: Pairs, products: int, first: int, second: int, count: int) -> Fraction:
    found = Fraction(products, count) - Fraction(first * second, count * count)
    return _clamped(found, Fraction(pairs.first.width * pairs.second.width)) / 4


def _variance(pairs: Pairs, side: Side) -> Estimate:
    """VAR_POP of one column, by its own three of the sums."""
    assert side.squares is not None, "the formula needs its squares"
    moments = variance.NoisyMoments(
        squares=side.squares.value, total=side.total.value, count=pairs.count.value
    )
    noise = variance.VarianceScales(
        squares=side.squares.scale, total=side.total.scale, count=pairs.count.scale
    )
    level = 1 - variance.RELEASES * (1 - pairs.each)
    least, most = variance.population_interval(moments, noise, side.low, side.high, level)
    value = variance.population(moments, side.low, side.high)
    return Estimate(value=value, least=least, most=most)


def _mean(pairs: Pairs, side: Side) -> Estimate:
    moments = ratio_mean.NoisySumAndCount(total=side.total.value, count=pairs.count.value)
    noise = ratio_mean.RatioScales(total=side.total.scale, count=pairs.count.scale)
    level = 1 - ratio_mean.RELEASES * (1 - pairs.each)
    least, most = ratio_mean_estimate.interval(moments, noise, side.low, side.high, level)
    value = ratio_mean_estimate.mean(moments, side.low, side.high)
    return Estimate(value=value, least=least, most=most)


def _quotient(above: Estimate, below: Estimate, distance: Fraction) -> Estimate:
    """Within +- distance. Where below may be 0, the interval is all of it."""
    value = _clamped(above.value / below.value, distance) if below.value > 0 else Fraction(0)
    if below.least <= 0:
        return Estimate(value=value, least=-distance, most=distance)
    found = _corners((above.least, above.most), (below.least, below.most))
    clamped = [_clamped(corner, distance) for corner in found]
    return Estimate(value=value, least=min(clamped), most=max(clamped))


def _corners(above: Iterable[Fraction], below: Iterable[Fraction]) -> list[Fraction]:
    return [a / b for a, b in product(above, below)]


def _ends(noisy: NoisySum, each: Fraction) -> tuple[int, int]:
    return ends(noisy.value, noisy.scale, each)


def _root(value: Fraction) -> Fraction:
    return root_bounds(value, _DIGITS)[0]


def _clamped(value: Fraction, distance: Fraction) -> Fraction:
    return min(max(value, -distance), distance)
