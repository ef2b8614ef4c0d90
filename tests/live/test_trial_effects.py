"""A trial run before the charge leaves nothing behind, and keeps to the limits of the session."""

from __future__ import annotations

import time

import psycopg
import pytest
from psycopg import errors

from tests.live_proxy import LiveProxy
from tests.machine_speed import allowed_wait
from tests.waiting import cancelled_each_second

_ONE = "SELECT count(*) AS n FROM shop.orders"
_SLOW = "(SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b{more})"
_ENDLESS = _SLOW.format(more=", generate_series(1, 3000) c")


def _value(connection: psycopg.Connection, text: str) -> object:
    row = connection.execute(text.encode()).fetchone()
    assert row is not None
    return row[0]


def test_sequences_move_once(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP SEQUENCE s")
        connection.execute("CREATE TEMP TABLE k (id serial, kind int DEFAULT 7, n bigint)")
        connection.execute(
            "SELECT nextval('s'), n / 2 FROM (SELECT count(*) AS n FROM shop.orders) q"
        )
        connection.execute("INSERT INTO k (n) SELECT count(*) / 2 FROM shop.orders")
        assert _value(connection, "SELECT last_value FROM s") == 1
        assert connection.execute("SELECT id, kind FROM k").fetchall() == [(1, 7)]
    assert live.when_settled(analyst)[0] >= 1


def test_a_view_with_an_effect_is_read_once(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP SEQUENCE s")
        connection.execute("CREATE TEMP VIEW v AS SELECT nextval('s') AS i")
        connection.execute(f"SELECT i, n / 2 FROM v, ({_ONE}) q".encode())
        assert _value(connection, "SELECT last_value FROM s") == 1


def test_a_domain_with_an_effect_is_checked_once(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP SEQUENCE s")
        connection.execute("CREATE DOMAIN pg_temp.d AS bigint CHECK (nextval('s') > 0)")
        connection.execute(f"SELECT n::pg_temp.d FROM ({_ONE}) q".encode())
        assert _value(connection, "SELECT last_value FROM s") == 1


def test_a_function_of_the_analyst_is_called_once(live: LiveProxy, analyst: str) -> None:
    """Whatever it says of itself."""
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP SEQUENCE s")
        connection.execute(
            "CREATE FUNCTION pg_temp.f(v bigint) RETURNS bigint IMMUTABLE LANGUAGE sql"
            " AS $$ SELECT v + nextval('s') $$"
        )
        connection.execute(f"SELECT pg_temp.f(n) FROM ({_ONE}) q".encode())
        assert _value(connection, "SELECT last_value FROM s") == 1


def test_random_numbers_are_those_of_the_seed(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection, live.direct(analyst=analyst) as direct:
        for one in (connection, direct):
            one.execute("SELECT setseed(0.25)")
        drawn = _value(connection, f"SELECT random() + 0 * n FROM ({_ONE}) q")
        assert drawn == _value(direct, "SELECT random()")


def test_rows_are_inserted_once(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE k (n bigint PRIMARY KEY CHECK (n > 0))")
        for number in (1, 2):
            connection.execute(f"INSERT INTO k SELECT {number} + 0 * n FROM ({_ONE}) q".encode())
        assert connection.execute("SELECT n FROM k ORDER BY n").fetchall() == [(1,), (2,)]


def test_a_setting_is_what_the_statement_makes_it(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET my.number = '0'")
        connection.execute(
            "SELECT set_config('my.number', current_setting('my.number')::int + 1 + 0 * n || '', false)"
            f" FROM ({_ONE}) q".encode()
        )
        assert _value(connection, "SELECT current_setting('my.number')") == "1"


@pytest.mark.timed
def test_statement_timeout_ends_a_trial(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET statement_timeout = '1s'")
        begun = time.monotonic()
        with pytest.raises(errors.QueryCanceled, match="statement timeout"):
            connection.execute(f"SELECT n + {_ENDLESS} FROM ({_ONE}) q".encode())
        assert time.monotonic() - begun < allowed_wait(10)
        assert _value(connection, "SHOW statement_timeout") == "1s"
    assert live.spent(analyst)[0] == 0


def test_a_client_can_cancel_a_trial(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        with (
            cancelled_each_second(connection),
            pytest.raises(errors.QueryCanceled, match="user request"),
        ):
            connection.execute(f"SELECT n + {_ENDLESS} FROM ({_ONE}) q".encode())
        assert _value(connection, "SELECT 1") == 1
    assert live.spent(analyst)[0] == 0


def test_timeouts_are_off_after_a_trial(live: LiveProxy, analyst: str) -> None:
    """The charged run itself is not ended."""
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET statement_timeout = '20s'")
        for _ in range(2):
            connection.execute(f"SELECT n / 2 FROM ({_ONE}) q".encode())
            assert _value(connection, "SHOW statement_timeout") == "20s"
        connection.execute("BEGIN")
        connection.execute(f"SELECT n / 3 FROM ({_ONE}) q".encode())
        assert _value(connection, "SHOW statement_timeout") == "20s"
        connection.execute("ROLLBACK")


@pytest.mark.long
@pytest.mark.timed
def test_a_slow_error_is_not_tried_again(live: LiveProxy, analyst: str) -> None:
    """So it is not known to be certain, and is charged."""
    slow = _SLOW.format(more="")
    with live.connect(analyst=analyst) as connection:
        begun = time.monotonic()
        connection.execute(f"SELECT {slow}".encode())
        once = time.monotonic() - begun
        begun = time.monotonic()
        with pytest.raises(errors.DivisionByZero):
            connection.execute(f"SELECT mod(n, 0 * {slow}) FROM ({_ONE}) q".encode())
        assert time.monotonic() - begun < 10 * once, "as often as there are made-up answers"
    assert live.when_settled(analyst)[0] == 1


def test_only_so_many_rows_are_tried(live: LiveProxy, analyst: str) -> None:
    """Neither memory nor time grows with a large result."""
    with live.connect(analyst=analyst) as connection, pytest.raises(errors.DivisionByZero):
        connection.execute(
            f"SELECT mod(n, 20000 - i) FROM generate_series(1, 30000) i, ({_ONE}) q".encode()
        )
    assert live.when_settled(analyst)[0] == 1


# What a write computes besides the query. Each has an effect, and is done once.
_COMPUTED = [
    "CREATE TEMP TABLE k (n bigint CHECK (nextval('s') > 0))",
    "CREATE TEMP TABLE k (n bigint, CONSTRAINT c CHECK (n IS NULL OR abs(nextval('s')) > 0))",
    "CREATE TEMP TABLE k (n bigint CHECK (nextval('s') = ANY (ARRAY[1, 2])))",
    "CREATE TEMP TABLE k (n bigint, i bigint DEFAULT nextval('s'))",
    "CREATE TEMP TABLE k (n bigint CHECK (pg_temp.f(n) > 0))",
    "CREATE TEMP TABLE k (n bigint, m bigint GENERATED ALWAYS AS (pg_temp.f(n)) STORED)",
    "CREATE TEMP TABLE k (n bigint); CREATE INDEX ON k (pg_temp.f(n))",
    "CREATE TEMP TABLE k (n bigint); CREATE INDEX ON k (n) WHERE pg_temp.f(n) > 0",
    "CREATE TEMP TABLE k (n bigint); CREATE TEMP TABLE kk (CHECK (nextval('s') > 0)) INHERITS (k)",
    "CREATE TEMP TABLE k (n bigint) PARTITION BY LIST (n);"
    " CREATE TEMP TABLE kk PARTITION OF k (CHECK (nextval('s') > 0)) DEFAULT",
    'CREATE TEMP TABLE "k" (n bigint CHECK (nextval($$s$$) > 0))',
]
_F = (
    "CREATE FUNCTION pg_temp.f(v bigint) RETURNS bigint IMMUTABLE LANGUAGE sql"
    " AS $$ SELECT v + nextval('s') $$"
)


@pytest.mark.every(3)
@pytest.mark.parametrize("table", _COMPUTED)
def test_what_a_write_computes_is_computed_once(live: LiveProxy, analyst: str, table: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP SEQUENCE s")
        connection.execute(_F)
        connection.execute(table.encode())
        before = _value(connection, "SELECT last_value + is_called::int FROM s")
        connection.execute(f"INSERT INTO k (n) SELECT n / 2 FROM ({_ONE}) q".encode())
        calls = _value(connection, "SELECT last_value + is_called::int FROM s")
        assert isinstance(before, int)
        # A trial and the statement itself would call twice. A child's CHECK is not that of its parent.
        assert calls == before + ("INHERITS" not in table)


# Ways to call a function that has an effect.
_CALLS = [
    "SELECT nextval('s') + 0 * n FROM ({one}) q",
    "SELECT NextVal ('s') + 0 * n FROM ({one}) q",
    "SELECT \"nextval\"('s') + 0 * n FROM ({one}) q",
    "SELECT pg_catalog . nextval /* ( */ ('s') + 0 * n FROM ({one}) q",
    'SELECT pg_catalog."nextval"($$s$$) + 0 * n FROM ({one}) q',
    "SELECT n / 2 FROM ({one}) q, nextval('s')",
    "SELECT n / 2 FROM ({one}) q, ROWS FROM (nextval('s'), generate_series(1, 1))",
    "SELECT n / 2 FROM ({one}) q, LATERAL pg_temp.f(n)",
    "SELECT pg_temp.f(n) FROM ({one}) q",
    'SELECT pg_temp."f" (n) FROM ({one}) q',
    "SELECT i, n / 2 FROM v, ({one}) q",
    'SELECT i, n / 2 FROM "v", ({one}) q',
    'SELECT i, n / 2 FROM pg_temp . "v", ({one}) q',
    "SELECT i, n / 2 FROM V, ({one}) q",
    'SELECT i, n / 2 FROM "Odd view", ({one}) q',
    "SELECT i, n / 2 FROM over_v, ({one}) q",
    "SELECT ts_rewrite('a'::tsquery, 'SELECT ''b''::tsquery, ''c''::tsquery WHERE nextval(''s'') > 0'),"
    " n / 2 FROM ({one}) q",
]


@pytest.mark.every(3)
@pytest.mark.parametrize("statement", _CALLS)
def test_a_call_with_an_effect_is_made_once(live: LiveProxy, analyst: str, statement: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP SEQUENCE s")
        connection.execute(_F)
        connection.execute("CREATE TEMP VIEW v AS SELECT nextval('s') AS i")
        connection.execute("CREATE TEMP VIEW over_v AS SELECT * FROM v")
        connection.execute('CREATE TEMP VIEW "Odd view" AS SELECT * FROM v')
        if "Odd" not in statement:
            connection.execute('DROP VIEW "Odd view"')
        connection.execute(statement.format(one=_ONE).encode())
        assert connection.execute("SELECT last_value, is_called FROM s").fetchone() == (1, True)


_CERTAIN = "SELECT width_bucket(count(*), 1, 1, 0){more} FROM shop.orders"

# These have no effect on the statement, so an error of it stays certain.
_APART = [
    ('CREATE FUNCTION pg_temp."select"() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$', ""),
    ("CREATE FUNCTION pg_temp.other() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$", ""),
    ("CREATE TEMP VIEW v AS SELECT random()", ""),
    ("CREATE TEMP TABLE k (id serial)", ""),
    ("SELECT 1", " AS random"),
    ("SELECT 1", ' AS "nextval"'),
    ("SELECT 1", ", 'setseed'"),
    ("SELECT 1", ", current_timestamp, localtime, current_date"),
]


@pytest.mark.parametrize(("before", "more"), _APART)
def test_an_error_is_certain_whatever_has_no_effect(
    live: LiveProxy, analyst: str, before: str, more: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(before.encode())
        with pytest.raises(psycopg.DataError) as raised:
            connection.execute(_CERTAIN.format(more=more).encode())
        assert raised.value.sqlstate == "2201G"
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("name", ["select", "width_bucket", "shop", "count"])
def test_another_session_does_not_switch_trials_off(
    live: LiveProxy, analyst: str, name: str
) -> None:
    other = live.servers.new_analyst()
    with live.connect(analyst=other) as mallory, live.connect(analyst=analyst) as connection:
        mallory.execute(
            f'CREATE FUNCTION pg_temp."{name}"() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$'.encode()
        )
        with pytest.raises(psycopg.DataError):
            connection.execute(_CERTAIN.format(more="").encode())
    assert live.spent(analyst)[0] == 0


def test_writes_are_tried_while_another_table_has_a_default(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE other (id serial, m int DEFAULT random())")
        connection.execute("CREATE TEMP TABLE k (n bigint CHECK (n < 0), m int DEFAULT 7)")
        with pytest.raises(errors.CheckViolation):
            connection.execute("INSERT INTO k SELECT 1 + abs(count(*)) FROM shop.orders")
    assert live.spent(analyst)[0] == 0


def test_relations_by_computed_names_count_as_an_effect(live: LiveProxy) -> None:
    """They may be views. PostgreSQL has these functions whether XML is available or not."""
    with psycopg.connect(live.servers.shadow_server.dsn("shop")) as connection:
        for name in ("table_to_xml", "schema_to_xml", "database_to_xmlschema", "query_to_xml"):
            assert _value(connection, f"SELECT dp.may_have_effects('{{{name}}}', '{{}}')") is True
        assert _value(connection, "SELECT dp.may_have_effects('{abs,xmlforest}', '{}')") is False


def test_operators_casts_and_types_of_postgresql_have_no_effect(live: LiveProxy) -> None:
    """So names before brackets tell all that a statement calls."""
    with psycopg.connect(live.servers.shadow_server.dsn("shop")) as connection:
        found = connection.execute(
            "SELECT 'operator', oprname::text FROM pg_operator JOIN pg_proc p ON p.oid = oprcode"
            " WHERE provolatile = 'v'"
            " UNION ALL SELECT 'cast', castsource::regtype::text FROM pg_cast"
            " JOIN pg_proc p ON p.oid = castfunc WHERE provolatile = 'v'"
            " UNION ALL SELECT 'type', typname::text FROM pg_type t JOIN pg_proc p"
            " ON p.oid IN (typinput, typoutput, typsend, typreceive) WHERE provolatile = 'v'"
        ).fetchall()
        assert found == []
        (count,) = connection.execute("SELECT count(*) FROM pg_operator").fetchone() or (0,)
        assert count > 500
