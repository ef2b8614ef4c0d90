"""Times of functions and casts that would raise at the ends of the calendar: cut before."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.query.ir.expressions import (
    Cast,
    Clamped,
    ColumnRef,
    Constant,
    DateTrunc,
    Expression,
    Parameter,
)

_CALENDAR_DAYS = (-719162, 2932896)  # 0001-01-01 .. 9999-12-31, from 1970-01-01


def truncated_within(date_trunc: DateTrunc, columns: Facts) -> Expression:
    """date_trunc raises at the ends of the calendar: the operand is clamped first, to the policy's bounds or
    else to years that every calendar has. A constant has been tried by the shadow."""
    operand = date_trunc.operand
    if isinstance(operand, ColumnRef):
        known = columns.get((operand.relation, operand.column))
        if known is not None and known.bounds is not None:
            ends = known.bounds
            return replace(date_trunc, operand=Clamped(operand, ends.low, ends.high, operand.type))
    return replace(date_trunc, operand=within_calendar(operand, columns))


def can_overflow(cast: Cast) -> bool:
    """Whether PostgreSQL would raise at the ends of the calendar: a date has more years than a timestamp, and
    the clock of a zone is before or behind."""
    if not cast.type.is_time or cast.type is SqlType.DATE:
        return False
    return cast.operand.type is SqlType.DATE or (cast.zone is not None and not cast.zone.is_utc)


def within_calendar(operand: Expression, columns: Facts) -> Expression:
    """A time that is within years that every calendar has, on every clock."""
    match operand:
        case Constant() | Parameter() | Clamped():
            return operand
        case ColumnRef():
            scale = 1 if operand.type is SqlType.DATE else 86400
            low, high = (Fraction(end) * scale for end in _CALENDAR_DAYS)
            return Clamped(operand, low, high, operand.type)
        case Cast() if operand.operand.type is not None and operand.operand.type.is_time:
            return replace(operand, operand=within_calendar(operand.operand, columns))
        case DateTrunc():
            return truncated_within(operand, columns)
        case _:
            raise Refusal(
                Code.UNSUPPORTED,
                "functions and casts of a time on a protected table take a column or a constant",
                "Write them of the plain column; put CASE and COALESCE around them.",
            )
