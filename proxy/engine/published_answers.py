"""Published releases as sources: a query that asks what was published, no more exactly, is answered from it.

Nothing is charged: the shared budget has paid for the release, and everybody may see it. What is answered is a
function of the stored release alone (docs/design/reuse.md 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from typing_extensions import assert_never

from proxy.engine.answer_accuracy import accuracies
from proxy.engine.cached_answers import CachedQuestion
from proxy.engine.noisy_answers import NoisyAnswer, noisy_relation
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.remembered_plans import PreparedQuery
from proxy.engine.threads import beside
from proxy.mechanisms import discrete_gaussian, discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import NOTHING
from proxy.planner.plan import (
    BlockPlan,
    DistinctCount,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    PrivatePlan,
    RankInterval,
    RecentredMean,
    Release,
    SampleAggregate,
)
from proxy.release.cached_block import CachedBlock, Order, cached_block

_PER_NUMBER = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """One block of a published statement, as it stands. block: of its plan, whose releases say how exact it is;
    order: of its keys and releases in the question; relation: what was drawn (release.cached_block)."""

    name: str
    due: datetime
    released_at: datetime
    question: str
    terms: str
    order: Order
    block: BlockPlan
    relation: str

    @property
    def said(self) -> str:
        return f"published.{self.name} of {self.due:%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBlock:
    """A block of a query, shown as exactly as its source is."""

    block: BlockPlan
    order: Order
    source: PublishedSource


class PublishedSources:
    """Those of one database, replaced as a whole when a release is there."""

    def __init__(self) -> None:
        self.sources: tuple[PublishedSource, ...] = ()
        self._by_question: dict[str, list[PublishedSource]] = {}

    def replace(self, sources: Sequence[PublishedSource]) -> None:
        found: dict[str, list[PublishedSource]] = {}
        for one in sources:
            found.setdefault(one.question, []).append(one)
        self.sources, self._by_question = tuple(sources), found

    def found(
        self, private: PrivatePlan, parts: Sequence[CachedQuestion] | None
    ) -> tuple[FoundBlock, ...] | None:
        """
        Given    a plan, and its questions (CachedAnswers.parts)
        Gives    a source for each of its blocks; None where one has none
        """
        if parts is None or not private.blocks:
            return None
        found = []
        for block, part in zip(private.blocks, parts, strict=True):
            one = self._source(block, part)
            if one is None:
                return None
            found.append(one)
        return tuple(found)

    def _source(self, block: BlockPlan, part: CachedQuestion) -> FoundBlock | None:
        if part.digest is None:
            return None
        for source in self._by_question.get(part.question, ()):
            displayed = _displayed(block, part, source)
            if displayed is not None:
                return FoundBlock(block=displayed, order=part.order, source=source)
        return None


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
        case RecentredMean():
            return given.loss.epsilon >= wanted.loss.epsilon
        case OrderStatistic():
            assert isinstance(given, OrderStatistic), "of another question"
            return given.own_loss.epsilon >= wanted.own_loss.epsilon and _is_interval(
                given.interval, wanted.interval
            )
        case SampleAggregate():
            return replace(given, aggregate=wanted.aggregate) == wanted
        case _:
            assert_never(wanted)


def _is_interval(given: RankInterval | None, wanted: RankInterval | None) -> bool:
    if wanted is None or given is None:
        return wanted is None
    return given.level >= wanted.level and given.each.epsilon >= wanted.each.epsilon


def _is_at_most(noise: Noise, other: Noise) -> bool:
    match noise, other:
        case LaplaceNoise(), LaplaceNoise():
            return noise.scale <= other.scale
        case GaussianNoise(), GaussianNoise():
            return noise.sigma2 <= other.sigma2
        case _:
            return _half_width(noise) <= _half_width(other)


def _half_width(noise: Noise) -> int:
    if isinstance(noise, LaplaceNoise):
        return discrete_laplace.half_width(noise.scale)
    return discrete_gaussian.half_width(noise.sigma2)


class _PublishedBlocks:
    """A BlockStore of which each block stands."""

    def __init__(self, found: Sequence[FoundBlock]) -> None:
        self._found = found

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock:
        one = self._found[number]
        text = one.source.relation
        return await beside(len(text) // _PER_NUMBER, cached_block, text, one.order, block)

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        raise AssertionError("nothing is drawn for what is published")


async def published_answer(
    question: ProtectedQuery,
    prepared: PreparedQuery,
    found: Sequence[FoundBlock],
    bits: RandomBits,
) -> NoisyAnswer:
    """Reads nothing, charges nothing."""
    private = replace(prepared.private, blocks=tuple(one.block for one in found))
    relation = await noisy_relation(
        question,
        private,
        prepared.bounded,
        prepared.compiled,
        None,
        {},
        bits,
        _PublishedBlocks(found),
    )
    return NoisyAnswer(
        relation.json,
        NOTHING,
        None,
        None,
        accuracies(relation.plan),
        prepared.settings.notice,
        relation.withheld,
        relation.columns,
        relation.clipped,
        said_of(found),
    )


def said_of(found: Sequence[FoundBlock]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.source.said for one in found))
