"""psycopg 3 against the whole proxy: every way it has of asking gets an answer, charged once."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.live_proxy import LiveProxy
from tests.waiting import until

COUNT = "SELECT count(*) FROM shop.orders"
ABOUT = 58_900  # the demo's orders after 40 of each customer are kept; deterministic


def near(value: object, wanted: float = ABOUT, reach: float = 3_000) -> bool:
    """Within 3,000: some 75 scales of the noise of a count at epsilon 1."""
    assert isinstance(value, int | float | Decimal)
    return abs(float(value) - wanted) < reach


@pytest.mark.parametrize("binary", [False, True])
def test_formats(binary: bool, live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        cursor = connection.cursor(binary=binary)
        row = cursor.execute(
            "SELECT count(*), avg(total), sum(quantity), sum(quantity)::float8, 'é', NULL, true"
            " FROM shop.orders WHERE total > 20"
        ).fetchone()
        assert row is not None
        assert [type(value) for value in row] == [
            int, Decimal, int, float, str, type(None), bool,
        ]  # fmt: skip
        assert 30_000 < row[0] < 45_000 and 20 <= row[1] <= 175
        rows = cursor.execute(
            "SELECT status, count(*) AS n FROM shop.orders GROUP BY status ORDER BY status"
        ).fetchall()
        assert [row[0] for row in rows] == ["cancelled", "paid", "returned", "shipped"]
        dates = cursor.execute("SELECT min(birth_date), max(birth_date) FROM shop.customers")
        low, high = dates.fetchall()[0]
        assert dt.date(1900, 1, 1) <= low <= high <= dt.date(2025, 12, 31)
    assert live.spent(analyst)[:2] == (3, 3.0)


def test_server_cursor(live: LiveProxy, analyst: str) -> None:
    text = "SELECT status, count(*) FROM shop.orders GROUP BY status"
    with live.connect(analyst=analyst, autocommit=False) as connection:
        with connection.cursor("named") as cursor:
            cursor.execute(text)
            rows = cursor.fetchmany(1) + cursor.fetchmany(2) + cursor.fetchall()
            assert len(rows) == 4
        with connection.cursor("scrolling", scrollable=True, withhold=True) as cursor:
            cursor.execute(text + " HAVING count(*) > %s", (1,))
            first = cursor.fetchall()
            cursor.scroll(0, mode="absolute")
            connection.commit()  # WITH HOLD keeps the rows that were there
            assert cursor.fetchall() == first
    assert live.spent(analyst)[:2] == (2, 2.0)


def test_pipeline(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        with connection.pipeline():
            asked = [connection.execute(COUNT + " WHERE quantity = %s", (n,)) for n in range(1, 6)]
            plain = connection.execute("SELECT 'plain'")
        assert all(cursor.fetchall()[0][0] > 0 for cursor in asked)
        assert plain.fetchone() == ("plain",)
        assert live.spent(analyst)[0] == 5
        with pytest.raises(errors.InsufficientPrivilege), connection.pipeline() as pipeline:
            connection.execute("SELECT * FROM shop.orders")
            connection.execute(COUNT)  # skipped to the Sync: neither run nor charged
            pipeline.sync()
        assert live.spent(analyst)[0] == 5
        with connection.pipeline() as pipeline:
            with pytest.raises(errors.DivisionByZero):
                connection.execute("SELECT 1/0").fetchall()
            with pytest.raises(errors.PipelineAborted):
                connection.execute(COUNT).fetchall()
            pipeline.sync()
            one = connection.execute(COUNT)
        assert near(one.fetchall()[0][0])
        assert live.spent(analyst)[0] == 6


def test_prepared_statements(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        for number in range(12):  # by name from the sixth on
            text = COUNT + " WHERE quantity >= %s AND status <> %s"
            cursor = connection.execute(text, (1, "nosuch"), prepare=number > 3)
            assert near(cursor.fetchall()[0][0])
    assert live.spent(analyst)[:2] == (12, 12.0)


_WHERE: list[tuple[str, str, object]] = [
    ("shop", "quantity >= %s", 1),
    ("shop", "quantity >= %s", Decimal("0.5")),
    ("shop", "quantity >= %s", 0.5),
    ("shop", "total >= %s", 0),
    ("shop", "total >= %s", Decimal("-1.25")),
    ("shop", "total >= %s", -0.5),
    ("shop", "status <> %s", "nosuch ' \\ é %"),
    ("shop", "created_at >= %s", dt.datetime(1990, 1, 1, tzinfo=dt.timezone.utc)),
    ("shop", "created_at >= %s",
     dt.datetime(1990, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))),
    ("shop", "created_at >= %s", dt.datetime(1990, 1, 1)),  # noqa: DTZ001  a naive one is meant
    ("shop", "created_at >= %s", dt.date(1990, 1, 1)),
    ("shop", "created_at >= %s::date", "1990-01-01"),
    ("shop", "coalesce(quantity, %s) >= 1", 5),
    ("shop", "quantity IN (%s, 2, 3, 4, 5)", 1),
    ("shop", "quantity BETWEEN %s AND 5", 1),
    ("shop", "status LIKE %s", "%"),
    ("census", "married = %s OR NOT married", True),
    ("census", "age >= %s", 1),
]  # fmt: skip


@pytest.mark.every(5)
@pytest.mark.parametrize(("database", "where", "value"), _WHERE)
@pytest.mark.parametrize("form", ["%t", "%b", "%s"])
def test_parameters(form: str, database: str, where: str, value: object, live: LiveProxy) -> None:
    table = {"shop": "shop.orders", "census": "census.adult"}[database]
    text = f"SELECT count(*) FROM {table} WHERE " + where.replace("%s", form)
    with live.connect(database) as connection:
        got = connection.execute(text, (value,)).fetchall()[0][0]
    assert near(got, {"shop": ABOUT, "census": 50_000}[database])


def test_null_parameter_is_null(live: LiveProxy) -> None:
    with live.connect() as connection:
        text = COUNT + " WHERE quantity > %s"
        assert near(connection.execute(text, (None,)).fetchall()[0][0], 0)
        text = COUNT + " WHERE quantity = %s OR %s IS NULL"
        with pytest.raises(errors.IndeterminateDatatype):  # PostgreSQL's own answer
            connection.execute(text, (None, None))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("created_at + %s > '2026-01-31'", dt.timedelta(days=3)),
        ("total < %s", Decimal("NaN")),
        ("total > %s", Decimal("NaN")),
        ("total < %s", float("inf")),
        ("total > %s", float("inf")),
    ],
)
def test_spans_and_ends_of_numbers_are_those_of_postgresql(
    live: LiveProxy, where: str, value: object
) -> None:
    statement = f"{COUNT} WHERE {where}"
    with (
        live.connect(analyst=live.servers.new_analyst()) as connection,
        psycopg.connect(live.servers.protected.dsn("shop")) as plain,
    ):
        right = plain.execute(statement, (value,)).fetchone()
        found = connection.execute(statement, (value,)).fetchone()
    assert right is not None and found is not None
    assert near(found[0], right[0])


_REFUSED: list[tuple[str, object, str]] = [
    ("quantity < ANY(%s)", [1, 2], "0A000"),
    ("to_jsonb(quantity) = %s::jsonb", "1", "0A000"),
]


@pytest.mark.parametrize(("where", "value", "sqlstate"), _REFUSED)
def test_parameters_that_are_refused_are_refused_readably(
    where: str, value: Any, sqlstate: str, live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(f"{COUNT} WHERE {where}", (value,))
        assert caught.value.diag.sqlstate == sqlstate
        assert caught.value.diag.message_primary and caught.value.diag.message_hint
    assert live.spent(analyst)[0] == 0


def test_executemany(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        cursor = connection.cursor()
        cursor.executemany(COUNT + " WHERE quantity = %s", [(1,), (2,), (3,)], returning=True)
        answers = [cursor.fetchone()]
        while cursor.nextset():
            answers.append(cursor.fetchone())
        assert len(answers) == 3 and all(row is not None and row[0] > 0 for row in answers)
    assert live.spent(analyst)[0] == 3


def test_transactions_and_savepoints(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        with connection.transaction():
            assert near(connection.execute(COUNT).fetchall()[0][0])
            with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
                connection.execute("SELECT * FROM shop.orders")
            assert near(connection.execute(COUNT).fetchall()[0][0])
            connection.execute("SAVEPOINT before")
            connection.execute("CREATE TEMP TABLE kept AS " + COUNT)
            connection.execute("ROLLBACK TO before")
            with pytest.raises(errors.UndefinedTable), connection.transaction():
                connection.execute("SELECT * FROM kept")
        assert connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
    # The count after the error is the one before it: what an error may have kept back costs nothing more.
    assert live.spent(analyst)[0] == 2


def test_copy(live: LiveProxy, analyst: str) -> None:
    grouped = "SELECT status, count(*) FROM shop.orders GROUP BY status"
    with live.connect(analyst=analyst) as connection, connection.cursor() as cursor:
        with cursor.copy(f"COPY ({grouped}) TO STDOUT") as copy:
            rows = list(copy.rows())
        assert [row[0] for row in rows] == ["paid", "shipped", "returned", "cancelled"]
        with cursor.copy(f"COPY ({grouped}) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "int8"])
            assert [type(row[1]) for row in copy.rows()] == [int] * 4
        with (
            pytest.raises(errors.InsufficientPrivilege),
            cursor.copy("COPY shop.orders TO STDOUT") as copy,
        ):
            list(copy.rows())
    assert live.spent(analyst)[0] == 2


@contextmanager
def slow(live: LiveProxy) -> Iterator[None]:
    """The protected side waits for this lock."""
    dsn = live.servers.protected.dsn("shop")
    with psycopg.connect(dsn) as superuser:
        superuser.execute("LOCK TABLE shop.orders IN ACCESS EXCLUSIVE MODE")
        yield
        superuser.rollback()


def waits(live: LiveProxy) -> bool:
    with psycopg.connect(live.servers.protected.dsn("shop"), autocommit=True) as superuser:
        row = superuser.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        ).fetchone()
    return row is not None and row[0] > 0


def cancel_when_waiting(live: LiveProxy, connection: psycopg.Connection) -> threading.Thread:
    def work() -> None:
        until(lambda: waits(live))
        connection.cancel_safe(timeout=60)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("text", [COUNT, COUNT + " WHERE quantity > %s"])
def test_cancel(text: str, live: LiveProxy, analyst: str) -> None:
    arguments = (1,) if "%s" in text else None
    with live.connect(analyst=analyst) as connection:
        with slow(live):
            cancelling = cancel_when_waiting(live, connection)
            with pytest.raises(errors.QueryCanceled) as caught:
                connection.execute(text, arguments)
            cancelling.join(60)
            assert caught.value.diag.message_primary == "canceling statement due to user request"
            until(lambda: not waits(live))  # the engine's own statement is cancelled too
        assert connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
        assert near(connection.execute(COUNT).fetchall()[0][0])
    assert live.spent(analyst)[0] == 2  # what was asked may have been read: it stays charged


def test_cancel_in_transaction(live: LiveProxy) -> None:
    with live.connect() as connection, slow(live):
        connection.execute("BEGIN")
        connection.execute("SAVEPOINT before")
        cancelling = cancel_when_waiting(live, connection)
        with pytest.raises(errors.QueryCanceled):
            connection.execute(COUNT)
        cancelling.join(60)
        with pytest.raises(errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.execute("ROLLBACK TO before")
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_client_that_goes_away_stops_its_question(live: LiveProxy) -> None:
    with slow(live):
        connection = live.connect()
        # Only sent: the answer never comes, the client is gone before.
        connection.pgconn.send_query(COUNT.encode())
        connection.pgconn.flush()
        until(lambda: waits(live))
        connection.close()
        until(lambda: not waits(live))


def test_async(live: LiveProxy, analyst: str) -> None:
    async def talk() -> None:
        connection = await psycopg.AsyncConnection.connect(
            live.dsn(analyst=analyst), autocommit=True
        )
        async with connection:
            row = await (await connection.execute(COUNT)).fetchone()
            assert row is not None and near(row[0])
            async with connection.transaction(), connection.cursor("named") as cursor:
                await cursor.execute("SELECT status, count(*) FROM shop.orders GROUP BY 1")
                assert len([row async for row in cursor]) == 4
            async with connection.pipeline():
                cursors = [await connection.execute(COUNT) for _ in range(3)]
            assert all([near((await cursor.fetchall())[0][0]) for cursor in cursors])

    asyncio.run(talk())
    assert live.spent(analyst)[0] == 5


def test_many_at_once(live: LiveProxy, analyst: str) -> None:
    async def one() -> bool:
        connection = await psycopg.AsyncConnection.connect(
            live.dsn(analyst=analyst), autocommit=True
        )
        async with connection:
            row = await (await connection.execute(COUNT)).fetchone()
            return row is not None and near(row[0])

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(one() for _ in range(20)))

    assert all(asyncio.run(all_of_them()))
    assert live.spent(analyst)[:2] == (20, 20.0)
