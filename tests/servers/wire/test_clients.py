"""Real clients: what they ask about shop.orders is answered, and all else is as without the proxy."""

from __future__ import annotations

import asyncio

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
import sqlalchemy
from psycopg import errors

from proxy.base.session_settings import DP_SETTINGS
from tests.psql import psql
from tests.servers.wire.conftest import Running
from tests.waiting import cancelled_each_second
from tests.wire_shadow import PASSWORD

COUNT = "SELECT count(*) FROM shop.orders"
COUNT_ABOVE = "SELECT count(*) FROM shop.orders WHERE amount > %s"


def psql_through(relay: Running, text: str, port: int | None = None) -> str:
    address = ["-h", relay.shadow.host, "-p", str(port or relay.port), "-U", "alice", "-d", "shop"]
    return psql(address, text, PASSWORD)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "text",
    [
        r"\d",
        r"\dt shop.*",
        r"\d+ shop.orders",
        r"\dn+",
        r"\df shop.*",
        r"\du",
        r"\l",
        "SELECT 1; SELECT 'ä', NULL, 1.50::numeric;",
        "SELECT shop.chatty();",
        "SELECT nosuch;",
        "SELECT 1/0; SELECT 2;",
        "BEGIN; SELECT 1; nonsense; SELECT 2; ROLLBACK; SELECT 3;",
        "PREPARE p(int) AS SELECT $1 + 1; EXECUTE p(41); EXECUTE p('x'); EXECUTE nosuch(1);",
        "BEGIN; DECLARE c CURSOR FOR SELECT * FROM shop.colours; FETCH 2 FROM c; COMMIT;",
        "COPY shop.colours TO STDOUT;",
        "CREATE TEMP TABLE t(a int); COPY t FROM STDIN;\n1\n2\n\\.\nSELECT sum(a) FROM t;",
        r"SELECT 1 AS a \gdesc",
        "SET dp.epsilon = '0.5'; SHOW dp.epsilon; SHOW search_path;",
        "\\set FETCH_COUNT 2\nSELECT * FROM shop.colours;",
    ],
)
def test_psql_sees_what_it_sees_without_the_proxy(text: str, relay: Running) -> None:
    assert psql_through(relay, text) == psql_through(relay, text, relay.shadow.port)
    assert relay.engine.asked == []


# What psql 15 sends for `SELECT count(*) FROM shop.<TAB>`.
_COMPLETION = """SELECT pg_catalog.quote_ident(c.relname) FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p')
AND substring(pg_catalog.quote_ident(c.relname),1,0)=''
AND pg_catalog.pg_table_is_visible(c.oid) AND c.relname LIKE 'or%'"""


def test_psql_queries(relay: Running) -> None:
    psql_says = psql_through(
        relay,
        f"""\\t
{COUNT};
BEGIN; {COUNT} WHERE amount > 1; COMMIT;
PREPARE q(numeric) AS {COUNT} WHERE amount > $1; EXECUTE q(20); EXECUTE q(7*5);
BEGIN; DECLARE c CURSOR FOR {COUNT}; FETCH 2 FROM c; COMMIT;
CREATE TEMP TABLE answer AS {COUNT}; SELECT count + 1 FROM answer;
COPY ({COUNT}) TO STDOUT;
\\copy ({COUNT} WHERE amount > 3) TO STDOUT
{_COMPLETION};
""",
    )
    lines = psql_says.split("\n")
    assert [line for line in lines if line.isdigit()] == [
        "42", "99", "80", "65", "42", "43", "42", "97",
    ]  # fmt: skip
    assert len(relay.engine.asked) == 8
    assert {analyst for analyst, _ in relay.engine.asked} == {"alice"}


