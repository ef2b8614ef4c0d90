"""Operators written with their schema, a OPERATOR(pg_catalog.=) b, and collations that change nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir.expressions import Expression


def _of(kind: type[exp.Expr]) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    return lambda left, right: kind(this=left, expression=right)


def _negated(kind: type[exp.Expr]) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    return lambda left, right: kind(this=left, expression=right, negate=True)


_OPERATORS: Mapping[str, Callable[[exp.Expr, exp.Expr], exp.Expr]] = {
    "=": _of(exp.EQ),
    "<>": _of(exp.NEQ),
    "!=": _of(exp.NEQ),
    "<": _of(exp.LT),
    "<=": _of(exp.LTE),
    ">": _of(exp.GT),
    ">=": _of(exp.GTE),
    "~~": _of(exp.Like),
    "~~*": _of(exp.ILike),
    "!~~": _negated(exp.Like),
    "!~~*": _negated(exp.ILike),
    "~": _of(exp.RegexpLike),
    "~*": _of(exp.RegexpILike),
    "+": _of(exp.Add),
    "-": _of(exp.Sub),
    "*": _of(exp.Mul),
    "||": lambda left, right: exp.DPipe(this=left, expression=right, safe=True),
}
# PostgreSQL binds these less than such an operator, or the same; the parser binds some of them more.
_LOOSE = (exp.Predicate, exp.Connector, exp.Not, exp.DPipe, exp.Between, exp.In, exp.Is, exp.Escape)


def _operator(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "operator", "expression")
    schema, _, name = str(node.args["operator"]).rpartition(".")
    operands = [node.this, node.expression]
    if isinstance(operands[0], exp.Operator):  # from the left, as PostgreSQL does
        operands[0] = exp.Paren(this=operands[0])
    found = _OPERATORS.get(name)
    if schema.strip('"') not in ("", "pg_catalog") or found is None:
        raise Refusal(
            Code.UNSUPPORTED,
            "this operator with its schema is not allowed in a query on a protected table",
            "Write the operator alone: column = 'a', column >= 1.",
            position_of(node),
        )
    if any(
        isinstance(operand, _LOOSE) and not isinstance(operand, exp.Any | exp.All)
        for operand in operands
    ):
        raise Refusal(
            Code.UNSUPPORTED,
            "OPERATOR() beside another operator is not read on a protected table",
            "Put each side in brackets: (a || 'x') OPERATOR(pg_catalog.=) (b).",
            position_of(node),
        )
    made = found(*operands)
    made.parent = node.parent
    return scope.read(made)


# Of texts that are equal in one of these byte by byte, or else in none of them; all are ordered by bytes.
_COLLATIONS = frozenset({"C", "POSIX", "default", "ucs_basic"})
_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Like, exp.Escape),
    *(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between),
)


def _collate(node: exp.Expr, scope: Scope) -> Expression:
    """COLLATE "C" in a comparison, or beside LIKE."""
    only(node, "this", "expression")
    written = node.expression
    name = written.name if isinstance(written, exp.Identifier) else ""
    if isinstance(written, exp.Column) and written.text("table") in ("", "pg_catalog"):
        name = written.name
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    if name not in _COLLATIONS or not isinstance(around, _COMPARISONS):
        raise Refusal(
            Code.UNSUPPORTED,
            'COLLATE is allowed in comparisons, IN and LIKE only, with "C" or "default", on a protected table',
            "Texts are ordered by their bytes; write lower(column) < 'b' without COLLATE.",
            position_of(node),
        )
    operand = scope.read(node.this)
    if operand.type is not None and not operand.type.is_text:
        raise unknown(node)
    return operand


READERS: Readers = {exp.Operator: _operator, exp.Collate: _collate}
