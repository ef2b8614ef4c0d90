"""A tiny PostgreSQL database in the schema of tests.pipeline_world: plans on it and on its neighbours."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg

from proxy.audit.movement import Movement, movements
from proxy.base.sql_types import SqlType
from proxy.compiler.backend_query import BETWEEN_PARTS, CUT, FIRST_PART, HALF, BackendQuery
from proxy.compiler.binds import Binds, identifier
from proxy.compiler.relation_sql import source_sql
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.owners import ColumnName
from proxy.kernel.plan import BlockPlan
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.reading_settings import SESSION
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Relation
from tests.pipeline_world import CATALOG, SCHEMA
from tests.stored_types import LABELS
from tests.unchecked_blocks import compiled

_SEED = 4_242_424_242_424_242
FoundRow = tuple[Any, ...]


class TinyDatabase:
    """One database, whose rows are given by SQL."""

    def __init__(self) -> None:
        home = Path(tempfile.mkdtemp(prefix="dpproxy-tiny-"))
        server = EmbeddedPostgres(home, "tiny", tcp=False, durable=False)
        server.start()
        self._dsn = server.dsn()
        self._connection = psycopg.connect(self._dsn, autocommit=True)
        atexit.register(self._stop, server, home)
        labels = ", ".join(f"'{label}'" for label in LABELS)
        self._execute(
            "SET max_parallel_workers_per_gather = 0; SET jit = off; SET TimeZone = 'UTC'"
        )
        self._execute(f"CREATE TYPE public.mood AS ENUM ({labels}); CREATE SCHEMA {SCHEMA}")
        for table in CATALOG.tables.values():
            parts = [
                f"{column.name} {column.type_name}{'' if column.nullable else ' NOT NULL'}"
                for column in table.columns
            ]
            if table.primary_key:
                parts.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
            parts += [f"UNIQUE ({', '.join(unique)})" for unique in table.unique]
            self._execute(f"CREATE TABLE {SCHEMA}.{table.name.name} ({', '.join(parts)})")
        self._execute(f"SET search_path = {SCHEMA}")

    def _stop(self, server: EmbeddedPostgres, home: Path) -> None:
        self._connection.close()
        server.stop()
        shutil.rmtree(home, ignore_errors=True)

    def _execute(self, sql: str) -> None:
        self._connection.execute(sql.encode())

    def fill(self, sql: str) -> None:
        """Put these rows in place of all others."""
        names = ", ".join(map(str, CATALOG.tables))
        self._execute(f"TRUNCATE {names}; {sql}; ANALYZE")

    def run(self, sql: str) -> None:
        """Add rows, beside what is there."""
        self._execute(sql)

    @contextmanager
    def without(self, deletion: str) -> Iterator[None]:
        """The neighbour that lacks what a statement deletes."""
        self._execute("BEGIN")
        try:
            self._execute(deletion)
            yield
        finally:
            self._execute("ROLLBACK")

    def asked(self, sql: str) -> list[FoundRow]:
        return self._connection.execute(sql.encode()).fetchall()

    def rows(self, relation: Relation, shown: Sequence[ColumnName]) -> list[FoundRow]:
        """Those of a relation, as they are compiled, with the same seeds each time."""
        named = tuple(ColumnRef(column, SqlType.OTHER, None, alias) for alias, column in shown)
        binds = Binds()
        sql = source_sql(relation, [], binds, named)
        listed = ", ".join(f"{alias}.{identifier(name)}" for alias, name in shown)
        values = {**binds.values, **{name: _SEED + n for n, name in enumerate(binds.seeds)}}
        return self._connection.execute(f"SELECT {listed} FROM {sql}".encode(), values).fetchall()

    def type_of(self, relation: Relation, shown: ColumnName) -> str:
        """The type that PostgreSQL gives a column of a relation, as it is compiled. There has to be a row."""
        alias, column = shown
        binds = Binds()
        named = ColumnRef(column, SqlType.OTHER, None, alias)
        asked = f"SELECT pg_catalog.pg_typeof({alias}.{identifier(column)})::text FROM "
        sql = f"{asked}{source_sql(relation, [], binds, named)} LIMIT 1"
        values = {**binds.values, **dict.fromkeys(binds.seeds, _SEED)}
        row = self._connection.execute(sql.encode(), values).fetchone()
        assert row is not None
        return str(row[0])

    def tables(self, block: BlockPlan, seed: int = _SEED) -> list[ExactTable]:
        """What the compiled statements of a block give."""
        return [self.table(query, seed) for query in compiled(block)]

    def table(self, query: BackendQuery, seed: int = _SEED) -> ExactTable:
        """What one statement gives."""
        values: dict[str, Any] = {
            **query.parameters,
            **{name: seed + n for n, name in enumerate(query.seeds)},
        }
        for wanted in query.lists:
            found = self._connection.execute(
                wanted.sql.encode(), dict(wanted.parameters)
            ).fetchone()
            assert found is not None
            values[wanted.name] = found[2]
        rows = self._connection.execute(query.sql.encode(), values).fetchall()
        return ExactTable(tuple(_row(row, query) for row in rows), query.slots, query.releases)

    def in_two_parts(
        self, query: BackendQuery, text: str, half: int = 0, cut: str | None = None
    ) -> tuple[ExactTable, ExactTable]:
        """The first part of a statement of two, and all of it. The second one is told a text."""
        told = "SELECT pg_catalog.set_config(%s, %s, false)"
        self._connection.execute(told.encode(), (BETWEEN_PARTS, text))
        halved = {**query.parameters, HALF: str(half), CUT: cut}
        found = self.table(replace(query, parameters=halved))
        number, *rows = found.rows
        assert number.values[0] == FIRST_PART
        first = rows[: number.values[2]]
        return replace(found, rows=tuple(first)), replace(found, rows=tuple(rows))

    def explained(self, query: BackendQuery) -> list[dict[str, Any]]:
        """The nodes of the plan by which the protected database ran a statement."""
        values: dict[str, Any] = {**query.parameters, **dict.fromkeys(query.seeds, _SEED)}
        values |= {wanted.name: "{}" for wanted in query.lists}
        values |= {name: None for name, _ in query.scalars}
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute("; ".join(SESSION).encode())
            explain = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query.sql}"
            row = connection.execute(explain.encode(), values).fetchone()
        assert row is not None
        return list(_plan_nodes(row[0][0]["Plan"]))

    def moved(self, block: BlockPlan, deletion: str, seed: int = _SEED) -> list[Movement]:
        """How far a plan's exact results move, and how far they may, where a unit is deleted."""
        here = self.tables(block, seed)
        with self.without(deletion):
            there = self.tables(block, seed)
        return list(movements(block, here, there))


def _row(row: FoundRow, query: BackendQuery) -> ExactRow:
    left = list(row[query.keys :])
    cell = left.pop(0) if query.has_sub_partition else 0
    values = tuple(None if value is None else int(value) for value in left)
    assert list(values) == left, "release adds up whole numbers"
    units = 0 if query.units is None else values[query.units]
    return ExactRow(tuple(row[: query.keys]), cell, values, units or 0)


@functools.cache
def tiny_database() -> TinyDatabase:
    """The one of the process."""
    return TinyDatabase()


def _plan_nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _plan_nodes(below)
