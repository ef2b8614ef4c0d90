"""While the lease on the budgets is lost, nothing is charged: also on a server that is there again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import psycopg
import pytest

from proxy.base.errors import Fault
from proxy.cli.assembly import assemble
from proxy.ledger import ledger_tables
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_sources import SourceError
from proxy.ledger.ledger_tables import LedgerTables
from proxy.policy.policy_model import Policy
from tests.databases.ledger_database import loss, rows
from tests.ledger_key import LEDGER_CIPHER
from tests.servers_fixture import budgets, new_lease, servers, shop_policy

_ENDED = """\
SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture
def policy() -> Policy:
    return shop_policy(servers().source_dsns["shop"])


@pytest.fixture
def lease(ledger_dsn: str, policy: Policy) -> BudgetLease:
    return new_lease(ledger_dsn, policy)


def _end_all(dsn: str) -> None:
    """As a start of the server does, which is there again at once."""
    ((ended,),) = rows(dsn, _ENDED)
    assert ended > 0


def _under(lease: BudgetLease, use: Callable[[LedgerTables], Awaitable[None]]) -> None:
    async def run() -> None:
        tables = LedgerTables(
            lease.ledger_dsn, lease.source, LEDGER_CIPHER, proof=lambda: lease.proof
        )
        await tables.open()
        try:
            await use(tables)
        finally:
            await tables.close()

    asyncio.run(run())


def _charged(dsn: str) -> int:
    return len(rows(dsn, "SELECT id FROM ledger.receipt"))


async def _is_charged(tables: LedgerTables, attempts: int = 8) -> bool:
    """Connections that were lost fail once each."""
    for _ in range(attempts):
        try:
            await tables.reserve("ann", loss("0.1"), "f", "p")
        except Fault:
            continue
        return True
    return False


def test_no_connection_is_made_beside_a_lost_lease(
    ledger_dsn: str, lease: BudgetLease, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wait in ("_OPEN_SECONDS", "_WAIT_SECONDS"):
        monkeypatch.setattr(ledger_tables, wait, 1.0)

    async def use(tables: LedgerTables) -> None:
        assert await _is_charged(tables)
        _end_all(ledger_dsn)
        assert not await _is_charged(tables, attempts=2)
        assert _charged(ledger_dsn) == 1

    _under(lease, use)
    with pytest.raises(psycopg.Error):
        _under(lease, use)


def test_it_is_charged_again_when_the_lease_is_taken_again(
    ledger_dsn: str, lease: BudgetLease, policy: Policy
) -> None:
    async def use(tables: LedgerTables) -> None:
        proof = lease.proof
        _end_all(ledger_dsn)
        assert not lease.holds()
        await tables.suspend()
        with pytest.raises(Fault, match="is away: statements are refused until it is back"):
            await tables.reserve("ann", loss("0.1"), "f", "p")
        lease.retake(policy)
        assert lease.holds() and lease.proof != proof
        await tables.open()
        assert await _is_charged(tables, attempts=1)

    _under(lease, use)


def test_a_lease_is_not_taken_again_beside_other_budgets(
    ledger_dsn: str, lease: BudgetLease, policy: Policy
) -> None:
    _end_all(ledger_dsn)
    others = replace(policy, budgets=budgets(total=10**6 + 1))
    other = BudgetLease(ledger_dsn, lease.source, others)
    with pytest.raises(SourceError, match="with other budgets"):
        lease.retake(policy)
    assert not lease.holds() and other.holds()
    other.close()
    lease.retake(policy)
    assert lease.holds()


def test_a_database_is_not_ready_while_its_lease_is_lost(ledger_dsn: str, policy: Policy) -> None:
    pair = servers()
    lease = new_lease(ledger_dsn, policy)
    database = assemble(policy, pair.catalogs["shop"], pair.shadows["shop"], lease, LEDGER_CIPHER)

    async def use() -> None:
        await database.open()
        try:
            assert await database.is_ready()
            _end_all(ledger_dsn)
            await database.ledger.suspend()
            assert not await database.is_ready()
            await asyncio.to_thread(database.retake_lease)
            await database.ledger.open()
            assert await database.is_ready()
        finally:
            await database.close()

    asyncio.run(use())