def test_psql_shows_the_place_of_a_refusal(relay: Running) -> None:
    assert psql_through(relay, "SELECT *\n  FROM shop.orders;") == (
        "ERROR:  rows of shop.orders are protected\n"
        "LINE 2:   FROM shop.orders;\n"
        "                    ^\n"
        "HINT:  Ask for count(*).\n"
    )


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg(binary: bool, relay: Running) -> None:
    with relay.connect() as connection:
        cursor = connection.cursor(binary=binary)
        assert cursor.execute(COUNT).fetchall() == [(42,)]
        assert cursor.description is not None
        assert [(one.name, one.type_code) for one in cursor.description] == [("count", 20)]
        assert cursor.execute(COUNT_ABOVE, (20,)).fetchall() == [(80,)]
        assert cursor.execute(COUNT_ABOVE, (None,)).fetchall() == [(42,)]
        for bound in range(10):  # prepared from the sixth on
            assert cursor.execute(COUNT_ABOVE, (bound,)).fetchall() == [(100 - bound,)]
        arguments = [ask.arguments for _, ask in relay.engine.asked]
        assert arguments == [(), ("20",), (None,), *((str(n),) for n in range(10))]


def test_psycopg_binary_parameters(relay: Running) -> None:
    with relay.connect() as connection:
        cursor = connection.execute(
            "SELECT count(*) FROM shop.orders WHERE amount > %b UNION ALL SELECT length(%t)",
            (7, "xy"),
        )
        assert cursor.fetchall() == [(93,), (2,)]
        assert relay.engine.asked[0][1].arguments == ("7", '"xy"')


def test_psycopg_server_cursor(relay: Running) -> None:
    with psycopg.connect(relay.conninfo()) as connection:
        with connection.cursor("named") as cursor:
            cursor.execute(f"{COUNT} UNION ALL SELECT rank FROM shop.colours ORDER BY 1")
            assert cursor.fetchone() == (1,)
            assert cursor.fetchall() == [(2,), (3,), (42,)]
        with connection.cursor("with_parameter") as cursor:
            cursor.execute(COUNT_ABOVE, (10,))
            assert cursor.fetchall() == [(90,)]
    assert len(relay.engine.asked) == 2


def test_psycopg_pipeline(relay: Running) -> None:
    with relay.connect() as connection:
        with connection.pipeline():
            cursors = [connection.execute(COUNT_ABOVE, (bound,)) for bound in range(8)]
            plain = connection.execute("SELECT 'plain'")
        assert [cursor.fetchone() for cursor in cursors] == [(100 - n,) for n in range(8)]
        assert plain.fetchone() == ("plain",)
        before = len(relay.engine.asked)
        with pytest.raises(errors.DivisionByZero), connection.pipeline():
            connection.execute("SELECT 1/0")
            connection.execute(COUNT)
        assert len(relay.engine.asked) == before


