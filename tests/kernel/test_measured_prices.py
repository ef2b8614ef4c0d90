"""No node takes longer than its price: measured on PostgreSQL, by the processor time of its backend."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import value_sql
from proxy.kernel.work_prices import NodePrice, ResultSize, expression_price, type_size
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    Expression,
    In,
    Like,
    NumericCall,
    NumericFunction,
    Operator,
    Quotient,
    RealCall,
    RealFunction,
    TextCall,
    TextFunction,
)
from tests.machine_speed import allowed_work
from tests.servers_fixture import servers

pytestmark = [pytest.mark.long, pytest.mark.timed]

_X, _Y = (ColumnRef(name, SqlType.NUMERIC, None, "p") for name in "xy")
_T = ColumnRef("t", SqlType.TEXT, None, "p")
_NUMERIC = SqlType.NUMERIC
_OCTETS = 16_384
_DIGITS = str(7**4_000).replace("0", "")


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection]:
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as opened:
        opened.execute("SET jit = off; SET max_parallel_workers_per_gather = 0")
        opened.execute("SET work_mem = '256MB'")
        yield opened


def _number(digits: int, after: int) -> str:
    found = _DIGITS[:digits]
    return f"{found[: digits - after]}.{found[digits - after :]}"


def _nanoseconds(connection: psycopg.Connection, expression: str, row: str, rows: int) -> float:
    """Of the expression on one row, less that of reading the row; the least of three."""
    connection.execute("DROP TABLE IF EXISTS p")
    made = f"CREATE TABLE p AS SELECT {row} FROM generate_series(1, {rows}) g"
    connection.execute(made.encode())
    connection.execute("VACUUM ANALYZE p")
    process = Path(f"/proc/{connection.info.backend_pid}/schedstat")

    def taken(counted: str) -> int:
        found = []
        for _ in range(3):
            before = int(process.read_text().split()[0])
            connection.execute(f"SELECT count({counted}) FROM p AS p".encode()).fetchone()
            found.append(int(process.read_text().split()[0]) - before)
        return min(found)

    return (taken(expression) - taken("p")) / rows


_ON_NUMBERS: dict[str, tuple[str, Expression]] = {
    "*": ("x * y", Arithmetic(Operator.MULTIPLY, _X, _Y, _NUMERIC)),
    "+": ("x + y", Arithmetic(Operator.ADD, _X, _Y, _NUMERIC)),
    "/": ("x / y", Quotient(_X, _Y, False, _NUMERIC)),
    "%": ("mod(x, y)", Quotient(_X, _Y, True, _NUMERIC)),
    "<": ("(x < y) OR NULL", Comparison(Comparator.LT, _X, _Y)),
    "sqrt": ("sqrt(x)", RealCall(RealFunction.SQRT, _X, None, _NUMERIC)),
    "ln": ("ln(x)", RealCall(RealFunction.LN, _X, None, _NUMERIC)),
    "log": ("log(2.5, x)", RealCall(RealFunction.LOG, _X, Fraction(5, 2), _NUMERIC)),
    "power": ("power(x, 2.5)", RealCall(RealFunction.POWER, _X, Fraction(5, 2), _NUMERIC)),
}


@pytest.mark.parametrize("digits", [8, 40, 100, 400, 1_600])
@pytest.mark.parametrize("node", _ON_NUMBERS)
def test_numbers(connection: psycopg.Connection, node: str, digits: int) -> None:
    expression, priced = _ON_NUMBERS[node]
    after = digits - 4
    row = f"{_number(digits, after)}::numeric + 0 * g AS x, {_number(digits, after)}::numeric + 0 * g AS y"
    size = ResultSize(4, after)
    columns = {("p", "x"): NodePrice(0.0, size), ("p", "y"): NodePrice(0.0, size)}
    price = expression_price(priced, columns, 0).nanoseconds
    rows = max(20, min(20_000, int(1e8 / price)))
    assert _nanoseconds(connection, expression, row, rows) <= allowed_work(price)


def _clamped(low: str, high: str) -> Clamped:
    return Clamped(_X, Fraction(low), Fraction(high), _NUMERIC)


_LARGE: dict[str, tuple[str, str, RealCall]] = {
    "exp(690)": (
        "exp(x)",
        "690.1",
        RealCall(RealFunction.EXP, _clamped("0", "691"), None, _NUMERIC),
    ),
    "ln(1e-300)": (
        "ln(x)",
        "1e-300",
        RealCall(RealFunction.LN, _clamped("1e-300", "1"), None, _NUMERIC),
    ),
    "power(1000.5, 90.5)": (
        "power(x, 90.5)",
        "1000.5",
        RealCall(RealFunction.POWER, _clamped("1", "1001"), Fraction("90.5"), _NUMERIC),
    ),
    "power(2.5, 700.5)": (
        "power(2.5, x)",
        "700.5",
        RealCall(RealFunction.RAISED, _clamped("0", "701"), Fraction("2.5"), _NUMERIC),
    ),
}


@pytest.mark.parametrize("call", _LARGE)
def test_large_results(connection: psycopg.Connection, call: str) -> None:
    expression, number, priced = _LARGE[call]
    after = 300 if "e-" in number else 1
    columns = {("p", "x"): NodePrice(0.0, ResultSize(4, after))}
    price = expression_price(priced, columns, 0).nanoseconds
    assert _nanoseconds(
        connection, expression, f"{number}::numeric + 0 * g AS x", 500
    ) <= allowed_work(price)


def _text_call(function: TextFunction, *arguments: str) -> TextCall:
    constants = tuple(Constant(one, SqlType.TEXT) for one in arguments)
    return TextCall(function, _T, constants, SqlType.TEXT)


def _like(pattern: str, *, ignore_case: bool = False) -> Like:
    return Like(_T, Constant(pattern, SqlType.TEXT), ignore_case)


_LITERAL = "%" + "a" * 253 + "b%"
_SET = "b" * 99 + "a"
_ON_TEXTS: dict[str, tuple[str, Expression]] = {
    "lower": ("lower(t)", _text_call(TextFunction.LOWER)),
    "upper": ("upper(t)", _text_call(TextFunction.UPPER)),
    "initcap": ("initcap(t)", _text_call(TextFunction.INITCAP)),
    "reverse": ("reverse(t)", _text_call(TextFunction.REVERSE)),
    "length": ("length(t)", TextCall(TextFunction.LENGTH, _T, (), SqlType.INT4)),
    "rtrim": (f"rtrim(t, '{_SET}')", _text_call(TextFunction.RTRIM, _SET)),
    "strpos": (
        f"strpos(t, 'b{'a' * 255}')",
        TextCall(TextFunction.STRPOS, _T, (Constant("b" + "a" * 255, SqlType.TEXT),), SqlType.INT4),
    ),
    "replace": (
        "replace(t, 'a', 'cccccccccccccccc')",
        _text_call(TextFunction.REPLACE, "a", "c" * 16),
    ),
    "LIKE": (f"(t LIKE '{_LITERAL}') OR NULL", _like(_LITERAL)),
    "ILIKE": (
        f"(t ILIKE '{_LITERAL}') OR NULL",
        _like(_LITERAL, ignore_case=True),
    ),
    "LIKE %": (f"(t LIKE '{'%a' * 99}%b') OR NULL", _like("%a" * 99 + "%b")),
}
_SAME = f"repeat('a', {_OCTETS}) AS t"
_MIXED = f"'{bin(7**6_000)[3:][:_OCTETS].translate({48: 97, 49: 98})}' || (g % 7) AS t"


@pytest.mark.parametrize("row", [_SAME, _MIXED], ids=["one letter", "two letters"])
@pytest.mark.parametrize("node", _ON_TEXTS)
def test_texts(connection: psycopg.Connection, node: str, row: str) -> None:
    expression, priced = _ON_TEXTS[node]
    columns = {("p", "t"): NodePrice(0.0, ResultSize(0, 0, _OCTETS))}
    price = expression_price(priced, columns, 0).nanoseconds
    assert _nanoseconds(connection, expression, row, 60) <= allowed_work(price)


def _list(kind: SqlType, items: tuple[Constant, ...]) -> In:
    return In(ColumnRef("v", kind, None, "p"), items)


def _days(kind: SqlType) -> tuple[Constant, ...]:
    first = date(1990, 1, 1)
    return tuple(Constant(f"{first + timedelta(days=n)}", kind) for n in range(2_000))


def _integers(kind: SqlType, last: int = 0) -> tuple[Constant, ...]:
    return tuple(Constant(Fraction(one), kind) for one in (*range(1, 2_000), last))


def _of_one_hash() -> tuple[Constant, ...]:
    """hashint8() folds both halves of a number."""
    return tuple(
        Constant(Fraction(high << 32 | high ^ 5), SqlType.INT8) for high in range(1, 2_001)
    )


_ON_LISTS: dict[str, tuple[str, In]] = {
    "of one hash": ("5::bigint", _list(SqlType.INT8, _of_one_hash())),
    "integers": ("7000::integer", _list(SqlType.INT4, _integers(SqlType.INT4))),
    "one beyond them": ("7000::integer", _list(SqlType.INT4, _integers(SqlType.INT8, 2**31))),
    "reals": ("7000::real", _list(SqlType.FLOAT4, _integers(SqlType.FLOAT8))),
    "days": ("DATE '2010-01-01'", _list(SqlType.DATE, _days(SqlType.DATE))),
    "timestamps": ("DATE '2010-01-01'", _list(SqlType.DATE, _days(SqlType.TIMESTAMP))),
    "instants": ("DATE '2010-01-01'", _list(SqlType.DATE, _days(SqlType.TIMESTAMPTZ))),
    "days among instants": (
        "TIMESTAMPTZ '2030-01-01'",
        _list(SqlType.TIMESTAMPTZ, (*_days(SqlType.DATE), *_days(SqlType.TIMESTAMPTZ)[:1])),
    ),
}


@pytest.mark.parametrize("of", _ON_LISTS)
def test_lists(connection: psycopg.Connection, of: str) -> None:
    value, listed = _ON_LISTS[of]
    binds = Binds()
    printed = psycopg.ClientCursor(connection).mogrify(
        value_sql(listed, binds).encode(), binds.values
    )
    price = expression_price(listed, {("p", "v"): NodePrice(0.0, ResultSize(10))}, 0).nanoseconds
    rows = (
        2_000 if price > 10_000 else 100_000
    )  # to make the table of hashes takes as long as 2,000 rows
    row = f"CASE WHEN g < 0 THEN NULL ELSE {value} END AS v"
    assert _nanoseconds(connection, f"{printed} OR NULL", row, rows) <= allowed_work(price)


_ROUNDED = Clamped(
    NumericCall(NumericFunction.ROUND, _clamped("1", "9"), 1_000, _NUMERIC),
    Fraction(1),
    Fraction(9),
    _NUMERIC,
)


@pytest.mark.parametrize("function", [RealFunction.LN, RealFunction.SQRT, RealFunction.EXP])
def test_zeros_that_are_asked_for_are_digits(
    connection: psycopg.Connection, function: RealFunction
) -> None:
    columns = {("p", "x"): NodePrice(0.0, ResultSize(1, 0))}
    price = expression_price(RealCall(function, _ROUNDED, None, _NUMERIC), columns, 0).nanoseconds
    expression = f"{function.value}(round(x, 1000))"
    assert _nanoseconds(connection, expression, "3::numeric AS x", 50) <= allowed_work(price)


@pytest.mark.parametrize("function", [RealFunction.LN, RealFunction.SQRT, RealFunction.EXP])
def test_numbers_without_a_scale_are_as_long_as_any(
    connection: psycopg.Connection, function: RealFunction
) -> None:
    """A plan may leave them as long as they are stored."""
    columns = {("p", "x"): NodePrice(0.0, type_size(_NUMERIC, 0))}
    call = RealCall(function, _clamped("1", "9"), None, _NUMERIC)
    price = expression_price(call, columns, 0).nanoseconds
    row = f"{_number(16_000, 15_999)}::numeric AS x"
    assert _nanoseconds(connection, f"{function.value}(x)", row, 20) <= allowed_work(price)


def test_ends_of_buckets_are_digits(connection: psycopg.Connection) -> None:
    end = Fraction(1, 2**4_000)
    bucket = Bucket(_clamped("1", "9"), end, 9 + end, 10)
    columns = {("p", "x"): NodePrice(0.0, ResultSize(1, 0))}
    price = expression_price(bucket, columns, 0).nanoseconds
    low, high = decimal_text(end), decimal_text(9 + end)
    expression = f"width_bucket(x, {low}::numeric, {high}::numeric, 10)"
    assert _nanoseconds(connection, expression, "3::numeric AS x", 2_000) <= allowed_work(price)
