"""What a hostile analyst found in constants that the shadow evaluates: each is a class, and stays closed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest

from proxy.base.limits import EXPANDED_NODES, LIST_ELEMENTS
from tests.live.constant_statements import COUNT, SCRIPT, TABLES
from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy
from tests.machine_speed import allowed_work

# With standard_conforming_strings off the first constant goes on to the second, and what follows is a query.
_INJECTED = (
    "kind = left('\\', 5) || left(' , 1))::pg_catalog.text)::pg_catalog.text)) AS a(n, v)) AS q,"
    " (SELECT 1 AS n, $$x$$::text AS v, 1 AS bytes FROM generate_series(1, 300000)) AS m --', 5)"
)
_OFF = (
    "CREATE FUNCTION pg_temp.off() RETURNS int LANGUAGE plpgsql IMMUTABLE AS"
    " $$BEGIN PERFORM set_config('standard_conforming_strings', 'off', false); RETURN 1; END$$"
)


attacked = served_alone("attacked", SCRIPT, TABLES)


@pytest.fixture
def session(attacked: LiveProxy) -> Iterator[psycopg.Connection]:
    with attacked.connect("attacked", analyst=attacked.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        yield connection


def test_constants_are_not_read_again_in_another_setting(session: psycopg.Connection) -> None:
    pgconn = session.pgconn
    assert pgconn.prepare(b"s", f"{COUNT} WHERE {_INJECTED}".encode()).error_message == b""
    session.execute("SET standard_conforming_strings = off")
    result = pgconn.exec_prepared(b"s", [])
    assert b"standard_conforming_strings" in result.error_message
    session.execute("SET standard_conforming_strings = on")
    assert session.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("constant", [r"left('\', 1)", r"substr('a\b', 2, 1)"])
def test_nor_where_the_statement_itself_changes_it(
    session: psycopg.Connection, constant: str
) -> None:
    """The rehearsal plans pg_temp.off(), which changes what comes after it in the same exchange."""
    session.execute(_OFF)
    asked = f"SELECT count(*), pg_temp.off(), {constant} FROM w.calls WHERE kind = {constant}"
    assert session.execute(asked.encode()).fetchall() == [(0, 1, "\\")]


def test_nor_what_else_is_evaluated_before_the_charge(session: psycopg.Connection) -> None:
    """Where it was, the count of generate_series() was another one's: a million rows for one."""
    session.execute(_OFF)
    asked = (
        "SELECT count(*), pg_temp.off(), to_date('\\', '), (NULL))), g FROM generate_series(1,9) g --')::text"
        " FROM w.calls"
    )
    assert len(session.execute(asked.encode()).fetchall()) == 1


def test_a_constant_is_evaluated_once(attacked: LiveProxy) -> None:
    analyst = attacked.servers.new_analyst()
    with attacked.connect("attacked", analyst=analyst) as connection:
        connection.execute("SET dp.epsilon = 100")
        connection.execute("SET x.times = '0'")
        connection.execute(
            "CREATE FUNCTION pg_temp.grow() RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN"
            " PERFORM set_config('x.times', (current_setting('x.times')::int + 1)::text, false);"
            " RETURN 'a'; END$$"
        )
        connection.execute(f"PREPARE z(text) AS {COUNT} WHERE kind = $1")
        assert connection.execute("EXECUTE z(pg_temp.grow())").fetchall() == [(750,)]
        assert connection.execute("SHOW x.times").fetchall() == [("1",)]


@pytest.mark.timed
@pytest.mark.parametrize(
    ("condition", "elements"),
    [
        ("kind LIKE ANY(string_to_array(%s, ','))", 100_000),
        ("lower(" * 20 + "kind" + ")" * 20 + " LIKE ANY(string_to_array(%s, ','))", 20_000),
        (" OR ".join(["kind LIKE ANY(string_to_array(%(a)s, ','))"] * 300), LIST_ELEMENTS),
        (" OR ".join(["n = ANY(string_to_array(%(a)s, ',')::int[])"] * 300), LIST_ELEMENTS),
        (
            f"n = ANY(string_to_array(%(a)s, ',')::int[]) OR {'n = 1 OR ' * 2}FALSE",
            LIST_ELEMENTS + 1,
        ),
    ],
)
def test_what_arrays_stand_for_is_measured_before_it_is_made(
    session: psycopg.Connection, condition: str, elements: int
) -> None:
    text = ",".join(["1"] * elements)
    started = time.process_time()
    with pytest.raises(psycopg.Error) as refused:
        session.execute(
            f"{COUNT} WHERE {condition}".encode(), {"a": text} if "(a)" in condition else (text,)
        )
    assert refused.value.diag.sqlstate in ("54001", "0A000")
    assert time.process_time() - started < allowed_work(
        5
    )  # the proxy is of this process; one took 96 s
    assert EXPANDED_NODES < 300 * LIST_ELEMENTS


