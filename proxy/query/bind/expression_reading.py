"""sqlglot trees to typed expressions, by allow-list: an unknown node, argument or function is a refusal.

A node is taken by its exact type and its exact set of arguments, so that nothing that the parser understood
and we did not can get lost (docs/design/sql.md 3.2).
"""

from __future__ import annotations

from sqlglot import exp

from proxy.base import limits
from proxy.query.bind.nodes import (
    casts,
    choices,
    columns,
    conditions,
    numbers,
    texts,
    time_arithmetic,
    times,
)
from proxy.query.bind.scope import Readers, Scope
from proxy.query.ir.expression_walk import depth
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.tokens import too_complex

READERS: Readers = {
    **columns.READERS,
    **conditions.READERS,
    **numbers.READERS,
    **texts.READERS,
    **times.READERS,
    **time_arithmetic.READERS,
    **choices.READERS,
    **casts.READERS,
}


def read_expression(node: exp.Expr, scope: Scope) -> Expression:
    """One scalar expression.

    Refuses  FUNCTION, UNSUPPORTED, COLUMN_NOT_USABLE, SYNTAX, TOO_COMPLEX
    """
    return _shallow(scope.read(node))


def read_condition(node: exp.Expr, scope: Scope) -> Expression:
    """A WHERE or FILTER condition."""
    return _shallow(conditions.condition(node, scope))


def _shallow(expression: Expression) -> Expression:
    if depth(expression) > limits.EXPRESSION_DEPTH:
        raise too_complex(f"of expressions deeper than {limits.EXPRESSION_DEPTH} operations")
    return expression
