"""Lists of public tables: their values are PostgreSQL's own IN, and no protected row decides whether they are
read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import product

import psycopg
import pytest

from proxy.base import limits
from proxy.base.errors import Fault, Refusal
from proxy.compiler.backend_query import PublicList
from proxy.drawing.protected_reads import ListValues
from proxy.engine.public_lists import read_lists
from proxy.protected.protected_database import DatabaseSession, ProtectedDatabase
from proxy.turns.threads import Turn
from tests.audit.two_states import TwoStates, two_states
from tests.servers_fixture import servers
from tests.uncharged_statements import read, unpaid

# A column of each type, with values that are equal and look otherwise, and NULL.
_TYPES = {
    "i2": ("smallint", ["1", "2", "-32768"]),
    "i4": ("integer", ["1", "3", "2147483647"]),
    "i8": ("bigint", ["1", "2", "9007199254740993"]),
    "n": ("numeric", ["1", "1.00", "'NaN'", "0.1", "1e40"]),
    "f4": ("real", ["1", "0.1", "'NaN'", "16777217", "'-0'"]),
    "f8": (
        "double precision",
        ["1", "0.1", "'Infinity'", "9007199254740993", "5e-324", "0.1::real"],
    ),
    "t": ("text", ["'a'", "'a '", "''", "'{\"x\",}'", "'NULL'", "'é\\'", "'A'"]),
    "c": ("character(3)", ["'a'", "'a '", "''"]),
    "s": ("character varying(9)", ["'a'", "'a '", "'é\\'"]),
    "k": ('text COLLATE "C"', ["'a'", "'é\\'"]),
    "e": ("mood", ["'a'", "'NULL'"]),
    "b": ("boolean", ["true"]),
    "d": ("date", ["'2024-02-29'", "'infinity'", "'4714-11-24 BC'", "'2024-03-01'"]),
    "ts": ("timestamp", ["'2024-02-29'", "'2024-02-29 00:00:00.000001'", "'-infinity'"]),
    "tz": ("timestamptz", ["'2024-02-29 00:00+00'", "'2024-02-28 22:00-02'"]),
    "u": ("uuid", ["'00000000-0000-0000-0000-00000000000a'"]),
}
_ROWS = max(len(values) for _, values in _TYPES.values())


def _rows(table: str) -> str:
    lines = []
    for number in range(_ROWS):
        values = [v[number] if number < len(v) else "NULL" for _, v in _TYPES.values()]
        lines.append(f"INSERT INTO {table} VALUES ({number}, {', '.join(values)});")
    return "\n".join([*lines, f"INSERT INTO {table} (id) VALUES (99);"])


_COLUMNS = ", ".join(f"{name} {kind}" for name, (kind, _) in _TYPES.items())
_SCRIPT = f"""
CREATE TYPE mood AS ENUM ('a', 'NULL');
CREATE TABLE public.mine (id int PRIMARY KEY, {_COLUMNS});
CREATE TABLE public.known (id int PRIMARY KEY, {_COLUMNS});
CREATE TABLE public.long AS SELECT g AS k, 'value ' || g AS v
    FROM generate_series(1, {limits.PUBLIC_LIST_ELEMENTS + 1}) g;
ALTER TABLE public.long ADD PRIMARY KEY (k);
{_rows("public.mine")}
{_rows("public.known")}
"""
_NAMED = ", ".join(f"{name}: {{}}" for name in _TYPES)
_POLICY = f"""\
  public.known: public
  public.long: public
  public.mine: {{unit: row, columns: {{id: {{}}, {_NAMED}}}}}
