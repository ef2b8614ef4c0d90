"""Walks over expressions: their size, columns and position, and expressions with some parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proxy.base.node_parts import each_changed, with_parts
from proxy.query.ir import expressions as ir

# The fields of each kind of node that hold its operands, in their order.
PARTS: Mapping[type, tuple[str, ...]] = {
    **dict.fromkeys((ir.Constant, ir.Parameter, ir.ColumnRef), ()),
    **dict.fromkeys((ir.Comparison, ir.Arithmetic), ("left", "right")),
    **dict.fromkeys((ir.Connective, ir.Choose, ir.Concat), ("operands",)),
    **dict.fromkeys((ir.Not, ir.Is, ir.Cast, ir.Clamped, ir.NumericCall), ("operand",)),
    **dict.fromkeys((ir.RealCall, ir.Extract, ir.DateTrunc, ir.FormattedTime), ("operand",)),
    **dict.fromkeys((ir.Shift, ir.TimeBin, ir.Bucket), ("operand",)),
    ir.InPublic: ("operand",),  # the rest is of no row of the question
    ir.In: ("operand", "items"),
    ir.Like: ("operand", "pattern"),
    ir.Quotient: ("operand", "divisor"),
    ir.NullIf: ("operand", "other"),
    ir.TextCall: ("operand", "arguments"),
    ir.Inside: ("operand", "path", "arguments"),
    ir.Case: ("whens", "otherwise"),
}
_CONSTANTS = frozenset(
    {"items", "pattern", "path", "arguments"}
)  # fields that nothing else may stand in


def children(expression: ir.Expression) -> tuple[ir.Expression, ...]:
    """The direct operands of an expression, in order.

    >>> from typing import get_args
    >>> set(get_args(ir.Expression)) ^ set(PARTS)  # each kind of node has a row
    set()
    """
    found: list[ir.Expression] = []
    for name in PARTS[expression.__class__]:
        part = getattr(expression, name)
        if name == "whens":
            found += (one for when in part for one in when)
        elif part.__class__ is tuple:
            found += part
        else:
            found.append(part)
    return tuple(found)


def depth(expression: ir.Expression) -> int:
    """How many operations stand inside one another; 1 for a leaf."""
    return 1 + max(map(depth, children(expression)), default=0)


def size(expression: ir.Expression) -> int:
    """How many nodes an expression has."""
    return 1 + sum(map(size, children(expression)))


def columns(expression: ir.Expression) -> frozenset[tuple[str, str]]:
    """(relation, name) of all columns that an expression reads."""
    if isinstance(expression, ir.ColumnRef):
        return frozenset({(expression.relation, expression.column)})
    return frozenset().union(*(columns(child) for child in children(expression)))


def position_in(expression: ir.Expression) -> int | None:
    """Of the first word that has kept its place."""
    if isinstance(expression, ir.ColumnRef | ir.Constant | ir.Parameter):
        return expression.position
    places = (position_in(part) for part in children(expression))
    return next((place for place in places if place is not None), None)


def conjunction(parts: Sequence[ir.Expression]) -> ir.Expression | None:
    """A condition that is true where all are. None: there are none."""
    if len(parts) > 1:
        return ir.Connective("AND", tuple(parts))
    return parts[0] if parts else None


def rebuild(
    expression: ir.Expression, change: Callable[[ir.Expression], ir.Expression]
) -> ir.Expression:
    """The expression with `change` applied to each node, children first: parameters by their values, columns by
    clamped ones. What does not change stays the object that it was."""
    names = PARTS[expression.__class__]
    if not names:
        return change(expression)

    def again(part: ir.Expression) -> ir.Expression:
        return rebuild(part, change)

    def constant(part: ir.Expression) -> ir.Expression:
        changed = change(part)
        assert isinstance(changed, ir.Constant | ir.Parameter)
        return changed

    def when(one: tuple[ir.Expression, ir.Expression]) -> tuple[ir.Expression, ir.Expression]:
        test, result = again(one[0]), again(one[1])
        return one if test is one[0] and result is one[1] else (test, result)

    parts: dict[str, object] = {}
    for name in names:
        part = getattr(expression, name)
        one: Callable[[Any], Any] = constant if name in _CONSTANTS else again
        if name == "whens":
            one = when
        parts[name] = each_changed(part, one) if part.__class__ is tuple else one(part)
    if isinstance(expression, ir.InPublic) and expression.condition is not None:
        # Its columns are of no row of the question.
        parts["condition"] = rebuild(
            expression.condition, lambda one: change(one) if isinstance(one, ir.Parameter) else one
        )
    return change(with_parts(expression, **parts))
