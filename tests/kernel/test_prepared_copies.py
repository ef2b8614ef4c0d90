"""Plans on a prepared copy: what the kernel lets pass, at which price, and tampered ones, each refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import RowBound, Table, TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.block_price import price_of_block
from proxy.kernel.checked_plan import check_plan
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.owners import Rows
from proxy.kernel.plan import BlockPlan, DistinctCount, GaussianNoise, LaplaceNoise, NoisyStatistic
from proxy.kernel.prepared_copies import bound_of_copy, check_copies
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.mechanisms import zcdp
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import planned_on_copies
from proxy.policy.policy_model import (
    BlockLength,
    IdentifierUnit,
    Noise,
    PreparedCopy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    TimeBlocks,
    UnitPath,
)
from proxy.query.ir.binding import bind
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import CopyRead, Scan, UnionAll
from tests.kernel.examples import PREPARED, columns_of, joined_copies, of_table, scan, scan_of_copy
from tests.pipeline_world import KNOWN_PUBLIC, walk

_VISITS, _COPY = TableName("w", "visits"), TableName("w", "visits_copy")
_LINES, _OF_LINES = TableName("w", "lines"), TableName("w", "lines_copy")
_ORDERS = TableName("w", "orders")
_LOSS = Loss(Fraction(1), Fraction(1, 10**6))
_K = 3
_PLAIN = "SELECT count(*), sum(i4), count(DISTINCT uid) FROM visits"
_BY_KEY = "SELECT t, count(*), count(DISTINCT uid) FROM visits GROUP BY t"
# Of units behind a reference, which is a column as others are.
_OF_REFERENCE = "SELECT count(*), sum(i4), count(DISTINCT order_id) FROM lines"
_LINES_BY_KEY = "SELECT t, count(*), sum(i4) FROM lines WHERE order_id > 3 GROUP BY t"


def _block(sql: str, world: World = PREPARED) -> BlockPlan | None:
    """The plan on the copy. None: it is none."""
    found = walk(sql, PREPARED.policy)
    assert found is not None
    query = found.reading.query
    query = replace(query, blocks=tuple(bind(block, {}) for block in query.blocks))
    known = PlanningContext(world.policy, world.catalog, KNOWN_PUBLIC)
    as_of = dict.fromkeys((_VISITS, _LINES), "2026-11-28 01:00:00+00")
    on_copy = planned_on_copies(query, known, _LOSS, as_of)
    return None if on_copy is None else on_copy.private.blocks[0]


def _planned(sql: str, world: World = PREPARED) -> BlockPlan:
    found = _block(sql, world)
    assert found is not None
    return found


def _with_policy(of: TableName = _VISITS, **parts: object) -> World:
    table = PREPARED.policy.tables[of]
    assert isinstance(table, ProtectedTable)
    changed = replace(table, **parts)  # type: ignore[arg-type]
    tables = {**PREPARED.policy.tables, of: changed}
    return replace(PREPARED, policy=replace(PREPARED.policy, tables=tables))


def _with_copy(change: Callable[[Table], Table], of: TableName = _COPY) -> World:
    tables = dict(PREPARED.catalog.tables)
    tables[of] = change(tables[of])
    return replace(PREPARED, catalog=replace(PREPARED.catalog, tables=tables))


def _column(of: str, **parts: object) -> Callable[[Table], Table]:
    def changed(table: Table) -> Table:
        columns = (
            replace(c, **parts) if c.name == of else c  # type: ignore[arg-type]
            for c in table.columns
        )
        return replace(table, columns=tuple(columns))

    return changed


def test_a_copy_is_rows_of_which_as_many_change_as_the_database_lets_be() -> None:
    known = relation_of(scan_of_copy("visits", "visits_copy"), PREPARED)
    unit = ("r1", "uid")
    assert isinstance(known.owner, Rows)
    assert known.owner.changed == _K and known.owner.most_of(unit) == _K
    assert (frozenset({unit}), 1) in known.owner.touched and unit in known.owner.filled


def test_it_is_planned_and_priced_as_so_many_rows() -> None:
    for sql, groups in ((_PLAIN, 1), (_BY_KEY, _K)):
        block = _planned(sql)
        assert isinstance(block.neighbours, RowNeighbours) and block.neighbours.rows == _K
        price = price_of_block(block, PREPARED)
        assert price.epsilon <= _LOSS.epsilon
        assert 0 < price.rho <= zcdp_of(price.epsilon)
        count, *_, people = block.releases
        assert isinstance(count, NoisyStatistic) and isinstance(people, DistinctCount)
        assert isinstance(count.noise, LaplaceNoise) and isinstance(people.noise, LaplaceNoise)
        assert count.noise.scale * count.loss.epsilon == _K
        assert people.noise.scale * people.loss.epsilon == groups
        assert people.of_unit


def zcdp_of(epsilon: Fraction) -> Fraction:
    """Pure differential privacy as concentrated."""
    return epsilon**2 / 2


def test_gaussian_noise_is_of_so_many_rows() -> None:
    privacy = replace(PREPARED.policy.privacy, noise=Noise.GAUSSIAN)
    world = replace(PREPARED, policy=replace(PREPARED.policy, privacy=privacy))
    (release,) = _planned("SELECT count(*) FROM visits", world).releases
    assert isinstance(release, NoisyStatistic) and isinstance(release.noise, GaussianNoise)
    rho = zcdp.rho_of_loss(release.loss.epsilon, release.loss.delta)
    assert release.noise.sigma2 >= Fraction(_K**2) / (2 * rho)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM visits a JOIN visits b USING (uid)",
        "SELECT count(*) FROM visits JOIN orders USING (uid)",
        "SELECT count(*) FROM (SELECT i4 FROM visits UNION ALL SELECT i4 FROM visits) q",
        "SELECT count(*) FROM (SELECT uid, count(*) AS n FROM visits GROUP BY uid) q WHERE n > 1",
        "SELECT free, count(*) FROM visits GROUP BY free",
    ],
)
def test_what_a_copy_does_not_serve_is_not_planned_on_it(sql: str) -> None:
    assert _block(sql) is None


_OTHER = PreparedCopy(table=TableName("w", "another"), max_age=60)
_BROKEN_WORLDS: dict[str, World] = {
    "no copy": _with_policy(prepared=None),
    "another copy": _with_policy(prepared=_OTHER),
    "rows as units": _with_policy(unit=RowUnit(1)),
    "another unit": _with_policy(unit=IdentifierUnit("person", "i4")),
    "blocks": _with_policy(
        unit=IdentifierUnit("person", "uid", blocks=TimeBlocks(per=BlockLength.MONTH, time="ts"))
    ),
    "no bound": _with_copy(lambda table: replace(table, row_bound=None)),
    "no rows": _with_copy(lambda table: replace(table, row_bound=RowBound(column="uid", rows=0))),
    "of a slot": _with_copy(lambda table: replace(table, row_bound=RowBound(column="i4", rows=3))),
    "nullable": _with_copy(_column("uid", nullable=True)),
    "another type": _with_copy(_column("uid", type_name="text")),
    "no unit": _with_copy(_column("uid", name="who")),
}


@pytest.mark.parametrize("name", _BROKEN_WORLDS)
def test_what_is_not_so_is_not_believed(name: str) -> None:
    world = _BROKEN_WORLDS[name]
    with pytest.raises(NotPrivate):
        relation_of(scan_of_copy("visits", "visits_copy"), world)
    assert _block(_PLAIN, world) is None


def test_a_copy_is_of_a_table_that_has_the_unit() -> None:
    read, tables = scan_of_copy("visits", "visits_copy"), PREPARED.catalog.tables
    unnamed = _column("uid", name="who")(tables[_VISITS])
    for changed in ({_COPY: tables[_COPY]}, {**tables, _VISITS: unnamed}):
        with pytest.raises(NotPrivate):
            bound_of_copy(
                read, replace(PREPARED, catalog=replace(PREPARED.catalog, tables=changed))
            )
    with pytest.raises(NotPrivate):
        bound_of_copy(scan("r1", "visits"), PREPARED)
    one = RowBound(column="uid", rows=1)
    assert bound_of_copy(read, _with_copy(lambda table: replace(table, row_bound=one))) == one


def _with_source(change: Callable[[Scan], Scan]) -> Callable[[BlockPlan], BlockPlan]:
    def changed(block: BlockPlan) -> BlockPlan:
        assert isinstance(block.source, Scan)
        return replace(block, source=change(block.source))

    return changed


def _neighbours(**parts: object) -> Callable[[BlockPlan], BlockPlan]:
    return lambda block: replace(
        block,
        neighbours=replace(block.neighbours, **parts),  # type: ignore[arg-type]
    )


def _people(operand: ColumnRef) -> Callable[[BlockPlan], BlockPlan]:
    """Units are counted by another column, with the noise of units."""

    def changed(block: BlockPlan) -> BlockPlan:
        *others, people = block.releases
        assert isinstance(people, DistinctCount)
        return replace(block, releases=(*others, replace(people, operand=operand)))

    return changed


def _as_of(scan: Scan, table: TableName) -> Scan:
    return replace(scan, copy=CopyRead(table=table, as_of="now"))


def _smaller(block: BlockPlan) -> BlockPlan:
    count, *others = block.releases
    assert isinstance(count, NoisyStatistic) and isinstance(count.noise, LaplaceNoise)
    noise = replace(count.noise, scale=count.noise.scale * 2 / 3)
    return replace(block, releases=(replace(count, noise=noise), *others))


_TAMPERED: dict[str, Callable[[BlockPlan], BlockPlan]] = {
    "another table": _with_source(lambda scan: _as_of(scan, _VISITS)),
    "a table that is not there": _with_source(lambda scan: _as_of(scan, TableName("w", "none"))),
    "the table itself": _with_source(lambda scan: replace(scan, copy=None)),
    "of another table": _with_source(lambda scan: replace(scan, table=TableName("w", "orders"))),
    "of a public table": _with_source(lambda scan: replace(scan, table=TableName("w", "rates"))),
    "fewer rows": _neighbours(rows=_K - 1),
    "of one row": _neighbours(rows=1, partitions=None),
    "partitions by another column": _neighbours(hashed_by=(of_table("r1", "visits", "i4"),)),
    "other values": _people(of_table("r1", "visits", "i4")),
    "less noise": _smaller,
    "twice": lambda block: replace(block, source=joined_copies()),
}


@pytest.mark.parametrize("name", _TAMPERED)
def test_a_tampered_plan_is_refused(name: str) -> None:
    for sql in (_PLAIN, _BY_KEY):
        with pytest.raises(NotPrivate):
            price_of_block(_TAMPERED[name](_planned(sql)), PREPARED)


@pytest.mark.parametrize(
    "parts",
    [
        {"index": of_table("r1", "visits", "i8")},
        {"index": of_table("r1", "visits", "n2")},
        {"index": replace(of_table("r1", "visits", "i4"), column="nothing")},
        {"index_steps": 0},
        {"index_steps": -1},
        {"index_steps": 2**31},
        {"index_steps": 2**21},  # so many that distances between the ends are no integers
    ],
)
def test_a_tampered_index_is_refused(parts: Mapping[str, Any]) -> None:
    block = _planned("SELECT sum(n2) FROM visits")
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic) and isinstance(release.of, tuple)
    (measured,) = release.of
    assert measured.index is not None and measured.index.column == "n2_i"
    changed = replace(release, of=(replace(measured, **parts),))
    with pytest.raises(NotPrivate):
        price_of_block(replace(block, releases=(changed,)), PREPARED)


def test_a_copy_beside_other_people_is_refused() -> None:
    block, copy = (
        _planned("SELECT count(*) FROM visits"),
        scan_of_copy("visits", "visits_copy", "a"),
    )
    own = replace(columns_of("visits", "i4"), source=replace(copy, alias="s_visits"))
    for other in (columns_of("people", "i4"), replace(own, alias="other")):
        with pytest.raises(NotPrivate) as refused:
            price_of_block(replace(block, source=UnionAll("u", (own, other))), PREPARED)
        assert refused.value.rule is Rule.PREPARED_COPY
    check_copies([UnionAll("u", (own, columns_of("rates", "k")))], PREPARED)
    assert scan("a", "visits").copy is None


# Units behind a reference: the copy holds them in a column of its own.

_THROUGH = scan_of_copy("lines", "lines_copy", through="orders")


def test_a_copy_through_a_reference_is_rows_of_the_unit_there() -> None:
    known = relation_of(_THROUGH, PREPARED)
    unit = ("r1", "dp_unit")
    assert isinstance(known.owner, Rows)
    assert known.owner.changed == _K and known.owner.most_of(unit) == _K
    assert known.owner.most_of(("r1", "order_id")) is None
    assert (frozenset({unit}), 1) in known.owner.touched and unit in known.owner.filled


@pytest.mark.parametrize("sql", [_OF_REFERENCE, _LINES_BY_KEY])
def test_both_tables_of_a_copy_are_charged(sql: str) -> None:
    block = _planned(sql)
    assert block.source == _THROUGH
    assert isinstance(block.neighbours, RowNeighbours) and block.neighbours.rows == _K
    assert price_of_block(block, PREPARED).epsilon <= _LOSS.epsilon
    count, *_ = block.releases
    assert isinstance(count, NoisyStatistic) and isinstance(count.noise, LaplaceNoise)
    assert count.noise.scale * count.loss.epsilon == _K
    (checked,) = check_plan([block], _LOSS, PREPARED).blocks
    assert checked.tables == ("w.lines", "w.orders") == block.tables()


def test_values_of_the_reference_are_no_units() -> None:
    *_, orders = _planned(_OF_REFERENCE).releases
    assert isinstance(orders, DistinctCount) and not orders.of_unit
    assert isinstance(orders.noise, LaplaceNoise)
    assert orders.noise.scale * orders.loss.epsilon == _K


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM lines JOIN orders ON lines.order_id = orders.id",
        "SELECT count(*) FROM (SELECT i4 FROM lines UNION ALL SELECT i4 FROM lines) q",
        "SELECT order_id, count(*) FROM lines GROUP BY order_id",
    ],
)
def test_what_a_copy_through_a_reference_does_not_serve_is_not_planned_on_it(sql: str) -> None:
    assert _block(sql) is None


@pytest.mark.parametrize("name", [_LINES, _ORDERS])
def test_small_groups_of_either_table_are_not_served(name: TableName) -> None:
    assert _block(_OF_REFERENCE, _with_policy(name, min_units_per_group=11)) is None


def _of_lines(**parts: object) -> World:
    return _with_copy(lambda table: replace(table, **parts), _OF_LINES)  # type: ignore[arg-type]


def _unit_through(**parts: object) -> World:
    unit = IdentifierUnit("person", "order_id", UnitPath(_ORDERS, "uid"))
    return _with_policy(_LINES, unit=replace(unit, **parts))  # type: ignore[arg-type]


def _without_column(of: TableName, name: str) -> World:
    def changed(table: Table) -> Table:
        return replace(table, columns=tuple(c for c in table.columns if c.name != name))

    return _with_copy(changed, of)


def _public_orders() -> World:
    tables = {**PREPARED.policy.tables, _ORDERS: PublicTable(_ORDERS)}
    return replace(PREPARED, policy=replace(PREPARED.policy, tables=tables))


_BROKEN_REFERENCES: dict[str, World] = {
    "no copy": _with_policy(_LINES, prepared=None),
    "another copy": _with_policy(_LINES, prepared=_OTHER),
    "the copy of another table": _with_policy(
        _LINES, prepared=PreparedCopy(table=_COPY, max_age=60)
    ),
    "the reference is the unit": _unit_through(path=None),
    "another reference": _unit_through(column="i4", path=None),
    "a reference that is not there": _unit_through(column="nothing"),
    "another person": _unit_through(identifier="author"),
    "another column there": _unit_through(path=UnitPath(_ORDERS, "i4")),
    "another table there": _unit_through(path=UnitPath(_VISITS, "uid")),
    "a table that is not there": _unit_through(path=UnitPath(TableName("w", "none"), "uid")),
    "a chain": _with_policy(
        _ORDERS, unit=IdentifierUnit("person", "i4", UnitPath(TableName("w", "calls"), "uid"))
    ),
    "rows as units there": _with_policy(_ORDERS, unit=RowUnit(1)),
    "nobody's there": _public_orders(),
    "no key there": _with_copy(lambda table: replace(table, primary_key=()), _ORDERS),
    "a key of two there": _with_copy(lambda t: replace(t, primary_key=("id", "i4")), _ORDERS),
    "no unit there": _without_column(_ORDERS, "uid"),
    "another type there": _with_copy(_column("uid", type_name="bigint"), _ORDERS),
    "no reference": _without_column(_LINES, "order_id"),
    "blocks": _unit_through(path=None, blocks=TimeBlocks(per=BlockLength.MONTH, time="ts")),
    "a column of the unit's name": _with_copy(_column("i8", name="dp_unit"), _LINES),
    "no bound": _of_lines(row_bound=None),
    "no rows": _of_lines(row_bound=RowBound(column="dp_unit", rows=0)),
    "of the reference": _of_lines(row_bound=RowBound(column="order_id", rows=3)),
    "of a key of the table": _of_lines(row_bound=RowBound(column="id", rows=3)),
    "nullable": _with_copy(_column("dp_unit", nullable=True), _OF_LINES),
    "another type": _with_copy(_column("dp_unit", type=SqlType.TEXT), _OF_LINES),
    "another length": _with_copy(_column("dp_unit", type_name="bigint"), _OF_LINES),
    "no unit": _without_column(_OF_LINES, "dp_unit"),
}


@pytest.mark.parametrize("name", _BROKEN_REFERENCES)
def test_what_is_not_so_of_a_reference_is_not_believed(name: str) -> None:
    world = _BROKEN_REFERENCES[name]
    with pytest.raises(NotPrivate):
        relation_of(_THROUGH, world)
    assert _block(_OF_REFERENCE, world) is None


def _through(table: TableName | None) -> Callable[[BlockPlan], BlockPlan]:
    def changed(scan: Scan) -> Scan:
        assert scan.copy is not None
        return replace(scan, copy=replace(scan.copy, through=table))

    return _with_source(changed)


_TAMPERED_REFERENCES: dict[str, Callable[[BlockPlan], BlockPlan]] = {
    "the reference unsaid": _through(None),
    "through another table": _through(_VISITS),
    "through itself": _through(_LINES),
    "through a public table": _through(TableName("w", "rates")),
    "through no table": _through(TableName("w", "none")),
    "another copy": _with_source(lambda scan: _as_of(scan, _COPY)),
    "the table itself": _with_source(lambda scan: replace(scan, copy=None)),
    "of the table there": _with_source(lambda scan: replace(scan, table=_ORDERS)),
    "of another table": _with_source(lambda scan: replace(scan, table=_VISITS)),
    "fewer rows": _neighbours(rows=_K - 1),
    "partitions by the reference": _neighbours(hashed_by=(of_table("r1", "lines", "order_id"),)),
    "less noise": _smaller,
}


@pytest.mark.parametrize("name", _TAMPERED_REFERENCES)
def test_a_tampered_plan_through_a_reference_is_refused(name: str) -> None:
    for sql in (_OF_REFERENCE, _LINES_BY_KEY):
        with pytest.raises(NotPrivate):
            price_of_block(_TAMPERED_REFERENCES[name](_planned(sql)), PREPARED)


def test_orders_are_not_counted_as_units() -> None:
    block = _planned(_OF_REFERENCE)
    *others, orders = block.releases
    assert isinstance(orders, DistinctCount)
    people = replace(block, releases=(*others, replace(orders, of_unit=True)))
    with pytest.raises(NotPrivate):
        price_of_block(people, PREPARED)


def test_a_copy_through_a_reference_beside_other_people_is_refused() -> None:
    own = columns_of("lines", "i4")
    copy = replace(own, source=replace(_THROUGH, alias="s_lines"))
    block = _planned("SELECT count(*) FROM lines")
    for other in (columns_of("orders", "i4"), replace(copy, alias="other")):
        with pytest.raises(NotPrivate):
            price_of_block(replace(block, source=UnionAll("u", (copy, other))), PREPARED)
