"""Sizes of everything constant in a bound query: what an analyst supplies is never large.

Some functions of PostgreSQL raise only where a large argument meets a row, so that the error tells whether the
row is there. This is one walk over whatever a query holds, by the fields of its nodes: no kind of node and no
place in a statement can be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.node_parts import is_kind_of, parts_getter
from proxy.base.patterns import PatternSyntax
from proxy.query.ir.expressions import (
    Constant,
    Expression,
    In,
    Like,
    TextCall,
    TextFunction,
)
from proxy.query.ir.query import Query
from proxy.query.ir.typing_rules import too_many_digits

_TRIMS = (TextFunction.BTRIM, TextFunction.LTRIM, TextFunction.RTRIM)
_SEARCHES = (
    *(TextFunction.STRPOS, TextFunction.STARTS_WITH),
    *(TextFunction.SPLIT_PART, TextFunction.REPLACE),
)
_PADS = (TextFunction.LPAD, TextFunction.RPAD)
_MOST = 10**limits.NUMBER_DIGITS


def check_sizes(query: Query) -> None:
    """
    Given    a query whose parameters are bound
    Refuses  TOO_COMPLEX: a text, pattern, trim set, number or list beyond base.limits
    """
    texts: dict[str, int] = {}
    for part in _parts(query):
        match part:
            case Constant(value=str() as text):
                texts[text] = _bytes(text)
                if texts[text] > limits.CONSTANT_BYTES:
                    raise _too_large(
                        f"a text constant in a query on a protected table may not have more than "
                        f"{limits.CONSTANT_BYTES} bytes",
                        part.position,
                    )
            case Like():
                _check_pattern(part)
            case TextCall() if part.function in _TRIMS:
                _check_trim_set(part)
            case TextCall() if part.function in _SEARCHES:
                _check_searched(part.arguments, part.position)
                _check_replacement(part)
            case TextCall() if part.function in _PADS:
                _check_padded(part)
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


def _check_searched(arguments: Sequence[Expression], position: int | None) -> None:
    if any(_bytes(_text(part)) > limits.SEARCHED_BYTES for part in arguments):
        raise _too_large(
            f"a search text may not have more than {limits.SEARCHED_BYTES} bytes", position
        )


def _check_replacement(call: TextCall) -> None:
    """Each character of a stored text can be replaced, so this is by how much it can grow."""
    if call.function is not TextFunction.REPLACE:
        return
    if any(_bytes(_text(part)) > limits.REPLACEMENT_BYTES for part in call.arguments[1:]):
        raise _too_large(
            f"what replace() puts in may not have more than {limits.REPLACEMENT_BYTES} bytes",
            call.position,
        )


def _check_padded(call: TextCall) -> None:
    values = [part.value for part in call.arguments if isinstance(part, Constant)]
    if any(isinstance(n, Fraction) and n > limits.PADDED_CHARACTERS for n in values):
        raise _too_large(
            f"{call.function.value} may not make a text of more than {limits.PADDED_CHARACTERS} characters",
            call.position,
        )


def _check_pattern(like: Like) -> None:
    _check_searched((like.pattern,), like.position)
    if like.syntax is not PatternSyntax.LIKE:
        return  # its states are counted where it is read
    text = _text(like.pattern)
    if text.count("%") + text.count("_") > limits.PATTERN_WILDCARDS:
        raise _too_large(
            f"a LIKE pattern may not have more than {limits.PATTERN_WILDCARDS} wildcards (% and _)",
            like.position,
        )


def _check_trim_set(call: TextCall) -> None:
    if any(len(_text(part)) > limits.TRIM_CHARACTERS for part in call.arguments):
        raise _too_large(
            f"{call.function.value} may not trim more than {limits.TRIM_CHARACTERS} characters",
            call.position,
        )


def _text(part: Expression) -> str:
    return part.value if isinstance(part, Constant) and isinstance(part.value, str) else ""


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


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
