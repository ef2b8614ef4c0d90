"""Which groups of public keys are shown: those of which a noisy number says that enough units are in them.

Post-processing of what was drawn. The chance that a smaller group is shown is stated (PROOFS.md 32 M2).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from typing_extensions import assert_never

from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    DistinctCount,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
)
from proxy.mechanisms import discrete_gaussian, discrete_laplace
from proxy.planner.series import noise_of_a_step
from proxy.release.drawn_values import DrawnGroup, DrawnNumber
from proxy.release.noisy_relation import NoisyValue, NullReason, missing

MISSED = Fraction(1, 1000)  # of groups with one unit too few, so many are shown at most


def number_needed(block: BlockPlan) -> int | None:
    """So much the noisy number of a group has to be for its answers to be shown. None: nothing is asked for.

    A group whose number is so large is shown half of the time, about.
    """
    gate = block.fewest
    if gate is None:
        return None
    release = block.releases[gate.release]
    if not isinstance(release, NoisyStatistic | DistinctCount):
        raise AssertionError("a number with noise")
    return gate.counted + reach_of(release.noise)


def is_shown(block: BlockPlan, group: DrawnGroup) -> bool:
    """Whether the answers of a group are shown."""
    needed = number_needed(block)
    if block.fewest is None or needed is None:
        return True
    drawn = group.values[block.fewest.release]
    return isinstance(drawn, DrawnNumber) and drawn.index >= needed


def hidden(value: NoisyValue) -> NoisyValue:
    """NULL in place of an answer of a group that is not shown."""
    return replace(missing(value.grid, value.type), null_reason=NullReason.TOO_FEW_UNITS)


@lru_cache(maxsize=256)
def reach_of(noise: Noise) -> int:
    """The noise is above this with probability MISSED at most. One more than floats say.

    >>> reach_of(LaplaceNoise(scale=Fraction(1))), reach_of(GaussianNoise(sigma2=Fraction(1)))
    (7, 4)
    """
    both_sides = 1 - 2 * MISSED
    match noise:
        case LaplaceNoise(scale=scale):
            return discrete_laplace.half_width(scale, both_sides) + 1
        case GaussianNoise(sigma2=sigma2):
            return discrete_gaussian.half_width(sigma2, both_sides) + 1
        case ContinualNoise():
            return reach_of(noise_of_a_step(noise))
        case _:
            assert_never(noise)
