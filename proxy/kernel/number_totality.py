"""Rules of numbers: PostgreSQL computes a node on every row, as its operands lie where they do.

All of it is done in numeric (compiler.expression_sql), which raises where a result has more than 131,072 digits
before the point (22003), for a divisor of 0 (22012), and for what logarithms, roots and powers are not defined
of (2201E, 2201F). So an operand must have ends, and 4,096 binary digits before the point at most. Of a result
only its size is followed: whoever needs more puts a clamp on it. Sources are in TOTALITY.md 2.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import is_printed_as_number
from proxy.kernel.known_values import (
    MOST_BITS,
    NULL,
    Value,
    around,
    bits_of,
    check_printed_number,
    refused,
    within,
)
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Clamped,
    ColumnRef,
    Constant,
    Expression,
    NullIf,
    NumericCall,
    NumericFunction,
    Operator,
    Quotient,
    RealCall,
    RealFunction,
)

_SMALLEST_BITS = 54_500  # a numeric that is not 0 has 16,383 digits after the point at most
MOST_EXPONENT = 3_000  # of e: a result of 1,303 digits; PostgreSQL raises above 6,000
_MOST_POWER = 1_000
_MOST_POWER_BITS = 2_100
_MOST_BUCKETS = 10_000
_UNTYPED_NULL = Constant(None, None)
# What a float's bounds become on the way from numeric to double precision and back (15 digits).
_FLOAT_ERROR = Fraction(1, 10**14)


def check_number(operand: Expression) -> None:
    """Let an operand pass that is printed as a number.

    Totality: what is no number is cast to one where it is printed. Of a text or a jsonb the cast raises on a
    row that holds none (22P02). A column has the type that it claims (`column_types.check_column`).

    >>> check_number(ColumnRef("n", SqlType.INT4, None, "r1"))
    >>> check_number(ColumnRef("t", SqlType.TEXT, None, "r1"))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    kind = operand.type
    is_number = operand == _UNTYPED_NULL if kind is None else is_printed_as_number(kind)
    if not is_number:
        raise refused("a value that is cast to a number")


def clamp_rule(clamped: Clamped, operand: Value) -> Value:
    """Bound a number by the clamp that is printed.

    Totality: the smaller and the larger of two values raise for none, and take NaN and infinity for the upper
    end (compiler.clamp_sql). A column is compared as a float if it is one: a numeric would be cast to a float
    before, which raises for what no float holds. Of a float the ends are doubles, which are a numeric again
    where it is computed with: so the range is a little wider.

    >>> column = ColumnRef("n", SqlType.NUMERIC, None, "r1")
    >>> clamp_rule(Clamped(column, Fraction(1), Fraction(9), SqlType.NUMERIC), Value()).distance
    Fraction(1, 1)
    """
    check_number(clamped.operand)
    low, high = clamped.low, clamped.high
    check_printed_number(low, high)
    if low > high:
        raise refused("a clamp that is none")
    is_of_floats = clamped.type.is_float and isinstance(clamped.operand, ColumnRef)
    if is_of_floats and clamped.operand.type is SqlType.NUMERIC:
        raise refused("a number that is cast to a float where it is clamped")
    if operand.is_null:
        return NULL
    # Another value becomes an end; 0 is none of these.
    is_apart = low > 0 or high < 0 or (operand.is_apart and low != 0 != high)
    if is_of_floats:
        low, high = low - abs(low) * _FLOAT_ERROR, high + abs(high) * _FLOAT_ERROR
    return Value(low=low, high=high, is_apart=is_apart)


def computable_bits(operand: Value) -> int:
    """Binary digits before the point of an operand that can be computed with."""
    if operand.is_null:
        return 0
    bits = operand.bits
    if bits is None:
        raise refused("arithmetic on a value without ends")
    if bits > MOST_BITS:
        raise refused("arithmetic on values that are too large")
    return bits


