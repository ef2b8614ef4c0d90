"""The text of a compiled statement as the server takes it: its parameters have numbers there."""

from __future__ import annotations

import re
from functools import lru_cache

_REMEMBERED = 64
_REMEMBERED_CHARACTERS = 8_192
_PLACE = re.compile(r"%\((\w+)\)s|%%")

Numbered = tuple[bytes, tuple[str, ...]]


def numbered(sql: str) -> Numbered:
    """
    Gives    the text, and the names of its parameters in the order of their numbers

    >>> numbered("SELECT %(b)s, 5 %% 3, %(a)s, %(b)s")
    (b'SELECT $1, 5 % 3, $2, $1', ('b', 'a'))
    """
    return _remembered(sql) if len(sql) <= _REMEMBERED_CHARACTERS else _numbered(sql)


def _numbered(sql: str) -> Numbered:
    numbers: dict[str, int] = {}

    def put(found: re.Match[str]) -> str:
        name = found[1]
        return "%" if name is None else f"${numbers.setdefault(name, len(numbers) + 1)}"

    return _PLACE.sub(put, sql).encode(), tuple(numbers)


_remembered = lru_cache(maxsize=_REMEMBERED)(_numbered)
