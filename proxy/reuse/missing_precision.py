"""What is to be drawn of a block beside an answer that its analyst has been shown, so that both together are as
exact as was asked for: of each release what is missing (mechanisms.topping_up), of one that is not there all.

By public numbers alone: what is asked for and of what noise the source is, never by what it says.

Source  docs/adr/0077-missing-precision-is-bought.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.accounting.events import Event
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, GaussianNoise, NoisyStatistic
from proxy.kernel.plan_check import check_top_up
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.topping_up import missing_sigma2
from proxy.mechanisms.zcdp import epsilon_of_rho
from proxy.planner.facts import Values
from proxy.planner.loss_events import block_events, block_loss
from proxy.reuse.block_question import BlockQuestion
from proxy.reuse.derivation import NOTHING_MORE, Slices, UsableAnswer, derivation

_ANY_ERROR = Fraction(10**12)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRelease:
    """place: in the source's order; sigma2: of the sum of so many groups as are added up; bought: the sigma2 of
    what is drawn beside it, None: it is exact enough."""

    place: int
    sigma2: Fraction
    bought: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPrecision:
    """drawn: the block as it is drawn, what needs not be withheld; loss, events: of that; given: what of the
    source goes into a release, by its number; sources: the source's groups for each of the block's."""

    drawn: BlockPlan
    loss: Loss
    events: tuple[Event, ...]
    given: Mapping[int, GivenRelease]
    sources: Mapping[Values, tuple[Values, ...]]

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """In the order in which sources are preferred: rho, epsilon."""
        return rho(self.events), self.loss.epsilon


def rho(events: Sequence[Event]) -> Fraction:
    return sum((Fraction(str(event["rho"])) for event in events), Fraction(0))


def can_be_topped_up(block: BlockPlan) -> bool:
    """Whether all that it releases are sums and counts with Gaussian noise."""
    return (
        bool(block.releases)
        and not block.choices
        and block.selection is None
        and not block.sub_partitions
        and all(_gaussian(release) is not None for release in block.releases)
    )


def missing_precision(
    block: BlockPlan,
    question: BlockQuestion,
    slices: Slices,
    source: UsableAnswer,
    groups: Sequence[Values],
    world: World,
) -> MissingPrecision | None:
    """
    Given    as of reuse.derivation
    Gives    None: the source is no help, or what is missing is not cheaper in each of epsilon, delta and rho
    Refuses  NotPrivate: the kernel does not let through what would be drawn
    """
    if not can_be_topped_up(block) or not _counts_the_same(block, slices, source):
        return None
    names = {one.name for one in source.releases}
    order = zip(question.releases, question.release_names, strict=True)
    held = [(number, name) for number, name in order if name in names]
    part = replace(block, releases=tuple(block.releases[number] for number, _ in held))
    request = replace(
        question, releases=tuple(range(len(held))), release_names=tuple(name for _, name in held)
    )
    made = derivation(part, request, slices, source, groups, _ANY_ERROR)
    if made is None:
        return None
    releases, given = list(block.releases), dict[int, GivenRelease]()
    for (number, _), place, noise in zip(held, made.releases, made.noises, strict=True):
        assert isinstance(noise, GaussianNoise), "as the block's is"
        wanted = _gaussian(block.releases[number])
        assert wanted is not None
        if noise.sigma2 <= wanted.sigma2:
            given[number] = GivenRelease(place=place, sigma2=noise.sigma2, bought=None)
            continue
        sigma2, release = missing_sigma2(wanted.sigma2, noise.sigma2), block.releases[number]
        assert isinstance(release, NoisyStatistic | DistinctCount), "it has Gaussian noise"
        topped = None if sigma2 is None else _with_noise(release, sigma2)
        if topped is not None:
            releases[number] = topped
            given[number] = GivenRelease(place=place, sigma2=noise.sigma2, bought=sigma2)
    ready = frozenset(number for number, one in given.items() if one.bought is None)
    bought = tuple(one for number, one in enumerate(releases) if number not in ready)
    if not given or not bought:
        return None
    priced = replace(block, releases=bought)
    loss, events = block_loss(priced), tuple(block_events(priced))
    if not _is_cheaper(loss, events, block):
        return None
    drawn = replace(block, releases=tuple(releases), withheld=ready)
    check_top_up(drawn, events, world)
    return MissingPrecision(
        drawn=drawn,
        loss=loss,
        events=events,
        given=given,
        sources=made.sources,
    )


def _counts_the_same(block: BlockPlan, slices: Slices, source: UsableAnswer) -> bool:
    """Of units with more rows than count each grouping counts others, and a mean of two such is neither."""
    if isinstance(block.neighbours, RowNeighbours):
        return True
    return slices == NOTHING_MORE and len(source.keys) == len(block.keys)


def _is_cheaper(loss: Loss, events: Sequence[Event], block: BlockPlan) -> bool:
    """In all that any budget is charged in."""
    fresh = block_loss(block)
    return (
        loss.epsilon < fresh.epsilon
        and loss.delta <= fresh.delta
        and rho(events) < rho(tuple(block_events(block)))
    )


def _with_noise(
    release: NoisyStatistic | DistinctCount, sigma2: Fraction
) -> NoisyStatistic | DistinctCount | None:
    """None: it would cost what it costs whole."""
    noise = _gaussian(release)
    assert noise is not None and noise.squared is not None, (
        "what is planned says by how much it moves"
    )
    epsilon = epsilon_of_rho(noise.squared / (2 * sigma2), release.loss.delta)
    if epsilon >= release.loss.epsilon:
        return None
    return replace(
        release,
        noise=GaussianNoise(sigma2=sigma2, squared=noise.squared),
        loss=Loss(epsilon, release.loss.delta),
    )


def _gaussian(release: object) -> GaussianNoise | None:
    if not isinstance(release, NoisyStatistic | DistinctCount):
        return None
    return release.noise if isinstance(release.noise, GaussianNoise) else None
