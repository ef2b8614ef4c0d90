"""Fields of constant times: what extract() gives of them by the clock that they are read by."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

from proxy.base.instants import is_in_calendar, moment, seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.zones import UTC
from proxy.query.ir.expressions import Cast, Constant, Expression, Extract

_DAY = 86_400


def constant_field(extract: Extract) -> Fraction | None:
    """None where the operand is no constant, or beyond the years that are known here."""
    at = _seconds(extract.operand)
    if at is None or not is_in_calendar(at):
        return None
    match extract.field:
        case "epoch":
            return at
        case "second":
            return at % 60
        case field:
            return Fraction(extracted_field(moment(at), field))


def _seconds(time: Expression) -> Fraction | None:
    """Since 1970-01-01: of an instant, or of what a clock shows."""
    match time:
        case Constant(value=str() as text, type=kind) if kind is not None and kind.is_time:
            return seconds_of(text, is_local=kind is not SqlType.TIMESTAMPTZ)
        case Cast(operand=operand, type=kind) if kind.is_time:
            at, zone = _seconds(operand), time.zone or UTC
            if at is None or kind is operand.type:
                return at
            if operand.type is SqlType.TIMESTAMPTZ:
                at = zone.local(at) if zone.covers(at, at) else None
            elif kind is SqlType.TIMESTAMPTZ:
                instant = zone.instant(at)
                at = instant if zone.covers(instant, instant) else None
            return Fraction(at // _DAY * _DAY) if at is not None and kind is SqlType.DATE else at
        case _:
            return None


def extracted_field(at: datetime, field: str) -> int:
    """A field of extract() of what a clock shows."""
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
        case "quarter":
            return (at.month + 2) // 3
        case "isoyear":
            return at.isocalendar()[0]
        case _:
            return at.year
