"""What can be made of several answers of one state of the data: each sum and count of the one that tells it
best (so AVG, of a SUM and a COUNT of two), and what is left of all rows where some are taken away.

A number is a sum of cells of sources, each so many times. A cell that is added and taken away again is gone,
and its noise with it; cells of distinct releases, and distinct cells of one, have noise of their own.

Rows are taken away where each row of the smaller is one of the larger, and the rest is what is asked for, in
three-valued logic: a condition that is NULL is in neither, so that it must not be.

Source  docs/design/reuse.md 4; ADR 0076
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from proxy.kernel.plan import (
    BlockPlan,
    DistinctCount,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
)
from proxy.planner.facts import Values
from proxy.reuse.block_question import BlockQuestion
from proxy.reuse.derivation import (
    NOTHING_MORE,
    Slices,
    UsableAnswer,
    groups_made_of,
    release_called,
    variance,
)

_DIGITS = 10**6  # in which a scale is rounded up
_WORK = 3_000_000  # cells that are looked at for one block, some seconds: of more nothing is made


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Of a block with a condition that is never NULL, by the names of what rows: whole: without it; less: where
    it is not so."""

    whole: bytes
    less: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAnswer:
    """Of a block: of which rows sources may be (Derivable.wanted); rests; never_null: names of columns that it
    compares and that have a value in each row."""

    question: BlockQuestion
    about: tuple[tuple[bytes, Slices], ...]
    rests: tuple[Rest, ...] = ()
    never_null: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """numbers: by group, in the order of its keys and releases."""

    about: bytes
    answer: UsableAnswer
    numbers: Mapping[Values, tuple[int, ...]]


