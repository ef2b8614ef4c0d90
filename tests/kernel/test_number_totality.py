"""Each condition of the rules of numbers: what it refuses, in its own words, or the range that it gives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from proxy.base.decimals import finite_places
from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.kernel.known_values import ANYTHING, NULL, Value, around, within
from proxy.kernel.number_totality import (
    arithmetic_rule,
    bucket_rule,
    check_number,
    clamp_rule,
    computable_bits,
    quotient_rule,
    real_call_rule,
    rounding_rule,
    without_zero,
)
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Clamped,
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
from tests.kernel.examples import column
from tests.pipeline_world import POLICIES, walk

_N = column("r1", "n", SqlType.NUMERIC)
_F = column("r1", "f8", SqlType.FLOAT8)
_T = column("r1", "t", SqlType.TEXT)
_UNTYPED_NULL = Constant(None, None)


def _range(low: Fraction | float | str, high: Fraction | float | str) -> Value:
    return within(Fraction(low), Fraction(high))


def _clamp(
    operand: Value, low: int, high: int, of: Expression = _N, kind: SqlType = SqlType.NUMERIC
) -> Value:
    return clamp_rule(Clamped(of, Fraction(low), Fraction(high), kind), operand)


def _sum(
    left: Value,
    right: Value,
    operator: Operator = Operator.ADD,
    of: tuple[Expression, Expression] = (_N, _N),
) -> Value:
    return arithmetic_rule(Arithmetic(operator, *of, SqlType.NUMERIC), left, right)


def _quotient(
    operand: Value,
    divisor: Value,
    remainder: bool = False,
    of: tuple[Expression, Expression] = (_N, _N),
) -> Value:
    return quotient_rule(Quotient(*of, remainder, SqlType.NUMERIC), operand, divisor)


def _round(function: NumericFunction, operand: Value) -> Value:
    return rounding_rule(NumericCall(function, _N, 0, SqlType.NUMERIC), operand)


def _real(
    function: RealFunction,
    operand: Value,
    constant: Fraction | int | str | None = None,
    of: Expression = _N,
) -> Value:
    given = None if constant is None else Fraction(constant)
    return real_call_rule(RealCall(function, of, given, SqlType.NUMERIC), operand)


def _bucket(operand: Value, low: int, high: int, count: int, of: Expression = _N) -> Value:
    return bucket_rule(Bucket(of, Fraction(low), Fraction(high), count), operand)


def _nullif(other: Constant, operand: Value) -> bool:
    return without_zero(NullIf(_N, other, SqlType.NUMERIC), operand).is_apart


_R, _C = RealFunction, NumericFunction
_ONE = _range(1, 1)
_TEN = _range(0, 10)
_APART = Value(low=Fraction(-9), high=Fraction(9), is_apart=True)
_HUGE = around(4_097)

_NO_NUMBER = "a value that is cast to a number"
_NO_ENDS = "arithmetic on a value without ends"
_MAY_BE_0 = "a divisor that may be 0"
_NO_BASE = "a logarithm to no base"
_NO_POWER = "a power to no exponent, or too large a one"
_TOO_LARGE = "a power that may be too large"
_BELOW_0 = "a power of what may not be above 0"
_NO_BUCKETS = "buckets that are none"

_REFUSED: tuple[tuple[str, Callable[[], object]], ...] = (
    (_NO_NUMBER, lambda: check_number(_T)),
    (_NO_NUMBER, lambda: check_number(Constant("x", None))),
    (_NO_NUMBER, lambda: check_number(Constant("x", SqlType.TEXT))),
    ("a clamp that is none", lambda: _clamp(ANYTHING, 2, 1)),
    (_NO_NUMBER, lambda: _clamp(ANYTHING, 0, 1, _T)),
    (
        "a number that is cast to a float where it is clamped",
        lambda: _clamp(ANYTHING, 0, 1, _N, SqlType.FLOAT8),
    ),
    (_NO_ENDS, lambda: computable_bits(ANYTHING)),
    ("arithmetic on values that are too large", lambda: computable_bits(_HUGE)),
    (_NO_NUMBER, lambda: _sum(_ONE, _ONE, of=(_T, _N))),
    (_NO_NUMBER, lambda: _sum(_ONE, _ONE, of=(_N, _T))),
    (_NO_NUMBER, lambda: _quotient(_ONE, _ONE, of=(_T, _N))),
    (_NO_NUMBER, lambda: _quotient(_ONE, _ONE, of=(_N, _T))),
    (_MAY_BE_0, lambda: _quotient(_ONE, _TEN)),
    (_MAY_BE_0, lambda: _quotient(_ONE, _TEN, remainder=True)),
    (_NO_NUMBER, lambda: rounding_rule(NumericCall(_C.ABS, _T, 0, SqlType.NUMERIC), _ONE)),
    (_NO_ENDS, lambda: _round(_C.ROUND, ANYTHING)),
    (_NO_NUMBER, lambda: _real(_R.SQRT, _ONE, of=_T)),
    ("a logarithm of what may not be above 0", lambda: _real(_R.LN, _TEN)),
    (_NO_BASE, lambda: _real(_R.LOG, _ONE)),
    (_NO_BASE, lambda: _real(_R.LOG, _ONE, 0)),
    (_NO_BASE, lambda: _real(_R.LOG, _ONE, -2)),
    (_NO_BASE, lambda: _real(_R.LOG, _ONE, 1)),
    ("a root of what may be below 0", lambda: _real(_R.SQRT, _range(-1, 9))),
    (_TOO_LARGE, lambda: _real(_R.EXP, _range(0, 3_001))),
    (_BELOW_0, lambda: _real(_R.RAISED, _ONE)),
    (_BELOW_0, lambda: _real(_R.RAISED, _ONE, 0)),
    (_BELOW_0, lambda: _real(_R.RAISED, _ONE, -2)),
    (_TOO_LARGE, lambda: _real(_R.RAISED, _range(0, 1_000), 1_000)),
    # (1 / 1,000)^-1,000: a small base grows by exponents below 0.
    (_TOO_LARGE, lambda: _real(_R.RAISED, _range(-1_000, 0), "1/1000")),
    (_NO_POWER, lambda: _real(_R.POWER, _ONE)),
    (_NO_POWER, lambda: _real(_R.POWER, _ONE, 1_001)),
    (_NO_POWER, lambda: _real(_R.POWER, _ONE, -1_001)),
    ("a negative power of what may be 0", lambda: _real(_R.POWER, _TEN, -1)),
    ("a power of what may be below 0", lambda: _real(_R.POWER, _range(-1, 9), "1/2")),
    (_TOO_LARGE, lambda: _real(_R.POWER, _range(2**999, 2**1_000), 3)),
    (_TOO_LARGE, lambda: _real(_R.POWER, _range(Fraction(1, 2**999), 1), -3)),
    (_NO_NUMBER, lambda: _bucket(_ONE, 0, 5, 5, _T)),
    (_NO_ENDS, lambda: _bucket(ANYTHING, 0, 5, 5)),
    (_NO_BUCKETS, lambda: _bucket(_ONE, 5, 5, 5)),
    (_NO_BUCKETS, lambda: _bucket(_ONE, 0, 5, 0)),
    (_NO_BUCKETS, lambda: _bucket(_ONE, 0, 5, 10_001)),
)


@pytest.mark.parametrize(
    ("where", "judged"), _REFUSED, ids=[f"{n} {one}" for n, (one, _) in enumerate(_REFUSED)]
)
def test_one_condition_refuses(where: str, judged: Callable[[], object]) -> None:
    with pytest.raises(NotPrivate) as refused:
        judged()
    assert (refused.value.rule, refused.value.where) == (Rule.TOTALITY, where)


_GIVEN: tuple[tuple[object, Callable[[], object]], ...] = (
    (None, lambda: check_number(_UNTYPED_NULL)),
    (None, lambda: check_number(column("r1", "iv", SqlType.INTERVAL))),
    # A computed number is a numeric, whatever its type is called: its ends are those that are printed.
    (_range(0, 9), lambda: _clamp(_ONE, 0, 9, Quotient(_N, _N, False, SqlType.NUMERIC), _F.type)),
    (NULL, lambda: _clamp(NULL, 0, 9)),
    (0, lambda: computable_bits(NULL)),
    (around(5), lambda: _sum(_range(0, 9), _ONE)),
    (around(5), lambda: _sum(_ONE, _range(0, 9))),
    (around(8), lambda: _sum(_range(0, 9), _range(0, 9), Operator.MULTIPLY)),
    (NULL, lambda: _sum(NULL, _ONE)),
    (NULL, lambda: _sum(_ONE, NULL)),
    (NULL, lambda: _quotient(NULL, _ONE)),
    (NULL, lambda: _quotient(_ONE, NULL)),
    (around(8), lambda: _quotient(_TEN, _range("1/8", 1))),
    (around(4 + 54_500), lambda: _quotient(_TEN, _APART)),
    (around(4), lambda: _quotient(_range(0, 2**99), _range(8, 9), remainder=True)),
    # A quotient is rounded, so a small one may be larger than its ends say.
    (around(0), lambda: _quotient(_range(0, "1/1000"), _range(1_000, 1_000))),
    (NULL, lambda: _round(_C.ROUND, NULL)),
    (around(1), lambda: _round(_C.CEIL, _range("1/2000", "1/1000"))),
    (around(5), lambda: _round(_C.ROUND, _range(0, 9))),
    (around(1), lambda: _round(_C.SIGN, _range(0, "1/1000"))),
    (around(4), lambda: _round(_C.ABS, _range(0, 9))),
    (ANYTHING, lambda: _round(_C.TRUNC, ANYTHING)),
    (NULL, lambda: _real(_R.SQRT, NULL)),
    (around(17), lambda: _real(_R.LN, _ONE)),
    (around(17 + 3), lambda: _real(_R.LOG, _ONE, 4)),
    (around(17 + 3), lambda: _real(_R.LOG, _ONE, "1/2")),
    (around(17 + 11), lambda: _real(_R.LOG, _ONE, "1001/1000")),
    (around(1), lambda: _real(_R.SQRT, _range(0, "1/1000"))),
    (around(4), lambda: _real(_R.SQRT, _range(0, 9))),
    (around(6_000), lambda: _real(_R.EXP, _range(-3_000, 3_000))),
    # Of a large base the digits bound the logarithm, of one near 1 its distance from 1.
    (around(6_000), lambda: _real(_R.RAISED, _range(0, 1), 2**100)),
    (around(6_000), lambda: _real(_R.RAISED, _range(0, 10**5), "1001/1000")),
    (around(2_100), lambda: _real(_R.POWER, _range(-9, 9), 2)),
    (around(2_100), lambda: _real(_R.POWER, _range(0, 9), "1/2")),
    (around(2_100), lambda: _real(_R.POWER, _range(2**1_000, 2**1_000), -1)),
    (around(2_100), lambda: _real(_R.POWER, _range(0, "1/1000"), 1_000)),
    (_range(0, 6), lambda: _bucket(_TEN, 0, 5, 5)),
    (_range(0, 10_001), lambda: _bucket(_TEN, 5, 0, 10_000)),
)


@pytest.mark.parametrize("number", range(len(_GIVEN)))
def test_it_has_this_range(number: int) -> None:
    wanted, judged = _GIVEN[number]
    assert judged() == wanted


@pytest.mark.parametrize(
    ("operand", "low", "high", "is_apart"),
    [
        (ANYTHING, 1, 9, True),
        (ANYTHING, -9, -1, True),
        (ANYTHING, -9, 9, False),
        (_APART, -5, 5, True),
        (_APART, 0, 5, False),
        (_APART, -5, 0, False),
    ],
)
def test_a_clamp_puts_its_ends_in(operand: Value, low: int, high: int, is_apart: bool) -> None:
    """A value of -7 becomes 0, where that is the low end."""
    assert _clamp(operand, low, high).is_apart is is_apart


def test_a_float_may_be_beyond_the_ends_that_are_printed() -> None:
    found = _clamp(ANYTHING, 1, 9, _F, SqlType.FLOAT8)
    assert found.low is not None and found.high is not None
    assert 0.999 < found.low < 1 and 9 < found.high < 9.001


@pytest.mark.parametrize(
    ("other", "operand", "is_apart"),
    [
        (Constant(Fraction(0), SqlType.INT4), _TEN, True),
        (Constant(Fraction(5), SqlType.INT4), _TEN, False),
        (Constant(Fraction(5), SqlType.INT4), _APART, True),
        (Constant(False, SqlType.BOOL), _TEN, False),
    ],
)
def test_nullif_takes_0_away(other: Constant, operand: Value, is_apart: bool) -> None:
    assert _nullif(other, operand) is is_apart


def test_nullif_of_no_constant_takes_nothing_away() -> None:
    assert not without_zero(NullIf(_N, _N, SqlType.NUMERIC), _TEN).is_apart


@pytest.mark.parametrize("x", ["avg(i4 / 3.0)", "sum(i4) / 7.0", "max(n / 3) + avg(i4) / 3"])
def test_thirds_that_a_subquery_ends_with_are_written_as_they_are_judged(x: str) -> None:
    """The planner cuts a column to ends that have a decimal form: the kernel lets no other pass."""
    per_unit = f"SELECT uid, {x} AS x FROM visits GROUP BY uid"
    found = walk(f"SELECT count(*) FROM ({per_unit}) q WHERE x / 3.0 + 1 > 1", POLICIES["best"])
    assert found is not None
    (block,) = found.plan.blocks
    ends = [end for one in nodes(block) if isinstance(one, Clamped) for end in (one.low, one.high)]
    assert ends and all(finite_places(end) is not None for end in ends)
