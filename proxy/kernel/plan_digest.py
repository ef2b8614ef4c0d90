"""A short name of a plan, for the log: HMAC-SHA-256 of what it is made of. Equal plans have equal names.

A plan has literals of its statement. Without the key nobody can test a guess of them against a name.

Answers, formulas, intervals and outputs are post-processing of what is drawn, and no part of it.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction

from proxy.kernel.plan import BlockPlan

_DRAWN = (
    *("source", "neighbours", "where", "keys", "combinations", "releases", "selection"),
    *("rows_choice", "value_choices", "weight_choice", "withheld", "sub_partitions"),
)


def plan_digest(blocks: Sequence[BlockPlan], key: bytes) -> str:
    """Name the blocks of a plan, in hexadecimal.

    >>> plan_digest([], b"a key") == plan_digest((), b"a key")
    True
    >>> plan_digest([], b"a key") == plan_digest([], b"another")
    False
    """
    text = "\n".join(canonical_text(tuple(getattr(b, name) for name in _DRAWN)) for b in blocks)
    return named(text, key)


def named(text: str, key: bytes) -> str:
    """Name a canonical text, in hexadecimal."""
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()


def canonical_text(part: object) -> str:
    """Write a part of a plan in one way, whatever it is: what is equal is written alike.

    >>> canonical_text((Fraction(1, 2), None, frozenset({"b", "a"})))
    '(1/2,None,{"a","b"})'
    """
    match part:
        case None | bool() | int():
            return str(part)
        case Fraction():
            return f"{part.numerator}/{part.denominator}"
        case str():
            return _quoted(part)
        case Enum():
            return f"{type(part).__name__}.{part.name}"
        case tuple():
            return f"({','.join(map(canonical_text, part))})"
        case frozenset():
            return f"{{{','.join(sorted(map(canonical_text, part)))}}}"
        case _ if is_dataclass(part):
            return f"{type(part).__name__}({','.join(_compared_fields(part))})"
        case _:
            return f"<{type(part).__name__}>"


def _compared_fields(part: object) -> Iterator[str]:
    assert is_dataclass(part)
    for field in fields(part):
        if field.compare:
            yield canonical_text(getattr(part, field.name))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
