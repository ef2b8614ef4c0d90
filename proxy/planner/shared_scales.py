"""The noise of what an answer is calculated from."""

from __future__ import annotations

from fractions import Fraction

from proxy.kernel.plan import Answer, BlockPlan, LaplaceNoise, NoisyStatistic, Release


def scales_of(plan: BlockPlan, answer: Answer) -> tuple[Fraction, ...]:
    """The scales of the noisy sums that an answer is made of: Laplace noise always
    (planner/release_choice.py)."""
    return tuple(_scale(plan.releases[number]) for number in answer.releases)


def _scale(release: Release) -> Fraction:
    assert isinstance(release, NoisyStatistic)
    assert isinstance(release.noise, LaplaceNoise)
    return release.noise.scale
