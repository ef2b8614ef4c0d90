"""Walks over expressions: their size, columns and position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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


def column_refs(expression: ir.Expression) -> Iterator[ir.ColumnRef]:
    """The columns that an expression reads, in order and as often as it does."""
    if isinstance(expression, ir.ColumnRef):
        yield expression
    for part in children(expression):
        yield from column_refs(part)


def position_in(expression: ir.Expression) -> int | None:
    """Of the first word that has kept its place."""
    if isinstance(expression, ir.ColumnRef | ir.Constant | ir.Parameter):
        return expression.position
    places = (position_in(part) for part in children(expression))
    return next((place for place in places if place is not None), None)
