"""Compiled statements give the same exact results on three shards as on one server, whatever way the rows
are distributed; and where they are distributed by the privacy unit, its rows are gathered on their shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import psycopg
import pytest

from proxy.cli.demo.demo_data import DEMO_SAMPLES
from proxy.cli.sample_policies import sample_policy
from proxy.exact.table import ExactTable
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, OrderStatistic, SampleAggregate
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.relations import Join, scans
from tests import unchecked_blocks
from tests.audit import synthetic
from tests.audit.exact_results import Auditor
from tests.audit.reach import is_crowded
from tests.audit.without_noise import Exact, watching
from tests.fifty_queries.queries import cases, database_of, planned
from tests.pipeline_world import CATALOG, POLICIES, PUBLIC
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases
from tests.seeded_bits import SeededBits
from tests.shards.cluster import SHARDS, Cluster, binaries_with_foreign_tables, start_cluster
from tests.stored_types import create_types

pytestmark = pytest.mark.long

CASES = planned_cases()
FIFTY = [case for case in cases() if "columns" in case.headers]
_BASES = ("hostile", "crowd")
_DEMO: dict[str, dict[str, str | None]] = {
    "census": {"adult": "id"},
    "shop": {"customers": "id", "orders": "customer_id", "products": None},
}


def _sharded(base: str) -> str:
    return f"{base}_sharded"


def _units() -> dict[str, str | None]:
    """By what each table of tests.pipeline_world is distributed: the column of its unit, or that which leads
    to it."""
    found: dict[str, str | None] = {name.name: None for name in PUBLIC}
    for table in POLICIES["world"].protected():
        described = CATALOG.tables[table.name]
        if isinstance(table.unit, IdentifierUnit):
            found[table.name.name] = table.unit.column
        else:
            found[table.name.name] = described.columns[0].name
    return found


@dataclass(frozen=True)
class Both:
    cluster: Cluster
    auditor: Auditor
    shards: tuple[Auditor, ...]

    def added_up(self, block: BlockPlan, schema: str) -> Exact:
        """Each shard answers for itself; the release code adds up, as it does with cells."""
        each = [shard.tables(block, schema) for shard in self.shards]
        tables = [
            ExactTable(
                tuple(row for table in same for row in table.rows), same[0].slots, same[0].releases
            )
            for same in zip(*each, strict=True)
        ]
        with watching() as seen:
            noisy = unchecked_blocks.release_block(block, tables, SeededBits(1))
        return Exact.of(block, tables, [row.keys for row in noisy.rows], seen)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    binaries = binaries_with_foreign_tables()
    if binaries is None:
        pytest.skip("no PostgreSQL of this machine has postgres_fdw")
    cluster = start_cluster(tmp_path_factory.mktemp("shards"), binaries)
    try:
        with psycopg.connect(cluster.dsn, autocommit=True) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            cluster.everywhere(create_types())
            for base, _, rows, _ in synthetic._bases():
                if base in _BASES:
                    synthetic.plant_rows(connection, base, rows)
            for name in DEMO_SAMPLES:
                sample = sample_policy(name)
                with connection.transaction():
                    connection.execute((sample.schema + sample.rows).encode())
                connection.execute("DISCARD TEMP")
        for base in _BASES:
            cluster.distribute(base, _sharded(base), _units())
        for database, units in _DEMO.items():
            cluster.distribute(database, _sharded(database), units)
        auditors = [Auditor(server.dsn(), ()) for server in (cluster.coordinator, *cluster.shards)]
        yield Both(cluster, auditors[0], tuple(auditors[1:]))
        for auditor in auditors:
            auditor.close()
    finally:
        cluster.stop()


def _comparable(block: BlockPlan, exact: Exact) -> Exact:
    """Without medians whose partitions are drawn per row, which no two runs have in common."""
    unit = block.neighbours
    if not block.sub_partitions or not isinstance(unit, RowNeighbours) or not unit.is_random:
        return exact
    kept = tuple(
        {} if isinstance(release, SampleAggregate) else numbers
        for release, numbers in zip(block.releases, exact.numbers, strict=True)
    )
    return replace(exact, numbers=kept)


def test_rows_are_on_all_shards(both: Both) -> None:
    """A table with few units may leave one of three out."""
    held = [0] * SHARDS
    for table, unit in _units().items():
        if unit is not None:
            found = both.cluster.rows(_sharded("crowd"), table)
            assert sum(map(bool, found)) >= 2, (table, found)
            held = [before + more for before, more in zip(held, found, strict=True)]
    assert all(held)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_the_same_results_as_on_one_server(number: int, both: Both) -> None:
    pipeline = golden_pipeline(CASES[number])
    for block in pipeline.plan.blocks:
        base = "crowd" if is_crowded(block.source) else "hostile"
        one, three = (both.auditor.exact(block, schema) for schema in (base, _sharded(base)))
        assert _comparable(block, three) == _comparable(block, one)


@pytest.mark.parametrize("number", range(len(FIFTY)), ids=lambda n: FIFTY[n].name)
def test_the_fifty_have_the_same_results_as_on_one_server(number: int, both: Both) -> None:
    database = database_of(FIFTY[number])
    for block in planned(FIFTY[number]).plan.blocks:
        one, three = (both.auditor.exact(block, s) for s in (database, _sharded(database)))
        assert _comparable(block, three) == _comparable(block, one)


def _is_local(block: BlockPlan) -> bool:
    """Whether everything that meets is distributed alike: by the unit, which is on the row itself."""
    tables = [POLICIES["world"].tables[scan.table] for scan in scans(block.source)]
    protected = [table for table in tables if isinstance(table, ProtectedTable)]
    units = [
        t.unit for t in protected if isinstance(t.unit, IdentifierUnit) and t.unit.path is None
    ]
    alone = len(protected) == 1 and not isinstance(block.source, Join)
    return not is_crowded(block.source) and (len(units) == len(protected) or alone)


def _additive(block: BlockPlan, exact: Exact) -> Exact:
    """Without values that several shards may have: distinct ones, and those of which ranks are taken."""
    exact = _comparable(block, exact)
    kept = tuple(
        {} if isinstance(release, OrderStatistic | DistinctCount) else numbers
        for release, numbers in zip(block.releases, exact.numbers, strict=True)
    )
    return replace(exact, numbers=kept, sizes={})


def _blocks() -> Iterator[tuple[str, BlockPlan]]:
    for case in CASES:
        yield from ((case.place, block) for block in golden_pipeline(case).plan.blocks)


def test_shards_can_answer_for_themselves(both: Both) -> None:
    """Units never meet before they are added up, so that the sum over the shards is the whole."""
    compared = 0
    for place, block in _blocks():
        if _is_local(block):
            here = both.auditor.exact(block, "hostile")
            found = both.added_up(block, _sharded("hostile"))
            assert _additive(block, found) == _additive(block, here), place
            compared += 1
    print(f"{compared} blocks")
    assert compared > 100


def test_where_units_meet_they_cannot(both: Both) -> None:
    """Private joins by truncation, and rows that are elsewhere than what leads to their unit."""
    others = [(place, block) for place, block in _blocks() if not _is_local(block)]
    differ = []
    for place, block in others:
        base = "crowd" if is_crowded(block.source) else "hostile"
        here = both.auditor.exact(block, base)
        if _additive(block, both.added_up(block, _sharded(base))) != _additive(block, here):
            differ.append(place)
    print(f"{len(differ)} of {len(others)} blocks differ")
    assert len(differ) > len(others) / 3
