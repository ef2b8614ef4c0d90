"""Blocks of which an analyst has been shown a less exact answer: what is missing is drawn, weighed with it, and
kept as an answer of its own.

It is claimed like any other, under a digest that names what is wanted and the answer that is topped up, for the
loss of what is drawn. What is stored is the mean of both at the noise that was wanted: so it is found again,
others are made of it, it is topped up in its turn, and it serves only who has been shown its source.

Source  docs/adr/0077-missing-precision-is-bought.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.engine.cached_answers import (
    CachedLedger,
    CachedQuestion,
    Claim,
    Claimed,
    PaidAnswer,
    Unfinished,
    slot_digest,
)
from proxy.engine.derived_answers import PER_NUMBER, displayed_answers, readable
from proxy.engine.explain_text import FreeBlock
from proxy.engine.noisy_answers import BlockStore
from proxy.engine.threads import beside
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.plan import BlockPlan
from proxy.kernel.world import World
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.topping_up import weighted_mean
from proxy.planner.facts import Values
from proxy.release.cached_block import CachedBlock, cached_numbers
from proxy.release.drawn_values import Drawn, DrawnBlock, DrawnGroup, DrawnNumber
from proxy.reuse.derivable import Derivable
from proxy.reuse.derivation import Slices, UsableAnswer
from proxy.reuse.missing_precision import MissingPrecision, can_be_topped_up, missing_precision


@dataclass(frozen=True, slots=True, kw_only=True)
class TopUp:
    """source: the number of the answer that is topped up; numbers: what it says, by its groups; question: as it
    is claimed."""

    source: int
    numbers: Mapping[Values, tuple[int, ...]]
    missing: MissingPrecision
    question: CachedQuestion

    def explained(self) -> FreeBlock:
        groups = len(self.numbers)
        of = "an answer" if groups == 1 else f"an answer of {groups} groups"
        price = self.missing.drawn.loss
        return FreeBlock(made_of=f"{of} that you have been shown", setting="dp.fresh", price=price)


async def top_ups(
    ledger: CachedLedger,
    analyst: str,
    claimed: Claimed,
    world: World,
) -> Mapping[int, TopUp]:
    """By the number of their block. Of several sources the one that leaves least to be paid; but what has been
    paid already, and was not drawn, is drawn as it was paid.

    Given    claimed: the blocks that are to be paid; which accounting holds is looked at by who asks
    Refuses  NotPrivate: the kernel does not let through what would be drawn
    """
    of_blocks = {
        number: part.derivable
        for number, part in claimed.items()
        if part.derivable is not None
        and part.digest is not None
        and can_be_topped_up(part.block.block)
    }
    displayed = await displayed_answers(ledger, analyst, of_blocks.values())
    options = {
        number: await _options(ledger, claimed[number], wanted, displayed, world)
        for number, wanted in of_blocks.items()
    }
    if not any(options.values()):
        return {}
    digests = [claimed[number].digest for number, some in options.items() if some]
    digests += [one.question.digest for some in options.values() for one in some]
    paid = await ledger.paid_of(analyst, [one for one in digests if one is not None])
    found = {}
    for number, some in options.items():
        if claimed[number].digest in paid or not some:
            continue
        of_these = [one for one in some if one.question.digest in paid] or some
        found[number] = min(of_these, key=lambda one: one.missing.price)
    return found


async def _options(
    ledger: CachedLedger,
    part: CachedQuestion,
    wanted: Derivable,
    displayed: Sequence[PaidAnswer],
    world: World,
) -> list[TopUp]:
    """Of a few sources."""
    found = []
    async for one in readable(ledger, part.block.block, wanted, displayed, None):
        work, of = len(one.text) // PER_NUMBER, part.block
        made = await beside(work, _missing, one.text, of, wanted, one.answer, one.more, world)
        if made is not None:
            numbers, missing = made
            question = _as_claimed(part, one.cached, missing)
            found.append(
                TopUp(source=one.cached, numbers=numbers, missing=missing, question=question)
            )
    return found


def _missing(
    text: str,
    block: CheckedBlock,
    wanted: Derivable,
    source: UsableAnswer,
    more: Slices,
    world: World,
) -> tuple[Mapping[Values, tuple[int, ...]], MissingPrecision] | None:
    numbers = cached_numbers(text)
    found = missing_precision(block, wanted.question, more, source, tuple(numbers), world)
    return None if found is None else (numbers, found)


def _as_claimed(part: CachedQuestion, source: int, missing: MissingPrecision) -> CachedQuestion:
    """Terms that name the source, and what is drawn: other noise of it would be another answer."""
    bought = ",".join(
        f"{number}:{'-' if one.bought is None else one.bought}"
        for number, one in sorted(missing.given.items())
    )
    terms = f"{part.terms} tops up {source} by {bought}"
    return replace(
        part,
        block=missing.drawn,
        digest=slot_digest(part.question, terms, missing.drawn.price),
        terms=terms,
    )


class ToppingUp:
    """What is missing is drawn, and weighed with what was shown, before another store has it."""

    def __init__(
        self,
        found: Mapping[int, TopUp],
        ledger: CachedLedger,
        cached: Mapping[int, int | None],
        bits: RandomBits,
        others: BlockStore,
    ) -> None:
        """cached: by the number of its block what is claimed, in the ledger."""
        self._found = found
        self._ledger = ledger
        self._cached = cached
        self._bits = bits
        self._others = others

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        return await self._others.ready(number, block)

    async def to_draw(self, number: int, block: CheckedBlock) -> CheckedBlock:
        """
        Refuses  Unfinished: a slot has ended since, and the source is of the one before
        """
        found = self._found.get(number)
        if found is None:
            return await self._others.to_draw(number, block)
        own = self._cached[number]
        if own is not None and not await self._ledger.are_of_one_slot(found.source, own):
            raise Unfinished
        return found.missing.drawn

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        found = self._found.get(number)
        if found is not None:
            work = len(drawn.drawn.groups) * len(block.releases)
            whole = await beside(work, combined, found, drawn.drawn, self._bits)
            drawn = replace(drawn, drawn=whole)
        return await self._others.stored(number, block, drawn)


def claimed_numbers(claimed: Claimed, claim: Claim) -> Mapping[int, int | None]:
    return dict(zip(claimed, claim.cached, strict=True))


def combined(of: TopUp, drawn: DrawnBlock, bits: RandomBits) -> DrawnBlock:
    """
    Given    drawn: for `of.missing.drawn`
    """
    return DrawnBlock(tuple(_combined_group(of, group, bits) for group in drawn.groups))


def _combined_group(of: TopUp, group: DrawnGroup, bits: RandomBits) -> DrawnGroup:
    values: list[Drawn] = list(group.values)
    for number, one in of.missing.given.items():
        sources = of.missing.sources[group.keys]
        index = sum(of.numbers[source][one.place] for source in sources)
        bought = values[number]
        if one.bought is not None:
            assert isinstance(bought, DrawnNumber), "a sum or a count"
            index = weighted_mean(bits, index, one.sigma2, bought.index, one.bought)
        values[number] = DrawnNumber(index)
    return DrawnGroup(group.keys, tuple(values))
