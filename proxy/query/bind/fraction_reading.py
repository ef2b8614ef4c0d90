"""The fractions of percentile_cont and percentile_disc: one, or an array of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.limits import FRACTION_DIGITS
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.operands import read_constant
from proxy.query.bind.scope import Scope, function_name, position_of
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.syntax.placeholders import ClientParameter

_EXACT = frozenset({exp.DType.DOUBLE, exp.DType.DECIMAL})  # others round what is between 0 and 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentile:
    """One fraction, as the fields of an aggregate have it."""

    fraction: Fraction | None = None
    given: ClientParameter | None = None
    is_descending: bool = False


def read_fractions(
    call: exp.Expr, scope: Scope, *, is_descending: bool
) -> Percentile | tuple[Percentile, ...]:
    """
    Given    percentile_cont(...) or percentile_disc(...), without WITHIN GROUP
    Gives    the fraction; of an array all of its elements, in their order
    Refuses  UNSUPPORTED: what is no constant number from 0 to 1, nor an array of some; TOO_COMPLEX
    """
    elements = _elements(call.this)
    if elements is None:
        return _fraction(call.this, call, scope, is_descending=is_descending)
    if not elements:
        raise _refused(call)
    if len(elements) > limits.RELEASES_PER_STATEMENT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"more than {limits.RELEASES_PER_STATEMENT} percentiles in one array",
            "Ask for fewer: each is an answer with noise of its own.",
            position_of(call),
        )
    return tuple(_fraction(part, call, scope, is_descending=is_descending) for part in elements)


def _elements(node: exp.Expr) -> Sequence[exp.Expr] | None:
    """Of ARRAY[0.25, 0.5] and '{0.25,0.5}'::float8[]; None: it is no array."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Array):
        return list(node.expressions)
    if not isinstance(node, exp.Cast) or node.args["to"].this != exp.DType.ARRAY:
        return None
    of = node.args["to"].expressions
    if len(of) != 1 or of[0].this not in _EXACT or of[0].expressions:
        return None
    inner = _elements(node.this)
    return inner if inner is not None else _written(node.this)


def _written(node: exp.Expr) -> Sequence[exp.Expr]:
    """The numbers in the text of an array; none where anything else is in it."""
    text = str(node.this) if isinstance(node, exp.Literal) and node.is_string else ""
    if text[:1] != "{" or text[-1:] != "}":
        return []
    return [exp.Literal.number(part.strip(" ")) for part in text[1:-1].split(",")]


def _fraction(node: exp.Expr, call: exp.Expr, scope: Scope, *, is_descending: bool) -> Percentile:
    try:
        given = typing_rules.settle(read_constant(node, scope), SqlType.FLOAT8)
    except Refusal:
        raise _refused(call) from None
    source = given.source if isinstance(given, ir.Parameter) and given.type.is_number else None
    if isinstance(source, ClientParameter):
        return Percentile(given=source, is_descending=is_descending)
    value = given.value if isinstance(given, ir.Constant) else None
    if not isinstance(value, Fraction) or not 0 <= value <= 1:
        raise _refused(call)
    if value.denominator > 10**FRACTION_DIGITS:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"the fraction of a percentile has more than {FRACTION_DIGITS} digits",
            "Round it, e.g. 0.95.",
            position_of(call),
        )
    return Percentile(fraction=1 - value if is_descending else value)


def _refused(call: exp.Expr) -> Refusal:
    name = function_name(call)
    return Refusal(
        Code.UNSUPPORTED,
        f"{name} on a protected table takes one constant fraction from 0 to 1, or an array of them",
        f"Write {name}(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5] for several.",
        position_of(call),
    )
