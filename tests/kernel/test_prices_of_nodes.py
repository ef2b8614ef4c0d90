"""Prices and sizes of nodes, as relations: what a longer operand, a further part or a float adds. And of rows:
how often each part of a question is counted, whatever it costs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, TableName
from proxy.kernel import work, work_prices
from proxy.kernel.attribution import scan_rule
from proxy.kernel.plan import BlockPlan
from proxy.kernel.work import (
    TooMuchWork,
    UnitWork,
    block_work,
    check_work,
    columns_as_stored,
    identifying,
)
from proxy.kernel.work_prices import (
    NodePrice,
    NotPriced,
    ResultSize,
    column_size,
    constant_size,
    expression_price,
    is_hashed_list,
    longest_size,
    union,
)
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Concat,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
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
    Shift,
    TextCall,
    TextFunction,
    TimeBin,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Join, Scan, Truncate
from proxy.query.syntax.placeholders import ClientParameter
from tests.pipeline_world import CATALOG, POLICIES, SCHEMA, walk
from tests.unchecked_blocks import compile_block

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
_NUMERIC = SqlType.NUMERIC
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


def _add(
    left: str, right: str, operator: Operator = Operator.ADD, kind: SqlType = SqlType.NUMERIC
) -> Expression:
    return Arithmetic(operator, _c(left), _c(right), kind)


def _listed(operand: str, *items: str) -> Expression:
    return In(_c(operand), tuple(Constant(item, SqlType.TEXT) for item in items))


def _holds(operand: str, *arguments: Constant | Parameter) -> Expression:
    return Inside(InsideLook.HOLDS, _c(operand), (), arguments, SqlType.BOOL)


def _json(written: str) -> Constant:
    return Constant(written, SqlType.JSONB)


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
        (_holds("few", _json('{"a": [1, 2]}')), _holds("few", _json('{"a": 1}'))),
        (_null_if("long", "long"), _null_if("long", "short")),
        (_cut(_c("many"), "0", "1" * 600), _cut(_c("many", SqlType.INT8), "0", "1" * 600)),
        *(
            (
                _cut(_add("many", "few", kind=one), "0", "1" * 600),
                _cut(_add("many", "few"), "0", "1"),
            )
            for one in (SqlType.NUMERIC, SqlType.INT8)
        ),
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
        (_is("float", "float"), _is("float", "float", Comparator.NE)),
    ],
)
def test_is_no_dearer(one: Expression, other: Expression) -> None:
    assert _price(one) == _price(other)


def test_operands_are_in_the_sum() -> None:
    found = expression_price(_number(_ABS, "dear"), _COLUMNS, 1024)
    assert found.nanoseconds > _COLUMNS["r", "dear"].nanoseconds
    assert (found.nodes, found.leaves) == (2, frozenset({("r", "dear")}))
    assert _price(_holds("few")) > 100 * _price(_c("few"))
    assert _price(_holds("few", _PARAMETER)) == _price(_holds("few"))


@pytest.mark.parametrize(
    "made",
    [
        _is,
        _add,
        _null_if,
        _choose,
        lambda one, other: _add(one, other, Operator.MULTIPLY),
        lambda one, other: Quotient(_c(one), _c(other), False, SqlType.NUMERIC),
        lambda one, other: Connective("AND", (_c(one), _c(other))),
        lambda one, other: Concat((_c(one), _c(other))),
        lambda one, other: Case(((_c(one), _c("few")),), _c(other), SqlType.NUMERIC),
    ],
)
def test_both_operands_are_in_the_sum(made: Callable[[str, str], Expression]) -> None:
    dear = _COLUMNS["r", "dear"].nanoseconds
    assert _price(made("few", "few")) < dear
    assert _price(made("dear", "few")) > dear < _price(made("few", "dear"))
    assert _price(made("dear", "dear")) > 2 * dear


_FEW = _c("few")


@pytest.mark.parametrize(
    "made",
    [
        lambda one: Comparison(_EQ, one, _FEW),
        lambda one: Comparison(_EQ, _FEW, one),
        lambda one: In(one, (Constant(Fraction(1), SqlType.INT4),)),
        lambda one: InPublic(one, TableName(SCHEMA, "rates"), "s", _FEW, None),
        lambda one: Choose(Choice.GREATEST, (_FEW, one), SqlType.NUMERIC),
        lambda one: NullIf(one, _FEW, SqlType.NUMERIC),
        lambda one: NullIf(_FEW, one, SqlType.NUMERIC),
        lambda one: Case(((_FEW, one),), _FEW, SqlType.NUMERIC),
        lambda one: Case(((_FEW, _FEW),), one, SqlType.NUMERIC),
        lambda one: Arithmetic(Operator.ADD, one, _FEW, SqlType.NUMERIC),
        lambda one: Arithmetic(Operator.MULTIPLY, _FEW, one, SqlType.NUMERIC),
        lambda one: Quotient(one, _FEW, False, SqlType.NUMERIC),
        lambda one: Quotient(_FEW, one, True, SqlType.NUMERIC),
        lambda one: NumericCall(_ABS, one, 0, SqlType.NUMERIC),
        lambda one: RealCall(RealFunction.LN, one, None, SqlType.NUMERIC),
        lambda one: Bucket(one, Fraction(0), Fraction(9), 3, SqlType.INT4),
    ],
)
def test_a_column_of_floats_becomes_a_numeric_among_numbers(
    made: Callable[[Expression], Expression],
) -> None:
    """Which takes 471 ns (the table of work_prices). A computed float is one already."""
    plain, computed = (Case(((_FEW, _FEW),), _FEW, kind) for kind in (_NUMERIC, SqlType.FLOAT8))
    numeric = replace(_c("float"), type=_NUMERIC)
    assert _price(made(_c("float"))) >= _price(made(numeric)) + 600
    assert _price(made(computed)) == _price(made(plain))


def test_a_column_of_floats_is_cut_as_one_and_becomes_a_numeric_then() -> None:
    assert _price(_cut(_c("float"), "0", "1")) == _price(_c("float")) + 2 * 100 + 600


@pytest.mark.parametrize(
    "made, nanoseconds, size",
    [
        (lambda one: Extract("day", one, _NUMERIC), 700, (20, 6, 0)),
        (lambda one: DateTrunc("day", one, SqlType.TIMESTAMP), 1_400, (20, 6, 0)),
        (lambda one: Shift(one, 1, 0, 0, SqlType.TIMESTAMP), 2_100, (20, 6, 0)),
        (lambda one: TimeBin(one, 9, 0, SqlType.TIMESTAMP), 1_400, (20, 6, 0)),
        (lambda one: FormattedTime(one, "YYYY-MM"), 1_200 + 4 * 7 * 16, (1, 0, 7 * 16)),
    ],
)
def test_times(
    made: Callable[[Expression], Expression], nanoseconds: float, size: tuple[int, int, int]
) -> None:
    found = expression_price(made(_FEW), _COLUMNS, 1024)
    assert found.nanoseconds == nanoseconds + _price(_FEW)
    assert (found.size.before, found.size.after, found.size.octets) == size


def test_the_dearest_step_is_one_that_an_analyst_writes() -> None:
    logarithm = _real(RealFunction.LN, _c("many"))
    found = expression_price(_cut(logarithm, "0", "1"), _COLUMNS, 1024).dearest
    assert (found.written, found.digits) == ("ln()", 800 + 6)
    assert expression_price(_cut(_FEW, "0", "1"), _COLUMNS, 1024).dearest == work_prices.NO_NODE


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
        (_number(_ROUND, "few", 40), 6, 40),
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
    assert _power("1", "1" + "0" * 200, "9").before == 1_304  # no more is computed
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
    assert _size(_left(Constant(Fraction(octets), SqlType.INT4))).octets == octets
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
    unknown: Any = object()
    with pytest.raises(NotPriced, match="object"):
        _price(unknown)


_FIELDS = ("nanoseconds", "stored_nanoseconds", "single_nanoseconds", "octets", "stored_octets")
_BY = {"digits": {"before": 1_000}, "octets": {"octets": 1_000}, "unpacked": {"unpacked": 1_000}}


@cache
def _planned(question: str, policy: str = "best") -> tuple[BlockPlan, World]:
    world = World(POLICIES[policy], CATALOG)
    found = walk(question, world.policy)
    assert found is not None
    return found.plan.blocks[0], world


def _larger(
    size_of: Callable[..., ResultSize], name: str, by: Mapping[str, int]
) -> Callable[..., ResultSize]:
    def larger(column: Column, *rest: int) -> ResultSize:
        size = size_of(column, *rest)
        more: dict[str, Any] = {key: getattr(size, key) + value for key, value in by.items()}
        return replace(size, **more) if column.name == name else size

    return larger


def _changed(lever: str, changes: pytest.MonkeyPatch) -> None:
    """A constant is one higher, or the values of a column are longer."""
    if lever.startswith("_"):
        changes.setattr(work, lever, getattr(work, lever) + 1)
        return
    name, by = lever.split()
    for size_of in ("column_size", "longest_size"):
        changes.setattr(work, size_of, _larger(getattr(work, size_of), name, _BY[by]))


# Nanoseconds and octets that are added: of rows of a bounded number, of each that is stored, of a single one.
_ACCOUNTS: Mapping[tuple[str, str], Mapping[str, tuple[float, ...]]] = {
    ("best", "SELECT i2, i4, sum(n2) FROM people WHERE i8 > 1 GROUP BY i2, i4"): {
        "_MENTION": (10, 0, 10, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
        "_GROUPED_ROW": (2, 0, 2, 0, 0),
        "_INDEX": (2, 0, 2, 0, 0),
        "_ROW_HEADER": (0, 0, 0, 1, 0),
        "i2 octets": (3000, 0, 3000, 1984, 0),
        "i2 unpacked": (5000, 0, 5000, 0, 0),
        "i4 octets": (3000, 0, 3000, 1984, 0),
        "i4 unpacked": (6000, 0, 6000, 0, 0),
        "i8 octets": (500, 0, 500, 992, 0),
        "i8 unpacked": (1000, 0, 1000, 0, 0),
        "n2 octets": (0, 0, 0, 992, 0),
        "n2 unpacked": (2000, 0, 2000, 0, 0),
    },
    ("best", "SELECT count(i4) FILTER (WHERE i2 = 1) FROM people"): {
        "_MENTION": (4, 0, 4, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
    },
    ("best", "SELECT count(DISTINCT i4) FILTER (WHERE i2 = 1) FROM people"): {
        "_MENTION": (4, 0, 4, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
    },
    ("best", "SELECT stddev(i4) FROM people"): {
        "_MENTION": (7, 0, 7, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
        "_INDEX": (7, 0, 7, 0, 0),
    },
    ("best", "SELECT corr(i4, n2) FROM people"): {
        "_MENTION": (36, 0, 36, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
        "_INDEX": (18, 0, 18, 0, 0),
    },
    ("best", "SELECT avg(i4) FROM people"): {
        "_MENTION": (3, 0, 3, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
        "_INDEX": (3, 0, 3, 0, 0),
    },
    ("best", "SELECT avg(i4) FROM orders"): {
        "_MENTION": (0, 2, 2, 0, 0),
        "_SORTED_ROW": (0, 2, 2, 0, 0),
        "_INDEX": (0, 2, 2, 0, 0),
    },
    ("best", "SELECT stddev(i4), avg(i4) FROM orders"): {
        "_MENTION": (0, 4, 4, 0, 0),
        "_SORTED_ROW": (0, 2, 2, 0, 0),
        "_INDEX": (0, 4, 4, 0, 0),
    },
    ("best", "SELECT min(i4), max(i4) FROM people"): {
        "_MENTION": (8, 0, 8, 0, 0),
        "_SORTED_ROW": (2, 0, 2, 0, 0),
        "_INDEX": (8, 0, 8, 0, 0),
    },
    ("best", "SELECT min(i4) FROM people WHERE i2 = 1"): {
        "_MENTION": (3, 0, 3, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
        "_INDEX": (2, 0, 2, 0, 0),
    },
    ("clipped", "SELECT avg(i4) FROM visits"): {
        "_MENTION": (0, 3, 3, 0, 0),
        "_SORTED_ROW": (0, 1, 1, 0, 0),
        "_INDEX": (0, 3, 3, 0, 0),
    },
    ("chosen", "SELECT sum(i4) FROM orders"): {
        "_MENTION": (0, 2, 2, 0, 0),
        "_SORTED_ROW": (0, 2, 2, 0, 0),
        "_INDEX": (0, 2, 2, 0, 0),
    },
    ("chosen", "SELECT avg(i4), sum(i8), min(i4) FROM orders"): {
        "_MENTION": (0, 8, 8, 0, 0),
        "_SORTED_ROW": (0, 5, 5, 0, 0),
        "_INDEX": (0, 8, 8, 0, 0),
    },
    ("best", "SELECT min(i4), count(*) FROM visits"): {
        "_MENTION": (0, 4, 4, 0, 0),
        "_SORTED_ROW": (0, 2, 2, 0, 0),
        "_INDEX": (0, 4, 4, 0, 0),
    },
    ("best", "SELECT sum(n2 * 2) FROM people"): {
        "_MENTION": (2, 0, 2, 0, 0),
        "_SORTED_ROW": (1, 0, 1, 0, 0),
        "_INDEX": (2, 0, 2, 0, 0),
    },
    (
        "best",
        "SELECT count(*) FROM (SELECT uid, i4, max(n2) AS m, count(DISTINCT i8) AS c FROM visits"
        " WHERE i2 > 1 GROUP BY uid, i4) q WHERE m > 1",
    ): {
        "_MENTION": (0, 7, 7, 0, 0),
        "_SORTED_ROW": (0, 3, 3, 0, 0),
        "_GROUPED_ROW": (0, 4, 4, 0, 0),
        "_SPREAD": (0, 3, 3, 0, 0),
        "_ROW_HEADER": (0, 0, 0, 0, 2),
        "uid octets": (0, 3000, 3000, 0, 1984),
        "uid unpacked": (0, 3000, 3000, 0, 0),
        "uid digits": (0, 3000, 3000, 0, 1018),
        "i4 octets": (0, 3000, 3000, 0, 1984),
        "i4 unpacked": (0, 4000, 4000, 0, 0),
        "i4 digits": (0, 3000, 3000, 0, 1010),
        "n2 octets": (0, 0, 0, 0, 992),
        "n2 unpacked": (0, 1000, 1000, 0, 0),
        "n2 digits": (0, 0, 0, 0, 504),
        "i8 octets": (0, 3000, 3000, 0, 1984),
        "i8 unpacked": (0, 3000, 3000, 0, 0),
        "i8 digits": (0, 3000, 3000, 0, 1018),
        "i2 octets": (0, 500, 500, 0, 0),
        "i2 unpacked": (0, 1000, 1000, 0, 0),
    },
    (
        "best",
        "SELECT count(*) FROM (SELECT uid, sum(n2) AS m FROM visits GROUP BY uid) q WHERE m > 1",
    ): {
        "_MENTION": (1, 2, 3, 0, 0),
        "_SORTED_ROW": (1, 1, 2, 0, 0),
        "_GROUPED_ROW": (0, 2, 2, 0, 0),
        "_SPREAD": (0, 1, 1, 0, 0),
        "_ROW_HEADER": (0, 0, 0, 1, 1),
        "uid octets": (0, 3000, 3000, 0, 1984),
        "uid unpacked": (0, 3000, 3000, 0, 0),
        "uid digits": (0, 3000, 3000, 0, 1018),
        "n2 octets": (0, 0, 0, 0, 992),
        "n2 unpacked": (0, 1000, 1000, 0, 0),
        "n2 digits": (0, 0, 0, 0, 504),
    },
    (
        "best",
        "SELECT count(*) FROM (SELECT uid, i4, row_number() OVER (PARTITION BY uid ORDER BY n2) AS k,"
        " first_value(i8) OVER (PARTITION BY uid ORDER BY n2) AS v FROM visits WHERE i2 > 1) q"
        " WHERE k = 1 AND i4 > 1 AND v > 2",
    ): {
        "_MENTION": (3, 11, 14, 0, 0),
        "_SORTED_ROW": (1, 2, 3, 0, 0),
        "_ROW_HEADER": (0, 0, 0, 1, 2),
        "uid octets": (0, 8000, 8000, 0, 9920),
        "uid unpacked": (0, 6000, 6000, 0, 0),
        "uid digits": (0, 2000, 2000, 0, 5090),
        "i4 octets": (500, 2000, 2500, 992, 3968),
        "i4 unpacked": (1000, 1000, 2000, 0, 0),
        "i4 digits": (0, 0, 0, 505, 2020),
        "n2 octets": (0, 10000, 10000, 0, 7936),
        "n2 unpacked": (0, 5000, 5000, 0, 0),
        "n2 digits": (0, 2000, 2000, 0, 4032),
        "i8 octets": (500, 2000, 2500, 992, 5952),
        "i8 unpacked": (1000, 2000, 3000, 0, 0),
        "i8 digits": (0, 0, 0, 509, 3054),
        "i2 octets": (0, 500, 500, 0, 0),
        "i2 unpacked": (0, 1000, 1000, 0, 0),
    },
    (
        "best",
        "SELECT count(*) FROM (SELECT uid, sum(i8) OVER (PARTITION BY uid) AS k FROM visits) q WHERE k > 1",
    ): {
        "_MENTION": (0, 6, 6, 0, 0),
        "_SORTED_ROW": (0, 2, 2, 0, 0),
        "uid octets": (0, 4000, 4000, 0, 7936),
        "uid unpacked": (0, 4000, 4000, 0, 0),
        "uid digits": (0, 1000, 1000, 0, 4072),
        "i8 octets": (0, 0, 0, 0, 3968),
        "i8 unpacked": (0, 2000, 2000, 0, 0),
        "i8 digits": (0, 0, 0, 0, 2036),
    },
    (
        "best",
        "SELECT count(*) FROM visits a JOIN orders b ON a.uid = b.uid AND a.i8 = b.n2 WHERE a.i4 > b.i2",
    ): {
        "_MENTION": (224, 14, 20, 0, 0),
        "_SORTED_ROW": (30, 2, 3, 0, 0),
        "_GROUPED_ROW": (164, 0, 4, 0, 0),
        "_HASHED_COLUMN": (0, 4, 4, 0, 0),
        "_ROW_HEADER": (0, 0, 0, 41, 4),
        "uid octets": (45000, 4000, 5500, 10912, 3968),
        "uid unpacked": (123000, 6000, 9000, 0, 0),
        "uid digits": (82000, 0, 2000, 5575, 2028),
        "i8 octets": (0, 0, 0, 4960, 1984),
        "i8 unpacked": (41000, 1000, 2000, 0, 0),
        "i8 digits": (41000, 0, 1000, 2545, 1018),
        "n2 octets": (0, 0, 0, 5952, 1984),
        "n2 unpacked": (41000, 1000, 2000, 0, 0),
        "n2 digits": (41000, 0, 1000, 3024, 1008),
        "i4 octets": (15000, 0, 500, 34720, 1984),
        "i4 unpacked": (30000, 1000, 2000, 0, 0),
        "i4 digits": (0, 0, 0, 17675, 1010),
        "i2 octets": (15000, 0, 500, 35712, 1984),
        "i2 unpacked": (30000, 1000, 2000, 0, 0),
        "i2 digits": (150, 0, 5, 18072, 1004),
        "id octets": (0, 4000, 4000, 10912, 3968),
        "id unpacked": (0, 4000, 4000, 0, 0),
        "id digits": (0, 0, 0, 5555, 2020),
    },
    ("best", "SELECT count(*) FROM visits a JOIN rates r ON a.i8 = r.k WHERE r.fee > 2"): {
        "_MENTION": (0, 5, 3, 0, 0),
        "_SORTED_ROW": (0, 1, 1, 0, 0),
        "_GROUPED_ROW": (0, 4, 2, 0, 0),
        "_ROW_HEADER": (0, 0, 0, 0, 2),
        "i8 octets": (0, 0, 0, 0, 992),
        "i8 unpacked": (0, 2000, 1000, 0, 0),
        "i8 digits": (0, 2000, 1000, 0, 509),
        "k unpacked": (0, 2000, 1000, 0, 0),
        "k digits": (0, 2000, 1000, 0, 0),
        "fee octets": (0, 500, 500, 0, 992),
        "fee unpacked": (0, 1000, 1000, 0, 0),
        "fee digits": (0, 0, 0, 0, 504),
    },
    ("joins", "SELECT count(*) FROM people a JOIN events b ON a.i4 = b.i4 WHERE b.n2 > 2"): {
        "_MENTION": (19, 0, 12, 0, 0),
        "_SORTED_ROW": (4, 0, 3, 0, 0),
        "_GROUPED_ROW": (8, 0, 2, 0, 0),
        "_HASHED_COLUMN": (3, 0, 3, 0, 0),
        "_ROW_HEADER": (0, 0, 0, 8, 0),
        "i4 octets": (7000, 0, 5500, 5952, 0),
        "i4 unpacked": (18000, 0, 9000, 0, 0),
        "i4 digits": (8000, 0, 2000, 3030, 0),
        "n2 octets": (1000, 0, 500, 4960, 0),
        "n2 unpacked": (3000, 0, 2000, 0, 0),
        "n2 digits": (0, 0, 0, 2520, 0),
        "id octets": (2000, 0, 2000, 2976, 0),
        "id unpacked": (2000, 0, 2000, 0, 0),
        "id digits": (0, 0, 0, 1515, 0),
    },
}


@pytest.mark.parametrize("policy, question", _ACCOUNTS)
def test_each_part_is_counted_as_often_as_it_is_computed(policy: str, question: str) -> None:
    block, world = _planned(question, policy)
    before, found = block_work(block, world), {}
    for lever in _ACCOUNTS[policy, question]:
        with pytest.MonkeyPatch.context() as changes:
            _changed(lever, changes)
            after = block_work(block, world)
        found[lever] = tuple(
            round(getattr(after, one) - getattr(before, one), 2) for one in _FIELDS
        )
    assert found == _ACCOUNTS[policy, question]


_PLAIN = [key for key in _ACCOUNTS if key[0] != "chosen" and not re.search("JOIN|OVER", key[1])]


@pytest.mark.parametrize("policy, question", _PLAIN)
def test_what_is_printed_is_counted(policy: str, question: str) -> None:
    """A column stands in all statements no more often than its mentions are priced; of a count that is
    written twice PostgreSQL computes one."""
    block, world = _planned(question, policy)
    before = block_work(block, world)
    printed: Counter[str] = Counter()
    for text in (one.sql for one in compile_block(block)):
        for again in set(re.findall(r'count\([a-z0-9.]*"\w+"\)', text)):
            first, *others = text.split(again)
            text = first + again + "".join(others)
        printed.update(re.findall(r'"(i2|i4|i8|n2)"', text))
    assert printed
    for column, times in printed.items():
        with pytest.MonkeyPatch.context() as changes:
            _changed(f"{column} unpacked", changes)
            after = block_work(block, world)
        assert after.single_nanoseconds - before.single_nanoseconds >= 1_000 * times


@pytest.mark.parametrize(
    "policy, question, statements",
    [
        ("best", "SELECT count(*) FROM people", 1),
        ("best", "SELECT i4, count(*) FROM people GROUP BY i4", 1),
        ("best", "SELECT min(i4), max(i4) FROM people", 2),
        ("best", "SELECT avg(i4) FROM orders", 2),
        ("best", "SELECT avg(i4), count(*) FROM orders", 3),
        ("chosen", "SELECT sum(i4) FROM orders", 2),
    ],
)
def test_statements_that_read_the_rows(policy: str, question: str, statements: int) -> None:
    assert work._statements(_planned(question, policy)[0]) == statements


@pytest.mark.parametrize("statements", [1, 3])
def test_each_statement_groups_the_rows_again(
    statements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = "SELECT uid, max(i4) AS k FROM visits GROUP BY uid"
    block, world = _planned(f"SELECT sum(k) FROM ({below}) q")
    monkeypatch.setattr(work, "_statements", lambda _: statements)
    before = block_work(block, world).stored_nanoseconds
    _changed("_GROUPED_ROW", monkeypatch)
    assert block_work(block, world).stored_nanoseconds == before + 2 * statements


def test_what_is_read_again_takes_as_long_again_and_no_more_room() -> None:
    found = UnitWork(nanoseconds=1, single_nanoseconds=2, stored_nanoseconds=3, octets=4, rows=5)
    found.repeat(3)
    assert [getattr(found, name) for name in _FIELDS] == [3, 9, 6, 4, 0]
    assert found.rows == 5


_LISTED = {
    ("r1", name): NodePrice(0.0, ResultSize(0)) for name in ("d", "ts", "t", "i2", "i4", "free")
}
_DAY, _MOMENT = Constant("2001-01-01", SqlType.DATE), Constant("2001-01-01", SqlType.TIMESTAMP)
_WHOLE, _LARGE = (Constant(Fraction(one), SqlType.INT4) for one in (1, 2**40))


@pytest.mark.parametrize(
    ("operand", "item", "several", "each", "once"),
    [
        (ColumnRef("d", SqlType.DATE, None, "r1"), _DAY, 10, 80 + 40, 2_000 + 400),
        (ColumnRef("d", SqlType.DATE, None, "r1"), _MOMENT, 10, 400 + 40, 2_000 + 400),
        (ColumnRef("d", SqlType.DATE, None, "r1"), _MOMENT, 5, 200, 0),
        (ColumnRef("i4", SqlType.INT4, None, "r1"), _WHOLE, 10, 80 + 40, 2_000 + 400),
        (ColumnRef("i4", SqlType.INT4, None, "r1"), _WHOLE, 5, 50, 0),
        (ColumnRef("i4", SqlType.INT4, None, "r1"), _LARGE, 10, 400 + 40, 2_000 + 400),
        (ColumnRef("t", SqlType.TEXT, None, "r1"), Constant("", None), 10, 80 + 120, 2_000 + 1_200),
        (Constant("a", None), Constant("", None), 10, 81 + 120, 2_000 + 1_200),
    ],
)
def test_a_list_is_hashed_or_compared(
    operand: Expression, item: Constant, several: int, each: float, once: float
) -> None:
    found = expression_price(In(operand, (item,) * several), _LISTED, 1024)
    alone = expression_price(In(operand, (item,)), _LISTED, 1024)
    other = 10 if each // several < 40 else 40
    assert (found.nanoseconds - alone.nanoseconds, found.once) == (each - other, once)


@pytest.mark.parametrize(
    ("operand", "value", "is_hashed"),
    [
        (_WHOLE, Fraction(2**31), True),
        (ColumnRef("i4", SqlType.INT4, None, "r1"), None, True),
        (ColumnRef("i4", SqlType.INT4, None, "r1"), Fraction(-(2**31)), True),
        (ColumnRef("i4", SqlType.INT4, None, "r1"), Fraction(-(2**31) - 1), False),
        (ColumnRef("f", SqlType.FLOAT4, None, "r1"), Fraction(0), False),
    ],
)
def test_a_column_of_integers_holds_all_items_of_a_hashed_list(
    operand: Expression, value: Fraction | None, is_hashed: bool
) -> None:
    assert is_hashed_list(In(operand, (Constant(value, SqlType.INT8),))) is is_hashed


def test_a_public_list_of_another_type_of_time_is_cast_for_each_row() -> None:
    rates = TableName("w", "rates")
    alike, cast, number = (
        expression_price(InPublic(operand, rates, "l", output, None), _LISTED, 1024).nanoseconds
        for operand, output in (
            (ColumnRef("d", SqlType.DATE, None, "r1"), ColumnRef("d", SqlType.DATE, None, "l")),
            (
                ColumnRef("d", SqlType.DATE, None, "r1"),
                ColumnRef("d", SqlType.TIMESTAMP, None, "l"),
            ),
            (Constant("a", None), ColumnRef("t", SqlType.TEXT, None, "l")),
        )
    )
    assert cast - alike == 40 * limits.PUBLIC_LIST_ELEMENTS
    assert number < cast


def test_a_selection_reads_the_rows_once_more() -> None:
    of_mean, _ = _planned("SELECT avg(i4) FROM orders")
    of_keys, _ = _planned("SELECT i4, count(*) FROM orders GROUP BY i4")
    assert of_keys.selection is not None
    assert work._statements(replace(of_mean, selection=of_keys.selection)) == 3
    assert work._statements(replace(of_mean, releases=())) == 1


def test_values_by_which_bounds_are_chosen_are_computed_too() -> None:
    block, world = _planned("SELECT sum(i4) FROM people")
    (release,) = block.releases
    measured = release.of[0]  # type: ignore[union-attr,index]
    chosen: Any = SimpleNamespace(measured=measured, number=9, choice=None)
    block = replace(block, value_choices=(chosen,))
    before = block_work(block, world).nanoseconds
    with pytest.MonkeyPatch.context() as changes:
        _changed("_INDEX", changes)
        assert block_work(block, world).nanoseconds == before + 4


def test_only_a_numeric_is_divided_by_the_grid_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "multiply_nanoseconds", lambda *_: 1e6)
    cut, divided, computed = (
        block_work(*_planned(f"SELECT sum({operand}) FROM people")).nanoseconds
        for operand in ("i4", "n2", "i4 + i2")
    )
    assert cut < 1e6 < min(divided, computed)


def test_the_place_of_a_row_is_a_column_where_it_is_mentioned() -> None:
    world, scan = World(POLICIES["world"], CATALOG), Scan("r", TableName(SCHEMA, "events"))
    place = ("r", "ctid")
    assert set(work._Pricer(world, frozenset((place,))).level(scan).columns) == {place}
    assert not work._Pricer(world, frozenset()).level(scan).columns


def test_the_most_rows_of_a_level_are_told() -> None:
    joined, world = _planned("SELECT count(*) FROM visits a JOIN orders b ON a.uid = b.uid")
    assert block_work(joined, world).rows == 30 + 6 + 5


def test_work_of_two_blocks() -> None:
    """Files of the first are gone when the second is read."""
    one = UnitWork(octets=5, stored_octets=3, rows=2, nanoseconds=1)
    other = UnitWork(octets=2, stored_octets=7, rows=9, nanoseconds=4)
    for found in (one.plus(other), other.plus(one)):
        assert (found.octets, found.stored_octets) == (5, 7)
        assert (found.rows, found.nanoseconds) == (9, 5)


def test_rows_that_may_be_read_are_as_many_as_both_currencies_pay_for() -> None:
    time, room = limits.UNIT_NANOSECONDS, limits.UNIT_CARRIED_BYTES
    assert UnitWork().most_stored == min(time, room)
    assert UnitWork(stored_nanoseconds=time / 5, stored_octets=room / 9).most_stored == 5
    assert UnitWork(stored_nanoseconds=time / 9, stored_octets=room / 5).most_stored == 5
    assert UnitWork(nanoseconds=2 * time).most_stored == 0


def test_a_row_that_is_dear_in_either_currency() -> None:
    assert UnitWork(stored_nanoseconds=limits.ROW_NANOSECONDS + 1).is_dear_for_each
    assert UnitWork(stored_octets=limits.ROW_CARRIED_BYTES + 1).is_dear_for_each
    assert not UnitWork(stored_nanoseconds=limits.ROW_NANOSECONDS).is_dear_for_each


def test_refusals_say_what_helps() -> None:
    long = UnitWork(dearest=work_prices.Dearest(9.0, "ln()", 400))
    pairs = UnitWork(rows=9_000, dearest=work_prices.Dearest(9.0, "ln()", 4))
    few = UnitWork(rows=9, dearest=work_prices.Dearest(9.0, "ln()", 4))
    assert "round(x, 2)" in work._hint(long)
    assert "aggregate one side" in work._hint(pairs)
    assert work._hint(few) == "Use ln() fewer times."
    assert "each row" in work._too_slow(few, 1.0, each=True).message
    assert "up to 9 rows" in work._too_slow(few, 1.0).message
    assert work._seconds(0.2516) == "0.252 seconds" and work._seconds(123.4) == "123 seconds"


@pytest.mark.parametrize(
    "table, limit, message",
    [
        ("people", "UNIT_NANOSECONDS", "the rows of one privacy unit could keep the database busy"),
        ("people", "UNIT_CARRIED_BYTES", "of temporary files"),
        ("people", "EXPANDED_NODES", "too large together"),
        ("orders", "ROW_NANOSECONDS", "each row of a privacy unit"),
        ("orders", "ROW_CARRIED_BYTES", "each row of a privacy unit"),
        ("orders", "UNIT_NANOSECONDS", "each row of a privacy unit"),  # a single one
    ],
)
def test_limits_refuse_statements(
    table: str, limit: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    block, world = _planned(f"SELECT sum(n2) FROM {table}")
    check_work([block], world)
    monkeypatch.setattr(limits, limit, 1)
    with pytest.raises(TooMuchWork, match=message) as caught:
        check_work([block], world)
    assert caught.value.hint


def test_what_is_not_known_is_refused() -> None:
    block, world = _planned("SELECT sum(i4) FROM people")
    unknown: Any = object()
    with pytest.raises(TooMuchWork, match="no known cost: object"):
        check_work([replace(block, releases=(unknown,))], world)
    joined = "SELECT count(*) FROM visits a JOIN orders b ON a.uid = b.uid"
    block, world = _planned(joined)
    join = block.source
    assert isinstance(join, Join)
    assert isinstance(join.left, Truncate) and isinstance(join.right, Truncate)
    uncut = replace(block, source=replace(join, left=join.left.source, right=join.right.source))
    with pytest.raises(TooMuchWork, match="multiply in this join without a bound"):
        check_work([uncut], world)


def test_stored_texts_have_their_usual_price_and_a_single_one_the_longest() -> None:
    found = block_work(*_planned("SELECT count(*) FROM people WHERE t LIKE '%x%'"))
    assert found.nanoseconds < found.single_nanoseconds
    found = block_work(*_planned("SELECT count(*) FROM people WHERE i4 > 1"))
    assert found.nanoseconds == found.single_nanoseconds


def test_a_computed_key_may_be_longer_than_a_stored_one() -> None:
    """So that the rows are priced a second time: a single one by its first characters, as they are sorted."""
    found = block_work(
        *_planned("SELECT count(DISTINCT lpad(s, 1000) || lpad(s, 999)) FROM people")
    )
    assert found.nanoseconds != found.single_nanoseconds


def test_a_text_inside_of_a_short_value_may_be_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "identifying", lambda table, _: {one.name for one in table.columns})
    for condition, is_long in (("j ->> 'a' LIKE '%x%'", True), ("t LIKE '%x%'", False)):
        found = block_work(*_planned(f"SELECT count(*) FROM people WHERE {condition}"))
        assert (found.single_nanoseconds > found.nanoseconds) == is_long


@pytest.mark.parametrize("condition, times", [("", 1), ("AND a.m > b.i4", 2)])
def test_a_join_carries_what_is_mentioned(
    condition: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the group that computes it, and by the join if anything above asks for it."""
    below = "SELECT uid, max(i8) AS m FROM visits GROUP BY uid"
    question = f"SELECT count(*) FROM ({below}) a JOIN orders b ON a.uid = b.uid {condition}"
    octets = []
    for digits in (10, 1_000):
        monkeypatch.setattr(work._Pricer, "_aggregated", lambda *_, n=digits: ResultSize(n))
        found = block_work(*_planned(question))
        octets.append(found.octets + found.stored_octets)
    assert octets[1] - octets[0] == times * (1_000 // 2)


def test_a_join_compares_no_more_of_a_text_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer ones equal none (compiler/full_joins.py)."""
    block, world = _planned("SELECT count(*) FROM visits a JOIN orders b ON a.uid = b.uid")
    _changed("uid octets", monkeypatch)
    whole = block_work(block, world).nanoseconds
    monkeypatch.setattr(limits, "JOINED_TEXT_OCTETS", 10)
    assert whole - block_work(block, world).nanoseconds == 30 * 1.5 * (1_000 - 10)


def test_what_names_a_unit_is_never_long() -> None:
    for condition, is_long in (("uid < 'x'", False), ("t < 'x'", True)):
        found = block_work(*_planned(f"SELECT count(*) FROM notes WHERE {condition}"))
        assert (found.single_nanoseconds > found.stored_nanoseconds) == is_long


@pytest.mark.parametrize("name, columns", [("regions", {"t"}), ("orders", {"id", "uid"})])
def test_identifying_columns(name: str, columns: set[str]) -> None:
    world = World(POLICIES["world"], CATALOG)
    table = CATALOG.tables[TableName(SCHEMA, name)]
    assert identifying(table, scan_rule(Scan("r", table.name), world)) == columns


def test_a_stored_row_has_a_place_in_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer values are beside it; what a group computes is carried whole."""
    for size_of in ("column_size", "longest_size"):
        monkeypatch.setattr(work, size_of, lambda *_: ResultSize(0, 0, 4_000))
    conditions = ["i4 > 1", "i2 > 1", "i8 > 1", "n2 > 1"]
    stored, grouped = [], []
    for count in range(1, 5):
        where = " AND ".join(conditions[:count])
        stored.append(block_work(*_planned(f"SELECT count(*) FROM people WHERE {where}")).octets)
        below = "SELECT uid, max(i4) AS i4, max(i2) AS i2, max(i8) AS i8, max(n2) AS n2 FROM visits"
        above = f"SELECT count(*) FROM ({below} GROUP BY uid) q WHERE {where}"
        grouped.append(block_work(*_planned(above)).octets)
    assert stored[0] < stored[1] < stored[2] == stored[3]
    assert grouped == sorted(set(grouped))


def _of_numbers(size: ResultSize) -> tuple[Any, Any]:
    pricer = work._Pricer(World(POLICIES["world"], CATALOG), frozenset())
    level = pricer.level(Scan("r", TableName(SCHEMA, "visits")))
    return pricer, replace(level, columns={("r", "few"): NodePrice(1.0, size)})


def test_sizes_of_aggregates() -> None:
    """A mean has twenty digits after the point, or what its operand has."""
    for size, after in ((ResultSize(5, 2), 20), (ResultSize(5, 50), 50)):
        pricer, level = _of_numbers(size)
        mean = Aggregate(AggregateKind.AVG, _c("few"), None, SqlType.NUMERIC)
        assert pricer._aggregated(mean, level).after == after
        assert pricer._aggregated(replace(mean, kind=AggregateKind.MAX), level) == size
        window: Any = SimpleNamespace(aggregate=mean, operand=None)
        assert pricer._window_size(window, level).after == after
        window.aggregate, window.operand = None, _c("few")
        assert pricer._window_size(window, level) == size
        window.operand = None
        assert pricer._window_size(window, level) == work._COUNT
        with pytest.raises(NotPriced, match="var_pop"):
            pricer._aggregated(replace(mean, kind=AggregateKind.VAR_POP), level)


def test_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "truncation_rule", lambda _, known, __: known)
    block, world = _planned("SELECT count(*) FROM visits a JOIN orders b ON a.uid = b.uid")
    assert isinstance(block.source, Join)
    cut = block.source.left
    assert isinstance(cut, Truncate) and cut.by is not None
    columns = {name: ColumnRef(name, kind, None, cut.alias) for name, kind in _OF_CUTS.items()}

    def price(truncate: Truncate) -> tuple[float, set[str]]:
        pricer = work._Pricer(world, frozenset((cut.alias, name) for name in columns))
        level = pricer.level(truncate)
        return pricer.tally.stored_nanoseconds, {name for _, name in level.columns}

    plain, names = price(replace(cut, columns=("uid", "n2")))
    assert names == {"uid", "n2"}
    where = Comparison(Comparator.GT, columns["n2"], columns["n2"])
    assert price(replace(cut, columns=("uid", "n2"), where=where))[0] > plain
    for ordered, looks in ((("id",), 0), (("id", "iv"), 1)):
        by = replace(cut, ordered_by=tuple(columns[name] for name in ordered))
        before, _ = price(by)
        with monkeypatch.context() as changes:
            _changed("_LOOK", changes)
            assert price(by)[0] == before + looks
    alone = replace(cut, by=None, most=None, ordered_by=())
    before, _ = price(alone)
    with monkeypatch.context() as changes:
        _changed("_SORTED_ROW", changes)
        assert price(alone)[0] == before  # nothing is sorted


