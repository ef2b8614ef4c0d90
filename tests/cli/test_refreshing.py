"""What changes in the protected database while the proxy serves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.cli.assembly import Database, assemble
from proxy.cli.refreshing import copy_public_tables, watch_catalogues
from proxy.shadow.shadow_database import Shadow
from tests.asked_by import run_by
from tests.ledger_key import LEDGER_CIPHER
from tests.live.served_database import READER, asked, planned, served_database
from tests.servers_fixture import Servers, servers
from tests.unjudged_rows import unjudged

_NAME = "refreshed"
_SCRIPT = """\
CREATE TABLE public.regions (code text PRIMARY KEY);
INSERT INTO public.regions VALUES ('north'), ('south');
CREATE TABLE public.people (id int PRIMARY KEY, region text);
CREATE TABLE public.members (id int PRIMARY KEY, person int UNIQUE NOT NULL, region text)
"""
_TABLES = """\
tables:
  public.people: {unit: row, columns: {region: {references: public.regions.code}}}
  public.members: {unit: {person: person}, max_rows_per_unit: 1, columns: {region: {}}}
  public.regions: public
"""


@pytest.fixture
def pair() -> Servers:
    return servers()


@pytest.fixture
def served(pair: Servers) -> Iterator[Database]:
    database = served_database(pair, _NAME, _SCRIPT, _TABLES)
    limit = f"ALTER ROLE {READER} IN DATABASE {_NAME} SET temp_file_limit = '1GB'"
    with psycopg.connect(pair.protected.dsn(_NAME)) as owner:
        owner.execute(limit.encode())
    yield database
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


async def _during(lasting: Coroutine[None, None, None], until: Callable[[], bool]) -> None:
    task = asyncio.create_task(lasting)
    try:
        for _ in range(3_000):
            if await asyncio.to_thread(until):
                return
            await asyncio.sleep(0.02)
    finally:
        task.cancel()
    raise AssertionError("it did not happen in time")


async def _until_fresh(database: Database, there: str) -> None:
    await _during(
        copy_public_tables([database], 0.02),
        lambda: (there,) in _rows(database) and there in str(_keys(database)),
    )


def test_rows_and_keys_are_copied_again(pair: Servers, served: Database) -> None:
    assert _keys(served) == (("north", "south"),)
    _add(pair, "west")
    asyncio.run(_until_fresh(served, "west"))
    assert _keys(served) == (("north", "south", "west"),)


def test_a_source_that_is_down_for_a_while(pair: Servers, served: Database) -> None:
    with psycopg.connect(pair.protected.dsn(), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {_NAME} ALLOW_CONNECTIONS false")

        async def through_it() -> None:
            refreshing = asyncio.create_task(copy_public_tables([served], 0.02))
            await asyncio.sleep(0.3)
            assert not refreshing.done()
            refreshing.cancel()

        asyncio.run(through_it())
        assert _keys(served) == (("north", "south"),) and len(_rows(served)) == 2
        connection.execute(f"ALTER DATABASE {_NAME} ALLOW_CONNECTIONS true")
    _add(pair, "east")
    asyncio.run(_until_fresh(served, "east"))


@pytest.mark.long
def test_a_start_copies_them_again(pair: Servers, served: Database) -> None:
    _add(pair, "west")
    shadow = Shadow(pair.shadow_server.dsn(), _NAME, pair.shadow_server.address)
    shadow.build(served.policy, served.catalog, unjudged(served.policy))
    again = assemble(served.policy, served.catalog, shadow, served.lease, LEDGER_CIPHER)
    assert ("west",) in _rows(again)
    assert _keys(again) == (("north", "south", "west"),)


async def _refusal(database: Database, table: str) -> str | None:
    """Why a count is not answered; nothing is charged for what is refused."""
    before = await database.ledger.remaining("ann")
    question = await asyncio.to_thread(asked, database, f"SELECT count(*) FROM {table}")
    try:
        await run_by(database.engine, question, (), {}, "ann")
    except Refusal as refusal:
        assert await database.ledger.remaining("ann") == before
        return refusal.message
    return None


async def _watched(database: Database, until: Callable[[], bool]) -> None:
    await _during(watch_catalogues([database], 0.02), until)


def _run(pair: Servers, statement: str) -> None:
    with psycopg.connect(pair.protected.dsn(_NAME)) as connection:
        connection.execute(statement.encode())


_MEMBERS = "the table public.members is not what the policy was checked against"


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE public.members DROP CONSTRAINT members_person_key",  # a person could have many rows
        "ALTER TABLE public.members ALTER person DROP NOT NULL",
        "ALTER TABLE public.members ALTER region TYPE varchar(9)",
        "CREATE TABLE public.more () INHERITS (public.members)",  # the key does not hold for its rows
        "ALTER TABLE public.members RENAME region TO area",
        "DROP TABLE public.members",
    ],
)
def test_a_table_that_lost_what_plans_rely_on_is_not_run(
    pair: Servers, served: Database, change: str
) -> None:
    async def story() -> None:
        await served.open()
        try:
            assert await _refusal(served, "members") is None
            await asyncio.to_thread(_run, pair, change)
            await _watched(served, lambda: bool(served.engine.drawer.changed))
            assert await _refusal(served, "members") == _MEMBERS
            assert await _refusal(served, "people") is None
        finally:
            await served.close()

    asyncio.run(story())


@pytest.mark.long
def test_a_public_table_that_changed_may_stand_in_any_condition(
    pair: Servers, served: Database
) -> None:
    async def story() -> None:
        await served.open()
        try:
            await asyncio.to_thread(
                _run, pair, "ALTER TABLE public.regions ALTER code TYPE varchar(9)"
            )
            await _watched(served, lambda: bool(served.engine.drawer.changed))
            question = "people WHERE region IN (SELECT code FROM regions)"
            refused = await _refusal(served, question)
            assert refused == _MEMBERS.replace("members", "regions")
        finally:
            await served.close()

    asyncio.run(story())


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE public.regions ALTER code TYPE int USING hashtext(code)",
        "ALTER TABLE public.regions RENAME code TO other",
        "ALTER TABLE public.regions RENAME TO others",
    ],
)
def test_before_it_is_noticed_a_changed_public_table_costs_nothing(
    pair: Servers, served: Database, change: str
) -> None:
    """Catalogues are compared every minute: until then the server is asked before the charge."""

    async def story() -> None:
        await served.open()
        try:
            joined = "people p JOIN regions r ON p.region = r.code"
            assert await _refusal(served, joined) is None
            before = await served.ledger.remaining("ann")
            await asyncio.to_thread(_run, pair, change)
            assert not served.engine.drawer.changed
            refused = await _refusal(served, joined)
            assert refused == "a public table is not what the policy was checked against"
            assert await served.ledger.remaining("ann") == before
            assert await _refusal(served, "people") is None
        finally:
            await served.close()

    asyncio.run(story())


def test_what_is_added_changes_nothing_and_what_comes_back_is_run(
    pair: Servers, served: Database
) -> None:
    async def story() -> None:
        await served.open()
        try:
            await asyncio.to_thread(
                _run, pair, "ALTER TABLE public.members ADD COLUMN note text, ADD UNIQUE (region)"
            )
            await asyncio.to_thread(
                _run, pair, "ALTER TABLE public.people ALTER region SET NOT NULL"
            )
            served.look_for_changes()
            assert not served.engine.drawer.changed
            await asyncio.to_thread(
                _run, pair, "ALTER TABLE public.members DROP CONSTRAINT members_person_key"
            )
            await _watched(served, lambda: served.engine.drawer.changed == {"public.members"})
            await asyncio.to_thread(_run, pair, "ALTER TABLE public.members ADD UNIQUE (person)")
            await _watched(served, lambda: not served.engine.drawer.changed)
            assert await _refusal(served, "members") is None
        finally:
            await served.close()

    asyncio.run(story())
