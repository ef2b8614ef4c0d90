"""MIN and MAX of rows at the ends of a column, beside those of all rows: the same laws, whatever the ends."""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.compiler import value_scan
from proxy.compiler.backend_query import (
    END_ROWS,
    HIGH_END,
    LOW_END,
    BackendQuery,
    ColumnEnds,
    StoredColumn,
)
from proxy.compiler.value_ends import end_rows
from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, OrderStatistic
from proxy.mechanisms import order_statistic
from proxy.protected import column_statistics
from proxy.protected.column_statistics import LookedUpEnds
from proxy.protected.protected_connection import ProtectedConnection
from proxy.protected.protected_database import ProtectedDatabase
from proxy.release.ordering import order_law, size_of
from tests.live.served_database import planned, served_database
from tests.servers_fixture import servers
from tests.uncharged_statements import read, written
from tests.unchecked_blocks import compile_block

_NAME = "value_ends"
# Values that many rows share, within the bounds, beyond them and at both ends; none, NaN and the infinite.
_SCRIPT = """\
CREATE TABLE public.shops (shop int PRIMARY KEY, town text);
INSERT INTO shops SELECT g, (ARRAY['a', 'b'])[1 + g % 2] FROM generate_series(1, 5) g;
CREATE TABLE public.aged (i int);
CREATE TABLE public.t AS
SELECT g AS id, 1 + g % 5 AS shop, CASE WHEN i BETWEEN 300 AND 500 THEN 'middle' ELSE 'outer' END AS k,
       CASE WHEN g % 9 > 0 THEN i - 200 END AS i,
       (i % 90)::smallint AS s, i * 10::bigint ^ 9 AS b,
       CASE g % 13 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' ELSE i / 7.0 - 5 END::numeric(10, 3) AS n,
       CASE g % 17 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN '-Infinity' WHEN 3 THEN 'Infinity'
            ELSE i / 3.0 END::float8 AS f,
       (i / 8.0)::real AS r, CASE WHEN g % 3 > 0 THEN 0 ELSE i END AS z
FROM (SELECT g, (g * 7919) % 1000 AS i FROM generate_series(1, 4000) g) d;
"""
_TABLES = """\
tables:
  public.shops: public
  public.aged: {unit: row, columns: {i: {bounds: [0, 700]}}}
  public.t:
    unit: row
    columns:
      k: {values: [middle, outer]}
      shop: {references: public.shops.shop}
      i: {bounds: [0, 700]}
      s: {bounds: [0, 80]}
      b: {bounds: [0, 900000000000]}
      n: {bounds: [0, 120]}
      f: {bounds: [0, 300]}
      r: {bounds: [-10, 100]}
      z: {bounds: [0, 1000]}
"""
_COLUMNS = ("i", "s", "b", "n", "f", "r", "z")
_ALL: Mapping[str, str | None] = {LOW_END: None, HIGH_END: None, END_ROWS: None}


@functools.cache
def _database() -> Database:
    return served_database(servers(), _NAME, _SCRIPT, _TABLES, "best")


def _block(asked: str) -> tuple[BlockPlan, BackendQuery]:
    (block,) = planned(_database(), f"SELECT {asked}").blocks
    (query,) = (one for one in compile_block(block) if 0 in one.releases)
    return block, written(query)


def _read(query: BackendQuery, *ends: Mapping[str, str | None]) -> list[ExactTable]:
    async def run() -> list[ExactTable]:
        protected = ProtectedDatabase(servers().protected.dsn(_NAME), sessions_max=1)
        await protected.open()
        try:
            return [await read(protected, query, one) for one in ends]
        finally:
            await protected.close()

    return asyncio.run(run())


def _agree(block: BlockPlan, whole: ExactTable, table: ExactTable) -> bool:
    """Whether each release has the law, and the size, of all rows."""
    return all(
        order_statistic.apart(*laws) == order_statistic.apart(*reversed(laws)) == 0
        and size_of(release, slots, table.rows) == size_of(release, slots, whole.rows)
        for release, slots in zip(block.releases, table.slots, strict=True)
        if isinstance(release, OrderStatistic)
        for laws in [[order_law(release, slots, one.rows) for one in (table, whole)]]
    )


def _pairs(query: BackendQuery) -> list[Mapping[str, str | None]]:
    """Ends in all places, in both orders, between values and at them."""
    assert query.ends is not None
    column = query.ends.place.column
    extra = {"n": ["NaN", "-4.999"], "f": ["NaN", "-Infinity", "Infinity"]}.get(column, [])
    factor = 10**9 if column == "b" else 1
    values = [str(value * factor) for value in (-300, 0, 1, 3, 40, 79, 140, 400, 690, 2000)] + extra
    rows = str(query.ends.needed)
    pairs = itertools.product(values, repeat=2)
    return [{LOW_END: low, HIGH_END: high, END_ROWS: rows} for low, high in pairs]


@pytest.mark.every(8)
@pytest.mark.parametrize("column", _COLUMNS)
@pytest.mark.parametrize("asked", ["min({0}), max({0})", "min({0})", "max({0})"])
def test_laws_are_those_of_all_rows(column: str, asked: str) -> None:
    block, query = _block(f"{asked.format(column)} FROM t")
    assert query.ends is not None and query.ends.place.column == column
    whole, *tables = _read(query, _ALL, *_pairs(query))
    enough = [table for table in tables if table.rows]
    assert len(enough) > 5 and len(tables) - len(enough) > 5, "ends with too few rows, too"
    assert all(_agree(block, whole, table) for table in enough)


