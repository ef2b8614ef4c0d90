"""Means by groups are read in two sessions, half of the units each: with the rows of one session, of one
snapshot, and in one session where a second one cannot be had."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Fault
from proxy.cli.assembly import Database
from proxy.compiler.backend_query import (
    BELOW,
    CUT,
    EXTREMES,
    FROM_CUT_ON,
    HALF,
    OTHERS,
    BackendQuery,
    StoredColumn,
)
from proxy.compiler.deviation_scan import CentredScan, centres_text
from proxy.drawing import drawer
from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, with_centres
from proxy.protected import column_statistics, protected_connection, protected_database
from proxy.protected.protected_connection import ProtectedConnection
from proxy.protected.protected_database import ProtectedDatabase
from proxy.turns.threads import Turn
from tests.live.served_database import planned, served_database
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.uncharged_statements import unpaid, written
from tests.unchecked_blocks import compile_centres, drawn_centres, release_block

_NAME = "halves"
_KINDS = {
    "t": "i",
    "by_name": "'p' || i",
    "by_uuid": "md5(i::text)::uuid",
    "by_small": "(i - 300)::smallint",
    "by_odd": (
        "nullif((ARRAY['', ' ', 'a\"b', E'a\\\\b', '{a,b}', 'NULL', 'it''s', 'Z', 'a ', '$1', 'z'])[1 + i % 11]"
        " || CASE WHEN i % 5 = 0 THEN '' ELSE (i % 300)::text END, '') COLLATE \"C\""
    ),
    "by_varying": "((ARRAY['a', 'A', 'b'])[1 + i % 3] || i % 400)::varchar(20) COLLATE \"C\"",
}
_OF = {name: "person" if name == "t" else f"person_{name}" for name in _KINDS}
_COLUMNS = """
    rows_at_most: 100
    columns: {k: {values: [x, y, z]}, l: {values: [u, v]}, a: {bounds: [-50, 50]}, b: {bounds: [0, 10]}}
"""
_PEOPLE = """\
  public.people:
    unit: {person: id}
    columns: {kind: {values: [even, odd]}}
"""
_LINES = """\
  public.orders:
    unit: {person: uid}
    rows_at_most: 100
    columns: {oid: {}}
  public.lines:
    unit: {person: oid -> public.orders.uid}
    max_rows_per_unit: 3
    columns: {k: {values: [x, y, z]}, a: {bounds: [-50, 50]}, n: {bounds: [0, 60]}}
"""
_TABLES = f"tables:\n{_PEOPLE}{_LINES}" + "".join(
    f"  public.{name}:\n    unit: {{{_OF[name]}: uid}}{_COLUMNS}" for name in _KINDS
)
_ROWS = """\
CREATE TABLE public.{name} AS SELECT {unit} AS uid, (ARRAY['x', 'y', 'z', 'w'])[1 + (i * j * 7) % 4] AS k,
    (ARRAY['u', 'v'])[1 + (i + j) % 2] AS l, nullif((i * 31 + j * j * 17) % 120 - 60, 0) AS a,
    ((i * 13 + j * 71) % 1200 / 100.0)::numeric(8, 2) AS b
FROM generate_series(1, 700) i, generate_series(1, 1 + i % 9) j;
"""
_SCRIPT = """\
CREATE TABLE public.people AS
    SELECT i AS id, (ARRAY['even', 'odd'])[1 + i % 2] AS kind FROM generate_series(1, 690) i;
ALTER TABLE public.people ADD PRIMARY KEY (id);
CREATE TABLE public.orders AS
    SELECT 10 * i + j AS oid, nullif(i, 7) AS uid
    FROM generate_series(1, 700) i, generate_series(1, 1 + i % 4) j;
ALTER TABLE public.orders ADD PRIMARY KEY (oid);
CREATE TABLE public.lines AS
    SELECT nullif(oid, 11) AS oid, n, (ARRAY['x', 'y', 'z', 'w'])[1 + (oid * n * 7) % 4] AS k,
           (oid * 31 + n * 17) % 120 - 60 AS a
    FROM public.orders, generate_series(1, 1 + oid % 5) n;
