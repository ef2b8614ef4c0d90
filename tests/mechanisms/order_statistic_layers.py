"""Layers of verification of private order statistics: see layers.py for the idea."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from proxy.mechanisms import order_statistic
from proxy.mechanisms.order_statistic import Law as RunLaw
from proxy.mechanisms.order_statistic import ValueCount
from tests.mechanisms.finite_law import Law, log_ratio, normalised
from tests.seeded_bits import SeededBits

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(4))
QUANTILES = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(1))
_ROUNDING = 1e-9
WIDE = 2000


@dataclass(frozen=True, slots=True)
class Table:
    """How many rows there are at some places of the grid 0..high, zeros included."""

    places: tuple[int, ...]
    counts: tuple[int, ...]
    high: int

    @classmethod
    def dense(cls, counts: tuple[int, ...]) -> Table:
        return cls(tuple(range(len(counts))), counts, len(counts) - 1)

    @property
    def runs(self) -> list[ValueCount]:
        pairs = zip(self.places, self.counts, strict=True)
        return [ValueCount(place, count) for place, count in pairs if count]

    def with_rows(self, *indices: int) -> Table:
        """One row more at each of these places, given by index."""
        counts = tuple(count + indices.count(i) for i, count in enumerate(self.counts))
        return Table(self.places, counts, self.high)


Mechanism = Callable[[Table, Fraction, int], Law]


def law_of(law: RunLaw) -> Law:
    """The probability of each grid point, in floats, from the product's runs."""
    sizes = [run.size for run in law.runs]
    distances = np.array([run.distance for run in law.runs])
    weights = np.exp(-float(law.rate) * (distances - distances.min()))
    return normalised(np.repeat(weights, sizes))


def law_of_minimum(table: Table, epsilon: Fraction, rows: int) -> Law:
    return law_of(order_statistic.minimum_law(table.runs, 0, table.high, epsilon, rows))


def law_of_quantile(q: Fraction) -> Mechanism:
    def law(table: Table, epsilon: Fraction, rows: int) -> Law:
        return law_of(order_statistic.quantile_law(table.runs, q, 0, table.high, epsilon, rows))

    return law


MECHANISMS: dict[str, Mechanism] = {
    "minimum": law_of_minimum,
    **{f"quantile {q}": law_of_quantile(q) for q in QUANTILES},
}


def tables() -> Iterator[Table]:
    """All small tables on a grid of four; rows around a wide gap; tables deep enough for tau, K."""
    yield from (Table.dense(small) for small in product(range(3), repeat=4))
    for counts in product(range(3), range(2), range(3), range(3)):
        # A gap that outweighs the places beside it: here nearly all of epsilon is used.
        yield Table((0, 1, 2, WIDE), counts, WIDE)
        yield Table((0, WIDE - 2, WIDE - 1, WIDE), counts, WIDE)
    for few, more in product((5, 6, 7), (1, 3)):  # about the target rank of a minimum at epsilon 4
        yield Table((0, WIDE - 2, WIDE - 1, WIDE), (few, more, 0, 0), WIDE)
    for pair in product(range(0, 64, 9), repeat=2):
        yield Table((0, 2), pair, 2)


def order_statistics_are_private() -> None:
    """Exact auditor: one row more, anywhere."""
    for name in MECHANISMS:
        for epsilon in (Fraction(1, 2), Fraction(4)):
            worst = worst_log_ratio(name, epsilon)
            assert worst <= 1 + _ROUNDING, f"{name}, epsilon {epsilon}: {worst} epsilon"


def units_of_rows_are_private() -> None:
    """Exact auditor: a unit of three rows, anywhere."""
    for name, law in MECHANISMS.items():
        for counts in ((0, 0, 0), (30, 2, 30), (1, 4, 0), (0, 40, 1)):
            for table in (Table.dense(counts), Table((0, 1, WIDE), counts, WIDE)):
                here = law(table, Fraction(2), 3)
                for places in product(range(3), repeat=3):
                    there = law(table.with_rows(*places), Fraction(2), 3)
                    worst = log_ratio(here, there) / 2
                    assert worst <= 1 + _ROUNDING, (name, table, places, worst)


def worst_log_ratio(name: str, epsilon: Fraction) -> float:
    """Over all tables and all places of one more row, in units of epsilon."""
    law = MECHANISMS[name]
    return max(
        log_ratio(here, law(table.with_rows(i), epsilon, 1)) / float(epsilon)
        for table in tables()
        for here in [law(table, epsilon, 1)]
        for i in range(len(table.places))
    )


