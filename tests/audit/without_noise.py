"""What the release code hands to the mechanisms, group by group, with all noise left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from unittest import mock

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan, Gate, OrderStatistic, Release, SampleAggregate
from proxy.mechanisms import (
    clipped_mean,
    discrete_gaussian,
    discrete_laplace,
    order_statistic,
    polyplace,
    recentred_mean,
    smoothed_median,
)
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.release import adding_noise, ordering
from proxy.release.drawn_values import NOTHING, Drawn
from proxy.release.noisy_values import noisy_value

Keys = tuple[str | None, ...]
Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Exact:
    """numbers: per release and group its exact value; the moments (count, total); the outputs of its
    partitions; or its values, each before its number. units: per group, where keys are private. gates: per
    release of partitions and group, the units that its gate counts. sizes: per release by rank and group, the
    rows or units that its size counts, in parts."""

    numbers: tuple[Mapping[Keys, Numbers], ...]
    shown: tuple[Keys, ...]
    units: Mapping[Keys, int]
    gates: Mapping[int, Mapping[Keys, int]]
    sizes: Mapping[int, Mapping[Keys, int]]

    @classmethod
    def of(
        cls,
        block: BlockPlan,
        tables: Sequence[ExactTable],
        shown: Sequence[Keys],
        seen: Seen,
    ) -> Exact:
        means = block.deviation_means
        others = [n for n in range(len(block.releases)) if n not in means]
        # A group that was released and not shown is found by who compares `shown` with what is public.
        by_place = {n: seen.numbers[place :: len(others)] for place, n in enumerate(others)}
        numbers = [
            seen.means[n] if n in means else dict(zip(shown, by_place[n], strict=False))
            for n in range(len(block.releases))
        ]
        gated = [n for n, one in enumerate(block.releases) if isinstance(one, SampleAggregate)]
        gates = {
            n: dict(zip(shown, seen.gates[place :: len(gated)], strict=False))
            for place, n in enumerate(gated)
        }
        ranked = [n for n, one in enumerate(block.releases) if isinstance(one, OrderStatistic)]
        sizes = {
            n: dict(zip(shown, seen.sizes[place :: len(ranked)], strict=False))
            for place, n in enumerate(ranked)
        }
        units: dict[Keys, int] = {}
        if block.selection is not None:
            for row in tables[0].rows:
                units[row.keys] = units.get(row.keys, 0) + row.units
        return cls(tuple(numbers), tuple(shown), units, gates, sizes)


@dataclass
class Seen:
    """Per row and release, in order, what would have become noisy; gates, sizes: of those releases that have
    one; means: of deviations, by number and group the rows of their scan, six numbers each."""

    numbers: list[Numbers] = field(default_factory=list)
    gates: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    means: dict[int, Mapping[Keys, Numbers]] = field(default_factory=dict)


@dataclass
class _Watch:
    given: list[Numbers] = field(default_factory=list)  # to the mechanism of the release at hand
    seen: Seen = field(default_factory=Seen)

    def opens(self, gate: Gate, units: int, bits: RandomBits) -> bool:
        self.seen.gates.append(units)
        return True

    def outputs(self, found: Sequence[int], low: int, *others: object) -> int:
        self.given.append(tuple(found))
        return low

    def mean(self, total: int, count: int, *others: object) -> NoisyMeanSums:
        self.given.append((count, total))
        return NoisyMeanSums(total=total, count=count, centre=None)

    def means(
        self, plan: BlockPlan, table: ExactTable, bits: RandomBits
    ) -> Mapping[int, Mapping[Keys, Drawn]]:
        for place, number in enumerate(plan.deviation_means):
            kinds = {2 * place: 0, 2 * place + 1: 1, 2 * len(plan.deviation_means) + place: 2}
            found: dict[Keys, list[int]] = {}
            for keys, row in _with_units_once(table):
                if row[0] in kinds:
                    found.setdefault(keys, []).extend((kinds[row[0]], *row[1:]))
            self.seen.means[number] = {keys: tuple(numbers) for keys, numbers in found.items()}
        nothing = dict.fromkeys(plan.listed_groups, NOTHING)
        return dict.fromkeys(plan.deviation_means, nothing)

    def values(self, values: Sequence[order_statistic.ValueCount], *others: object) -> int:
        self.given.append(tuple(n for v in values for n in (v.value, v.count)))
        return 0


def _with_units_once(table: ExactTable) -> Iterator[tuple[Keys, list[int]]]:
    """The rows of means in an order of their own. A unit counts in any one of its groups, so that units say
    something of all groups together only: the first group of a band has those of all."""
    rows = [(row.keys, [value or 0 for value in row.values]) for row in table.rows]
    units = Counter[tuple[int, ...]]()
    for _, (kind, band, *_, number) in rows:
        units[kind, band] += number
    for keys, row in sorted(
        rows, key=lambda one: (tuple((k is None, k or "") for k in one[0]), one[1][:-1])
    ):
        yield keys, [*row[:-1], units.pop((row[0], row[1]), 0)]


def _nothing(bits: RandomBits, scale: Fraction) -> int:
    return 0


@contextmanager
def watching() -> Iterator[Seen]:
    watch = _Watch()
    real, groups_of = adding_noise._drawn, adding_noise._groups

    def every_group(
        plan: BlockPlan,
        grouped: list[dict[Keys, list[ExactRow]]],
        bits: RandomBits,
        selected: bool = False,
    ) -> Iterable[Keys]:
        """Of private keys every group that any statement knows: what a unit puts into groups is bounded
        whether they appear or not."""
        if plan.selection is None:
            return groups_of(plan, grouped, bits)
        found = {keys for groups in grouped for keys in groups}
        return sorted(found, key=lambda keys: tuple((text is None, text or "") for text in keys))

    def watched(
        release: Release, slots: Slots, group: list[ExactRow], sub_partitions: int, bits: RandomBits
    ) -> Drawn:
        watch.given.clear()
        drawn = real(release, slots, group, sub_partitions, bits)
        watch.seen.numbers.append(
            watch.given[0] if watch.given else (noisy_value(drawn, release).index,)
        )
        return drawn

    size_of = ordering.size_of

    def size(release: OrderStatistic, slots: Slots, group: Sequence[ExactRow]) -> int:
        found = size_of(release, slots, group)
        watch.seen.sizes.append(found)
        return found

    def quantile(values: Sequence[order_statistic.ValueCount], *others: object) -> int:
        return watch.values(values)

    with ExitStack() as stack:
        for module, name, instead in (
            (adding_noise, "_drawn", watched),
            (discrete_laplace, "sample", _nothing),
            (discrete_gaussian, "sample", _nothing),
            (adding_noise, "drawn_means", watch.means),
            (adding_noise, "_groups", every_group),
            (adding_noise, "_opens", watch.opens),
            (smoothed_median, "release", watch.outputs),
            (polyplace, "release", watch.outputs),
            (clipped_mean, "release", watch.outputs),
            (recentred_mean, "noisy", watch.mean),
            (order_statistic, "minimum", watch.values),
            (order_statistic, "maximum", watch.values),
            (order_statistic, "quantile", quantile),
            (ordering, "size_of", size),
        ):
            stack.enter_context(mock.patch.object(module, name, instead))
        yield watch.seen