_OF_CUTS = {
    "uid": SqlType.INT8,
    "id": SqlType.INT4,
    "n2": SqlType.NUMERIC,
    "i4": SqlType.INT4,
    "iv": SqlType.DURATION,
}


def test_rows_that_a_join_does_not_repeat_have_the_usual_price() -> None:
    question = "SELECT count(*) FROM members a JOIN orders b ON a.uid = b.uid WHERE b.t LIKE '%x%'"
    found = block_work(*_planned(question))
    assert found.nanoseconds + found.stored_nanoseconds < found.single_nanoseconds


def test_texts_that_a_join_repeats_are_not_as_stored() -> None:
    block, world = _planned(
        "SELECT count(*) FROM visits a JOIN orders b ON a.uid = b.uid WHERE a.t = 'x' AND b.i4 > 1"
    )
    stored = {name for _, name in columns_as_stored(block, world)}
    assert "i4" in stored and "t" not in stored


def test_texts_in_order_are_compared_up_to_the_end_of_the_shorter() -> None:
    whole = _price(_is("long", "long", _LT))
    assert whole > 5 * max(_price(_is("long", "short", _LT)), _price(_is("short", "long", _LT)))


def test_all_arms_and_conditions_are_nodes() -> None:
    arms = Case(((_c("few"), _c("many")),), _c("short"), SqlType.NUMERIC)
    found = expression_price(arms, _COLUMNS, 1024)
    assert (found.nodes, found.size.before, found.size.octets) == (4, 500, 40)


def test_a_base_is_raised_to_both_ends() -> None:
    for low, high in (("0", "50"), ("-50", "0")):
        raised = _size(_real(RealFunction.RAISED, _cut(_c("few"), low, high), "10"))
        assert raised.before > 50 if high == "50" else raised.after > 50
