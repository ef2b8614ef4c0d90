"""Which answers are worth reading to make a block of: by what is known of them without reading.

Of the same rows many answers may have been shown, and few are read. So those that cannot serve are left out,
and those with the fewest other keys come first: the same question asked again is among the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic
from proxy.reuse.block_question import BlockQuestion
from proxy.reuse.derivation import Slices, UsableAnswer, variance

T = TypeVar("T")


def promising(
    block: BlockPlan,
    question: BlockQuestion,
    candidates: Sequence[tuple[T, UsableAnswer, Slices]],
    accepted: Fraction,
) -> list[tuple[T, UsableAnswer, Slices]]:
    """
    Given    accepted: standard errors may be so many times those of a fresh answer
    """
    found = [
        (len(source.keys), number, (one, source, more))
        for number, (one, source, more) in enumerate(candidates)
        if _has_keys(question, source, more) and _has_releases(block, question, source, accepted)
    ]
    return [candidate for _, _, candidate in sorted(found, key=lambda one: one[:2])]


def _has_keys(question: BlockQuestion, source: UsableAnswer, more: Slices) -> bool:
    names = {key.name for key in source.keys}
    return {*question.key_names, *more.among, *more.without} <= names


def _has_releases(
    block: BlockPlan, question: BlockQuestion, source: UsableAnswer, accepted: Fraction
) -> bool:
    """Added up they are noisier: what is too noisy alone is."""
    noises = {one.name: one.noise for one in source.releases}
    for number, name in zip(question.releases, question.release_names, strict=True):
        release = block.releases[number]
        if name not in noises or not isinstance(release, NoisyStatistic | DistinctCount):
            return False
        if variance(noises[name]) > accepted**2 * variance(release.noise):
            return False
    return True
