"""The mechanisms that a plan's loss is composed of, as events of the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from proxy.accounting.events import (
    Event,
    dlaplace,
    gaussian,
    gaussian_of_loss,
    mechanism,
    with_present,
)
from proxy.kernel.bound_choices import WeightChoice
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    PrivatePlan,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.mechanisms.loss import NOTHING, Loss


def loss_events(plan: PrivatePlan) -> tuple[Event, ...]:
    """One for each selection of keys and each release; answers are post-processing and have none."""
    return tuple(event for block in plan.blocks for event in block_events(block))


def block_events(block: BlockPlan) -> Iterator[Event]:
    """Give the events of one block as they are charged. Their losses add up to what it may spend.

    Noise of a bound that is chosen is charged by its loss alone: rho of Laplace noise is larger for a smaller
    bound, and the bound is chosen after the charge (PROOFS.md 24, Z5).
    """
    for event in _events(block):
        yield event if block.present is None else with_present(event, block.present)


def _events(block: BlockPlan) -> Iterator[Event]:
    if block.selection is not None:
        yield mechanism(block.selection.loss)
    for choice in block.choices.values():
        if isinstance(choice, WeightChoice):
            yield dlaplace(choice.cells, 1, choice.scale)
            continue
        if not choice.is_given:
            yield mechanism(choice.walk)
        yield dlaplace(choice.report, 2, choice.report_scale)
    for release in block.releases:
        yield _of_any_bound(release) if _is_open(block, release) else _of_release(release)
        if isinstance(release, OrderStatistic | UnitExtreme) and release.interval is not None:
            yield from [mechanism(release.interval.each)] * release.interval.ends
        if isinstance(release, OrderStatistic):
            yield mechanism(release.size.loss)


def block_loss(block: BlockPlan) -> Loss:
    """What the events of a block are of, added up exactly, however they are written."""
    return sum(_losses(block), NOTHING)


def _losses(block: BlockPlan) -> Iterator[Loss]:
    if block.selection is not None:
        yield block.selection.loss
    for choice in block.choices.values():
        if isinstance(choice, WeightChoice):
            yield choice.cells
            continue
        if not choice.is_given:
            yield choice.walk
        yield choice.report
    for release in block.releases:
        match release:
            case NoisyStatistic() | DistinctCount():
                yield _of_noise(release)
            case OrderStatistic() | UnitExtreme():
                yield release.own_loss
                if release.interval is not None:
                    yield from [release.interval.each] * release.interval.ends
                if isinstance(release, OrderStatistic):
                    yield release.size.loss
            case RecentredMean() | DeviationMean() | SampleAggregate() | KeptUnits():
                yield release.loss
            case _:
                assert_never(release)


def _is_open(block: BlockPlan, release: Release) -> bool:
    """Whether the noise of a release follows from a bound that is chosen."""
    if isinstance(release, NoisyStatistic) and release.total is not None:
        return release.choice is not None and not release.choice.is_given
    return block.chooses_rows or bool(block.value_choices)


def _of_any_bound(release: Release) -> Event:
    """An event that costs as much as the noise of any bound, in each currency."""
    if isinstance(release, NoisyStatistic | DistinctCount):
        loss = _of_noise(release)
        if isinstance(release.noise, GaussianNoise):
            return gaussian_of_loss(loss)
        return mechanism(loss)
    return _of_release(release)


def _of_release(release: Release) -> Event:
    match release:
        case NoisyStatistic() | DistinctCount():
            match release.noise:
                case LaplaceNoise():
                    return dlaplace(_of_noise(release), release.sensitivity, release.noise.scale)
                case GaussianNoise():
                    noise = release.noise
                    assert noise.squared is not None, "what is planned says by how much it moves"
                    return gaussian(_of_noise(release), noise.squared, noise.sigma2)
                case _:
                    assert_never(release.noise)
        case OrderStatistic() | UnitExtreme():
            return mechanism(release.own_loss)
        case KeptUnits():
            return dlaplace(release.loss, release.sensitivity, release.noise.scale)
        case RecentredMean() | DeviationMean() | SampleAggregate():
            return mechanism(release.loss)
        case _:
            assert_never(release)


def _of_noise(release: NoisyStatistic | DistinctCount) -> Loss:
    """Without what choosing its bound costs."""
    if isinstance(release, NoisyStatistic):
        return release.noise_loss
    return release.loss
