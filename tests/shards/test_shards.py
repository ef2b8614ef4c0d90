"""Compiled statements give the same exact results on three shards as on one server, whatever way the rows
are distributed; and where they are distributed by the privacy unit, its rows are gathered on their shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, DistinctCount, OrderStatistic
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.relations import Join, scans
from tests import unchecked_blocks
from tests.audit.exact_results import Auditor
from tests.audit.reach import is_crowded
from tests.audit.without_noise import Exact, watching
from tests.pipeline_world import POLICIES
from tests.planner.test_golden_pipeline import golden_pipeline
from tests.seeded_bits import SeededBits
from tests.shards.cluster import SHARDS, Cluster, binaries_with_foreign_tables, start_cluster
from tests.shards.distributed_tables import (
    CASES,
    FIFTY,
    blocks_of_fifty,
    comparable,
    golden_blocks,
    plant,
    sharded,
    units,
)

pytestmark = pytest.mark.long


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
        plant(cluster)
        auditors = [Auditor(server.dsn(), ()) for server in (cluster.coordinator, *cluster.shards)]
        yield Both(cluster, auditors[0], tuple(auditors[1:]))
        for auditor in auditors:
            auditor.close()
    finally:
        cluster.stop()


def test_rows_are_on_all_shards(both: Both) -> None:
    """A table with few units may leave one of three out."""
    held = [0] * SHARDS
    for table, unit in units().items():
        if unit is not None:
            found = both.cluster.rows(sharded("crowd"), table)
            assert sum(map(bool, found)) >= 2, (table, found)
            held = [before + more for before, more in zip(held, found, strict=True)]
    assert all(held)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_the_same_results_as_on_one_server(number: int, both: Both) -> None:
    for block, base in golden_blocks(number):
        one, three = (both.auditor.exact(block, schema) for schema in (base, sharded(base)))
        assert comparable(block, three) == comparable(block, one)


@pytest.mark.parametrize("number", range(len(FIFTY)), ids=lambda n: FIFTY[n].name)
def test_the_fifty_have_the_same_results_as_on_one_server(number: int, both: Both) -> None:
    for block, database in blocks_of_fifty(number):
        one, three = (both.auditor.exact(block, s) for s in (database, sharded(database)))
        assert comparable(block, three) == comparable(block, one)


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
    exact = comparable(block, exact)
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
            found = both.added_up(block, sharded("hostile"))
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
        if _additive(block, both.added_up(block, sharded(base))) != _additive(block, here):
            differ.append(place)
    print(f"{len(differ)} of {len(others)} blocks differ")
    assert len(differ) > len(others) / 3
