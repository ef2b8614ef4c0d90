"""The ledger tables in the shape the engine asks for; settling does not keep an answer waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from fractions import Fraction

import structlog

from proxy.accounting.amounts import Amount, charge
from proxy.accounting.events import Event
from proxy.accounting.refusal import Refused, over_budget
from proxy.base.errors import Fault
from proxy.engine.ports import Charged
from proxy.ledger.ledger_tables import ChargeOutcome, LedgerTables
from proxy.mechanisms.loss import Loss

_LOG = structlog.get_logger()
_SETTLE_SECONDS = 2.0
_DELTA_LARGEST = Fraction(10**12 - 1, 10**12)


class EngineLedger:
    """Reserving is durable before it returns. An outcome is a note for the auditor, written behind the
    answer: if it is lost, the charge stands all the same."""

    def __init__(self, tables: LedgerTables) -> None:
        self._tables = tables
        self._settling: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        await self._tables.open()

    async def close(self) -> None:
        if self._settling:
            _, unsettled = await asyncio.wait(self._settling, timeout=_SETTLE_SECONDS)
            for task in unsettled:  # a note that is lost; the charge stands
                task.cancel()
        await self._tables.close()

    async def is_ready(self) -> bool:
        try:
            await self._tables.remaining("")
        except Fault:
            return False
        return True

    async def look(self, analyst: str, loss: Loss) -> None:
        cost, left = charge(loss), await self._tables.remaining(analyst)
        if not (cost.fits(left.own) and cost.fits(left.total)):
            raise over_budget(analyst, cost, Refused(left.own, left.total, left.renews_at))

    async def reserve(
        self, analyst: str, loss: Loss, fingerprint: str, digest: str, events: Sequence[Event]
    ) -> Charged:
        receipt = await self._tables.reserve(analyst, loss, fingerprint, digest, events)
        return Charged(str(receipt.id), _loss(receipt.remaining))

    async def settle(self, receipt: str, answered: bool) -> None:
        task = asyncio.create_task(self._settle(int(receipt), answered))
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    async def remaining(self, analyst: str) -> Loss:
        return _loss((await self._tables.remaining(analyst)).usable)

    async def budget(self, analyst: str) -> str:
        return await self._tables.budget(analyst)

    async def history(self, analyst: str, *, newest_first: bool = False) -> str:
        return await self._tables.history(analyst, newest_first=newest_first)

    @property
    def last_receipt(self) -> int:
        """The highest number that this process has seen committed."""
        return self._tables.last_receipt

    async def _settle(self, receipt: int, answered: bool) -> None:
        try:
            await self._tables.settle(
                receipt, ChargeOutcome.ANSWERED if answered else ChargeOutcome.FAILED
            )
        except Fault:
            _LOG.error("settle_failed", receipt=receipt)


def _loss(amount: Amount) -> Loss:
    return Loss(amount.epsilon, min(amount.delta, _DELTA_LARGEST))