def laws_are_their_definition() -> None:
    """Brute force: the runs against the score of each grid point by itself, rows one by one."""
    for seed in range(60):
        chooser = SeededBits(seed)
        high = 1 + chooser.below(40)
        rows = sorted(chooser.below(high + 1) for _ in range(chooser.below(200)))
        epsilon, per_unit = EPSILONS[seed % 3], 1 + seed % 2
        table = Table.dense(tuple(rows.count(c) for c in range(high + 1)))
        tau = max(1, math.ceil(2 * per_unit / epsilon * Fraction(math.log(200 * high))))
        cap = tau + math.ceil(2 * per_unit / epsilon * Fraction(math.log(high) + 40))
        distances = [
            max(
                min(sum(x < c for x in rows), cap) - tau,
                tau - min(sum(x <= c for x in rows), cap),
                0,
            )
            for c in range(high + 1)
        ]
        _equal(law_of_minimum(table, epsilon, per_unit), distances, epsilon / (2 * per_unit))
        q = QUANTILES[seed % 5]
        target = q * len(rows)
        off = [
            max(sum(x < c for x in rows) - target, target - sum(x <= c for x in rows), Fraction(0))
            for c in range(high + 1)
        ]
        rate = epsilon / (2 * per_unit * max(q, 1 - q))
        _equal(law_of_quantile(q)(table, epsilon, per_unit), off, rate)


def _equal(law: Law, distances: list[int] | list[Fraction], rate: Fraction) -> None:
    least = min(distances)
    expected = normalised([math.exp(-(distance - least) * rate) for distance in distances])
    np.testing.assert_allclose(law, expected, rtol=1e-9, atol=1e-16)


def the_rest_need_not_be_fetched() -> None:
    """The K smallest rows, or those near a quantile's rank, give the same law as all rows."""
    for seed in range(40):
        chooser = SeededBits(seed)
        high, epsilon = 500, Fraction(1 + seed % 3)
        values = [ValueCount(v, 1 + chooser.below(9)) for v in range(0, high, 1 + chooser.below(3))]
        needed = order_statistic.values_needed(high, epsilon)
        fetched, rows = [], 0
        for value in values:  # as LIMIT K does: the last value may be cut short
            taken = min(value.count, needed - rows)
            fetched += [ValueCount(value.value, taken)] if taken else []
            rows += taken
        assert rows == needed
        everything = order_statistic.minimum_law(values, 0, high, epsilon)
        some = order_statistic.minimum_law(fetched, 0, high, epsilon)
        np.testing.assert_array_equal(law_of(everything), law_of(some))

        q = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))[seed % 3]
        total = sum(value.count for value in values)
        reach = order_statistic.quantile_half_width(high, epsilon, q)
        below, near, under = 0, [], 0
        for value in values:
            after = under + value.count
            if q * total - after >= reach:
                below = after
            elif under - q * total < reach:
                near.append(value)
            under = after
        above = total - below - sum(value.count for value in near)
        all_rows = order_statistic.quantile_law(values, q, 0, high, epsilon)
        window = order_statistic.quantile_law(near, q, 0, high, epsilon, 1, below, above)
        assert seed % 3 == 2 or below or above  # else nothing was left out
        np.testing.assert_array_equal(law_of(all_rows), law_of(window))


def order_formulas_are_golden() -> None:
    """docs/design/mechanisms.md 6.1: tau = 2 ln(200 G)/epsilon, K = tau + ceil((2/epsilon)(ln G + 40))."""
    for steps, text, tau, needed in (
        (125, "1", 21, 111), (125, "1/10", 203, 1_100), (10**7, "1", 43, 156), (1, "1", 11, 91),
        (0, "1", 1, 81), (125, "2", 11, 56),
    ):  # fmt: skip
        assert order_statistic.target_rank(steps, Fraction(text)) == tau, (steps, text)
        assert order_statistic.values_needed(steps, Fraction(text)) == needed, (steps, text)
    assert order_statistic.target_rank(125, Fraction(1), 3) == 61
    assert order_statistic.quantile_half_width(125, Fraction(1), Fraction(1, 2)) == 45
    # A value of 50 rows, tau = 15: three points below it at e^-7, and three above at e^-17.
    law = order_statistic.minimum_law([ValueCount(3, 50)], 0, 6, Fraction(1))
    assert [(run.first, run.last, run.distance) for run in law.runs] == [
        (0, 2, 15), (3, 3, 0), (4, 6, 35),
    ]  # fmt: skip
    assert law.rate == Fraction(1, 2)


LAYERS = [
    order_statistics_are_private,
    units_of_rows_are_private,
    laws_are_their_definition,
    the_rest_need_not_be_fetched,
    order_formulas_are_golden,
]
