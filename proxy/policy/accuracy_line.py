"""One line of the accuracy table: how one column and aggregate will be answered. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class AccuracyAggregate(Enum):
    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    VARIANCE = "variance"
    QUANTILE = "quantile"


class AccuracyMechanism(Enum):
    LAPLACE = "discrete laplace"
    GAUSSIAN = "discrete gaussian"
    SMOOTHED_MEDIAN = "smoothed median"
    POLYPLACE = "smoothed median, polyplace"
    NOISY_MOMENTS = "noisy sums over noisy count"
    SUM_OVER_COUNT = "noisy sum over noisy count"
    CLIPPED_MEAN = "mean of clipped means"
    ORDER_STATISTIC = "exponential mechanism"


@dataclass(frozen=True, slots=True)
class PolicyAccuracy:
    """One line of `dpproxy policy check`. Quantities are in the unit of the column.

    Dates count days, timestamps seconds.

    sensitivity, scale: of the discrete Laplace or Gaussian noise (sigma); None for the smoothed
        median, whose scale depends on the data and is private, and where there are several.
    error_95: the noise is within this in 95 of 100 answers. For the smoothed median: what the
        noise can be at best, on any data; the sampling error of m partitions comes on top.
        None where it depends on the data: one of the next two is given then.
    error_times_rows: over n rows, about this / n, where n is large beside the count's noise.
    error_in_rank: the answer's rank is off by no more, in rows, in 95 of 100 answers. MIN and MAX
        aim so many rows in from the end as well.
    partitions, units_needed: m, and 8 m: below it AVG, MIN and MAX are of little use.
    noise_floor: the least scale that the smoothed median's noise can have, for any data.
    feasible: False where even the least noise covers the whole range.
    """

    table: str
    column: str  # "*" for COUNT(*)
    aggregate: AccuracyAggregate
    mechanism: AccuracyMechanism
    sensitivity: Fraction | None
    scale: Fraction | None
    error_95: Fraction | None
    partitions: int | None = None
    units_needed: int | None = None
    noise_floor: float | None = None
    feasible: bool = True
    error_times_rows: Fraction | None = None
    error_in_rank: int | None = None
