"""Blocks of which an analyst has been shown a less exact answer: what is missing is drawn, weighed with it, and
kept as an answer of its own.

It is claimed like any other, under a digest that names what is wanted and the answer that is topped up, for the
loss of what is drawn. What is stored is the mean of both at the noise that was wanted: so it is found again,
others are made of it, it is topped up in its turn, and it serves only who has been shown its source.

Source  docs/adr/0077-missing-precision-is-bought.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proxy.drawing.answer_slots import CachedQuestion, Claimed, PaidAnswer, topping_up
from proxy.engine.cached_answers import CachedLedger
from proxy.engine.derived_answers import PER_NUMBER, displayed_answers, readable
from proxy.engine.explain_text import FreeBlock
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.world import World
from proxy.release.cached_block import cached_numbers
from proxy.reuse.derivable import Derivable
from proxy.reuse.derivation import Slices, UsableAnswer
from proxy.reuse.missing_precision import MissingPrecision, can_be_topped_up, missing_precision
from proxy.turns.threads import beside


@dataclass(frozen=True, slots=True, kw_only=True)
class TopUp:
    """groups: of the answer that is topped up; question: as it is claimed."""

    groups: int
    missing: MissingPrecision
    question: CachedQuestion

    def explained(self) -> FreeBlock:
        groups = self.groups
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
        number: await _options(ledger, analyst, claimed[number], wanted, displayed, world)
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
    analyst: str,
    part: CachedQuestion,
    wanted: Derivable,
    displayed: Sequence[PaidAnswer],
    world: World,
) -> list[TopUp]:
    """Of a few sources."""
    found = []
    async for one in readable(ledger, analyst, part.block.block, wanted, displayed, None):
        text, of = one.shown.text, part.block
        work = len(text) // PER_NUMBER
        made = await beside(work, _missing, text, of, wanted, one.answer, one.more, world)
        if made is not None:
            groups, missing = made
            question = topping_up(part, one.shown, missing)
            found.append(TopUp(groups=groups, missing=missing, question=question))
    return found


def _missing(
    text: str,
    block: CheckedBlock,
    wanted: Derivable,
    source: UsableAnswer,
    more: Slices,
    world: World,
) -> tuple[int, MissingPrecision] | None:
    numbers = cached_numbers(text)
    found = missing_precision(block, wanted.question, more, source, tuple(numbers), world)
    return None if found is None else (len(numbers), found)
