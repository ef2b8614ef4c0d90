"""Made-up answers of a plan, for a trial run of the rewritten statement before the charge.

They depend on the plan alone, on no row and no chance. An error that comes with each of them is taken for
certain, so they differ in everything that an expression over answers can go by: magnitude, sign, order of the
columns and of the groups, position within the bounds. Public groups are those of the plan. Private groups are
not known, so each relation has others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from typing_extensions import assert_never

from proxy.base.result_columns import subquery_name
from proxy.base.sql_types import SqlType
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.plan import (
    BlockPlan,
    DistinctCount,
    NoisyStatistic,
    OrderStatistic,
    PrivatePlan,
    RecentredMean,
    Release,
    SampleAggregate,
)
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.release.drawn_values import (
    NOTHING,
    Drawn,
    DrawnBlock,
    DrawnGroup,
    DrawnNumber,
    DrawnQuantile,
    Keys,
)
from proxy.release.noisy_relation import relation_json
from proxy.release.presenting import presented

_GROUPS = 50
_PER_INTERVAL = 20  # numbers that take as long as the interval of one expression
_VALUES = 5_000  # of a block, at most, if it has several groups


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

# Private keys by type, for one relation after the other. NULL is a group of any type, and most functions
# pass it on.
_TEXTS = (("a", "b", "c"), ("1",), (None,), ("2024-01-31", "2024-02-29"), ("{}",), ("",))
_NUMBERS = (("1", "2", "3"), ("0",), (None,), ("100", "1000"), ("-1",), ("12",))
_DATES = (("2024-01-31", "2024-02-29"), ("1999-12-31",), (None,), ("2030-06-15",))
_TRUTHS = (("false", "true"), ("true",), (None,), ("false",))
_OTHERS = ((None,),)


def plausible_relation(plan: PrivatePlan, number: int) -> str:
    """The relation parameter of the rewritten statement, as JSON, filled with made-up answers.

    Given    number: below PLAUSIBLE_ANSWERS
    """
    tables = {}
    for place, block in enumerate(plan.blocks, start=1):
        # Error columns that the proxy adds are returned as they are.
        block = replace(block, outputs=())
        tables[subquery_name(place)] = (presented(block, _drawn(block, number)), block.intervals)
    return relation_json(tables)


def plausible_values(plan: PrivatePlan) -> int:
    """About how many numbers `plausible_relation` handles."""
    return sum(_shown(block) * _columns(block) for block in plan.blocks)


def _columns(block: BlockPlan) -> int:
    return 1 + len(block.releases) + _PER_INTERVAL * len(block.expressions)


def _shown(block: BlockPlan) -> int:
    """How many groups a relation has at most."""
    return max(1, min(_GROUPS, _VALUES // _columns(block)))


def _drawn(block: BlockPlan, number: int) -> DrawnBlock:
    filling = _FILLINGS[number]
    groups = (
        DrawnGroup(keys, tuple(_values(block, filling, group)))
        for group, keys in enumerate(islice(_groups(block, number), _shown(block)))
    )
    return DrawnBlock(tuple(groups))


def _groups(block: BlockPlan, number: int) -> Iterator[Keys]:
    if block.combinations is not None:
        return iter(block.combinations)
    return product(*(_keys(key, number) for key in block.keys))


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
        case DistinctCount():
            return DrawnNumber(rows)
        case RecentredMean():
            one = release.measured
            if one.low == one.high:
                return DrawnNumber(one.low)
            return NoisyMeanSums(total=rows * _centred(one, position), count=rows, centre=None)
        case OrderStatistic():
            return _quantile(release, position)
        case SampleAggregate():
            return DrawnNumber(_between(release.low, release.high, position))
        case _:
            assert_never(release)


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


def _quantile(release: OrderStatistic, position: Fraction) -> DrawnQuantile:
    low, high = release.measured.low, release.measured.high
    index = _between(low, high, position)
    if release.interval is None:
        return DrawnQuantile(index)
    return DrawnQuantile(index, max(low, index - 1), min(high, index + 1))


def _centred(measured: Measured, position: Fraction) -> int:
    index = _between(measured.low, measured.high, position)
    return 2 * index - (measured.low + measured.high)


def _between(low: int, high: int, position: Fraction) -> int:
    return low + round((high - low) * position)
