"""What is in columns of jsonb, by the types of operators. No such value is looked at as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base.sql_types import SqlType
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.signatures import Builder, Signatures
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.json_constants import json_constant

_Path = tuple[ir.Constant | ir.Parameter, ...]


def _json(value: TypedValue) -> tuple[ir.Expression, _Path]:
    """The column and the path to a value of jsonb."""
    match value.expression:
        case ir.Inside(look=ir.InsideLook.MEMBER, operand=operand, path=path):
            return operand, path
        case ir.ColumnRef(type=SqlType.JSONB) as column:
            return column, ()
        case _:
            raise unread("this operation on jsonb")


def _member(look: ir.InsideLook, kind: SqlType) -> Builder:
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand, path = _json(arguments[0])
        step = arguments[1].constant()
        return value_of(ir.Inside(look, operand, (*path, step), (), kind), kind)

    return made


def _at_path(look: ir.InsideLook, kind: SqlType) -> Builder:
    """As with arrows, where no key is a number, which is a place where there is an array and a key else."""

    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand, path = _json(arguments[0])
        keys = tuple(one.constant() for one in arguments[1:])
        texts = [key.value for key in keys if isinstance(key, ir.Constant)]
        if len(texts) < len(keys) or not keys or not all(map(_is_name, texts)):
            raise unread("this path in jsonb")
        return value_of(ir.Inside(look, operand, (*path, *keys), (), kind), kind)

    return made


def _is_name(text: object) -> bool:
    """What no reading of numbers takes for one: with a letter in front."""
    return isinstance(text, str) and (text[:1].isalpha() or text[:1] == "_")


def _has_key(word: str) -> Builder:
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand, path = _json(arguments[0])
        keys = tuple(one.constant() for one in arguments[1:])
        found = [
            ir.Inside(ir.InsideLook.HAS_KEY, operand, path, (key,), SqlType.BOOL) for key in keys
        ]
        if len(found) == 1:
            return value_of(found[0])
        if not found or any(isinstance(key, ir.Constant) and key.value is None for key in keys):
            raise unread("this list of keys")  # to the operators a NULL is no key, to ? it is NULL
        return value_of(ir.Connective(word, tuple(found)))

    return made


def _holds(arguments: Sequence[TypedValue]) -> TypedValue:
    """@>, of which the column is the larger."""
    operand, path = _json(arguments[0])
    part = arguments[1].expression
    if not isinstance(part, ir.Constant) or not isinstance(part.value, str):
        raise unread("what is no constant of jsonb")
    given = (json_constant(part.value, None),)
    return value_of(ir.Inside(ir.InsideLook.HOLDS, operand, path, given, SqlType.BOOL))


def _kind(arguments: Sequence[TypedValue]) -> TypedValue:
    operand, path = _json(arguments[0])
    return value_of(ir.Inside(ir.InsideLook.KIND, operand, path, (), SqlType.TEXT))


_TEXT, _JSON = SqlType.TEXT, SqlType.JSONB
INSIDES: Signatures = {
    "->(jsonb,text)": _member(ir.InsideLook.MEMBER, _JSON),
    "->(jsonb,integer)": _member(ir.InsideLook.MEMBER, _JSON),
    "->>(jsonb,text)": _member(ir.InsideLook.TEXT, _TEXT),
    "->>(jsonb,integer)": _member(ir.InsideLook.TEXT, _TEXT),
    "?(jsonb,text)": _has_key(""),
    "@>(jsonb,jsonb)": _holds,
    "<@(jsonb,jsonb)": lambda arguments: _holds(arguments[::-1]),
    "jsonb_typeof(jsonb)": _kind,
}
# Of an array of texts, whose elements are the further arguments.
OF_KEYS: Signatures = {
    "#>": _at_path(ir.InsideLook.MEMBER, _JSON),
    "#>>": _at_path(ir.InsideLook.TEXT, _TEXT),
    "?|": _has_key("OR"),
    "?&": _has_key("AND"),
}
