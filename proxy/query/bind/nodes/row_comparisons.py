"""Comparisons of rows: (a, b) = (1, 2), ROW(a, b) < ROW(1, 2), as PostgreSQL compares them, column by column
(PostgreSQL 17 documentation, section 9.25.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from proxy.query.bind.nodes.operands import repeated
from proxy.query.bind.scope import Scope, only, unknown

# Of an order: what decides before the last column, and at it.
_STRICT: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.LT,
    exp.LTE: exp.LT,
    exp.GT: exp.GT,
    exp.GTE: exp.GT,
}


def row_parts(node: exp.Expr) -> Sequence[exp.Expr] | None:
    """The columns of (a, b) or ROW(a, b); None: it is no row."""
    if isinstance(node, exp.Tuple):
        only(node, "expressions")
        return list(node.expressions)
    if isinstance(node, exp.Anonymous) and str(node.this).lower() == "row":
        return list(node.expressions)
    return None


def written_out(node: exp.Expr, scope: Scope) -> exp.Expr | None:
    """A comparison of rows as comparisons of their columns; None: it compares no rows."""
    left, right = row_parts(node.this), row_parts(node.expression)
    if left is None or right is None:
        return None
    if len(left) != len(right) or not left:
        raise unknown(node)
    for part in (*left, *right):
        repeated(scope.read(part))
    pairs = list(zip(left, right, strict=True))
    match node:
        case exp.EQ() | exp.NullSafeEQ():
            return _all(exp.And, [_compare(type(node), *pair) for pair in pairs])
        case exp.NEQ() | exp.NullSafeNEQ():
            return _all(exp.Or, [_compare(type(node), *pair) for pair in pairs])
        case exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return _ordered(type(node), pairs)
        case _:
            raise unknown(node)


def _ordered(kind: type[exp.Expr], pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
    """The first columns that differ decide."""
    decides = [
        _all(
            exp.And,
            [
                *(_compare(exp.EQ, *pair) for pair in pairs[:place]),
                _compare(kind if place == len(pairs) - 1 else _STRICT[kind], *pairs[place]),
            ],
        )
        for place in range(len(pairs))
    ]
    return _all(exp.Or, decides)


def _compare(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return kind(this=left.copy(), expression=right.copy())


def _all(word: type[exp.Expr], parts: Sequence[exp.Expr]) -> exp.Expr:
    found = parts[0]
    for part in parts[1:]:
        found = word(this=found, expression=part)
    return found