def arithmetic_rule(arithmetic: Arithmetic, left: Value, right: Value) -> Value:
    """Bound a sum, a difference or a product.

    Totality: operands of n and m binary digits have a sum of max(n, m) + 1 and a product of n + m: 8,192 at
    most.

    >>> one, column = Constant(Fraction(1), SqlType.INT4), ColumnRef("n", SqlType.NUMERIC, None, "r1")
    >>> sum_of = Arithmetic(Operator.ADD, column, one, SqlType.NUMERIC)
    >>> arithmetic_rule(sum_of, within(Fraction(0), Fraction(9)), within(Fraction(1), Fraction(1))).bits
    6
    >>> arithmetic_rule(sum_of, Value(), within(Fraction(1), Fraction(1)))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_number(arithmetic.left)
    check_number(arithmetic.right)
    of_left, of_right = computable_bits(left), computable_bits(right)
    if left.is_null or right.is_null:
        return NULL
    if arithmetic.operator is Operator.MULTIPLY:
        return around(of_left + of_right)
    return around(max(of_left, of_right) + 1)


def quotient_rule(quotient: Quotient, operand: Value, divisor: Value) -> Value:
    """Bound a quotient or a remainder.

    Totality: no divisor is 0. It is a constant, a clamp keeps it from 0, or it is nullif(x, 0). A quotient is
    largest by the smallest divisor, which is 10^-16383 at the least; a remainder is below the divisor.

    >>> column = ColumnRef("n", SqlType.NUMERIC, None, "r1")
    >>> by, ten = Quotient(column, column, False, SqlType.NUMERIC), within(Fraction(0), Fraction(10))
    >>> quotient_rule(by, ten, within(Fraction(1, 4), Fraction(10))).bits
    8
    >>> quotient_rule(by, ten, ten)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_number(quotient.operand)
    check_number(quotient.divisor)
    bits, by = computable_bits(operand), computable_bits(divisor)
    if operand.is_null or divisor.is_null:
        return NULL
    distance = divisor.distance
    if distance is None and not divisor.is_apart:
        raise refused("a divisor that may be 0")
    if quotient.remainder:
        return around(by)
    smallest = _SMALLEST_BITS if distance is None else bits_of(1 / distance)
    return around(max(0, bits + smallest))


def without_zero(nullif: NullIf, operand: Value) -> Value:
    """Say of nullif(x, 0) that it is not 0, of any other that it is x.

    Totality: both sides are compared as they are printed, so that what equals 0 is NULL.

    >>> from tests.kernel.examples import of_table
    >>> column, numbers = of_table("r1", "visits", "i4"), (0, 1)
    >>> others = [NullIf(column, Constant(Fraction(one), SqlType.INT4), SqlType.INT4) for one in numbers]
    >>> [without_zero(one, Value()).is_apart for one in others]
    [True, False]
    """
    other = nullif.other
    is_zero = isinstance(other, Constant) and other.value == 0 and other.value is not False
    return replace(operand, is_apart=operand.is_apart or is_zero, step=None, least=None)


