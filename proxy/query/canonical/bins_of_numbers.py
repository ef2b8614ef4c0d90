"""Week starts and bins as tools write them by arithmetic, read as the forms that say the same.

They multiply an interval by something that is computed of a row, which nothing else may: here it is a whole
number of days of a week, or of widths since a constant time (query/bind/nodes/written_bins.py).
"""

from __future__ import annotations

from collections.abc import Callable

from proxy.base.instants import seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import TimeSpan, span_of
from proxy.query.bind.nodes.written_bins import counted_widths, first_weekday, week_from
from proxy.query.canonical import trees
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.ir.expressions import Constant, TimeBin

_SECOND = 10**6
_DAY = trees.Literal("day", is_text=True)
Read = Callable[[trees.Tree], TypedValue]


def written_bin(tree: trees.Tree, read: Read) -> TypedValue | None:
    """The bin that an expression says by arithmetic; None: it is no such expression."""
    match tree:
        case trees.OperatorTree(operator="+", operands=(left, right)):
            return _bin(left, right, read) or _bin(right, left, read)
        case trees.Call(name="date_trunc", arguments=(trees.CastTo(operand=unit), operand)):
            return _week(operand, read) if unit == _DAY else None
        case _:
            return None


def _bin(start: trees.Tree, steps: trees.Tree, read: Read) -> TypedValue | None:
    """A constant local time and whole numbers of widths since it."""
    found = _multiplied(steps, read)
    if found is None:
        return None
    span, number = found
    origin = read(start).expression
    if not isinstance(origin, Constant) or origin.type is not SqlType.TIMESTAMP or span.months:
        return None
    width = span.compared
    time = counted_widths(read(number).expression, origin, width)
    at = seconds_of(str(origin.value), is_local=True)
    if time is None or at is None:
        return None
    found_bin = TimeBin(time, int(width * _SECOND), int(at * _SECOND), SqlType.TIMESTAMP)
    return value_of(found_bin, SqlType.TIMESTAMP)


def _week(tree: trees.Tree, read: Read) -> TypedValue | None:
    """Of date_trunc('day', t - interval '1 day' * (number of days since a week began)), its first day."""
    if not isinstance(tree, trees.OperatorTree) or tree.operator != "-" or len(tree.operands) != 2:
        return None
    found = _multiplied(tree.operands[1], read)
    if found is None or found[0] != TimeSpan(days=1):
        return None
    time = read(tree.operands[0]).expression
    is_local = time.type is SqlType.TIMESTAMP
    first = first_weekday(time, read(found[1]).expression) if is_local else None
    return None if first is None else value_of(week_from(time, first), SqlType.TIMESTAMP)


def _multiplied(tree: trees.Tree, read: Read) -> tuple[TimeSpan, trees.Tree] | None:
    """An interval, and what it is multiplied by."""
    if not isinstance(tree, trees.OperatorTree) or tree.operator != "*" or len(tree.operands) != 2:
        return None
    for one, other in (tree.operands, tree.operands[::-1]):
        if isinstance(one, trees.CastTo) and one.type.name == "interval":
            part = read(one).expression
            value = part.value if isinstance(part, Constant) else None
            span = span_of(value) if isinstance(value, str) else None
            return None if span is None else (span, other)
    return None
