"""PostgreSQL's own refusals come before the charge, and what needs no answer is not charged (reviews, F17).

Charges are counted in the ledger's own rows. Errors must be those that PostgreSQL itself gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from proxy.pgwire import frames
from tests.fetching import fetched
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient
from tests.servers.http.both_listeners import BothListeners, open_http

ORDERS = "count(*) FROM shop.orders"


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    statement: str
    before: tuple[str, ...] = ()
    sqlstate: str | None = None  # None: no error, and nothing to charge
    is_own: bool = True  # PostgreSQL says the same of the statement without the proxy


_EXISTS = ("CREATE TEMP TABLE there (a int)",)
CASES = [
    Case("ctas_no_right", f"CREATE TABLE public.x AS SELECT {ORDERS}", (), "42501"),
    Case("ctas_no_schema", f"CREATE TABLE nowhere.x AS SELECT {ORDERS}", (), "3F000"),
    Case("ctas_exists", f"CREATE TEMP TABLE there AS SELECT {ORDERS}", _EXISTS, "42P07"),
    Case(
        "ctas_if_not_exists", f"CREATE TEMP TABLE IF NOT EXISTS there AS SELECT {ORDERS}", _EXISTS
    ),
    Case("ctas_columns", f"CREATE TEMP TABLE y (a, b) AS SELECT {ORDERS}", (), "42601"),
    Case("ctas_same_column", f"CREATE TEMP TABLE y AS SELECT count(*), {ORDERS}", (), "42701"),
    Case("ctas_option", f"CREATE TEMP TABLE y WITH (odd = 1) AS SELECT {ORDERS}", (), "22023"),
    Case(
        "ctas_read_only", f"CREATE TEMP TABLE y AS SELECT {ORDERS}", ("BEGIN READ ONLY",), "25006"
    ),
    Case(
        "ctas_made_read_only",
        f"CREATE TEMP TABLE y AS SELECT {ORDERS}",
        ("BEGIN", "SET TRANSACTION READ ONLY"),
        "25006",
    ),
    Case("into_no_right", "SELECT count(*) INTO public.x FROM shop.orders", (), "42501"),
    Case("into_exists", "SELECT count(*) INTO TEMP TABLE there FROM shop.orders", _EXISTS, "42P07"),
    Case(
        "into_read_only",
        "SELECT count(*) INTO TEMP y FROM shop.orders",
        ("BEGIN READ ONLY",),
        "25006",
    ),
    Case("view", f"CREATE VIEW public.v AS SELECT {ORDERS}", (), "42501", is_own=False),
    Case(
        "matview",
        f"CREATE MATERIALIZED VIEW public.v AS SELECT {ORDERS}",
        (),
        "42501",
        is_own=False,
    ),
    Case("declare_outside", f"DECLARE c CURSOR FOR SELECT {ORDERS}", (), "25P01"),
    Case(
        "declare_exists",
        f"DECLARE c CURSOR FOR SELECT {ORDERS}",
        ("BEGIN", "DECLARE c CURSOR FOR SELECT 1"),
        "42P03",
    ),
    Case(
        "declare_hold_exists",
        f"DECLARE c CURSOR WITH HOLD FOR SELECT {ORDERS}",
        ("DECLARE c CURSOR WITH HOLD FOR SELECT 1",),
        "42P03",
    ),
    Case("copy_to_file", f"COPY (SELECT {ORDERS}) TO '/tmp/x'", (), "42501"),
    Case("copy_to_program", f"COPY (SELECT {ORDERS}) TO PROGRAM 'id'", (), "42501"),
    Case("copy_option", f"COPY (SELECT {ORDERS}) TO STDOUT (FORMAT odd)", (), "22023"),
    Case(
        "copy_column",
        f"COPY (SELECT {ORDERS}) TO STDOUT (FORMAT csv, FORCE_QUOTE (x))",
        (),
        "42703",
    ),
    Case("copy_limit", f"COPY (SELECT {ORDERS} LIMIT -1) TO STDOUT", (), "2201W"),
    Case("insert_no_right", f"INSERT INTO shop.products SELECT {ORDERS}", (), "42501"),
    Case("insert_columns", f"INSERT INTO there SELECT 1, {ORDERS}", _EXISTS, "42601"),
    Case("insert_column", f"INSERT INTO there (b) SELECT {ORDERS}", _EXISTS, "42703"),
    Case(
        "insert_type",
        "INSERT INTO there SELECT 'x'::text FROM (SELECT count(*) FROM shop.orders) q",
        _EXISTS,
        "42804",
    ),
    Case(
        "explain_analyze_ctas",
        f"EXPLAIN ANALYZE CREATE TEMP TABLE y AS SELECT {ORDERS}",
        is_own=False,
    ),
    Case("explain_analyze", f"EXPLAIN ANALYZE SELECT {ORDERS}", is_own=False),
    Case(
        "execute_number",
        "EXECUTE q(1, 2)",
        (f"PREPARE q (int) AS SELECT {ORDERS} WHERE quantity > $1",),
        "42601",
    ),
    Case(
        "execute_type",
        "EXECUTE q('x')",
        (f"PREPARE q (int) AS SELECT {ORDERS} WHERE quantity > $1",),
        "22P02",
        is_own=True,
    ),
    Case(
        "execute_limit", "EXECUTE q(-1)", (f"PREPARE q (int) AS SELECT {ORDERS} LIMIT $1",), "2201W"
    ),
    Case(
        "ctas_execute",
        "CREATE TABLE public.x AS EXECUTE q",
        (f"PREPARE q AS SELECT {ORDERS}",),
        "0A000",
        is_own=False,
    ),
    Case(
        "explain_execute",
        "EXPLAIN ANALYZE EXECUTE q",
        (f"PREPARE q AS SELECT {ORDERS}",),
        "0A000",
        is_own=False,
    ),
    Case("limit", f"SELECT {ORDERS} LIMIT -1", (), "2201W"),
    Case("limit_expression", f"SELECT {ORDERS} LIMIT (3 - 5)::bigint", (), "2201W"),
    Case("limit_zero_division", f"SELECT {ORDERS} LIMIT 1/0", (), "22012"),
    Case("limit_inside", f"SELECT * FROM (SELECT {ORDERS} LIMIT -1) q", (), "2201W"),
    Case("limit_query", f"SELECT {ORDERS} LIMIT (SELECT -1)", (), "2201W"),
    Case("limit_query_none", f"SELECT {ORDERS} LIMIT (SELECT 0)"),
    Case("offset_query", f"SELECT {ORDERS} OFFSET ((SELECT 2 - 3))", (), "2201X"),
    Case("ntile", "SELECT ntile(0) OVER (), count(*) FROM shop.orders", (), "22014"),
    Case(
        "ntile_of_sum", "SELECT ntile(2 - 3) OVER (ORDER BY count(*)) FROM shop.orders", (), "22014"
    ),
    Case(
        "nth_value", "SELECT nth_value(count(*), 0) OVER () FROM shop.orders LIMIT 5", (), "22016"
    ),
    Case("frame", "SELECT sum(count(*)) OVER (ROWS -1 PRECEDING) FROM shop.orders", (), "22013"),
    Case(
        "frame_between",
        "SELECT sum(count(*)) OVER (ROWS BETWEEN -1 PRECEDING AND CURRENT ROW) FROM shop.orders",
        (),
        "22013",
    ),
    Case(
        "frame_end",
        "SELECT sum(count(*)) OVER (ORDER BY count(*) GROUPS BETWEEN 1 PRECEDING AND (-1) FOLLOWING)"
        " FROM shop.orders",
        (),
        "22013",
    ),
    Case("window_clause", f"SELECT ntile(0) OVER w, {ORDERS} WINDOW w AS ()", (), "22014"),
    Case("series", "SELECT count(*), generate_series(1, 9, 0) FROM shop.orders", (), "22023"),
    Case("to_date", "SELECT count(*), to_date('x', 'YYYY') FROM shop.orders", (), "22007"),
    Case(
        "to_timestamp", "SELECT count(*), to_timestamp('x', 'YYYY') FROM shop.orders", (), "22007"
    ),
    Case("limit_none", f"SELECT {ORDERS} LIMIT 5 - 5"),
    Case("limit_zero", f"SELECT {ORDERS} LIMIT '0'"),
    Case("offset", f"SELECT {ORDERS} OFFSET -1", (), "2201X"),
    Case("offset_rows", f"SELECT {ORDERS} OFFSET -1 ROWS", (), "2201X"),
    Case("fetch", f"SELECT {ORDERS} FETCH FIRST -1 ROWS ONLY", (), "2201W"),
    Case("fetch_none", f"SELECT {ORDERS} FETCH FIRST 0 ROWS ONLY"),
    Case("having_false", f"SELECT {ORDERS} HAVING false"),
    Case("having_never", f"SELECT {ORDERS} HAVING 1 = 2"),
    Case("unused_cte", f"WITH q AS (SELECT {ORDERS}) SELECT 1"),
    Case("ctas_having_false", f"CREATE TEMP TABLE y AS SELECT {ORDERS} HAVING false"),
    Case("divided_by_zero", "SELECT 1/0, count(*) FROM shop.orders", (), "22012"),
    Case("answer_by_zero", "SELECT count(*) / 0 FROM shop.orders", (), "22012", is_own=False),
    Case(
        "answer_modulo_zero",
        "SELECT sum(quantity) % 0.0 FROM shop.orders",
        (),
        "22012",
        is_own=False,
    ),
    Case("no_right_of_function", f"SELECT pg_read_file('x'), {ORDERS}", (), "42501"),
    Case("unknown_function", f"SELECT nosuch(), {ORDERS}", (), "42883"),
    Case(
        "no_right_of_table",
        "SELECT count(*), (SELECT 1 FROM pg_authid LIMIT 1) FROM shop.orders",
        (),
        "42501",
    ),
    Case("failed", f"SELECT {ORDERS}", ("BEGIN", "SELECT 1/0"), "25P02"),
]


_IDS = [case.name for case in CASES]


def simple(connection: psycopg.Connection, text: str) -> PGresult:
    return connection.pgconn.exec_(text.encode())


def extended(connection: psycopg.Connection, text: str) -> PGresult:
    return connection.pgconn.exec_params(text.encode(), [])


def prepared(connection: psycopg.Connection, text: str) -> PGresult:
    result = connection.pgconn.prepare(b"named", text.encode())
    if result.status == ExecStatus.FATAL_ERROR:
        return result
    return connection.pgconn.exec_prepared(b"named", [])


def _run(connection: psycopg.Connection, way: Callable[..., PGresult], case: Case) -> PGresult:
    for statement in case.before:
        connection.pgconn.exec_(statement.encode())
    result = way(connection, case.statement)
    while result.status in (ExecStatus.COPY_OUT,):
        while connection.pgconn.get_copy_data(0)[0] > 0:
            pass
        result = fetched(connection) or result
        while fetched(connection) is not None:
            pass
    return result


def _of_own_table(case: Case) -> Case:
    before = tuple(text.replace("shop.orders", "mine") for text in case.before)
    return replace(case, statement=case.statement.replace("shop.orders", "mine"), before=before)


def _told(result: PGresult) -> tuple[str | None, str | None]:
    if result.status != ExecStatus.FATAL_ERROR:
        return None, None
    state = result.error_field(DiagnosticField.SQLSTATE) or b""
    message = result.error_field(DiagnosticField.MESSAGE_PRIMARY) or b""
    context = result.error_field(DiagnosticField.CONTEXT) or b""
    assert b"dp.rehearse" not in context, "a function of ours"
    return state.decode(), message.decode()


@pytest.mark.every(16)
@pytest.mark.parametrize("way", [simple, extended, prepared])
@pytest.mark.parametrize("case", CASES, ids=_IDS)
def test_nothing_is_charged(
    live: LiveProxy, analyst: str, case: Case, way: Callable[..., PGresult]
) -> None:
    with live.connect(analyst=analyst) as connection:
        told = _told(_run(connection, way, case))
        assert told[0] == case.sqlstate, told
        assert live.spent(analyst)[0] == 0
    if case.is_own and case.sqlstate is not None:
        with live.direct(analyst=analyst) as connection:
            # Of a table that the analyst may read: the others are refused before all else.
            connection.execute("CREATE TEMP TABLE mine (id int, quantity int)")
            assert _told(_run(connection, way, _of_own_table(case))) == told


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.statement.startswith(("SELECT", "WITH")) and not case.before],
    ids=lambda case: case.name,
)
def test_nothing_is_charged_over_http(listeners: BothListeners, analyst: str, case: Case) -> None:
    response = listeners.query(case.statement, analyst=analyst)
    body = response.json()
    assert body.get("sqlstate") == case.sqlstate
    assert listeners.proxy.spent(analyst)[0] == 0
    if case.sqlstate is None:
        assert response.status_code == 200
        assert body["privacy"]["epsilon"] == 0


def test_parameters(live: LiveProxy, listeners: BothListeners, analyst: str) -> None:
    """LIMIT $1 is known at Bind, in either format."""
    text = f"SELECT {ORDERS} LIMIT $1".encode()
    with live.connect(analyst=analyst) as connection:
        for value, size in ((b"-1", 0), ((-1).to_bytes(8, "big", signed=True), 1)):
            result = connection.pgconn.exec_params(text, [value], [20], [size])
            assert _told(result)[0] == "2201W"
        result = connection.pgconn.exec_params(text, [b"0"], [20])
        assert (_told(result), result.ntuples) == ((None, None), 0)
        assert live.spent(analyst)[0] == 0
        result = connection.pgconn.exec_params(text, [None], [20])
        assert result.ntuples == 1
        assert live.spent(analyst)[0] == 1
    assert listeners.query(text.decode(), -1, analyst=analyst).json()["sqlstate"] == "2201W"
    assert live.spent(analyst)[0] == 1


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "items",
    [
        "ntile(2) OVER (ORDER BY count(*)), nth_value(count(*), 2) OVER (ROWS 1 PRECEDING)",
        "sum(count(*)) OVER (ROWS BETWEEN 2 - 1 PRECEDING AND 0 FOLLOWING), generate_series(1, 2, 1)",
        "to_date('2020', 'YYYY'), ntile(1) OVER (RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        "CASE WHEN count(*) < -1000000 THEN to_date('x', 'YYYY') END",
        "count(*) FILTER (WHERE total BETWEEN 1 AND 5), 'ntile(0) over ()'",
        "row_number() OVER (ROWS $1 PRECEDING), ntile($1) OVER ()",
    ],
)
def test_what_is_evaluated_first_is_answered(live: LiveProxy, analyst: str, items: str) -> None:
    """What PostgreSQL does not raise is answered, in one charge."""
    values = [b"1"] if "$1" in items else []
    text = f"SELECT {items}, count(*) FROM shop.orders GROUP BY status ORDER BY 1 LIMIT (SELECT 3)"
    with live.connect(analyst=analyst) as connection:
        result = connection.pgconn.exec_params(text.encode(), values)
        assert _told(result) == (None, None)
        assert result.ntuples == 3
        if values:
            assert _told(connection.pgconn.exec_params(text.encode(), [b"0"]))[0] == "22014"
    assert live.when_settled(analyst)[0] == 1


@pytest.mark.parametrize("text", [f"COPY (SELECT {ORDERS}) TO STDOUT", "EXECUTE q"])
def test_a_portal_of_that_name(live: LiveProxy, analyst: str, text: str) -> None:
    with RawClient(live.dsn(analyst=analyst)) as client:
        client.send(frames.query(f"PREPARE q AS SELECT {ORDERS}".encode()))
        client.until_ready()
        client.send(
            frames.query(b"BEGIN"),
        )
        client.until_ready()
        client.send(
            frames.parse(b"", b"SELECT 1"),
            frames.bind(b"p", b"", ()),
            frames.parse(b"s", text.encode()),
            frames.bind(b"p", b"s", ()),
            frames.SYNC,
        )
        errors = [dict(frames.decode_report(p)) for tag, p in client.until_ready() if tag == b"E"]
        assert [error[b"C"] for error in errors] == [b"42P03"]
        assert errors[0][b"M"] == b'cursor "p" already exists'
    assert live.spent(analyst)[0] == 0


MADE = [
    ("CREATE TEMP TABLE y AS {}", "SELECT * FROM y"),
    (
        'CREATE TEMP TABLE "o""d d" (a, "b ""c") ON COMMIT PRESERVE ROWS AS {}',
        'SELECT * FROM "o""d d"',
    ),
    ("CREATE TEMP TABLE IF NOT EXISTS y AS {}", "SELECT * FROM y"),
    ("DECLARE c CURSOR WITH HOLD FOR {}", "FETCH ALL c"),
    ("INSERT INTO z {}", "SELECT * FROM z"),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("made", "read"), MADE)
@pytest.mark.parametrize("way", [simple, extended, prepared])
def test_what_is_rehearsed_is_made_once(
    live: LiveProxy, analyst: str, way: Callable[..., PGresult], made: str, read: str
) -> None:
    """And nothing that the statement does happens twice: sequences, settings, notices, volatile functions."""
    with live.connect(analyst=analyst) as connection, _noticing(connection) as notices:
        for statement in _SETUP:
            connection.execute(statement.encode())
        # Without a table of its own the query of the answer is all that there is to be scanned.
        query = (
            "SELECT n, pg_temp.noisily(nextval('pg_temp.s')) FROM"
            " (SELECT count(*) AS n FROM shop.orders) q"
            if not made.startswith("INSERT")
            else "SELECT count(*), pg_temp.noisily(nextval('pg_temp.s')) FROM shop.orders"
        )
        assert _told(way(connection, made.format(query))) == (None, None)
        rows = connection.execute(read.encode()).fetchall()
        assert [row[1] for row in rows] == [1]
        assert notices == ["1"]
        assert connection.execute("SELECT last_value, is_called FROM pg_temp.s").fetchone() == (
            1,
            True,
        )
        assert connection.execute("SELECT current_setting('my.calls')").fetchone() == ("1",)
        assert live.when_settled(analyst)[0] == 1


@pytest.mark.every(4)
@pytest.mark.parametrize("way", [simple, extended, prepared])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT pg_temp.noisily(nextval('pg_temp.s')), count(*) FROM shop.orders",
        "SELECT count(*) FROM shop.orders LIMIT pg_temp.noisily(nextval('pg_temp.s'))",
        "WITH q AS MATERIALIZED (SELECT pg_temp.noisily(nextval('pg_temp.s')) AS v)"
        " SELECT v, (SELECT count(*) FROM shop.orders) FROM q",
        "SELECT v, n FROM (SELECT pg_temp.noisily(nextval('pg_temp.s')) AS v OFFSET 0) q,"
        " (SELECT count(*) AS n FROM shop.orders) r",
    ],
)
def test_a_query_is_run_once(
    live: LiveProxy, analyst: str, way: Callable[..., PGresult], text: str
) -> None:
    with live.connect(analyst=analyst) as connection, _noticing(connection) as notices:
        for statement in _SETUP:
            connection.execute(statement.encode())
        assert way(connection, text).ntuples == 1
        assert notices == ["1"]
        assert connection.execute("SELECT last_value FROM pg_temp.s").fetchone() == (1,)
        assert connection.execute("SELECT current_setting('my.calls')").fetchone() == ("1",)


_SETUP = (
    "CREATE TEMP SEQUENCE s",
    "CREATE TEMP TABLE z (n bigint, v bigint)",
    "SET my.calls = 0",
    """CREATE FUNCTION pg_temp.noisily(v bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        RAISE NOTICE '%', v;
        PERFORM set_config('my.calls', (current_setting('my.calls')::int + 1)::text, false);
        RETURN v;
    END $$""",
)


@contextmanager
def _noticing(connection: psycopg.Connection) -> Iterator[list[str | None]]:
    notices: list[str | None] = []
    connection.add_notice_handler(lambda diagnostic: notices.append(diagnostic.message_primary))
    yield notices


def test_if_not_exists_still_says_so(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection, _noticing(connection) as notices:
        connection.execute("CREATE TEMP TABLE there (a int)")
        connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS there AS SELECT count(*) FROM shop.orders"
        )
        assert notices == ['relation "there" already exists, skipping']


def test_copy_with_options_is_answered(live: LiveProxy, analyst: str) -> None:
    text = 'COPY (SELECT count(*) AS "n ""n" FROM shop.orders) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *)'
    with live.connect(analyst=analyst) as connection, connection.cursor() as cursor:
        with cursor.copy(text.encode()) as copy:
            said = b"".join(bytes(piece) for piece in copy)
        head, _, count = said.decode().strip().partition("\n")
        assert head == '"n ""n"'
        assert int(count.strip('"')) > 50_000
    assert live.when_settled(analyst)[0] == 1