INSERT INTO public.lines SELECT 100000 + n, n, 'x', 50 FROM generate_series(1, 50) n;
ALTER TABLE public.lines ADD UNIQUE (oid, n);
""" + "".join(_ROWS.format(name=name, unit=unit) for name, unit in _KINDS.items())

_QUESTIONS = (
    "SELECT k, avg(a) FROM t GROUP BY k",
    "SELECT k, avg(b), avg(a) FILTER (WHERE b > 3) FROM t GROUP BY k",
    "SELECT k, stddev(a), variance(b) FROM t GROUP BY k",
    "SELECT k, l, avg(b) FROM t WHERE a > -20 GROUP BY k, l",
    "SELECT k, count(*), sum(b), avg(b) FROM t GROUP BY k",
    "SELECT k, count(a), sum(a) FILTER (WHERE b > 100), avg(b) FROM t GROUP BY k",
    "SELECT kind, avg(a) FROM t JOIN people ON uid = id WHERE b < 9 GROUP BY kind",
    "SELECT avg(a) FROM t",
    "SELECT stddev(b), variance(a) FROM t WHERE a > -40",
    "SELECT count(*), sum(a), avg(a), min(a), max(a), max(b) FROM t",
    "SELECT avg(b), min(b) FILTER (WHERE a > 10) FROM t WHERE k = 'x'",
    "SELECT k, avg(a) FROM by_name GROUP BY k",
    "SELECT k, avg(a), count(*) FROM by_uuid GROUP BY k",
    "SELECT k, avg(b), stddev(b) FROM by_small GROUP BY k",
    "SELECT k, avg(a), count(*) FROM by_odd GROUP BY k",
    "SELECT k, avg(a) FROM by_varying GROUP BY k",
    "SELECT k, avg(a) FROM lines GROUP BY k",
    "SELECT k, count(*), sum(a), avg(a) FILTER (WHERE n > 1) FROM lines WHERE a < 40 GROUP BY k",
    "SELECT kind, avg(a) FROM lines JOIN orders USING (oid) JOIN people ON uid = id GROUP BY kind",
    "SELECT k, avg(a) FROM (SELECT uid, k, a FROM t WHERE b > 3) s GROUP BY k",
    "SELECT k, avg(c) FROM (SELECT k, a + n AS c FROM lines WHERE n < 4) s GROUP BY k",
    "SELECT k, avg(a) FROM (SELECT k, max(a) AS a FROM t GROUP BY uid, k) s GROUP BY k",
    # Of more rows of a unit some are left out, by a hash.
    "SELECT k, avg(a), sum(sqrt(abs(a)) * ln(n + 1)) FROM lines GROUP BY k",
    "SELECT t.k, avg(t.a) FROM t JOIN orders ON t.uid = orders.uid GROUP BY t.k",
)
_NOT_HALVED = (
    "SELECT k, avg(a) FROM (SELECT k, a, row_number() OVER (PARTITION BY uid ORDER BY b) AS n FROM t) s"
    " WHERE n < 4 GROUP BY k",
    "SELECT t.k, avg(t.a) FROM t JOIN (SELECT uid, row_number() OVER (PARTITION BY uid ORDER BY oid) AS n"
    " FROM orders) o ON o.uid = t.uid WHERE n < 2 GROUP BY t.k",
)
_OF_TEXTS = ("by_odd", "by_varying")


@pytest.fixture(scope="module")
def served() -> Database:
    return served_database(servers(), _NAME, _SCRIPT, _TABLES, "best")


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_statistics, "LEAST_ROWS", 1)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[ProtectedConnection]:
    """The connections on which statements of two parts are opened."""
    found: list[ProtectedConnection] = []
    send = ProtectedConnection.send

    def noted(self: ProtectedConnection, text: bytes, values: list[object]) -> None:
        if text.startswith(b"DECLARE"):
            found.append(self)
        send(self, text, values)

    monkeypatch.setattr(ProtectedConnection, "send", noted)
    return found


def _scan(database: Database, question: str) -> tuple[BlockPlan, CentredScan]:
    (block,) = planned(database, question).blocks
    scan = compile_centres(block)
    assert scan is not None
    return block, scan


def _read(
    database: Database,
    question: str,
    *,
    sessions: int = 4,
    source: str | None = None,
    query: BackendQuery | None = None,
) -> tuple[ExactTable, ExactTable]:
    """The rows of the first part, and all of them."""
    block, scan = _scan(database, question)
    told: list[ExactTable] = []

    async def between(first: ExactTable) -> str:
        told.append(first)
        return centres_text(with_centres(block, drawn_centres(block, first, SeededBits(1))))

    async def run() -> ExactTable:
        data = ProtectedDatabase(source or database.policy.source, sessions_max=sessions)
        await data.open()
        try:
            async with data.session(Turn("analyst")) as session:
                asked = query or scan.query
                seeds = dict.fromkeys(asked.seeds, 27)
                found = await session.run_in_two_parts(unpaid(asked), seeds, between)
            await asyncio.wait({session.end()})
            assert await _are_free(data)
            return found
        finally:
            await data.close()

    found = asyncio.run(run())
    return told[0], found


async def _are_free(data: ProtectedDatabase) -> bool:
    for _ in range(2_000):
        if data._places.used == 0:
            return True
        await asyncio.sleep(0.02)
    return False


def _added_up(table: ExactTable) -> dict[tuple[object, ...], Counter[int]]:
    """By keys, place and band. A unit is counted in any one of its groups: in none of them here."""
    found: dict[tuple[object, ...], Counter[int]] = {}
    for row in table.rows:
        place, *numbers = row.values
        at: tuple[object, ...] = (row.keys, place)
        if place == EXTREMES:
            while numbers[-1] is None:  # after the number of units
                numbers.pop()
            *places, count = numbers
            at, numbers = (row.keys, place, *places), [count]
        elif place != OTHERS:
            band, total, share, mean, units = numbers[:5]
            at, numbers = (row.keys, place, band), [total, share, mean]
            found.setdefault((place, band), Counter())[0] += units or 0
        sums = found.setdefault(at, Counter())
        for column, number in enumerate(numbers):
            sums[column] += number or 0
    return found


@pytest.mark.every(27)
@pytest.mark.parametrize("question", _QUESTIONS)
def test_two_sessions_read_what_one_does(
    served: Database, opened: list[ProtectedConnection], question: str
) -> None:
    query = _scan(served, question)[1].query  # of one seed
    first, both = _read(served, question, query=query)
    assert len(set(opened)) == len(opened) == 2
    opened.clear()
    whole_first, whole = _read(served, question, sessions=1, query=query)
    assert len(opened) == 1
    assert _added_up(first) == _added_up(whole_first) != {}
    assert _added_up(both) == _added_up(whole)
    assert len(both.rows) > len(whole.rows)  # both had some of a group


@pytest.mark.parametrize("question", _NOT_HALVED)
def test_what_may_be_another_row_in_each_session_is_read_in_one(
    served: Database, opened: list[ProtectedConnection], question: str
) -> None:
    """Also where it stands beside the table that has the units."""
    _read(served, question)
    assert len(opened) == 1


@pytest.mark.every(12)
@pytest.mark.parametrize("question", _QUESTIONS)
def test_the_same_is_drawn_of_both(served: Database, question: str) -> None:
    """With the same noise. A group has rows of both halves then, also of what is read beside means."""
    block, scan = _scan(served, question)
    drawn = []
    for sessions in (4, 1):
        first, read = _read(served, question, sessions=sessions, query=scan.query)
        centred = with_centres(block, drawn_centres(block, first, SeededBits(1)))
        tables = list(drawer._of_releases(scan, read).values())
        drawn.append(release_block(centred, tables, SeededBits(2)))
    assert drawn[0] == drawn[1]
    assert any(one is not None for row in drawn[0].rows for one in row.values)


@pytest.mark.parametrize("cut", [-1, 1, 2, 350, 699, 700, 701])
def test_no_unit_is_in_both_halves_or_in_none(served: Database, cut: int) -> None:
    """Wherever they are cut."""
    query = _scan(served, _QUESTIONS[0])[1].query

    def read(connection: psycopg.Connection, half: int) -> Counter[tuple[int, int]]:
        given = {**query.parameters, HALF: str(half), CUT: str(cut)}
        gathered = query.sql[: query.sql.index(", f(")] + " SELECT unit, place FROM g"
        return Counter(connection.execute(gathered.encode(), given).fetchall())

    with psycopg.connect(served.policy.source) as connection:
        below, others = (read(connection, half) for half in (BELOW, FROM_CUT_ON))
        whole = Counter(
            connection.execute(
                "SELECT uid, CASE k WHEN 'x' THEN 1 WHEN 'y' THEN 2 ELSE 3 END FROM t WHERE k <> 'w'"
                " GROUP BY uid, k"
            ).fetchall()
        )
        assert read(connection, 0) == whole
    assert below + others == whole and max(whole.values()) == 1
    assert all(unit < cut for unit, _ in below) and all(unit >= cut for unit, _ in others)


@pytest.mark.parametrize("table", _OF_TEXTS)
def test_no_text_is_in_both_halves_or_in_none(served: Database, table: str) -> None:
    """Whatever the collation, and whatever is in the text at which they are cut. NULL is in none."""
    query = _scan(served, f"SELECT k, avg(a) FROM {table} GROUP BY k")[1].query
    gathered = query.sql[: query.sql.index(", f(")] + " SELECT DISTINCT unit FROM g"
    with psycopg.connect(served.policy.source) as connection:

        def read(half: int, cut: str | None) -> Counter[tuple[str | None]]:
            given = {**query.parameters, HALF: str(half), CUT: cut}
            return Counter(connection.execute(gathered.encode(), given).fetchall())

        whole = read(0, None)
        units = sorted(unit for (unit,) in whole if unit is not None)
        assert len(units) == len(whole) > 200
        for cut in (*units[::15], "", "\\", "'", '"', "{}", "NULL", "a \n", "\U0010ffff"):
            assert read(BELOW, cut) + read(FROM_CUT_ON, cut) == whole, cut


@pytest.mark.parametrize("odd", ["'", '"', "\\", "{a,b}", "NULL", " ", "%s", "\u00e9\n"])
def test_units_are_cut_at_one_of_them(served: Database, odd: str) -> None:
    """What has to be escaped in statistics comes out of them as it is."""
    place = StoredColumn(schema="public", table="odd", column="uid")
    cut, name = column_statistics.Cut(place), servers().protected.dsn(_NAME)
    units = [f"{odd}{number}" for number in range(50)]

    async def read() -> None:
        data = ProtectedDatabase(name)
        await data.open()
        try:
            async with data.session(Turn("analyst")) as session:
                await cut.read(session._connection, {})
        finally:
            await data.close()

    with psycopg.connect(name, autocommit=True) as owner:
        owner.execute("CREATE TABLE public.odd (uid text)")
        try:
            owner.execute("INSERT INTO odd SELECT unnest(%s::text[])", (units,))
            owner.execute("ANALYZE odd")
            asyncio.run(read())
        finally:
            owner.execute("DROP TABLE odd")
    assert cut.at in units


def test_both_sessions_see_one_snapshot(
    served: Database, opened: list[ProtectedConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows are changed before the second one has begun to read."""
    question = _QUESTIONS[4]
    _, before = _read(served, question, sessions=1)
    export = protected_connection.exported_snapshot
    changes = psycopg.connect(servers().protected.dsn(_NAME), autocommit=True)

    async def late(connection: ProtectedConnection) -> str:
        name = await export(connection)
        changes.execute("UPDATE t SET uid = uid + 350, b = 1")
        return name

    monkeypatch.setattr(protected_database, "exported_snapshot", late)
    try:
        _, found = _read(served, question)
    finally:
        changes.execute("DROP TABLE t")
        changes.execute(_ROWS.format(name="t", unit="i").encode())
        changes.execute("GRANT SELECT ON t TO PUBLIC; ANALYZE t")
        changes.close()
    assert len(set(opened[1:])) == 2
    assert _added_up(found) == _added_up(before)


