"""MIN, MAX and quantiles straight from the values: the exponential mechanism on a public grid.

Every grid point c of low..high has a distance d(c) >= 0, by how many rows its rank is off, and is
drawn with probability proportional to e^(-epsilon d(c) / (2 s)), where one unit moves each distance
by at most s. Grid points between two values of the data have equal distances, so the work depends
on the number of distinct values, not on the grid. Proof: PROOFS.md, "Order statistics".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.exact_choice import Weight, choose

_MISS = 40  # values beyond the K smallest matter with probability e^-40
BEYOND = Fraction(1, 200)  # how often MIN and MAX may be answered beyond all values, at most


@dataclass(frozen=True, slots=True, repr=False)
class ValueCount:
    """A grid index and how many rows have it. Secret, so it has no text form, as exact.table."""

    value: int
    count: int

    def __repr__(self) -> str:
        return "ValueCount(hidden)"


@dataclass(frozen=True, slots=True, repr=False)
class GridRun:
    """Grid points first..last, all at one distance. Secret."""

    first: int
    last: int
    distance: int

    def __repr__(self) -> str:
        return "GridRun(hidden)"

    @property
    def size(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True, repr=False)
class Law:
    """Each grid point of a run has probability proportional to e^(-rate distance). Secret."""

    runs: tuple[GridRun, ...]
    rate: Fraction

    def __repr__(self) -> str:
        return "Law(hidden)"


# By how much a grid point with (rows below it, rows below or at it) is off.
_Distance = Callable[[int, int], int]


def target_rank(steps: int, epsilon: Fraction, rows_per_unit: int = 1) -> int:
    """tau: how many rows in from the end a private minimum aims, so that empty grid loses.

    Given    steps = (high - low) / grid >= 0, epsilon > 0, rows_per_unit >= 1: public numbers only
    Gives    ceil((2 s / epsilon) ln(steps / BEYOND)); 1 on a grid of one point. Of tau rows or more a minimum
             below all of them, or a maximum above, has a probability of BEYOND at most
    Refuses  anything else with ValueError
    Source   docs/design/mechanisms.md 6.1; with tau = 0 all grid below the minimum ties with it, and with
             (2 s / epsilon) ln(steps) it weighs as much as the row that is meant

    >>> target_rank(125, Fraction(1))
    21
    """
    _check(steps, epsilon, rows_per_unit)
    if steps == 0:
        return 1
    return math.ceil(2 * rows_per_unit / float(epsilon) * math.log(steps / BEYOND))


def values_needed(steps: int, epsilon: Fraction, rows_per_unit: int = 1) -> int:
    """K: how many of the smallest rows a private minimum looks at; the others are not fetched.

    Gives    tau + ceil((2 s / epsilon) (ln(steps) + 40)): what lies beyond would be drawn with
             probability e^-40, and counts capped at K are as private as counts
    Source   docs/design/mechanisms.md 6.1

    >>> values_needed(125, Fraction(1))
    111
    """
    tau = target_rank(steps, epsilon, rows_per_unit)
    beyond = 2 * rows_per_unit / float(epsilon) * (math.log(max(1, steps)) + _MISS)
    return tau + math.ceil(beyond)


def minimum(
    values: Sequence[ValueCount],
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
) -> int:
    """An epsilon-DP minimum: a grid point of rank about tau.

    Given    the rows' grid indices, ascending and distinct: all of them, or those that hold the
             values_needed(high - low, ..) smallest rows; one unit has at most rows_per_unit rows.
             Values are clamped to low..high. An empty table gives any grid point
    Refuses  values out of order, a count below 1, low > high, epsilon <= 0, with ValueError
    """
    return drawn(bits, minimum_law(values, low, high, epsilon, rows_per_unit))


def maximum(
    values: Sequence[ValueCount],
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
) -> int:
    """An epsilon-DP maximum: the minimum of the reflected values.

    Given    as for minimum, ascending; all rows, or those that hold the values_needed *largest*
    """
    return -drawn(bits, maximum_law(values, low, high, epsilon, rows_per_unit))


def quantile_half_width(steps: int, epsilon: Fraction, q: Fraction, rows_per_unit: int = 1) -> int:
    """How many rows on either side of rank q n a private quantile looks at.

    Gives    ceil((2 s / epsilon) (ln(steps) + 40)) with s = rows_per_unit max(q, 1-q): distances
             are capped there, and capped distances are as private as distances
    """
    _check(steps, epsilon, rows_per_unit)
    _check_quantile(q)
    sensitivity = rows_per_unit * float(max(q, 1 - q))
    return math.ceil(2 * sensitivity / float(epsilon) * (math.log(max(1, steps)) + _MISS))


def quantile(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
    below: int = 0,
    above: int = 0,
) -> int:
    """An epsilon-DP q-quantile: a grid point with about q of the rows below it.

    Given    the rows' grid indices, ascending and distinct, with counts; 0 <= q <= 1. Rows whose
             rank is quantile_half_width or more away from q n may be left out: below of them are under
             the values listed, above of them over
    Refuses  as minimum; q outside 0..1; rows left out that are nearer; with ValueError
    """
    law = quantile_law(values, q, low, high, epsilon, rows_per_unit, below, above)
    return drawn(bits, law)


def minimum_law(
    values: Sequence[ValueCount], low: int, high: int, epsilon: Fraction, rows_per_unit: int = 1
) -> Law:
    """The law of `minimum`: secret. d(c) = max(#below - tau, tau - #(below or at), 0).

    Counts are capped at K, which one more row changes by at most 1, as it does the counts.
    """
    tau = target_rank(high - low, epsilon, rows_per_unit)
    cap = values_needed(high - low, epsilon, rows_per_unit)

    def distance(below: int, below_or_at: int) -> int:
        return max(min(below, cap) - tau, tau - min(below_or_at, cap), 0)

    runs = _runs(_clamped(values, low, high), low, high, 0, distance)
    return Law(runs, epsilon / (2 * rows_per_unit))


def quantile_law(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    rows_per_unit: int = 1,
    below: int = 0,
    above: int = 0,
) -> Law:
    """The law of `quantile`: secret. d(c) = max(#below - q n, q n - #(below or at), 0), capped.

    One row more changes each term by at most max(q, 1-q), n being no constant. The same holds for
    |(1-q) #below - q #above|, which is not used: beside a value that many rows share it prefers
    empty grid to the value. Distances are kept as integers, times the denominator of q.
    """
    cap = quantile_half_width(high - low, epsilon, q, rows_per_unit) * q.denominator
    clamped = _clamped(values, low, high)
    rows = below + above + sum(value.count for value in clamped)
    target, unit = q.numerator * rows, q.denominator
    if (below and target - below * unit < cap) or (above and (rows - above) * unit - target < cap):
        raise ValueError("rows within reach of the quantile are missing")

    def distance(under: int, under_or_at: int) -> int:
        return min(max(under * unit - target, target - under_or_at * unit, 0), cap)

    runs = _runs(clamped, low, high, below, distance)
    return Law(runs, epsilon / (2 * rows_per_unit * max(q, 1 - q) * unit))


def maximum_law(
    values: Sequence[ValueCount], low: int, high: int, epsilon: Fraction, rows_per_unit: int = 1
) -> Law:
    """The law of `maximum`, over the reflected grid -high..-low: secret."""
    return minimum_law(reflected(values), -high, -low, epsilon, rows_per_unit)


def reflected(values: Sequence[ValueCount]) -> list[ValueCount]:
    return [ValueCount(-value.value, value.count) for value in reversed(values)]


def apart(mine: Law, theirs: Law) -> Fraction:
    """A bound of the log ratio of two laws over one grid, at one rate: twice the rate times the farthest
    that a distance moves, as in the proof.

    >>> one, other = (minimum_law([ValueCount(0, n)], 0, 9, Fraction(1)) for n in (1, 2))
    >>> apart(one, other)
    Fraction(1, 1)
    """
    farthest = i = j = 0
    while i < len(mine.runs) and j < len(theirs.runs):  # both cover the same grid, in order
        here, there = mine.runs[i], theirs.runs[j]
        farthest = max(farthest, abs(here.distance - there.distance))
        i += here.last <= there.last
        j += there.last <= here.last
    return 2 * mine.rate * farthest


def _check_quantile(q: Fraction) -> None:
    if not 0 <= q <= 1:
        raise ValueError("a quantile is within 0..1")


def _check(steps: int, epsilon: Fraction, rows_per_unit: int) -> None:
    if steps < 0:
        raise ValueError("the lower bound is above the upper bound")
    if epsilon <= 0:
        raise ValueError("epsilon must be above 0")
    if rows_per_unit < 1:
        raise ValueError("a unit has at least one row")


def _clamped(values: Sequence[ValueCount], low: int, high: int) -> list[ValueCount]:
    clamped: list[ValueCount] = []
    previous: int | None = None
    for value in values:
        if value.count < 1 or (previous is not None and value.value <= previous):
            raise ValueError("values come ascending and distinct, each with a count of at least 1")
        previous = value.value
        index = min(max(value.value, low), high)
        if clamped and clamped[-1].value == index:
            clamped[-1] = ValueCount(index, clamped[-1].count + value.count)
        else:
            clamped.append(ValueCount(index, value.count))
    return clamped


def _runs(
    values: Sequence[ValueCount], low: int, high: int, below: int, distance: _Distance
) -> tuple[GridRun, ...]:
    """The grid, cut at each value: before it, at it, and after the last."""
    runs = []
    start = low
    for value in values:
        if start < value.value:
            runs.append(GridRun(start, value.value - 1, distance(below, below)))
        runs.append(GridRun(value.value, value.value, distance(below, below + value.count)))
        start, below = value.value + 1, below + value.count
    if start <= high:
        runs.append(GridRun(start, high, distance(below, below)))
    return tuple(runs)


def drawn(bits: RandomBits, law: Law) -> int:
    """A grid point by its law."""
    weights = [Weight(run.size, run.distance) for run in law.runs]
    run = law.runs[choose(bits, weights, law.rate)]
    return run.first + bits.below(run.size)
