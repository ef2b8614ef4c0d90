"""Operands that are computed in whole numbers, and once per row, beside the SQL in numeric that has neither."""

from __future__ import annotations

import functools
import random  # noqa: TID251  the same statements in every run
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from operator import add, mul, sub
from typing import Any

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.cli.assembly import Database
from proxy.compiler import row_scan, unit_gathering
from proxy.compiler.binds import Binds
from proxy.compiler.whole_numbers import Whole, whole
from proxy.kernel.known_values import Value, stored_value
from proxy.kernel.plan import BlockPlan, RecentredMean
from proxy.kernel.statistics import Measured, factors_of
from proxy.kernel.world import World
from proxy.policy.policy_model import Bounds
from proxy.protected.reading_settings import SESSION
from proxy.query.ir.expressions import Arithmetic, Clamped, ColumnRef, Constant, Expression
from proxy.query.ir.function_names import Operator
from tests.kernel.examples import checked_block, of_table
from tests.kernel.holes import block_of
from tests.kernel.tiny_database import tiny_database
from tests.live.served_database import planned, served_database
from tests.pipeline_world import CATALOG, POLICIES, walk
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block, compile_centres, compile_choices

# Rows of people, of persons with several, and of persons in another table.
_TABLES = ("people", "events", "visits", "orders", "members", "lines")
_COLUMNS = ("n2", "i2", "i4", "i8", "n")
_KEYS = ("", "", "b", "c")
_ONE = Fraction(1)


def _operand(draw: random.Random) -> str:
    parts = [draw.choice(_COLUMNS)]
    for _ in range(draw.randint(1, 3)):
        constant = draw.choice(("1", "0.5", "-2", "0.125", "7"))
        other = draw.choice((*_COLUMNS, f"({constant} - {draw.choice(_COLUMNS)})", constant))
        parts += [draw.choice("+-**"), other]
    return " ".join(parts)


def _question(draw: random.Random) -> str:
    made = [
        f"sum({_operand(draw)})",
        f"avg({_operand(draw)})",
        "sum(n2)",
        "count(*)",
        "avg(i4 * n2)",
    ]
    made += [f"variance({_operand(draw)})", "sum(n2 * i4) FILTER (WHERE i8 > 3)", "max(n2 * i4)"]
    made += ["count(DISTINCT i4)", "count(i8) FILTER (WHERE n2 > 5)"]
    asked, key = ", ".join(draw.sample(made, 3)), draw.choice(_KEYS)
    where = draw.choice(("", " WHERE n2 > 20", " WHERE i4 < i8 AND n2 * i4 > 5"))
    by = f" GROUP BY {key}" if key else ""
    return f"SELECT {key + ', ' if key else ''}{asked} FROM {draw.choice(_TABLES)}{where}{by}"


def _plain(part: Any) -> Any:
    """The same without factors."""
    if isinstance(part, tuple):
        return tuple(map(_plain, part))
    if isinstance(part, Measured):
        return replace(part, factors=())
    if not any(hasattr(part, name) for name in ("of", "measured", "release")):
        return part
    changed = {n: _plain(getattr(part, n)) for n in ("of", "measured") if hasattr(part, n)}
    return replace(part, **changed)


def _rows(hostile: psycopg.Connection, block: BlockPlan) -> tuple[list[list[str]], str]:
    """What all its statements give, and their texts."""
    queries = [*compile_block(block)]
    queries += [one for one in (compile_choices(block),) if one is not None]
    found, texts = [], []
    for query in queries:
        parameters = {**query.parameters, **dict.fromkeys(query.seeds, 42)}
        rows = hostile.execute(query.sql.encode(), parameters).fetchall()
        if set(query.releases) <= set(block.deviation_means) and query.releases:
            # Each unit is counted in one of its groups, whichever comes first.
            keys = len(block.keys)
            units = Counter[tuple[object, ...]]()
            for row in rows:
                units[row[keys : keys + 2]] += row[-1]
            rows = [row[:-1] for row in rows] + [(*one, count) for one, count in units.items()]
        # A sum of integers is a bigint or a numeric.
        found.append(sorted(repr([_value(value) for value in row]) for row in rows))
        texts.append(query.sql)
    return found, " ".join(texts)


