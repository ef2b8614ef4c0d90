"""What a person chooses of a join is hashed with a seed, wherever ON sets it equal; equal values still meet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.compiler import full_joins
from proxy.compiler.binds import Binds
from proxy.compiler.seeded_keys import FEW_ROWS
from proxy.kernel.block_price import price_of_block
from proxy.kernel.column_types import injective
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, OrderStatistic
from proxy.kernel.statistics import Measured
from proxy.kernel.world import World
from proxy.policy.policy_model import Bounds, ProtectedTable, RowUnit
from proxy.query.ir.expressions import Cast, Clamped, ColumnRef, Comparator, Comparison, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import GroupByUnit, Join, Scan
from tests.kernel.holes import block_of
from tests.kernel.tiny_database import tiny_database
from tests.machine_speed import allowed_work
from tests.pipeline_world import CATALOG, DATA, POLICIES
from tests.unchecked_blocks import compiled

_WORLD = World(POLICIES["world"], CATALOG)
_COUNT = Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8)
_COLLIDING = "(g::bigint << 32) | (g # 5)"  # hashint8 puts the halves together
_COLUMNS = [one for one in DATA if not one.type.is_container]
# Each is a value of most types, in several forms.
_VALUES = (
    *("1", "1.0", "1.00", "0", "-0", "0.1", "16777217", "NaN", "a", "a ", "low", "true"),
    *("2001-01-01", "2001-01-01 10:00", "10:00", "24:00", "1 day", "24 hours"),
)


def _of(alias: str, column: str, kind: SqlType) -> ColumnRef:
    return ColumnRef(column, kind, None, alias)


def _with_groups(column: str, kind: SqlType, value: Expression | None) -> BlockPlan:
    """Visits with the groups of their own unit that have one value; value: what is compared beside the unit."""
    block = block_of("SELECT count(*) FROM visits", "world")
    assert isinstance(block.neighbours, UnitNeighbours)
    name, unit = TableName("w", "visits"), _of("r1", "uid", SqlType.INT8)
    keys = (_of("r2", column, kind),)
    of_unit = _of("r2", "uid", SqlType.INT8)
    groups = GroupByUnit("g", Scan("r2", name), None, of_unit, (_COUNT,), 100, keys)
    equal, key = (unit, _of("g", "unit", SqlType.INT8)), _of("g", "k1", kind)
    join = Join(Scan("r1", name), groups, False, (equal, (_of("r1", column, kind), key)), None)
    if value is not None:
        join = replace(join, equal=(equal,), rest=Comparison(Comparator.EQ, value, key))
    return replace(block, source=join, neighbours=replace(block.neighbours, column=unit))


_BIG = _of("r1", "i8", SqlType.INT8)
_PLACES = {"a pair": None, "beside": _BIG, "computed": Cast(_BIG, SqlType.NUMERIC)}


def _seconds(block: BlockPlan, rows: int) -> float:
    database = tiny_database()
    database.fill(
        "INSERT INTO visits(id, uid, i8)"
        f" SELECT g, 3, {_COLLIDING} FROM generate_series(1, {rows}) g"
    )
    (query,) = compiled(block)
    began = time.monotonic()
    database.table(query)
    return time.monotonic() - began


@pytest.mark.timed
@pytest.mark.parametrize("place", _PLACES)
def test_keys_that_collide_meet_each_only_once(place: str) -> None:
    block = _with_groups("i8", SqlType.INT8, _PLACES[place])
    price_of_block(block, _WORLD)
    assert _seconds(block, 4_000) < allowed_work(limits.UNIT_NANOSECONDS / 1e9)


@pytest.mark.timed
def test_without_a_seed_each_meets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_joins, "equal_beside", lambda _: [])
    block = _with_groups("i8", SqlType.INT8, _PLACES["beside"])
    assert _seconds(block, 4_000) > limits.UNIT_NANOSECONDS / 1e9


def _middle_of_rows(rows: int) -> BlockPlan:
    """A quantile of rows that are all of one unit."""
    block = block_of("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i8) FROM trips", "best")
    (found,) = block.releases
    assert isinstance(found, OrderStatistic)
    clamp = Bounds(Fraction(0), Fraction(2**51))
    operand = Clamped(_of("r1", "i8", SqlType.INT8), clamp.low, clamp.high, SqlType.INT8)
    measured = Measured(operand=operand, condition=None, clamp=clamp, grid=Fraction(1), rows=rows)
    noise = replace(found.size.noise, scale=rows / found.size.loss.epsilon)
    found = replace(found, measured=measured, needed=None, size=replace(found.size, noise=noise))
    neighbours = replace(block.neighbours, rows=rows)
    return replace(block, releases=(found,), neighbours=neighbours)


@pytest.mark.timed
def test_values_of_many_rows_of_one_unit_are_spread() -> None:
    rows, name = 6_000, TableName("w", "trips")
    policy = POLICIES["best"]
    before = policy.tables[name]
    assert isinstance(before, ProtectedTable)
    many = replace(before, unit=RowUnit(rows))
    block = _middle_of_rows(rows)
    price_of_block(block, World(replace(policy, tables={**policy.tables, name: many}), CATALOG))
    numbers = f"SELECT g, 'x', {_COLLIDING} FROM generate_series(1, {rows}) g"
    tiny_database().fill(f"INSERT INTO trips(id, leg, i8) {numbers}")
    (query,) = compiled(block)
    began = time.monotonic()
    tiny_database().table(query)
    assert time.monotonic() - began < allowed_work(limits.UNIT_NANOSECONDS / 1e9)


def test_listed_keys_of_many_rows_of_one_unit_are_spread() -> None:
    """All keys are grouped, and unlisted ones left out then."""
    block = block_of("SELECT t, count(*) FROM trips GROUP BY t", "best")
    many = replace(block, neighbours=replace(block.neighbours, rows=FEW_ROWS + 1))
    hashed = ["hashtextextended" in compiled(one)[0].sql for one in (block, many)]
    assert hashed == [False, True]


def _pairs() -> Iterator[tuple[ColumnRef, ColumnRef]]:
    """Columns of which a row may be said to meet one, by their types."""
    for one, other in product(_COLUMNS, repeat=2):
        if injective(one.type, other.type):
            yield _of("a", one.name, one.type), _of("b", other.name, other.type)


def _compared(join: Join, binds: Binds) -> list[str]:
    rest = [one.sql for one in full_joins.conditions(join.rest, binds)]
    return [*full_joins._equalities(join, binds), *rest]


def _met(join: Join) -> int:
    binds = Binds()
    sql = f"SELECT count(*) FROM people a, people b WHERE {' AND '.join(_compared(join, binds))}"
    values = {**binds.values, **dict.fromkeys(binds.seeds, 4_242)}
    row = tiny_database()._connection.execute(sql.encode(), values).fetchone()
    assert row is not None
    return int(row[0])


def _value(text: str, type_name: str) -> str:
    """The text as a value of the type, NULL where it is none."""
    asked = f"SELECT pg_input_is_valid('{text}', '{type_name}')"
    return f"'{text}'" if tiny_database().asked(asked) == [(True,)] else "NULL"


def test_what_names_a_row_has_a_seed_and_equal_values_meet() -> None:
    names = ", ".join(one.name for one in _COLUMNS)
    rows = [
        f"({number}, {', '.join(_value(text, one.type_name) for one in _COLUMNS)})"
        for number, text in enumerate(_VALUES)
    ]
    tiny_database().fill(f"INSERT INTO people(id, {names}) VALUES {', '.join(rows)}")
    found = list(_pairs())
    assert len({(x.type, y.type) for x, y in found}) > 30
    scans = Scan("a", TableName("w", "people")), Scan("b", TableName("w", "people"))
    for x, y in found:
        pair = Join(*scans, False, ((x, y),), None)
        beside = replace(pair, equal=(), rest=Comparison(Comparator.EQ, x, y))
        for join in (pair, beside):
            unseeded = replace(join, is_seeded=False)
            met = _met(unseeded)
            assert met > 0 and _met(join) == met, (x, y)
            if x.type is not SqlType.BOOL:  # of which there are two values
                assert len(_compared(join, Binds())) > len(_compared(unseeded, Binds())), (x, y)
