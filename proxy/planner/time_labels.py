"""Every text that date_trunc(), extract(), to_char() and casts of a bounded column can print, by any clock.

A clock's time is a datetime here that says UTC, whatever zone's clock it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from itertools import chain, islice

from proxy.base import instants, limits
from proxy.base.errors import Refusal
from proxy.base.instants import moment
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import UNITS, template
from proxy.base.zones import UTC, Zone
from proxy.planner.bounds import bounded
from proxy.planner.constant_times import bin_starts, extracted_field, shifted_ends, shifted_time
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.possible_truth import Within
from proxy.planner.time_intervals import result_within, seconds_at, starts
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import (
    Cast,
    ColumnRef,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    Shift,
    TimeBin,
)

_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimeEnds:
    """Where the values of a column, or what its clock shows, lie, in seconds. is_daily: at midnight alone."""

    low: Fraction
    high: Fraction
    is_daily: bool = False


_Ends = tuple[Fraction | None, Fraction | None]


def _of_policy(known: ColumnFacts) -> _Ends:
    return (None, None) if known.bounds is None else (known.bounds.low, known.bounds.high)


def _of_question(known: ColumnFacts) -> _Ends:
    """Where the question's conditions leave a column, if that is one range. An end that they leave open is the
    policy's: rows beyond it are in no group, as a NOTICE says."""
    if known.ranges is None or len(known.ranges) != 1:
        return None, None
    own, bounds = (known.ranges[0].low, known.ranges[0].high), _of_policy(known)
    if own == (None, None):
        return own
    return (bounds[0] if own[0] is None else own[0], bounds[1] if own[1] is None else own[1])


def _ends(
    operand: Expression, facts: Facts, of: Callable[[ColumnFacts], _Ends] = _of_policy
) -> _TimeEnds | None:
    """
    Given    of: whose word it is
    Gives    None where that is not public, or when the zone's clock changes is not known
    """
    match operand:
        case ColumnRef(type=kind):
            low, high = of(facts[operand.relation, operand.column])
            if low is None or high is None:
                return None
            is_daily = kind is SqlType.DATE
            scale = _DAY if is_daily else 1
            return _TimeEnds(low=low * scale, high=high * scale, is_daily=is_daily)
        case Cast(operand=inner, type=kind) if inner.type is not None and inner.type.is_time:
            found = _ends(inner, facts, of)
            if found is None or kind is inner.type:
                return found
            zone = operand.zone or UTC
            if kind is SqlType.DATE:
                low = found.low // _DAY * _DAY * Fraction(1)
                return _TimeEnds(low=low, high=found.high, is_daily=True)
            if kind is SqlType.TIMESTAMP and inner.type is SqlType.TIMESTAMPTZ:
                if not zone.covers(found.low, found.high):
                    return None
                low, high = zone.local_ends(found.low, found.high)
                return _TimeEnds(low=low, high=high)
            if kind is SqlType.TIMESTAMPTZ:
                low, high = zone.instant(found.low), zone.instant(found.high)
                return _TimeEnds(low=low, high=high) if zone.covers(low, high) else None
            return found  # a date as a timestamp
        case DateTrunc(operand=inner) | TimeBin(operand=inner):
            found = _ends(inner, facts, of)
            return None if found is None else _ends_of_start(operand, found)
        case Shift(operand=inner):
            found = _ends(inner, facts, of)
            ends = None if found is None else shifted_ends(found.low, found.high, operand)
            return None if ends is None else _TimeEnds(low=ends[0], high=ends[1])
        case _:
            return None


def _ends_of_start(key: DateTrunc | TimeBin, of: _TimeEnds) -> _TimeEnds | None:
    """Between which times the starts of units lie."""
    zone = (key.zone if isinstance(key, DateTrunc) else None) or UTC
    found = result_within(key, Within(of.low, of.high))
    if found is None or found.low is None or found.high is None:
        return None
    is_known = zone.is_utc or key.type is SqlType.TIMESTAMP or zone.covers(found.low, found.high)
    return _TimeEnds(low=found.low, high=found.high) if is_known else None


