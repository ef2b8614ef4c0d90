"""A short name of a plan, for the log and for its series: HMAC-SHA-256 of what it is made of.

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

    Claim: under one key, plans that differ in what is drawn have different names, as a charge pays for the
    steps of one plan (PROOFS.md 33 C5). Both are well formed (`check_well_formed`).

    Argument: no two texts have one name, by SHA-256. Each field by which SQL, noise and losses go is in
    `_DRAWN`, and `canonical_text` tells apart what is not equal. Left out are answers, what hides groups of
    what was drawn (`fewest`), and what a price is checked by but neither SQL nor noise goes by (`reach`). Of a
    node is left out what does not count for its equality: where it was written, words for the analyst, and
    `Measured.factors`, which follow from the operand and the catalogue.

    >>> from tests.kernel.examples import block_of, counted, scan
    >>> more = [block_of(scan("r1", "visits"), counted(noise=Fraction(one))) for one in (1, 1, 2)]
    >>> names = [plan_digest([one], b"a key") for one in more]
    >>> names[0] == names[1], names[0] == names[2], names[0] == plan_digest(more[:2], b"a key")
    (True, False, False)
    >>> plan_digest([], b"a key") == plan_digest([], b"another")
    False
    """
    text = "\n".join(canonical_text(tuple(getattr(b, name) for name in _DRAWN)) for b in blocks)
    return named(text, key)


def named(text: str, key: bytes) -> str:
    """Name a canonical text, in hexadecimal."""
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()


def canonical_text(part: object) -> str:
    """Write a part of a plan in one way: what is equal is written alike, and what is not is not.

    Argument: the text can be read back. Each kind begins in its own way: a class, an enumeration or a word by
    its name, of which no two are alike (tests/test_language.py), a number by a digit or its sign, a text or a
    list by what it stands in. A quote in a text is marked, so nothing in it ends it. Parts of a frozenset are
    in the order of their texts. Only what `check_well_formed` refuses is written by its class alone: no charge
    pays for that.

    >>> canonical_text(("a", "b")) == canonical_text(('a","b',))
    False
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
