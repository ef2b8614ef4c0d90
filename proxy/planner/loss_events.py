"""The mechanisms that a plan's loss is composed of, as events of the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from proxy.accounting.events import Event, dlaplace, gaussian, mechanism
from proxy.planner.plan import (
    BlockPlan,
    ClippedMean,
    FromMoments,
    GaussianNoise,
    LaplaceNoise,
    NoisyCount,
    NoisyDistinct,
    NoisyMean,
    NoisyMoment,
    NoisySum,
    NoisyVariance,
    OrderStatistic,
    PrivatePlan,
    Release,
    Same,
    SmoothedMedian,
)


def loss_events(plan: PrivatePlan) -> tuple[Event, ...]:
    """One for each selection of keys and each release that draws noise; post-processing has none."""
    return tuple(event for block in plan.blocks for event in _of_block(block))


def _of_block(block: BlockPlan) -> Iterator[Event]:
    if block.selection is not None:
        yield mechanism(block.selection.loss)
    for release in block.releases:
        yield from _of_release(release)


def _of_release(release: Release) -> Iterator[Event]:
    match release:
        case NoisyCount() | NoisyDistinct() | NoisySum() | NoisyMoment():
            match release.noise:
                case LaplaceNoise():
                    yield dlaplace(release.loss, release.sensitivity, release.noise.scale)
                case GaussianNoise():
                    yield gaussian(release.loss, release.noise.sigma2)
                case _:
                    assert_never(release.noise)
        case NoisyMean() | NoisyVariance() | OrderStatistic() | SmoothedMedian() | ClippedMean():
            yield mechanism(release.loss)
        case FromMoments() | Same():
            return
        case _:
            assert_never(release)
