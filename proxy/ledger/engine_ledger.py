"""The ledger tables in the shape the engine asks for; settling does not keep an answer waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import structlog

from proxy.accounting.amounts import Amount, charge
from proxy.accounting.refusal import with_shown
from proxy.accounting.statement_record import StatementRecord
from proxy.base.errors import Code, Fault, Refusal
from proxy.drawing.answer_slots import (
    CachedQuestion,
    CacheState,
    ClaimedSlot,
    PaidAnswer,
    ShownAnswer,
)
from proxy.drawing.charges import Charge, Payable, charge_in_ledger
from proxy.drawing.kept_answers import AnswerOwner, ClaimedAnswers
from proxy.drawing.statement_run import NotedCharge, NotedCharges, Payer, StatementRun
from proxy.kernel.checked_plan import together
from proxy.kernel.proposal_check import CheckedProposals
from proxy.ledger.bounds_account import POLICY_BOUNDS
from proxy.ledger.budget_warnings import BudgetWarnings
from proxy.ledger.cached_claims import CachedClaims, Claimed
from proxy.ledger.charge_queue import ChargeTimes
from proxy.ledger.ledger_tables import ChargeOutcome, LedgerTables, Receipt
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.policy.policy_model import Reuse
from proxy.turns.pool_use import PoolUse
from proxy.turns.threads import Turn

T = TypeVar("T")

_LOG = structlog.get_logger()
_SETTLE_SECONDS = 2.0
_READY_SECONDS = 5.0
_TOGETHER_SECONDS = (
    0.1  # outcomes are written together: one by one they would cost what a charge does
)
_DELTA_LARGEST = Fraction(10**12 - 1, 10**12)


class EngineLedger:
    """Reserving is durable before it returns. An outcome is a note for the auditor, written behind the
    answer: if it is lost, the charge stands all the same.

    Whoever is cancelled while a charge is on its way never learns its receipt. So the charge is not cancelled
    with them: it is settled here as failed, once it is known."""

    def __init__(self, tables: LedgerTables, reuse: Reuse | None = None) -> None:
        self._tables = tables
        self._claims = None if reuse is None else CachedClaims(tables, reuse)
        self._under_way: set[asyncio.Task[Any]] = set()  # charges and outcomes
        self._unsettled: set[int] = set()  # receipts without an outcome
        self._outcomes: dict[int, ChargeOutcome] = {}  # that are to be written
        self._settling = 0
        self._warnings = BudgetWarnings(tables.source)

    def keep(self, reuse: Reuse | None) -> None:
        """Another policy says for how long answers are cached. What was claimed before is finished."""
        self._tables.is_cached = reuse is not None
        if reuse is not None:
            self._claims = CachedClaims(self._tables, reuse)

    async def open(self) -> None:
        await self._tables.open()

    async def suspend(self) -> None:
        """The lease is lost: every call is refused until `open`."""
        await self._tables.suspend()

    async def close(self) -> None:
        """What is still being answered is not answered any more: its receipts are settled as failed."""
        await self._rest()
        for receipt in tuple(self._unsettled):
            self._settle_later(receipt, answered=False)
        await self._rest()
        for task in self._under_way:  # a note that is lost; the charge stands
            task.cancel()
        if self._claims is not None:
            await self._claims.close()
        await self._tables.close()

    async def is_ready(self) -> bool:
        """Whether the ledger answers soon. Statements wait longer for it."""
        asking = self._begin(self._tables.remaining(""))
        await asyncio.wait((asking,), timeout=_READY_SECONDS)
        if not asking.done():
            asking.cancel()
            return False
        try:
            asking.result()
        except Fault:
            return False
        return True

    async def look(self, analyst: str, plan: Payable) -> None:
        record = StatementRecord(tables=plan.tables)
        looking = self._tables.look(analyst, plan.loss, plan.price.events, record)
        await self._told(analyst, looking)

    async def reserve(
        self,
        run: StatementRun,
        plan: Payable,
        fingerprint: str,
        digest: str,
        text: str | None = None,
    ) -> Charge:
        analyst = run.analyst
        # Bounds are asked for by the owner, who is no analyst. Nothing else is in that account.
        if (analyst == POLICY_BOUNDS) != isinstance(plan, CheckedProposals):
            raise Fault("a charge of an analyst's to the account of the owner, or the reverse")
        reserving = self._reserve(run, plan, fingerprint, digest, text)
        receipt = await self._told(
            analyst, self._to_its_end(reserving, lambda one: one, run.charges)
        )
        warnings = self._warned(analyst, receipt)
        return charge_in_ledger(
            plan,
            plan.price,
            receipt=str(receipt.id),
            paid=_loss(receipt.charged),
            remaining=_loss(receipt.remaining),
            warnings=warnings,
            owner=_owner_of(run.payer, receipt),
        )

    async def claim(
        self,
        run: StatementRun,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        digest: str,
        *,
        may_draw: bool,
        text: str | None = None,
    ) -> Charge | None:
        together(
            [part.block for part in parts]
        )  # of one kind of budgets, before anything is charged
        claiming = self._claim(run, parts, fingerprint, digest, may_draw, text)
        ended = self._to_its_end(claiming, _receipt_of, run.charges)
        claimed = await self._told(run.analyst, ended)
        if claimed is None:
            return None
        receipt = claimed.receipt
        slots = tuple(_slots_of(parts, claimed))
        to_draw = (CacheState.DRAW, CacheState.APART)
        drawn = together([one.part.block for one in slots if one.state in to_draw])
        return charge_in_ledger(
            drawn,
            drawn.price,
            receipt=None if receipt is None else str(receipt.id),
            paid=NOTHING if receipt is None else _loss(receipt.charged),
            remaining=_loss(claimed.remaining),
            warnings=() if receipt is None else self._warned(run.analyst, receipt),
            owner=None if receipt is None else _owner_of(run.payer, receipt),
            claimed=ClaimedAnswers(self, run, claimed.holder, slots),
            shown_at=claimed.shown_at,
        )

    async def _told(self, analyst: str, charging: Awaitable[T]) -> T:
        """Refuses  what `charging` does; OVER_BUDGET says what the analyst can see again"""
        try:
            return await charging
        except Refusal as refusal:
            if refusal.code is not Code.OVER_BUDGET or self._claims is None:
                raise
            try:
                shown = await self._claims.count_shown(analyst)
            except Fault:
                raise refusal from None
            raise with_shown(refusal, shown) from None

    def _warned(self, analyst: str, receipt: Receipt) -> tuple[str, ...]:
        return self._warnings.of(analyst, receipt.lines, is_cached=self._tables.is_cached)

    async def store(self, run: StatementRun, cached: int, relation: str) -> str | None:
        return await self._cached.store(run, cached, relation)

    async def shown(self, run: StatementRun, cached: int) -> ShownAnswer | None:
        return await self._cached.shown(run, cached)

    async def paid_about(self, analyst: str, wanted: Sequence[bytes]) -> Sequence[PaidAnswer]:
        return await self._cached.paid_about(analyst, wanted)

    async def paid_of(self, analyst: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        return await self._cached.paid_of(analyst, digests)

    async def forget(self, cached: int, holder: str) -> bool:
        return await self._cached.forget(cached, holder)

    async def let_go(self, cached: int, holder: str) -> None:
        """Never waits: who is cancelled lets go nonetheless. If it is lost, the lease ends by itself."""
        self._begin(self._let_go(cached, holder))

    async def settle(self, receipt: str, answered: bool) -> None:
        """Never waits: what is cancelled settles nonetheless."""
        self._settle_later(int(receipt), answered=answered)

    async def remaining(self, analyst: str) -> Loss:
        return _loss(await self._tables.remaining(analyst))

    async def admitted(self, analyst: str) -> Loss:
        return _loss(await self._tables.admitted(analyst))

    async def day(self) -> int:
        return await self._tables.day()

    async def person(self, analyst: str) -> int | None:
        return await self._tables.person(analyst)

    async def budget(self, analyst: str) -> str:
        return await self._tables.budget(analyst)

    async def history(
        self,
        turn: Turn,
        *,
        newest_first: bool = False,
        before: int | None = None,
        limit: int = 10_000,
    ) -> str:
        return await self._tables.history(
            turn, newest_first=newest_first, before=before, limit=limit
        )

    @property
    def is_settling(self) -> bool:
        """Whether outcomes are on their way to the ledger."""
        return bool(self._outcomes) or self._settling > 0

    @property
    def last_receipt(self) -> int:
        """The highest number that this process has seen committed."""
        return self._tables.last_receipt

    @property
    def pool_use(self) -> PoolUse:
        return self._tables.pool_use

    @property
    def waits(self) -> int:
        return self._tables.waits

    @property
    def charge_times(self) -> ChargeTimes:
        return self._tables.charge_times

    async def _reserve(
        self, run: StatementRun, plan: Payable, fingerprint: str, digest: str, text: str | None
    ) -> Receipt:
        payer, record = run.payer, StatementRecord(text=text, tables=plan.tables)
        events = plan.price.events
        receipt = await self._tables.reserve(
            payer.analyst, plan.loss, fingerprint, digest, events, record, payer.token
        )
        self._unsettled.add(receipt.id)
        run.charges.made.append(_noted(receipt, plan.price.rho))
        return receipt

    @property
    def _cached(self) -> CachedClaims:
        assert self._claims is not None, "this policy keeps no answers"
        return self._claims

    async def _claim(
        self,
        run: StatementRun,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        digest: str,
        may_draw: bool,
        text: str | None,
    ) -> Claimed | None:
        claimed = await self._cached.claim(
            run, parts, fingerprint, digest, may_draw=may_draw, text=text
        )
        if claimed is not None and claimed.receipt is not None:
            self._unsettled.add(claimed.receipt.id)
            rho = _rho_of(parts, claimed.receipt)
            run.charges.made.append(_noted(claimed.receipt, rho))
        return claimed

    async def _to_its_end(
        self,
        charging: Coroutine[Any, Any, T],
        receipt_of: Callable[[T], Receipt | None],
        charges: NotedCharges,
    ) -> T:
        task = self._begin(charging)
        try:
            await asyncio.wait((task,))  # which cancels nothing but the waiting
        except asyncio.CancelledError:
            charges.awaited = task
            task.add_done_callback(lambda ended: self._abandon(ended, receipt_of))
            raise
        return task.result()

    async def _let_go(self, cached: int, holder: str) -> None:
        try:
            await self._cached.let_go(cached, holder)
        except Fault:
            _LOG.error("let_go_failed", cached=cached)

    def _abandon(
        self, charging: asyncio.Task[T], receipt_of: Callable[[T], Receipt | None]
    ) -> None:
        """Of whom nobody waits for."""
        if charging.cancelled():
            return
        error = charging.exception()
        if error is None:
            receipt = receipt_of(charging.result())
            if receipt is not None:
                self._settle_later(receipt.id, answered=False)
        elif isinstance(error, Fault):
            _LOG.error("reserve_failed", failed=error.message)

    def _settle_later(self, receipt: int, *, answered: bool) -> None:
        if receipt in self._unsettled:  # else `close` has settled it
            self._unsettled.discard(receipt)
            is_first = not self._outcomes
            self._outcomes[receipt] = ChargeOutcome.ANSWERED if answered else ChargeOutcome.FAILED
            if is_first:
                self._begin(self._settle())

    def _begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    async def _rest(self) -> None:
        """Until nothing is under way, for a short while."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_SETTLE_SECONDS)

    async def _settle(self) -> None:
        self._settling += 1
        try:
            await asyncio.sleep(_TOGETHER_SECONDS)
            outcomes, self._outcomes = self._outcomes, {}
            try:
                await self._tables.settle_each(outcomes)
            except Fault:
                _LOG.error("settle_failed", receipts=sorted(outcomes))
        finally:
            self._settling -= 1


