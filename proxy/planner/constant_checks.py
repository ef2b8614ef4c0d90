"""Constants with which PostgreSQL would raise on some rows: refused in planning (docs/design/sql.md 2)."""

from __future__ import annotations

from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import Constant, Inside, Quotient, TextCall, TextFunction


def checked_divisor(quotient: Quotient) -> Fraction:
    divisor = quotient.divisor.value if isinstance(quotient.divisor, Constant) else None
    if not isinstance(divisor, Fraction) or divisor == 0:
        raise Refusal(
            Code.UNSUPPORTED,
            "rows cannot be divided by 0, by NULL or by an answer",
            "Divide by another constant, or the results of aggregates by each other, e.g. sum(a) / sum(b).",
            quotient.position,
        )
    return divisor


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
