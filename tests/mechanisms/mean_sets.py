"""Invented rows of many shapes, of which AVG is asked: how many rows units have, how values hang on them, and
how rows fall into groups. Half of the shapes fitted the constants of deviation_mean, the others judged them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251  data for tests, not noise
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """low, high, grid: of values; rows, values, spread: how they are drawn, by name."""

    name: str
    units: int
    rows: str
    groups: int
    values: str
    low: float
    high: float
    grid: float
    spread: str = "even"
    is_judge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanSet:
    """counts, sums, squares: of each unit and group, rows, sums of y = 2 i - width in half steps, and of y^2.
    width: in grid steps."""

    shape: Shape
    counts: Numbers
    sums: Numbers
    squares: Numbers
    width: int

    @property
    def means(self) -> Numbers:
        """Of all rows of each group, in grid steps above the low end."""
        whole = np.maximum(1, self.counts.sum(0))
        return np.asarray((self.sums.sum(0) / whole + self.width) / 2)

    @property
    def deviations(self) -> Numbers:
        """The standard deviation of all rows of each group, in grid steps."""
        whole = np.maximum(1, self.counts.sum(0))
        means = self.sums.sum(0) / whole
        return np.asarray(np.sqrt(np.maximum(0, self.squares.sum(0) / whole - means**2)) / 2)


_ROWS: dict[str, Callable[[Generator, int], Numbers]] = {
    "zipf": lambda draw, units: np.minimum(draw.zipf(1.8, units), 1000),
    "lognormal": lambda draw, units: np.ceil(draw.lognormal(2, 1, units)),
    "wide": lambda draw, units: np.ceil(draw.lognormal(1.5, 1.4, units)),
    "one": lambda draw, units: np.ones(units),
    "poisson": lambda draw, units: np.asarray(draw.poisson(4, units) + 1, dtype=float),
    "ten": lambda draw, units: np.full(units, 10),
    "few with 400": lambda draw, units: np.where(draw.random(units) < 0.01, 400, 3),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """unit, group: of each row; counts: of each unit; is_heavy: whether a row's unit is among the largest."""

    draw: Generator
    shape: Shape
    unit: Indices
    group: Indices
    counts: Numbers
    is_heavy: NDArray[np.bool_]

    def lognormal(self, deviation: float = 0.7, mean: float = 3.5) -> Numbers:
        return np.asarray(self.draw.lognormal(mean, deviation, len(self.unit)))

    def uniform(self, size: int) -> Numbers:
        return np.asarray(self.draw.uniform(self.shape.low, self.shape.high, size))

    def normal(self, mean: float, deviation: float) -> Numbers:
        return np.asarray(self.draw.normal(mean, deviation, len(self.unit)))

    def of_units(self, deviation: float) -> Numbers:
        return np.asarray(self.draw.normal(0, deviation, len(self.counts))[self.unit])


_VALUES: dict[str, Callable[[_Rows], Numbers]] = {
    "lognormal": lambda rows: rows.lognormal(),
    "heavy twice": lambda rows: rows.lognormal() * (1 + rows.is_heavy),
    "heavy half": lambda rows: rows.lognormal() * (1 - 0.5 * rows.is_heavy),
    "units differ": lambda rows: rows.lognormal() + np.abs(rows.of_units(40)),
    "groups differ": lambda rows: np.asarray(
        rows.draw.lognormal(3 + 0.8 * rows.group / max(1, rows.shape.groups - 1), 0.6)
    ),
    "heavy tail": lambda rows: rows.lognormal(1.8, 2),
    "at a bound": lambda rows: np.where(
        rows.draw.random(len(rows.unit)) < 0.6, rows.shape.low, rows.uniform(len(rows.unit))
    ),
    "uniform": lambda rows: rows.uniform(len(rows.unit)),
    "signed": lambda rows: rows.normal(-5, 40),
    "signed units": lambda rows: rows.normal(0, 20) + rows.of_units(30),
    "dates": lambda rows: rows.shape.high - rows.draw.gamma(1.5, 300, len(rows.unit)),
    "constant": lambda rows: rows.uniform(len(rows.counts))[rows.unit],
    "flag": lambda rows: (rows.draw.random(len(rows.unit)) < 0.15).astype(float),
    "growth": lambda rows: 20 + 60 * (1 - np.exp(-rows.counts[rows.unit] / 20)) + rows.normal(0, 8),
}


def _shape(
    number: int,
    name: str,
    units: int,
    rows: str,
    groups: int,
    values: str,
    low: float,
    high: float,
    grid: float,
    spread: str = "even",
) -> Shape:
    return Shape(
        name=name,
        units=units,
        rows=rows,
        groups=groups,
        values=values,
        low=low,
        high=high,
        grid=grid,
        spread=spread,
        is_judge=bool(number % 2),
    )


