"""Where a function of a time lies when the time lies between two others, and where it changes.

One table says it, a row for each function. The first part of a row must hold for every value, as groups are
left out by it. The second part only says where to look: a place too many or too few leaves groups in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from itertools import islice
from typing import Any

from proxy.base.instants import is_in_calendar, moment
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import UNITS, template
from proxy.base.zones import UTC, Zone
from proxy.planner.constant_times import extracted_field, shifted_ends, shifted_time
from proxy.planner.possible_truth import OtherText, Unknown, Value, Within
from proxy.planner.varying_operands import (
    arithmetic_turns,
    arithmetic_within,
    chosen_within,
    ends_of,
    quotient_turns,
    quotient_within,
    signed_turns,
    signed_within,
    varying,
)
from proxy.query.ir import expressions as ir

_DAY = 86_400
_MICROSECOND = Fraction(1, 10**6)
_NEAR = 2 * _DAY  # further away no change of a clock matters
_WIDEST = 16 * 3600  # PostgreSQL takes no clock that is further from UTC
MOST_STARTS = 4_000  # of hours or days that are looked at one by one
# Of these fields a later time never has a smaller number.
_RISING = ("epoch", "year", "isoyear")
# The unit in which each field is the same.
FIELD_UNITS: Mapping[str, str] = {
    **{"year": "year", "quarter": "quarter", "month": "month", "hour": "hour", "minute": "minute"},
    **dict.fromkeys(("isoyear", "week", "day", "dow", "isodow", "doy"), "day"),
}


# --- the calendar


def starts(unit: str, low: Fraction, high: Fraction) -> Iterator[datetime]:
    """The starts of all units that hold some time from one to another."""
    at, last = start_of(moment(low), unit), moment(high)
    try:
        while at <= last:
            yield at
            at = next_start(at, unit)
    except (OverflowError, ValueError):  # beyond the years of the calendar here
        return


_FIXED = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def start_of(at: datetime, unit: str) -> datetime:
    day = datetime(at.year, at.month, at.day, tzinfo=timezone.utc)
    match unit:
        case "second":
            return at.replace(microsecond=0)
        case "minute":
            return at.replace(second=0, microsecond=0)
        case "hour":
            return at.replace(minute=0, second=0, microsecond=0)
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case _:
            months = _MONTHS[unit]
            return day.replace(month=(day.month - 1) // months * months + 1, day=1)


def next_start(at: datetime, unit: str) -> datetime:
    """
    Refuses  OverflowError, ValueError: beyond the years of the calendar here
    """
    if unit in _FIXED:
        return at + _FIXED[unit]
    months = at.month - 1 + _MONTHS[unit]
    return at.replace(year=at.year + months // 12, month=months % 12 + 1)


def seconds_at(at: datetime) -> Fraction:
    """Of the start of a unit."""
    return Fraction(int(at.timestamp()))


# --- the table


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimeFunction:
    """One function.

    within: where the result lies, of an operand between two values; None where that is not known.
    turns: values of the operand at which the result gets to a value, or past it.
    unit: of a function that comes back to its values, the unit in which it is the same; None: it never falls.
    """

    within: Callable[[Any, Within], Within | None]
    turns: Callable[[Any, Fraction], Iterable[Fraction]]
    unit: Callable[[Any], str | None] = lambda node: None


def _truncated(unit: str, seconds: Fraction) -> Fraction:
    return seconds_at(start_of(moment(seconds), unit))


def _day_of(seconds: Fraction) -> Fraction:
    return Fraction(seconds // _DAY * _DAY)


def _known(zone: Zone, near: Fraction) -> bool:
    return zone.covers(near - _NEAR, near + _NEAR)


def _displayed(zone: Zone, of: Within) -> Within:
    """What a clock shows from one instant to another. It may be put back, but not by days."""
    if zone.is_utc:
        return of
    low, high = of.low, of.high
    if low is not None:
        last = low + _NEAR if high is None else min(high, low + _NEAR)
        low = zone.local_ends(low, last)[0] if _known(zone, low) else low - _WIDEST
    if high is not None:
        first = high - _NEAR if of.low is None else max(of.low, high - _NEAR)
        high = zone.local_ends(first, high)[1] if _known(zone, high) else high + _WIDEST
    return Within(low, high)


def _meant(zone: Zone, of: Within) -> Within:
    """Which instants are meant by what a clock shows. A time that the clock leaves out is read by the clock
    before the change, so that it comes after some that are shown later."""
    if zone.is_utc:
        return of
    low, high = of.low, of.high
    if low is not None and not _known(zone, low):
        low = low - _WIDEST
    elif low is not None:
        later = [at for at, _, after in _changes(zone, low) if at + after >= low]
        low = min([zone.instant(low), *later])
    if high is not None and not _known(zone, high):
        high = high + _WIDEST
    elif high is not None:
        changed = [one for one in _changes(zone, high) if one[0] + one[1] <= high]
        left_out = [at + max(after - before, 0) for at, before, after in changed]
        high = max([zone.instant(high), *left_out])
    return Within(low, high)


def _changes(zone: Zone, near: Fraction) -> Iterator[tuple[Fraction, int, int]]:
    """The instants around another at which a clock changes, with its distance from UTC before and after."""
    before: int | None = None
    for at, _, offset in zone.pieces(near - _NEAR, near + _NEAR):
        if before is not None:
            yield at, before, offset
        before = offset


def _cast_within(cast: ir.Cast, of: Within) -> Within | None:
    source, zone = cast.operand.type, cast.zone or UTC
    if source is SqlType.NUMERIC and cast.type is SqlType.FLOAT8:  # date_part()
        return of
    if source is None or not source.is_time or not cast.type.is_time:
        return None
    if source is SqlType.TIMESTAMPTZ and cast.type is not SqlType.TIMESTAMPTZ:
        of = _displayed(zone, of)
    elif source is not SqlType.TIMESTAMPTZ and cast.type is SqlType.TIMESTAMPTZ:
        of = _meant(zone, of)
    return ends_of(of, _day_of) if cast.type is SqlType.DATE else of


def _cast_turns(cast: ir.Cast, at: Fraction) -> Iterator[Fraction]:
    source, zone = cast.operand.type, cast.zone or UTC
    if not cast.type.is_time:
        yield at
        return
    days = {at}
    if cast.type is SqlType.DATE:
        days = {_day_of(at), _day_of(at) + _DAY}
    for one in days:
        if source is SqlType.TIMESTAMPTZ and cast.type is not SqlType.TIMESTAMPTZ:
            yield zone.instant(one)
        elif source is not SqlType.TIMESTAMPTZ and cast.type is SqlType.TIMESTAMPTZ:
            yield zone.local(one)
        else:
            yield one


def _clock(node: ir.DateTrunc) -> Zone | None:
    """By which instants are truncated."""
    zone = node.zone or UTC
    return None if node.type is not SqlType.TIMESTAMPTZ or zone.is_utc else zone


def _truncated_within(node: ir.DateTrunc, of: Within) -> Within:
    zone = _clock(node)
    if zone is None:
        return ends_of(of, lambda at: _truncated(node.unit, at))
    if node.operand.type is SqlType.TIMESTAMPTZ:
        of = _displayed(zone, of)
    of = ends_of(of, lambda at: _truncated(node.unit, at))
    if node.unit not in ("second", "minute", "hour"):
        return _meant(zone, of)
    # By the clock as it went then, which shows the hour before a change twice.
    is_known = all(end is None or _known(zone, end) for end in (of.low, of.high))
    near = {
        offset
        for end in (of.low, of.high)
        if end is not None and is_known
        for _, _, offset in zone.pieces(end - _NEAR, end + _NEAR)
    } or {-_WIDEST, _WIDEST}
    return Within(
        None if of.low is None else of.low - max(near),
        None if of.high is None else of.high - min(near),
    )


def _truncated_turns(node: ir.DateTrunc, at: Fraction) -> Iterator[Fraction]:
    zone = _clock(node)
    local = at if zone is None else zone.local(at)
    first = start_of(moment(local), node.unit)
    for start in (seconds_at(first), seconds_at(next_start(first, node.unit))):
        is_instant = zone is not None and node.operand.type is SqlType.TIMESTAMPTZ
        yield zone.instant(start) if zone is not None and is_instant else start


def _shifted_within(shift: ir.Shift, of: Within) -> Within | None:
    low, high = of.low, of.high
    ends = [end for end in (low, high) if end is not None]
    if not ends:
        return of
    if low is not None and low == high:
        moved = shifted_time(low, shift)
        return None if moved is None else Within(moved, moved)
    found = shifted_ends(min(ends), max(ends), shift)
    if found is None:
        return None
    return Within(None if low is None else found[0], None if high is None else found[1])


def _shifted_turns(shift: ir.Shift, at: Fraction) -> Iterator[Fraction]:
    back = ir.Shift(shift.operand, -shift.months, -shift.days, -shift.microseconds, shift.type)
    found = shifted_time(at, back)
    if found is not None:
        yield found


def _bin_start(bins: ir.TimeBin, at: Fraction) -> Fraction:
    width, origin = bins.width * _MICROSECOND, bins.origin * _MICROSECOND
    return origin + (at - origin) // width * width


def _bin_turns(bins: ir.TimeBin, at: Fraction) -> Iterator[Fraction]:
    yield _bin_start(bins, at)
    yield _bin_start(bins, at) + bins.width * _MICROSECOND


def _field_within(extract: ir.Extract, of: Within) -> Within | None:
    if extract.field == "epoch":
        return of
    if extract.field in _RISING:
        return ends_of(of, lambda at: Fraction(extracted_field(moment(at), extract.field)))
    unit = FIELD_UNITS.get(extract.field)
    if unit is None or of.low is None or of.high is None:
        return None
    numbers = {
        extracted_field(at, extract.field)
        for at in islice(starts(unit, of.low, of.high), MOST_STARTS + 1)
    }
    if len(numbers) != 1:
        return None
    (number,) = numbers
    return Within(Fraction(number), Fraction(number))


def _field_turns(extract: ir.Extract, at: Fraction) -> Iterator[Fraction]:
    if extract.field == "epoch":
        yield at
        return
    for year in (math.floor(at), math.floor(at) + 1):
        if extract.field == "year":
            yield seconds_at(datetime(year, 1, 1, tzinfo=timezone.utc))
        else:
            yield seconds_at(datetime.fromisocalendar(year, 1, 1).replace(tzinfo=timezone.utc))


_ROUNDED: Mapping[ir.NumericFunction, Callable[[Fraction], int]] = {
    ir.NumericFunction.FLOOR: math.floor,
    ir.NumericFunction.CEIL: math.ceil,
    ir.NumericFunction.TRUNC: math.trunc,
}


_SIGNED = (ir.NumericFunction.ABS, ir.NumericFunction.NEGATE)


def _rounded_within(rounded: ir.NumericCall, of: Within) -> Within | None:
    """Of a field: what is rounded to whole numbers, or loses its sign."""
    if rounded.digits:
        return None
    if rounded.function in _SIGNED:
        return signed_within(rounded, of)
    if rounded.halves_are_even:
        return ends_of(of, lambda at: Fraction(round(at)))
    if rounded.function is ir.NumericFunction.ROUND:  # halves away from zero
        half = Fraction(1, 2)
        return ends_of(
            of, lambda at: Fraction(math.floor(at + half) if at >= 0 else math.ceil(at - half))
        )
    whole = _ROUNDED.get(rounded.function)
    return None if whole is None else ends_of(of, lambda at: Fraction(whole(at)))


def _rounded_turns(rounded: ir.NumericCall, at: Fraction) -> Iterator[Fraction]:
    if rounded.function in _SIGNED:
        yield from signed_turns(at)
        return
    for number in (math.floor(at) - 1, math.floor(at), math.floor(at) + 1):
        yield Fraction(number)
        if rounded.function is ir.NumericFunction.ROUND:
            yield number + Fraction(1, 2)


_TABLE: Mapping[type[ir.Expression], _TimeFunction] = {
    ir.Cast: _TimeFunction(within=_cast_within, turns=_cast_turns),
    ir.DateTrunc: _TimeFunction(within=_truncated_within, turns=_truncated_turns),
    ir.Shift: _TimeFunction(within=_shifted_within, turns=_shifted_turns),
    ir.TimeBin: _TimeFunction(
        within=lambda node, of: ends_of(of, lambda at: _bin_start(node, at)), turns=_bin_turns
    ),
    ir.Extract: _TimeFunction(
        within=_field_within,
        turns=_field_turns,
        unit=lambda node: None if node.field in _RISING else FIELD_UNITS.get(node.field, ""),
    ),
    ir.NumericCall: _TimeFunction(within=_rounded_within, turns=_rounded_turns),
    ir.Arithmetic: _TimeFunction(within=arithmetic_within, turns=arithmetic_turns),
    ir.Quotient: _TimeFunction(within=quotient_within, turns=quotient_turns),
    ir.Choose: _TimeFunction(within=chosen_within, turns=lambda node, at: (at,)),
}


# --- what is asked


def is_function_of(expression: ir.Expression, column: ir.ColumnRef) -> bool:
    """Whether the table knows an expression as a function of a column of times."""
    if not column.type.is_time or expression == column:
        return False
    if isinstance(expression, ir.FormattedTime):
        return expression.operand == column or is_function_of(expression.operand, column)
    operand = varying(expression)
    if isinstance(operand, ir.FormattedTime):
        return False
    is_text = expression.type is not None and expression.type.is_text
    if type(expression) not in _TABLE or operand is None or is_text:
        return False
    return operand == column or is_function_of(operand, column)


def _operand(node: ir.Expression) -> ir.Expression:
    """Of one for which `is_function_of` holds."""
    found = varying(node)
    assert found is not None
    return found


def value_within(
    expression: ir.Expression, column: ir.ColumnRef, of: Within, beside: Collection[Value] = ()
) -> Value:
    """What a function of a column is where the column lies between two times.

    Args:
        expression: For which `is_function_of` holds.
        column: Whose times these are.
        of: Between which they lie, in seconds.
        beside: Texts that the function is compared with.

    Returns:
        A value, or something that holds of each: `Unknown` where nothing is known.
    """
    if isinstance(expression, ir.FormattedTime):
        found = interval_of(expression.operand, column, of)
        return Unknown.UNKNOWN if found is None else _text_within(expression, found, beside)
    found = interval_of(expression, column, of)
    if found is None:
        return Unknown.UNKNOWN
    return found.low if found.low is not None and found.low == found.high else found


def interval_of(expression: ir.Expression, column: ir.ColumnRef, of: Within) -> Within | None:
    """Where a function of a column lies when that lies between two times; None: that is not known."""
    if expression == column:
        return of if _is_known(of) else None
    inner = interval_of(_operand(expression), column, of)
    return None if inner is None else result_within(expression, inner)


def result_within(expression: ir.Expression, of: Within) -> Within | None:
    """Where the result of one function lies, of an operand between two values; None: that is not known."""
    try:
        found = _TABLE[type(expression)].within(expression, of)
    except (OverflowError, ValueError):  # beyond the years of the calendar here
        return None
    is_time = expression.type is not None and expression.type.is_time
    return found if found is None or not is_time or _is_known(found) else None


def _is_known(of: Within) -> bool:
    """Whether it is within the years of the calendar here, but for ends that are open."""
    ends = (of.low,) if of.low is of.high else (of.low, of.high)
    return all(end is None or is_in_calendar(end) for end in ends)


def _text_within(key: ir.FormattedTime, of: Within, beside: Collection[Value]) -> Value:
    """One text, or some text of some years that is none of those with another one. The operand has been cut to
    the years from 1 to 9999 (calendar_clamps.py)."""
    known = template(key.template)
    if known is None:
        return Unknown.UNKNOWN
    first = moment(Fraction(0) if of.low is None else of.low)
    if of.low is not None and of.low == of.high:
        return known.text(first)
    last = moment(Fraction(0) if of.high is None else of.high)
    if of.low is not None and of.high is not None and known.unit != "second":
        texts = {known.text(at) for at in islice(starts(known.unit, of.low, of.high), 2)}
        if len(texts) == 1:
            return texts.pop()
    place = known.year_place
    if place is None:
        return Unknown.UNKNOWN
    years = (0 if of.low is None else first.year, 9999 if of.high is None else last.year)
    others = {
        text
        for text in beside
        if isinstance(text, str) and not _has_year(text[place : place + 4], *years)
    }
    return OtherText(frozenset(others), None if place else years)


def _has_year(digits: str, first: int, last: int) -> bool:
    """Whether four characters are one of these years."""
    return (
        len(digits) == 4 and digits.isascii() and digits.isdigit() and first <= int(digits) <= last
    )


def is_told_apart(expression: ir.Expression, column: ir.ColumnRef) -> bool:
    """Whether what a function of a column is compared with says at which times it may change: not of one that
    has the same value again after others, as its hour."""
    node = expression
    while node != column:
        if _unit(node) is not None and _years_of(node, ()) is None:
            return False
        node = _operand(node)
    return True


def turning_times(
    expression: ir.Expression, column: ir.ColumnRef, beside: Collection[Value], of: Within
) -> Iterator[Fraction]:
    """Times of a column at which a function of it comes to be one of these values, or ceases to be. Of one
    that comes back to its values all times at which it may change.

    Args:
        expression: For which `is_function_of` holds.
        column: Whose times these are.
        beside: What the function is compared with.
        of: Between which times are looked for, in seconds.
    """
    node, points = expression, [one for one in beside if isinstance(one, Fraction)]
    while node != column:
        unit = _unit(node)
        operand = _operand(node)
        if unit is not None:
            clock = interval_of(operand, column, of)
            points = _starts_of(unit, clock, _years_of(node, beside))
        else:
            points = list(_turns(node, points))
        node = operand
    yield from points


def _unit(node: ir.Expression) -> str | None:
    if isinstance(node, ir.FormattedTime):
        known = template(node.template)
        return "" if known is None else known.unit
    return _TABLE[type(node)].unit(node)


def _turns(node: ir.Expression, points: Iterable[Fraction]) -> Iterator[Fraction]:
    for point in points:
        try:
            yield from _TABLE[type(node)].turns(node, point)
        except (OverflowError, ValueError):  # beyond the years of the calendar here
            continue


def _years_of(node: ir.Expression, beside: Collection[Value]) -> list[Within] | None:
    """The years that texts of to_char() name, if each names one."""
    known = template(node.template) if isinstance(node, ir.FormattedTime) else None
    place = None if known is None else known.year_place
    if place is None:
        return None
    digits = {text[place : place + 4] for text in beside if isinstance(text, str)}
    years = [int(one) for one in sorted(digits) if _has_year(one, 1, 9998)]
    return [
        Within(
            seconds_at(datetime(year, 1, 1, tzinfo=timezone.utc)),
            seconds_at(datetime(year + 1, 1, 1, tzinfo=timezone.utc)),
        )
        for year in years
    ]


def _starts_of(unit: str, clock: Within | None, years: Sequence[Within] | None) -> list[Fraction]:
    """The starts of a unit while a clock shows what lies between two times; none where they are too many.

    Args:
        unit: Any that has a start here.
        clock: Between which times; None where that is not known.
        years: Only those in one of these; None for all.
    """
    if clock is None or clock.low is None or clock.high is None or unit not in UNITS[:-1]:
        return []
    found: list[Fraction] = []
    for one in [clock] if years is None else years:
        assert one.low is not None and one.high is not None
        low, high = max(clock.low, one.low), min(clock.high, one.high)
        listed = islice(starts(unit, low, high), MOST_STARTS + 1 - len(found))
        found.extend(seconds_at(at) for at in listed)
    return [] if len(found) > MOST_STARTS else found
