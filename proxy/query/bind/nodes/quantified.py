"""= ANY (...) and <> ALL (...): of a list that is evaluated, of one that is written, of a column of arrays."""

from __future__ import annotations

from sqlglot import exp

from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.array_texts import plain_elements
from proxy.query.bind.nodes.insides import among_elements, compound
from proxy.query.bind.nodes.operands import (
    compared,
    no_condition_as_operand,
    parameter_text,
)
from proxy.query.bind.scope import Scope, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.placeholders import ClientArray, EvaluatedConstant, of_token

_WORDS = (("any", exp.EQ), ("some", exp.EQ), ("all", exp.NEQ))


def quantified_comparison(node: exp.Expr, scope: Scope) -> Expression | None:
    """None: a comparison without a list."""
    listed = list_of(node.expression, scope)
    if listed is not None:
        return _in_list(node, listed, scope)
    found = _quantified(node.expression)
    if found is None or not any(found[0] == word and type(node) is kind for word, kind in _WORDS):
        return None
    is_text = isinstance(found[1], exp.Literal) and found[1].is_string
    elements = plain_elements(str(found[1].name)) if is_text else None
    if elements is not None:
        return _in_written(node, elements, scope)
    array = compound(found[1], scope)
    return None if array is None else among_elements(node, array, scope)


def _quantified(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """any, some or all, and what stands in its brackets."""
    if isinstance(node, exp.Any | exp.All):
        return type(node).__name__.lower(), node.this.unnest()
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        return str(node.this).lower(), node.expressions[0]
    return None


def _in_written(node: exp.Expr, elements: list[str | None], scope: Scope) -> Expression:
    items: list[Expression] = [ir.Constant(text, None, position_of(node)) for text in elements]
    (operand, *settled), _ = compared([scope.read(node.this), *items], node)
    no_condition_as_operand(node, operand)
    constants = tuple(item for item in settled if isinstance(item, ir.Constant | ir.Parameter))
    is_negated = isinstance(node, exp.NEQ)
    if not constants:
        return ir.Constant(is_negated, SqlType.BOOL)
    found = ir.In(operand, constants)
    return ir.Not(found) if is_negated else found


def list_of(node: exp.Expr, scope: Scope) -> tuple[ClientArray, SqlType] | None:
    """The array that the shadow evaluates, in ANY or ALL, and the type of its elements."""
    found = _quantified(node)
    if found is None:
        return None
    word, inner = found
    known = constant_array(inner, scope)
    if known is None or word not in ("any", "some", "all"):
        return None
    return ClientArray(known[0], word == "all"), known[1]


def constant_array(node: exp.Expr, scope: Scope) -> tuple[int, SqlType] | None:
    """The number of an array that the shadow evaluates, and the type of its elements."""
    placeholder = of_token(parameter_text(node)) if isinstance(node, exp.Parameter) else None
    if not isinstance(placeholder, EvaluatedConstant):
        return None
    known = scope.constants.get(placeholder.index)
    return (placeholder.index, known.type) if known is not None and known.is_list else None


def _in_list(node: exp.Expr, listed: tuple[ClientArray, SqlType], scope: Scope) -> Expression:
    """= ANY(array) is IN, <> ALL(array) NOT IN."""
    array, kind = listed
    if not isinstance(node, exp.NEQ if array.is_all else exp.EQ):
        raise unknown(node.expression)
    found = in_list(node, array, kind, scope)
    return ir.Not(found) if array.is_all else found


def in_list(node: exp.Expr, array: ClientArray, kind: SqlType, scope: Scope) -> Expression:
    """Whether what stands on the left is an element of the array."""
    (operand, items), _ = compared([scope.read(node.this), ir.Parameter(array, kind)], node)
    no_condition_as_operand(node, operand)
    if not isinstance(items, ir.Parameter):
        raise unknown(node)
    return ir.In(operand, (items,))
