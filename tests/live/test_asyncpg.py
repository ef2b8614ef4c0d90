"""asyncpg against the whole proxy: always extended, always binary, named statements, portals in pieces."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from tests.live.test_psycopg import COUNT, near, slow, waits
from tests.live_proxy import LiveProxy
from tests.servers_fixture import PASSWORD
from tests.waiting import until

Talk = Callable[[Any], Awaitable[None]]


def run(live: LiveProxy, analyst: str, talk: Talk, database: str = "shop") -> None:
    async def conversation() -> None:
        connection = await asyncpg.connect(
            host="127.0.0.1", port=live.port, user=analyst, password=PASSWORD, database=database
        )
        try:
            await talk(connection)
        finally:
            await connection.close()

    asyncio.run(conversation())


def test_fetching(live: LiveProxy, analyst: str) -> None:
    async def talk(connection: Any) -> None:
        assert near(await connection.fetchval(COUNT))
        row = await connection.fetchrow(
            "SELECT count(*) AS n, avg(total), sum(quantity) FROM shop.orders WHERE total > $1",
            Decimal(20),
        )
        assert list(row.keys()) == ["n", "avg", "sum"]
        assert [type(value) for value in row.values()] == [int, Decimal, int]
        rows = await connection.fetch(
            "SELECT status, count(*) FROM shop.orders WHERE created_at > $1 GROUP BY status",
            dt.datetime(1990, 1, 1, tzinfo=dt.timezone.utc),
        )
        assert [row["status"] for row in rows] == ["paid", "shipped", "returned", "cancelled"]
        dates = await connection.fetchrow("SELECT min(birth_date) FROM shop.customers")
        assert isinstance(dates[0], dt.date)

    run(live, analyst, talk)
    assert live.spent(analyst)[0] == 4


def test_prepared_statement(live: LiveProxy, analyst: str) -> None:
    async def talk(connection: Any) -> None:
        statement = await connection.prepare(
            "SELECT status, count(*) AS n, avg(total) FROM shop.orders"
            " WHERE quantity >= $1 AND status <> $2 GROUP BY status"
        )
        attributes = [(one.name, one.type.name) for one in statement.get_attributes()]
        assert attributes == [("status", "text"), ("n", "int8"), ("avg", "numeric")]
        assert [one.name for one in statement.get_parameters()] == ["int4", "text"]
        assert live.spent(analyst)[0] == 0
        assert len(await statement.fetch(1, "nosuch")) == 4
        assert len(await statement.fetch(2, "")) == 4

    run(live, analyst, talk)
    assert live.spent(analyst)[0] == 2


def test_cursor_in_pieces_is_charged_once(live: LiveProxy, analyst: str) -> None:
    text = "SELECT state, count(*) FROM shop.customers GROUP BY state"

    async def talk(connection: Any) -> None:
        async with connection.transaction():
            rows = [row async for row in connection.cursor(text, prefetch=1)]
            assert len(rows) == 10
            cursor = await connection.cursor(text + " HAVING count(*) > $1", 0)
            assert len(await cursor.fetch(3)) == 3
            await cursor.forward(2)
            assert len(await cursor.fetch(100)) == 5

    run(live, analyst, talk)
    assert live.spent(analyst)[0] == 2


def test_transaction(live: LiveProxy, analyst: str) -> None:
    async def talk(connection: Any) -> None:
        with pytest.raises(asyncpg.InsufficientPrivilegeError) as caught:
            async with connection.transaction():
                await connection.fetch("SELECT * FROM shop.orders")
        assert caught.value.hint and caught.value.position == "15"
        async with connection.transaction():
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with connection.transaction():
                    await connection.fetch("SELECT id FROM shop.orders")
            assert near(await connection.fetchval(COUNT))
        assert not connection.is_in_transaction()

    run(live, analyst, talk)
    assert live.spent(analyst)[0] == 1


def test_a_task_that_is_cancelled_cancels(live: LiveProxy, analyst: str) -> None:
    async def talk(connection: Any) -> None:
        with slow(live):
            asking = asyncio.create_task(connection.fetchval(COUNT))
            await asyncio.to_thread(until, lambda: waits(live))  # charged before
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        assert near(await connection.fetchval(COUNT))

    run(live, analyst, talk)
    assert live.spent(analyst)[0] == 2


def test_types_of_every_kind(live: LiveProxy, analyst: str) -> None:
    """Binary decoding, with what asyncpg looks up in the shadow's catalogue."""

    async def talk(connection: Any) -> None:
        row = await connection.fetchrow(
            "SELECT count(*), sum(double), sum(single), max(day), max(at), max(att), ARRAY[count(*)],"
            " ROW(count(*), 'x'), jsonb_build_object('n', count(*)), max(day) - min(day),"
            " max(at) - min(at), avg(num2)::float4 FROM kinds.things"
        )
        assert [type(value).__name__ for value in row.values()] == [
            "int", "float", "float", "date", "datetime", "datetime", "list", "tuple", "str",
            "int", "timedelta", "float",
        ]  # fmt: skip
        keys = await connection.fetch("SELECT flag, ch, count(*) FROM kinds.things GROUP BY 1, 2")
        assert [(row["flag"], row["ch"]) for row in keys[:2]] == [(True, "a  "), (True, "b  ")]

    run(live, analyst, talk, "kinds")
