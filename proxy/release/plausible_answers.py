"""Made-up answers of a plan, for a trial run of the rewritten statement before the charge.

They depend on the plan alone, on no row and no chance. An error that comes with each of them is taken for
certain, so they differ in everything that an expression over answers can go by: magnitude, sign, order of the
columns and of the groups, position within the bounds. Public groups are those of the plan. Private groups are
not known, so each relation has others.

An analyst can have answers made up without a charge, so this takes little of the processor: few groups, made-up
intervals of expressions, and a limit on the processor time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from typing_extensions import assert_never

from proxy.base.result_columns import subquery_name
from proxy.base.sql_types import SqlType
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    PrivatePlan,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.mechanisms.deviation_mean import PARTS, NoisyDeviations, fineness
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.release.drawn_values import NOTHING, Drawn, DrawnGroup, DrawnNumber, DrawnQuantile, Keys
from proxy.release.noisy_relation import (
    NoInterval,
    NoisyInterval,
    NoisyRow,
    NoisyTable,
    NoisyValue,
    relation_json,
)
from proxy.release.presenting import group_values

_GROUPS = 50
_LEAST_GROUPS = 2
_VALUES = (
    60  # of a block, at most, if it has more groups than _LEAST_GROUPS. A value takes about 20 us
)
MADE_UP_SECONDS = 0.04  # of a processor, for all relations of a statement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filling:
    """rows: of the first group and release; per_release, per_group: how many more each further one has;
    position: of the first operand between its bounds, 0 to 1; those of further groups and releases differ."""

    rows: int
    per_release: int
    per_group: int
    position: Fraction

    def rows_of(self, release: int, group: int) -> int:
        return self.rows + self.per_release * release + self.per_group * group

    def position_of(self, release: int, group: int) -> Fraction:
        if self.per_release == 0:
            return self.position
        sign = 1 if self.per_release > 0 else -1
        shift = sign * (Fraction(release, 20) + Fraction(group, 37))
        return (self.position + shift) % 1 if shift else self.position


_POSITIONS = tuple(Fraction(tenths, 10) for tenths in (5, 2, 9, 4, 7, 1))
# Between two magnitudes there are others, as an expression may be defined within a narrow range of a count.
_LADDER = (2, 5, 12, 30, 70, 150, 400, 2_500, 6_000, 15_000, 40_000, 100_000, 250_000, 5_000_000)
_FILLINGS = (
    _Filling(rows=1_000, per_release=37, per_group=11, position=Fraction(1, 3)),
    _Filling(rows=1, per_release=1, per_group=1, position=Fraction(1, 2)),
    _Filling(rows=0, per_release=0, per_group=0, position=Fraction(0)),
    _Filling(rows=1_000_000, per_release=-1_001, per_group=-17, position=Fraction(2, 3)),
    _Filling(rows=-3, per_release=-2, per_group=5, position=Fraction(1)),
    *(
        _Filling(
            rows=rows,
            per_release=(-1) ** number * (1 + rows // 50),
            per_group=1 + rows // 70,
            position=_POSITIONS[number % len(_POSITIONS)],
        )
        for number, rows in enumerate(_LADDER)
    ),
)
PLAUSIBLE_ANSWERS = len(_FILLINGS)
_NO_INTERVALS = 2  # the relation in which expressions have none

# Private keys by type, for one relation after the other. NULL is a group of any type, and most functions
# pass it on.
_TEXTS = (("a", "b", "c"), ("1",), (None,), ("2024-01-31", "2024-02-29"), ("{}",), ("",))
_NUMBERS = (("1", "2", "3"), ("0",), (None,), ("100", "1000"), ("-1",), ("12",))
_DATES = (("2024-01-31", "2024-02-29"), ("1999-12-31",), (None,), ("2030-06-15",))
_TRUTHS = (("false", "true"), ("true",), (None,), ("false",))
_OTHERS = ((None,),)


Seconds = Callable[[], float]  # of processor time, counted from any moment


class _TimeUp(Exception):
    """The processor time is used up."""


@dataclass(frozen=True, slots=True)
class _Clock:
    seconds: Seconds
    end: float

    def check(self) -> None:
        """End the computation once the time is up."""
        if self.seconds() > self.end:
            raise _TimeUp


def plausible_relations(
    plan: PrivatePlan,
    clock: Seconds,
    count: int = PLAUSIBLE_ANSWERS,
    *,
    seconds: float = MADE_UP_SECONDS,
) -> tuple[str, ...]:
    """Relation parameters of the rewritten statement, as JSON, filled with made-up answers.

    Args:
        plan: The plan of the statement.
        clock: The processor time of this thread.
        count: How many relations, at most PLAUSIBLE_ANSWERS.
        seconds: Processor time for all of them.

    Returns:
        The relations, or none if they take longer.
    """
    limit = _Clock(clock, clock() + seconds)
    try:
        return tuple(_relation(plan, number, limit) for number in range(count))
    except _TimeUp:
        return ()


def plausible_values(plan: PrivatePlan) -> int:
    """About how many numbers a relation of made-up answers takes."""
    return sum(
        min(_shown(block), _group_count(block, 0)) * _columns(block) for block in plan.blocks
    )


def _relation(plan: PrivatePlan, number: int, clock: _Clock) -> str:
    tables = {}
    for place, block in enumerate(plan.blocks, start=1):
        rows = tuple(_rows(block, number, clock))
        tables[subquery_name(place)] = (NoisyTable(rows), block.intervals)
        clock.check()
    return relation_json(tables, with_errors=False)


def _rows(block: BlockPlan, number: int, clock: _Clock) -> Iterator[NoisyRow]:
    """Without the error columns that the proxy adds: they are returned as they are."""
    for group, drawn in enumerate(_drawn(block, number)):
        values: list[NoisyValue] = []
        for value in group_values(block, drawn):
            values.append(value)
            clock.check()
        intervals = tuple(_interval(one, number, group) for one in block.expressions)
        yield NoisyRow(keys=drawn.keys, values=tuple(values), intervals=intervals)


def _interval(expression: NoisyExpression, number: int, group: int) -> NoisyInterval | NoInterval:
    """Made up, not computed. One relation has none, as may be of any expression."""
    if number == _NO_INTERVALS:
        return NoInterval.OF_AN_ANSWER
    value = Fraction(_FILLINGS[number].rows_of(0, group))
    width = abs(value) / 3 + 1
    return NoisyInterval(value, value - width, value + 2 * width, expression.type)


def _columns(block: BlockPlan) -> int:
    return 1 + len(block.releases) + len(block.answers) + len(block.expressions)


def _shown(block: BlockPlan) -> int:
    """How many groups a relation has at most."""
    return max(_LEAST_GROUPS, min(_GROUPS, _VALUES // _columns(block)))


def _drawn(block: BlockPlan, number: int) -> Iterator[DrawnGroup]:
    filling = _FILLINGS[number]
    for group, keys in enumerate(_groups(block, number)):
        yield DrawnGroup(keys, tuple(_values(block, filling, group)))


def _groups(block: BlockPlan, number: int) -> Iterator[Keys]:
    """Of many groups, each relation has the next ones. Their order is that of the plan."""
    count, shown = _group_count(block, number), _shown(block)
    if count <= shown:
        positions = list(range(count))
    else:
        positions = sorted((number * shown + offset) % count for offset in range(shown))
    for position in positions:
        yield _group(block, number, position)


def _group_count(block: BlockPlan, number: int) -> int:
    if block.combinations is not None:
        return len(block.combinations)
    return prod(len(_keys(key, number)) for key in block.keys)


def _group(block: BlockPlan, number: int, position: int) -> Keys:
    """The group at this position, the last key first to change."""
    if block.combinations is not None:
        return block.combinations[position]
    keys: list[str | None] = []
    for key in reversed(block.keys):
        values = _keys(key, number)
        position, index = divmod(position, len(values))
        keys.append(values[index])
    return tuple(reversed(keys))


def _keys(key: KeyPlan, number: int) -> tuple[str | None, ...]:
    if key.values is not None:
        return key.values
    samples = _samples(key.type)
    return samples[number % len(samples)]


def _samples(kind: SqlType) -> tuple[tuple[str | None, ...], ...]:
    if kind.is_text and kind is not SqlType.ENUM:
        return _TEXTS
    if kind.is_number:
        return _NUMBERS
    if kind.is_time:
        return _DATES
    return _TRUTHS if kind is SqlType.BOOL else _OTHERS


def _values(block: BlockPlan, filling: _Filling, group: int) -> Iterator[Drawn]:
    for number, release in enumerate(block.releases):
        rows = filling.rows_of(number, group)
        position = filling.position_of(number, group)
        yield NOTHING if number in block.withheld else _value(release, rows, position)


def _value(release: Release, rows: int, position: Fraction) -> Drawn:
    match release:
        case NoisyStatistic():
            measured = () if isinstance(release.of, Counted) else release.of
            return DrawnNumber(
                rows * _of_row(release.statistic, measured, position) * release.parts
            )
        case DistinctCount() | KeptUnits():
            return DrawnNumber(rows)
        case RecentredMean():
            one = release.measured
            if one.low == one.high:
                return DrawnNumber(one.low)
            return NoisyMeanSums(total=rows * _centred(one, position), count=rows, centre=None)
        case DeviationMean():
            return _of_deviations(release, rows, position)
        case OrderStatistic():
            return replace(_quantile(release, position), size=rows * release.parts)
        case UnitExtreme():
            return _quantile(release, position)
        case SampleAggregate():
            return DrawnNumber(_between(release.low, release.high, position))
        case _:
            assert_never(release)


def _of_deviations(release: DeviationMean, rows: int, position: Fraction) -> Drawn:
    """All rows at one place, so that a variance is 0. NULL if there are no rows."""
    one = release.measured
    if one.low == one.high:
        return DrawnNumber(one.low)
    if not release.has_squares:
        return _mean(release, rows, _centred(one, position), None)
    distance = fineness(one.low, one.high) * _centred(one, position)
    mean = _mean(release, rows, distance, 1)
    return NoisySquares(mean=mean, total=mean.count * distance**2, bound=1, lost=0)


def _mean(release: DeviationMean, rows: int, each: int, bound: int | None) -> NoisyDeviations:
    """each: what a row adds; bound: None of a rough mean, as of NoisyDeviations."""
    units = math.ceil(max(0, rows) * 1_000 / min(Fraction(1), release.epsilon_of_mean))
    count = PARTS * (max(1, rows) if bound is None else units)
    return NoisyDeviations(
        units=units,
        is_few=False,
        is_single=False,
        centre=0,
        count=count,
        total=count * each,
        rows=1,
        bound=bound,
        lost_rows=0,
        lost=0,
    )


def _of_row(statistic: Statistic, measured: tuple[Measured, ...], position: Fraction) -> int:
    """What a row adds whose operands are at this position of their bounds."""
    match statistic:
        case Statistic.ROWS:
            return 1
        case Statistic.STEPS:
            return _between(measured[0].low, measured[0].high, position)
        case Statistic.CENTRED:
            return _centred(measured[0], position)
        case Statistic.SQUARES:
            return 2 * _centred(measured[0], position) ** 2 - measured[0].width ** 2
        case Statistic.PRODUCTS:
            return _centred(measured[0], position) * _centred(measured[1], position)
        case _:
            assert_never(statistic)


def _quantile(release: OrderStatistic | UnitExtreme, position: Fraction) -> DrawnQuantile:
    low, high = release.measured.low, release.measured.high
    return DrawnQuantile(_between(low, high, position))


def _centred(measured: Measured, position: Fraction) -> int:
    index = _between(measured.low, measured.high, position)
    return 2 * index - (measured.low + measured.high)


def _between(low: int, high: int, position: Fraction) -> int:
    return low + round((high - low) * position)