_SHAPES: tuple[tuple[Any, ...], ...] = (
    ("Zipf sizes", 5000, "zipf", 1, "lognormal", 0, 500, 0.01),
    ("Zipf, heavy units twice", 5000, "zipf", 1, "heavy twice", 0, 500, 0.01),
    ("Zipf, heavy twice, 50,000", 50000, "zipf", 1, "heavy twice", 0, 500, 0.01),
    ("Zipf, heavy half, 20,000", 20000, "zipf", 1, "heavy half", 0, 500, 0.01),
    ("300 units", 300, "lognormal", 1, "lognormal", 0, 500, 0.01),
    ("500 units by 3", 500, "lognormal", 3, "groups differ", 0, 500, 0.01),
    ("by 24", 5000, "lognormal", 24, "lognormal", 0, 500, 0.01),
    ("by 48, uneven", 5000, "lognormal", 48, "groups differ", 0, 500, 0.01, "uneven"),
    ("heavy twice by 24", 50000, "lognormal", 24, "heavy twice", 0, 500, 0.01),
    ("heavy half by 12", 20000, "lognormal", 12, "heavy half", 0, 500, 0.01),
    ("units differ", 5000, "lognormal", 1, "units differ", 0, 500, 0.01),
    ("value of a unit is constant", 3000, "lognormal", 1, "constant", 0, 100, 1),
    ("one row a unit", 5000, "one", 1, "lognormal", 0, 500, 0.01),
    ("one row a unit, flag by 4", 4000, "one", 4, "flag", 0, 1, 1),
    ("one row a unit by 24", 5000, "one", 24, "lognormal", 0, 500, 0.01),
    ("one row a unit by 12", 3000, "one", 12, "groups differ", 0, 500, 0.01),
    ("signed by 6", 4000, "lognormal", 6, "signed", -200, 200, 0.1),
    ("signed, units differ, by 4", 4000, "poisson", 4, "signed units", -200, 200, 0.1),
    ("dates", 4000, "poisson", 1, "dates", 0, 2922, 1),
    ("dates by 10, unit in one", 4000, "lognormal", 10, "dates", 0, 2922, 1, "own"),
    ("60 % at a bound", 3000, "lognormal", 1, "at a bound", 0, 100, 1),
    ("60 % at a bound by 8", 6000, "ten", 8, "at a bound", 0, 100, 1),
    ("heavy-tailed values", 8000, "poisson", 1, "heavy tail", 0, 5000, 0.01),
    ("heavy-tailed by 5", 8000, "lognormal", 5, "heavy tail", 0, 5000, 0.01),
    ("tiny groups by 8", 10000, "lognormal", 8, "lognormal", 0, 500, 0.01, "tiny"),
    ("tiny groups by 20", 20000, "lognormal", 20, "groups differ", 0, 500, 0.01, "tiny"),
    ("1 % of units with 400 rows", 5000, "few with 400", 1, "growth", 0, 200, 0.1),
    ("the same by 6", 10000, "few with 400", 6, "growth", 0, 200, 0.1),
    ("wide sizes", 4000, "wide", 1, "growth", 0, 200, 0.1),
    ("wide sizes by 3", 6000, "wide", 3, "units differ", 0, 500, 0.01, "uneven"),
    ("150 units", 150, "poisson", 1, "uniform", 0, 100, 1),
    ("1,000 units by 50", 1000, "lognormal", 50, "lognormal", 0, 500, 0.01),
)
SHAPES = tuple(_shape(number, *shape) for number, shape in enumerate(_SHAPES))


def mean_set(shape: Shape, seed: int = 11) -> MeanSet:
    """Draw the rows of a shape."""
    draw = default_rng([seed, *shape.name.encode()])
    counts = np.asarray(_ROWS[shape.rows](draw, shape.units), dtype=float)
    unit = np.repeat(np.arange(shape.units), counts.astype(int))
    group = _groups(shape, draw, unit)
    heavy = counts[unit] > np.percentile(counts, 90)
    rows = _Rows(draw=draw, shape=shape, unit=unit, group=group, counts=counts, is_heavy=heavy)
    steps = np.round((_VALUES[shape.values](rows) - shape.low) / shape.grid)
    width = round((shape.high - shape.low) / shape.grid)
    steps = np.clip(steps, 0, width)
    found = MeanSet(
        shape=shape,
        counts=np.zeros((shape.units, shape.groups)),
        sums=np.zeros((shape.units, shape.groups)),
        squares=np.zeros((shape.units, shape.groups)),
        width=width,
    )
    np.add.at(found.counts, (unit, group), 1)
    np.add.at(found.sums, (unit, group), 2 * steps - width)
    np.add.at(found.squares, (unit, group), (2 * steps - width) ** 2)
    return found


def _groups(shape: Shape, draw: Generator, unit: Indices) -> Indices:
    rows, groups = len(unit), shape.groups
    match shape.spread:
        case "uneven":
            weights = 1 / np.arange(1, groups + 1) ** 1.5
            return draw.choice(groups, rows, p=weights / weights.sum())
        case "own":
            return draw.integers(0, groups, shape.units)[unit]
        case "tiny":
            return np.where(draw.random(rows) < 0.004, draw.integers(1, groups, rows), 0)
        case _:
            return draw.integers(0, groups, rows)


def sets() -> Iterator[MeanSet]:
    yield from map(mean_set, SHAPES)
