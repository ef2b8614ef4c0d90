"""Blocks that are answered from what their analyst has been shown in the same slot, at no cost.

Nothing is read but the ledger. Of several sources the one of the least noise serves.

Source  docs/design/reuse.md 4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from proxy.drawing.answer_slots import (
    CachedQuestion,
    Claimed,
    PaidAnswer,
    Unfinished,
)
from proxy.engine.answer_origin import AnswerSource
from proxy.engine.cached_answers import CachedLedger
from proxy.engine.explain_text import beyond_bound
from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic
from proxy.planner.facts import Values
from proxy.release.cached_block import CachedBlock, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber, ordered_groups
from proxy.reuse.derivable import Derivable, source_from
from proxy.reuse.derivation import (
    NOTHING_MORE,
    Derivation,
    Slices,
    UsableAnswer,
    derivation,
    promising,
    variance,
)
from proxy.turns.threads import beside

TRIED = 8  # sources of one block: each is a relation to be read
PER_NUMBER = 8  # characters of a stored relation, at least


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedBlock:
    """
    Attributes:
        made_of: For EXPLAIN.
        variance: Of its noise. None: it is not known beforehand.
        as_of: When what it is made of was first shown to the analyst, or published.
        is_as_shown: Whether its numbers are those of one answer, with all of its groups.
        published: The table that it is from. None: it is of what the analyst has been shown.
    """

    block: CachedBlock
    made_of: str
    variance: Fraction | None
    as_of: datetime
    is_as_shown: bool
    published: str | None = None

    @property
    def source(self) -> AnswerSource:
        if self.published is not None:
            return AnswerSource.PUBLISHED
        return AnswerSource.CACHED if self.is_as_shown else AnswerSource.DERIVED

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
    wanted = [part.derivable for part in parts if part.derivable is not None]
    abouts = dict.fromkeys(about for one in wanted for about, _ in one.wanted)
    displayed = await ledger.paid_about(analyst, tuple(abouts)) if abouts else ()
    shown_at = {one.cached: one.shown_at for one in displayed}
    found: dict[int, DerivedBlock] = {}
    for number, (block, part) in enumerate(zip(blocks, parts, strict=True)):
        if part.derivable is None:
            continue
        best: DerivedBlock | None = None  # of equally noisy ones that which was shown last
        for cached, answer, more in _promising(block, part.derivable, displayed, accepted):
            try:
                shown = await ledger.shown(analyst, cached)
            except Unfinished:
                continue
            if shown is None:
                continue
            work = len(shown.text) // PER_NUMBER
            given = shown.text, block, part.derivable, answer, more, accepted, shown_at[cached]
            made = await beside(work, derived_block, *given)
            if made is not None and (best is None or not best.is_as_exact_as(made)):
                best = made
        if best is not None:
            found[number] = best
    return found


def _promising(
    block: BlockPlan, wanted: Derivable, displayed: Sequence[PaidAnswer], accepted: Fraction
) -> list[tuple[int, UsableAnswer, Slices]]:
    """Of what was shown, what promises most for a block: few of it are read."""
    candidates = [
        (one.cached, source_from(one.made), more)
        for about, more in wanted.wanted
        for one in displayed
        if one.about == about
    ]
    return promising(block, wanted.question, candidates, accepted)[:TRIED]


def derived_block(
    text: str,
    block: BlockPlan,
    wanted: Derivable,
    source: UsableAnswer,
    more: Slices,
    accepted: Fraction,
    as_of: datetime,
    published: str | None = None,
) -> DerivedBlock | None:
    """
    Given    text: the answer that `source` is of; wanted: of the block; more: the conditions that are left;
             as_of: as of DerivedBlock; published: the table that it is from, if it is
    Gives    None: the block cannot be made of it, or less exactly than accepted
    """
    numbers = cached_numbers(text)
    groups = tuple(numbers)
    made = derivation(block, wanted.question, more, source, groups, accepted)
    if made is None:
        return None
    is_same = more == NOTHING_MORE and {k.name for k in source.keys} == {*wanted.question.key_names}
    others = "" if is_same else beyond_bound(block, "in a fresh answer")
    drawn = DrawnBlock(
        tuple(
            DrawnGroup(keys, _added_up(made, keys, numbers)) for keys in ordered_groups(block, ())
        )
    )
    return DerivedBlock(
        block=CachedBlock(chosen={}, drawn=drawn, noises=made.noises),
        made_of=_words(made, groups, published) + others,
        variance=made.variance(),
        as_of=as_of,
        is_as_shown=not _adds_up(made) and len(made.sources) >= len(groups),
        published=published,
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


def _adds_up(made: Derivation) -> bool:
    return any(len(sources) > 1 for sources in made.sources.values())


def _words(made: Derivation, groups: Sequence[Values], published: str | None) -> str:
    of = published or f"an answer of {len(groups)} groups that you have been shown"
    if _adds_up(made):
        most = max(len(sources) for sources in made.sources.values())
        return f"made of {of}, up to {most} added up"
    if len(made.sources) < len(groups):
        return f"part of {of}"
    return published or "an answer that you have been shown"


def not_derived(parts: Sequence[CachedQuestion], derived: Mapping[int, DerivedBlock]) -> Claimed:
    """The blocks that are to be claimed."""
    return {number: part for number, part in enumerate(parts) if number not in derived}
