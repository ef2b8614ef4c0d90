"""Keeps answers that were charged but not delivered, because PostgreSQL failed in the query around them.

Example: `SELECT count(*)::smallint FROM orders` is charged, and then 40,000 is out of range. The analyst sends
`SELECT count(*) FROM orders` and gets the same 40,000 without a second charge.

Privacy: a kept answer is shown only to the analyst who was charged for it. It is the released value itself, so
showing it is post-processing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from proxy.base.node_parts import with_parts
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.release.cached_block import CachedBlock

KEPT_SECONDS = 3600.0
_NUMBERS = 20_000  # of one answer
_OF_ANALYST = 8
_OF_ALL = 256


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UndeliveredAnswer:
    """An answer of one statement. drawn: of each block; plan: as of `_without_presentation`; receipt: of the
    charge; until: when it is dropped, None before it is kept."""

    analyst: str
    plan: PrivatePlan
    receipt: str
    drawn: tuple[CachedBlock, ...]
    until: float | None = None

    def __repr__(self) -> str:
        return f"UndeliveredAnswer(receipt={self.receipt!r})"


def undelivered_answer(
    analyst: str, plan: PrivatePlan, receipt: str, drawn: tuple[CachedBlock, ...]
) -> UndeliveredAnswer | None:
    """Make an answer that can be kept. None: it is too large."""
    numbers = sum(
        len(one.drawn.groups) * (len(block.keys) + len(block.releases))
        for one, block in zip(drawn, plan.blocks, strict=True)
    )
    if numbers > _NUMBERS:
        return None
    stripped = _without_presentation(plan)
    return UndeliveredAnswer(analyst=analyst, plan=stripped, receipt=receipt, drawn=drawn)


class UndeliveredAnswers:
    """The answers of one engine, in memory. Each is delivered once. The oldest make room for new ones."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, PrivatePlan], UndeliveredAnswer] = OrderedDict()

    def keep(self, answer: UndeliveredAnswer) -> None:
        """Keep an answer for an hour after its first failure."""
        if answer.until is None:
            answer = replace(answer, until=self._clock() + KEPT_SECONDS)
        self._kept[answer.analyst, answer.plan] = answer
        self._kept.move_to_end((answer.analyst, answer.plan))
        own = [key for key in self._kept if key[0] == answer.analyst]
        for key in own[: max(0, len(own) - _OF_ANALYST)]:
            del self._kept[key]
        while len(self._kept) > _OF_ALL:
            self._kept.popitem(last=False)

    def take(self, analyst: str, plan: PrivatePlan) -> UndeliveredAnswer | None:
        """Remove and return the analyst's answer to the same plan. The statement around it may differ."""
        if not self._kept:  # the usual case: no plan is hashed
            return None
        answer = self._kept.pop((analyst, _without_presentation(plan)), None)
        if answer is None or answer.until is None or answer.until < self._clock():
            return None
        return answer


class KeptBlocks:
    """The blocks of an undelivered answer (engine.noisy_answers.BlockStore). Nothing is drawn."""

    def __init__(self, answer: UndeliveredAnswer) -> None:
        self._answer = answer

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        return self._answer.drawn[number]

    async def to_draw(self, number: int, block: BlockPlan) -> BlockPlan:
        raise AssertionError("all blocks of a kept answer are drawn")

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        raise AssertionError("all blocks of a kept answer are drawn")


def _without_presentation(plan: PrivatePlan) -> PrivatePlan:
    """Leave out the parts of a plan that change only how drawn values are shown: error columns, intervals of
    expressions, and which intervals are columns."""
    blocks = (
        with_parts(block, outputs=(), expressions=(), intervals=frozenset())
        for block in plan.blocks
    )
    return replace(plan, blocks=tuple(blocks))
