"""Bounds on what one unit adds: given, or to be chosen privately. Plain data of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proxy.kernel.statistics import Measured
from proxy.mechanisms.loss import Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundChoice:
    """A bound that is chosen privately before what it bounds is released (mechanisms.private_bound).

    bounds: the public ones, upwards, in rows or grid steps of a unit's total; walk, report: what choosing may
    spend, and the two noisy counts of units that say what was clipped, of this scale each. is_given: the policy
    bounds units, nothing is chosen, and only those that are cut are counted.
    """

    bounds: tuple[int, ...]
    walk: Loss
    report: Loss
    report_scale: Fraction
    is_given: bool = False

    @property
    def loss(self) -> Loss:
        return self.walk + self.report


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChoice:
    """A bound on the size of a value that a subquery computes of all rows of a unit, such as their sum.

    Attributes:
        number: The release by which the choice is named: one of `releases`, another one for each choice.
        releases: What is computed of the value.
        measured: The value within the largest bound. A unit counts with the largest of its values.
        choice: The bounds, in grid steps of `measured`.
        bound: The one that is chosen. None before that.
    """

    number: int
    releases: frozenset[int]
    measured: Measured
    choice: BoundChoice
    bound: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightChoice:
    """A bound on the rows of a unit that is chosen from a noisy histogram of octaves (mechanisms.row_weights).

    Attributes:
        number: The release by which the choice is named: the first of `releases`.
        releases: The quantiles whose rows have weights by it.
        bounds: The public ones, upwards from 1.
        cells: What the histogram may spend.
        scale: Of the noise in each of its cells.
    """

    number: int
    releases: frozenset[int]
    bounds: tuple[int, ...]
    cells: Loss
    scale: Fraction

    @property
    def loss(self) -> Loss:
        return self.cells

    @property
    def is_given(self) -> bool:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTotal:
    """What a unit adds over all groups is cut: without groups to low..high, else so that the sizes of its sums
    add up to the larger of both at most, each kept in so many `parts` of a grid step. choice: where high, and
    -low where a total may be negative, is chosen; before that they are the largest there is."""

    low: int
    high: int
    parts: int
    choice: BoundChoice | None

    @property
    def most(self) -> int:
        return max(1, -self.low, self.high)
