"""Constants with which a function of PostgreSQL raises on some rows: refused by the planner, with words for the
analyst, and by the kernel (`text_totality`), which believes none of them.

What an analyst supplies is never large: some functions raise only where a large argument meets a row, so that
the error tells whether the row is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import (
    Constant,
    Expression,
    Inside,
    Like,
    TextCall,
    TextFunction,
)

_TRIMS = (TextFunction.BTRIM, TextFunction.LTRIM, TextFunction.RTRIM)
_SEARCHES = (
    *(TextFunction.STRPOS, TextFunction.STARTS_WITH),
    *(TextFunction.SPLIT_PART, TextFunction.REPLACE),
)
_PADS = (TextFunction.LPAD, TextFunction.RPAD)


def check_text_call(call: TextCall) -> None:
    values = [part.value for part in call.arguments if isinstance(part, Constant)]
    if len(values) != len(call.arguments):  # the answer of another block
        raise Refusal(
            Code.UNSUPPORTED,
            f"{call.function.value} on a protected table takes constants",
            "Write a number or a text, not a subquery.",
            call.position,
        )
    negative = call.function is TextFunction.SUBSTR and any(
        isinstance(value, Fraction) and value < 0 for value in values[1:]
    )
    is_part = call.function is TextFunction.SPLIT_PART
    negative = negative or (is_part and Fraction(0) in values[1:])
    if negative or any(isinstance(v, Fraction) and abs(v) >= 2**31 for v in values):
        raise Refusal(
            Code.UNSUPPORTED,
            f"{call.function.value} with this argument could fail",
            "Use a small number above 0."
            if is_part
            else "Use a small length that is not negative.",
            call.position,
        )


def check_inside(inside: Inside) -> None:
    """Paths and what is looked for are constants; places are whole numbers that PostgreSQL takes."""
    parts = (*inside.path, *inside.arguments)
    values = [part.value for part in parts if isinstance(part, Constant)]
    too_large = any(
        part.type is SqlType.INT4 and isinstance(part.value, Fraction) and abs(part.value) >= 2**31
        for part in inside.path
        if isinstance(part, Constant)
    )
    if len(values) != len(parts) or too_large:
        raise Refusal(
            Code.UNSUPPORTED,
            f"{inside.look.value} on a protected table takes constants",
            "Write a text or a small whole number.",
            inside.position,
        )


def check_size(part: object) -> None:
    """Refuse a node whose constants are too large.

    Args:
        part: Any node of a query. Of most kinds none is.

    Raises:
        Refusal: TOO_COMPLEX, a text, a pattern or a trim set beyond base.limits.
    """
    match part:
        case Constant(value=str() as text):
            if text_bytes(text) > limits.CONSTANT_BYTES:
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
        case _:
            pass


def _check_searched(arguments: Sequence[Expression], position: int | None) -> None:
    if any(text_bytes(_text(part)) > limits.SEARCHED_BYTES for part in arguments):
        raise _too_large(
            f"a search text may not have more than {limits.SEARCHED_BYTES} bytes", position
        )


def _check_replacement(call: TextCall) -> None:
    """Each character of a stored text can be replaced, so this is by how much it can grow. No other function
    that searches has a second text."""
    if any(text_bytes(_text(part)) > limits.REPLACEMENT_BYTES for part in call.arguments[1:]):
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


def text_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _too_large(message: str, position: int | None) -> Refusal:
    return Refusal(Code.TOO_COMPLEX, message, "Use a shorter one.", position)
