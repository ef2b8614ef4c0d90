"""One list of the values of a copy, for order statistics and sums, beside statements that read each apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.catalog.catalog_model import TableName
from proxy.cli.assembly import Database
from proxy.compiler import compiling, value_scan
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.copy_view import copy_script
from proxy.kernel.plan import BlockPlan, OrderStatistic
from proxy.policy.policy_model import ProtectedTable
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.live.served_database import READER, asked, policy_head, served_database
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

_NAME, _TABLE = "value_counts", TableName("c", "t")
# People with 1 to 12 rows, of which 4 are copied; values beyond their bounds, NULL and NaN.
_SCRIPT = """\
CREATE SCHEMA c;
CREATE TABLE c.t (id int PRIMARY KEY, who int, i int, n numeric(8,2), big bigint NOT NULL, small bigint);
INSERT INTO c.t SELECT g, sqrt(g)::int, CASE WHEN g % 9 > 0 THEN g % 71 - 10 END,
    CASE g % 13 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' ELSE (g % 301) / 7.0 - 5 END,
    CASE g % 9 WHEN 0 THEN 149500 + g ELSE g * 10::bigint ^ 9 END, 149500 + g
    FROM generate_series(1, 900) g;
"""
_TABLES = """\
tables:
  c.t:
    unit: {person: who}
    max_rows_per_unit: 4
    prepared: {table: dp.t, max_age: 1h}
    columns:
      i: {bounds: [0, 50]}
      n: {bounds: [0, 30]}
      big: {bounds: [0, 800000000000]}
      small: {bounds: [150000, 150200]}
