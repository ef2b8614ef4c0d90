"""Times cut to years that every calendar has, before PostgreSQL computes with them: at the ends of its own it
would raise. And which keys and conditions are computed of columns cut to their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import MOST_DAYS, TimeSpan
from proxy.planner.facts import ColumnFacts, Facts
from proxy.policy.policy_model import Bounds
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children, columns

_CALENDAR_DAYS = (-719162, 2932896)  # 0001-01-01 .. 9999-12-31, from 1970-01-01
_YEAR_DAYS = 366


def can_overflow(cast: ir.Cast) -> bool:
    """Whether PostgreSQL would raise at the ends of the calendar: a date has more years than a timestamp, and
    the clock of a zone is before or behind."""
    if not cast.type.is_time or cast.type is SqlType.DATE:
        return False
    return cast.operand.type is SqlType.DATE or (cast.zone is not None and not cast.zone.is_utc)


def within_calendar(operand: ir.Expression, columns: Facts) -> ir.Expression:
    """A time that is within years that every calendar has, on every clock."""
    match operand:
        case ir.Constant() | ir.Parameter() | ir.Clamped():
            return operand
        case ir.ColumnRef():
            low, high = _calendar(operand.type)
            return ir.Clamped(operand, low, high, operand.type)
        case ir.Cast() if operand.operand.type is not None and operand.operand.type.is_time:
            return replace(operand, operand=within_calendar(operand.operand, columns))
        case ir.DateTrunc():
            return truncated_within(operand, columns)
        case ir.Shift() | ir.TimeBin():
            return shifted(operand, columns)
        case _:
            raise Refusal(
                Code.UNSUPPORTED,
                "functions and casts of a time on a protected table take a column or a constant",
                "Write them of the plain column; put CASE and COALESCE around them.",
            )


def truncated_within(date_trunc: ir.DateTrunc, columns: Facts) -> ir.Expression:
    """The operand is cut to the policy's bounds, so that what is beyond them is in the first or the last group,
    or else to the calendar. A constant has been tried by the shadow."""
    return replace(date_trunc, operand=_within_bounds(date_trunc.operand, columns))


def shifted(shift: ir.Shift | ir.TimeBin, columns: Facts) -> ir.Expression:
    """Moved by so little in all that it stays in PostgreSQL's calendar: from the years 1 to 9999 by 1,095 years
    at most, where that goes from 4713 BC to 294276.

    Refuses  UNSUPPORTED: moved by more
    """
    if shifted_by(shift) > MOST_DAYS:
        raise Refusal(
            Code.UNSUPPORTED,
            "intervals on protected columns may be a thousand years together at most",
            "Use shorter ones.",
        )
    if isinstance(shift, ir.TimeBin):
        return replace(shift, operand=_within_bounds(shift.operand, columns))
    return replace(shift, operand=within_calendar(shift.operand, columns))


def shifted_by(expression: ir.Expression) -> int:
    """So many days at most lie between a time and what is computed of it."""
    match expression:
        case ir.Shift():
            own = TimeSpan(
                months=expression.months, days=expression.days, microseconds=expression.microseconds
            ).days_at_most
        case ir.TimeBin():
            own = expression.width // (86_400 * 10**6) + 1
        case ir.DateTrunc():
            own = _YEAR_DAYS + 1
        case ir.Cast():
            own = 1
        case _:
            own = 0
    return own + max(map(shifted_by, children(expression)), default=0)


def column_below(time: ir.Expression) -> ir.ColumnRef | None:
    """The column of which casts, shifts and truncations make a time."""
    match time:
        case ir.ColumnRef():
            return time
        case ir.Cast(operand=operand) if operand.type is not None and operand.type.is_time:
            return column_below(operand)
        case (
            ir.DateTrunc(operand=operand) | ir.Shift(operand=operand) | ir.TimeBin(operand=operand)
        ):
            return column_below(operand)
        case _:
            return None


def with_calendar(expression: ir.Expression, facts: Facts) -> Facts:
    """The facts, with the years of every calendar as bounds of times that have none: for conditions, as no
    noise depends on those."""
    missing: dict[tuple[str, str], ColumnFacts] = {}
    for name in columns(expression):
        known = facts.get(name)
        if known is not None and known.bounds is None and known.type.is_time:
            missing[name] = replace(known, bounds=Bounds(*_calendar(known.type)))
    return facts | missing if missing else facts


def _within_bounds(operand: ir.Expression, columns: Facts) -> ir.Expression:
    match operand:
        case ir.ColumnRef():
            known = columns.get((operand.relation, operand.column))
            if known is not None and known.bounds is not None:
                return ir.Clamped(operand, known.bounds.low, known.bounds.high, operand.type)
        case ir.Shift():
            clamped = replace(operand, operand=_within_bounds(operand.operand, columns))
            return shifted(clamped, columns)
    return within_calendar(operand, columns)


def _calendar(kind: SqlType) -> tuple[Fraction, Fraction]:
    scale = 1 if kind is SqlType.DATE else 86_400
    low, high = (Fraction(end) * scale for end in _CALENDAR_DAYS)
    return low, high


OF_CLAMPED = (
    ir.Arithmetic,
    ir.Bucket,
    ir.DateTrunc,
    ir.NumericCall,
    ir.Quotient,
    ir.RealCall,
    ir.Shift,
    ir.TimeBin,
)


def is_of_clamped(expression: ir.Expression) -> bool:
    """Whether some part is computed of a column within its bounds: to_char(date_trunc('week', at), 'YYYY')."""
    return any(_clamps(part) for part in parts_of(expression))


def _clamps(part: ir.Expression) -> bool:
    if isinstance(part, ir.DateTrunc | ir.TimeBin):  # not of a cast (calendar_clamps.py)
        operand = part.operand
        while isinstance(operand, ir.Shift):
            operand = operand.operand
        return isinstance(operand, ir.ColumnRef)
    return isinstance(part, OF_CLAMPED) and not isinstance(part, ir.Shift)


def parts_of(expression: ir.Expression) -> Iterator[ir.Expression]:
    yield expression
    for child in children(expression):
        yield from parts_of(child)
