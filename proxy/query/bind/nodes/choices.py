"""CASE, COALESCE and their like: one of several values."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.conditions import comparison, condition
from proxy.query.bind.nodes.labels import refuse_choice
from proxy.query.bind.nodes.operands import repeated, together
from proxy.query.bind.scope import Readers, Scope, only
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.expressions import Expression


def _case(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "ifs", "default")
    conditions: list[Expression] = []
    results: list[Expression] = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        if node.this is None:
            conditions.append(condition(branch.this, scope))
        else:
            conditions.append(comparison(exp.EQ(this=node.this, expression=branch.this), scope))
        results.append(scope.read(branch.args["true"]))
    if node.this is not None:
        repeated(scope.read(node.this))
    default = node.args.get("default")
    results.append(scope.read(default) if default is not None else ir.Constant(None, None))
    refuse_choice(results, node, scope)
    settled, meeting = together(results, node, typing_rules.common_result)
    whens = tuple(zip(conditions, settled[:-1], strict=True))
    return ir.Case(whens, settled[-1], meeting)


_CHOICES: Mapping[type[exp.Expr], ir.Choice] = {
    exp.Coalesce: ir.Choice.COALESCE,
    exp.Greatest: ir.Choice.GREATEST,
    exp.Least: ir.Choice.LEAST,
}


def _choose(node: exp.Expr, scope: Scope) -> Expression:
    # ignore_nulls is how the parser notes that PostgreSQL's greatest and least skip NULLs, which ours do.
    only(node, "this", "expressions", "ignore_nulls")
    parts = [scope.read(part) for part in (node.this, *node.expressions)]
    refuse_choice(parts, node, scope)
    settled, meeting = together(parts, node, typing_rules.common_result)
    return ir.Choose(_CHOICES[type(node)], tuple(settled), meeting)


def _nullif(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    operands = [scope.read(node.this), scope.read(node.expression)]
    refuse_choice(operands, node, scope)
    (operand, other), meeting = together(operands, node)
    return ir.NullIf(operand, other, _nullif_type(operand.type, other.type, meeting))


def _nullif_type(left: SqlType | None, right: SqlType | None, meeting: SqlType) -> SqlType:
    """That of the left operand, as the operator = takes it: integers, floats and times have
    operators across types, all else in the type in which both meet (PostgreSQL 17 documentation, section
    9.18.3)."""
    if left is None or right is None:
        return left or meeting
    own = (
        (left.is_integer and right.is_integer)
        or (left.is_float and right.is_number)
        or left.is_time
    )
    return left if own else meeting


READERS: Readers = {
    exp.Case: _case,
    **dict.fromkeys(_CHOICES, _choose),
    exp.Nullif: _nullif,
}
