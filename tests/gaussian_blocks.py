"""Blocks that are planned with Gaussian noise, and what a top-up asks of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.kernel.plan import BlockPlan, GaussianNoise, NoisyStatistic
from proxy.planner.facts import Values
from proxy.policy.policy_model import Noise
from proxy.reuse.block_question import BlockQuestion, question_of
from proxy.reuse.derivation import UsableAnswer, source_of
from tests.pipeline_world import POLICIES, walk

_GAUSSIAN = POLICIES["gaussian"]


def planned_block(text: str, epsilon: str, noise: Noise = Noise.GAUSSIAN) -> BlockPlan:
    policy = replace(_GAUSSIAN, privacy=replace(_GAUSSIAN.privacy, noise=noise))
    found = walk(text, policy, settings={"dp.epsilon": epsilon})
    assert found is not None
    (block,) = found.plan.blocks
    return block


def sigma2(block: BlockPlan, number: int) -> Fraction:
    """Of a release, by its place."""
    release = block.releases[number]
    assert isinstance(release, NoisyStatistic)
    assert isinstance(release.noise, GaussianNoise)
    return release.noise.sigma2


def question(block: BlockPlan) -> BlockQuestion:
    found = question_of(block)
    assert found is not None
    return found


def source(block: BlockPlan) -> UsableAnswer:
    """An answer to it, whose keys list all that there is."""
    found = source_of(block, question(block), lambda number: True)
    assert found is not None
    return found


def groups(block: BlockPlan) -> list[Values]:
    """Of one key at most."""
    (values, *others) = [key.values or () for key in block.keys] or [()]
    assert not others
    return [(value,) for value in values] if block.keys else [()]
