"""Lists that raise on a row, and computed seconds that are called short."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import Rule
from proxy.query.ir.expressions import (
    Arithmetic,
    Case,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    FormattedTime,
    In,
    InPublic,
    Is,
    Operator,
)
from proxy.query.ir.relations import Subquery
from tests.kernel.examples import of_table
from tests.kernel.holes import Shown, block_of, hole

_VISITS = (
    "INSERT INTO visits(id, uid, ts, tz) SELECT g, g % 7, '2010-01-01', '2010-01-01'"
    " FROM generate_series(1, 60) g"
)
_VISITOR = "DELETE FROM visits WHERE uid = 3"
_FAR = Constant("5000000-01-01", SqlType.DATE)


@hole(Rule.EXPRESSION, _VISITS, _VISITOR, shown=Shown.ERROR)
def day_among_instants_that_is_none() -> BlockPlan:
    """A list of days and instants is one of instants, which PostgreSQL makes when the first row asks."""
    now = Constant("2010-01-01 00:00:00+00", SqlType.TIMESTAMPTZ)
    listed = In(of_table("r1", "visits", "tz"), (_FAR, now))
    third = Constant(Fraction(3), SqlType.INT8)
    visitor = Comparison(Comparator.EQ, of_table("r1", "visits", "uid"), third)
    where = Case(((visitor, listed),), Constant(False, SqlType.BOOL), SqlType.BOOL)
    return replace(block_of("SELECT count(*) FROM visits"), where=where)


_TEXT = "INSERT INTO people(id, s) VALUES (7, 'x')"
_GONE = "DELETE FROM people"


@hole(Rule.TOTALITY, _TEXT, _GONE, shown=Shown.ERROR)
def text_among_whole_numbers() -> BlockPlan:
    """Each text is cast to a whole number, to be looked for in the list."""
    key = ColumnRef("k", SqlType.INT8, None, "q")
    listed = InPublic(of_table("r1", "people", "s"), TableName("w", "rates"), "q", key, None)
    return replace(block_of("SELECT count(*) FROM people"), where=listed)


@hole(Rule.TOTALITY, _TEXT, _GONE, shown=Shown.ERROR)
def number_by_the_template_of_a_day() -> BlockPlan:
    """The template of a number has a decimal point in it once; it is read when the first row asks."""
    printed = FormattedTime(Constant(Fraction(1), SqlType.INT4), "YYYY-MM-DD")
    text, truth = of_table("r1", "people", "s"), Constant(True, SqlType.BOOL)
    found = Comparison(Comparator.EQ, printed, text)
    where = Case(((Is(text, None), truth),), found, SqlType.BOOL)
    return replace(block_of("SELECT count(*) FROM people"), where=where)


def _seconds(kind: SqlType) -> BlockPlan:
    """Groups by the column of a subquery that is called seconds, and has 1,560 digits after the point."""
    block = block_of("SELECT n, count(*) FROM people GROUP BY n")
    (key,) = block.keys
    assert isinstance(block.neighbours, RowNeighbours)
    value: Clamped | Arithmetic = Clamped(
        of_table("r1", "people", "n2"), Fraction(0), Fraction(9), SqlType.NUMERIC
    )
    tiny = Constant(Fraction(1, 10**390), SqlType.NUMERIC)
    for _ in range(4):
        value = Arithmetic(Operator.MULTIPLY, value, tiny, kind)
    outputs = (("x", value), ("id", of_table("r1", "people", "id")))
    source = Subquery("q", block.source, None, outputs)
    hashed_by = (ColumnRef("id", SqlType.INT4, None, "q"),)
    return replace(
        block,
        source=source,
        neighbours=replace(block.neighbours, hashed_by=hashed_by),
        keys=(replace(key, expression=ColumnRef("x", kind, None, "q"), type=kind, is_long=False),),
    )


_ONE = "INSERT INTO people(id, n2) VALUES (7, 1.25)"


@hole(Rule.TOTALITY, _ONE, "DELETE FROM people", shown=Shown.LONG_KEY)
def computed_interval_that_is_a_short_key() -> BlockPlan:
    return _seconds(SqlType.INTERVAL)


@hole(Rule.TOTALITY, _ONE, "DELETE FROM people", shown=Shown.LONG_KEY)
def computed_time_of_day_that_is_a_short_key() -> BlockPlan:
    return _seconds(SqlType.CLOCK_TIME)
