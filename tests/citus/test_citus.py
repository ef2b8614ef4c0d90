"""On Citus compiled statements give the exact results of one server, whatever settings its nodes start with;
and what its nodes cannot run is refused before it is charged.

Needs a PostgreSQL for which Citus is installed: `make test-citus`, CONTRIBUTING.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from proxy.base.errors import Code, Fault, Refusal
from proxy.compiler.compiling import CompiledQuery
from proxy.doctor.diagnosis_session import connect
from proxy.doctor.distribution_diagnosis import distribution_findings
from proxy.doctor.server_diagnosis import server_findings
from proxy.kernel.plan import BlockPlan
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.postgres.embedded import LOOPBACK, EmbeddedPostgres, start_together
from proxy.postgres.postgres_binaries import Binaries, find_binaries
from proxy.protected.protected_database import ProtectedDatabase
from proxy.protected.reading_settings import SETTINGS
from proxy.turns.threads import Turn
from tests.audit.exact_results import Auditor, compiled_on
from tests.databases.clinic import clinic_policy
from tests.postgres_majors import all_other_binaries, extension_folder
from tests.shards.distributed_tables import (
    CASES,
    FIFTY,
    blocks_of_fifty,
    comparable,
    golden_blocks,
    plant,
    sharded,
)
from tests.uncharged_statements import compiled_anyhow
from tests.unchecked_blocks import unchecked

SHARDS = 4  # of a table, on two workers
_SETTINGS = {
    "shared_preload_libraries": "citus",
    "wal_level": "logical",
    "max_wal_senders": "10",
    "max_replication_slots": "10",
    "max_prepared_transactions": "200",
    "citus.shard_count": str(SHARDS),
}
# The nodes reach each other by loopback, without passwords: servers of a test, with invented rows.
_ACCESS = "local all all scram-sha-256\nhost all all 127.0.0.1/32 trust\n"


def binaries_with_citus() -> Binaries | None:
    """Of a PostgreSQL for which Citus is installed; None where there is none."""
    for found in (find_binaries(), *all_other_binaries()):
        folder = extension_folder(found)
        if folder is not None and (folder / "citus.control").is_file():
            return found
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CitusCluster:
    """
    Attributes:
        coordinator: The node that dpproxy asks; its own tables are plain ones.
        workers: They hold the shards of distributed tables.
    """

    coordinator: EmbeddedPostgres
    workers: tuple[EmbeddedPostgres, ...]

    @property
    def dsn(self) -> str:
        return self.coordinator.dsn()

    def distribute(self, plain: str, sharded: str, units: Mapping[str, str | None]) -> None:
        """Copy the tables of a schema into another one, in which they are distributed.

        Args:
            plain: A schema of the coordinator.
            sharded: The new schema.
            units: Of each table the column by whose hash its rows are distributed; None: it is whole on every
                node.
        """
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(sharded)))
            for table, unit in units.items():
                there, here = sql.Identifier(plain, table), sql.Identifier(sharded, table)
                name = sql.Literal(f"{sharded}.{table}")
                connection.execute(
                    sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING DEFAULTS)").format(here, there)
                )
                if unit is None:
                    call = sql.SQL("SELECT create_reference_table({})").format(name)
                else:
                    call = sql.SQL("SELECT create_distributed_table({}, {})").format(
                        name, sql.Literal(unit)
                    )
                connection.execute(call)
                if unit is not None:  # Citus has no place for a row without one
                    nobody = sql.SQL("DELETE FROM {} WHERE {} IS NULL")
                    connection.execute(nobody.format(there, sql.Identifier(unit)))
                connection.execute(sql.SQL("INSERT INTO {} SELECT * FROM {}").format(here, there))

    def make_types(self, statement: str) -> None:
        """Make types. Citus copies them to the workers."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(statement.encode())

    def stop(self) -> None:
        for server in (self.coordinator, *self.workers):
            server.stop()


