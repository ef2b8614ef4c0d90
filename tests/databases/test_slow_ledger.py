"""A ledger that is slow is waited for; one that is away is reported soon."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from proxy.base.errors import Fault
from proxy.ledger import bearer_tokens, engine_ledger, ledger_tables
from proxy.ledger.bearer_tokens import CONNECTIONS as TOKEN_CONNECTIONS
from proxy.ledger.bearer_tokens import PREFIX, PresentedTokens
from proxy.ledger.engine_ledger import EngineLedger
from proxy.ledger.ledger_tables import CONNECTIONS, LedgerTables
from tests.databases.ledger_database import loss
from tests.ledger_key import LEDGER_CIPHER
from tests.machine_speed import allowed_wait
from tests.servers_fixture import new_lease, servers, shop_policy

_AWAY_SECONDS = 0.3
_SLOW_SECONDS = 1.5
_SLOWER_SECONDS = 4
_TOKEN = f"{PREFIX}{'a' * 43}"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_tables, "_WAIT_SECONDS", _AWAY_SECONDS)
    monkeypatch.setattr(bearer_tokens, "_WAIT_SECONDS", _AWAY_SECONDS)
    monkeypatch.setattr(engine_ledger, "_READY_SECONDS", _AWAY_SECONDS)


def _used(dsn: str, use: Callable[[LedgerTables], Awaitable[None]]) -> None:
    policy = shop_policy(servers().source_dsns["shop"])
    lease = new_lease(dsn, policy)

    async def run() -> None:
        tables = LedgerTables(dsn, lease.source, LEDGER_CIPHER, proof=lambda: lease.proof)
        await tables.open()
        try:
            await use(tables)
        finally:
            await tables.close()

    asyncio.run(run())
    lease.close()


async def _while_slow(dsn: str, work: Awaitable[None], seconds: float = _SLOW_SECONDS) -> float:
    """How long it takes beside another session that keeps all analysts locked for a while."""
    began = time.monotonic()

    def hold(locked: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
        with psycopg.connect(dsn) as holder:
            holder.execute("LOCK TABLE ledger.analyst IN ACCESS EXCLUSIVE MODE")
            loop.call_soon_threadsafe(locked.set)
            time.sleep(seconds)

    locked, loop = asyncio.Event(), asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as pool:
        holding = loop.run_in_executor(pool, hold, locked, loop)
        await locked.wait()
        await work
        await holding
    return time.monotonic() - began


def test_statements_wait_for_a_slow_ledger(ledger_dsn: str) -> None:
    """More of them than the pool has connections, each for longer than for a ledger that is away."""

    async def use(tables: LedgerTables) -> None:
        ledger = EngineLedger(tables)

        async def ask() -> None:
            charges = [tables.reserve("ann", loss("0.1"), "f", "p") for _ in range(4)]
            charged = asyncio.gather(*charges)
            is_ready = asyncio.create_task(ledger.is_ready())
            await asyncio.gather(*(tables.person("ann") for _ in range(2 * CONNECTIONS)))
            assert len({one.id for one in await charged}) == 4
            assert not await is_ready, "a balancer sends new clients elsewhere"

        assert await _while_slow(ledger_dsn, ask()) >= _SLOW_SECONDS
        while not await ledger.is_ready():
            await asyncio.sleep(0.05)

    _used(ledger_dsn, use)


def test_tokens_wait_for_a_slow_ledger(ledger_dsn: str) -> None:
    async def run() -> None:
        tokens = PresentedTokens(ledger_dsn)
        await tokens.open()
        try:

            async def ask() -> None:
                asked = [tokens.invalid([1]) for _ in range(2 * TOKEN_CONNECTIONS)]
                found = await asyncio.gather(tokens.find(_TOKEN), *asked)
                assert found == [None, *[frozenset({1})] * len(asked)]

            assert await _while_slow(ledger_dsn, ask()) >= _SLOW_SECONDS
        finally:
            await tokens.close()

    asyncio.run(run())


@pytest.mark.long
@pytest.mark.timed
def test_a_ledger_that_goes_away_while_it_is_waited_for_is_reported_soon(ledger_dsn: str) -> None:
    """Its connections end, and new ones are beside no lease."""

    async def use_meanwhile(tables: LedgerTables) -> None:
        async def ask_people() -> None:
            asked = [asyncio.create_task(tables.person("ann")) for _ in range(2 * CONNECTIONS)]
            await asyncio.sleep(0.2)
            with psycopg.connect(ledger_dsn, autocommit=True) as superuser:
                superuser.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    " AND query NOT LIKE 'LOCK%'"
                )
            began = time.monotonic()
            told = await asyncio.gather(*asked, return_exceptions=True)
            assert time.monotonic() - began < allowed_wait(1, below=_SLOWER_SECONDS - 0.5)
            assert all(isinstance(one, Fault) for one in told), told

        await _while_slow(ledger_dsn, ask_people(), _SLOWER_SECONDS)

    _used(ledger_dsn, use_meanwhile)