def extracted(extract: Extract, facts: Facts) -> tuple[str, ...] | None:
    """The numbers that extract() can give; None where they are not public."""
    if extract.field in ("epoch", "second"):
        return None
    try:
        found = bounded(extract, facts).interval
    except Refusal:
        return None
    if found is None or found.high - found.low > limits.GROUPS_PER_STATEMENT:
        return None
    single = _in_range(extract, facts)
    if single is not None:
        return single
    low, high = math.floor(found.low), math.ceil(found.high)
    if extract.field in ("year", "isoyear"):
        low, high = _years(extract, facts) or (low + 1, high - 1)  # a year of slack on both sides
    return tuple(str(n) for n in range(low, high + 1))


_STEPS = {
    **{"minute": "minute", "hour": "hour", "month": "month", "quarter": "month"},
    **dict.fromkeys(("day", "dow", "isodow", "doy", "week"), "day"),
}
_MOST_STEPS = 400  # in more than a year there is every day of one


def _in_range(extract: Extract, facts: Facts) -> tuple[str, ...] | None:
    """Where a column lies in one range with two ends; None: it does not, or that says nothing."""
    unit, ends = _STEPS.get(extract.field), _ends(extract.operand, facts, _of_question)
    if unit in ("hour", "minute") and (own := _ends(extract.operand, facts)) and own.is_daily:
        return ("0",)
    if unit is None or ends is None:
        return None
    found: set[int] = set()
    for number, at in enumerate(_starts(unit, ends)):
        if number == _MOST_STEPS:
            return None
        found.add(extracted_field(at, extract.field))
    return tuple(str(n) for n in sorted(found)) or None


def _years(extract: Extract, facts: Facts) -> tuple[int, int] | None:
    """The first and the last year of a column's own bounds."""
    ends = _ends(extract.operand, facts)
    if ends is None:
        return None
    low, high = (extracted_field(moment(end), extract.field) for end in (ends.low, ends.high))
    return low, high


def clock_times(clock: Expression, unit: str, facts: Facts) -> Iterator[datetime] | None:
    """The starts of all units that a clock shows a part of; None where they are not public. Within the ranges
    in which conditions leave the column, where that is what they do."""
    each = [
        _ends(clock, one, _of_question) or _ends(clock, one) for one in _of_each_range(clock, facts)
    ]
    known = [ends for ends in each if ends is not None]
    if not known or len(known) < len(each):
        return None
    return chain.from_iterable(_starts(unit, ends) for ends in known)


def _of_each_range(clock: Expression, facts: Facts) -> Iterator[Facts]:
    """The facts with one range of the clock's column after the other."""
    (name,) = columns(clock) or {None}
    ranges = None if name is None else facts[name].ranges
    if name is None or not ranges:
        yield facts
        return
    for one in ranges:
        yield facts | {name: replace(facts[name], ranges=(one,))}


def day_of(at: datetime) -> str:
    return at.date().isoformat()


def time_text(at: datetime, kind: SqlType, zone: Zone) -> str:
    """As the key is printed in UTC whose clock in a zone shows this."""
    seconds = seconds_at(at)
    return _text(zone.instant(seconds) if kind is SqlType.TIMESTAMPTZ else seconds, kind)


def time_texts(
    key: DateTrunc | Cast | FormattedTime | Shift | TimeBin, facts: Facts
) -> tuple[str, ...] | None:
    """The starts of minutes, days, months ..., dates and texts of to_char() that a key can be; None where they
    are not public."""
    if isinstance(key, FormattedTime):
        return _formatted(key, facts)
    found: list[Fraction] = []
    for seconds in _values(key, facts) or ():
        found.append(seconds)
        if len(found) > limits.GROUPS_PER_STATEMENT:
            return None
    return tuple(dict.fromkeys(_text(seconds, key.type) for seconds in found)) or None


def _text(seconds: Fraction, kind: SqlType) -> str:
    at = moment(seconds)
    if kind is SqlType.DATE:
        return day_of(at)
    return instants.time_text(at, kind)


def _values(key: Expression, facts: Facts) -> Iterator[Fraction] | None:
    """What a key can be, in order: instants, or what a clock shows."""
    match key:
        case DateTrunc():
            return _truncated(key, facts)
        case Shift(operand=inner):
            return _shifted(key, facts)
        case TimeBin(operand=inner):
            listed = _values(inner, facts)
            if listed is not None:
                return (start for at in listed for start in bin_starts(at, at, key))
            ends = _ends(inner, facts)
            return None if ends is None else bin_starts(ends.low, ends.high, key)
        case Cast(operand=DateTrunc() | Cast() | Shift() | TimeBin() as inner, type=kind) if (
            inner.type is not kind
        ):
            found = _values(inner, facts)
            if found is None:
                return _days(inner, facts) if kind is SqlType.DATE else None
            return _cast(found, inner.type, key)
        case Cast(operand=ColumnRef() as inner, type=SqlType.DATE):
            return _days(inner, facts)
        case _:
            return None