"""
# By statement: how many statements of ours read it.
_ASKED: Mapping[str, int] = {
    "count(*), sum(i), avg(i), min(i), max(i)": 1,
    "count(*), sum(n), avg(n), min(n), max(n)": 1,
    "count(*), sum(big), avg(big), min(big), max(big)": 1,
    "count(big), sum(small), avg(small), min(small), max(small)": 1,
    "min(n), percentile_disc(0.5) WITHIN GROUP (ORDER BY n), sum(n)": 1,
    "max(i)": 1,
    "max(i), min(n), sum(n)": 2,
    "max(i), sum(n)": 2,
    "max(i), count(i)": 2,  # the operand is counted, not the index
    "max(i), sum(i) FILTER (WHERE big > 0)": 2,
    "max(i) FILTER (WHERE big > 0), sum(i)": 2,
    "max(i), variance(i)": 2,
}


@pytest.fixture(scope="module")
def database() -> Database:
    pair = servers()
    dsn = make_conninfo(pair.protected.dsn(), dbname=_NAME)

    def fill() -> None:
        policy = read_policy(policy_head(_NAME, "best", "100") + _TABLES, "t.yaml", {"DSN": dsn})
        table = policy.tables[_TABLE]
        assert isinstance(table, ProtectedTable)
        script = copy_script(table, read_catalog(dsn), 4, READER)
        assert script is not None
        with psycopg.connect(dsn) as connection:
            connection.execute(script[: script.index("VACUUM")].encode())

    return served_database(pair, _NAME, _SCRIPT, _TABLES, "best", fill, "100")


@pytest.fixture(params=["as it is", "with what no script fills in", "empty"])
def copy(database: Database, request: pytest.FixtureRequest) -> Iterator[psycopg.Connection]:
    """A session of the owner that sees such a copy; nothing of it stays."""
    dsn = make_conninfo(servers().protected.dsn(), dbname=_NAME)
    with psycopg.connect(dsn) as connection:
        if request.param == "empty":
            connection.execute("DELETE FROM dp.t")
        elif request.param != "as it is":
            connection.execute("UPDATE dp.t SET n_i = -7 WHERE slot = 1")
            connection.execute("UPDATE dp.t SET n_i = 2147483647 WHERE slot = 2")
            connection.execute("UPDATE dp.t SET i = -2147483648, big = 2 ^ 62 WHERE slot = 3")
            connection.execute("UPDATE dp.t SET n_i = NULL, i = NULL WHERE slot = 4")
        yield connection
        connection.rollback()


def _block(database: Database, columns: str, rest: str = "") -> BlockPlan:
    question = asked(database, f"SELECT {columns} FROM c.t{rest}")
    (block,) = database.engine.planned(question, {}, copies={_TABLE: "now"}).blocks
    return block


_Found = dict[int, tuple[object, ...]]


def _found(
    session: psycopg.Connection,
    block: BlockPlan,
    queries: tuple[BackendQuery, ...],
    change: Callable[[str], str] = str,
) -> _Found:
    """By release: its sums, or its values with their numbers of rows."""
    found: _Found = {}
    for query in queries:
        parameters = {**query.parameters, **dict.fromkeys(query.seeds, 42)}
        rows = session.execute(change(query.sql).encode(), parameters).fetchall()

        def summed(slot: int | None, rows: list[tuple[object, ...]] = rows) -> Fraction | None:
            if slot is None:
                return None
            return sum((Fraction(str(row[slot])) for row in rows if row[slot]), Fraction(0))

        for number, slots in zip(query.releases, query.slots, strict=True):
            if isinstance(block.releases[number], OrderStatistic):
                assert slots.extreme is not None and slots.count is not None
                pairs = [(row[slots.extreme], row[slots.count]) for row in rows]
                found[number] = tuple(sorted(((v, int(n)) for v, n in pairs if n), key=str))
            else:
                found[number] = (summed(slots.total), summed(slots.count))
    return found


def _apart(block: BlockPlan, monkeypatch: pytest.MonkeyPatch) -> tuple[BackendQuery, ...]:
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "has_sums", lambda *_: False)
        patch.setattr(value_scan, "listed_column", lambda *_: None)
        return compile_block(block)


@pytest.mark.every(3)
@pytest.mark.parametrize("columns", _ASKED)
def test_the_list_says_what_statements_apart_say(
    columns: str, database: Database, copy: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = _block(database, columns)
    queries = compile_block(block)
    assert len(queries) == _ASKED[columns]
    expected = _found(copy, block, _apart(block, monkeypatch))
    assert expected.keys() == set(range(len(block.releases)))
    assert _found(copy, block, queries) == expected


@pytest.mark.parametrize("rest", [" WHERE i > 3", " GROUP BY i"])
def test_conditions_and_groups_are_read_apart(
    rest: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = _block(database, "max(n), sum(n)", rest)
    assert compile_block(block) == _apart(block, monkeypatch)


def _without_clamp(text: str) -> str:
    clamp = r"pg_catalog.int4larger\(pg_catalog.int4smaller\(x, %\(p\d\)s::integer\), %\(p\d\)s::integer\)"
    return re.sub(clamp, "x::bigint", text)


@pytest.mark.parametrize(
    "change",
    [
        _without_clamp,
        lambda text: text.replace("CASE WHEN x IS NULL THEN 0 ELSE m END", "m"),
        lambda text: text.replace(" * m)", ")"),
        lambda text: text.replace("GROUP BY 1) d", "GROUP BY 1 LIMIT 20) d"),
        lambda text: text.replace("pg_catalog.sum(m)", "pg_catalog.count(*)"),
        lambda text: text.replace(" GROUP BY 1", " WHERE n_i IS NOT NULL GROUP BY 1"),
    ],
)
def test_a_list_without_a_part_of_it_is_seen(
    change: Callable[[str], str], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = make_conninfo(servers().protected.dsn(), dbname=_NAME)
    block = _block(database, "count(*), sum(n), avg(n), min(n), max(n)")
    queries = compile_block(block)
    assert all(change(query.sql) != query.sql for query in queries)
    with psycopg.connect(dsn) as session:
        session.execute("UPDATE dp.t SET n_i = 2147483647 WHERE slot = 2")
        expected = _found(session, block, _apart(block, monkeypatch))
        assert _found(session, block, queries) == expected
        assert _found(session, block, queries, change) != expected
        session.rollback()
