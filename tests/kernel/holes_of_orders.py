"""Orders of rows that other people's rows decide: where rows are stored, and two sorts of tied rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import Rule
from proxy.query.ir.expressions import (
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
)
from proxy.query.ir.relations import (
    Frame,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    WindowColumn,
    WindowFunction,
)
from tests.kernel.examples import column, of_table, scan
from tests.kernel.holes import (
    block_of,
    hole,
    noise_for,
    rows_that_change,
    units_of,
    windows_changed,
)

# Two rows of each unit. Then as where one never came, and other rows are stored in the order of their coming.
_TWO_EACH = (
    "INSERT INTO {table}(id, {by}, i4) SELECT 100 + g, g, 1 FROM generate_series(1, 40) g;"
    " INSERT INTO {table}(id, {by}, i4) SELECT 200 + g, g, 2 FROM generate_series(1, 40) g"
)
_STORED_ANEW = "DELETE FROM {table} WHERE {by} = 40; UPDATE {table} SET id = id WHERE i4 = 1"
_TWO_VISITS = _TWO_EACH.format(table="visits", by="uid")
_VISITS_ANEW = _STORED_ANEW.format(table="visits", by="uid")
_PLACE = column("r1", "ctid", SqlType.TID)


@hole(Rule.EXPRESSION, _TWO_VISITS, _VISITS_ANEW)
def window_in_the_order_of_places() -> BlockPlan:
    """Where rows are stored decides which of a unit's rows is the first."""
    block = block_of(
        "SELECT count(*) FROM (SELECT uid, i4, row_number() OVER (PARTITION BY uid ORDER BY i2) AS rn"
        " FROM visits) s WHERE rn = 1 AND i4 = 1"
    )
    place = (OrderTerm(_PLACE, False, False),)
    return replace(block, source=windows_changed(block.source, lambda w: replace(w, order=place)))


@hole(
    Rule.WINDOW,
    "INSERT INTO visits(id, uid, i4) SELECT u * 10 + k, u, 1 FROM generate_series(1, 3000) u,"
    " generate_series(1, 5) k;"
    " INSERT INTO visits(id, uid, i4) SELECT 99990 + k, 0, k FROM generate_series(1, 3) k",
    "DELETE FROM visits WHERE uid = 0",
)
def windows_of_two_orders() -> BlockPlan:
    """Two sorts put tied rows in orders of their own: where the numbers of both are equal."""
    block = block_of(
        "SELECT count(*) FROM (SELECT i4, row_number() OVER (PARTITION BY uid ORDER BY i4) AS a, count(*) OVER"
        " (PARTITION BY uid ORDER BY i4 ROWS UNBOUNDED PRECEDING) AS b FROM visits) s WHERE a = b"
    )

    def downwards(relation: Relation) -> Relation:
        assert isinstance(relation, Subquery)
        if not relation.windows:
            return replace(relation, source=downwards(relation.source))
        one, other = relation.windows
        order = (replace(one.order[0], is_descending=True),)
        return replace(relation, windows=(one, replace(one, name=other.name, order=order)))

    return replace(block, source=downwards(block.source))


def _cut_visits(source: Scan | Subquery, order: tuple[ColumnRef, ...]) -> BlockPlan:
    block = block_of("SELECT count(*) FROM visits WHERE i4 = 1")
    unit = of_table("r1", "visits", "uid")
    cut = Truncate(source, unit, 1, order, (unit,), ("id", "uid", "i4"), "place")
    return noise_for(replace(block, source=cut, neighbours=replace(units_of(block), rows=1)), 1)


@hole(Rule.EXPRESSION, _TWO_VISITS, _VISITS_ANEW, tries=4)
def cut_by_places_that_are_handed_on() -> BlockPlan:
    """Their hash has a seed that is not of the table."""
    shown = tuple((n, of_table("s", "visits", n)) for n in ("id", "uid", "i4"))
    place = ("p", replace(_PLACE, relation="s"))
    inner = Subquery("r1", scan("s", "visits"), None, (*shown, place))
    return _cut_visits(inner, (column("r1", "p", SqlType.TID),))


@hole(Rule.EXPRESSION, _TWO_VISITS, _VISITS_ANEW, tries=4)
def cut_by_places_and_more() -> BlockPlan:
    """So it is of a row of several columns."""
    return _cut_visits(scan("r1", "visits"), (_PLACE, of_table("r1", "visits", "id")))


@hole(
    Rule.EXPRESSION,
    _TWO_EACH.format(table="people", by="i2"),
    _STORED_ANEW.format(table="people", by="i2"),
)
def cut_of_rows_by_places() -> BlockPlan:
    """By a key, of rows that are units."""
    block = block_of("SELECT count(*) FROM people WHERE i4 = 1")
    key = of_table("r1", "people", "i2")
    cut = Truncate(scan("r1", "people"), key, 1, (_PLACE,), (key,), ("id", "i2", "i4"), "place")
    return noise_for(replace(block, source=cut, neighbours=rows_that_change(2)), 2)


# Two rows of each unit, whose arrays are too large to be looked into: both count as NULL in an order. Then one
# unit never came, and of each other one the later row is stored first.
_LARGE = "(SELECT array_agg('{}' || md5(q::text)) FROM generate_series(1, 9000) q)"
_LARGE_ARRAYS = (
    "INSERT INTO visits(id, uid, i4, ta) SELECT g * 2 + k, g, 1, a FROM generate_series(1, 40) g,"
    f" (VALUES (0, {_LARGE.format('a')}), (1, {_LARGE.format('c')})) f (k, a) ORDER BY 1"
)
_ARRAYS_ANEW = (
    "WITH gone AS (DELETE FROM visits RETURNING *)"
    " INSERT INTO visits SELECT * FROM gone WHERE uid < 40 ORDER BY uid, id DESC"
)


def _first_of_arrays(*wanted: Expression) -> BlockPlan:
    block = block_of(
        "SELECT count(*) FROM (SELECT uid, i4, ta, row_number() OVER (PARTITION BY uid ORDER BY i4) AS rn"
        " FROM visits) s WHERE rn = 1"
    )
    assert block.where is not None
    return replace(block, where=Connective("AND", (block.where, *wanted)))


@hole(Rule.TOTALITY, _LARGE_ARRAYS, _ARRAYS_ANEW)
def arrays_that_are_compared() -> BlockPlan:
    """As a whole they are two values, in the order they are one."""
    array = column("r3", "ta", SqlType.TEXT_ARRAY)
    return _first_of_arrays(Comparison(Comparator.GE, array, Constant("{b}", SqlType.TEXT_ARRAY)))


@hole(Rule.TOTALITY, _LARGE_ARRAYS, _ARRAYS_ANEW)
def windows_in_the_order_of_arrays() -> BlockPlan:
    """A rank tells apart what was tied below."""
    place = column("r3", "place", SqlType.INT8)
    block = _first_of_arrays(Comparison(Comparator.EQ, place, Constant(Fraction(2), SqlType.INT4)))
    assert isinstance(block.source, Subquery)
    ranks = WindowColumn(
        name="place",
        function=WindowFunction.RANK,
        type=SqlType.INT8,
        partition=(column("r2", "dp_unit", SqlType.INT8),),
        order=(OrderTerm(column("r2", "c3", SqlType.TEXT_ARRAY), False, False),),
        frame=Frame.DEFAULT,
        rows=100,
    )
    return replace(block, source=replace(block.source, windows=(ranks,)))