def _cast(found: Iterator[Fraction], source: SqlType, cast: Cast) -> Iterator[Fraction]:
    zone = cast.zone or UTC
    for seconds in found:
        if cast.type is SqlType.DATE:
            yield Fraction(seconds // _DAY * _DAY)
        elif cast.type is SqlType.TIMESTAMP and source is SqlType.TIMESTAMPTZ:
            yield zone.local(seconds)
        elif cast.type is SqlType.TIMESTAMPTZ:
            yield zone.instant(seconds)
        else:
            yield seconds


def _shifted(key: Shift, facts: Facts) -> Iterator[Fraction] | None:
    inner = key.operand
    found = _values(inner, facts)
    if found is None and inner.type is SqlType.DATE:
        found = _days(inner, facts)
    if found is None:
        return None
    times = list(
        islice((shifted_time(seconds, key) for seconds in found), limits.GROUPS_PER_STATEMENT + 1)
    )
    return None if None in times else iter([at for at in times if at is not None])


def _days(operand: Expression, facts: Facts) -> Iterator[Fraction] | None:
    ends = _ends(operand, facts)
    return None if ends is None else map(seconds_at, _starts("day", ends))


def _truncated(key: DateTrunc, facts: Facts) -> Iterator[Fraction] | None:
    ends = _ends(key.operand, facts)
    if ends is None or not _changes_are_known(key, ends):
        return None
    listed = _values(key.operand, facts)
    if listed is None:
        return _unit_starts(key, ends)
    # Days of which each is the first of its month, not all days.
    each = (_TimeEnds(low=at, high=at) for at in listed)
    return chain.from_iterable(_unit_starts(key, one) for one in each)


def _changes_are_known(key: DateTrunc, ends: _TimeEnds) -> bool:
    zone = key.zone or UTC
    is_by_clock = key.type is SqlType.TIMESTAMPTZ and key.operand.type is not SqlType.DATE
    return not is_by_clock or zone.is_utc or zone.covers(ends.low, ends.high)


def _unit_starts(key: DateTrunc, ends: _TimeEnds) -> Iterator[Fraction]:
    """The starts of units that hold some time from one to another."""
    zone = key.zone or UTC
    if key.type is SqlType.TIMESTAMP or zone.is_utc:
        return map(seconds_at, _starts(key.unit, ends))
    if key.operand.type is SqlType.DATE:
        return (zone.instant(seconds_at(at)) for at in _starts(key.unit, ends))
    if key.unit in ("second", "minute", "hour"):
        # Truncated as the clock went then, which shows the hour before a change twice.
        return (
            seconds_at(at) - offset
            for low, high, offset in zone.pieces(ends.low, ends.high)
            for at in _starts(key.unit, _TimeEnds(low=low + offset, high=high + offset))
        )
    low, high = zone.local_ends(ends.low, ends.high)
    return (zone.instant(seconds_at(at)) for at in _starts(key.unit, _TimeEnds(low=low, high=high)))


def _formatted(key: FormattedTime, facts: Facts) -> tuple[str, ...] | None:
    known, ends = template(key.template), _ends(key.operand, facts)
    if known is None or ends is None:
        return None
    listed = _values(key.operand, facts)
    times: Iterator[datetime]
    if listed is not None:
        times = map(moment, listed)
    elif known.unit == "second":
        return None
    else:
        if known.is_clock:  # each day shows the same
            ends = replace(ends, high=min(ends.high, ends.low + _DAY))
        times = _starts(known.unit, ends)
    found: dict[str, None] = {}
    for number, at in enumerate(times):
        if number > limits.TIMES_FORMATTED or len(found) > limits.GROUPS_PER_STATEMENT:
            return None
        found[known.text(at)] = None
    return tuple(found) or None


def _starts(unit: str, ends: _TimeEnds) -> Iterator[datetime]:
    within_day = ends.is_daily and UNITS.index(unit) > UNITS.index("day")
    return starts("day" if within_day else unit, ends.low, ends.high)
