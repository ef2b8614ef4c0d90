"""What an answer that is calculated from noisy sums is made of: which sums, and the function of them.

Post-processing: nothing here decides about privacy. It stands beside the plan because a plan names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms.estimate import LEVEL, Estimate

Bounded = Sequence[Measured]  # the operands, in their order


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A statistic, and of which operands; one of rows alone is of none."""

    statistic: Statistic
    of: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisySums:
    """Of one group: the results in the order of the formula's needs, with the scales of their Laplace noise;
    level: the probability with which the interval shall hold the exact number."""

    sums: tuple[int, ...]
    scales: tuple[Fraction, ...]
    measured: tuple[Measured, ...]
    level: Fraction = LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """each: which part of the aggregate's weight every sum must have, for the answer to be no worse than by the
    best release of its own; where that is more than all of it, the formula is for shared sums only.

    of: in the answer's own unit, at 95 %; None, if the one sum is the answer. error: the half width of the
    interval, if it depends on no row; error_times_rows: E, if over n rows it is about E / n.
    """

    needs: tuple[Need, ...]
    each: Fraction
    of: Callable[[NoisySums], Estimate] | None
    output_grid: Callable[[Bounded], Fraction]
    error: Callable[[NoisySums], Fraction] | None = None
    error_times_rows: Callable[[NoisySums], Fraction] | None = None

    @property
    def is_affordable(self) -> bool:
        return self.each * len(self.needs) <= 1
