"""Constants of type jsonb: read here and written again, so that every server reads the same value.

What jsonb has of a text is what is written: the last of equal keys, numbers by their value, texts without
escapes (PostgreSQL 17 documentation, section 8.14).
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NoReturn

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.ir import written_numbers
from proxy.query.ir.expressions import Constant


def json_constant(text: str, position: int | None) -> Constant:
    """
    Refuses  SYNTAX: what is no jsonb; TOO_COMPLEX: what is too long, deep or large
    """
    if len(text) > limits.CONSTANT_BYTES:
        raise _too_large(position)
    try:
        value = json.loads(
            text,
            parse_float=lambda digits: _number(digits, position),
            parse_int=lambda digits: _number(digits, position),
            parse_constant=lambda _: _no_json(position),
        )
        if _depth(value) > limits.NESTING_DEPTH:
            raise _too_large(position)
        written = _written(value)
        written.encode()
    except RecursionError:
        raise _too_large(position) from None
    except ValueError:  # json.JSONDecodeError and UnicodeEncodeError are such
        _no_json(position)
    if "\0" in written or "\\u0000" in written:
        _no_json(position)
    return Constant(written, SqlType.JSONB, position)


def number_of_values(constant: Constant) -> int:
    """How many values are in it, itself among them: each is looked for in what a row has."""
    return 0 if not isinstance(constant.value, str) else _count(json.loads(constant.value))


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


def _depth(value: Any) -> int:
    """In PostgreSQL, too, what looks for it goes as deep as it is."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, held), default=0)


def _number(digits: str, position: int | None) -> Fraction:
    try:
        found = written_numbers.number(digits)
    except Refusal as refusal:
        raise refusal.at(position) from None
    if found is None:
        _no_json(position)
    return found


def _written(value: Any) -> str:
    match value:
        case dict():
            members = (f"{_quoted(key)}: {_written(held)}" for key, held in value.items())
            return "{" + ", ".join(members) + "}"
        case list():
            return f"[{', '.join(map(_written, value))}]"
        case str():
            return _quoted(value)
        case bool() | None:
            return json.dumps(value)
        case _:
            return decimal_text(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _no_json(position: int | None) -> NoReturn:
    raise Refusal(
        Code.SYNTAX,
        "a constant of type jsonb cannot be read",
        """Write it like '{"key": "value"}', '["a"]' or '1', without \\\\u0000.""",
        position,
    )


def _too_large(position: int | None) -> Refusal:
    return Refusal(
        Code.TOO_COMPLEX,
        "a constant of type jsonb in a query on a protected table is too long or too deep",
        "Use a shorter one.",
        position,
    )
