"""A trial run before the charge leaves nothing behind, and keeps to the limits of the session."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest
from psycopg import errors

from tests.live_proxy import LiveProxy

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
        connection.execute("SET statement_timeout = '200ms'")
        begun = time.monotonic()
        with pytest.raises(errors.QueryCanceled, match="statement timeout"):
            connection.execute(f"SELECT n + {_ENDLESS} FROM ({_ONE}) q".encode())
        assert time.monotonic() - begun < 10
        assert _value(connection, "SHOW statement_timeout") == "200ms"
    assert live.spent(analyst)[0] == 0


def test_a_client_can_cancel_a_trial(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        timer = threading.Timer(1, connection.cancel_safe)
        timer.start()
        with pytest.raises(errors.QueryCanceled, match="user request"):
            connection.execute(f"SELECT n + {_ENDLESS} FROM ({_ONE}) q".encode())
        timer.join()
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
            connection.execute(f"SELECT n / (0 * {slow}) FROM ({_ONE}) q".encode())
        assert time.monotonic() - begun < 10 * once, "as often as there are made-up answers"
    assert live.when_settled(analyst)[0] == 1


def test_only_so_many_rows_are_tried(live: LiveProxy, analyst: str) -> None:
    """Neither memory nor time grows with a large result."""
    with live.connect(analyst=analyst) as connection, pytest.raises(errors.DivisionByZero):
        connection.execute(
            f"SELECT n / (20000 - i) FROM generate_series(1, 30000) i, ({_ONE}) q".encode()
        )
    assert live.when_settled(analyst)[0] == 1
