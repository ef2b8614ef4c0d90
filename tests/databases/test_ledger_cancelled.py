"""Whatever is cancelled and when: a charge that is durable gets an outcome, and stays charged."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from proxy.drawing.charges import Charge
from proxy.ledger.engine_ledger import EngineLedger
from proxy.ledger.ledger_tables import LedgerTables
from tests.asked_by import run_of
from tests.cancelled_at import CancelledAt
from tests.databases.ledger_database import SOURCE, loss, rows, set_limits
from tests.ledger_key import LEDGER_CIPHER
from tests.unchecked_blocks import charge_of
from tests.waiting import until

_OUTCOMES = (
    "SELECT r.id, s.outcome FROM ledger.receipt r LEFT JOIN ledger.settlement s ON s.receipt = r.id"
    " ORDER BY r.id"
)


def _with_ledger(dsn: str, use: Callable[[EngineLedger], Awaitable[None]]) -> None:
    async def run() -> None:
        ledger = EngineLedger(LedgerTables(dsn, SOURCE, LEDGER_CIPHER))
        await ledger.open()
        try:
            await use(ledger)
        finally:
            await ledger.close()

    asyncio.run(run())


def _charge(ledger: EngineLedger) -> asyncio.Task[Charge]:
    return asyncio.create_task(ledger.reserve(run_of("alice"), charge_of(loss("1")), "f", "p"))


@pytest.mark.every(2)
@pytest.mark.parametrize("is_late", [False, True])
def test_a_charge_that_is_cancelled_at_each_of_its_waits(ledger_dsn: str, is_late: bool) -> None:
    set_limits(ledger_dsn, own="99", total="99")
    cancelled = 0

    async def use(ledger: EngineLedger) -> None:
        nonlocal cancelled
        while True:

            async def charge() -> None:
                charged = await ledger.reserve(run_of("alice"), charge_of(loss("1")), "f", "p")
                await ledger.settle(str(charged.receipt), True)

            work = CancelledAt(charge(), cancelled, is_late=is_late)

            async def run(work: CancelledAt = work) -> None:
                await work

            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.create_task(run())
            if not work.has_cancelled:
                return
            cancelled += 1

    _with_ledger(ledger_dsn, use)
    assert cancelled
    outcomes = [outcome for _, outcome in rows(ledger_dsn, _OUTCOMES)]
    assert outcomes == ["failed"] * cancelled + ["answered"]


def test_a_charge_that_is_cancelled_while_it_waits_for_another(ledger_dsn: str) -> None:
    """It becomes durable long after its statement has ended."""
    set_limits(ledger_dsn, own="99", total="99")

    async def use(ledger: EngineLedger) -> None:
        await ledger.settle(str((await _charge(ledger)).receipt), True)
        with psycopg.connect(ledger_dsn) as other:
            other.execute("SELECT FROM ledger.balance FOR UPDATE")
            charging = _charge(ledger)
            await asyncio.sleep(0.2)
            charging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await charging
            assert len(rows(ledger_dsn, _OUTCOMES)) == 1
        await asyncio.to_thread(until, lambda: len(rows(ledger_dsn, _OUTCOMES)) == 2)

    _with_ledger(ledger_dsn, use)
    assert [outcome for _, outcome in rows(ledger_dsn, _OUTCOMES)] == ["answered", "failed"]


def test_one_who_is_over_budget_and_cancelled_is_charged_nothing(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="0.5", total="99")

    async def use(ledger: EngineLedger) -> None:
        charging = _charge(ledger)
        await asyncio.sleep(0)
        charging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await charging

    _with_ledger(ledger_dsn, use)
    assert rows(ledger_dsn, _OUTCOMES) == []


def test_what_is_still_answered_when_the_ledger_closes_has_failed(ledger_dsn: str) -> None:
    """A process that is told to end: its statements are cancelled, and may take longer than the ledger."""
    set_limits(ledger_dsn, own="99", total="99")

    async def run() -> None:
        ledger = EngineLedger(LedgerTables(ledger_dsn, SOURCE, LEDGER_CIPHER))
        await ledger.open()
        slow = await _charge(ledger)
        on_its_way = _charge(ledger)
        await asyncio.sleep(0)
        await ledger.close()
        await ledger.settle(str(slow.receipt), False)
        await asyncio.wait((on_its_way,))

    asyncio.run(run())
    assert [outcome for _, outcome in rows(ledger_dsn, _OUTCOMES)] == ["failed", "failed"]
