"""The price and the size of each node, as relations: what a longer operand, a further part or a float adds."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.kernel import work_prices
from proxy.kernel.work_prices import (
    NodePrice,
    NotPriced,
    ResultSize,
    column_size,
    constant_size,
    expression_price,
    longest_size,
    union,
)
from proxy.query.ir.expressions import (
    Arithmetic,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    Expression,
    In,
    Inside,
    InsideLook,
    NullIf,
    NumericCall,
    NumericFunction,
    Operator,
    Parameter,
    Quotient,
    RealCall,
    RealFunction,
    TextCall,
    TextFunction,
)
from proxy.query.syntax.placeholders import ClientParameter

_SIZES = {
    "short": ResultSize(0, 0, 40),
    "long": ResultSize(0, 0, 40_000),
    "few": ResultSize(5, 3),
    "many": ResultSize(500, 300),
    "huge": ResultSize(900, 990),
    "deep": ResultSize(5, 16_000),
    "raw": ResultSize(5, 3, is_raw=True),
    "packed": ResultSize(5, 3, unpacked=12_000),
    "float": ResultSize(5, 3),
    "raw float": ResultSize(5, 3, is_raw=True),
    "large": ResultSize(0, 0, 2 * limits.INSIDE_STORED_BYTES),
    "dear": ResultSize(5, 3),
}
_TYPES = {
    "short": SqlType.TEXT,
    "long": SqlType.TEXT,
    "float": SqlType.FLOAT8,
    "raw float": SqlType.FLOAT8,
}
_COLUMNS = {
    ("r", name): NodePrice(1e9 if name == "dear" else 1.0, size, frozenset({("r", name)}))
    for name, size in _SIZES.items()
}
_EQ, _LT = Comparator.EQ, Comparator.LT
_ORDERING = (_LT, Comparator.LE, Comparator.GT, Comparator.GE)
_PARAMETER = Parameter(ClientParameter(0), SqlType.TEXT)


def _c(name: str, kind: SqlType | None = None) -> ColumnRef:
    return ColumnRef(name, kind or _TYPES.get(name, SqlType.NUMERIC), None, "r")


def _price(expression: Expression) -> float:
    return expression_price(expression, _COLUMNS, 1024).nanoseconds


def _size(expression: Expression) -> ResultSize:
    return expression_price(expression, _COLUMNS, 1024).size


def _is(left: str, right: str, comparator: Comparator = _EQ) -> Expression:
    return Comparison(comparator, _c(left), _c(right))


def _text(function: TextFunction, *given: str) -> Expression:
    arguments = tuple(Constant(one, SqlType.TEXT) for one in given)
    return TextCall(function, _c("long"), arguments, SqlType.TEXT)


def _left(most: Constant | Parameter) -> Expression:
    return TextCall(TextFunction.LEFT, _c("long"), (most,), SqlType.TEXT)


def _cut(operand: Expression, low: str, high: str, kind: SqlType = SqlType.NUMERIC) -> Clamped:
    return Clamped(operand, Fraction(low), Fraction(high), kind)


def _number(function: NumericFunction, operand: str, digits: int = 0) -> Expression:
    return NumericCall(function, _c(operand), digits, SqlType.NUMERIC)


def _real(function: RealFunction, operand: Expression, constant: str | None = None) -> Expression:
    given = None if constant is None else Fraction(constant)
    return RealCall(function, operand, given, SqlType.NUMERIC)


def _power(low: str, high: str, exponent: str) -> ResultSize:
    return _size(_real(RealFunction.POWER, _cut(_c("many"), low, high), exponent))


def _add(left: str, right: str, operator: Operator = Operator.ADD) -> Expression:
    return Arithmetic(operator, _c(left), _c(right), SqlType.NUMERIC)


def _listed(operand: str, *items: str) -> Expression:
    return In(_c(operand), tuple(Constant(item, SqlType.TEXT) for item in items))


def _holds(operand: str, *arguments: Constant | Parameter) -> Expression:
    return Inside(InsideLook.HOLDS, _c(operand), (), arguments, SqlType.BOOL)


def _choose(*names: str) -> Expression:
    return Choose(Choice.GREATEST, tuple(map(_c, names)), SqlType.NUMERIC)


def _null_if(one: str, other: str) -> Expression:
    return NullIf(_c(one), _c(other), SqlType.NUMERIC)


_ABS, _NEGATE, _ROUND = NumericFunction.ABS, NumericFunction.NEGATE, NumericFunction.ROUND


@pytest.mark.parametrize(
    "dear, cheap",
    [
        (_is("long", "long"), _is("long", "short")),
        (_is("many", "many"), _is("few", "few")),
        *((_is("long", "long", one), _is("long", "long")) for one in _ORDERING),
        (_is("long", "short", _LT), _is("short", "short", _LT)),  # both are unpacked whole
        (_is("short", "long", _LT), _is("short", "short", _LT)),
        (_is("long", "long", _LT), _is("short", "long", _LT)),
        (_is("long", "long", _LT), _is("long", "short", _LT)),
        (_is("float", "few"), _is("few", "few")),
        (_is("few", "float"), _is("few", "few")),
        (_is("packed", "packed"), _is("packed", "few")),
        (_text(TextFunction.LPAD), _text(TextFunction.LOWER)),
        (_text(TextFunction.RPAD), _text(TextFunction.LOWER)),
        (_listed("long", "a" * 400), _listed("long", "a" * 4)),
        (_listed("long", "a" * 400, "b"), _listed("long", "a" * 400)),
        (
            _listed("long", *"abcdefghi"),
            _listed("long", *"abcdefgh"),
        ),  # hashed, so that all is read
        (_listed("few", "a", "b"), _listed("few", "a")),
        (_holds("large"), _holds("few")),
        (_choose("float", "few"), _choose("few", "few")),
        (_null_if("long", "long"), _null_if("long", "short")),
        (_null_if("float", "few"), _null_if("few", "few")),
        (_null_if("few", "float"), _null_if("few", "few")),
        (_cut(_c("many"), "0", "1" * 600), _cut(_c("many", SqlType.INT8), "0", "1" * 600)),
        (_cut(_add("many", "few"), "0", "1" * 600), _cut(_add("many", "few"), "0", "1")),
        (_number(_ABS, "packed"), _number(_ABS, "few")),
        (_number(_ROUND, "raw float"), _number(_ROUND, "float")),  # with a remainder
        (_add("raw", "few", Operator.MULTIPLY), _add("few", "few", Operator.MULTIPLY)),
    ],
)
def test_is_dearer(dear: Expression, cheap: Expression) -> None:
    assert _price(dear) > _price(cheap)


@pytest.mark.parametrize(
    "function",
    [
        *(TextFunction.BTRIM, TextFunction.LTRIM, TextFunction.RTRIM),
        *(TextFunction.SPLIT_PART, TextFunction.REPLACE, TextFunction.STRPOS),
    ],
)
def test_what_is_looked_for_is_compared_at_each_octet(function: TextFunction) -> None:
    assert _price(_text(function, "xyz", "y")) > _price(_text(function, "x", "y"))


@pytest.mark.parametrize(
    "one, other",
    [
        (_is("long", "short"), _is("short", "short")),  # as far as the shorter goes
        (_is("short", "long"), _is("short", "short")),
        (_is("many", "few"), _is("few", "few")),
        (_is("few", "many"), _is("few", "few")),
        (_is("packed", "few"), _is("few", "few")),
        (_is("few", "packed"), _is("few", "few")),
        (_null_if("long", "short"), _null_if("short", "short")),
        (_null_if("short", "long"), _null_if("short", "short")),
        (_listed("short", "a" * 400), _listed("short", "a" * 4_000)),
        (_listed("few", *"abcdefghi"), _listed("few", *"abcdefghijkl")),  # hashed
        (_is("float", "float"), _is("float", "float", Comparator.NE)),
    ],
)
def test_is_no_dearer(one: Expression, other: Expression) -> None:
    assert _price(one) == _price(other)


def test_operands_are_in_the_sum() -> None:
    found = expression_price(_number(_ABS, "dear"), _COLUMNS, 1024)
    assert found.nanoseconds > _COLUMNS["r", "dear"].nanoseconds
    assert (found.nodes, found.leaves) == (2, {("r", "dear")})
    assert _price(_holds("few")) > 100 * _price(_c("few"))
    assert _price(_holds("few", _PARAMETER)) == _price(_holds("few"))


def test_long_numbers_take_no_longer_than_their_results_are_exact() -> None:
    """Of more than 1,000 digits (NUMERIC_MAX_DISPLAY_SCALE) the price grows as they do."""
    for price in (work_prices._logarithm_nanoseconds, work_prices._exponential_nanoseconds):
        assert price(500) > 5 * price(100)
        assert price(20_000) < 10 * price(2_000)


_EXP, _SQRT, _LN = RealFunction.EXP, RealFunction.SQRT, RealFunction.LN


@pytest.mark.parametrize(
    "expression, before, after",
    [
        (_cut(_c("few"), "0", "1"), 1, 3),
        (_cut(_c("few"), "0", "1000000000"), 5, 3),
        (_cut(_c("few"), "0", "0.12345"), 1, 5),
        (_cut(_c("few"), "0", "1", SqlType.DATE), 5, 3),
        (_add("few", "many"), 501, 300),
        (_add("many", "few"), 501, 300),
        (_add("deep", "deep", Operator.MULTIPLY), 10, 16_383),
        (_add("few", "few", Operator.MULTIPLY), 10, 6),
        (Quotient(_c("huge"), _c("huge"), False, SqlType.NUMERIC), 1_890, 1_000),
        (Quotient(_c("few"), _c("few"), False, SqlType.NUMERIC), 8, 32),
        (_number(_ROUND, "few", 1), 6, 1),
        (_number(_ROUND, "few", 40), 6, 3),
        (_number(_ROUND, "few", -2), 6, 0),
        (_number(_ABS, "few"), 6, 3),
        (_real(_LN, _c("few")), 7, 40),
        (_real(_LN, _c("many")), 7, 320),
        (_real(_LN, _c("huge")), 7, 1_000),
        (_real(_EXP, _cut(_c("few"), "-100", "-50")), 2, 65),
        (_real(_SQRT, _cut(_c("few"), "0", "0")), 2, 23),
        (_real(_SQRT, _c("many")), 252, 320),
        (_real(_SQRT, _cut(_c("few", SqlType.INT8), "10000", "20000")), 4, 23),
        (Cast(_c("few"), SqlType.NUMERIC), 5, 3),
    ],
)
def test_sizes_of_numbers(expression: Expression, before: int, after: int) -> None:
    found = _size(expression)
    assert (found.before, found.after) == (before, after)


def test_sizes_of_powers() -> None:
    assert _power("-1000", "1", "2") == _power("-1", "1000", "2")
    assert _power("-1000", "1", "2").before > _power("-1", "1", "2").before
    assert _power("1", "1000", "5").before > _power("1", "1000", "2").before
    assert _power("1", "1" + "0" * 200, "9").before == 301  # the planner lets no more be computed
    assert _power("0.01", "10", "-1").before == 4
    assert _power("0", "10", "-1").before > 300  # as small as the number has digits after the point
    assert _power("0", "0", "2").before == 2
    assert _size(_real(RealFunction.POWER, _c("few"))).before == 2


def test_long_numbers_stay_what_they_are() -> None:
    """Digits of a number without a scale, which its column does not bound."""
    for expression in (_add("raw", "few"), _add("few", "raw"), _cut(_c("raw"), "0", "1")):
        assert _size(expression).is_raw
    for function in (_ABS, _NEGATE):
        assert _size(_number(function, "raw")).is_raw
        assert not _size(_number(function, "few")).is_raw
    assert not _size(_add("few", "few")).is_raw
    assert not _size(_number(_ROUND, "raw", 2)).is_raw


def test_sizes_of_texts() -> None:
    octets = _SIZES["long"].octets
    three = Constant(Fraction(3), SqlType.INT4)
    assert _size(_left(three)).octets == 12
    assert _size(_left(Constant(Fraction(-3), SqlType.INT4))).octets == octets
    assert _size(_left(_PARAMETER)).octets == octets
    assert _size(_text(TextFunction.REPLACE, "xyz", "")).octets == octets
    assert _size(_text(TextFunction.REPLACE, "xyz", "a" * 9)).octets == 3 * octets
    assert _size(_text(TextFunction.REPLACE, "xyz", "a" * 7)).octets == 3 * octets
    assert _size(_text(TextFunction.REPLACE, "", "ab")).octets == 2 * octets
    assert (
        _size(_text(TextFunction.LPAD)).octets > octets == _size(_text(TextFunction.LOWER)).octets
    )
    many, few = (_size(Cast(_c(name), SqlType.TEXT)).octets for name in ("many", "few"))
    assert many > few
    assert (
        ResultSize(0, 0, 2**20).width
        == 4 * limits.KEY_CHARACTERS
        > ResultSize(0, 0, 99).width
        == 99
    )


_VARYING = "character varying(20)"


@pytest.mark.parametrize(
    "column, size",
    [
        (Column("n", SqlType.NUMERIC, "numeric(8,2)", True, 8, 2), ResultSize(6, 2)),
        (Column("n", SqlType.NUMERIC, "numeric(8)", True, 8, None), ResultSize(8, 0)),
        (Column("n", SqlType.NUMERIC, "numeric(2,4)", True, 2, 4), ResultSize(1, 4)),
        (Column("n", SqlType.NUMERIC, "numeric(3,-2)", True, 3, -2), ResultSize(5, 0)),
        (Column("n", SqlType.INT4, "integer", True, 8, 2), ResultSize(10)),
        (Column("s", SqlType.VARCHAR, _VARYING, True), ResultSize(0, 0, 80)),
        (Column("s", SqlType.BPCHAR, "character(20)", True), ResultSize(0, 0, 80)),
        (Column("s", SqlType.VARCHAR, "character varying(900)", True), ResultSize(0, 0, 1024)),
        (Column("s", SqlType.VARCHAR, "character varying", True), ResultSize(0, 0, 1024)),
        (Column("s", SqlType.TEXT, _VARYING, True), ResultSize(0, 0, 1024)),
        (Column("s", SqlType.VARCHAR, _VARYING, True, is_enforced=False), ResultSize(0, 0, 1024)),
        (Column("e", SqlType.ENUM, "mood", True), ResultSize(0, 0, 64)),
    ],
)
def test_sizes_of_columns(column: Column, size: ResultSize) -> None:
    assert column_size(column, 1024) == size


def test_the_longest_of_columns() -> None:
    """What the server does not hold values to is no bound; numbers are unpacked whole."""
    for column in (
        Column("n", SqlType.NUMERIC, "numeric(8,2)", True, 8, 2, is_enforced=False),
        Column("n", SqlType.NUMERIC, "numeric", True),
    ):
        assert column_size(column, 1024).is_raw
        assert longest_size(column).unpacked == limits.LONGEST_NUMBER_NANOSECONDS
    assert longest_size(Column("n", SqlType.INT4, "integer", True)).unpacked == 0
    inside = longest_size(Column("j", SqlType.JSONB, "jsonb", True))
    assert limits.INSIDE_STORED_BYTES < inside.octets < limits.LONGEST_TEXT_OCTETS


def test_sizes_of_constants() -> None:
    assert constant_size(Constant(Fraction(1, 8), SqlType.NUMERIC)) == ResultSize(1, 3)
    assert constant_size(Constant(Fraction(1, 125), SqlType.NUMERIC)) == ResultSize(1, 3)
    assert constant_size(Constant(Fraction(1, 2**20_000), SqlType.NUMERIC)).after == 16_383
    assert union([]) == ResultSize(1)


def test_what_is_no_column_has_no_price() -> None:
    with pytest.raises(NotPriced, match="column other"):
        _price(_c("other"))
