"""Questions as the ledger keeps their answers: what names a slot, and what an analyst was shown.

A block is drawn once in a slot of public time, charged to the shared budget then, and to each analyst once,
whole, before anything of it is shown. Whoever claims a slot by its digest and pays for it is shown what stands
in it. So a digest has to name all that an answer hangs on which not everybody with that digest has paid for:

- the price and the protected tables, as a draw that was begun and not finished is drawn under its first charge;
- answers of earlier blocks, with which rows are compared.

What else the question says decides which numbers are shown, not to whom.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from proxy.base.errors import Fault
from proxy.drawing.statement_run import StatementRun
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.price import Price
from proxy.release.cached_block import Order
from proxy.reuse.derivable import Derivable

_HERE = object()


def _refuse_elsewhere(made: object) -> None:
    if made is not _HERE:
        raise Fault("an answer that the ledger has not named")


class CacheState(Enum):
    """What becomes of a claimed block.

    Attributes:
        READY: Its answer stands in the ledger.
        DRAW: It is drawn here, and stored.
        WAIT: Another process is drawing it.
        APART: It is drawn here, and never stored.
    """

    READY = "ready"
    DRAW = "draw"
    WAIT = "wait"
    APART = "apart"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ShownAnswer:
    """An answer that this analyst was shown, or has paid for. Only `shown_answer` makes one, for the ledger.

    Attributes:
        analyst: By name.
        cached: Its number in the ledger.
        text: As it is stored (release.cached_block).
    """

    analyst: str
    cached: int
    text: str
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        _refuse_elsewhere(made)


def shown_answer(analyst: str, cached: int, text: str) -> ShownAnswer:
    """For the ledger alone, which looks at what it has shown (`CAPABILITIES` in tests/trusted_base.py)."""
    return ShownAnswer(analyst=analyst, cached=cached, text=text, made=_HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedQuestion:
    """A block as the ledger sees it. Only the functions of this module make one.

    Attributes:
        block: What is drawn, and charged.
        digest: Names its slot. None: it is never cached.
        question: What it asks.
        terms: At which price and precision.
        order: Of its keys and releases.
        derivable: What answers can be made of it. None: nothing is made of it, nor it of anything.
        rests_on: Blocks of the statement whose answers in the ledger the question names by their digests.
    """

    block: CheckedBlock
    digest: bytes | None
    question: str
    terms: str
    order: Order
    derivable: Derivable | None
    rests_on: frozenset[CheckedBlock]
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        _refuse_elsewhere(made)


def never_cached(block: CheckedBlock, order: Order) -> CachedQuestion:
    return _made(block, "", "", order, is_named=False)


def cached_question(
    block: CheckedBlock, question: str, terms: str, order: Order, derivable: Derivable | None
) -> CachedQuestion:
    """A block under a name. One that takes answers of earlier blocks is not cached: it hangs on them."""
    is_named = not block.block.uses_answers
    return _made(block, question, terms, order, is_named=is_named, derivable=derivable)


def question_given(
    block: CheckedBlock,
    question: str,
    terms: str,
    order: Order,
    given: str,
    rests_on: frozenset[CheckedBlock],
) -> CachedQuestion:
    """Name a block whose rows are compared with answers of earlier blocks. Nothing is made of its answer.

    Args:
        block: The block.
        question: What it asks, but for these answers.
        terms: At which price and precision.
        order: Of its keys and releases.
        given: Names the earlier answers: two of one name have the same values.
        rests_on: The earlier blocks whose answers stand in the ledger.
    """
    named = f"{question} given {given}"
    return _made(block, named, terms, order, is_named=True, rests_on=rests_on)


def with_derivable(of: CachedQuestion, derivable: Derivable) -> CachedQuestion:
    return replace(of, derivable=derivable, made=_HERE)


def slot_digest(question: str, terms: str, price: Price, tables: Sequence[str]) -> bytes:
    """Name a slot by what is drawn in it, by its price, and by the tables whose budgets pay for it.

    A draw that was begun and not finished is drawn under its first charge, by whoever claims the same slot.
    So a block of another price, or of other tables, has another slot, and is charged itself.

    Args:
        question: What is asked.
        terms: At which price and precision, as the question has it.
        price: As the kernel counts it.
        tables: The protected tables that are read, as the kernel finds them, in any order.
    """
    each = (price.epsilon, price.rho, price.delta, price.gaussian_delta)
    paid = f"costs {' '.join(map(str, each))} of {json.dumps(sorted(tables))}"
    named = f"{len(question)} {question} {len(terms)} {terms} {paid}"
    return hashlib.sha256(named.encode()).digest()


def _made(
    block: CheckedBlock,
    question: str,
    terms: str,
    order: Order,
    *,
    is_named: bool,
    derivable: Derivable | None = None,
    rests_on: frozenset[CheckedBlock] = frozenset(),
) -> CachedQuestion:
    return CachedQuestion(
        block=block,
        digest=slot_digest(question, terms, block.price, block.tables) if is_named else None,
        question=question if is_named else "",
        terms=terms if is_named else "",
        order=order,
        derivable=derivable if is_named else None,
        rests_on=rests_on,
        made=_HERE,
    )


# By the number of their block.
Claimed = Mapping[int, CachedQuestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSlot:
    """A part of a claim.

    Attributes:
        part: The block.
        state: What is to be done with it.
        cached: Its number in the ledger.
        text: What stands there.
    """

    part: CachedQuestion
    state: CacheState
    cached: int | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidAnswer:
    """What an analyst has been shown in this slot of time.

    Attributes:
        cached: Its number in the ledger.
        about: What it is about.
        made: What of it can be used (reuse.derivable).
        shown_at: When it was first shown to them.
    """

    cached: int
    about: bytes
    made: Any
    shown_at: datetime


class Unfinished(Exception):
    """A part can be claimed anew: whoever was drawing it is gone, or it was taken over."""


class AnswersShown(Protocol):
    """Whom the ledger shows an answer to."""

    async def shown(self, run: StatementRun, cached: int) -> ShownAnswer | None:
        """Read an answer for the one who pays for a statement. None: it is not drawn yet.

        Raises:
            Unfinished: It was forgotten, or this analyst has not paid for it.
        """
        ...


class AnswersInLedger(AnswersShown, Protocol):
    """How answers come into the ledger: by `kept_answers` alone."""

    async def store(self, run: StatementRun, cached: int, relation: str) -> str | None:
        """Store durably what all are shown: this, unless another came first. None: it was forgotten."""
        ...

    async def forget(self, cached: int, holder: str) -> bool:
        """Of a draw that is too large to be stored. False: it is not the holder's any more, and may not be
        shown."""
        ...

    async def let_go(self, cached: int, holder: str) -> None:
        """Of a draw that is not finished. Never waits."""
        ...