def start_citus(
    folder: Path, binaries: Binaries, of_worker: Mapping[str, str] | None = None
) -> CitusCluster:
    """Start a cluster.

    Args:
        folder: Where the data of the nodes goes.
        binaries: Of a PostgreSQL that has Citus.
        of_worker: More settings of the first worker.
    """
    servers = [
        EmbeddedPostgres(
            folder,
            name,
            pg_bin=binaries.folder,
            durable=False,
            settings={**_SETTINGS, **(of_worker or {} if name == "worker_1" else {})},
        )
        for name in ("coordinator", "worker_1", "worker_2")
    ]
    start_together(servers)
    coordinator, *workers = servers
    with ExitStack() as stack:
        for server in servers:
            (server.home / "data" / "pg_hba.conf").write_text(_ACCESS)
            connection = stack.enter_context(psycopg.connect(server.dsn(), autocommit=True))
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE EXTENSION citus")
    with psycopg.connect(coordinator.dsn(), autocommit=True) as connection:
        _, port = coordinator.address
        connection.execute("SELECT citus_set_coordinator_host(%s, %s)", (LOOPBACK, port))
        for worker in workers:
            connection.execute("SELECT citus_add_node(%s, %s)", worker.address)
    return CitusCluster(coordinator=coordinator, workers=tuple(workers))


pytestmark = pytest.mark.long

_NODES = {"alike": {}, "elsewhere": {"timezone": "Asia/Tokyo", "datestyle": "SQL, DMY"}}


@dataclass(frozen=True)
class OnCitus:
    cluster: CitusCluster
    auditor: Auditor


@pytest.fixture(scope="module", params=list(_NODES))
def citus(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OnCitus]:
    cluster = start_citus(tmp_path_factory.mktemp("citus"), _binaries(), _NODES[request.param])
    try:
        plant(cluster)
        _set_role(cluster)
        auditor = Auditor(cluster.dsn, ())
        yield OnCitus(cluster, auditor)
        auditor.close()
    finally:
        cluster.stop()


def _binaries() -> Binaries:
    binaries = binaries_with_citus()
    if binaries is None:
        pytest.skip("no PostgreSQL of this machine has Citus")
    return binaries


def _set_role(cluster: CitusCluster) -> None:
    """As `dpproxy policy role` does."""
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        for name, value in SETTINGS.items():
            connection.execute(f"ALTER ROLE postgres SET {name} = {value}".encode())


def _compiled(block: BlockPlan, schema: str) -> list[CompiledQuery]:
    of = unchecked(block)
    return [compiled_anyhow(query, of) for query in compiled_on(block, schema)]


def _is_refused(citus: OnCitus, block: BlockPlan, schema: str) -> bool:
    """Whether the nodes cannot run it, by what is asked before a charge."""

    async def ask() -> bool:
        data = ProtectedDatabase(citus.cluster.dsn, sessions_max=1)
        await data.open()
        try:
            async with data.session(Turn("ada")) as session:
                await session.refuse_impossible(_compiled(block, schema))
        except Refusal as refused:
            assert refused.code is Code.UNSUPPORTED
            return True
        finally:
            await data.close()
        return False

    return asyncio.run(ask())


def _is_the_same(citus: OnCitus, block: BlockPlan, base: str) -> bool:
    """Whether the nodes give what one server does. False: they were said not to, and do not."""
    schema = sharded(base)
    if _is_refused(citus, block, schema):
        with pytest.raises(Fault):
            citus.auditor.exact(block, schema)
        return False
    one, distributed = (citus.auditor.exact(block, where) for where in (base, schema))
    assert comparable(block, distributed) == comparable(block, one)
    return True


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_the_same_results_as_on_one_server(number: int, citus: OnCitus) -> None:
    """Units of another type in each table: their joins are those that no nodes can run."""
    can_run = [_is_the_same(citus, *block) for block in golden_blocks(number)]
    assert all(can_run) or "JOIN" in _texts(number)


def _texts(number: int) -> str:
    queries = (one for block, base in golden_blocks(number) for one in _compiled(block, base))
    return " ".join(query.sql for query in queries)


