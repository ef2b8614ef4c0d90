"""One release of a published statement: charged, drawn, presented and stored, in this order, by whichever
process comes first.

What is shown is what stands in the ledger, never an own draw. So a release that was charged and not stored,
as its process went down or the data could not be read, is drawn again under its charge: no one was shown the
first. What may fail on a draw itself, the statement around the noisy numbers, runs before it is stored and
decides nothing: the draw is stored either way. Else one would draw until it does not fail.

Nothing that is drawn here leaves but to the shadow that presents it, and to the ledger.

Source  docs/how-to/publish.md, ADR 0072
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from proxy.base.errors import Fault
from proxy.base.instants import DAY_SECONDS
from proxy.drawing.answer_slots import CachedQuestion
from proxy.drawing.drawer import Drawer, Lists
from proxy.drawing.protected_reads import ProtectedSession
from proxy.drawing.statement_run import StatementRun
from proxy.engine.noisy_answers import ChargedDrawing, noisy_relation
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.published_ports import (
    DrawnRelease,
    NoTable,
    PublishedLedger,
    PublishedShadow,
    ReleaseClaim,
    Series,
    StoredBlock,
)
from proxy.engine.remembered_plans import PreparedQuery
from proxy.policy.publication import Publication
from proxy.release.cached_block import CachedBlock, cached_text

_HOLD_SECONDS = 20.0
_FIRST_PAUSE, _LONGEST_PAUSE = 5, 3600  # seconds, between draws that are not finished
_TRIES, _TRY_SECONDS = 3, 1.0  # of the shadow, with one draw
_LOG = structlog.get_logger("dpproxy.publishing")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRelease:
    """A release before it is claimed.

    Attributes:
        question: The statement.
        constants: Its evaluated constants.
        prepared: Its plan.
        parts: Its blocks, as the ledger names them.
        lists: Values of public tables.
        day: For which its bounds are. None: for any day.
        series: If it is released step by step.
    """

    question: ProtectedQuery
    constants: tuple[str | None, ...]
    prepared: PreparedQuery
    parts: Sequence[CachedQuestion]
    lists: Lists
    day: int | None
    series: Series | None = None


class Releasing:
    """Of one database."""

    def __init__(self, drawer: Drawer, ledger: PublishedLedger, shadow: PublishedShadow) -> None:
        self._drawer = drawer
        self._ledger = ledger
        self._shadow = shadow
        self._pause: dict[str, int] = {}

    async def release(
        self,
        of: Publication,
        planned: PlannedRelease,
        session: ProtectedSession,
        run: StatementRun,
        *,
        is_now: bool,
    ) -> tuple[ReleaseClaim, bool]:
        """Claim, draw, present and store a release.

        Returns:
            What became of the claim, and whether the statement gave no table.

        Raises:
            Fault: Of what goes wrong after the charge. The release is finished under that charge later.
        """
        digest = self._drawer.policy.digest
        claim = await self._ledger.claim(
            of, planned.prepared.drawn, digest, is_now=is_now, series=planned.series
        )
        if claim.charge is None:
            return claim, False
        if planned.day is not None and (claim.due is None or day_of(claim.due) != planned.day):
            # Midnight came between. It is drawn for its own day the next time, under this charge.
            await self._let_go(of, claim)
            raise Fault("the day of a release has changed while it was planned")
        drawing = ChargedDrawing(
            drawer=self._drawer,
            run=run,
            charge=claim.charge,
            session=session,
            lists=planned.lists,
            known={},
            instead={},
        )
        holding = asyncio.create_task(self._hold(claim))
        prepared = planned.prepared
        try:
            relation = await noisy_relation(
                planned.question,
                prepared.plan,
                prepared.lifts,
                prepared.bounded,
                prepared.compiled,
                drawing,
                prepared.advice,
            )
        except (Exception, asyncio.CancelledError):
            await self._let_go(of, claim)
            raise
        finally:
            holding.cancel()
        table, failure = await self._presented(of, planned.question, relation.json)
        found = _stored_blocks(relation.drawn, planned.parts)
        blocks = await asyncio.to_thread(tuple, found)
        constants = planned.constants
        drawn = DrawnRelease(constants=constants, table=table, failure=failure, blocks=blocks)
        await self._ledger.store(claim, drawn)
        self._pause.pop(of.name, None)
        return claim, failure is not None

    async def _presented(
        self, of: Publication, question: ProtectedQuery, relation: str
    ) -> tuple[str | None, str | None]:
        """The table, or why there is none. Never another draw: whether the shadow goes away may hang on this
        one. The reason may quote the statement: it is in the ledger, encrypted."""
        for _ in range(_TRIES):
            try:
                return await asyncio.to_thread(self._shadow.presented, question, relation), None
            except NoTable as error:
                return None, str(error)
            except Exception as error:
                _LOG.warning("published_not_presented", name=of.name, kind=type(error).__name__)
                await asyncio.sleep(_TRY_SECONDS)
        return None, "the shadow did not answer"

    async def _hold(self, claim: ReleaseClaim) -> None:
        while True:
            await asyncio.sleep(_HOLD_SECONDS)
            try:
                await self._ledger.hold(claim)
            except Fault:
                continue  # if it stays away, the lease ends, and another draws: who stores first, is shown

    async def _let_go(self, of: Publication, claim: ReleaseClaim) -> None:
        pause = self._pause.get(of.name, _FIRST_PAUSE)
        self._pause[of.name] = min(2 * pause, _LONGEST_PAUSE)
        try:
            await asyncio.shield(self._ledger.let_go(claim, pause))
        except (Fault, asyncio.CancelledError):  # then the lease ends by itself
            _LOG.warning("published_not_let_go", name=of.name)


def day_of(due: datetime) -> int:
    """In days since 1970-01-01, UTC."""
    return int(due.timestamp()) // DAY_SECONDS


def _stored_blocks(
    drawn: Sequence[CachedBlock], parts: Sequence[CachedQuestion]
) -> Iterator[StoredBlock]:
    """What is drawn of the blocks that have a question."""
    for block, part in zip(drawn, parts, strict=False):
        if part.digest is not None:
            text = cached_text(block, part.order)
            yield StoredBlock(question=part.question, terms=part.terms, relation=text)
