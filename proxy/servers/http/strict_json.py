"""JSON without its traps: duplicate keys, NaN, deep nesting and numbers that lose digits are refused."""

from __future__ import annotations

import json
import re
from typing import Any

_DEPTH = 8
_SAFE_INTEGER = 2**53  # beyond, clients that read numbers as doubles change them silently
_NUMBER_LENGTH = 400
# Strings and brackets. A string that is not closed matches to the end of the body: a match that could fail
# there would be tried again from each of its quotes, in quadratic time.
_TOKENS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


class NotStrict(ValueError):
    """Its text is fit for whoever sent the JSON, and quotes nothing of it."""


class JsonNumber(str):
    """A number as it was written."""

    __slots__ = ()


def read_json(body: bytes) -> Any:
    """
    >>> read_json(b'{"epsilon": 0.10}')
    {'epsilon': '0.10'}

    Gives    numbers as JsonNumber
    Refuses  NotStrict
    """
    _check_depth(body)
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_without_duplicates,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError:
        raise NotStrict("the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotStrict(f"the body is not JSON: {error.msg} at character {error.pos + 1}") from None


def _check_depth(body: bytes) -> None:
    depth = 0
    for token in _TOKENS.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
        if depth > _DEPTH:
            raise NotStrict(f"the body is nested more than {_DEPTH} deep")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrict("a key occurs twice in the body")
    return found


def _integer(text: str) -> JsonNumber:
    if len(text) > len(str(-_SAFE_INTEGER)) or abs(int(text)) > _SAFE_INTEGER:
        raise NotStrict("an integer is above 2^53: send it as a string")
    return JsonNumber(text)


def _number(text: str) -> JsonNumber:
    if len(text) > _NUMBER_LENGTH:
        raise NotStrict("a number has too many digits: send it as a string")
    return JsonNumber(text)


def _no_constant(_: str) -> None:
    raise NotStrict("NaN and Infinity are not JSON")
