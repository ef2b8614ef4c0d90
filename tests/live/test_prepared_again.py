"""Between two executions of a prepared statement anything may change: what PostgreSQL then refuses comes before
the charge, and so does what we refuse. Nothing of the first execution is believed at the second."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from tests.live_proxy import LiveProxy

_SETUP = (
    "CREATE TEMP TABLE mine (id int, quantity int)",
    "INSERT INTO mine VALUES (1, 2)",
    "CREATE FUNCTION pg_temp.own(int) RETURNS int LANGUAGE sql AS 'SELECT $1'",
)
_TEXT = (
    "SELECT q.n, t.quantity, pg_temp.own(t.id) FROM (SELECT count(*) AS n FROM {}) q,"
    " pg_temp.mine t LIMIT $1"
)
_CHANGES = [
    "ALTER TABLE mine RENAME TO yours",
    "ALTER TABLE mine RENAME COLUMN quantity TO other",
    "ALTER TABLE mine DROP COLUMN quantity",
    "ALTER TABLE mine ALTER COLUMN quantity TYPE text",
    "DROP TABLE mine",
    "DROP FUNCTION pg_temp.own(int)",
    "ALTER FUNCTION pg_temp.own(int) RENAME TO others",
]


def _prepare(connection: psycopg.Connection, table: str) -> None:
    for statement in _SETUP:
        connection.execute(statement.encode())
    result = connection.pgconn.prepare(b"s", _TEXT.format(table).encode())
    assert result.status == ExecStatus.COMMAND_OK


def _run(connection: psycopg.Connection, limit: bytes = b"5", size: int = 0) -> PGresult:
    return connection.pgconn.exec_prepared(b"s", [limit], [size])


def _error(result: PGresult) -> tuple[str, str] | None:
    if result.status != ExecStatus.FATAL_ERROR:
        return None
    fields = DiagnosticField.SQLSTATE, DiagnosticField.MESSAGE_PRIMARY
    state, message = ((result.error_field(field) or b"").decode() for field in fields)
    return state, message


@pytest.mark.every(2)
@pytest.mark.parametrize("change", _CHANGES)
def test_what_has_changed_is_found_before_the_charge(
    live: LiveProxy, analyst: str, change: str
) -> None:
    with live.connect(analyst=analyst) as connection, live.direct(analyst=analyst) as direct:
        direct.execute("CREATE TEMP TABLE orders (id int)")
        for each, table in ((connection, "shop.orders"), (direct, "orders")):
            _prepare(each, table)
            assert _error(_run(each)) is None
            assert _error(_run(each)) is None
            each.execute(change.encode())
        assert live.when_settled(analyst)[0] == 2
        expected = _error(_run(direct))
        assert expected is not None
        for _ in range(2):
            assert _error(_run(connection)) == expected
        assert live.spent(analyst)[0] == 2
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_right_that_is_gone(live: LiveProxy, analyst: str) -> None:
    """Analysts cannot REVOKE; an operator of the shadow could."""
    with live.connect(analyst=analyst) as connection:
        _prepare(connection, "shop.orders")
        assert _error(_run(connection)) is None
        row = connection.execute("SELECT 'mine'::regclass::oid").fetchone()
        assert row is not None
        with psycopg.connect(live.servers.shadow_server.dsn("shop"), autocommit=True) as operator:
            schema = operator.execute(
                "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = %s", row
            ).fetchone()
            assert schema is not None
            operator.execute(f'REVOKE ALL ON {schema[0]}.mine FROM "{analyst}"'.encode())
        assert _error(_run(connection)) == ("42501", "permission denied for table mine")
        assert live.when_settled(analyst)[0] == 1


@pytest.mark.parametrize(
    ("change", "back", "told"),
    [
        ("SET dp.epsilon = 0.0000001", "SET dp.epsilon = 1", "dp.epsilon"),
        ("SET transform_null_equals = on", "RESET transform_null_equals", "transform_null_equals"),
    ],
)
def test_a_setting_that_has_changed(
    live: LiveProxy, analyst: str, change: str, back: str, told: str
) -> None:
    """It is set within a function, where nobody sees it but the session."""
    name, _, value = change.removeprefix("SET ").partition(" = ")
    with live.connect(analyst=analyst) as connection:
        _prepare(connection, "shop.orders")
        assert _error(_run(connection)) is None
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        refused = _error(_run(connection))
        assert refused is not None
        assert told in refused[1]
        connection.execute(back.encode())
        assert _error(_run(connection)) is None
        assert live.when_settled(analyst)[0] == 2


def test_values_are_judged_before_the_charge(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        _prepare(connection, "shop.orders")
        for limit, size, state in (
            (b"-1", 0, "2201W"),
            ((-1).to_bytes(8, "big", signed=True), 1, "2201W"),
            (b"x", 0, "22P02"),
            (b"", 1, "08P01"),
        ):
            refused = _error(_run(connection, limit, size))
            assert refused is not None
            assert refused[0] in (state, "22P03")
        assert _run(connection, b"0").ntuples == 0
        assert live.spent(analyst)[0] == 0
        assert _run(connection, b"1").ntuples == 1
        assert live.when_settled(analyst)[0] == 1


@pytest.mark.parametrize("is_broken", [False, True])
def test_another_statement_under_the_name(live: LiveProxy, analyst: str, is_broken: bool) -> None:
    """What SQL has put there is run, free of charge, also where the old one could not be run any more."""
    with live.connect(analyst=analyst) as connection:
        _prepare(connection, "shop.orders")
        if is_broken:
            connection.execute("DROP TABLE mine")
        connection.execute("DEALLOCATE s")
        connection.execute("PREPARE s(bigint) AS SELECT $1 + 1")
        result = _run(connection)
        assert (_error(result), result.get_value(0, 0)) == (None, b"6")
        assert live.spent(analyst)[0] == 0


def test_another_epsilon_is_another_charge(live: LiveProxy, analyst: str) -> None:
    """What is planned is remembered, with the settings that it was planned for."""
    with live.connect(analyst=analyst) as connection:
        _prepare(connection, "shop.orders")
        for epsilon in ("0.5", "0.25", "0.5", "0.25"):
            connection.execute("SELECT set_config('dp.epsilon', %s, false)", (epsilon,))
            assert _error(_run(connection)) is None
        assert live.when_settled(analyst)[:2] == (4, 1.5)


@pytest.mark.every(2)
@pytest.mark.parametrize("of", ["count", "grouped", "parameter", "copy"])
def test_another_search_path(live: LiveProxy, analyst: str, of: str) -> None:
    """As PostgreSQL, which makes its plan anew: the names mean other tables, and go back."""
    text, given, wanted = {
        "count": ("SELECT count(*) FROM sales", (), ("1000", "3000")),
        "grouped": ("SELECT item, sum(size) FROM sales GROUP BY item", (), ("n", "s")),
        "parameter": (
            "SELECT count(*) FROM sales WHERE id <= $1 AND size < $2",
            (b"\0\0\3\350", b"5"),
            ("1000", "1000"),
        ),
        "copy": ("COPY (SELECT count(*) FROM sales) TO STDOUT", (), ("1000", "3000")),
    }[of]
    with live.connect("kinds", analyst=analyst) as connection:
        pg = connection.pgconn
        connection.execute("SET search_path = north")
        assert pg.prepare(b"s", text.encode()).status == ExecStatus.COMMAND_OK
        for number, path in enumerate(("north", "south", "south", "north", "kinds, south")):
            connection.execute(f"SET search_path = {path}".encode())
            result = pg.exec_prepared(b"s", given, (1, 0) if given else ())
            assert _error(result) is None
            if result.status == ExecStatus.COPY_OUT:
                size, data = pg.get_copy_data(0)
                found = bytes(data[:size]).decode()
                assert pg.get_copy_data(0)[0] == -1
                while pg.get_result() is not None:
                    pass
            else:
                found = (result.get_value(0, 0) or b"").decode()
            expected = wanted["south" in path]
            assert found == expected or abs(int(found) - int(expected)) < 40, (path, found)
            assert live.when_settled(analyst)[0] == number + 1


def test_a_search_path_without_the_same(live: LiveProxy, analyst: str) -> None:
    """PostgreSQL's own words where the result would be another one, or no table bears the name; it is free."""
    with live.connect("kinds", analyst=analyst) as connection:
        connection.execute("SET search_path = north")
        grouped = b"SELECT item, sum(size) FROM sales GROUP BY item"
        assert connection.pgconn.prepare(b"s", grouped).status == ExecStatus.COMMAND_OK
        for path, expected in (
            ("other", ("0A000", "cached plan must not change result type")),
            ("kinds", ("42P01", 'relation "sales" does not exist')),
            (
                "open",
                ("0A000", "the prepared statement names no protected table on this search_path"),
            ),
        ):
            connection.execute(f"SET search_path = {path}".encode())
            for _ in range(2):
                assert _error(connection.pgconn.exec_prepared(b"s", ())) == expected
        assert live.spent(analyst)[0] == 0
        connection.execute("SET search_path = north")
        assert _error(connection.pgconn.exec_prepared(b"s", ())) is None
        assert live.when_settled(analyst)[0] == 1
