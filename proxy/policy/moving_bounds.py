"""Bounds that end with the present: their numbers on a day (ADR 0095)."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.base.errors import Fault
from proxy.base.instants import DAY_SECONDS
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    MovingBounds,
    ProtectedTable,
    PublicTable,
)

_INSTANT = Fraction(1, 10**6)  # between two timestamps of PostgreSQL


def moving_high(kind: BoundsKind, grid: Fraction | None, day: int) -> Fraction:
    """Round the present down to the grid, to a day at least.

    A date column can hold that day. A timestamp column ends with the last instant before it, so that no group
    begins with a bound after which it has no rows.

    Args:
        kind: Dates or timestamps.
        grid: The column's own, if the policy states one.
        day: The present, in days since 1970-01-01, UTC.

    >>> moving_high(BoundsKind.DATE, Fraction(7), 20_000)
    Fraction(19999, 1)
    """
    unit = 1 if kind is BoundsKind.DATE else DAY_SECONDS
    step = max(Fraction(unit), grid or Fraction(0))
    rounded = math.floor(day * unit / step) * step
    return rounded if kind is BoundsKind.DATE else rounded - _INSTANT


def bounds_on(column: ColumnPolicy, day: int | None) -> Bounds | None:
    """Give the bounds of a column while it is that day (days since 1970-01-01, UTC).

    A low end that is not before the present, which the policy's check refuses, has two steps of the grid above
    it: a plan is a plan whatever a clock says.

    Raises:
        Fault: Its bounds end with the present, and the day is not known. No other clock takes its place.
    """
    bounds = column.bounds
    if not isinstance(bounds, MovingBounds):
        return bounds
    if day is None:
        raise Fault("bounds that end with the present need the day")
    least = bounds.low + 2 * (column.grid or 1)
    return Bounds(bounds.low, max(least, moving_high(bounds.kind, column.grid, day)), bounds.kind)


def is_moving(table: ProtectedTable | PublicTable | None) -> bool:
    """Tell whether a table has a column whose bounds end with the present."""
    return isinstance(table, ProtectedTable) and any(
        isinstance(column.bounds, MovingBounds) for column in table.columns.values()
    )
