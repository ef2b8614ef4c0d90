"""Ranges of days that a block asks for, and the days that a published one holds: which make up which.

Days are those of UTC's clock. Conditions on the time column are read as one range; what else a block asks has
to be the same of both.

Source  docs/design/reuse.md 6
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from proxy.base.instants import DAY_SECONDS, moment, seconds_of
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import conjuncts
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.planner.column_buckets import Stretch, stretch_of
from proxy.planner.facts import Values
from proxy.planner.time_intervals import next_start, seconds_at
from proxy.query.ir.expressions import (
    Cast,
    Clamped,
    ColumnRef,
    Connective,
    DateTrunc,
    Expression,
    Is,
)
from proxy.query.ir.rebuilding import conjunction
from proxy.reuse.block_question import BlockQuestion, about_of, column_name

_UNITS = ("year", "quarter", "month", "week", "day")


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRanges:
    """Ranges of one time column, by the groups of a block.

    Attributes:
        about: Of which rows and which column, whatever the range.
        names: What is measured, by the number of the release.
        stretches: Of each group, in seconds. An end that is None: all rows on that side count.
    """

    about: str
    names: Mapping[int, str]
    stretches: Mapping[Values, Stretch]

    def made_up_of(self, days: DayRanges) -> Mapping[Values, tuple[int, int]] | None:
        """The days that make up each range, as places in `days`: from the first on, before the second.

        None: they do not make up each. Each day ends where the next one begins.
        """
        ends = list(days.stretches.values())
        begins = {one.low: place for place, one in enumerate(ends)}
        afters = {one.high: place for place, one in enumerate(ends, 1)}
        found = {}
        for keys, stretch in self.stretches.items():
            begin, after = begins.get(stretch.low), afters.get(stretch.high)
            if begin is None or after is None or begin >= after:
                return None
            found[keys] = begin, after
        return found


def wanted_ranges(block: BlockPlan, question: BlockQuestion) -> tuple[DayRanges, ...]:
    """Read a block as one that asks for ranges: of its key's column, else of each that a condition bounds."""
    names = dict(zip(question.releases, question.release_names, strict=True))
    if len(block.keys) > 1 or block.combinations is not None or block.selection is not None:
        return ()
    if block.keys:
        found = _of_key(block, block.keys[0], names)
        return () if found is None else (found,)
    bounded = filter(None, map(stretch_of, conjuncts(block.where)))
    columns = dict.fromkeys(column for column, _ in bounded if column.type.is_time)
    return tuple(_of_column(block, column, names) for column in columns)


def published_days(block: BlockPlan, names: Mapping[int, str]) -> DayRanges | None:
    """Read a block whose groups are days in a row, in their order.

    Args:
        names: What it measures, as `whole_days` would be asked.
    """
    found = _of_key(block, block.keys[0], names) if len(block.keys) == 1 else None
    if found is None:
        return None
    ends = list(found.stretches.values())
    is_in_a_row = all(one.high == other.low for one, other in pairwise(ends))
    return found if is_in_a_row else None


def whole_days(block: BlockPlan) -> BlockPlan:
    """The block without its groups, and without what bounds the groups of a unit: a range is asked so."""
    neighbours = block.neighbours
    if isinstance(neighbours, UnitNeighbours):
        neighbours = replace(
            neighbours, groups=None, rows_per_group=None, is_summed=True, is_in_order=False
        )
    return replace(block, keys=(), neighbours=neighbours)


def _of_key(block: BlockPlan, key: KeyPlan, names: Mapping[int, str]) -> DayRanges | None:
    """None: it is no time, not of UTC's clock, or has a group without one."""
    read = _truncated(key.expression)
    if read is None or key.values is None:
        return None
    unit, (column, clamp) = read
    bounded, about = _without(block, column)
    found: dict[Values, Stretch] = {}
    for text in key.values:
        stretch = None if text is None else _stretch(text, unit, key.type, clamp)
        stretch = None if stretch is None else stretch.meeting(bounded)
        if stretch is None or not _is_range(stretch):
            return None
        found[(text,)] = stretch
    return DayRanges(about=about, names=names, stretches=found)


def _of_column(block: BlockPlan, column: ColumnRef, names: Mapping[int, str]) -> DayRanges:
    bounded, about = _without(block, column)
    return DayRanges(about=about, names=names, stretches={(): bounded})


def _is_range(stretch: Stretch) -> bool:
    return stretch.low is None or stretch.high is None or stretch.low < stretch.high


def _without(block: BlockPlan, column: ColumnRef) -> tuple[Stretch, str]:
    """Where conditions leave a column, and what rows the block is about without them."""
    stretch, left = Stretch(), list[Expression]()
    for part in conjuncts(block.where):
        bounded = _bounded(part)
        if bounded is not None and bounded[0] == column:
            stretch = stretch.meeting(bounded[1])
        else:
            left.append(part)
    core = replace(block, where=conjunction(left))
    return stretch, f"{about_of(core)} {column_name(core, column)}"


def _bounded(part: Expression) -> tuple[ColumnRef, Stretch] | None:
    """As `stretch_of`, also where rows without a value count: of those that are here none are in a range, as no
    group is theirs, or another condition leaves them out (planner/later_rows.py)."""
    match part:
        case Connective(word="OR", operands=(Is(ColumnRef() as column, None), other)):
            found = stretch_of(other)
            return found if found is not None and found[0] == column else None
        case _:
            return stretch_of(part)


_Operand = tuple[ColumnRef, Clamped | None]


def _truncated(key: Expression) -> tuple[str, _Operand] | None:
    """The unit of the calendar that a key is, and of what."""
    match key:
        case Cast(operand=DateTrunc() as inner, type=SqlType.DATE, given=()):
            return _truncated(inner)
        case DateTrunc(unit=unit, given=()) if unit in _UNITS:
            is_local = key.type is SqlType.TIMESTAMP
            operand = _operand(key.operand)
        case Cast(type=SqlType.DATE, given=()):
            unit, operand = "day", _operand(key.operand)
            is_local = operand is not None and operand[0].type is not SqlType.TIMESTAMPTZ
        case ColumnRef(type=SqlType.DATE):
            unit, operand, is_local = "day", (key, None), True
        case _:
            return None
    zone = None if isinstance(key, ColumnRef) else key.zone
    if operand is None or not (is_local or zone is None or zone.is_utc):
        return None
    return unit, operand


def _operand(of: Expression) -> _Operand | None:
    match of:
        case ColumnRef(type=kind) if kind.is_time:
            return of, None
        case Clamped(operand=ColumnRef(type=kind) as column) if kind.is_time:
            return column, of
        case Cast(operand=inner, type=SqlType.TIMESTAMP, given=()):
            found = _operand(inner)
            return found if found is not None and found[0].type is SqlType.DATE else None
        case _:
            return None


def _stretch(text: str, unit: str, kind: SqlType, clamp: Clamped | None) -> Stretch | None:
    """The rows of a group: beyond what a column is clamped to they are in the first or the last one."""
    low = seconds_of(text, is_local=kind is not SqlType.TIMESTAMPTZ)
    if low is None or low % DAY_SECONDS != 0:
        return None
    try:
        high = seconds_at(next_start(moment(low), unit))
    except (OverflowError, ValueError):  # beyond the years of the calendar here
        return None
    if clamp is None:
        return Stretch(low=low, high=high)
    scale = Fraction(DAY_SECONDS if clamp.type is SqlType.DATE else 1)
    return Stretch(
        low=None if low <= clamp.low * scale else low,
        high=None if high > clamp.high * scale else high,
    )
