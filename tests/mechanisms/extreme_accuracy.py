"""How near MIN and MAX of people are to the exact ones: `python -m tests.mechanisms.extreme_accuracy`.

Invented data, a unit with several rows in several groups. An answer is measured by how many of the units of its
group have a more extreme value: 0 % is the exact minimum. Before: the exponential mechanism over all grid steps
and rows, of which a chosen number of each unit counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251  data for tests, not noise
from numpy.typing import NDArray

from proxy.mechanisms import order_statistic, private_bound
from proxy.mechanisms.growing_places import Places
from proxy.mechanisms.order_statistic import Law, ValueCount
from tests.seeded_bits import SeededBits

EPSILONS = (Fraction(1), Fraction(1, 4))
_NOW, _BEFORE, _CHOICE = Fraction(47, 100), Fraction(30, 100), Fraction(35, 100)  # of epsilon
_STEPS = 2**16

Values = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """unit, group, value: of each row; values are grid indices within low..high."""

    name: str
    unit: Values
    group: Values
    value: Values
    low: int
    high: int

    @property
    def groups(self) -> int:
        return int(self.group.max()) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """Medians over groups of the expected share of units beyond the answers, in per cent.

    withheld: the share of groups that are NULL.
    """

    least: float
    most: float
    withheld: float


def data_sets() -> Iterator[Rows]:
    yield _rows("log-normal", 1, 5_000, 1, _amounts, 50_000)
    yield _rows("log-normal, by 4", 2, 5_000, 4, _amounts, 50_000)
    yield _rows("log-normal, by 24", 3, 20_000, 24, _amounts, 50_000)
    yield _rows("log-normal, 300 people", 4, 300, 1, _amounts, 50_000)
    yield _rows("log-normal, bounds 20 times as wide", 5, 5_000, 4, _amounts, 1_000_000)
    yield _rows("heavy tail", 6, 8_000, 1, _heavy, 500_000)
    yield _rows("heavy tail, by 5", 7, 8_000, 5, _heavy, 500_000)
    yield _rows("uniform, 150 people", 8, 150, 1, _uniform, 100)
    yield _rows("uniform, by 8", 9, 6_000, 8, _uniform, 100)
    yield _rows("days of 8 years", 10, 4_000, 1, _days, 2_922)
    yield _rows("days of 8 years, by 10", 11, 8_000, 10, _days, 2_922)
    yield _rows("about zero, by 6", 12, 4_000, 6, _signed, 2_000, -2_000)
    yield _rows("about zero, bounds 20 times as wide", 13, 4_000, 1, _signed, 40_000, -40_000)


def _rows(
    name: str,
    seed: int,
    units: int,
    groups: int,
    values: Callable[[Generator, int], NDArray[np.float64]],
    high: int,
    low: int = 0,
) -> Rows:
    bits = default_rng(seed)
    unit = np.repeat(np.arange(units), np.ceil(bits.lognormal(2, 1, units)).astype(int))
    value = np.clip(np.round(values(bits, len(unit))), low, high).astype(int)
    group = bits.integers(0, groups, len(unit))
    return Rows(name=name, unit=unit, group=group, value=value, low=low, high=high)


def _amounts(bits: Generator, rows: int) -> NDArray[np.float64]:
    return 100 * bits.lognormal(3.5, 0.7, rows)


def _heavy(bits: Generator, rows: int) -> NDArray[np.float64]:
    return 100 * bits.lognormal(2, 1.8, rows)


def _uniform(bits: Generator, rows: int) -> NDArray[np.float64]:
    return bits.uniform(0, 100, rows)


def _days(bits: Generator, rows: int) -> NDArray[np.float64]:
    return 2_922 - bits.gamma(1.5, 300, rows)


def _signed(bits: Generator, rows: int) -> NDArray[np.float64]:
    return bits.normal(-50, 400, rows)


def now(rows: Rows, epsilon: Fraction, seed: int = 1) -> Nearness:
    """Of one value for each unit, in one of its groups."""
    own = epsilon * _NOW
    kept = _kept_groups(rows, default_rng(seed))
    found: list[tuple[float, float]] = []
    withheld = 0
    for group in range(rows.groups):
        pair = []
        for is_least in (True, False):
            extremes = _extremes(rows, group, is_least)
            places = Places(rows.low, rows.high, is_least)
            values = [extreme for unit, extreme in extremes.items() if kept[unit] == group]
            law = places.law(_counted([places.place_of(v) for v in values]), own)
            pair.append(_beyond(law, list(extremes.values()), is_least, places.indices))
            needed = places.units_needed(own)
        if len(values) < needed:
            withheld += 1
        else:
            found.append((pair[0], pair[1]))
    return _nearness(found, withheld / rows.groups)


def before(rows: Rows, epsilon: Fraction, seed: int = 1) -> Nearness:
    """Of rows: a bound on those of a unit is chosen, and so many of each count."""
    sizes = np.bincount(rows.unit)
    bounds = private_bound.bounds_up_to(1_000_000)
    most = _chosen(sizes, bounds, epsilon * _CHOICE, seed)
    bits = default_rng(seed)
    order = np.lexsort((bits.random(len(rows.unit)), rows.unit))
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    grid = max(1, math.ceil((rows.high - rows.low) / _STEPS))
    low, high = math.ceil(rows.low / grid), rows.high // grid
    own, found = epsilon * _BEFORE, []
    for group in range(rows.groups):
        own_rows = rows.value[(rank < most) & (rows.group == group)] // grid
        values, pair = _counted(own_rows.tolist()), []
        for is_least in (True, False):
            law = order_statistic.minimum_law if is_least else order_statistic.maximum_law
            extremes = list(_extremes(rows, group, is_least).values())
            pair.append(_beyond(law(values, low, high, own, most), extremes, is_least, None, grid))
        found.append((pair[0], pair[1]))
    return _nearness(found, 0.0)


def _chosen(sizes: Values, bounds: tuple[int, ...], epsilon: Fraction, seed: int) -> int:
    units: dict[int, int] = {}
    for size in sizes[sizes > 0].tolist():
        band = 1 + next(place for place, bound in enumerate(bounds) if size <= bound)
        units[band] = units.get(band, 0) + 1
    totals = private_bound.UnitTotals(units=units, sums={})
    place = private_bound.choose(totals, bounds, private_bound.walk(epsilon), SeededBits(seed))
    return bounds[0 if place is None else place]


def _nearness(found: list[tuple[float, float]], withheld: float) -> Nearness:
    if not found:
        return Nearness(least=math.nan, most=math.nan, withheld=withheld)
    least, most = (float(np.median([pair[side] for pair in found])) for side in (0, 1))
    return Nearness(least=least, most=most, withheld=withheld)


def _kept_groups(rows: Rows, bits: Generator) -> Values:
    """One of each unit's groups."""
    present = np.zeros((int(rows.unit.max()) + 1, rows.groups), bool)
    present[rows.unit, rows.group] = True
    kept: Values = np.argmax(np.where(present, bits.random(present.shape), -1.0), axis=1)
    return kept


