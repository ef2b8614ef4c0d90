"""Rows that nothing names: their partitions are by where they are stored.

The proof is in PROOFS.md, "Partitions of rows without a key"."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.compiler.backend_query import BackendQuery
from proxy.exact.table import ExactTable
from proxy.protected.protected_database import ProtectedDatabase
from tests.live.served_database import planned, served_database
from tests.servers_fixture import servers
from tests.uncharged_statements import read
from tests.unchecked_blocks import compile_block

_NAME = "rows_without_key"
_ROWS = 20_000
_SCRIPT = f"""\
CREATE TABLE public.t AS SELECT g % 100 AS v, (g % 3)::text AS k FROM generate_series(1, {_ROWS}) g;
CREATE VIEW public.seen AS SELECT * FROM public.t;
CREATE TABLE public.twice AS SELECT g AS id, (g % 3)::text AS k FROM generate_series(1, 6) g;
ALTER TABLE public.twice ADD PRIMARY KEY (id)
"""
_TABLES = """\
tables:
  public.t:
    unit: row
    columns: {v: {bounds: [0, 100], partitions: 101}, k: {values: ['0', '1', '2']}}
  public.seen:
    unit: row
    columns: {v: {bounds: [0, 100], partitions: 101}}
  public.twice:
    unit: public
    join_keys: {k: {keep: 2}}
"""


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Database, str]]:
    pair = servers()
    database = served_database(pair, _NAME, _SCRIPT, _TABLES)
    yield database, pair.protected.dsn(_NAME)


def _query(database: Database, question: str) -> BackendQuery:
    (block,) = planned(database, question).blocks
    (query,) = compile_block(block)
    return query


def _cells(query: BackendQuery, source: str, seed: int) -> Mapping[int, tuple[int | None, ...]]:
    async def run() -> ExactTable:
        protected = ProtectedDatabase(source, sessions_max=1)
        await protected.open()
        try:
            return await read(protected, query, dict.fromkeys(query.seeds, seed))
        finally:
            await protected.close()

    rows = asyncio.run(run()).rows
    assert len({row.cell for row in rows}) == len(rows)
    return {row.cell: row.values for row in rows}


_AVERAGE = "SELECT avg(v) FROM t"


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_a_row_that_leaves_changes_its_partition_alone(
    served: tuple[Database, str], seed: int
) -> None:
    database, source = served
    query = _query(database, _AVERAGE)
    before = _cells(query, source, seed)
    with psycopg.connect(source) as connection:
        connection.execute("DELETE FROM t WHERE ctid = (SELECT ctid FROM t OFFSET 4242 LIMIT 1)")
        connection.commit()
    after = _cells(query, source, seed)
    changed = [cell for cell in before if before[cell] != after.get(cell)]
    assert len(changed) == 1


@pytest.mark.parametrize("seed", range(1, 6))
def test_rows_are_spread_evenly(served: tuple[Database, str], seed: int) -> None:
    """Chi-square with 100 degrees of freedom: above 172 once in 100,000 times; keyed by nothing else."""
    database, source = served
    query = _query(database, "SELECT avg(v) FROM t")
    cells = _cells(query, source, seed)
    (count,) = {slots.count for slots in query.slots if slots.count is not None}
    seen = [cells[cell][count] or 0 for cell in range(101)]
    expected = sum(seen) / 101
    assert sum((number - expected) ** 2 / expected for number in seen) < 172


def test_seeds_decide(served: tuple[Database, str]) -> None:
    database, source = served
    query = _query(database, _AVERAGE)
    assert _cells(query, source, 1) == _cells(query, source, 1)
    assert _cells(query, source, 1) != _cells(query, source, 2)


def test_copies_of_a_row_are_in_its_partition(served: tuple[Database, str]) -> None:
    """The plan takes one row that a public table repeats for one partition."""
    database, source = served
    joined = _query(database, "SELECT avg(v) FROM t JOIN twice ON t.k = twice.k")
    with psycopg.connect(source) as connection:
        connection.execute("DELETE FROM t WHERE ctid = (SELECT ctid FROM t OFFSET 99 LIMIT 1)")
        before = _cells(joined, source, 7)
        connection.commit()
    after = _cells(joined, source, 7)
    (changed,) = [cell for cell in before if before[cell] != after.get(cell)]
    (count,) = {slots.count for slots in joined.slots if slots.count is not None}
    assert (before[changed][count] or 0) - (after[changed][count] or 0) == 2


def test_it_runs_in_parallel(served: tuple[Database, str]) -> None:
    database, source = served
    query = _query(database, _AVERAGE)
    with psycopg.connect(source) as connection:
        connection.execute("SET min_parallel_table_scan_size = 0")
        connection.execute("SET parallel_setup_cost = 0")
        values = {**query.parameters, **dict.fromkeys(query.seeds, 1)}
        plan = connection.execute(f"EXPLAIN {query.sql}".encode(), values).fetchall()
    assert any("Parallel Seq Scan" in line for (line,) in plan)


def test_rows_of_a_view_go_to_random_partitions(served: tuple[Database, str]) -> None:
    database, source = served
    query = _query(database, "SELECT avg(v) FROM seen")
    assert "ctid" not in query.sql and "pg_catalog.random()" in query.sql
    assert len(_cells(query, source, 1)) == 101