@pytest.mark.parametrize("number", range(len(FIFTY)), ids=lambda n: FIFTY[n].name)
def test_the_fifty_have_the_same_results_as_on_one_server(number: int, citus: OnCitus) -> None:
    """Tables of one unit, distributed alike: all of them can be run."""
    for block in blocks_of_fifty(number):
        assert _is_the_same(citus, *block)


def test_most_statements_are_one_scan_of_the_shards(
    citus: OnCitus, capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str, list[str]] = {"shards": [], "gathered": []}
    with psycopg.connect(citus.cluster.dsn, autocommit=True) as connection:
        for number in range(len(FIFTY)):
            for block, base in blocks_of_fifty(number):
                plans = [_plan(connection, query) for query in _compiled(block, sharded(base))]
                where = "gathered" if any("Subplan" in plan for plan in plans) else "shards"
                found[where].append(FIFTY[number].name)
    with capsys.disabled():
        print("".join(f"\n{where}: {', '.join(names)}" for where, names in found.items()))
    assert len(found["shards"]) > len(found["gathered"])


def _plan(connection: psycopg.Connection, query: CompiledQuery) -> str:
    rows = connection.execute(f"EXPLAIN (COSTS OFF) {query.without_values()}".encode())
    return "\n".join(line for (line,) in rows)


def test_nodes_that_compute_otherwise_are_not_asked(tmp_path: Path) -> None:
    binaries = _binaries()
    cluster = start_citus(tmp_path, binaries, _NODES["elsewhere"])
    try:
        with pytest.raises(Fault):
            asyncio.run(_opened(cluster))
        found = _found(cluster)
        assert {one.where.partition(" on ")[0] for one in found} == {"TimeZone", "DateStyle"}
        with psycopg.connect(cluster.dsn, autocommit=True) as connection:
            for one in found:
                connection.execute(one.fix.encode())
        assert not _found(cluster)
        asyncio.run(_opened(cluster))
    finally:
        cluster.stop()


async def _opened(cluster: CitusCluster) -> None:
    data = ProtectedDatabase(cluster.dsn)
    await data.open()
    await data.close()


def _found(cluster: CitusCluster) -> list[Finding]:
    with connect(cluster.dsn) as connection:
        found = list(server_findings(connection, ""))
    return [one for one in found if one.name is FindingName.SETTING_CHANGES_MEANING]


_SHOP = """
CREATE SCHEMA s;
CREATE TABLE s.products (id integer PRIMARY KEY, category text);
CREATE TABLE s.customers (id integer PRIMARY KEY, state text);
CREATE TABLE s.orders
    (id integer PRIMARY KEY, customer integer NOT NULL, product integer, UNIQUE (id, product));
CREATE UNIQUE INDEX ON s.orders (id, customer, product);
CREATE TABLE s.calls (id integer, customer integer NOT NULL);
CREATE TABLE s.lines (order_id integer, amount integer);
SELECT create_distributed_table('s.orders', 'id');
SELECT create_distributed_table('s.calls', 'customer', colocate_with := 'none');
"""
_POLICY = """
tables:
  s.products: public
  s.customers: {unit: {person: id}, max_rows_per_unit: 1, columns: {state: {}}}
  s.orders: {unit: {person: customer}, max_rows_per_unit: 5, columns: {product: {}}}
  s.calls: {unit: {person: customer}, max_rows_per_unit: 5, columns: {id: {}}}
"""


def test_what_doctor_advises_works(tmp_path: Path) -> None:
    cluster = start_citus(tmp_path, _binaries(), {})
    policy = clinic_policy(_POLICY)
    try:
        with psycopg.connect(cluster.dsn, autocommit=True) as connection:
            connection.execute(_SHOP.encode())
            rounds = 0
            while found := list(distribution_findings(connection, policy)):
                rounds += 1
                assert rounds <= 2, [one.what for one in found]
                for one in found:
                    connection.execute(one.fix.encode())
        with connect(cluster.dsn) as connection:
            rows = connection.execute(
                "SELECT count(DISTINCT colocationid), count(*) FROM pg_catalog.pg_dist_partition"
                " WHERE partmethod = 'h'"
            ).fetchall()
        assert rows == [(1, 3)]
    finally:
        cluster.stop()