def _loss(amount: Amount) -> Loss:
    return Loss(amount.epsilon, min(amount.delta, _DELTA_LARGEST))


def _owner_of(payer: Payer, receipt: Receipt) -> AnswerOwner:
    return AnswerOwner(analyst=payer.analyst, person=receipt.person, token=payer.token)


def _noted(receipt: Receipt, rho: Fraction | None) -> NotedCharge:
    epsilon, delta = receipt.charged
    return NotedCharge(receipt=receipt.id, epsilon=epsilon, delta=delta, rho=rho)


def _rho_of(parts: Sequence[CachedQuestion], receipt: Receipt) -> Fraction | None:
    """Where all parts were paid. Of some of them the ledger alone knows it."""
    blocks = [part.block for part in parts]
    if sum(charge(one.loss).epsilon for one in blocks) != receipt.charged.epsilon:
        return None
    return sum((one.price.rho for one in blocks), Fraction(0))


def _slots_of(parts: Sequence[CachedQuestion], claimed: Claimed) -> Iterator[ClaimedSlot]:
    found = zip(parts, claimed.states, claimed.cached, claimed.relations, strict=True)
    for part, state, cached, text in found:
        yield ClaimedSlot(part=part, state=state, cached=cached, text=text)


def _receipt_of(claimed: Claimed | None) -> Receipt | None:
    return None if claimed is None else claimed.receipt