def test_psycopg_cancel(relay: Running) -> None:
    with relay.connect() as connection:

        async def cancel() -> None:
            await relay.engine.waiting.wait()
            await asyncio.get_running_loop().run_in_executor(None, connection.cancel_safe)

        cancelling = asyncio.run_coroutine_threadsafe(cancel(), relay.loop)
        with pytest.raises(errors.QueryCanceled, match="due to user request"):
            connection.execute(f"{COUNT} WHERE amount > 777")
        cancelling.result(60)
        assert relay.engine.cancelled == 1
        assert connection.execute(COUNT).fetchone() == (42,)
        with cancelled_each_second(connection), pytest.raises(errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(300)")


def test_psycopg_copy_out(relay: Running) -> None:
    with relay.connect() as connection, connection.cursor() as cursor:
        with cursor.copy(f"COPY ({COUNT}) TO STDOUT") as copy:
            assert list(copy.rows()) == [("42",)]
        with (
            pytest.raises(errors.InsufficientPrivilege),
            cursor.copy("COPY (SELECT * FROM shop.orders) TO STDOUT") as copy,
        ):
            list(copy.rows())


def test_psycopg_notice_and_settings(relay: Running) -> None:
    options = "-c dp.notice=on -c dp.epsilon=0.25"
    with psycopg.connect(relay.conninfo(options=options)) as connection:
        heard: list[str | None] = []
        connection.add_notice_handler(lambda notice: heard.append(notice.message_primary))
        assert connection.execute(COUNT).fetchone() == (42,)
        assert heard == ["charged: 1 €"]
        found = relay.engine.asked[0][1].settings
        assert {
            name: found[name] for name in (*DP_SETTINGS, "statement_timeout") if name in found
        } == {
            "dp.notice": "on",
            "dp.epsilon": "0.25",
            "statement_timeout": "0",
        }
        connection.execute("SET LOCAL dp.epsilon = '0.5'")
        connection.execute(COUNT)
        assert relay.engine.asked[1][1].settings["dp.epsilon"] == "0.5"


@pytest.mark.parametrize("encoding", ["LATIN1", "UTF8", "WIN1252"])
def test_client_encodings(encoding: str, relay: Running) -> None:
    with psycopg.connect(relay.conninfo(client_encoding=encoding)) as connection:
        connection.execute("SET dp.notice = 'on'")
        assert connection.execute("SELECT 'é'").fetchone() == ("é",)
        assert connection.execute(COUNT).fetchone() == (42,)
        text = COUNT + " /* é */"
        if encoding == "UTF8":
            assert connection.execute(text).fetchone() == (42,)
        else:
            with pytest.raises(errors.FeatureNotSupported, match="client_encoding"):
                connection.execute(text)


def test_errors_of_the_engine_are_neutral(relay: Running) -> None:
    with relay.connect() as connection:
        for text in (f"{COUNT} WHERE amount > 666", f"{COUNT} -- read fails"):
            with pytest.raises(psycopg.OperationalError) as caught:
                connection.execute(text)
            assert caught.value.diag.sqlstate == "58000"
            assert "secret" not in str(caught.value)
        assert connection.execute(COUNT).fetchone() == (42,)


def test_transaction_after_refusals(relay: Running) -> None:
    with psycopg.connect(relay.conninfo()) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(errors.InsufficientPrivilege) as caught:
            connection.execute("SELECT amount FROM shop.orders WHERE id = %s", (1,))
        assert caught.value.diag.statement_position == "25"
        assert caught.value.diag.context is None
        with pytest.raises(errors.InFailedSqlTransaction):
            connection.execute(COUNT)
        connection.rollback()
        assert connection.execute(COUNT).fetchone() == (42,)
        assert len(relay.engine.asked) == 1


def test_asyncpg(relay: Running) -> None:
    async def talk() -> None:
        connection = await asyncpg.connect(
            host=relay.shadow.host,
            port=relay.port,
            user="alice",
            password=PASSWORD,
            database="shop",
        )
        assert await connection.fetchval(COUNT) == 42
        statement = await connection.prepare(f"{COUNT} WHERE amount > $1")
        assert [one.type.name for one in statement.get_attributes()] == ["int8"]
        assert [one.name for one in statement.get_parameters()] == ["numeric"]
        assert await statement.fetchval(30) == 70
        assert await statement.fetchval(31) == 69
        async with connection.transaction():
            rows = [
                row[0]
                async for row in connection.cursor(f"{COUNT} UNION ALL VALUES (1), (2)", prefetch=1)
            ]
            assert rows == [42, 1, 2]
            cursor = await connection.cursor(f"{COUNT} WHERE amount > $1", 5)
            assert (await cursor.fetchrow())[0] == 95
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("SELECT * FROM shop.orders")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with connection.transaction():
                await connection.execute("SELECT * FROM shop.orders")
        assert await connection.fetchval("SELECT sum(rank) FROM shop.colours") == 6
        await connection.close()

    asyncio.run(talk())
    assert len(relay.engine.asked) == 5


def test_sqlalchemy(relay: Running) -> None:
    url = sqlalchemy.URL.create(
        "postgresql+psycopg",
        username="alice",
        password=PASSWORD,
        host=relay.shadow.host,
        port=relay.port,
        database="shop",
    )
    engine = sqlalchemy.create_engine(url)
    try:
        inspector = sqlalchemy.inspect(engine)
        assert sorted(inspector.get_table_names("shop")) == ["colours", "orders"]
        columns = [column["name"] for column in inspector.get_columns("orders", "shop")]
        assert columns == ["id", "amount", "region", "at"]
        with engine.connect() as connection:
            assert connection.execute(sqlalchemy.text(COUNT)).scalar() == 42
            above = sqlalchemy.text(f"{COUNT} WHERE amount > :bound")
            assert connection.execute(above, {"bound": 9}).scalar() == 91
            with pytest.raises(sqlalchemy.exc.ProgrammingError):
                connection.execute(sqlalchemy.text("SELECT * FROM shop.orders"))
    finally:
        engine.dispose()
