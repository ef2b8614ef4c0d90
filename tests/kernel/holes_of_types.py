"""Computed values that claim a type which PostgreSQL does not give them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.base.zones import zone_named
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import Rule
from proxy.query.ir.expressions import (
    Arithmetic,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    Comparator,
    Comparison,
    Concat,
    Constant,
    ConstantValue,
    Expression,
    Operator,
    TextCall,
    TextFunction,
)
from proxy.query.ir.relations import (
    Frame,
    Join,
    Relation,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
    WindowFunction,
)
from tests.kernel.examples import column, of_table, scan
from tests.kernel.holes import (
    Shown,
    block_of,
    hole,
    rows_that_change,
    units_of,
)

# Three rows of each unit: 1, and 1.00 twice, in no order.
_TWO_FORMS = (
    "INSERT INTO visits(id, uid, n) SELECT row_number() OVER (ORDER BY md5((u * 10 + k)::text)), u,"
    " CASE k WHEN 1 THEN 1 ELSE 1.00 END FROM generate_series(0, 3000) u, generate_series(1, 3) k"
)
_VISITOR = "DELETE FROM visits WHERE uid = 0"


def _first_form(kind: SqlType) -> BlockPlan:
    """The rows of units of which the first number is printed as 1. All of their numbers are equal."""
    number = Clamped(of_table("r1", "visits", "n"), Fraction(0), Fraction(9), SqlType.NUMERIC)
    value = Arithmetic(Operator.MULTIPLY, number, Constant(Fraction(1), SqlType.INT4), kind)
    outputs = (("uid", of_table("r1", "visits", "uid")), ("x", value))
    unit, found = column("s", "uid", SqlType.INT8), column("s", "x", kind)
    first = WindowColumn(
        name="w",
        function=WindowFunction.FIRST_VALUE,
        type=kind,
        partition=(unit,),
        order=(),
        frame=Frame.DEFAULT,
        operand=found,
        ties=(found,),
        rows=100,
    )
    numbers = Subquery("s", scan("r1", "visits"), None, outputs)
    source = Subquery("q", numbers, None, (("uid", unit),), windows=(first,))
    printed = Cast(column("q", "w", kind), SqlType.TEXT)
    block = block_of("SELECT count(*) FROM visits")
    neighbours = replace(units_of(block), column=column("q", "uid", SqlType.INT8))
    where = Comparison(Comparator.EQ, printed, Constant("1", SqlType.TEXT))
    return replace(block, source=source, where=where, neighbours=neighbours)


@hole(Rule.EXPRESSION, _TWO_FORMS, _VISITOR)
def number_that_is_called_a_uuid() -> BlockPlan:
    """Of a uuid equal values have one form, so no scale is put behind it where rows are tied."""
    return _first_form(SqlType.UUID)


@hole(Rule.WINDOW, _TWO_FORMS, _VISITOR)
def number_that_is_called_an_interval() -> BlockPlan:
    """Differences of times are numbers of seconds, which have several forms like others."""
    return _first_form(SqlType.INTERVAL)


_PEOPLE = "INSERT INTO people(id, i4, t) VALUES (1, 1, 'abc'), (2, 0, NULL)"
_FIRST = "DELETE FROM people WHERE id = 1"
_ONE = Constant(Fraction(1), SqlType.INT4)


def _people_where(condition: Expression) -> BlockPlan:
    return replace(block_of("SELECT count(*) FROM people"), where=condition)


@hole(Rule.EXPRESSION, _PEOPLE, _FIRST, shown=Shown.ERROR)
def untyped_texts_that_are_called_times() -> BlockPlan:
    """A date is read of a text that one row alone has."""
    is_first = Comparison(Comparator.EQ, of_table("r1", "people", "i4"), _ONE)
    text = Case(((is_first, Constant("x", None)),), Constant("2001-01-01", None), SqlType.TIMESTAMP)
    day = Constant("2001-01-01", SqlType.DATE)
    return _people_where(Comparison(Comparator.EQ, Cast(text, SqlType.DATE), day))


def _of_written(function: TextFunction, *numbers: str) -> BlockPlan:
    """A function of a text with numbers that are written as texts, which no rule reads."""
    few = Constant(Fraction(3), SqlType.INT4)
    text = TextCall(TextFunction.LEFT, of_table("r1", "people", "t"), (few,), SqlType.TEXT)
    written = [Constant(one, SqlType.INT4) for one in numbers]
    call = TextCall(function, text, (*written,), SqlType.TEXT)
    return _people_where(Comparison(Comparator.EQ, call, Constant("a", SqlType.TEXT)))


@hole(Rule.EXPRESSION, _PEOPLE, _FIRST, shown=Shown.ERROR)
def negative_length_that_is_a_text() -> BlockPlan:
    return _of_written(TextFunction.SUBSTR, "1", "-5")


@hole(Rule.EXPRESSION, _PEOPLE, _FIRST, shown=Shown.ERROR)
def long_padding_that_is_a_text() -> BlockPlan:
    return _of_written(TextFunction.LPAD, "2000000000")


@hole(
    Rule.EXPRESSION,
    "INSERT INTO visits(id, uid, i4) SELECT u * 10 + k, u, 1 FROM generate_series(1, 3000) u,"
    " generate_series(1, 5) k;"
    " INSERT INTO visits(id, uid, i4) SELECT 99990 + k, 0, k FROM generate_series(1, 3) k",
    _VISITOR,
)
def windows_of_orders_that_look_equal() -> BlockPlan:
    """True and 1 are equal, and two texts: one order is the other one downwards."""
    block = block_of(
        "SELECT count(*) FROM (SELECT i4, row_number() OVER (PARTITION BY uid ORDER BY i4) AS a, count(*) OVER"
        " (PARTITION BY uid ORDER BY i4 ROWS UNBOUNDED PRECEDING) AS b FROM visits) s WHERE a = b"
    )
    number = Clamped(of_table("r1", "visits", "i4"), Fraction(-9), Fraction(9), SqlType.INT4)

    def ordered(window: WindowColumn, value: ConstantValue) -> WindowColumn:
        up, down = (
            Arithmetic(Operator.MULTIPLY, number, replace(_ONE, value=side), SqlType.NUMERIC)
            for side in (Fraction(1), Fraction(-1))
        )
        text = Concat((Constant("", SqlType.TEXT), Constant(value, None)))
        is_up = Comparison(Comparator.EQ, text, Constant("true", SqlType.TEXT))
        term = replace(window.order[0], expression=Case(((is_up, up),), down, SqlType.NUMERIC))
        return replace(window, order=(term,))

    def changed(relation: Relation) -> Relation:
        assert isinstance(relation, Subquery)
        if not relation.windows:
            return replace(relation, source=changed(relation.source))
        one, other = relation.windows
        return replace(relation, windows=(ordered(one, True), ordered(other, Fraction(1))))

    return replace(block, source=changed(block.source))


@hole(
    Rule.TOTALITY,
    "INSERT INTO people(id, n) VALUES (1, ('0.' || pg_catalog.repeat('3', 16000))::numeric)",
    _FIRST,
    shown=Shown.LONG_KEY,
)
def long_number_of_seconds() -> BlockPlan:
    """A column of a subquery is short, as it is called a difference of times."""
    block = block_of("SELECT n, count(*) FROM people GROUP BY n")
    number = Clamped(of_table("r1", "people", "n"), Fraction(0), Fraction(9), SqlType.NUMERIC)
    seconds = Arithmetic(Operator.MULTIPLY, number, _ONE, SqlType.INTERVAL)
    outputs = (("id", of_table("r1", "people", "id")), ("x", seconds))
    source = Subquery("q", scan("r1", "people"), None, outputs)
    kind, person = SqlType.INTERVAL, column("q", "id", SqlType.INT4)
    key = replace(block.keys[0], expression=column("q", "x", kind), type=kind, is_long=False)
    assert isinstance(block.neighbours, RowNeighbours)
    rows = replace(block.neighbours, hashed_by=(person,))
    return replace(block, source=source, keys=(key,), neighbours=rows)


@hole(
    Rule.TOTALITY,
    "INSERT INTO people(id, iv)"
    " VALUES (1, '-178956970 years -8 mons -2147483648 days -2562047788:00:54.775807')",
    _FIRST,
    shown=Shown.LONG_KEY,
)
def key_of_long_intervals() -> BlockPlan:
    """The longest interval has more characters than the longest number or time."""
    block = block_of("SELECT n, count(*) FROM people GROUP BY n")
    text = Cast(of_table("r1", "people", "iv"), SqlType.TEXT)
    key = replace(block.keys[0], expression=Concat((text,) * 25), type=SqlType.TEXT, is_long=False)
    return replace(block, keys=(key,))


@hole(
    Rule.EXPRESSION,
    "INSERT INTO people(id, d) VALUES (1, '300000-01-01'), (2, '2001-01-01')",
    _FIRST,
    shown=Shown.ERROR,
)
def day_of_a_clock() -> BlockPlan:
    """What a clock shows is a timestamp, which no date so late can be."""
    ends = Fraction(0), Fraction(86_400)
    moment = Clamped(of_table("r1", "people", "tz"), *ends, SqlType.TIMESTAMPTZ)
    shown = Cast(moment, SqlType.DATE, zone_named("America/New_York"))
    latest = Choose(Choice.GREATEST, (of_table("r1", "people", "d"), shown), SqlType.DATE)
    return _people_where(Comparison(Comparator.EQ, latest, Constant("2001-01-01", SqlType.DATE)))


@hole(
    Rule.JOIN,
    "INSERT INTO people(id, c) VALUES (1, 'a');"
    " INSERT INTO places SELECT 'k' || g, 'a' || repeat(' ', g) FROM generate_series(0, 9) g",
    _FIRST,
)
def union_of_texts_that_begins_with_varying() -> BlockPlan:
    """PostgreSQL makes character varying of it, of which ten texts equal one character(n)."""
    code, zone = (of_table("r2", "places", name) for name in ("code", "zone"))
    never = Comparison(Comparator.LT, code, Constant("", SqlType.TEXT))
    word = Constant("z", SqlType.VARCHAR)
    first = Subquery("u1", scan("r2", "places"), never, (("x", word), ("code", code)))
    other = Subquery("u2", scan("r2", "places"), None, (("x", zone), ("code", code)))
    text, key = (column("e", name, SqlType.TEXT) for name in ("x", "code"))
    texts = UnionAll("e", (first, other))
    few = Truncate(texts, text, 1, (text, key), (text,), ("x", "code"), "place")
    pair = (of_table("r1", "people", "c"), text)
    source = Join(scan("r1", "people"), few, False, (pair,), None, is_seeded=False)
    return replace(
        block_of("SELECT count(*) FROM people"), source=source, neighbours=rows_that_change(1)
    )
