"""Blocks that are made of several published releases of one time (reuse/combination.py). What an analyst has
been shown is not put together: nobody knows of which states of the data two answers of a slot are.

Source  docs/design/reuse.md 4; ADR 0076
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from fractions import Fraction

from proxy.drawing.answer_slots import CachedQuestion
from proxy.engine.derived_answers import PER_NUMBER, TRIED, DerivedBlock
from proxy.engine.published_answers import PublishedSource, PublishedSources
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.release.cached_block import CachedBlock, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber, ordered_groups
from proxy.reuse.combination import Combination, KnownAnswer, WantedAnswer, combination
from proxy.reuse.derivable import Derivable
from proxy.turns.threads import beside


async def combined_releases(
    published: PublishedSources,
    blocks: Sequence[BlockPlan],
    parts: Sequence[CachedQuestion],
    found: Mapping[int, DerivedBlock],
    accepted: Fraction,
) -> Mapping[int, DerivedBlock]:
    """By the number of their block, those that are answered so more exactly than they have been found.

    Given    found: what costs nothing already;
             accepted: standard errors may be so many times those of a fresh answer
    """
    better: dict[int, DerivedBlock] = {}
    for number, part in enumerate(parts):
        wanted, best = part.derivable, found.get(number)
        if wanted is None or not wanted.is_combined or not (best is None or best.is_added_up):
            continue
        for releases in _by_time(published, wanted, blocks[number]):
            work = sum(len(one.relation) for one in releases) // PER_NUMBER
            made = await beside(work, _combined, blocks[number], wanted, releases, accepted)
            if made is not None and (best is None or not best.is_as_exact_as(made)):
                better[number] = best = made
    return better


def _by_time(
    published: PublishedSources, wanted: Derivable, block: BlockPlan
) -> Collection[Sequence[PublishedSource]]:
    """What could be put together: of another time it tells of other rows."""
    abouts, keys = {*wanted.all_wanted}, None
    if not isinstance(block.neighbours, RowNeighbours):
        # Of units with more rows than count each condition and each grouping counts others.
        abouts, keys = {wanted.about}, len(block.keys)
    found: dict[datetime, list[PublishedSource]] = {}
    for source in published.sources:
        made = source.derivable
        if made is None or made.about not in abouts or len(found.get(source.due, ())) == TRIED:
            continue
        if keys is None or len(made.source.keys) == keys:
            found.setdefault(source.due, []).append(source)
    return found.values()


def _combined(
    block: BlockPlan, wanted: Derivable, releases: Sequence[PublishedSource], accepted: Fraction
) -> DerivedBlock | None:
    sources = [
        KnownAnswer(about=own.about, answer=own.source, numbers=cached_numbers(one.relation))
        for one in releases
        if (own := one.derivable) is not None
    ]
    answer = WantedAnswer(
        question=wanted.question,
        about=wanted.wanted,
        rests=wanted.rests,
        never_null=wanted.never_null,
    )
    made = combination(block, answer, sources, accepted)
    if made is None:
        return None
    groups = (
        DrawnGroup(keys, tuple(map(DrawnNumber, made.values[keys])))
        for keys in ordered_groups(block, ())
    )
    names = [*dict.fromkeys(releases[one].named for one in made.used)]
    return DerivedBlock(
        block=CachedBlock(chosen={}, drawn=DrawnBlock(tuple(groups)), noises=made.noises),
        made_of=_words(made, names),
        variance=made.variance(),
        published=", ".join(names),
    )


def _words(made: Combination, names: Sequence[str]) -> str:
    of = " and ".join(names)
    return (
        f"the rest of {of}, some groups taken away from others" if made.is_rest else f"made of {of}"
    )
