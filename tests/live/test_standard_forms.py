"""Forms of standard SQL, and constants of every form: answered as by PostgreSQL, in each session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

from tests.live.served_database import served_database
from tests.live.standard_statements import CONDITIONS, COUNT, SCRIPT, STATEMENTS, TABLES
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_OWN = (
    "CREATE TEMPORARY TABLE l (city text, grp text, num int)",
    "INSERT INTO l VALUES ('Ulm', 'a', 1), ('Bonn', 'b', 7), ('Rome', 'b', 9)",
    "CREATE TEMPORARY TABLE only_cities AS SELECT city FROM l",
)
_OWN_TYPE = 16_384  # FirstNormalObjectId: each server has its own numbers from there on
_SESSIONS = (
    (),
    ("SET TimeZone = 'America/New_York'", "SET DateStyle = 'SQL, DMY'"),
    ("SET IntervalStyle = 'iso_8601'",),
)


@pytest.fixture(scope="module")
def standard() -> Iterator[LiveProxy]:
    database = served_database(servers(), "standard", SCRIPT, TABLES, "auto", most="100")
    proxy = start_proxy(servers(), [database])
    yield proxy
    proxy.stop()


def _asked(connection: psycopg.Connection, sql: str, given: Sequence[Any]) -> Any:
    """Columns with their types, and rows; parameters are texts of no stated type. An error is its message."""
    values = [None if one is None else str(one).encode() for one in given]
    result = connection.pgconn.exec_params(sql.encode(), values)
    if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
        return result.error_message.decode().partition("\n")[0]
    columns = [(result.fname(n), min(result.ftype(n), _OWN_TYPE)) for n in range(result.nfields)]
    rows = [
        tuple(result.get_value(row, n) for n in range(result.nfields))
        for row in range(result.ntuples)
    ]
    return columns, sorted(row for row in rows if row[-1] != b"0")


def _differences(proxy: LiveProxy, settings: Sequence[str], statements: Sequence[Any]) -> list[Any]:
    analyst = proxy.servers.new_analyst()
    with (
        psycopg.connect(proxy.servers.protected.dsn("standard"), autocommit=True) as direct,
        proxy.connect("standard", analyst=analyst) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for each in (direct, connection):
            for setting in (*_OWN, *settings):
                each.execute(setting.encode())
        differ = []
        for statement in statements:
            sql, given = (statement, ()) if isinstance(statement, str) else statement
            wanted = _asked(direct, sql, given)
            spent = proxy.spent(analyst)
            found = _asked(connection, sql, given)
            if found != wanted and not (isinstance(wanted, str) and isinstance(found, str)):
                differ.append((sql, given, found, wanted))
            if isinstance(found, str) and proxy.spent(analyst) != spent:
                differ.append((sql, given, found, "an error after the charge"))
        return differ


@pytest.mark.every(8)
@pytest.mark.parametrize("settings", _SESSIONS, ids=lambda one: one[0] if one else "as it is")
@pytest.mark.parametrize("kind", CONDITIONS)
def test_a_condition_means_what_it_means_to_postgresql(
    kind: str, settings: Sequence[str], standard: LiveProxy
) -> None:
    conditions = CONDITIONS[kind]
    asked = [
        f"{COUNT} WHERE {one}" if isinstance(one, str) else (f"{COUNT} WHERE {one[0]}", one[1])
        for one in conditions
    ]
    differ = _differences(standard, settings, asked)
    assert differ == [], "\n".join(map(str, differ))


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_means_what_it_means_to_postgresql(kind: str, standard: LiveProxy) -> None:
    differ = _differences(standard, (), STATEMENTS[kind])
    assert differ == [], "\n".join(map(str, differ))


def test_infinity_is_taken_in_binary(standard: LiveProxy) -> None:
    """As drivers send their largest date."""
    given = ((1082, b"\x7f\xff\xff\xff"), (1082, b"\x80\x00\x00\x00"))
    asked = f"{COUNT} WHERE until < $1 AND until > $2"
    with (
        psycopg.connect(standard.servers.protected.dsn("standard"), autocommit=True) as direct,
        standard.connect("standard", analyst=standard.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        answers = [
            each.pgconn.exec_params(
                asked.encode(), [value for _, value in given], [kind for kind, _ in given], [1, 1]
            ).get_value(0, 0)
            for each in (direct, connection)
        ]
    assert answers[0] == answers[1] and answers[0] is not None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM s.visits v, (SELECT unnest(ARRAY[1, 2]) AS x) p",
        "SELECT count(*) FROM s.visits v, (SELECT generate_series(1, 3) AS x) p WHERE n > x",
        "SELECT count(*) FROM s.visits v, (SELECT random() AS x) p WHERE n > p.x",
        "SELECT count(*) FROM s.visits WHERE kind COLLATE \"C\" < 'b'",
        "SELECT count(*) FROM s.visits WHERE lower(kind COLLATE \"C\") = 'b'",
        "SELECT count(*) FROM s.visits WHERE kind || 'x' OPERATOR(pg_catalog.=) 'ax'",
        "SELECT count(*) FROM s.visits WHERE sum(n + 'NaN'::numeric) > 1",
        "SELECT sum(least(odd, 'Infinity')) FROM s.visits",
        "SELECT date_part($1, at) AS k, count(*) FROM s.visits GROUP BY 1",
        "SELECT count(*) FROM s.visits WHERE city LIKE 'a!' ESCAPE '!'",
        "SELECT count(*) FROM s.visits WHERE lasted < 'infinity'",
        "SELECT count(*) FROM s.visits WHERE (city, n) IN (SELECT city, num FROM l)",
        "SELECT count(*) FROM s.visits WHERE (kind, n) IN (VALUES ('a', 4), ('b', 5))",
        "SELECT count(*) FROM s.visits v JOIN l ON l.city = v.city",
        "SELECT count(*) FROM s.visits v WHERE EXISTS (SELECT 1 FROM l WHERE l.city = v.city)",
        "SELECT count(*) FROM s.visits v WHERE city IN (SELECT city FROM l WHERE l.num = v.n)",
        "SELECT count(*) FROM s.visits WHERE kind IN (VALUES (city))",
        "SELECT count(*) FROM s.visits WHERE kind IN (SELECT unnest(ARRAY[kind]))",
        "SELECT count(*) FROM s.visits WHERE n IN (SELECT n FROM s.visits)",
        "SELECT count(*) FROM s.visits WHERE n IN (WITH d AS (DELETE FROM l RETURNING num) SELECT num FROM d)",
        "SELECT count(*) FROM s.visits WHERE kind = ANY (ARRAY(SELECT kind FROM s.visits))",
    ],
)
def test_the_rest_is_refused_and_costs_nothing(sql: str, standard: LiveProxy) -> None:
    analyst = standard.servers.new_analyst()
    with standard.connect("standard", analyst=analyst) as connection:
        for statement in _OWN:
            connection.execute(statement.encode())
        found = _asked(connection, sql, ("nothing",) if "$1" in sql else ())
        assert isinstance(found, str) and "could not be run" not in found, found
        assert connection.execute("SELECT count(*) FROM l").fetchall() == [(3,)]
    assert standard.spent(analyst)[0] == 0
