"""How exact the answers to the public queries must be: the 99.9 % interval of each number, from the noise in
the plan that the proxy reports and the exact result on the clamped tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import psycopg
from typing_extensions import assert_never

from proxy.estimates import ratio_mean_estimate, shared_moments, variance
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    Calculated,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Measured
from proxy.mechanisms import discrete_gaussian, discrete_laplace, ratio_mean, recentred_mean
from proxy.mechanisms.order_statistic import GridRun, Law, ValueCount, minimum_law, quantile_law
from proxy.planner.series import noise_of_a_step
from proxy.planner.shared_releases import scales_of
from proxy.query.ir.query_aggregates import AggregateKind

LEVEL = Fraction(999, 1000)

Row = tuple[str | None, ...]
Interval = tuple[Fraction, Fraction]
_ROUNDING = Fraction(1, 10**9)  # of floats, relative

# What the columns of an answer are: k a key; 1, 2, ... that noisy release of the statement.
SHAPES = {
    **dict.fromkeys(["pdp-01", "pdp-02", "pdp-03", "pdp-04", "pdp-05", "pdp-06", "pdp-08", "pdp-09"], "1"),
    **dict.fromkeys(["snrun-01", "snrun-04", "snrun-07", "mb-01", "mb-02", "mb-07", "mb-09", "mb-12"], "1"),
    **dict.fromkeys(["qr-03", "pn-04", "pn-06", "pn-10", "pn-12", "chi-06"], "1"),
    **dict.fromkeys(["snrun-05", "chi-05", "chi-16", "qr-01", "adm-07", "pn-05", "pn-09", "pn-11"], "12"),
    "pn-01": "123",
    "adm-05": "11",
    **dict.fromkeys(["pdp-10", "pdp-12", "snrun-02", "snrun-06", "mb-05", "mb-08", "mb-13", "mb-17"], "k1"),
    **dict.fromkeys(["sup-01", "sup-04", "chi-07", "chi-08", "chi-10", "chi-11", "chi-12", "chi-13"], "k1"),
    **dict.fromkeys(["qr-02", "pn-02", "pn-03", "pn-07", "pn-08"], "k1"),
    **dict.fromkeys(["mb-14", "sup-05", "chi-09"], "k12"),
    **dict.fromkeys(["snrun-08", "mb-10", "adm-06"], "1k"),
    **dict.fromkeys(["pdp-11", "mb-06", "sup-03"], "kk1"),
    "snrun-03": "k123",
}  # fmt: skip
# A quotient of two releases, and what they are releases of.
QUOTIENTS = {
    "pdp-07": "SELECT SUM(age), COUNT(age) FROM census.adult WHERE education_num > 10",
}
# Where an interval depends on all values.
_VALUES = {
    "pn-05": "SELECT age FROM census.pums",
    "pn-09": "SELECT age FROM census.pums",
    "pn-10": "SELECT income FROM census.pums",
}


class Exact:
    """Exact results on the clamped tables, as text. The clamping is undone at the end."""

    def __init__(self, superuser_dsn: str, clamping: Sequence[str]) -> None:
        self._connection = psycopg.connect(superuser_dsn)
        self._connection.execute("SET TimeZone = 'UTC'")
        for statement in clamping:
            self._connection.execute(statement.encode())

    def rows(self, sql: str) -> list[Row]:
        result = self._connection.pgconn.exec_(sql.encode())
        assert not result.error_message, (sql, result.error_message)
        return [
            tuple(_text(result.get_value(row, column)) for column in range(result.nfields))
            for row in range(result.ntuples)
        ]

    def close(self) -> None:
        self._connection.rollback()
        self._connection.close()


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


@dataclass(frozen=True, slots=True)
class Expected:
    """shape: of SHAPES, or q; intervals: by key, of the columns that have one (an average of no rows has none);
    empty: of a group without rows."""

    shape: str
    intervals: Mapping[Row, Mapping[int, Interval]]
    empty: Mapping[int, Interval]

    def keys(self, row: Row) -> Row:
        return tuple(v for letter, v in zip(self.shape, row, strict=True) if letter == "k")


def expected(name: str, sql: str, blocks: Sequence[BlockPlan], exact: Exact) -> Expected:
    answers = [(block, answer) for block in blocks for answer in block.answers]
    if name in QUOTIENTS:
        ((above, below),) = exact.rows(QUOTIENTS[name])
        ends = [
            _interval(*answer, value, None, [])
            for answer, value in zip(answers, (above, below), strict=True)
        ]
        corners = [a / b for a, b in product(*(end for end in ends if end is not None))]
        return Expected("q", {(): {0: (min(corners), max(corners))}}, {})
    shape = SHAPES[name]
    rows = exact.rows(sql)
    # The same question, with the number of values in the place of each average.
    counts = exact.rows(sql.replace("AVG(", "COUNT("))
    of_keys = {tuple(v for s, v in zip(shape, r, strict=True) if s == "k"): r for r in counts}
    values = [Fraction(v) for (v,) in exact.rows(_VALUES[name]) if v] if name in _VALUES else []
    given = Expected(shape, {}, {})

    def of_row(row: Row, count: Row) -> dict[int, Interval]:
        found = {}
        for column, letter in enumerate(shape):
            if letter != "k":
                answer = answers[int(letter) - 1]
                interval = _interval(*answer, row[column], count[column], values)
                if interval is not None:
                    found[column] = interval
        return found

    intervals = {given.keys(row): of_row(row, of_keys[given.keys(row)]) for row in rows}
    nothing: Row = (None,) * len(shape)
    return Expected(shape, intervals, of_row(nothing, nothing))


def _interval(
    block: BlockPlan,
    answer: Answer,
    value: str | None,
    count: str | None,
    values: Sequence[Fraction],
) -> Interval | None:
    """The interval of one answer. value None: of no rows."""
    found, calculated = Fraction(value or 0), answer.calculated
    if calculated is not None:
        noise = scales_of(block, answer)
        return _of_sums(answer.aggregate.kind, calculated, noise, value, count, values)
    release: Release = block.releases[answer.releases[0]]
    match release:
        case NoisyStatistic():
            return _around(found, _reach(release.noise) * release.grid)
        case DistinctCount():
            return _around(found, Fraction(_reach(release.noise)))
        case RecentredMean():
            return None if value is None else _of_mean_alone(release, found, int(count or 0))
        case DeviationMean():
            return None  # its error follows from noisy numbers of its own
        case OrderStatistic():
            return _of_order(release, values)
        case UnitExtreme():
            is_of_rows = isinstance(block.neighbours, RowNeighbours)
            return _of_units(release, values) if is_of_rows else None
        case KeptUnits():
            raise AssertionError("no answer is a number of units that a minimum is of")
        case SampleAggregate():
            return None  # its scale is private
        case _:
            assert_never(release)


def _around(value: Fraction, reach: Fraction) -> Interval:
    slack = abs(value) * _ROUNDING
    return value - reach - slack, value + reach + slack


def _reach(noise: Noise) -> int:
    match noise:
        case LaplaceNoise():
            return discrete_laplace.half_width(noise.scale, LEVEL)
        case GaussianNoise():
            return discrete_gaussian.half_width(noise.sigma2, LEVEL)
        case ContinualNoise():
            return _reach(noise_of_a_step(noise))
        case _:
            assert_never(noise)


def _of_sums(
    kind: AggregateKind,
    calculated: Calculated,
    noise: tuple[Fraction, ...],
    value: str | None,
    count: str | None,
    values: Sequence[Fraction],
) -> Interval | None:
    (measured,), grid, found = calculated.measured, calculated.output_grid, Fraction(value or 0)
    of_rows, of_total = noise[:2]
    match kind:
        case AggregateKind.VAR_SAMP:
            scales = variance.VarianceScales(squares=noise[2], total=of_total, count=of_rows)
            return _of_variance(measured, grid, scales, values)
        case AggregateKind.SUM:
            low, high = measured.low, measured.high
            reach = shared_moments.total_half_width(of_total, of_rows, low, high, LEVEL)
            return _around(found, reach * measured.grid)
        case AggregateKind.AVG:
            if value is None:
                return None
            of_mean = ratio_mean.RatioScales(total=of_total, count=of_rows)
            return _of_mean(measured, grid, of_mean, found, int(count or 0))
        case _:
            raise AssertionError("not of these questions")


def _of_mean_alone(release: RecentredMean, mean: Fraction, count: int) -> Interval:
    """By the noisy count, a mean as a ratio or one about a noisy centre (mechanisms.recentred_mean)."""
    measured, epsilon = release.measured, release.loss.epsilon
    low, high, rows = measured.low, measured.high, measured.rows
    share = recentred_mean.allocation(epsilon)
    each = 1 - (1 - LEVEL) / 3
    of_count = discrete_laplace.half_width(rows / share.count, each)
    threshold = recentred_mean.MANY * rows / epsilon
    grid = release.output_grid
    few = _of_mean(measured, grid, ratio_mean.scales(low, high, share.few, rows), mean, count)
    if count + of_count < threshold:
        return few
    # In half steps about the middle: e is the noise of the count, c the centre, m the mean; the error is
    # ((c - m) e + noise of the sum) / (count + e).
    fewest, middle = count - of_count, abs(2 * mean / measured.grid - (low + high))
    sensitivity = ratio_mean.total_sensitivity(low, high, rows)
    of_centre = discrete_laplace.half_width(sensitivity / share.centre, each)
    off = (of_centre + of_count * middle) / fewest + 1
    reach = recentred_mean.sensitivity_about(math.ceil(middle + off), low, high, rows)
    of_total = discrete_laplace.half_width(reach / share.many, each)
    error = (off * of_count + of_total) / fewest / 2 * measured.grid
    many = _around(mean, error + release.output_grid)
    if count - of_count < threshold:
        return min(few[0], many[0]), max(few[1], many[1])
    return many


def _of_mean(
    measured: Measured, grid: Fraction, noise: ratio_mean.RatioScales, mean: Fraction, count: int
) -> Interval:
    """Where both noises within their reach take the mean."""
    low, high = measured.low, measured.high
    total = round(mean * count / measured.grid)
    moments = ratio_mean.NoisySumAndCount(
        total=ratio_mean_estimate.centred(total, count, low, high), count=count
    )
    least, most = ratio_mean_estimate.interval(moments, noise, low, high, LEVEL)
    return least * measured.grid - grid, most * measured.grid + grid


def _of_variance(
    measured: Measured, grid: Fraction, noise: variance.VarianceScales, values: Sequence[Fraction]
) -> Interval:
    low, high = measured.low, measured.high
    indices = [round(value / measured.grid) for value in values]
    total, squares, count = sum(indices), sum(i * i for i in indices), len(indices)
    moments = variance.NoisyMoments(
        squares=variance.centred_squares(squares, total, count, low, high),
        total=ratio_mean_estimate.centred(total, count, low, high),
        count=count,
    )
    least, most = variance.population_interval(moments, noise, low, high, LEVEL)
    fewest = count - discrete_laplace.half_width(noise.count, LEVEL)
    unit = measured.grid**2
    return least * unit - grid, most * unit * fewest / (fewest - 1) + grid


def _of_order(release: OrderStatistic, values: Sequence[Fraction]) -> Interval:
    measured = release.measured
    low, high, epsilon, rows = measured.low, measured.high, release.own_loss.epsilon, measured.rows
    counted: dict[int, int] = {}
    for value in values:
        index = round(value / measured.grid)
        counted[index] = counted.get(index, 0) + 1
    ascending = [ValueCount(index, counted[index]) for index in sorted(counted)]
    fraction = release.aggregate.fraction
    if fraction is not None:
        least, most = _middle(quantile_law(ascending, fraction, low, high, epsilon, rows))
    elif release.aggregate.kind is AggregateKind.MIN:
        least, most = _middle(minimum_law(ascending, low, high, epsilon, rows))
    else:
        reflected = [ValueCount(-v.value, v.count) for v in reversed(ascending)]
        most, least = (-end for end in _middle(minimum_law(reflected, -high, -low, epsilon, rows)))
    # Half a step for values between two of the grid.
    return (least - Fraction(1, 2)) * measured.grid, (most + Fraction(1, 2)) * measured.grid


def _of_units(release: UnitExtreme, values: Sequence[Fraction]) -> Interval:
    """Where each row is a unit: by the places at which they count."""
    measured, places = release.measured, release.places
    low, high, indices = measured.low, measured.high, places.indices
    clamped = (min(max(round(value / measured.grid), low), high) for value in values)
    counted = Counter(map(places.place_of, clamped))
    ascending = [ValueCount(place, counted[place]) for place in sorted(counted)]
    ends = _middle(places.law(ascending, release.own_loss.epsilon))
    least, most = ends if places.is_least else (-ends[1], -ends[0])
    half = Fraction(1, 2)
    return (indices[least] - half) * measured.grid, (indices[most] + half) * measured.grid


def _middle(law: Law) -> tuple[int, int]:
    """What is left of a law without half of what may be missed at either end."""
    mirrored = [replace(run, first=-run.last, last=-run.first) for run in reversed(law.runs)]
    return _from_below(law.runs, law.rate), -_from_below(mirrored, law.rate)


def _from_below(runs: Sequence[GridRun], rate: Fraction) -> int:
    """The first point of a law that is not among the least ones that may be missed."""
    weights = [run.size * math.exp(-float(rate * run.distance)) for run in runs]
    left = float(1 - LEVEL) / 2 * sum(weights)
    for run, weight in zip(runs, weights, strict=True):
        if left < weight:
            return run.first + int(left / weight * run.size)
        left -= weight
    return runs[-1].last
