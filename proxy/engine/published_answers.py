"""Published releases as sources: a query that asks what was published, or what can be made of it, no more
exactly, is answered from it.

Nothing is charged: the shared budget has paid for the release, and everybody may see it. What is answered is a
function of the stored release and the plan alone, and so is which source serves (docs/design/reuse.md 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from itertools import accumulate

from typing_extensions import assert_never

from proxy.drawing.answer_slots import CachedQuestion
from proxy.engine.cached_answers import (
    PER_NUMBER,
    TRIED,
    DerivedBlock,
    derived_block,
    total_variance,
)
from proxy.engine.explain_text import FreeBlock, beyond_bound
from proxy.estimates.series_noise import range_sigma2
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.planner.facts import Values
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.cached_block import CachedBlock, Order, cached_block, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber, ordered_groups
from proxy.release.noisy_values import noise_half_width
from proxy.reuse.day_ranges import DayRanges
from proxy.reuse.derivable import Derivable
from proxy.reuse.derivation import variance
from proxy.turns.threads import Turn

# Blocks that are answered from published days: any range of these, as the sum of its days.
#
# The noise of neighbouring days cancels in their sum, so its variance is that of the sum, not the sum of
# theirs.
#
# Source  docs/design/reuse.md 6, PROOFS.md 33

# What is shown as it is released. Others are made of several releases, by formulas for independent noise.
_ADDED_UP = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.SUM)
_Days = Mapping[Values, tuple[int, int]]


def summed_days(
    text: str,
    source: BlockPlan,
    order: Sequence[int],
    days: DayRanges,
    block: BlockPlan,
    wanted: DayRanges,
    accepted: Fraction,
    as_of: datetime,
    published: str,
) -> DerivedBlock | None:
    """Answer a block from published days.

    Args:
        text: What was released of `source`.
        source: The block of the published statement.
        order: Its releases, as they stand in the text.
        days: Its groups.
        block: What is asked.
        wanted: As it is read.
        accepted: Standard errors may be so many times those of a fresh answer.
        as_of, published: As of DerivedBlock.

    Returns:
        None if it cannot be made of these days, or less exactly than accepted.
    """
    if any(answer.aggregate.kind not in _ADDED_UP for answer in block.answers):
        return None
    ranges = wanted.made_up_of(days)
    if ranges is None:
        return None
    places, noises = [], []
    for number, release in enumerate(block.releases):
        if not isinstance(release, NoisyStatistic) or release.total is not None:
            return None
        best = _best(wanted.names[number], source, days, ranges)
        if best is None or best[1].sigma2 > accepted**2 * variance(release.noise):
            return None
        places.append(order.index(best[0]))
        noises.append(best[1])
    numbers = cached_numbers(text)
    listed = [numbers[keys] for keys in days.stretches]
    totals = [[0, *accumulate(row[place] for row in listed)] for place in places]
    drawn = tuple(
        DrawnGroup(keys, tuple(DrawnNumber(one[end] - one[begin]) for one in totals))
        for keys in ordered_groups(block, ())
        for begin, end in [ranges[keys]]
    )
    return DerivedBlock(
        block=CachedBlock(chosen={}, drawn=DrawnBlock(drawn), noises=tuple(noises)),
        made_of=_words(ranges, source, published),
        variance=sum((noise.sigma2 for noise in noises), Fraction(0)),
        as_of=as_of,
        is_as_shown=False,
        published=published,
    )


def _best(
    name: str, source: BlockPlan, days: DayRanges, ranges: _Days
) -> tuple[int, GaussianNoise] | None:
    """The release of the least noise that measures the same, and its noise in the worst of the ranges."""
    found = []
    latest: dict[int, int] = {}  # by length: of the last of equal ones the noise is most
    for begin, end in ranges.values():
        latest[end - begin] = max(begin, latest.get(end - begin, 0))
    for number, release in enumerate(source.releases):
        if days.names[number] == name and isinstance(release, NoisyStatistic):
            assert isinstance(release.noise, ContinualNoise), "as the kernel has it"
            factor, sigma2 = release.noise.factor, release.noise.sigma2
            worst = max(
                range_sigma2(factor, sigma2, begin, begin + length)
                for length, begin in latest.items()
            )
            found.append((number, GaussianNoise(sigma2=worst)))
    return min(found, key=lambda one: one[1].sigma2, default=None)


def _words(ranges: _Days, source: BlockPlan, published: str) -> str:
    most = max(end - begin for begin, end in ranges.values())
    text = f"made of {published}, {most} days added up"
    units = source.neighbours
    if isinstance(units, UnitNeighbours):
        text += f"; a unit counts on {units.groups} of its days at most"
    return text + beyond_bound(source, "in a fresh answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """One block of a published statement, as it stands. block: of its plan, whose releases say how exact it is;
    order: of its keys and releases in the question; relation: what was drawn (release.cached_block); derivable:
    None where nothing is made of it."""

    name: str
    due: datetime
    released_at: datetime
    question: str
    terms: str
    order: Order
    block: BlockPlan
    relation: str
    derivable: Derivable | None

    @property
    def named(self) -> str:
        return f"published.{self.name} of {self.due:%Y-%m-%d %H:%M} UTC"


class PublishedSources:
    """Those of one database, replaced as a whole when a release is there."""

    def __init__(self) -> None:
        self.sources: tuple[PublishedSource, ...] = ()
        self._by_question: dict[str, list[PublishedSource]] = {}
        self._about: dict[bytes, list[PublishedSource]] = {}

    def replace(self, sources: Sequence[PublishedSource]) -> None:
        by_question: dict[str, list[PublishedSource]] = {}
        about: dict[bytes, list[PublishedSource]] = {}
        for one in sources:
            by_question.setdefault(one.question, []).append(one)
            if one.derivable is not None:
                about.setdefault(one.derivable.about, []).append(one)
        self.sources, self._by_question, self._about = tuple(sources), by_question, about

    async def answers(
        self,
        blocks: Sequence[BlockPlan],
        parts: Sequence[CachedQuestion],
        accepted: Fraction,
        turn: Turn,
    ) -> Mapping[int, DerivedBlock]:
        """By the number of their block, those that are answered from what is published.

        Given    blocks: as they would be drawn, and their questions (CachedAnswers.parts); accepted: what is
                 made of a source may have so many times the standard error of a fresh answer
        """
        found = {}
        for number, (block, part) in enumerate(zip(blocks, parts, strict=True)):
            one = await self._exact(block, part, turn)
            for make in (self._made, self._summed):
                if one is None or one.variance is not None:
                    made = await make(block, part, accepted, turn)
                    is_better = one is None or (made is not None and not one.is_as_exact_as(made))
                    one = made if is_better else one
            if one is not None:
                found[number] = one
        return found

    async def _exact(
        self, block: BlockPlan, part: CachedQuestion, turn: Turn
    ) -> DerivedBlock | None:
        """From the most exact release of the very question."""
        if part.digest is None:
            return None
        best: tuple[Fraction | None, PublishedSource, BlockPlan] | None = None
        for source in self._by_question.get(part.question, ()):
            displayed = _displayed(block, part, source)
            if displayed is None:
                continue
            variance = total_variance(displayed)
            if best is None or (
                variance is not None and best[0] is not None and variance < best[0]
            ):
                best = variance, source, displayed
        if best is None:
            return None
        variance, source, displayed = best
        text = source.relation
        work = len(text) // PER_NUMBER
        cached = await turn.in_thread_if_long(work, cached_block, text, part.order, block)
        releases = () if displayed is block else displayed.releases
        return DerivedBlock(
            block=replace(cached, releases=releases),
            made_of=source.named,
            variance=variance,
            as_of=source.released_at,
            is_as_shown=True,
            published=source.named,
        )

    async def _made(
        self, block: BlockPlan, part: CachedQuestion, accepted: Fraction, turn: Turn
    ) -> DerivedBlock | None:
        """From that of the least noise."""
        if part.derivable is None:
            return None
        candidates = [
            (source, more)
            for about, more in part.derivable.wanted
            for source in self._about.get(about, ())
        ]
        best: DerivedBlock | None = None
        for source, more in candidates[:TRIED]:
            assert source.derivable is not None, "as it is about something"
            answer, text, name = source.derivable.source, source.relation, source.named
            found = await turn.in_thread_if_long(
                len(text) // PER_NUMBER,
                derived_block,
                *(text, block, part.derivable, answer, more, accepted, source.released_at, name),
            )
            if found is not None and (best is None or not best.is_as_exact_as(found)):
                best = found
        return best

    async def _summed(
        self, block: BlockPlan, part: CachedQuestion, accepted: Fraction, turn: Turn
    ) -> DerivedBlock | None:
        """From days that were released at once, that of the least noise."""
        if part.derivable is None:
            return None
        best: DerivedBlock | None = None
        for about, wanted in part.derivable.ranges:
            for source in self._about.get(about, ())[:TRIED]:
                assert source.derivable is not None, "as it is about something"
                ((_, days),) = source.derivable.ranges
                found = await turn.in_thread_if_long(
                    len(source.relation) // PER_NUMBER,
                    summed_days,
                    *(source.relation, source.block, source.order.releases, days, block, wanted),
                    *(accepted, source.released_at, source.named),
                )
                if found is not None and (best is None or not best.is_as_exact_as(found)):
                    best = found
        return best


def best_of(
    published: Mapping[int, DerivedBlock], others: Mapping[int, DerivedBlock]
) -> Mapping[int, DerivedBlock]:
    """By block that of less noise; of equally noisy ones what is published."""
    found = dict(others)
    for number, one in published.items():
        if number not in found or one.is_as_exact_as(found[number]):
            found[number] = one
    return found


def published_names(blocks: Mapping[int, DerivedBlock]) -> tuple[str, ...]:
    found = (blocks[number].published for number in sorted(blocks))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def free_blocks(derived: Mapping[int, DerivedBlock]) -> Mapping[int, FreeBlock]:
    """As EXPLAIN says it."""
    return {
        number: FreeBlock(
            made_of=block.made_of,
            setting="dp.fresh" if block.published is None else "dp.published = off",
            source=block.source,
            shown=block.block,
        )
        for number, block in derived.items()
    }


def _displayed(block: BlockPlan, part: CachedQuestion, source: PublishedSource) -> BlockPlan | None:
    """The block with the releases of its source; None where these are less exact than its own."""
    if part.terms == source.terms:
        return block
    if block.choices or block.sub_partitions or source.block.sub_partitions:
        return None
    releases = list(block.releases)
    for own, other in zip(part.order.releases, source.order.releases, strict=True):
        given = source.block.releases[other]
        if not is_as_exact(given, block.releases[own]):
            return None
        releases[own] = replace(given, aggregate=block.releases[own].aggregate)
    return replace(block, releases=tuple(releases))


def is_as_exact(given: Release, wanted: Release) -> bool:
    """Whether an answer of one release is at least as exact as one of another of the same question would be."""
    match wanted:
        case NoisyStatistic() | DistinctCount():
            assert isinstance(given, NoisyStatistic | DistinctCount), "of another question"
            return _is_at_most(given.noise, wanted.noise)
        case RecentredMean() | DeviationMean():
            return given.loss.epsilon >= wanted.loss.epsilon
        case KeptUnits():
            assert isinstance(given, KeptUnits), "of another question"
            return _is_at_most(given.noise, wanted.noise)
        case OrderStatistic() | UnitExtreme():
            assert isinstance(given, type(wanted)), "of another question"
            is_as_exact = given.own_loss.epsilon >= wanted.own_loss.epsilon
            return is_as_exact and _has_as_exact_size(given, wanted)
        case SampleAggregate():
            return replace(given, aggregate=wanted.aggregate) == wanted
        case _:
            assert_never(wanted)


def _has_as_exact_size(given: Release, wanted: Release) -> bool:
    if isinstance(wanted, OrderStatistic) and isinstance(given, OrderStatistic):
        return _is_at_most(given.size.noise, wanted.size.noise)
    return True


def _is_at_most(noise: Noise, other: Noise) -> bool:
    match noise, other:
        case LaplaceNoise(), LaplaceNoise():
            return noise.scale <= other.scale
        case GaussianNoise(), GaussianNoise():
            return noise.sigma2 <= other.sigma2
        case _:
            return noise_half_width(noise) <= noise_half_width(other)
