"""What the compiler and release agree on, who do not know each other: where the numbers are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slots:
    """Where a release finds its partial results among the values of a row: counts and sums, or one extreme.

    total: of a statistic, or the sum of grid indices (centred ones for a mean about a centre); count: non-NULL
    values or distinct ones; extreme: grid index of MIN or MAX, or of one value among many; units: how many of
    them, or of rows, have a value; beside one value among many, units divided over their rows.
    """

    count: int | None = None
    total: int | None = None
    extreme: int | None = None
    units: int | None = None
