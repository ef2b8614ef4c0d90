"""Ends of logarithms, roots, powers and quotients: they enclose what is computed, and stay where
PostgreSQL does not raise."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.planner.divisors import (
    enclosed,
    is_apart_from_zero,
    of_division,
    of_real_call,
    of_remainder,
)
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import ColumnRef, RealCall, RealFunction

_COLUMN = ColumnRef("x", SqlType.NUMERIC)
_numbers = st.fractions(min_value=-100, max_value=100, max_denominator=1000)


@st.composite
def _intervals(draw: st.DrawFn) -> tuple[Bounds, Fraction]:
    """An interval and a number in it."""
    low, inside, high = sorted(draw(_numbers) for _ in range(3))
    return Bounds(low, high), inside


def _call(function: RealFunction, constant: Fraction | None = None) -> RealCall:
    return RealCall(function, _COLUMN, constant, SqlType.NUMERIC)


def _value(function: RealFunction, constant: Fraction | None, x: Fraction) -> float:
    match function:
        case RealFunction.LN:
            return math.log(x)
        case RealFunction.LOG:
            return math.log(x) / math.log(constant or 10)
        case RealFunction.SQRT:
            return math.sqrt(x)
        case RealFunction.EXP:
            return math.exp(x)
        case RealFunction.RAISED:
            return math.pow(constant or 0, x)
        case RealFunction.POWER:
            exponent = constant or Fraction(0)
            power = int(exponent) if exponent.denominator == 1 else float(exponent)
            return float(float(x) ** power)


@given(
    _intervals(),
    st.sampled_from(
        [
            *(
                (function, None)
                for function in (RealFunction.LN, RealFunction.SQRT, RealFunction.EXP)
            ),
            (RealFunction.LOG, Fraction(10)),
            *((RealFunction.LOG, base) for base in (Fraction(1, 2), Fraction(7))),
            *((RealFunction.RAISED, base) for base in (Fraction(1, 2), Fraction(3))),
            *((RealFunction.POWER, Fraction(n)) for n in (-3, -2, -1, 0, 1, 2, 3, 5)),
            *((RealFunction.POWER, Fraction(n, 2)) for n in (-1, 1, 5)),
        ]
    ),
)
def test_what_is_computed_lies_within(
    given_interval: tuple[Bounds, Fraction], of: tuple[RealFunction, Fraction | None]
) -> None:
    interval, x = given_interval
    try:
        found = of_real_call(_call(*of), interval)
    except Refusal:
        return
    value = _value(*of, x)
    slack = 1e-9 * max(1.0, abs(value))
    assert float(found.low) - slack <= value <= float(found.high) + slack


@given(_intervals(), _intervals())
def test_quotients_and_remainders_lie_within(
    operand: tuple[Bounds, Fraction], divisor: tuple[Bounds, Fraction]
) -> None:
    if not is_apart_from_zero(divisor[0]):
        return
    found, rest = of_division(operand[0], divisor[0]), of_remainder(operand[0], divisor[0])
    quotient = operand[1] / divisor[1]
    assert found.low <= quotient <= found.high
    remainder = operand[1] - math.trunc(quotient) * divisor[1]
    assert rest.low <= remainder <= rest.high


@given(_intervals())
def test_enclosed_ends_are_outside_and_short(interval: tuple[Bounds, Fraction]) -> None:
    found = enclosed(interval[0])
    assert found.low <= interval[0].low and interval[0].high <= found.high
    assert all(10**400 % end.denominator == 0 for end in (found.low, found.high))
    assert is_apart_from_zero(found) == is_apart_from_zero(interval[0])


@pytest.mark.parametrize(
    ("function", "constant", "low", "high"),
    [
        (RealFunction.LN, None, "0", "1"),
        (RealFunction.LN, None, "-1", "1"),
        (RealFunction.LOG, "10", "0", "1"),
        (RealFunction.SQRT, None, "-0.001", "1"),
        (RealFunction.EXP, None, "0", "691"),
        (RealFunction.EXP, None, "-691", "0"),
        (RealFunction.RAISED, "10", "0", "300"),
        (RealFunction.POWER, "-1", "0", "1"),
        (RealFunction.POWER, "-2", "-1", "1"),
        (RealFunction.POWER, "0.5", "-1", "1"),
        (RealFunction.POWER, "1001", "0", "1"),
        (RealFunction.POWER, "200", "0", "100"),
    ],
)
def test_where_it_would_raise_it_is_refused(
    function: RealFunction, constant: str | None, low: str, high: str
) -> None:
    exponent = None if constant is None else Fraction(constant)
    with pytest.raises(Refusal):
        of_real_call(_call(function, exponent), Bounds(Fraction(low), Fraction(high)))
