"""How exact quantiles of units with several rows are, by weights of rows: a table of accuracy.md.

    python -m tests.mechanisms.quantile_accuracy [draws]

Before: so many rows of each unit count, chosen at random, by a bound that a walk chooses
(mechanisms.private_bound). Both with the product's own draws. Errors are ranks among all rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251  data for tests, not noise
from numpy.typing import NDArray

from proxy.mechanisms import octave_bound, order_statistic, private_bound, row_weights
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.order_statistic import ValueCount
from proxy.mechanisms.private_bound import UnitTotals
from proxy.mechanisms.row_weights import PARTS, WeightedRows
from tests.seeded_bits import SeededBits

Numbers = NDArray[np.int64]
EPSILONS = (Fraction(1), Fraction(1, 4))
RANKS = (Fraction(1, 2), Fraction(9, 10))
_DRAWS = 20
_WALK, _WALKED = Fraction(40, 100), Fraction(60, 100)  # of epsilon, before
_CELLS, _DRAWN = Fraction(1, 10), Fraction(9 * 94, 1000)  # the rest is for sizes
_MOST = 10_000
BOUNDS = private_bound.bounds_up_to(_MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileSet:
    """Rows of units. values: of each row, on a grid of 0..steps."""

    name: str
    units: Numbers
    groups: Numbers
    values: Numbers
    steps: int

    @property
    def number_of_groups(self) -> int:
        return int(self.groups.max()) + 1

    @property
    def rows_of_units(self) -> Numbers:
        return np.bincount(self.units)


def _sizes(kind: str, units: int, random: Generator) -> Numbers:
    made: Mapping[str, Callable[[], NDArray[np.float64] | Numbers]] = {
        "one": lambda: np.ones(units),
        "ten": lambda: np.full(units, 10),
        "Poisson": lambda: 1 + random.poisson(4, units),
        "log-normal": lambda: np.ceil(random.lognormal(2, 1, units)),
        "Zipf": lambda: np.minimum(random.zipf(1.8, units), 1000),
        "1 % with 400": lambda: np.where(random.random(units) < 0.01, 400, 3),
    }
    return made[kind]().astype(np.int64)


def made_set(
    sizes: str, units: int, groups: int, heavy: float = 1.0, steps: int = 50_000
) -> QuantileSet:
    """Log-normal values, of the tenth of the units with the most rows times `heavy`."""
    random = default_rng(1)
    rows = _sizes(sizes, units, random)
    owner = np.repeat(np.arange(units), rows)
    values = random.lognormal(3.5, 0.7, len(owner))
    values = np.where(rows[owner] > np.percentile(rows, 90), heavy * values, values)
    by = f", by {groups}" if groups > 1 else ""
    differ = f", heavy units {heavy:g} times" if heavy != 1 else ""
    return QuantileSet(
        name=f"{sizes}, {units:,} units{by}{differ}",
        units=owner,
        groups=random.integers(0, groups, len(owner)),
        values=np.minimum(np.round(values * steps / 500), steps).astype(np.int64),
        steps=steps,
    )


def sets() -> Iterator[QuantileSet]:
    yield made_set("one", 5_000, 1)
    yield made_set("ten", 6_000, 8)
    yield made_set("Poisson", 4_000, 4)
    yield made_set("log-normal", 5_000, 1)
    yield made_set("log-normal", 5_000, 4)
    yield made_set("log-normal", 20_000, 12, heavy=0.5)
    yield made_set("log-normal", 50_000, 24, heavy=2)
    yield made_set("Zipf", 5_000, 1)
    yield made_set("Zipf", 5_000, 1, heavy=2)
    yield made_set("Zipf", 50_000, 1, heavy=2)
    yield made_set("1 % with 400", 5_000, 1)


def _bands(data: QuantileSet) -> dict[int, int]:
    bands = 1 + np.searchsorted(np.array(BOUNDS), data.rows_of_units, side="left")
    return {int(band): int(number) for band, number in enumerate(np.bincount(bands)) if number}


def before(
    data: QuantileSet, q: Fraction, epsilon: Fraction, bits: RandomBits, seed: int
) -> list[int] | None:
    """As quantiles were drawn before, of each group; None: too few units for a walk."""
    totals = UnitTotals(units=_bands(data), sums={})
    walk = private_bound.walk(epsilon * _WALK * Fraction(35, 40))
    place = private_bound.choose(totals, BOUNDS, walk, bits)
    if place is None:
        return None
    bound, random = BOUNDS[place], default_rng(seed)
    order = np.lexsort((random.random(len(data.units)), data.units))
    starts = np.cumsum(data.rows_of_units) - data.rows_of_units
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - starts[data.units[order]]
    weights = (rank < bound).astype(np.int64)
    return _drawn(data, weights, q, epsilon * _WALKED, bits, bound)


def weighted_rows(data: QuantileSet, epsilon: Fraction, bits: RandomBits) -> WeightedRows:
    """The bound that a noisy histogram gives."""
    counts = row_weights.counts_by_octave(_bands(data), BOUNDS)
    cells = octave_bound.noisy(counts, 1 / (epsilon * _CELLS), bits)
    noise = 2 * float(np.log(data.steps)) / float(epsilon * _DRAWN)
    scale = float(1 / (epsilon * _CELLS))
    return row_weights.weighed(cells, BOUNDS, scale, noise, data.number_of_groups)


def after(
    data: QuantileSet, q: Fraction, epsilon: Fraction, bits: RandomBits
) -> tuple[WeightedRows, list[int]]:
    """As quantiles of weighted rows are drawn, of each group."""
    found = weighted_rows(data, epsilon, bits)
    weights = np.minimum(PARTS, PARTS * found.bound // data.rows_of_units)[data.units]
    return found, _drawn(data, weights, q, epsilon * _DRAWN, bits, found.bound * PARTS)


def _drawn(
    data: QuantileSet,
    weights: Numbers,
    q: Fraction,
    epsilon: Fraction,
    bits: RandomBits,
    moved: int,
) -> list[int]:
    found = []
    for group in range(data.number_of_groups):
        own = (data.groups == group) & (weights > 0)
        values, places = np.unique(data.values[own], return_inverse=True)
        counts = np.bincount(places, weights=weights[own])
        listed = [ValueCount(int(v), int(n)) for v, n in zip(values, counts, strict=True)]
        found.append(order_statistic.quantile(listed, q, 0, data.steps, epsilon, bits, moved))
    return found


def rank_errors(data: QuantileSet, q: Fraction, drawn: list[int]) -> list[float]:
    """Of each group, by how many points the share of all rows below the answer is off."""
    errors = []
    for group, value in enumerate(drawn):
        rows = data.values[data.groups == group]
        below, upto = float(np.mean(rows < value)), float(np.mean(rows <= value))
        off = max(below - float(q), float(q) - upto, 0.0)
        errors.append(100 * off)
    return errors


def rmse(errors: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else _DRAWS
    print("| data | epsilon | rank | R: before, now | points off: before, now |")
    print("|---|---|---|---|---|")
    gains = []
    for data in sets():
        for epsilon in EPSILONS:
            for q in RANKS:
                gains.append(_row(data, epsilon, q, draws))
    known = [gain for gain in gains if np.isfinite(gain) and gain > 0]
    mean = float(np.exp(np.mean(np.log(known))))
    print(f"{mean:.1f} times in the geometric mean of {len(known)}")
    print(
        f"{sum(gain > 2 for gain in known)} above 2, {sum(gain < 2 / 3 for gain in known)} below 2/3"
    )


def _row(data: QuantileSet, epsilon: Fraction, q: Fraction, draws: int) -> float:
    bits, old, new, bounds = SeededBits(3), list[float](), list[float](), list[int]()
    for seed in range(draws):
        drawn = before(data, q, epsilon, bits, seed)
        if drawn is not None:
            old += rank_errors(data, q, drawn)
        found, now = after(data, q, epsilon, bits)
        bounds.append(found.bound)
        new += rank_errors(data, q, now)
    print(
        f"| {data.name} | {float(epsilon):g} | {float(q):g} | {int(np.median(bounds))} |"
        f" {rmse(old):.2f}, {rmse(new):.2f} |",
        flush=True,
    )
    return rmse(old) / max(rmse(new), 1e-3)


if __name__ == "__main__":
    main()
