"""Public tables change while the proxy serves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.cli.building import build
from proxy.cli.loading import CheckedPolicy
from proxy.cli.refreshing import keep_fresh
from tests.live.served_database import planned, served_database
from tests.servers_fixture import Servers, servers

_NAME = "refreshed"
_SCRIPT = """\
CREATE TABLE public.regions (code text PRIMARY KEY);
INSERT INTO public.regions VALUES ('north'), ('south');
CREATE TABLE public.people (id int PRIMARY KEY, region text)
"""
_TABLES = """\
tables:
  public.people: {unit: row, columns: {region: {references: public.regions.code}}}
  public.regions: public
"""


@pytest.fixture
def pair() -> Servers:
    return servers()


@pytest.fixture
def served(pair: Servers) -> Iterator[Database]:
    yield served_database(pair.protected, pair.shadow_server, _NAME, _SCRIPT, _TABLES)
    for server in (pair.protected, pair.shadow_server):
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {_NAME} WITH (FORCE)")


def _keys(database: Database) -> tuple[tuple[str | None, ...] | None, ...]:
    private = planned(database, "SELECT region, count(*) FROM people GROUP BY region")
    return tuple(key.values for block in private.blocks for key in block.keys)


def _rows(database: Database) -> list[tuple[object, ...]]:
    with psycopg.connect(database.shadow.superuser_dsn) as connection:
        return connection.execute("SELECT code FROM public.regions ORDER BY 1").fetchall()


def _add(pair: Servers, code: str) -> None:
    with psycopg.connect(pair.protected.dsn(_NAME)) as connection:
        connection.execute("INSERT INTO public.regions VALUES (%s)", (code,))


async def _until_fresh(database: Database, there: str) -> None:
    refreshing = asyncio.create_task(keep_fresh([database], 0.02))
    try:
        for _ in range(500):
            if (there,) in await asyncio.to_thread(_rows, database) and there in str(
                await asyncio.to_thread(_keys, database)
            ):
                return
            await asyncio.sleep(0.02)
    finally:
        refreshing.cancel()
    raise AssertionError("not copied again in time")


def test_rows_and_keys_are_copied_again(pair: Servers, served: Database) -> None:
    assert _keys(served) == (("north", "south"),)
    _add(pair, "west")
    asyncio.run(_until_fresh(served, "west"))
    assert _keys(served) == (("north", "south", "west"),)


def test_a_source_that_is_down_for_a_while(pair: Servers, served: Database) -> None:
    with psycopg.connect(pair.protected.dsn(), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {_NAME} ALLOW_CONNECTIONS false")

        async def through_it() -> None:
            refreshing = asyncio.create_task(keep_fresh([served], 0.02))
            await asyncio.sleep(0.3)
            assert not refreshing.done()
            refreshing.cancel()

        asyncio.run(through_it())
        assert _keys(served) == (("north", "south"),) and len(_rows(served)) == 2
        connection.execute(f"ALTER DATABASE {_NAME} ALLOW_CONNECTIONS true")
    _add(pair, "east")
    asyncio.run(_until_fresh(served, "east"))


def test_a_start_copies_them_again(pair: Servers, served: Database) -> None:
    _add(pair, "west")
    again = build(CheckedPolicy(served.policy, served.catalog), pair.shadow_server)
    assert ("west",) in _rows(again)
    assert _keys(again) == (("north", "south", "west"),)
