"""A COPY of an answer that fails after its charge ends for each client, which goes on afterwards."""

from __future__ import annotations

import asyncio
import io

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest

from tests.live_proxy import LiveProxy

_SELECT = "SELECT count(*)::smallint FROM shop.orders"


@pytest.mark.timeout(60)
def test_libpq(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET dp.trial = off")
        with pytest.raises(psycopg.errors.NumericValueOutOfRange, match=r"receipt [0-9]+"):
            _copied(connection)
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def _copied(connection: psycopg.Connection[tuple[object, ...]]) -> list[object]:
    with connection.cursor() as cursor, cursor.copy(f"COPY ({_SELECT}) TO STDOUT") as copy:
        return list(copy)


@pytest.mark.timeout(60)
def test_asyncpg(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        info = connection.info
        given = {"host": info.host, "port": info.port, "user": info.user}
        given |= {"database": info.dbname, "password": info.password}

    async def run() -> None:
        client = await asyncpg.connect(**given)
        try:
            await client.execute("SET dp.trial = off")
            with pytest.raises(asyncpg.NumericValueOutOfRangeError):
                await client.copy_from_query(_SELECT, output=io.BytesIO())
            assert await client.fetchval("SELECT 1") == 1
        finally:
            await client.close()

    asyncio.run(run())