@pytest.mark.parametrize("reason", ["few rows", "no parallel work", "no statistics", "no snapshot"])
def test_else_one_session_reads_all(
    served: Database,
    opened: list[ProtectedConnection],
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
) -> None:
    question, source = _QUESTIONS[0], served.policy.source
    query = written(_scan(served, question)[1].query)
    match reason:
        case "few rows":
            monkeypatch.setattr(column_statistics, "LEAST_ROWS", 10_000_000)
        case "no parallel work":
            source = make_conninfo(source, options="-c max_parallel_workers_per_gather=0")
        case "no statistics":
            assert query.halved_by is not None
            query = replace(query, halved_by=replace(query.halved_by, column="none"))
        case _:

            async def another(connection: ProtectedConnection) -> str:
                return "00000000-00000001-1"

            monkeypatch.setattr(protected_database, "exported_snapshot", another)
    _, found = _read(served, question, source=source, query=query)
    assert len(opened) == 1
    assert found.rows == _read(served, question, sessions=1)[1].rows


@pytest.mark.parametrize("half", [BELOW, FROM_CUT_ON])
def test_what_fails_in_one_half_fails_and_both_places_are_free(served: Database, half: int) -> None:
    """The other one has an answer, or is cancelled."""
    question = _QUESTIONS[0]
    query = written(_scan(served, question)[1].query)
    broken = f"%({HALF})s::integer / (%({HALF})s::integer - {half}) > -9 AND "
    at = query.sql.index("WHERE ") + len("WHERE ")
    query = replace(query, sql=query.sql[:at] + broken + query.sql[at:])

    async def between(_: ExactTable) -> str:
        raise AssertionError("it has failed before")

    async def run() -> None:
        data = ProtectedDatabase(served.policy.source, sessions_max=4)
        await data.open()
        try:
            async with data.session(Turn("analyst")) as session:
                with pytest.raises(Fault) as failed:
                    await session.run_in_two_parts(unpaid(query), {}, between)
                assert "zero" not in str(failed.value)
            await asyncio.wait({session.end()})
            assert await _are_free(data)
        finally:
            await data.close()

    asyncio.run(run())


