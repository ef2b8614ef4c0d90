"""Bounds of computed times: those of the columns that they are computed of, through casts, shifts, truncations,
CASE, COALESCE, LEAST and GREATEST.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner import intervals
from proxy.planner.facts import Facts
from proxy.planner.possible_truth import Within, constant_value
from proxy.planner.time_intervals import result_within
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir.expressions import (
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Constant,
    DateTrunc,
    Expression,
    NullIf,
    Shift,
    TimeBin,
)

_DAY = 86_400


def time_bounds(time: Expression, columns: Facts) -> Bounds | None:
    """Where a computed time lies, if the columns in it lie within their bounds.

    Values beyond the bounds of a column can make others. So what is made of the result clamps it.

    Args:
        time: A date as its day, a timestamp as its second.
        columns: What is known of the columns.

    Returns:
        None: a column has no bounds, or they are not known of a function.
    """
    found = _seconds(time, columns)
    if found is None or time.type is None:
        return None
    if time.type is SqlType.DATE:
        return Bounds(found.low / _DAY, found.high / _DAY, BoundsKind.DATE)
    return Bounds(found.low, found.high, BoundsKind.TIMESTAMP)


def _seconds(time: Expression, columns: Facts) -> Bounds | None:
    """In seconds, whatever the type. None: not known, or always NULL."""
    if time.type is None or not time.type.is_time:
        return None
    match time:
        case ColumnRef():
            known = columns.get((time.relation, time.column))
            bounds = None if known is None else known.bounds or known.held
            return None if bounds is None else _in_seconds(bounds.low, bounds.high, time.type)
        case Clamped():
            return _in_seconds(time.low, time.high, time.type)
        case Constant():
            value = constant_value(time, time.type)
            return Bounds(value, value) if isinstance(value, Fraction) else None
        case Cast() | DateTrunc() | Shift() | TimeBin():
            return _computed(time, _seconds(time.operand, columns))
        case Choose():
            return _chosen(time, columns)
        case Case():
            return _hull((*(result for _, result in time.whens), time.otherwise), columns)
        case NullIf():
            return _seconds(time.operand, columns)
        case _:
            return None


def _in_seconds(low: Fraction, high: Fraction, kind: SqlType) -> Bounds:
    scale = _DAY if kind is SqlType.DATE else 1
    return Bounds(low * scale, high * scale)


def _computed(time: Expression, operand: Bounds | None) -> Bounds | None:
    if operand is None:
        return None
    found = result_within(time, Within(operand.low, operand.high))
    if found is None or found.low is None or found.high is None or found.low > found.high:
        return None
    return Bounds(found.low, found.high)


def _chosen(choose: Choose, columns: Facts) -> Bounds | None:
    """LEAST and GREATEST pass over NULL, so a constant is an end: not the bounds of the other operands."""
    found = _hull(choose.operands, columns)
    if found is None or choose.choice is Choice.COALESCE:
        return found
    constants = [one for one in choose.operands if isinstance(one, Constant)]
    ends = [one for one in (_seconds(part, columns) for part in constants) if one is not None]
    if not ends:
        return found
    if choose.choice is Choice.LEAST:
        most = min(found.high, *(one.high for one in ends))
        return Bounds(min(found.low, most), most)
    least = max(found.low, *(one.low for one in ends))
    return Bounds(least, max(found.high, least))


def _hull(parts: Iterable[Expression], columns: Facts) -> Bounds | None:
    known = [_seconds(part, columns) for part in parts if not _is_null(part)]
    return None if None in known else intervals.hull(known)


def _is_null(part: Expression) -> bool:
    inner = part.operand if isinstance(part, Cast) else part
    return isinstance(inner, Constant) and inner.value is None