@pytest.mark.parametrize(
    "labels",
    [
        "date_trunc('year', now()) ELSE date_trunc('month', now())",
        "timestamp '2026-01-01'",
        "timestamp '2026-01-01T10:00' ELSE timestamp '2026-01-01 10:00:00.50'",
        "timestamptz '2026-01-01 00:00+01' ELSE timestamptz '2026-01-01 00:00Z'",
        "date '2026-01-01' ELSE current_date",
        "timestamp '0001-01-01' ELSE timestamp '9999-12-31 23:59:59.999999'",
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_times_as_labels(
    attacked: LiveProxy, session: psycopg.Connection, labels: str, zone: str
) -> None:
    asked = f"SELECT CASE WHEN n > 50 THEN {labels} END AS k, count(*) FROM w.calls GROUP BY 1"
    with psycopg.connect(attacked.servers.protected.dsn("attacked")) as direct:
        for each in (direct, session):
            each.execute(f"SET TimeZone = '{zone}'".encode())
        wanted, found = (each.execute(asked.encode()).fetchall() for each in (direct, session))
    assert sorted(found, key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize("label", ["timestamp '2026-01-01' ELSE %s", "%s"])
def test_values_as_labels(attacked: LiveProxy, session: psycopg.Connection, label: str) -> None:
    cast = label.replace("%s", "%s::timestamp")
    asked = f"SELECT CASE WHEN n > 50 THEN {cast} END AS k, count(*) FROM w.calls GROUP BY 1"
    with psycopg.connect(attacked.servers.protected.dsn("attacked")) as direct:
        wanted = direct.execute(asked.encode(), ("2026-02-01 10:00",)).fetchall()
    assert sorted(
        session.execute(asked.encode(), ("2026-02-01 10:00",)).fetchall(), key=str
    ) == sorted(wanted, key=str)


def test_constants_in_another_encoding_are_refused(session: psycopg.Connection) -> None:
    asked = f"{COUNT} WHERE n = ANY(ARRAY[length(substr('äöü', 2))]) AND kind = left('cé', 1)"
    pgconn = session.pgconn
    assert pgconn.prepare(b"s", asked.encode()).error_message == b""
    assert pgconn.exec_prepared(b"s", []).get_value(0, 0) == b"30"
    session.execute("SET client_encoding = LATIN1")
    result = pgconn.exec_prepared(b"s", [])
    assert b"ERROR" in result.error_message, result.get_value(0, 0)


def test_what_explain_evaluates_ends_in_time(attacked: LiveProxy) -> None:
    """As PostgreSQL's does when it binds, it runs the CHECK of an analyst's own domain, in their time."""
    analyst = attacked.servers.new_analyst()
    with attacked.connect("attacked", analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE ran (n integer)")
        connection.execute(
            "CREATE FUNCTION pg_temp.loops(integer) RETURNS boolean LANGUAGE plpgsql AS"
            " $$BEGIN INSERT INTO pg_temp.ran VALUES ($1); WHILE $1 > 5 LOOP END LOOP; RETURN true; END$$"
        )
        connection.execute("CREATE DOMAIN pg_temp.slow AS integer CHECK (pg_temp.loops(VALUE))")
        row = connection.execute("SELECT 'pg_temp.slow'::regtype::oid::bigint").fetchone()
        assert row is not None
        asked, pgconn = f"EXPLAIN {COUNT} WHERE n = $1::integer", connection.pgconn
        assert pgconn.prepare(b"q", asked.encode(), [row[0]]).error_message == b""
        assert pgconn.exec_prepared(b"q", [b"1"]).ntuples > 0
        ran = connection.execute("SELECT count(*) > 0 FROM ran").fetchone()
        connection.execute("SET statement_timeout = '300ms'")
        result = pgconn.exec_prepared(b"q", [b"9"])
        assert b"statement timeout" in result.error_message
        assert ran == (True,)
    assert attacked.spent(analyst)[0] == 0