_Term = tuple[int, int, Values]  # a source, its release, its group
_Terms = Mapping[
    Values, Mapping[_Term, int]
]  # by the block's group: how many times each cell counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """noises: of the block's releases; values: by group, in the order of the releases; used: sources, by
    number; is_rest: whether anything is taken away."""

    noises: tuple[Noise, ...]
    values: Mapping[Values, tuple[int, ...]]
    used: tuple[int, ...]
    is_rest: bool

    def variance(self) -> Fraction:
        return sum(map(variance, self.noises), Fraction(0))


def combination(
    block: BlockPlan,
    wanted: WantedAnswer,
    sources: Sequence[KnownAnswer],
    accepted: Fraction = Fraction(1),
) -> Combination | None:
    """
    Given    accepted: standard errors may be so many times that of a fresh answer
    Gives    that of the least noise; None: the block cannot be answered so, or less exactly than accepted
    """
    if _work(block, wanted, sources) > _WORK:
        return None
    making = _Making(block=block, wanted=wanted, sources=sources)
    names = dict(zip(wanted.question.releases, wanted.question.release_names, strict=True))
    found: list[_Made] = []
    for number, release in enumerate(block.releases):
        if not isinstance(release, NoisyStatistic | DistinctCount):
            return None
        best = min(
            making.ways(names[number], release.noise),
            key=lambda made: variance(made.noise),
            default=None,
        )
        if best is None or variance(best.noise) > accepted**2 * variance(release.noise):
            return None
        found.append(best)
    if not found:
        return None
    used = {cell[0] for made in found for terms in made.terms.values() for cell in terms}
    return Combination(
        noises=tuple(made.noise for made in found),
        values={
            group: tuple(_added_up(made.terms[group], sources) for made in found)
            for group in found[0].terms
        },
        used=tuple(sorted(used)),
        is_rest=any(
            count < 0 for made in found for terms in made.terms.values() for count in terms.values()
        ),
    )


def _work(block: BlockPlan, wanted: WantedAnswer, sources: Sequence[KnownAnswer]) -> int:
    """At most, by public numbers."""
    compared = sum(len(slices.among) + len(slices.without) for _, slices in wanted.about)
    ways = 1 + 2 * (compared + len(wanted.rests))
    return sum(len(one.numbers) for one in sources) * ways * len(block.releases)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    terms: _Terms
    noise: Noise


@dataclass(slots=True, kw_only=True)
class _Making:
    block: BlockPlan
    wanted: WantedAnswer
    sources: Sequence[KnownAnswer]
    # By source and conditions: which of its groups make up the block's.
    known: dict[tuple[int, object], Mapping[Values, tuple[Values, ...]] | None] = field(
        default_factory=dict
    )

    def ways(self, name: str, noise: Noise) -> Iterator[_Made]:
        """To tell one release, each the best of its kind."""
        for about, slices in self.wanted.about:
            yield from self._best(self._direct(about, slices, name, noise))
            for whole, less in self._splits(slices):
                yield from self._less(
                    self._best(self._direct(about, whole, name, noise)),
                    self._best(self._among(about, less, name, noise)),
                )
        for rest in self.wanted.rests:
            yield from self._less(
                self._best(self._direct(rest.whole, NOTHING_MORE, name, noise)),
                self._best(self._direct(rest.less, NOTHING_MORE, name, noise)),
            )

    def _splits(self, slices: Slices) -> Iterator[tuple[Slices, _Less]]:
        """Conditions without one of them, and what that leaves out."""
        own = {*self.wanted.question.key_names}
        for name in sorted({*slices.among} ^ {*slices.without}):
            if name in own:
                continue
            whole = Slices(among=_but(slices.among, name), without=_but(slices.without, name))
            if name in slices.among:
                yield whole, _Less(whole=whole, key=name, others=slices.among[name])
                continue
            texts = slices.without[name]
            if name in self.wanted.never_null:
                texts -= {None}
            yield whole, _Less(whole=whole, key=name, texts=texts)

    def _direct(self, about: bytes, slices: Slices, name: str, noise: Noise) -> Iterator[_Made]:
        for number, source in enumerate(self.sources):
            if source.about == about:
                yield from self._of_source(number, slices, name, noise)

    def _among(self, about: bytes, less: _Less, name: str, noise: Noise) -> Iterator[_Made]:
        for number, source in enumerate(self.sources):
            if source.about != about:
                continue
            slices = less.slices(source)
            if slices is not None:
                yield from self._of_source(number, slices, name, noise)

    def _of_source(self, number: int, slices: Slices, name: str, noise: Noise) -> Iterator[_Made]:
        source = self.sources[number]
        place = release_called(name, noise, source.answer)
        made = None if place is None else self._groups(number, slices)
        if place is None or made is None:
            return
        if not source.answer.releases[place].is_additive and any(
            len(groups) > 1 for groups in made.values()
        ):
            return
        terms = {
            keys: {(number, place, group): 1 for group in groups} for keys, groups in made.items()
        }
        yield self._made(terms)

    def _groups(self, number: int, slices: Slices) -> Mapping[Values, tuple[Values, ...]] | None:
        key = number, (tuple(sorted(slices.among.items())), tuple(sorted(slices.without.items())))
        if key not in self.known:
            source = self.sources[number]
            question, groups = self.wanted.question, tuple(source.numbers)
            self.known[key] = groups_made_of(self.block, question, slices, source.answer, groups)
        return self.known[key]

    def _less(self, wholes: Iterator[_Made], lesses: Iterator[_Made]) -> Iterator[_Made]:
        """What adds up, without some of it."""
        less = list(lesses)
        for whole in wholes:
            for part in less:
                if not (self._is_additive(whole) and self._is_additive(part)):
                    continue
                terms = {
                    keys: _without(whole.terms[keys], part.terms[keys]) for keys in whole.terms
                }
                if all(terms.values()):  # else no noise is left that could be stated
                    yield self._made(terms)

    def _is_additive(self, made: _Made) -> bool:
        return all(
            self.sources[source].answer.releases[place].is_additive
            for terms in made.terms.values()
            for source, place, _ in terms
        )

    def _made(self, terms: _Terms) -> _Made:
        return _Made(terms=terms, noise=_noise(terms, self.sources))

    @staticmethod
    def _best(made: Iterator[_Made]) -> Iterator[_Made]:
        best = min(made, key=lambda one: variance(one.noise), default=None)
        if best is not None:
            yield best


@dataclass(frozen=True, slots=True, kw_only=True)
class _Less:
    """The rows of `whole` that are taken away: those with some texts of a key; others: with none of them, of a
    source that has all values of the key."""

    whole: Slices
    key: str
    texts: frozenset[str | None] = frozenset()
    others: frozenset[str | None] | None = None

    def slices(self, source: KnownAnswer) -> Slices | None:
        places = [n for n, key in enumerate(source.answer.keys) if key.name == self.key]
        if not places:
            return None
        texts = self.texts
        if self.others is not None:
            (place,) = places
            if not source.answer.keys[place].is_complete:
                return None
            texts = frozenset(group[place] for group in source.numbers) - self.others
        if not texts:
            return None
        return replace(self.whole, among={**self.whole.among, self.key: texts})


def _but(of: Mapping[str, frozenset[str | None]], name: str) -> Mapping[str, frozenset[str | None]]:
    return {one: texts for one, texts in of.items() if one != name}


def _without(whole: Mapping[_Term, int], part: Mapping[_Term, int]) -> Mapping[_Term, int]:
    found = dict(whole)
    for cell, count in part.items():
        found[cell] = found.get(cell, 0) - count
    return {cell: count for cell, count in found.items() if count}


def _added_up(terms: Mapping[_Term, int], sources: Sequence[KnownAnswer]) -> int:
    return sum(
        count * sources[source].numbers[group][place]
        for (source, place, group), count in terms.items()
    )


def _noise(terms: _Terms, sources: Sequence[KnownAnswer]) -> Noise:
    """Of the group that has the most: one law for all, as of a fresh answer. Of several, the Laplace noise of
    equal variance, whose interval holds that of the sum, too (docs/design/reuse.md 4)."""
    single: list[Noise] = []
    square, is_gaussian = Fraction(0), False
    for counts in terms.values():
        added = Fraction(0)
        for (source, place, _), count in counts.items():
            noise = sources[source].answer.releases[place].noise
            is_gaussian |= isinstance(noise, GaussianNoise)
            added += count**2 * variance(noise)
            if len(counts) == 1 and abs(count) == 1:
                single.append(noise)
        square = max(square, added)
    exact = max(single, key=variance, default=None)
    if exact is not None and variance(exact) == square:
        return replace(exact, gaussian=None) if isinstance(exact, LaplaceNoise) else exact
    if is_gaussian:
        return GaussianNoise(sigma2=square)
    steps = math.isqrt(math.ceil(square / 2 * _DIGITS**2)) + 1
    return LaplaceNoise(scale=Fraction(steps, _DIGITS))