def test_a_statement_that_takes_too_few_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above compares differs where nobody looks whether there are enough."""

    def anything(*given: object) -> object:
        found = end_rows(*given)  # type: ignore[arg-type]
        return None if found is None else replace(found, enough="true")

    monkeypatch.setattr(value_scan, "end_rows", anything)
    block, query = _block("min(i), max(i) FROM t")
    whole, *tables = _read(query, _ALL, *_pairs(query))
    apart = [table for table in tables if table.rows and not _agree(block, whole, table)]
    assert len(apart) > 10


@pytest.mark.parametrize(
    "asked",
    [
        # Whoever asks chooses which rows these are.
        "min(i), max(i) FROM t WHERE k = 'outer'",
        "min(i) FILTER (WHERE k = 'outer') FROM t",
        "max(n) FROM t JOIN shops USING (shop)",
        "min(i) FROM (SELECT i FROM t WHERE k = 'outer') d",
        "k, min(i) FROM t GROUP BY k",
        # More than the rows at the ends is needed.
        "min(i), percentile_cont(0.5) WITHIN GROUP (ORDER BY i) FROM t",
        "percentile_cont(1) WITHIN GROUP (ORDER BY i) FROM t",
        "count(DISTINCT i) FROM t",
        "min(i + s) FROM t",
    ],
)
def test_which_statements_read_all_rows(asked: str) -> None:
    _, query = _block(asked)
    assert query.ends is None


class _Sent:
    """What a session is sent that reads a table."""

    def __init__(self) -> None:
        self.statements: list[Sequence[object]] = []

    def are_whole(self) -> list[bool]:
        """Of each, whether it reads all rows."""
        return [None in values for values in self.statements]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Sent]:
    found, send = _Sent(), ProtectedConnection.send

    def recorded(connection: ProtectedConnection, text: bytes, values: Sequence[object]) -> None:
        if b'FROM "public".' in text:
            found.statements.append(values)
        send(connection, text, values)

    monkeypatch.setattr(ProtectedConnection, "send", recorded)
    monkeypatch.setattr(column_statistics, "LEAST_ROWS", 1)
    yield found


@pytest.mark.parametrize(
    ("asked", "gone", "statements"),
    [
        ("min(i), max(i)", "", [False]),
        ("max(i)", "i > 799 - 200", [False, True]),
        ("min(i)", "i > 799 - 200", [False]),
        ("min(i), max(i)", "i < -100", [False, True]),
        ("min(i), max(i)", "true", [False, True]),
    ],
)
def test_where_rows_at_the_ends_have_gone_all_are_read(
    asked: str, gone: str, statements: list[bool], sent: _Sent
) -> None:
    """Since the statistics were taken."""
    _, query = _block(f"{asked} FROM aged")
    assert query.ends is not None
    query = replace(query, ends=replace(query.ends, needed=1))
    with psycopg.connect(servers().protected.dsn(_NAME), autocommit=True) as connection:
        connection.execute("TRUNCATE aged; INSERT INTO aged SELECT i FROM t; ANALYZE aged")
        if gone:
            connection.execute(f"DELETE FROM aged WHERE {gone}".encode())
    (table,) = _read(query, {})
    assert sent.are_whole() == statements
    (whole,) = _read(replace(query, ends=None), {})
    assert table == whole if len(statements) == 2 else table.rows


@pytest.mark.parametrize(("needed", "is_whole"), [(10, False), (11, True)])
def test_statistics_say_how_many_rows_are_at_an_end(
    needed: int, is_whole: bool, sent: _Sent
) -> None:
    """A hundredth of 4,040 rows with a value that they do not share, of which a quarter has to be there."""
    _, query = _block("min(i) FROM aged")
    assert query.ends is not None
    with psycopg.connect(servers().protected.dsn(_NAME), autocommit=True) as connection:
        connection.execute("TRUNCATE aged; INSERT INTO aged SELECT generate_series(1, 4040)")
        connection.execute(
            "INSERT INTO aged SELECT n FROM generate_series(1, 900), (VALUES (NULL), (7)) v(n)"
        )
        connection.execute("ANALYZE aged")
    _read(replace(query, ends=replace(query.ends, needed=needed)), {})
    assert sent.are_whole() == [is_whole]


def test_of_a_small_table_the_ends_are_not_looked_for(
    sent: _Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, query = _block("min(i) FROM t")
    assert query.ends is not None
    one = replace(query, ends=replace(query.ends, needed=1))
    _read(one, {})
    monkeypatch.setattr(column_statistics, "LEAST_ROWS", 4001)
    _read(one, {})
    assert sent.are_whole() == [False, True]


def test_nodes_share_no_statistics(sent: _Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProtectedConnection, "is_distributed", True)
    _, query = _block("min(i) FROM t")
    assert query.ends is not None
    _read(replace(query, ends=replace(query.ends, needed=1)), {})
    assert sent.are_whole() == [True]


def test_where_the_ends_are_is_in_no_text() -> None:
    place = StoredColumn(schema="public", table="t", column="i")
    ends = LookedUpEnds(ColumnEnds(place=place, needed=1))
    ends.found = {LOW_END: "4711", HIGH_END: "4712"}
    assert "471" not in repr(ends)
