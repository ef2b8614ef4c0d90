"""Bounds of computed times: those of the columns that they are computed of, through casts, shifts, truncations,
CASE, COALESCE, LEAST and GREATEST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner.facts import ColumnFacts, Facts, Range
from proxy.planner.possible_truth import Within, constant_value
from proxy.planner.time_intervals import result_within
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir import expressions as ir

_DAY = 86_400
_ANY = Within(None, None)


def time_bounds(time: ir.Expression, columns: Facts) -> Bounds | None:
    """Where a computed time lies, if the columns in it lie within their bounds.

    Values beyond the bounds of a column can make others. So what is made of the result clamps it.

    Args:
        time: A date as its day, a timestamp as its second.
        columns: What is known of the columns.

    Returns:
        None: a column has no bounds, or they are not known of a function.
    """
    found = _within(time, columns, _bounds_of)
    if found is None or found.low is None or found.high is None or time.type is None:
        return None
    if time.type is SqlType.DATE:
        return Bounds(found.low / _DAY, found.high / _DAY, BoundsKind.DATE)
    return Bounds(found.low, found.high, BoundsKind.TIMESTAMP)


def time_ranges(time: ir.Expression, columns: Facts) -> tuple[Range, ...] | None:
    """Where conditions on the columns leave a computed time, beyond bounds as well.

    Args:
        columns: Their facts, narrowed by the conditions.

    Returns:
        None: anywhere.
    """
    found = _within(time, columns, _range_of)
    if found is None or found == _ANY:
        return None
    scale = _DAY if time.type is SqlType.DATE else 1
    low, high = (None if end is None else end / scale for end in (found.low, found.high))
    return (Range(low, high),)


def _bounds_of(known: ColumnFacts) -> Within | None:
    bounds = known.bounds or known.held
    return None if bounds is None else Within(bounds.low, bounds.high)


def _range_of(known: ColumnFacts) -> Within | None:
    """The hull of its ranges."""
    if not known.ranges:
        return _ANY
    lows, highs = [one.low for one in known.ranges], [one.high for one in known.ranges]
    return Within(
        None if None in lows else min(end for end in lows if end is not None),
        None if None in highs else max(end for end in highs if end is not None),
    )


_OfColumn = Callable[[ColumnFacts], Within | None]


def _within(time: ir.Expression, columns: Facts, of: _OfColumn) -> Within | None:
    """In seconds, whatever the type. None: not known."""
    if time.type is None or not time.type.is_time:
        return None
    match time:
        case ir.ColumnRef():
            known = columns.get((time.relation, time.column))
            found = None if known is None else of(known)
            return None if found is None else _in_seconds(found, time.type)
        case ir.Clamped():
            return _in_seconds(Within(time.low, time.high), time.type)
        case ir.Constant():
            value = constant_value(time, time.type)
            return Within(value, value) if isinstance(value, Fraction) else None
        case ir.Cast() | ir.DateTrunc() | ir.Shift() | ir.TimeBin():
            inner = _within(time.operand, columns, of)
            return None if inner is None else _in_order(result_within(time, inner))
        case ir.Choose():
            return _chosen(time, columns, of)
        case ir.Case():
            return _hull((*(result for _, result in time.whens), time.otherwise), columns, of)
        case ir.NullIf():
            return _within(time.operand, columns, of)
        case _:
            return None


def _in_seconds(found: Within, kind: SqlType) -> Within:
    scale = _DAY if kind is SqlType.DATE else 1
    low, high = (None if end is None else end * scale for end in (found.low, found.high))
    return Within(low, high)


def _in_order(found: Within | None) -> Within | None:
    if found is None or found.low is None or found.high is None:
        return found
    return found if found.low <= found.high else None


def _chosen(choose: ir.Choose, columns: Facts, of: _OfColumn) -> Within | None:
    """LEAST and GREATEST pass over NULL. So a constant is an end, and the bounds of other operands are none."""
    found = _hull(choose.operands, columns, of)
    constants = [_within(part, columns, of) for part in choose.operands if _is_constant(part)]
    ends = [one.low for one in constants if one is not None and one.low is not None]
    if found is None or not ends or choose.choice is ir.Choice.COALESCE:
        return found
    if choose.choice is ir.Choice.LEAST:
        return Within(found.low, min(ends))
    return Within(max(ends), found.high)


def _hull(parts: Iterable[ir.Expression], columns: Facts, of: _OfColumn) -> Within | None:
    known: list[Within] = []
    for part in parts:
        found = None if _is_null(part) else _within(part, columns, of)
        if found is not None:
            known.append(found)
        elif not _is_null(part):
            return None
    lows, highs = [one.low for one in known], [one.high for one in known]
    if not known:
        return None
    return Within(
        None if None in lows else min(end for end in lows if end is not None),
        None if None in highs else max(end for end in highs if end is not None),
    )


def _is_constant(part: ir.Expression) -> bool:
    inner = part.operand if isinstance(part, ir.Cast) else part
    return isinstance(inner, ir.Constant)


def _is_null(part: ir.Expression) -> bool:
    inner = part.operand if isinstance(part, ir.Cast) else part
    return isinstance(inner, ir.Constant) and inner.value is None
