"""What is to be drawn of a block beside an answer that its analyst has been shown, so that both together are as
exact as was asked for: of each release what is missing (mechanisms.topping_up), of one that is not there all.

By public numbers alone: what is asked for and of what noise the source is, never by what it says.

Source  docs/adr/0077-missing-precision-is-bought.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.kernel.checked_plan import CheckedBlock, check_top_up
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, GaussianNoise, NoisyStatistic
from proxy.kernel.price import Price
from proxy.kernel.sensitivities import sensitivity_of
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.topping_up import missing_sigma2
from proxy.mechanisms.zcdp import epsilon_of_rho
from proxy.planner.facts import Values
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
    """drawn: the block as it is drawn, what needs not be withheld; given: what of the
    source goes into a release, by its number; sources: the source's groups for each of the block's."""

    drawn: CheckedBlock
    given: Mapping[int, GivenRelease]
    sources: Mapping[Values, tuple[Values, ...]]

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """In the order in which sources are preferred: rho, epsilon."""
        return self.drawn.price.rho, self.drawn.price.epsilon


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
    of: CheckedBlock,
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
    block = of.block
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
        topped = None if sigma2 is None else _with_noise(release, sigma2, shape_of(block))
        if topped is not None:
            releases[number] = topped
            given[number] = GivenRelease(place=place, sigma2=noise.sigma2, bought=sigma2)
    ready = frozenset(number for number, one in given.items() if one.bought is None)
    if not given or len(ready) == len(releases):
        return None
    drawn = check_top_up(replace(block, releases=tuple(releases), withheld=ready), world)
    if not _is_cheaper(drawn.price, of.price):
        return None
    return MissingPrecision(drawn=drawn, given=given, sources=made.sources)


def _counts_the_same(block: BlockPlan, slices: Slices, source: UsableAnswer) -> bool:
    """Of units with more rows than count each grouping counts others, and a mean of two such is neither."""
    if isinstance(block.neighbours, RowNeighbours):
        return True
    return slices == NOTHING_MORE and len(source.keys) == len(block.keys)


def _is_cheaper(price: Price, fresh: Price) -> bool:
    """In all that any budget is charged in."""
    return fresh.covers(price) and price.epsilon < fresh.epsilon and price.rho < fresh.rho


def _with_noise(
    release: NoisyStatistic | DistinctCount, sigma2: Fraction, shape: Shape
) -> NoisyStatistic | DistinctCount | None:
    """None: it would cost what it costs whole."""
    squared = sensitivity_of(release, shape).squared
    epsilon = epsilon_of_rho(squared / (2 * sigma2), release.loss.delta)
    if epsilon >= release.loss.epsilon:
        return None
    return replace(
        release,
        noise=GaussianNoise(sigma2=sigma2),
        loss=Loss(epsilon, release.loss.delta),
    )


def _gaussian(release: object) -> GaussianNoise | None:
    if not isinstance(release, NoisyStatistic | DistinctCount):
        return None
    return release.noise if isinstance(release.noise, GaussianNoise) else None
