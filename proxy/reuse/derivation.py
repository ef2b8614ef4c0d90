"""What can be made of an answer that an analyst has been shown: part of its aggregates, some of its groups, and
groups added up over keys that are left out or narrowed. Post-processing, of public numbers alone.

Rows have to be cut alike whatever the groups are, and what is added up has to be all rows: a key is left out
only where the catalogue says that no row has another value than the listed ones. An answer serves only if it is
as exact as a fresh one would be; it is shown with its own error.

Source  docs/design/reuse.md 4
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeVar

from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    DistinctCount,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    Release,
)
from proxy.planner.facts import Values
from proxy.planner.lifting import are_truncated_alike
from proxy.planner.series import noise_of_a_step
from proxy.reuse.block_question import BlockQuestion

_DIGITS = 10**6  # in which the scale of a sum of several is rounded up


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerKey:
    """name: of what it groups by; is_complete: no row has another value than those that are answered."""

    name: str
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRelease:
    """is_additive: the answer about several groups is the sum of theirs."""

    name: str
    noise: Noise
    is_additive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableAnswer:
    """What of an answer can be used; keys and releases in the order of its question."""

    keys: tuple[AnswerKey, ...]
    releases: tuple[AnswerRelease, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Conditions that are no part of a source's question. among: of keys by their names, the values of which
    rows count; without: those of which they do not (None: no value)."""

    among: Mapping[str, frozenset[str | None]]
    without: Mapping[str, frozenset[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """releases: of the source, for each of the block's by number; noises: what the block's then have; sources:
    the source's groups, in the order of its keys, for each group of the block."""

    releases: tuple[int, ...]
    noises: tuple[Noise, ...]
    sources: Mapping[Values, tuple[Values, ...]]

    def variance(self) -> Fraction:
        return sum(map(variance, self.noises), Fraction(0))


def source_of(
    block: BlockPlan, question: BlockQuestion, is_complete: Callable[[int], bool]
) -> UsableAnswer | None:
    """None: nothing is made of its answers.

    Given    is_complete: of a key, by number
    """
    if block.groups() is None or block.choices or not are_truncated_alike(*[block.neighbours] * 2):
        return None
    releases = []
    for number, name in zip(question.releases, question.release_names, strict=True):
        release = block.releases[number]
        if not isinstance(release, NoisyStatistic | DistinctCount):
            return None
        releases.append(
            AnswerRelease(name=name, noise=release.noise, is_additive=_adds_up(release))
        )
    keys = (
        AnswerKey(name=name, is_complete=is_complete(number))
        for number, name in zip(question.keys, question.key_names, strict=True)
    )
    return UsableAnswer(keys=tuple(keys), releases=tuple(releases))


NOTHING_MORE = Slices(among={}, without={})


def derivation(
    block: BlockPlan,
    question: BlockQuestion,
    slices: Slices,
    source: UsableAnswer,
    groups: Sequence[Values],
    accepted: Fraction = Fraction(1),
) -> Derivation | None:
    """
    Given    groups: of the source, in the order of its keys; accepted: standard errors may be so many times
             that of a fresh answer
    Gives    None: the block cannot be answered so, or less exactly than accepted
    """
    found = groups_made_of(block, question, slices, source, groups)
    if found is None:
        return None
    most = max((len(sources) for sources in found.values()), default=1)
    names = dict(zip(question.releases, question.release_names, strict=True))
    releases, noises = [], []
    for number, release in enumerate(block.releases):
        if not isinstance(release, NoisyStatistic | DistinctCount):
            return None
        place = release_called(names[number], release.noise, source)
        if place is None:
            return None
        one = source.releases[place]
        if most > 1 and not one.is_additive:
            return None
        noise = added_up(one.noise, most)
        if type(noise) is not type(release.noise):
            return None
        if variance(noise) > accepted**2 * variance(release.noise):
            return None
        releases.append(place)
        noises.append(noise)
    return Derivation(releases=tuple(releases), noises=tuple(noises), sources=found)


def release_called(name: str, noise: Noise, source: UsableAnswer) -> int | None:
    """The number of the most exact release of that name and kind of noise: where COUNT is Gaussian the number
    of rows of a mean is a release of its own."""
    found = [
        number
        for number, one in enumerate(source.releases)
        if one.name == name and type(one.noise) is type(noise)
    ]
    return min(found, key=lambda number: variance(source.releases[number].noise), default=None)


def variance(noise: Noise) -> Fraction:
    """In squared steps; of the continuous laws, which those on whole steps do not exceed."""
    match noise:
        case LaplaceNoise():
            return 2 * noise.scale**2
        case GaussianNoise():
            return noise.sigma2
        case ContinualNoise():
            return noise_of_a_step(noise).sigma2


def _adds_up(release: Release) -> bool:
    """Whether the answer about all rows is the sum of those about some: not of distinct values."""
    return isinstance(release, NoisyStatistic) and release.total is None


def added_up(noise: Noise, count: int) -> Noise:
    """Of a sum of so many. The interval of Laplace noise of equal variance holds that of the sum, too
    (docs/design/reuse.md 4)."""
    match noise:
        case LaplaceNoise():
            if count == 1:
                return LaplaceNoise(scale=noise.scale)
            square = count * (noise.scale * _DIGITS) ** 2
            return LaplaceNoise(scale=Fraction(math.isqrt(math.ceil(square)) + 1, _DIGITS))
        case GaussianNoise():
            return GaussianNoise(sigma2=count * noise.sigma2)
        case ContinualNoise():
            raise AssertionError("a series is no source")


def groups_made_of(
    block: BlockPlan,
    question: BlockQuestion,
    slices: Slices,
    source: UsableAnswer,
    groups: Sequence[Values],
) -> Mapping[Values, tuple[Values, ...]] | None:
    """Which groups of the source make up each of the block's."""
    if block.choices or block.selection is not None:
        return None
    if not are_truncated_alike(*[block.neighbours] * 2):
        return None
    places = {key.name: place for place, key in enumerate(source.keys)}
    own = dict(zip(question.key_names, question.keys, strict=True))
    if not {*own, *slices.among, *slices.without} <= {*places}:
        return None
    held = [{group[place] for group in groups} for place in range(len(source.keys))]
    for name, place in places.items():
        is_whole = name in own or name in slices.among
        if not is_whole and not source.keys[place].is_complete:
            return None
        if name in slices.among and not slices.among[name] <= held[place]:
            return None
    counted = [group for group in groups if _counts(group, places, slices)]
    by_keys: dict[Values, list[Values]] = {}
    order = [(places[name], number) for name, number in own.items()]
    for group in counted:
        keys: list[str | None] = [None] * len(own)
        for place, number in order:
            keys[number] = group[place]
        by_keys.setdefault(tuple(keys), []).append(group)
    answered = block.combinations
    if answered is None:
        answered = tuple(product(*(key.values or () for key in block.keys)))
    if not all(keys in by_keys for keys in answered):
        return None
    return {keys: tuple(by_keys[keys]) for keys in answered}


def _counts(group: Values, places: Mapping[str, int], slices: Slices) -> bool:
    """Whether rows of a group meet the conditions."""
    among = all(group[places[name]] in texts for name, texts in slices.among.items())
    return among and not any(group[places[name]] in texts for name, texts in slices.without.items())


# Which answers are worth reading to make a block of: by what is known of them without reading.
#
# Of the same rows many answers may have been shown, and few are read. So those that cannot serve are left
# out, and those with the fewest other keys come first: the same question asked again is among the first.


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
