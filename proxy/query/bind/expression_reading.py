"""sqlglot trees to typed expressions, by allow-list: an unknown node, argument or function is a refusal.

A node is taken by its exact type and its exact set of arguments, so that nothing that the parser understood
and we did not can get lost (docs/design/sql.md 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes import (
    casts,
    columns,
    conditions,
    insides,
    named_operators,
    numbers,
    texts,
    time_arithmetic,
    times,
)
from proxy.query.bind.scope import Reader, Readers, Scope, unknown
from proxy.query.ir.expression_walk import children, depth, position_in
from proxy.query.ir.expressions import Arithmetic, Case, Cast, Choose, Expression, Extract
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
    **named_operators.READERS,
    **numbers.READERS,
    **texts.READERS,
    **times.READERS,
    **time_arithmetic.READERS,
    **conditions.CHOICE_READERS,
    **casts.READERS,
    exp.Anonymous: _by_name,
}


def read_expression(node: exp.Expr, scope: Scope) -> Expression:
    """One scalar expression.

    Refuses  FUNCTION, UNSUPPORTED, COLUMN_NOT_USABLE, SYNTAX, TOO_COMPLEX
    """
    return exact(shallow(scope.read(node)))


def read_measured(node: exp.Expr, scope: Scope) -> Expression:
    """What an aggregate adds up or orders: as `read_expression`, but numbers may be cast to real, which changes
    them by less than what a sum is off anyway."""
    expression = shallow(scope.read(node))
    exact_but_last(expression)
    return expression


def read_condition(node: exp.Expr, scope: Scope) -> Expression:
    """A WHERE or FILTER condition."""
    return exact(shallow(conditions.condition(node, scope)))


def shallow(expression: Expression) -> Expression:
    if depth(expression) > limits.EXPRESSION_DEPTH:
        raise too_complex(f"of expressions deeper than {limits.EXPRESSION_DEPTH} operations")
    return expression


def exact_but_last(expression: Expression) -> None:
    """Refuse a cast to real below anything that looks at the number more closely than sums and choices do."""
    match expression:
        case Case(whens=whens, otherwise=otherwise):
            for condition, found in whens:
                exact(condition)
                exact_but_last(found)
            exact_but_last(otherwise)
        case Arithmetic() | Cast() | Choose():
            for part in children(expression):
                exact_but_last(part)
        case _:
            exact(expression)


def exact(expression: Expression) -> Expression:
    """Numbers are computed as numeric: a cast to real, which rounds to 24 binary digits, would have no effect.

    Refuses  UNSUPPORTED
    """
    match expression:
        case Cast(type=SqlType.FLOAT4, operand=inner) if not _is_exact_in_real(inner):
            raise _rounds(expression)
    for part in children(expression):
        exact(part)
    return expression


def _is_exact_in_real(number: Expression) -> bool:
    if number.type in (SqlType.FLOAT4, SqlType.INT2):
        return True
    while (
        isinstance(number, Cast)
        and number.operand.type is not None
        and number.operand.type.is_number
    ):
        number = number.operand
    return isinstance(number, Extract) and number.field in _SHORT_FIELDS


# Whole numbers of less than 24 binary digits.
_SHORT_FIELDS = (
    *("year", "isoyear", "quarter", "month", "week", "day", "doy", "dow", "isodow", "hour"),
    *("minute", "decade", "century", "millennium"),
)


def _rounds(cast: Cast) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        "a cast to real rounds numbers, which is not available in conditions and keys on protected columns",
        "Leave the cast to real out, or round to digits: round(column::numeric, 4).",
        position_in(cast),
    )
