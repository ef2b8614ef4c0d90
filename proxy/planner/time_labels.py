"""Every text that date_trunc() and extract() of a bounded column can print."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.base.instants import moment
from proxy.base.sql_types import SqlType
from proxy.planner.bounds import bounded
from proxy.planner.facts import Facts
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import ColumnRef, DateTrunc, Extract


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
    operand, unit = extract.operand, _STEPS.get(extract.field)
    if not isinstance(operand, ColumnRef) or unit is None:
        return None
    ranges = facts[operand.relation, operand.column].ranges
    if ranges is None or len(ranges) != 1:
        return None
    low, high = ranges[0].low, ranges[0].high
    if low is None or high is None:
        return None
    found: set[int] = set()
    seconds = 86400 if operand.type is SqlType.DATE else 1
    try:
        at, last = _floor(moment(low * seconds), unit), moment(high * seconds)
        for _ in range(_MOST_STEPS):
            if at > last:
                return tuple(str(n) for n in sorted(found))
            found.add(_field(at, extract.field))
            at = _next(at, unit)
    except OverflowError:  # beyond the years of the calendar here
        pass
    return None


def _field(at: datetime, field: str) -> int:
    match field:
        case "minute":
            return at.minute
        case "hour":
            return at.hour
        case "day":
            return at.day
        case "dow":
            return at.isoweekday() % 7
        case "isodow":
            return at.isoweekday()
        case "doy":
            return at.timetuple().tm_yday
        case "week":
            return at.isocalendar()[1]
        case "month":
            return at.month
        case _:
            return (at.month + 2) // 3


def _years(extract: Extract, facts: Facts) -> tuple[int, int] | None:
    """The first and the last year of a column's own bounds."""
    operand = extract.operand
    bounds = None
    if isinstance(operand, ColumnRef):
        bounds = facts[operand.relation, operand.column].bounds
    if bounds is None:
        return None
    seconds = 86400 if operand.type is SqlType.DATE else 1
    low, high = (moment(end * seconds) for end in (bounds.low, bounds.high))
    if extract.field == "isoyear":
        return low.isocalendar()[0], high.isocalendar()[0]
    return low.year, high.year


def date_truncated(date_trunc: DateTrunc, facts: Facts) -> tuple[str, ...] | None:
    """The starts of minutes, days, months ... that date_trunc() can give; None where they are not public."""
    operand = date_trunc.operand
    if not isinstance(operand, ColumnRef):
        return None
    bounds = facts[operand.relation, operand.column].bounds
    if bounds is None:
        return None
    found: list[str] = []
    for start in _starts(date_trunc.unit, bounds, operand.type is SqlType.DATE):
        if len(found) > limits.GROUPS_PER_STATEMENT:
            return None
        text = start.strftime("%Y-%m-%d %H:%M:%S")
        found.append(text + "+00" if date_trunc.type is SqlType.TIMESTAMPTZ else text)
    return tuple(found)


def _starts(unit: str, bounds: Bounds, days: bool) -> Iterator[datetime]:
    seconds = 86400 if days else 1
    at = _floor(moment(bounds.low * seconds), unit)
    last = moment(bounds.high * seconds)
    while at <= last:
        yield at
        at = _next(at, unit)


_FIXED = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _floor(at: datetime, unit: str) -> datetime:
    day = datetime(at.year, at.month, at.day, tzinfo=timezone.utc)
    match unit:
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


def _next(at: datetime, unit: str) -> datetime:
    if unit in _FIXED:
        return at + _FIXED[unit]
    months = at.month - 1 + _MONTHS[unit]
    return at.replace(year=at.year + months // 12, month=months % 12 + 1)
