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
    Is,
    Operator,
    Parameter,
    TextCall,
    TextFunction,
)
from proxy.query.ir.relations import Frame, Relation, Subquery, WindowColumn, WindowFunction
from proxy.query.syntax.placeholders import ScalarAnswer
from tests.kernel.examples import column, of_table, scan
from tests.kernel.holes import ONE_PADDED, Shown, block_of, hole, joined_to_texts, units_of

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


@hole(Rule.EXPRESSION, ONE_PADDED, "DELETE FROM people WHERE id = 1", is_unseeded=True)
def answer_with_blanks() -> BlockPlan:
    """An answer as character(n) makes what coalesce() gives one, too: 'a' meets 'a', 'a ', 'a  '."""
    answer = Parameter(ScalarAnswer(0), SqlType.BPCHAR)
    text = of_table("r1", "people", "s")
    computed = Choose(Choice.COALESCE, (answer, text), SqlType.TEXT)
    outputs = (("x", computed), ("id", of_table("r1", "people", "id")))
    people = Subquery("q", scan("r1", "people"), None, outputs)
    return replace(joined_to_texts(people, SqlType.TEXT, 4), compared=frozenset({1}))


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


_DAYS = (
    "INSERT INTO visits(id, uid, d, tz) SELECT g, g, CASE g WHEN 0 THEN '5000000-01-01' ELSE '2010-01-01' END"
    "::date, '2010-01-01' FROM generate_series(0, 9) g"
)


def _visits_without(value: Expression) -> BlockPlan:
    return replace(block_of("SELECT count(*) FROM visits"), where=Is(value, None))


@hole(Rule.EXPRESSION, _DAYS, _VISITOR, shown=Shown.ERROR)
def texts_that_are_called_timestamps() -> BlockPlan:
    """Constants without a type are texts. A day is read of one when the first row asks."""
    no_one = Constant(Fraction(0), SqlType.INT8)
    visitor = Comparison(Comparator.EQ, of_table("r1", "visits", "uid"), no_one)
    whens = ((visitor, Constant("abc", None)),)
    text = Case(whens, Constant("2010-01-01", None), SqlType.TIMESTAMP)
    return _visits_without(Cast(text, SqlType.DATE))


@hole(Rule.TOTALITY, _DAYS, _VISITOR, shown=Shown.ERROR)
def day_by_a_clock_that_is_a_timestamp() -> BlockPlan:
    """The time of another clock is printed, which a day beyond all timestamps meets as one."""
    instant = of_table("r1", "visits", "tz")
    clamped = Clamped(instant, Fraction(0), Fraction(10**9), SqlType.TIMESTAMPTZ)
    by_clock = Cast(clamped, SqlType.DATE, zone_named("Europe/Berlin"))
    later = (by_clock, of_table("r1", "visits", "d"))
    return _visits_without(Choose(Choice.GREATEST, later, SqlType.DATE))
