"""Functions of text, by the types of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.signatures import Builder, Signatures, overloads
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.canonical.written_casts import as_text
from proxy.query.ir import expressions as ir

_EMPTY = ir.Constant("", SqlType.TEXT)
_PRINTED = (
    "smallint",
    "integer",
    "bigint",
    "numeric",
    "real",
    "double precision",
    "boolean",
    "date",
)


def _text(function: ir.TextFunction, result: SqlType = SqlType.TEXT) -> Builder:
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand, *others = arguments
        given = tuple(one.constant() for one in others)
        return value_of(ir.TextCall(function, operand.expression, given, result), result)

    return made


def concatenated(operands: Sequence[ir.Expression]) -> ir.Expression:
    """One node of all that stand beside each other."""
    flat: list[ir.Expression] = []
    for part in operands:
        flat += part.operands if isinstance(part, ir.Concat) else (part,)
    return ir.Concat(tuple(flat))


def _joined(arguments: Sequence[TypedValue]) -> TypedValue:
    return value_of(concatenated([as_text(one) for one in arguments]), SqlType.TEXT)


def concat(arguments: Sequence[TypedValue]) -> TypedValue:
    """concat(a, b, ...), in which what is NULL is nothing."""
    return value_of(concatenated([_or_nothing(_printed(one)) for one in arguments]))


def concat_ws(arguments: Sequence[TypedValue]) -> TypedValue:
    """concat_ws(separator, a, b, ...): each with a separator before it, what is NULL without one, and then all
    but the first separator."""
    separator = arguments[0].constant()
    if not isinstance(separator, ir.Constant) or not isinstance(separator.value, str):
        raise unread("a separator that is no constant")
    parts = [concatenated([separator, _printed(one)]) for one in arguments[1:]]
    joined = concatenated([_or_nothing(part) for part in parts])
    start = ir.Constant(Fraction(len(separator.value) + 1), SqlType.INT4)
    return value_of(ir.TextCall(ir.TextFunction.SUBSTR, joined, (start,), SqlType.TEXT))


def _or_nothing(part: ir.Expression) -> ir.Expression:
    return ir.Choose(ir.Choice.COALESCE, (part, _EMPTY), SqlType.TEXT)


def _printed(value: TypedValue) -> ir.Expression:
    """As concat() takes it: a truth value as t or f."""
    part = value.expression
    if value.type is SqlType.BPCHAR:
        raise unread("concat() of a character(n)")
    if value.type is SqlType.BOOL:
        letters = [ir.Constant(letter, SqlType.TEXT) for letter in ("t", "f")]
        whens = ((part, letters[0]), (ir.Not(part), letters[1]))
        return ir.Case(whens, ir.Constant(None, SqlType.TEXT), SqlType.TEXT)
    return as_text(value)


# Of functions that are spelled with words between their arguments PostgreSQL hides implicit casts.
_AS_TEXT = ("text", "character varying", "bpchar")
_TRIMMED = tuple(
    form for kind in _AS_TEXT for form in ((kind,), *((kind, other) for other in _AS_TEXT))
)
_PIECES = tuple(
    form for kind in _AS_TEXT for form in ((kind, "integer"), (kind, "integer", "integer"))
)
_SOUGHT = tuple((kind, other) for kind in _AS_TEXT for other in _AS_TEXT)
_PADDED = (("text", "integer"), ("text", "integer", "text"))
_BESIDE_TEXT = (*_PRINTED, "bpchar", "character varying", "enum")
_BESIDE = (
    ("text", "text"),
    *((kind, "text") for kind in _BESIDE_TEXT),
    *(("text", kind) for kind in _BESIDE_TEXT),
)
TEXTS: Signatures = {
    "lower(text)": _text(ir.TextFunction.LOWER),
    "upper(text)": _text(ir.TextFunction.UPPER),
    "initcap(text)": _text(ir.TextFunction.INITCAP),
    "reverse(text)": _text(ir.TextFunction.REVERSE),
    **overloads("length", (("text",), ("bpchar",)), _text(ir.TextFunction.LENGTH, SqlType.INT4)),
    **overloads(
        "char_length", (("text",), ("bpchar",)), _text(ir.TextFunction.LENGTH, SqlType.INT4)
    ),
    "character_length(text)": _text(ir.TextFunction.LENGTH, SqlType.INT4),
    "left(text,integer)": _text(ir.TextFunction.LEFT),
    "right(text,integer)": _text(ir.TextFunction.RIGHT),
    **overloads("substr", _PIECES, _text(ir.TextFunction.SUBSTR)),
    **overloads("substring", _PIECES, _text(ir.TextFunction.SUBSTR)),
    **overloads("strpos", _SOUGHT, _text(ir.TextFunction.STRPOS, SqlType.INT4)),
    "starts_with(text,text)": _text(ir.TextFunction.STARTS_WITH, SqlType.BOOL),
    "^@(text,text)": _text(ir.TextFunction.STARTS_WITH, SqlType.BOOL),
    **overloads("btrim", _TRIMMED, _text(ir.TextFunction.BTRIM)),
    **overloads("ltrim", _TRIMMED, _text(ir.TextFunction.LTRIM)),
    **overloads("rtrim", _TRIMMED, _text(ir.TextFunction.RTRIM)),
    "split_part(text,text,integer)": _text(ir.TextFunction.SPLIT_PART),
    "replace(text,text,text)": _text(ir.TextFunction.REPLACE),
    **overloads("lpad", _PADDED, _text(ir.TextFunction.LPAD)),
    **overloads("rpad", _PADDED, _text(ir.TextFunction.RPAD)),
    **overloads("||", _BESIDE, _joined),
}
