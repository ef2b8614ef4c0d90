"""The grid: every noisy number is a whole multiple of a public step (docs/design/mechanisms.md 1).

`proxy.planner.grids` says it for whole expressions, from the same numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.policy.policy_model import Bounds, ColumnPolicy

STEPS_DEFAULT = 10**6  # at least, of a column whose type has no natural step
AVERAGE_STEPS = 10**4  # at least, of a mean
_LARGEST_INDEX = Fraction(92 * 10**17)  # below 2^63: grid indices are bigint in the database


def has_step(bounds: Bounds, grid: Fraction) -> bool:
    """Whether two different multiples of the grid lie within the bounds.

    >>> has_step(Bounds(Fraction(0), Fraction(10)), Fraction(20))
    False
    """
    low, high = indices(bounds, grid)
    return low < high


def indices(bounds: Bounds, grid: Fraction) -> tuple[int, int]:
    """The least and largest grid index within the bounds (docs/design/mechanisms.md 2.2).

    >>> indices(Bounds(Fraction(1, 2), Fraction(175)), Fraction(1, 100))
    (50, 17500)
    """
    return math.ceil(bounds.low / grid), math.floor(bounds.high / grid)


def fits_bigint(bounds: Bounds, grid: Fraction) -> bool:
    """Whether every grid index within the bounds is a bigint."""
    return max(abs(bounds.low), abs(bounds.high)) / grid < _LARGEST_INDEX


def type_step(column: Column) -> Fraction | None:
    """The step between neighbouring values of the column's type; None: the type has none.

    Dates count days; timestamps count seconds and are kept in microseconds (PostgreSQL 17 documentation,
    section 8.5).
    """
    if column.type.is_integer or column.type is SqlType.DATE:
        return Fraction(1)
    if column.type is SqlType.NUMERIC and column.scale is not None:
        return 1 / Fraction(10) ** column.scale
    if column.type in (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ):
        return Fraction(1, 10**6)
    return None


def type_least(column: Column) -> Fraction | None:
    """What no value of a numeric(p,s) is below; None for other types. It holds no infinity (PostgreSQL 17
    documentation, section 8.1.2)."""
    if column.type is not SqlType.NUMERIC or column.precision is None or column.scale is None:
        return None
    return -(Fraction(10) ** (column.precision - column.scale))


def grid_of(column: Column, policy: ColumnPolicy) -> Fraction:
    """The grid of SUM, MIN and MAX over a bounded column: the policy's, or the type's own.

    Given    a column with bounds
    Refuses  a column without bounds with ValueError: there is nothing to lay a grid over
    """
    if not isinstance(policy.bounds, Bounds):
        raise ValueError("a grid needs bounds")
    return grid_within(column, policy.bounds) if policy.grid is None else policy.grid


def grid_within(column: Column, bounds: Bounds) -> Fraction:
    """The type's own grid, or a millionth of what the bounds allow."""
    if column.type.is_time:
        return Fraction(1)
    step = type_step(column)
    if step is not None:
        return step
    most = max(abs(bounds.low), abs(bounds.high), bounds.high - bounds.low)
    return power_of_ten(most / STEPS_DEFAULT) if most else Fraction(1)


def average_grid(column: Column, policy: ColumnPolicy) -> Fraction:
    """The grid of AVG: the column's, or finer, so that the bounds have 10,000 steps or more.

    Gives    0.01 for age in 0..120 and 1 for capital gain in 0..100000, docs/design/mechanisms.md 1
    Refuses  a column without bounds with ValueError
    """
    grid = grid_of(column, policy)
    if not isinstance(policy.bounds, Bounds):
        raise ValueError("a grid needs bounds")
    low, high = indices(policy.bounds, grid)
    return min(grid, power_of_ten((high - low) * grid / AVERAGE_STEPS)) if low < high else grid


@lru_cache(maxsize=1_024)  # each bounded column of a table asks at each plan
def power_of_ten(value: Fraction) -> Fraction:
    """The largest power of ten that is not above a positive value.

    >>> power_of_ten(Fraction(120, 10000))
    Fraction(1, 100)
    """
    power = Fraction(1)
    while power > value:
        power /= 10
    while power * 10 <= value:
        power *= 10
    return power


# Columns of a prepared copy that hold a value as a whole number of grid steps, clamped to its bounds.

_SMALL = 2**22  # sums of such indices are bigints (compiler/aggregate_sql.py)


def index_name(column: str) -> str:
    """
    >>> index_name("amount")
    'amount_i'
    """
    return f"{column}_i"


def index_steps(column: Column, policy: ColumnPolicy) -> int | None:
    """How many steps one is, for a column of which a copy has the index: a numeric with bounds, as steps in
    numeric cost a row several times what those in integer do. None: a copy has the value alone.

    >>> price = Column("price", SqlType.NUMERIC, "numeric(8,2)", True, 8, 2)
    >>> index_steps(price, ColumnPolicy("price", bounds=Bounds(Fraction(0), Fraction(1000))))
    100
    """
    bounds = policy.bounds
    if column.type is not SqlType.NUMERIC or not isinstance(bounds, Bounds):
        return None
    steps = 1 / grid_of(column, policy)
    is_small = max(abs(bounds.low), abs(bounds.high)) * steps < _SMALL
    return steps.numerator if steps.denominator == 1 and is_small else None
