"""Compiled statements give the same exact results on three shards as on one server, whatever way the rows
are distributed; and where they are distributed by the privacy unit, its rows are gathered on their shard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, DistinctCount, OrderStatistic
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.postgres.embedded import EmbeddedPostgres, start_together
from proxy.postgres.postgres_binaries import Binaries, find_binaries
from proxy.query.ir.relations import Join, scans
from tests import unchecked_blocks
from tests.audit.exact_results import Auditor
from tests.audit.reach import is_crowded
from tests.audit.without_noise import Exact, watching
from tests.pipeline_world import POLICIES
from tests.planner.test_golden_pipeline import golden_pipeline
from tests.postgres_majors import extension_folder, other_binaries
from tests.seeded_bits import SeededBits
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

SHARDS = 3
# Plans of the coordinator may aggregate and join on the shards.
_SETTINGS = {"enable_partitionwise_aggregate": "on", "enable_partitionwise_join": "on"}


def binaries_with_foreign_tables() -> Binaries | None:
    """The embedded PostgreSQL or the machine's; None where neither has postgres_fdw."""
    for found in (find_binaries(), other_binaries()):
        folder = None if found is None else extension_folder(found)
        if folder is not None and (folder / "postgres_fdw.control").is_file():
            return found
    return None


@dataclass(frozen=True)
class Cluster:
    coordinator: EmbeddedPostgres
    shards: tuple[EmbeddedPostgres, ...]

    @property
    def dsn(self) -> str:
        return self.coordinator.dsn()

    def make_types(self, statement: str) -> None:
        """A type that foreign tables have must be on each server."""
        for server in (self.coordinator, *self.shards):
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                connection.execute(statement.encode())

    def distribute(self, plain: str, sharded: str, units: Mapping[str, str | None]) -> None:
        """
        Given    plain: a schema of the coordinator, with tables; units: of each of them the column by whose
                 hash its rows are distributed, None for a whole copy
        Gives    the same tables in the schema `sharded`, on the shards
        """
        with ExitStack() as stack:
            shards = [
                stack.enter_context(psycopg.connect(shard.dsn(), autocommit=True))
                for shard in self.shards
            ]
            whole = stack.enter_context(psycopg.connect(self.dsn, autocommit=True))
            for connection in (whole, *shards):
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(sharded)))
            for table, unit in units.items():
                there, here = sql.Identifier(plain, table), sql.Identifier(sharded, table)
                if unit is None:
                    whole.execute(sql.SQL("CREATE TABLE {} AS TABLE {}").format(here, there))
                    for shard in shards:
                        _copy(whole, there, shard, here, _columns(whole, plain, table))
                    continue
                columns = _columns(whole, plain, table)
                for shard in shards:
                    shard.execute(sql.SQL("CREATE TABLE {} ({})").format(here, columns))
                whole.execute(
                    sql.SQL("CREATE TABLE {} ({}) PARTITION BY HASH ({})").format(
                        here, columns, sql.Identifier(unit)
                    )
                )
                for number in range(SHARDS):
                    whole.execute(
                        sql.SQL(
                            "CREATE FOREIGN TABLE {} PARTITION OF {} FOR VALUES WITH"
                            " (MODULUS {}, REMAINDER {}) SERVER {} OPTIONS (table_name {})"
                        ).format(
                            sql.Identifier(sharded, f"{table}_on_{number}"),
                            here,
                            sql.Literal(SHARDS),
                            sql.Literal(number),
                            sql.Identifier(f"shard_{number}"),
                            sql.Literal(table),
                        )
                    )
                whole.execute(sql.SQL("INSERT INTO {} SELECT * FROM {}").format(here, there))
            for connection in (whole, *shards):
                connection.execute("ANALYZE")

    def rows(self, schema: str, table: str) -> list[int]:
        """How many rows of a distributed table each shard holds."""
        found = []
        for shard in self.shards:
            with psycopg.connect(shard.dsn()) as connection:
                count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
                row = connection.execute(count).fetchone()
                assert row is not None
                found.append(int(row[0]))
        return found

    def stop(self) -> None:
        for server in (self.coordinator, *self.shards):
            server.stop()


def _copy(
    source: psycopg.Connection,
    there: sql.Identifier,
    target: psycopg.Connection,
    here: sql.Identifier,
    columns: sql.SQL,
) -> None:
    target.execute(sql.SQL("CREATE TABLE {} ({})").format(here, columns))
    read = source.cursor().copy(sql.SQL("COPY {} TO STDOUT").format(there))
    write = target.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(here))
    with read as rows, write as into:
        for piece in rows:
            into.write(piece)


def _columns(connection: psycopg.Connection, schema: str, table: str) -> sql.SQL:
    row = connection.execute(
        "SELECT string_agg(format('%%I %%s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)"
        " FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0",
        (f"{schema}.{table}",),
    ).fetchone()
    assert row is not None
    return sql.SQL(row[0])


def start_cluster(folder: Path, binaries: Binaries) -> Cluster:
    def server(name: str, settings: Mapping[str, str]) -> EmbeddedPostgres:
        return EmbeddedPostgres(
            folder, name, pg_bin=binaries.folder, tcp=False, durable=False, settings=settings
        )

    coordinator = server("coordinator", _SETTINGS)
    shards = tuple(server(f"shard_{number}", {}) for number in range(SHARDS))
    start_together([coordinator, *shards])
    with psycopg.connect(coordinator.dsn(), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION postgres_fdw")
        for number, shard in enumerate(shards):
            reached = conninfo_to_dict(shard.dsn())
            name = sql.Identifier(f"shard_{number}")
            connection.execute(
                sql.SQL(
                    "CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host {}, port {}, dbname {},"
                    " batch_size '500', async_capable 'true')"
                ).format(
                    name, *(sql.Literal(str(reached[key])) for key in ("host", "port", "dbname"))
                )
            )
            connection.execute(
                sql.SQL(
                    "CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS (user {}, password {})"
                ).format(name, *(sql.Literal(str(reached[key])) for key in ("user", "password")))
            )
    return Cluster(coordinator, shards)


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
