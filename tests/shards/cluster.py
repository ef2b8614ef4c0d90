"""Three PostgreSQL servers with a third of the rows each, and a coordinator that sees them as one database.

Every protected table is a table partitioned by the hash of its privacy unit, with a foreign table
(postgres_fdw, manual appendix F) on each shard as its partitions; public tables are whole everywhere.
Beside them, in a schema of their own, stand the same tables in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from proxy.postgres.embedded import EmbeddedPostgres, start_together
from proxy.postgres.postgres_binaries import Binaries, find_binaries
from tests.postgres_majors import extension_folder, other_binaries

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
