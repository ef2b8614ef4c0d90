"""Blocks that are made of several answers (reuse/combination.py): of those that their analyst has been shown in
the same slot, or of published releases of one time. Nothing is read but the ledger.

Source  docs/design/reuse.md 4; ADR 0076
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from proxy.engine.cached_answers import CachedLedger, CachedQuestion, Unfinished
from proxy.engine.derived_answers import TRIED, DerivedBlock
from proxy.engine.published_answers import PublishedSources
from proxy.engine.threads import beside
from proxy.planner.neighbour_kinds import RowNeighbours
from proxy.planner.plan import BlockPlan
from proxy.release.adding_noise import ordered_groups
from proxy.release.cached_block import CachedBlock, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.reuse.combination import Combination, KnownAnswer, WantedAnswer, combination
from proxy.reuse.derivable import Derivable, source_from
from proxy.reuse.derivation import UsableAnswer

_PER_NUMBER = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """An answer as it is stored. name: of the published table that it is; None: it was shown."""

    about: bytes
    answer: UsableAnswer
    text: str
    name: str | None


async def combined_blocks(
    ledger: CachedLedger | None,
    analyst: str,
    published: PublishedSources | None,
    blocks: Sequence[BlockPlan],
    parts: Sequence[CachedQuestion],
    found: Mapping[int, DerivedBlock],
    accepted: Fraction,
) -> Mapping[int, DerivedBlock]:
    """By the number of their block, those that are answered so more exactly than they have been found.

    Given    ledger, published: None where what it has is not looked at; found: what costs nothing already;
             accepted: standard errors may be so many times those of a fresh answer
    """
    open_ = {
        number: (blocks[number], part.derivable)
        for number, part in enumerate(parts)
        if part.derivable is not None
        and part.derivable.is_combined
        and (number not in found or found[number].is_added_up)
    }
    better: dict[int, DerivedBlock] = {}
    displayed: Mapping[bytes, Sequence[_Text]] = {}
    if ledger is not None and open_:
        displayed = await _displayed(ledger, analyst, [wanted for _, wanted in open_.values()])
    for number, (block, wanted) in open_.items():
        best = found.get(number)
        for texts in (*_published(published, wanted).values(), *_each(displayed, wanted)):
            made = await _combined(block, wanted, texts, accepted)
            if made is not None and (best is None or not best.is_as_exact_as(made)):
                better[number] = best = made
    return better


async def _displayed(
    ledger: CachedLedger, analyst: str, wanted: Sequence[Derivable]
) -> Mapping[bytes, Sequence[_Text]]:
    """The latest of each, by what rows they are about. An answer is read once."""
    abouts = dict.fromkeys(about for one in wanted for about in one.all_wanted)
    found: dict[bytes, list[_Text]] = {about: [] for about in abouts}
    for paid in await ledger.paid_about(analyst, tuple(abouts)):
        texts = found[paid.about]
        if len(texts) == TRIED:
            continue
        try:
            text = await ledger.relation_of(paid.cached)
        except Unfinished:
            continue
        if text is not None:
            answer = source_from(paid.made)
            texts.append(_Text(about=paid.about, answer=answer, text=text, name=None))
    return found


def _each(
    displayed: Mapping[bytes, Sequence[_Text]], wanted: Derivable
) -> Iterator[Sequence[_Text]]:
    """Each by itself: rows may have come and gone between two statements, and what is left of two such states,
    or their quotient, is of neither."""
    for about in dict.fromkeys(wanted.all_wanted):
        for text in displayed.get(about, ()):
            yield [text]


def _published(
    published: PublishedSources | None, wanted: Derivable
) -> Mapping[datetime | None, Sequence[_Text]]:
    """By their time: what was released at another tells of other rows."""
    found: dict[datetime | None, list[_Text]] = {}
    abouts = {*wanted.all_wanted}
    for source in () if published is None else published.sources:
        made = source.derivable
        if made is not None and made.about in abouts and len(found.get(source.due, ())) < TRIED:
            text = _Text(
                about=made.about, answer=made.source, text=source.relation, name=source.named
            )
            found.setdefault(source.due, []).append(text)
    return found


async def _combined(
    block: BlockPlan, wanted: Derivable, texts: Sequence[_Text], accepted: Fraction
) -> DerivedBlock | None:
    if not isinstance(block.neighbours, RowNeighbours):
        # Of units with more rows than count each condition and each grouping counts others.
        keys = len(block.keys)
        texts = [one for one in texts if one.about == wanted.about and len(one.answer.keys) == keys]
    if not texts:
        return None
    work = sum(len(one.text) for one in texts) // _PER_NUMBER
    return await beside(work, _combined_block, block, wanted, texts, accepted)


def _combined_block(
    block: BlockPlan, wanted: Derivable, texts: Sequence[_Text], accepted: Fraction
) -> DerivedBlock | None:
    sources = [
        KnownAnswer(about=one.about, answer=one.answer, numbers=cached_numbers(one.text))
        for one in texts
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
    names = dict.fromkeys(name for one in made.used if (name := texts[one].name) is not None)
    return DerivedBlock(
        block=CachedBlock(chosen={}, drawn=DrawnBlock(tuple(groups)), noises=made.noises),
        made_of=_words(made, [*names]),
        variance=made.variance(),
        published=", ".join(names) or None,
    )


def _words(made: Combination, names: Sequence[str]) -> str:
    """Of which all are published, or none."""
    of = " and ".join(names)
    if not names:
        several = f"{len(made.used)} answers" if len(made.used) > 1 else "an answer"
        of = f"{several} that you have been shown"
    return (
        f"the rest of {of}, some groups taken away from others" if made.is_rest else f"made of {of}"
    )
