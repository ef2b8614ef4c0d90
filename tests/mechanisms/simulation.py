"""Sample and aggregate on a column in memory: partitions, outputs, release, as the SQL will do it.

An early warning without a database: it shows what error the adopted rule gives.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from statistics import median_grouped

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251  data for tests, not noise
from numpy.typing import NDArray

from proxy.estimates import sampling_accuracy
from proxy.mechanisms import smoothed_median
from tests.seeded_bits import SeededBits

ADULT = Path(__file__).parents[3] / "shared" / "data" / "census" / "adult.csv.gz"


class Aggregate(Enum):
    AVG = "avg"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Question:
    """One aggregate of an integer column with public bounds, answered on a grid."""

    aggregate: Aggregate
    low: int
    high: int
    grid: Fraction
    epsilon: Fraction
    delta: Fraction

    @property
    def steps(self) -> int:
        return int((self.high - self.low) / self.grid)

    @property
    def partitions(self) -> int:
        return sampling_accuracy.laplace_partitions(self.epsilon, self.delta, self.steps)

    def truth(self, values: NDArray[np.int64]) -> float:
        match self.aggregate:
            case Aggregate.AVG:
                return float(values.mean())
            case Aggregate.MIN:
                return float(values.min())
            case Aggregate.MAX:
                return float(values.max())

    def outputs(self, values: NDArray[np.int64], partition: NDArray[np.int64]) -> list[int]:
        """Each partition's result as a grid index; an empty one gives the public fill."""
        m = self.partitions
        match self.aggregate:
            case Aggregate.AVG:
                counts = np.bincount(partition, minlength=m)
                sums = np.bincount(partition, weights=values, minlength=m)
                middle = (self.low + self.high) / 2
                results = np.where(counts > 0, sums / np.maximum(counts, 1), middle)
            case Aggregate.MIN:
                results = np.full(m, float(self.high))
                np.minimum.at(results, partition, values.astype(float))
            case Aggregate.MAX:
                results = np.full(m, float(self.low))
                np.maximum.at(results, partition, values.astype(float))
        indices: list[int] = np.rint(results / float(self.grid)).astype(np.int64).tolist()
        return indices

    def answer(self, values: NDArray[np.int64], generator: Generator, bits: SeededBits) -> float:
        """One private answer, with fresh partitions of the rows."""
        partition = generator.integers(0, self.partitions, len(values))
        index = smoothed_median.release(
            self.outputs(np.clip(values, self.low, self.high), partition),
            int(self.low / self.grid),
            int(self.high / self.grid),
            self.epsilon,
            self.delta,
            bits,
        )
        return float(index * self.grid)

    def median_error(self, values: NDArray[np.int64], runs: int, seed: int) -> float:
        """Median absolute error over runs, interpolated within its grid cell.

        Without that, an integer answer's median error jumps from 1 to 2 for a hair.
        """
        generator, bits, truth = default_rng(seed), SeededBits(seed), self.truth(values)
        errors = [abs(self.answer(values, generator, bits) - truth) for _ in range(runs)]
        return median_grouped(errors, interval=float(self.grid))


def adult_column(name: str) -> NDArray[np.int64]:
    """A numeric column of the census table, 32,561 rows."""
    with gzip.open(ADULT, "rt", encoding="utf-8", newline="") as file:
        return np.array([int(row[name]) for row in csv.DictReader(file)])


def synthetic_ages(seed: int) -> NDArray[np.int64]:
    """32,561 ages from 17 with mean near 38.6 and deviation near 13.6, as in the census."""
    return np.clip(17 + default_rng(seed).gamma(2.4, 9.0, 32_561), 17, 90).astype(np.int64)