def _value(value: object) -> object:
    return value if value is None or isinstance(value, str) else Fraction(str(value))


@pytest.fixture(scope="module")
def rows(hostile: psycopg.Connection) -> psycopg.Connection:
    """The hostile rows of people as those of the other tables."""
    more = {"events": "", "visits": ", (id % 40)::bigint AS uid", "members": ", id AS uid"}
    more["lines"] = ", id % 60 AS order_id"
    for table, column in more.items():
        hostile.execute(f"CREATE TABLE w.{table} AS SELECT *{column} FROM w.people".encode())
    return hostile


@pytest.mark.every(3)
@pytest.mark.parametrize(("policy", "count"), [("best", 40), ("best", 120), ("world", 120)])
def test_all_statements_give_the_same_rows(
    policy: str, count: int, rows: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN, infinity and NULL among them; by rows, by units, through a reference, with partitions."""
    draw, whole, once = random.Random(33), 0, 0
    for _ in range(count):
        text = _question(draw)
        try:
            pipeline = walk(text, POLICIES[policy])
        except Refusal:
            continue
        assert pipeline is not None
        for block in pipeline.plan.blocks:
            found, sql = _rows(rows, block)
            with monkeypatch.context() as patch:
                for module in (row_scan, unit_gathering):
                    patch.setattr(module, "has_computed", lambda plan: False)
                releases = _plain(block.releases)
                choices = tuple(
                    replace(c, measured=_plain(c.measured)) for c in block.value_choices
                )
                before = replace(block, releases=releases, value_choices=choices)
                expected, old = _rows(rows, before)
            assert found == expected, text
            whole += "int8smaller((" in sql and "int8smaller((" not in old
            once += " LIMIT ALL) r" in sql and " LIMIT ALL) r" not in old
    assert whole > count / 8 and once > count / 8


_SCRIPT = """\
CREATE TABLE public.sales AS
SELECT g AS id, g % 900 AS owner, (g % 977)::numeric(8, 2) AS price,
       (g % 11 / 100.0)::numeric(4, 2) AS discount, repeat('x', 200) AS note
FROM generate_series(1, 60000) g;
ALTER TABLE public.sales ADD PRIMARY KEY (id);
CREATE INDEX ON public.sales (owner) INCLUDE (price, discount);
"""
_TABLES_SOLD = """\
tables:
  public.sales:
    unit: {person: owner}
    max_rows_per_unit: 100
    columns:
      price: {bounds: [0, 1000]}
      discount: {bounds: [0, 0.1]}
"""


@pytest.mark.parametrize(
    "asked",
    ["count(*), sum(price)", "avg(price)", "min(price), max(price)", "sum(price * (1 - discount))"],
)
def test_a_covering_index_is_read_alone(asked: str) -> None:
    database, source = _sold()
    (block,) = planned(database, f"SELECT {asked} FROM public.sales").blocks
    centres = compile_centres(block)
    queries = [centres.query] if centres is not None else list(compile_block(block))
    assert queries
    with psycopg.connect(source, autocommit=True) as connection:
        for setting in SESSION:
            connection.execute(setting.encode())
        for query in queries:
            parameters = {**query.parameters, **dict.fromkeys(query.seeds, 42)}
            plan = connection.execute(f"EXPLAIN {query.sql}".encode(), parameters).fetchall()
            text = "\n".join(line for (line,) in plan)
            assert "Index Only Scan" in text and "Sort" not in text.split("Index Only Scan")[1], (
                text
            )


@functools.cache
def _sold() -> tuple[Database, str]:
    pair = servers()
    database = served_database(pair, "whole_numbers", _SCRIPT, _TABLES_SOLD, "best")
    with psycopg.connect(pair.protected.dsn("whole_numbers"), autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE) public.sales")
    return database, pair.protected.dsn("whole_numbers")


_LINES = """\
CREATE TABLE public.bought (id integer PRIMARY KEY, customer integer);
INSERT INTO public.bought SELECT g, g % 7 FROM generate_series(1, 40) g;
CREATE TABLE public.line (id integer PRIMARY KEY, bought integer NOT NULL REFERENCES public.bought,
                          price numeric(8, 2), tax numeric(4, 2), kind text);
INSERT INTO public.line
SELECT g, 1 + g % 40, CASE WHEN g % 5 > 0 THEN (g % 977) / 7.0 END,
       CASE WHEN g % 11 = 0 THEN 'NaN'::numeric ELSE g % 9 / 100.0 END, CASE g % 2 WHEN 0 THEN 'a' ELSE 'b' END
FROM generate_series(1, 900) g;
"""
_TABLES_OF_LINES = """\
tables:
  public.bought: {unit: {customer: customer}, max_rows_per_unit: 9, columns: {id: {}}}
  public.line:
    unit: {customer: bought -> public.bought.customer}
    max_rows_per_unit: 60
    columns:
      price: {bounds: [0, 120]}
      tax: {bounds: [0, 0.1]}
      kind: {values: [a, b]}
"""


@functools.cache
def _lines() -> tuple[Database, str]:
    pair = servers()
    database = served_database(pair, "whole_lines", _LINES, _TABLES_OF_LINES, "best")
    return database, pair.protected.dsn("whole_lines")


@pytest.mark.parametrize("by", ["", "kind"])
@pytest.mark.parametrize(
    "asked",
    [
        "count(*), sum(price)",
        "avg(price)",
        "sum(price * (1 - tax)), avg(tax)",
        "min(price), max(price)",
    ],
)
def test_through_a_reference_each_expression_is_computed_once(
    asked: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows than a unit may have, NULL and NaN among them; the rows are those of the SQL that computes
    each expression where it stands."""
    database, source = _lines()
    shown = f"{by}, {asked}" if by else asked
    text = f"SELECT {shown} FROM public.line{' GROUP BY kind' if by else ''}"
    (block,) = planned(database, text).blocks
    with psycopg.connect(source, autocommit=True) as connection:
        for setting in SESSION:
            connection.execute(setting.encode())
        found, sql = _rows(connection, block)
        with monkeypatch.context() as patch:
            patch.setattr(unit_gathering, "has_computed", lambda plan: False)
            expected, old = _rows(connection, block)
    assert found == expected and found
    # Never for columns alone (docs/design/backends.md 4).
    is_computed = "price *" in asked
    assert (" LIMIT ALL) r GROUP BY" in sql) == is_computed and " LIMIT ALL) r GROUP BY" not in old


def test_nothing_is_multiplied_by_what_is_no_bigint() -> None:
    nothing = Whole(step=Fraction(1), low=0, high=0, printed=lambda: "0")
    assert nothing.finer(Fraction(1, 2**62 - 1), Binds()) is not None
    assert nothing.finer(Fraction(1, 2**62), Binds()) is None
    assert nothing.finer(Fraction(2, 3), Binds()) is None


@pytest.mark.parametrize("value", [2**62, -(2**62)])
def test_a_bigint_holds_twice_what_is_computed(value: int) -> None:
    """So that what an aggregate adds or centres is one, too."""
    inside = value - (1 if value > 0 else -1)
    for number, fits in ((value, False), (inside, True)):
        constant = Constant(Fraction(number), SqlType.NUMERIC)
        assert (whole(constant, {}, Binds()) is not None) == fits
    half, one = (Constant(Fraction(n), SqlType.NUMERIC) for n in (value // 2, 1))
    for operator, more, fits in (
        (Operator.ADD, half, False),
        (Operator.SUBTRACT, half, True),
        (Operator.MULTIPLY, one, True),
        (Operator.MULTIPLY, replace(one, value=Fraction(2)), False),
    ):
        assert (
            whole(Arithmetic(operator, half, more, SqlType.NUMERIC), {}, Binds()) is not None
        ) == fits


_A, _B = (ColumnRef(name, SqlType.NUMERIC, None, "r1") for name in "ab")
_OPERATIONS = {Operator.ADD: add, Operator.SUBTRACT: sub, Operator.MULTIPLY: mul}


def _of(number: str, low: int, high: int) -> Whole:
    return Whole(step=Fraction(number), low=low, high=high, printed=lambda: "x")


def _values(of: Whole) -> list[Fraction]:
    return [of.step * number for number in range(of.low, of.high + 1)]


@pytest.mark.parametrize("operator", _OPERATIONS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (_of("1/2", -3, 5), _of("1/3", -7, 2)),
        (_of("1/10", 2, 9), _of("1/100", -20, -4)),
        (_of("1", -9, -1), _of("1/2", 1, 4)),
        (_of("3/2", 0, 3), _of("1/4", 3, 5)),
    ],
)
def test_ends_are_those_of_all_values(operator: Operator, left: Whole, right: Whole) -> None:
    """Wider ones would be no harm; with narrower ones a row could raise."""
    found = whole(Arithmetic(operator, _A, _B, SqlType.NUMERIC), {_A: left, _B: right}, Binds())
    assert found is not None
    values = [_OPERATIONS[operator](a, b) for a in _values(left) for b in _values(right)]
    assert (found.low * found.step, found.high * found.step) == (min(values), max(values))
    assert all((value / found.step).denominator == 1 for value in values)


def test_a_part_that_is_not_known_or_does_not_fit_leaves_nothing() -> None:
    a: Expression = _A
    b: Expression = _B
    few, many, fine = _of("1", -2, 2), _of("1", 0, 2**61), _of("1/4", 0, 1)
    parts: tuple[dict[Expression, Whole], ...] = (
        *({a: few}, {b: few}),
        *({a: many, b: fine}, {a: fine, b: many}),
    )
    for known in parts:
        assert whole(Arithmetic(Operator.ADD, _A, _B, SqlType.NUMERIC), known, Binds()) is None


def _balanced(terms: list[Expression]) -> Expression:
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    halves = _balanced(terms[:middle]), _balanced(terms[middle:])
    return Arithmetic(Operator.ADD, *halves, SqlType.NUMERIC)


def _of_many_factors(number: int) -> BlockPlan:
    """AVG of 0 * i8 + 0 * i8 + ..., each i8 with a clamp of its own, up to the largest index."""
    block = block_of("SELECT avg(i4 * i2) FROM people")
    (release,) = block.releases
    assert isinstance(release, RecentredMean)

    people = CATALOG.tables[TableName("w", "people")]

    def clamped(name: str, low: int, high: int) -> Clamped:
        column = of_table("r1", "people", name)
        return Clamped(column, Fraction(low), Fraction(high), column.type)

    def stored(column: ColumnRef) -> Value:
        found = people.column(column.column)
        assert found is not None
        return stored_value(found)

    nothing = clamped("i2", 0, 0)
    terms: list[Expression] = [
        Arithmetic(Operator.MULTIPLY, nothing, clamped("i8", -one, 2**52 - one), SqlType.NUMERIC)
        for one in range(number)
    ]
    operand = _balanced(terms)
    measured = Measured(
        operand=operand,
        condition=None,
        clamp=Bounds(Fraction(0), Fraction(10)),
        grid=_ONE,
        rows=1,
        factors=factors_of(operand, stored),
    )
    assert len(measured.factors) == number + 1
    return replace(block, releases=(replace(release, measured=measured),))


@pytest.mark.long
def test_no_row_makes_the_number_of_values_raise() -> None:
    """Values are counted by the sum of all indices, which a product with 0 says nothing of."""
    block, database = _of_many_factors(2_100), tiny_database()
    assert checked_block(block, World(POLICIES["best"], CATALOG)).block is block
    for value in (1, 2**53):
        database.fill(f"INSERT INTO people(id, i4, i2, i8) VALUES (1, 1, 1, {value})")
        (table,) = database.tables(block)
        assert [row.values for row in table.rows] == [(1, -10)]
