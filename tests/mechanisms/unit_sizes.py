"""What units add to a COUNT and to a SUM: invented data of many shapes, and real data beside the repository.

Rows have values of 0 to 10,000, of which a few weigh a lot; nobody who chooses a bound knows these shapes.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251  data for tests, not noise
from numpy.typing import NDArray

Sizes = NDArray[np.int64]

DATA = Path(__file__).parents[3] / "shared" / "data"
MOST_ROWS, MOST_VALUE = 1_000_000, 10_000
_ROWS = 6_000_000
_MEAN_ROWS = {300: 400, 500: 250, 3_000: 100, 30_000: 30, 300_000: 10, 1_500_000: 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSizes:
    """totals: what each unit adds, in whole steps; most: the largest that a row can add, in steps."""

    name: str
    aggregate: str
    totals: Sizes
    most: int


def invented(units: tuple[int, ...] = tuple(_MEAN_ROWS), seed: int = 7) -> Iterator[UnitSizes]:
    """Each shape of rows per unit, for each number of units."""
    for number in units:
        for shape, drawn in _SHAPES.items():
            bits = default_rng([seed, number, *shape.encode()])
            rows = np.clip(drawn(bits, number, _MEAN_ROWS[number]), 1, MOST_ROWS)
            yield from _both(bits, f"{shape}, {number:,} units", rows)
    if 300_000 in units:
        bits = default_rng(seed)
        yield from _both(bits, "TPC-H's line items of 150,000 customers", _line_items(bits))


def _both(bits: Generator, name: str, rows: Sizes) -> Iterator[UnitSizes]:
    yield UnitSizes(name=name, aggregate="COUNT", totals=rows, most=1)
    # A value of about 60 in the mean; few are a hundred times that.
    values = np.exp(bits.normal(3.4, 1.2, int(rows.sum()))).astype(np.int64)
    ends = np.cumsum(rows)
    sums = np.add.reduceat(np.clip(values, 0, MOST_VALUE), ends - rows)
    yield UnitSizes(name=name, aggregate="SUM", totals=sums, most=MOST_VALUE)


def _uniform(bits: Generator, units: int, mean: int) -> Sizes:
    return bits.integers(1, 2 * mean, units)


def _constant(bits: Generator, units: int, mean: int) -> Sizes:
    return np.full(units, mean, np.int64)


def _poisson(bits: Generator, units: int, mean: int) -> Sizes:
    return bits.poisson(mean, units)


def _log_normal(bits: Generator, units: int, mean: int) -> Sizes:
    return np.exp(bits.normal(np.log(mean) - 1.5**2 / 2, 1.5, units)).astype(np.int64)


def _zipf_1_5(bits: Generator, units: int, mean: int) -> Sizes:
    """Cut so that there are about 6,000,000 rows at most: the mean is near 0.77 roots of the largest."""
    return np.minimum(bits.zipf(1.5, units), int((_ROWS / units / 0.77) ** 2))


def _zipf_2(bits: Generator, units: int, mean: int) -> Sizes:
    return bits.zipf(2, units)


def _ranked(bits: Generator, units: int, mean: int) -> Sizes:
    """Unit k has a part of the rows that is proportional to 1/k, as words in a text have."""
    parts = 1 / np.arange(1, units + 1)
    return bits.multinomial(mean * units, parts / parts.sum())


_SHAPES: dict[str, Callable[[Generator, int, int], Sizes]] = {
    "uniform": _uniform,
    "constant": _constant,
    "Poisson": _poisson,
    "log-normal": _log_normal,
    "Zipf 1.5": _zipf_1_5,
    "Zipf 2": _zipf_2,
    "Zipf by rank": _ranked,
}


def _line_items(bits: Generator) -> Sizes:
    """A third of all customers never orders; others have about 15 orders of 1 to 7 items."""
    orders = bits.poisson(15, 100_000)
    items = bits.integers(1, 8, int(orders.sum()))
    return np.bincount(np.repeat(np.arange(len(orders)), orders), items).astype(np.int64)


def real() -> Iterator[UnitSizes]:
    """Nothing where the data is not there."""
    if not DATA.is_dir():
        return
    for file, unit, columns in (
        ("shop/orders", "user_id", {"total": 100, "quantity": 1}),
        ("shop/reviews", "reviewer", {"rating": 1}),
        ("chinook/invoice", "customer_id", {"total": 100}),
        ("census/adult", "person_id", {"age": 1, "hours_per_week": 1, "capital_gain": 1}),
        ("census/pums_dup", "pid", {"age": 1, "income": 1}),
    ):
        yield from _of_file(file, unit, columns)


def _of_file(file: str, unit: str, columns: dict[str, int]) -> Iterator[UnitSizes]:
    """
    Given    columns: what is added up, with the steps in 1
    """
    with gzip.open(DATA / f"{file}.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row[unit]]
    _, units = np.unique(np.array([row[unit] for row in rows]), return_inverse=True)
    yield UnitSizes(
        name=file, aggregate="COUNT", totals=np.bincount(units).astype(np.int64), most=1
    )
    for column, steps in columns.items():
        values = np.array([round(steps * float(row[column] or 0)) for row in rows])
        most = steps * MOST_VALUE
        totals = np.zeros(units.max() + 1, np.int64)
        np.add.at(totals, units, np.clip(values, 0, most))
        yield UnitSizes(name=file, aggregate=f"SUM({column})", totals=totals, most=most)
