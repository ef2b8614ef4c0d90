"""What the mechanisms of a plan cost one unit, by the theorems alone (docs/design/mechanisms.md 2, 8)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    ContinualNoise,
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
    SmoothedMedian,
    UnitExtreme,
)
from proxy.kernel.sensitivities import sensitivity_of
from proxy.kernel.shape import shape_of
from proxy.mechanisms import clipped_mean
from proxy.mechanisms.loss import Loss
from proxy.release.ordering import order_law
from tests.audit.movement import mean_cost
from tests.audit.reach import Promise, Reach, by_policy


def spent(plan: PrivatePlan, promise: Promise = by_policy) -> Loss:
    total = Loss(Fraction(0), Fraction(0))
    for block in plan.blocks:
        reach = promise(block)
        if block.selection is not None:
            total = total + _of_each(block, block.selection.each, reach)
        for release in block.releases:
            total = total + _of_release(block, release, reach)
    return total


def _of_release(block: BlockPlan, release: Release, reach: Reach) -> Loss:
    match release:
        case NoisyStatistic() | DistinctCount():
            match release.noise:
                case LaplaceNoise():
                    moved = sensitivity_of(release, shape_of(block)).l1
                    return Loss(moved / release.noise.scale, Fraction(0))
                case GaussianNoise() | ContinualNoise():
                    # exact_results._paid compares distances with the rho that this loss allows
                    return release.loss
                case _:
                    assert_never(release.noise)
        case RecentredMean():
            width, rows = release.measured.high - release.measured.low, release.measured.rows
            if width == 0:
                return Loss(Fraction(0), Fraction(0))
            return Loss(mean_cost(release, rows, rows * width), Fraction(0))
        case KeptUnits():
            return Loss(1 / release.noise.scale, Fraction(0))
        case DeviationMean():
            return release.loss  # movement.py compares what is read with all its parts
        case OrderStatistic():
            moved = release.measured.rows if release.weights is None else release.parts
            return Loss(_of_draw(release) + moved / release.size.noise.scale, Fraction(0))
        case UnitExtreme():
            return Loss(_of_draw(release), Fraction(0))
        case SampleAggregate():
            touched = _outputs_touched(block, reach)
            gate = Loss(touched / release.gate.noise.scale, Fraction(0))
            return gate + _of_partitions(block, release, reach)
        case _:
            assert_never(release)


def _of_draw(release: OrderStatistic | UnitExtreme) -> Fraction:
    """Twice the rate, times what a unit changes of a distance."""
    part = release.aggregate.fraction
    rows = release.moved if isinstance(release, OrderStatistic) else release.measured.rows
    each = 1 if part is None else max(part, 1 - part) * part.denominator
    return 2 * order_law(release, Slots(extreme=0, count=1), []).rate * rows * each


def _of_partitions(block: BlockPlan, release: SampleAggregate, reach: Reach) -> Loss:
    match release.mechanism:
        case ClippedMean(changed=changed, loss=loss):
            low, high = release.low, release.high
            scale = clipped_mean.scale(low, high, loss.epsilon, changed)
            return Loss(_outputs_touched(block, reach) * (high - low) / scale, Fraction(0))
        case SmoothedMedian(each=each):
            rows = reach.partitions(block.groups())
            return _of_each(block, each, replace(reach, rows=rows))
        case _:
            assert_never(release.mechanism)


def _outputs_touched(block: BlockPlan, reach: Reach) -> int:
    """How many partition outputs one unit can change, over all groups."""
    if not reach.by_unit:
        return reach.rows
    groups = block.groups()
    return reach.groups if groups is None else min(reach.groups, groups)


def _of_each(block: BlockPlan, each: Loss, reach: Reach) -> Loss:
    """Of a decision or median per group."""
    if not reach.by_unit:  # group privacy of k rows
        k = reach.rows
        growth = Fraction(math.exp((k - 1) * each.epsilon)) if k > 1 else Fraction(1)
        return Loss(k * each.epsilon, k * growth * each.delta)
    touched = _outputs_touched(block, reach)
    left = (1 - each.delta) ** touched  # Kairouz, Oh, Viswanath 2015, theorem 3.3
    return Loss(touched * each.epsilon, 1 - left)
