"""Blocks that are answered from what their analyst has been shown in the same slot, at no cost.

Nothing is read but the ledger. Of several sources the one of the least noise serves.

Source  docs/design/reuse.md 4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.engine.cached_answers import CachedLedger, CachedQuestion, Claimed, Unfinished
from proxy.engine.noisy_answers import BlockStore
from proxy.engine.threads import beside
from proxy.planner.facts import Values
from proxy.planner.plan import BlockPlan
from proxy.release.adding_noise import ordered_groups
from proxy.release.cached_block import CachedBlock, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.reuse.derivable import source_from
from proxy.reuse.derivation import Derivation, Slices, UsableAnswer, derivation

_TRIED = 8  # sources of one block: each is a relation to be read
_PER_NUMBER = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedBlock:
    """made_of: for EXPLAIN."""

    block: CachedBlock
    made_of: str


async def derived_blocks(
    ledger: CachedLedger,
    analyst: str,
    blocks: Sequence[BlockPlan],
    parts: Sequence[CachedQuestion],
    accepted: Fraction,
) -> Mapping[int, DerivedBlock]:
    """By the number of their block, those that cost nothing.

    Given    accepted: standard errors may be so many times those of a fresh answer
    """
    wanted = {
        about: None
        for part in parts
        if part.derivable is not None
        for about, _ in part.derivable.wanted
    }
    if not wanted:
        return {}
    paid = await ledger.paid_about(analyst, tuple(wanted))
    found: dict[int, DerivedBlock] = {}
    for number, (block, part) in enumerate(zip(blocks, parts, strict=True)):
        if part.derivable is None:
            continue
        candidates = [
            (one.cached, source_from(one.made), more)
            for about, more in part.derivable.wanted
            for one in paid
            if one.about == about
        ]
        best = await _best(ledger, block, part, candidates, accepted)
        if best is not None:
            found[number] = best
    return found


async def _best(
    ledger: CachedLedger,
    block: BlockPlan,
    part: CachedQuestion,
    candidates: Sequence[tuple[int, UsableAnswer, Slices]],
    accepted: Fraction,
) -> DerivedBlock | None:
    """Of equally noisy ones that which was shown last."""
    best: tuple[Fraction, DerivedBlock] | None = None
    for cached, source, more in candidates[:_TRIED]:
        try:
            text = await ledger.relation_of(cached)
        except Unfinished:
            continue
        if text is None:
            continue
        work = len(text) // _PER_NUMBER
        found = await beside(work, _derived, text, block, part, source, more, accepted)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return None if best is None else best[1]


def _derived(
    text: str,
    block: BlockPlan,
    part: CachedQuestion,
    source: UsableAnswer,
    more: Slices,
    accepted: Fraction,
) -> tuple[Fraction, DerivedBlock] | None:
    """With the variance of its noise."""
    assert part.derivable is not None
    numbers = cached_numbers(text)
    groups = tuple(numbers)
    made = derivation(block, part.derivable.question, more, source, groups, accepted)
    if made is None:
        return None
    drawn = DrawnBlock(
        tuple(
            DrawnGroup(keys, _added_up(made, keys, numbers)) for keys in ordered_groups(block, ())
        )
    )
    cached = CachedBlock(chosen={}, drawn=drawn, noises=made.noises)
    return made.variance(), DerivedBlock(block=cached, made_of=_words(made, groups))


def _added_up(
    made: Derivation, keys: Values, numbers: Mapping[Values, tuple[int, ...]]
) -> tuple[DrawnNumber, ...]:
    return tuple(
        DrawnNumber(sum(numbers[one][place] for one in made.sources[keys]))
        for place in made.releases
    )


def _words(made: Derivation, groups: Sequence[Values]) -> str:
    most = max((len(sources) for sources in made.sources.values()), default=0)
    if most > 1:
        return f"made of an answer of {len(groups)} groups that you have been shown, up to {most} added up"
    if len(made.sources) < len(groups):
        return f"part of an answer of {len(groups)} groups that you have been shown"
    return "an answer that you have been shown"


class WithDerived:
    """What is derived, before what another store has (engine.noisy_answers.BlockStore)."""

    def __init__(self, derived: Mapping[int, DerivedBlock], others: BlockStore) -> None:
        self._derived = derived
        self._others = others

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        if number in self._derived:
            return self._derived[number].block
        return await self._others.ready(number, block)

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        return await self._others.stored(number, block, drawn)


def not_derived(parts: Sequence[CachedQuestion], derived: Mapping[int, DerivedBlock]) -> Claimed:
    """The blocks that are to be claimed."""
    return {number: part for number, part in enumerate(parts) if number not in derived}
