"""Exact numbers from decimal text."""

from __future__ import annotations

import re
from fractions import Fraction

from proxy.base import limits
from proxy.base.errors import Code, Refusal

# Numbers that are no Fractions. Rows are compared with them; nothing is computed with them (query.ir.binding).
NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<rest>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]{1,9}))?"
)


def number(text: str) -> Fraction | None:
    """An exact number from decimal text; None for anything else (NaN and Infinity included).

    Refuses  TOO_COMPLEX: more digits before or after the point than base.limits allows

    >>> number("1.5e1"), number("0e999999999")
    (Fraction(15, 1), Fraction(0, 1))
    """
    found = _NUMBER.fullmatch(text)
    if found is None or not (found["whole"] or found["rest"]):
        return None
    rest = found["rest"] or ""
    # Counted before anything is computed: 1e999999999 has a billion digits.
    digits = (found["whole"] + rest).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return Fraction(0)
    power = int(found["power"] or 0) - len(rest) + len(digits) - len(significant)
    if len(significant) + power > limits.NUMBER_DIGITS or -power > limits.NUMBER_DIGITS:
        raise too_many_digits()
    value = int(significant) * Fraction(10) ** power
    return -value if found["sign"] == "-" else value


def too_many_digits() -> Refusal:
    return Refusal(
        Code.TOO_COMPLEX,
        "a number in a query on a protected table may not have more than "
        f"{limits.NUMBER_DIGITS} digits before or after its point",
        "Use a number with fewer digits.",
    )
