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
from proxy.planner.plan import BlockPlan, DistinctCount, NoisyStatistic
from proxy.release.adding_noise import ordered_groups
from proxy.release.cached_block import CachedBlock, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.reuse.derivable import Derivable, source_from
from proxy.reuse.derivation import Derivation, Slices, UsableAnswer, derivation, variance
from proxy.reuse.promising_sources import promising

TRIED = 8  # sources of one block: each is a relation to be read
_PER_NUMBER = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedBlock:
    """made_of: for EXPLAIN; variance: of its noise, None where that is not known beforehand; published: the
    table that it is from, None: it is of what the analyst has been shown; is_added_up: of several groups."""

    block: CachedBlock
    made_of: str
    variance: Fraction | None
    published: str | None = None
    is_added_up: bool = False

    def is_as_exact_as(self, other: DerivedBlock) -> bool:
        """As far as it is known."""
        if self.variance is None or other.variance is None:
            return True
        return self.variance <= other.variance


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
        candidates = promising(block, part.derivable.question, candidates, accepted)
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
    assert part.derivable is not None
    best: DerivedBlock | None = None
    for cached, source, more in candidates[:TRIED]:
        try:
            text = await ledger.relation_of(cached)
        except Unfinished:
            continue
        if text is None:
            continue
        work = len(text) // _PER_NUMBER
        found = await beside(
            work, derived_block, text, block, part.derivable, source, more, accepted
        )
        if found is not None and (best is None or not best.is_as_exact_as(found)):
            best = found
    return best


def derived_block(
    text: str,
    block: BlockPlan,
    wanted: Derivable,
    source: UsableAnswer,
    more: Slices,
    accepted: Fraction,
    published: str | None = None,
) -> DerivedBlock | None:
    """
    Given    text: the answer that `source` is of; wanted: of the block; more: the conditions that are left;
             published: the table that it is from, if it is
    Gives    None: the block cannot be made of it, or less exactly than accepted
    """
    numbers = cached_numbers(text)
    groups = tuple(numbers)
    made = derivation(block, wanted.question, more, source, groups, accepted)
    if made is None:
        return None
    drawn = DrawnBlock(
        tuple(
            DrawnGroup(keys, _added_up(made, keys, numbers)) for keys in ordered_groups(block, ())
        )
    )
    return DerivedBlock(
        block=CachedBlock(chosen={}, drawn=drawn, noises=made.noises),
        made_of=_words(made, groups, published),
        variance=made.variance(),
        published=published,
        is_added_up=made.is_added_up,
    )


def total_variance(block: BlockPlan) -> Fraction | None:
    """Of the noise of its releases; None where it is not known beforehand."""
    if block.choices:
        return None
    found = Fraction(0)
    for release in block.releases:
        if not isinstance(release, NoisyStatistic | DistinctCount):
            return None
        found += variance(release.noise)
    return found


def _added_up(
    made: Derivation, keys: Values, numbers: Mapping[Values, tuple[int, ...]]
) -> tuple[DrawnNumber, ...]:
    return tuple(
        DrawnNumber(sum(numbers[one][place] for one in made.sources[keys]))
        for place in made.releases
    )


def _words(made: Derivation, groups: Sequence[Values], published: str | None) -> str:
    of = published or f"an answer of {len(groups)} groups that you have been shown"
    most = max((len(sources) for sources in made.sources.values()), default=0)
    if most > 1:
        return f"made of {of}, up to {most} added up"
    if len(made.sources) < len(groups):
        return f"part of {of}"
    return published or "an answer that you have been shown"


class WithDerived:
    """What is derived, before what another store has (engine.noisy_answers.BlockStore)."""

    def __init__(self, derived: Mapping[int, DerivedBlock], others: BlockStore) -> None:
        self._derived = derived
        self._others = others

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        if number in self._derived:
            return self._derived[number].block
        return await self._others.ready(number, block)

    async def to_draw(self, number: int, block: BlockPlan) -> BlockPlan:
        return await self._others.to_draw(number, block)

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        return await self._others.stored(number, block, drawn)


def not_derived(parts: Sequence[CachedQuestion], derived: Mapping[int, DerivedBlock]) -> Claimed:
    """The blocks that are to be claimed."""
    return {number: part for number, part in enumerate(parts) if number not in derived}