def rounding_rule(call: NumericCall, operand: Value) -> Value:
    """Bound a number that is rounded, or of which the sign is taken.

    Totality: abs, sign, trunc and the minus make nothing longer, of NaN and infinity as well. floor, ceil and
    round may carry into a new digit, which the longest numeric has no room for: of 131,072 nines (22003). So
    they need an operand with ends. At most it becomes twice as large, or 1. Halves of floats go to the even
    number, by one back towards zero: no further from it.

    >>> column = ColumnRef("n", SqlType.NUMERIC, None, "r1")
    >>> rounding_rule(NumericCall(NumericFunction.ABS, column, 0, SqlType.NUMERIC), Value()).bits
    >>> rounding_rule(NumericCall(NumericFunction.ROUND, column, 2, SqlType.NUMERIC), Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_number(call.operand)
    if operand.is_null:
        return NULL
    match call.function:
        case NumericFunction.ROUND | NumericFunction.FLOOR | NumericFunction.CEIL:
            return around(max(1, computable_bits(operand) + 1))
        case (
            NumericFunction.ABS
            | NumericFunction.NEGATE
            | NumericFunction.TRUNC
            | NumericFunction.SIGN
        ):  # of NaN they are NaN
            bits = operand.bits
            return Value() if bits is None else around(max(1, bits))
        case _:
            assert_never(call.function)


def real_call_rule(call: RealCall, operand: Value) -> Value:
    """Bound a logarithm, a root or a power.

    Totality: logarithms are of what is above 0, roots of what is not below it, to a base above 0 that is not 1.
    exp and power raise for results that are too large: exponents of e are within 3,000. To a negative power
    nothing is raised that may be 0, and to one that is not whole nothing that may be below 0.

    >>> column, ten = ColumnRef("n", SqlType.NUMERIC, None, "r1"), Fraction(10)
    >>> logarithm = RealCall(RealFunction.LN, column, None, SqlType.NUMERIC)
    >>> real_call_rule(logarithm, within(Fraction(1, 10), ten)).bits
    18
    >>> real_call_rule(logarithm, within(Fraction(0), ten))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_number(call.operand)
    bits = computable_bits(operand)
    if operand.low is None or operand.high is None:
        return NULL
    constant = call.constant
    if constant is not None:
        check_printed_number(constant)
    match call.function:
        case RealFunction.LN | RealFunction.LOG:
            if operand.low <= 0:
                raise refused("a logarithm of what may not be above 0")
            if call.function is RealFunction.LOG:
                if constant is None or constant <= 0 or constant == 1:
                    raise refused("a logarithm to no base")
                # ln of a base is no nearer to 0 than its distance from 1, halved.
                return around(17 + bits_of(2 * max(constant, Fraction(1)) / abs(constant - 1)))
            return around(17)
        case RealFunction.SQRT:
            if operand.low < 0:
                raise refused("a root of what may be below 0")
            return around(max(1, bits))
        case RealFunction.EXP:
            return _exponential(operand.low, operand.high, Fraction(1))
        case RealFunction.RAISED:
            if constant is None or constant <= 0:
                raise refused("a power of what may not be above 0")
            above = max(constant, 1 / constant)
            # ln x is below x - 1, and below the binary digits of x.
            logarithm = min(above - 1, Fraction(bits_of(above)))
            return _exponential(operand.low, operand.high, logarithm)
        case RealFunction.POWER:
            return _power(constant, operand)
        case _:
            assert_never(call.function)


def _exponential(low: Fraction, high: Fraction, logarithm: Fraction) -> Value:
    """Bound a power of which the base has at most this logarithm: e is below 4."""
    if max(abs(low), abs(high)) * logarithm > MOST_EXPONENT:
        raise refused("a power that may be too large")
    return around(2 * MOST_EXPONENT)


def _power(exponent: Fraction | None, base: Value) -> Value:
    """Bound a power by a constant exponent: 2^bits to that power is 2^2,100 at most."""
    if exponent is None or abs(exponent) > _MOST_POWER or base.low is None:
        raise refused("a power to no exponent, or too large a one")
    bits, distance = computable_bits(base), base.distance
    if exponent < 0:
        if distance is None:
            raise refused("a negative power of what may be 0")
        bits = bits_of(1 / distance)
    if exponent.denominator != 1 and base.low < 0:
        raise refused("a power of what may be below 0")
    if bits * abs(exponent) > _MOST_POWER_BITS:
        raise refused("a power that may be too large")
    return around(_MOST_POWER_BITS)


def bucket_rule(bucket: Bucket, operand: Value) -> Value:
    """Bound the number of a bucket.

    Totality: width_bucket() raises for NaN, for two bounds that are equal and for a count below 1 (2201G).

    >>> column = ColumnRef("n", SqlType.NUMERIC, None, "r1")
    >>> bucket = Bucket(column, Fraction(0), Fraction(10), 5)
    >>> bucket_rule(bucket, within(Fraction(0), Fraction(10))).high
    Fraction(6, 1)
    """
    check_number(bucket.operand)
    computable_bits(operand)
    check_printed_number(bucket.low, bucket.high)
    if bucket.low == bucket.high or not 1 <= bucket.count <= _MOST_BUCKETS:
        raise refused("buckets that are none")
    return within(Fraction(0), Fraction(bucket.count + 1))
