"""Comparisons and what joins them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.operands import (
    parameter_text,
    read_constant,
    repeated,
    text_operand,
    together,
    typed,
)
from proxy.query.bind.scope import PublicColumn, Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.placeholders import (
    ClientArray,
    EvaluatedConstant,
    PublicSubquery,
    of_token,
)

_COMPARATORS: Mapping[type[exp.Expr], ir.Comparator] = {
    exp.EQ: ir.Comparator.EQ,
    exp.NEQ: ir.Comparator.NE,
    exp.LT: ir.Comparator.LT,
    exp.LTE: ir.Comparator.LE,
    exp.GT: ir.Comparator.GT,
    exp.GTE: ir.Comparator.GE,
    exp.NullSafeNEQ: ir.Comparator.DISTINCT,
    exp.NullSafeEQ: ir.Comparator.NOT_DISTINCT,
}


def condition(node: exp.Expr, scope: Scope) -> Expression:
    expression = typed(scope.read(node), SqlType.BOOL)
    if expression.type is not SqlType.BOOL:
        raise Refusal(
            Code.SYNTAX,
            "a condition must be true or false",
            "Compare the value with something.",
            position_of(node),
        )
    return expression


def comparison(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    listed = _list_of(node.expression, scope)
    if listed is not None:
        return _in_list(node, listed, scope)
    operands = [scope.read(node.this), scope.read(node.expression)]
    (left, right), meeting = together(operands, node)
    _no_condition_as_operand(node, left, right)
    if meeting is SqlType.OTHER:
        raise unknown(node)
    return ir.Comparison(_COMPARATORS[type(node)], left, right)


def _list_of(node: exp.Expr, scope: Scope) -> tuple[str, ir.Parameter] | None:
    """any or all, and the array that the shadow evaluates."""
    if isinstance(node, exp.Any):
        word, inner = "any", node.this.unnest()
    elif isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        word, (inner,) = str(node.this).lower(), node.expressions
    else:
        return None
    placeholder = of_token(parameter_text(inner)) if isinstance(inner, exp.Parameter) else None
    if not isinstance(placeholder, EvaluatedConstant):
        return None
    known = scope.constants.get(placeholder.index)
    if known is None or not known.is_list or word not in ("any", "some", "all"):
        return None
    return word, ir.Parameter(ClientArray(placeholder.index), known.type, position_of(node))


def _in_list(node: exp.Expr, listed: tuple[str, ir.Parameter], scope: Scope) -> Expression:
    """= ANY(array) is IN, <> ALL(array) NOT IN."""
    word, array = listed
    is_negated = word == "all"
    if not isinstance(node, exp.NEQ if is_negated else exp.EQ):
        raise unknown(node.expression)
    (operand, items), _ = together([scope.read(node.this), array], node)
    _no_condition_as_operand(node, operand)
    if not isinstance(items, ir.Parameter):
        raise unknown(node)
    found = ir.In(operand, (items,))
    return ir.Not(found) if is_negated else found


def _no_condition_as_operand(node: exp.Expr, *operands: Expression) -> None:
    """NOT, IN and friends under a comparison are where parsers differ (docs/design/sql.md 3.2)."""
    for operand in operands:
        if operand.type is SqlType.BOOL and not isinstance(
            operand, ir.ColumnRef | ir.Constant | ir.Parameter
        ):
            raise Refusal(
                Code.UNSUPPORTED,
                "a condition cannot be an operand of another comparison",
                "Combine conditions with AND, OR and NOT.",
                position_of(node),
            )


def _connective(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    word = "AND" if isinstance(node, exp.And) else "OR"
    operands: list[Expression] = []
    for part in node.flatten():
        operands.append(condition(part, scope))
    return ir.Connective(word, tuple(operands))


def _not(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return ir.Not(condition(node.this, scope))


def _negated(node: exp.Expr, expression: Expression) -> Expression:
    return ir.Not(expression) if node.args.get("negate") else expression


def _is(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression", "negate")
    operand = typed(scope.read(node.this))
    match node.expression:
        case exp.Null():
            return _negated(node, ir.Is(operand, None))
        case exp.Boolean() as truth if operand.type is SqlType.BOOL:
            return _negated(node, ir.Is(operand, bool(truth.this)))
        case _:
            raise unknown(node)


def _in(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expressions")
    public = _public_column(node, scope)
    if public is not None:
        (operand, output), _ = together([scope.read(node.this), public.output], node)
        if not isinstance(output, ir.ColumnRef):
            raise unknown(node)
        _no_condition_as_operand(node, operand)
        return ir.InPublic(operand, public.table, public.alias, output, public.condition)
    items = [read_constant(item, scope) for item in node.expressions]
    settled, _ = together([scope.read(node.this), *items], node)
    constants = [item for item in settled[1:] if isinstance(item, ir.Constant | ir.Parameter)]
    return ir.In(settled[0], tuple(constants))


def _public_column(node: exp.Expr, scope: Scope) -> PublicColumn | None:
    items = node.expressions
    if len(items) != 1 or not isinstance(items[0], exp.Parameter):
        return None
    placeholder = of_token(parameter_text(items[0]))
    return scope.public.get(placeholder) if isinstance(placeholder, PublicSubquery) else None


def _between(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "low", "high")
    operand = repeated(scope.read(node.this))
    parts = [operand, scope.read(node.args["low"]), scope.read(node.args["high"])]
    (operand, low, high), _ = together(parts, node)
    _no_condition_as_operand(node, operand, low, high)
    at_least = ir.Comparison(ir.Comparator.GE, operand, low)
    at_most = ir.Comparison(ir.Comparator.LE, operand, high)
    return ir.Connective("AND", (at_least, at_most))


def _like(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression", "negate")
    pattern = typed(read_constant(node.expression, scope))
    if not isinstance(pattern, ir.Constant | ir.Parameter):
        raise unknown(node)
    where = position_of(node)
    like = ir.Like(text_operand(node.this, scope), pattern, isinstance(node, exp.ILike), where)
    return _negated(node, like)


READERS: Readers = {
    **dict.fromkeys(_COMPARATORS, comparison),
    exp.And: _connective,
    exp.Or: _connective,
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Like: _like,
    exp.ILike: _like,
}
