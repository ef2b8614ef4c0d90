"""Expressions and relations with some parts replaced. What does not change stays the object that it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, TypeVar

from typing_extensions import assert_never

from proxy.base.node_parts import Node
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import PARTS
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
)

T = TypeVar("T")
ExpressionChange = Callable[[Expression], Expression]
# Fields in which nothing but constants may stand.
_CONSTANTS = frozenset({"items", "pattern", "path", "arguments"})


def with_parts(node: Node, **parts: Any) -> Node:
    """The node with other parts; the node itself where these are the ones that it has: `replace` takes ten
    times as long."""
    for name, part in parts.items():
        if getattr(node, name) is not part:
            return replace(node, **parts)
    return node


def each_changed(parts: tuple[T, ...], change: Callable[[T], T]) -> tuple[T, ...]:
    """Each part changed, in their order; the tuple itself where all stay what they are.

    >>> names = ("a", "b")
    >>> each_changed(names, str) is names, each_changed(names, str.upper)
    (True, ('A', 'B'))
    """
    found = tuple(map(change, parts))
    return parts if all(map(is_, found, parts)) else found


def conjunction(parts: Sequence[Expression]) -> Expression | None:
    """A condition that is true where all are. None: there are none."""
    if len(parts) > 1:
        return ir.Connective("AND", tuple(parts))
    return parts[0] if parts else None


def rebuild(expression: Expression, change: ExpressionChange) -> Expression:
    """The expression with `change` applied to each node, children first: parameters by their values, columns by
    clamped ones. What does not change stays the object that it was."""
    names = PARTS[expression.__class__]
    if not names:
        return change(expression)

    def again(part: Expression) -> Expression:
        return rebuild(part, change)

    def constant(part: Expression) -> Expression:
        changed = change(part)
        assert isinstance(changed, ir.Constant | ir.Parameter)
        return changed

    def when(one: tuple[Expression, Expression]) -> tuple[Expression, Expression]:
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


def changed_aggregate(aggregate: Aggregate, change: ExpressionChange) -> Aggregate:
    """The aggregate with every expression in it changed."""

    def maybe(part: Expression | None) -> Expression | None:
        return None if part is None else change(part)

    return with_parts(
        aggregate,
        operand=maybe(aggregate.operand),
        second=maybe(aggregate.second),
        condition=maybe(aggregate.condition),
    )


def changed_window(column: WindowColumn, change: ExpressionChange) -> WindowColumn:
    """The column with every expression in it changed."""

    def term(one: OrderTerm) -> OrderTerm:
        return with_parts(one, expression=change(one.expression))

    aggregate = column.aggregate
    return with_parts(
        column,
        partition=each_changed(column.partition, change),
        order=each_changed(column.order, term),
        operand=None if column.operand is None else change(column.operand),
        aggregate=None if aggregate is None else changed_aggregate(aggregate, change),
    )


def rewrite(relation: Relation, change: ExpressionChange) -> Relation:
    """The relation with every expression in it changed."""

    def maybe(part: Expression | None) -> Expression | None:
        return None if part is None else change(part)

    def output(one: tuple[str, Expression]) -> tuple[str, Expression]:
        changed = change(one[1])
        return one if changed is one[1] else (one[0], changed)

    def branch(one: Subquery) -> Subquery:
        rewritten = rewrite(one, change)
        assert isinstance(rewritten, Subquery)
        return rewritten

    match relation:
        case Scan():
            return relation
        case Join():
            left, right = rewrite(relation.left, change), rewrite(relation.right, change)
            return with_parts(relation, left=left, right=right, rest=maybe(relation.rest))
        case Subquery():
            outputs = each_changed(relation.outputs, output)
            source = rewrite(relation.source, change)
            windows = each_changed(relation.windows, lambda one: changed_window(one, change))
            return with_parts(
                relation,
                source=source,
                where=maybe(relation.where),
                outputs=outputs,
                windows=windows,
            )
        case GroupByUnit():
            aggregates = each_changed(
                relation.aggregates, lambda one: changed_aggregate(one, change)
            )
            source = rewrite(relation.source, change)
            return with_parts(
                relation,
                source=source,
                where=maybe(relation.where),
                aggregates=aggregates,
                keys=each_changed(relation.keys, change),
            )
        case UnionAll():
            return with_parts(relation, parts=each_changed(relation.parts, branch))
        case Truncate():
            rewritten_source = rewrite(relation.source, change)
            assert isinstance(rewritten_source, Scan | Subquery | UnionAll | Truncate)
            return with_parts(relation, source=rewritten_source, where=maybe(relation.where))
        case _:
            assert_never(relation)
