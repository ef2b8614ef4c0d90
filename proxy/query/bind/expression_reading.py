"""sqlglot trees to typed expressions, by allow-list: an unknown node, argument or function is a refusal.

A node is taken by its exact type and its exact set of arguments, so that nothing that the parser understood
and we did not can get lost (docs/design/sql.md 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from proxy.base import limits
from proxy.query.bind.nodes import (
    casts,
    choices,
    columns,
    conditions,
    insides,
    numbers,
    texts,
    time_arithmetic,
    times,
)
from proxy.query.bind.scope import Reader, Readers, Scope, unknown
from proxy.query.ir.expression_walk import depth
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.tokens import too_complex

# Of which the parser has no node of their own.
_BY_NAME: Mapping[str, Reader] = {
    "timezone": times.timezone,
    "cardinality": insides.cardinality,
    "jsonb_typeof": insides.json_kind,
    "jsonb_extract_path": insides.extracted,
    "jsonb_extract_path_text": insides.extracted_text,
}


def _by_name(node: exp.Expr, scope: Scope) -> Expression:
    reader = _BY_NAME.get(str(node.this).lower())
    if reader is None:
        raise unknown(node)
    return reader(node, scope)


READERS: Readers = {
    **columns.READERS,
    **conditions.READERS,
    **insides.READERS,
    **numbers.READERS,
    **texts.READERS,
    **times.READERS,
    **time_arithmetic.READERS,
    **choices.READERS,
    **casts.READERS,
    exp.Anonymous: _by_name,
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
