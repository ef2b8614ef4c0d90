"""Sizes of everything constant in a bound query, before it is planned.

This is one walk over whatever a query holds, by the fields of its nodes: no kind of node and no place in a
statement can be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.node_parts import is_kind_of, parts_getter
from proxy.kernel.constant_checks import check_size, text_bytes
from proxy.query.ir.expressions import Constant, Expression, In
from proxy.query.ir.query import Query
from proxy.query.ir.written_numbers import too_many_digits

_MOST = 10**limits.NUMBER_DIGITS


def check_sizes(query: Query) -> None:
    """
    Given    a query whose parameters are bound
    Refuses  TOO_COMPLEX: a text, pattern, trim set, number or list beyond base.limits
    """
    texts: dict[str, int] = {}
    for part in _parts(query):
        check_size(part)
        match part:
            case Constant(value=str() as text):
                texts[text] = text_bytes(text)
            case In() if len(part.items) > limits.LIST_ELEMENTS:
                raise _too_large(
                    f"a list on a protected table may not have more than "
                    f"{limits.LIST_ELEMENTS} elements",
                    _position(part.items[0]),
                )
    if sum(texts.values()) > limits.CONSTANTS_BYTES:
        raise _too_large(
            "the text constants of a query on protected tables may not have more than "
            f"{limits.CONSTANTS_BYTES} bytes together",
            None,
        )
    for block in query.blocks:
        if len(block.keys) > limits.GROUP_KEYS:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"a GROUP BY on a protected table has at most {limits.GROUP_KEYS} keys",
                "Split it into several statements.",
            )


def _position(part: Expression) -> int | None:
    return getattr(part, "position", None)


def _parts(query: Query) -> Iterator[Any]:
    """Every node once, however deep.

    Refuses  TOO_COMPLEX: a number anywhere, of a constant, a bucket or a fraction, with too many digits
    """
    visited: set[int] = set()
    waiting: list[Any] = [query]
    while waiting:
        part = waiting.pop()
        kind = part.__class__
        if is_kind_of(kind, tuple):
            waiting += part
        elif kind is Fraction:
            _check_digits(part)
        elif (parts := parts_getter(kind)) is not None and id(part) not in visited:
            visited.add(id(part))
            yield part
            waiting += parts(part)


def _check_digits(value: Fraction) -> None:
    # A constant is a decimal, so 10^digits is a multiple of its denominator.
    if abs(value) >= _MOST or _MOST % value.denominator:
        raise too_many_digits()


def _too_large(message: str, position: int | None) -> Refusal:
    return Refusal(Code.TOO_COMPLEX, message, "Use a shorter one.", position)
