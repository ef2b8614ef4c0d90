"""A coordinator of Citus with two workers, which speak to each other over loopback."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from proxy.postgres.embedded import LOOPBACK, EmbeddedPostgres, start_together
from proxy.postgres.postgres_binaries import Binaries, find_binaries
from tests.postgres_majors import all_other_binaries, extension_folder

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
