"""Keeps answers that were charged but not delivered, because PostgreSQL failed in the query around them.

Example: `SELECT count(*)::smallint FROM orders` is charged, and then 40,000 is out of range. The analyst sends
`SELECT count(*) FROM orders` and gets the same 40,000 without a second charge.

Whom it is shown to: `OwnedAnswer` of drawing/kept_answers.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from sys import getsizeof
from time import monotonic
from typing import Any

from proxy.base.node_parts import parts_getter, with_parts
from proxy.drawing.kept_answers import AnswerOwner, OwnedAnswer
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.release.cached_block import CachedBlock

KEPT_SECONDS = 3600.0
_OF_ANALYST = 8
_OF_ALL = 256
# Of memory. An answer has at most what its analyst has in all.
BYTES_OF_ANALYST = 4 * 1024 * 1024
BYTES_OF_ALL = 32 * 1024 * 1024
_GROUP_BYTES = 112  # with its tuples
_NUMBER_BYTES = 168  # a mean has three integers


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UndeliveredAnswer:
    """An answer of one statement. answer: its blocks, for their owner; plan: as of `_without_presentation`;
    receipt: of the charge; octets: of memory, about; until: when it is dropped, None before it is kept."""

    answer: OwnedAnswer
    plan: PrivatePlan
    receipt: str
    octets: int
    until: float | None = None

    def __repr__(self) -> str:
        return f"UndeliveredAnswer(receipt={self.receipt!r})"


def may_be_kept(plan: PrivatePlan, drawn: tuple[CachedBlock, ...]) -> bool:
    """Whether an answer without its texts is small enough. Quick, of each statement."""
    return sum(map(_fixed_octets, drawn, plan.blocks)) <= BYTES_OF_ANALYST


def undelivered_answer(
    owner: AnswerOwner, plan: PrivatePlan, receipt: str, drawn: tuple[CachedBlock, ...]
) -> UndeliveredAnswer | None:
    """Make an answer that can be kept. None: it is too large."""
    if not may_be_kept(plan, drawn):  # else its texts are few
        return None
    octets = sum(map(_fixed_octets, drawn, plan.blocks))
    stripped = _without_presentation(plan)
    octets += sum(map(_text_octets, drawn)) + _plan_octets(stripped)
    if octets > BYTES_OF_ANALYST:
        return None
    answer = OwnedAnswer(owner, drawn)
    return UndeliveredAnswer(answer=answer, plan=stripped, receipt=receipt, octets=octets)


_Key = tuple[str, int | None, PrivatePlan]


class UndeliveredAnswers:
    """The answers of one engine, in memory. Each is delivered once. The oldest make room for new ones."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[_Key, UndeliveredAnswer] = OrderedDict()

    def keep(self, answer: UndeliveredAnswer) -> None:
        """Keep an answer for an hour after its first failure."""
        if answer.until is None:
            answer = replace(answer, until=self._clock() + KEPT_SECONDS)
        owner = answer.answer.owner
        key = (owner.analyst, owner.token, answer.plan)
        self._kept[key] = answer
        self._kept.move_to_end(key)
        own = [one for one in self._kept.items() if one[1].answer.owner.analyst == owner.analyst]
        self._make_room(own, _OF_ANALYST, BYTES_OF_ANALYST)
        self._make_room([*self._kept.items()], _OF_ALL, BYTES_OF_ALL)

    def _make_room(
        self, answers: list[tuple[_Key, UndeliveredAnswer]], most: int, most_octets: int
    ) -> None:
        """Drop the first of some answers, until the others are within limits."""
        number, octets = len(answers), sum(answer.octets for _, answer in answers)
        for key, answer in answers:
            if number <= most and octets <= most_octets:
                return
            number -= 1
            octets -= answer.octets
            del self._kept[key]

    def take(self, analyst: str, token: int | None, plan: PrivatePlan) -> UndeliveredAnswer | None:
        """Remove and return the answer to the same plan that was charged to this name, through this token or
        without one. The statement around it may differ. The person may be another one of the same name."""
        if not self._kept:  # the usual case: no plan is hashed
            return None
        answer = self._kept.pop((analyst, token, _without_presentation(plan)), None)
        if answer is None or answer.until is None or answer.until < self._clock():
            return None
        return answer


def _without_presentation(plan: PrivatePlan) -> PrivatePlan:
    """Leave out the parts of a plan that change only how drawn values are shown: error columns, intervals of
    expressions, and which intervals are columns."""
    blocks = (
        with_parts(block, outputs=(), expressions=(), intervals=frozenset())
        for block in plan.blocks
    )
    return replace(plan, blocks=tuple(blocks))


def _fixed_octets(one: CachedBlock, block: BlockPlan) -> int:
    """Of the memory of a block's groups, without their texts."""
    numbers = len(block.keys) + len(block.releases)
    return len(one.drawn.groups) * (_GROUP_BYTES + numbers * _NUMBER_BYTES)


def _text_octets(one: CachedBlock) -> int:
    keys = chain.from_iterable(group.keys for group in one.drawn.groups)
    return sum(getsizeof(key) for key in keys if key is not None)


def _plan_octets(plan: PrivatePlan) -> int:
    """Of a plan with its constants and keys, or of so much of it that it is too large."""
    octets, waiting = 0, list[Any]((plan,))
    seen: set[int] = set()
    while waiting and octets <= BYTES_OF_ANALYST:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        octets += getsizeof(part)
        if isinstance(part, tuple | frozenset):
            waiting += part
        elif (parts := parts_getter(part.__class__)) is not None:
            waiting += parts(part)
    return octets