"""


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    yield two_states(
        servers().protected, "public_lists", _SCRIPT, _POLICY, "DELETE FROM public.mine"
    )


def _counted(states: TwoStates, question: str, dsn: str) -> int:
    async def run() -> int:
        data = ProtectedDatabase(dsn, sessions_max=1)
        await data.open()
        try:
            (query,) = states.queries(question)
            table = await read(data, query, {})
            (slots,) = query.slots
            assert slots.count is not None
            return table.rows[0].values[slots.count] or 0
        finally:
            await data.close()

    return asyncio.run(run())


_CONDITIONS = (
    "{0} IN (SELECT {1} FROM public.known WHERE id < 99)",
    "{0} NOT IN (SELECT {1} FROM public.known WHERE NOT {1} IS NULL)",
    "{0} NOT IN (SELECT {1} FROM public.known)",
    "{0} IN (SELECT {1} FROM public.known WHERE id > 500)",
    "{0} NOT IN (SELECT {1} FROM public.known WHERE id > 500)",
    "({0} IN (SELECT {1} FROM public.known)) IS NULL",
)


@pytest.mark.long
def test_it_is_postgresqls_own_in(states: TwoStates) -> None:
    tried = 0
    with psycopg.connect(states.here) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for (ours, theirs), condition in product(product(_TYPES, _TYPES), _CONDITIONS):
            if ours != theirs and condition not in (_CONDITIONS[0], _CONDITIONS[2]):
                continue
            asked = "SELECT count(*) FROM public.mine WHERE " + condition.format(ours, theirs)
            try:
                found = _with(states, connection, asked)
            except Refusal:
                continue
            if {ours, theirs} & {"k", "e", "n"} or {ours, theirs} & {"f4", "f8"}:
                # Of several collations, of labels, of floats among other numbers: as the old subquery compared.
                expected = _as_a_subquery(states, connection, asked)
            else:
                row = connection.execute(asked.encode()).fetchone()
                assert row is not None
                expected = row[0]
            assert found == expected, asked
            tried += 1
    assert tried > 200


def _with(states: TwoStates, connection: psycopg.Connection, asked: str) -> int:
    (query,) = states.queries(asked)
    (wanted,) = query.lists
    read = connection.execute(wanted.sql.encode(), dict(wanted.parameters)).fetchone()
    assert read is not None
    row = connection.execute(
        query.sql.encode(), {**query.parameters, wanted.name: read[2]}
    ).fetchone()
    assert row is not None
    return int(row[0])


def _as_a_subquery(states: TwoStates, connection: psycopg.Connection, asked: str) -> int:
    (query,) = states.queries(asked)
    (wanted,) = query.lists
    inner = wanted.sql[wanted.sql.index("SELECT DISTINCT") : wanted.sql.index(" LIMIT ")]
    for name, value in wanted.parameters:
        inner = inner.replace(f"%({name})s", f"'{value}'")
    kind = query.sql.split(f"%({wanted.name})s::")[1].split("[]")[0]
    sql = query.sql.replace(f"ANY(%({wanted.name})s::{kind}[])", f"ANY({inner})")
    row = connection.execute(sql.encode(), query.parameters).fetchone()
    assert row is not None
    return int(row[0])


_LAZY = (
    "SELECT count(*) FROM public.mine WHERE CASE WHEN id = 1 AND t = 'a' THEN s IN"
    " (SELECT v FROM public.long WHERE k < 20000 AND lower(upper(v)) LIKE '%1%') ELSE false END"
)


def test_no_protected_row_decides_whether_it_is_read(
    states: TwoStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    (query,) = states.queries(_LAZY)
    assert "long" not in query.sql and "SELECT" not in query.sql.split("WHERE", 1)[1]
    (wanted,) = query.lists
    reads: list[str] = []

    real = DatabaseSession.public_list

    async def watched(self: DatabaseSession, wanted: PublicList) -> ListValues:
        reads.append(wanted.sql)
        return await real(self, wanted)

    monkeypatch.setattr(DatabaseSession, "public_list", watched)

    async def ask(dsn: str) -> None:
        data = ProtectedDatabase(dsn, sessions_max=1)
        await data.open()
        try:
            async with data.session(Turn("")) as session:
                lists = await read_lists(session, [query])
                await session.run(unpaid(query), {wanted.name: next(iter(lists.values()))})
        finally:
            await data.close()

    for dsn in (states.here, states.there):
        asyncio.run(ask(dsn))
    assert reads == [wanted.sql] * 2


@pytest.mark.parametrize(
    "condition",
    [
        "i4 IN (SELECT k FROM public.long)",
        "i4 IN (SELECT k FROM public.long WHERE k < 30000)"
        " OR i8 IN (SELECT k FROM public.long WHERE k > 20000 AND k < 60000)",
    ],
)
def test_too_long_a_list_is_refused(states: TwoStates, condition: str) -> None:
    queries = states.queries(f"SELECT count(*) FROM public.mine WHERE {condition}")

    async def read() -> None:
        data = ProtectedDatabase(states.here, sessions_max=1)
        await data.open()
        try:
            async with data.session(Turn("")) as session:
                await read_lists(session, queries)
        finally:
            await data.close()

    with pytest.raises(Refusal, match="more than 50000 values or 1 MiB"):
        asyncio.run(read())


def test_nor_is_it_taken_for_null(states: TwoStates) -> None:
    """Where nobody has refused it before."""
    with pytest.raises(Fault):
        _counted(
            states,
            "SELECT count(*) FROM public.mine WHERE i4 IN (SELECT k FROM public.long)",
            states.here,
        )