def _extremes(rows: Rows, group: int, is_least: bool) -> dict[int, int]:
    """Of each unit with rows in a group."""
    mine = rows.group == group
    start = rows.high if is_least else rows.low
    found = np.full(int(rows.unit.max()) + 1, start)
    (np.minimum if is_least else np.maximum).at(found, rows.unit[mine], rows.value[mine])
    return {unit: int(found[unit]) for unit in np.unique(rows.unit[mine]).tolist()}


def _counted(values: list[int]) -> list[ValueCount]:
    values_, counts = np.unique(values, return_counts=True)
    return [ValueCount(int(v), int(n)) for v, n in zip(values_, counts, strict=True)]


def _beyond(
    law: Law,
    extremes: list[int],
    is_least: bool,
    places: tuple[int, ...] | None,
    grid: int = 1,
) -> float:
    """The expected share of units with a more extreme value than the answer, in per cent."""
    own = np.sort(extremes)
    distances = np.array([run.distance for run in law.runs], float)
    weights = np.array([run.size for run in law.runs], float)
    weights *= np.exp(-float(law.rate) * (distances - distances.min()))
    middles = np.array([(run.first + run.last) / 2 for run in law.runs])
    middles = middles if is_least else -middles  # the law of MAX is of reflected values
    answers = middles * grid if places is None else np.interp(middles, range(len(places)), places)
    side: Literal["left", "right"] = "left" if is_least else "right"
    below = np.searchsorted(own, answers, side=side) / len(own)
    return float(100 * (weights * (below if is_least else 1 - below)).sum() / weights.sum())


def lines() -> Iterator[str]:
    """The table of the page."""
    yield "| data | epsilon | MIN | MAX | NULL |"
    yield "|---|---|---|---|---|"
    for rows in data_sets():
        for epsilon in EPSILONS:
            found = now(rows, epsilon)
            yield (
                f"| {rows.name} | {float(epsilon):g} | {found.least:.1f} | {found.most:.1f}"
                f" | {100 * found.withheld:.0f} % |"
            )


if __name__ == "__main__":
    print("\n".join(lines()))