def test_both_statements_are_cancelled_with_the_question(served: Database) -> None:
    question = _QUESTIONS[0]
    query = written(_scan(served, question)[1].query)
    at = query.sql.index("WHERE ") + len("WHERE ")
    slow = "(SELECT pg_catalog.pg_sleep(60)) IS NOT NULL AND "
    query = replace(query, sql=query.sql[:at] + slow + query.sql[at:])
    watching = psycopg.connect(servers().protected.dsn(_NAME), autocommit=True)

    async def are_asleep(number: int) -> bool:
        for _ in range(2_000):
            found = watching.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = %s",
                (_NAME,),
            ).fetchone()
            if found == (number,):
                return True
            await asyncio.sleep(0.02)
        return False

    async def between(_: ExactTable) -> str:
        raise AssertionError("nothing is read")

    async def run() -> None:
        data = ProtectedDatabase(served.policy.source, sessions_max=4)
        await data.open()
        try:
            async with data.session(Turn("analyst")) as session:
                task = asyncio.ensure_future(session.run_in_two_parts(unpaid(query), {}, between))
                assert await are_asleep(2)
                task.cancel()
                await asyncio.wait({task}, timeout=60)
                assert task.cancelled()
            assert await are_asleep(0) and await _are_free(data)
        finally:
            await data.close()

    with watching:
        asyncio.run(run())


def test_the_last_place_is_left_to_others(
    served: Database, opened: list[ProtectedConnection]
) -> None:
    _read(served, _QUESTIONS[0], sessions=2)
    assert len(opened) == 1


def test_where_units_are_cut_is_in_no_text() -> None:
    cut = column_statistics.Cut(StoredColumn(schema="public", table="t", column="uid"))
    cut.at = "somebody"
    assert "somebody" not in repr(cut)
