"""What somebody tries who has only read the README: ordinary things, written in ordinary ways."""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import nullcontext

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg import errors

from tests.live_proxy import LiveProxy
from tests.servers_fixture import PASSWORD

COUNT = "SELECT count(*) FROM shop.orders WHERE "


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("where", "values"),
    [
        ("status IN (%s,%s)", ("paid", "shipped")),
        ("status IN (%s,%s) AND quantity IN (%s,%s,%s)", ("paid", "shipped", 1, 2, 3)),
        ("total>%s AND total<%s+%s", (1, 100, 100)),
        ("total BETWEEN %s::numeric AND %s::numeric", (1, 400)),
        ("status LIKE %s", ("%p%",)),
        ("created_at>=%s", (dt.date(2020, 1, 1),)),
        ("created_at>=%s", (dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc),)),
    ],
)
def test_parameters_without_blanks(
    where: str, values: tuple[object, ...], live: LiveProxy, analyst: str
) -> None:
    literals = tuple(str(v) if isinstance(v, dt.date) else v for v in values)
    with live.connect(analyst=analyst) as connection:
        bound = connection.execute(COUNT + where, values).fetchone()
        written = psycopg.ClientCursor(connection).execute(COUNT + where, literals).fetchone()
    assert bound is not None
    assert written is not None
    assert abs(bound[0] - written[0]) < 3_000  # some 37 scales of the difference of two counts
    assert bound[0] > 10_000
    assert live.spent(analyst)[:2] == (2, 2.0)


def test_asyncpg_parameters_without_blanks(live: LiveProxy, analyst: str) -> None:
    async def ask() -> int:
        connection = await asyncpg.connect(
            host="127.0.0.1", port=live.port, user=analyst, password=PASSWORD, database="shop"
        )
        try:
            asked = COUNT + "status IN($1,$2)OR quantity IN($3,$4)"
            return int(await connection.fetchval(asked, "paid", "shipped", 1, 2))
        finally:
            await connection.close()

    assert asyncio.run(ask()) > 40_000


def test_absolute_value_is_no_parameter(live: LiveProxy) -> None:
    with live.connect() as connection, pytest.raises(errors.FeatureNotSupported) as caught:
        connection.execute(COUNT + "total > @1 AND quantity > %s", (5,))
    assert "operator @" in str(caught.value)
    assert caught.value.diag.statement_position == str(len(COUNT) + 9)


_DECLARE = "DECLARE c CURSOR FOR SELECT count(*) FROM shop.orders"


def test_a_cursor_outside_a_transaction_costs_nothing(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        for cursor in (connection.cursor(), psycopg.ClientCursor(connection)):
            with pytest.raises(errors.NoActiveSqlTransaction) as caught:
                cursor.execute(_DECLARE)
            assert str(caught.value) == "DECLARE CURSOR can only be used in transaction blocks"
        assert live.spent(analyst)[0] == 0
        # A string of several statements is a block of its own, if PostgreSQL takes a pipeline for one.
        whole, is_block = psycopg.ClientCursor(connection), connection.info.server_version >= 180000
        with nullcontext() if is_block else pytest.raises(errors.NoActiveSqlTransaction):
            whole.execute(f"{_DECLARE}; FETCH ALL FROM c")
        assert live.spent(analyst)[0] == is_block
        # A cursor may outlive its transaction.
        connection.execute(_DECLARE.replace("CURSOR", "CURSOR WITH HOLD"))
        connection.execute("CLOSE c")
        connection.execute("declare c scroll cursor with hold for select count(*) from shop.orders")
        row = connection.execute("FETCH ALL FROM c").fetchone()
        assert row is not None
        assert row[0] > 50_000
        with connection.transaction():
            connection.execute(_DECLARE.replace(" c ", " d "))
            assert connection.execute("FETCH ALL FROM d").fetchone() is not None
        with connection.pipeline():  # BEGIN is executed, and nothing has said so yet
            connection.execute("BEGIN")
            connection.execute(_DECLARE.replace(" c ", " e "))
            fetched = connection.execute("FETCH ALL FROM e")
            connection.execute("COMMIT")
            assert fetched.fetchone() is not None
    assert live.spent(analyst)[0] == 4 + is_block


def test_show_tells_what_a_statement_costs(live: LiveProxy, analyst: str) -> None:
    shown = [f"SHOW dp.{name}" for name in ("epsilon", "delta", "notice")]
    with live.connect(analyst=analyst) as connection:
        assert [connection.execute(show).fetchone() for show in shown] == [
            ("1",), ("0.000001",), ("off",),
        ]  # fmt: skip
        connection.execute(COUNT + "true")
        connection.execute("SET dp.epsilon = 0.25")
        assert connection.execute(shown[0]).fetchone() == ("0.25",)
        connection.execute(COUNT + "true")
        connection.execute("RESET dp.epsilon")
        assert connection.execute(shown[0]).fetchone() == ("1",)
        connection.execute(COUNT + "true")
    assert live.spent(analyst)[:2] == (3, 2.25)


@pytest.mark.parametrize(
    ("text", "sqlstate"),
    [
        ("INSERT INTO nosuch SELECT count(*) FROM shop.orders", "42P01"),
        ("INSERT INTO kept (nosuch) SELECT count(*) FROM shop.orders", "42703"),
        ("INSERT INTO kept SELECT status FROM shop.orders GROUP BY status", "42804"),
        ("INSERT INTO kept SELECT count(*), 1, 2 FROM shop.orders", "42601"),
        ("CREATE TEMP TABLE no_rows AS SELECT count(*) FROM shop.orders WITH NO DATA", None),
    ],
)
def test_what_comes_to_nothing_costs_nothing(
    text: str, sqlstate: str | None, live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE kept (n bigint, note text)")
        for cursor in (connection.cursor(), psycopg.ClientCursor(connection)):
            told = None
            try:
                cursor.execute(text)
            except errors.Error as error:
                told = error.sqlstate
            assert told == sqlstate
            connection.execute("DROP TABLE IF EXISTS no_rows")
        assert live.spent(analyst)[0] == 0
        asked = "INSERT INTO kept SELECT count(*), %s FROM shop.orders RETURNING n, note"
        row = connection.execute(asked, ("all",)).fetchone()
        assert row is not None
        assert row[0] > 50_000 and row[1] == "all"
    assert live.spent(analyst)[0] == 1
