"""The SQL of each statistic (kernel/statistics.py): over rows, and over what is gathered per unit."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import assert_never

from proxy.compiler.aggregate_sql import (
    RowSource,
    centred_total_sql,
    count_sql,
    filter_sql,
    index_sql,
    total_sql,
    values_sql,
)
from proxy.kernel.plan import NoisyStatistic
from proxy.kernel.statistics import Counted, Measured, Statistic, of_row

_SQUARE_SAFE = 2**29  # 8 times its square is a bigint
# Twice the sum of such indices of 2^44 rows is a bigint: eight times as many as a table has (aggregate_sql.py).
_TOTAL_SAFE = 2**17


def statistic_sql(release: NoisyStatistic, rows: RowSource) -> str:
    """Its exact sum: a whole number, NULL where there is nothing to add up."""
    of = release.of
    if isinstance(of, Counted):
        return count_sql(of, rows)
    match release.statistic:
        case Statistic.ROWS:
            return values_sql(of[0], rows)
        case Statistic.STEPS:
            return total_sql(of[0], rows)
        case Statistic.CENTRED:
            return centred_sql(of[0], rows)
        case Statistic.SQUARES:
            return _squares_sql(of[0], rows)
        case Statistic.PRODUCTS:
            return _products_sql(of, rows)
        case _:
            assert_never(release.statistic)


def rows_sql(release: NoisyStatistic, rows: RowSource) -> str:
    """How many rows it adds up."""
    of = release.of
    return count_sql(of, rows) if isinstance(of, Counted) else values_sql(of[0], rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSum:
    """A sum over a unit's rows, of numbers within low..high. count: how many rows it adds up; is_of_mean: of
    too many it is their mean that counts."""

    count: str
    sql: str
    low: int
    high: int
    is_of_mean: bool


def row_sum(release: NoisyStatistic, rows: RowSource) -> RowSum:
    measured = () if isinstance(release.of, Counted) else release.of
    low, high = of_row(release.statistic, measured)
    return RowSum(
        count=rows_sql(release, rows),
        sql=statistic_sql(release, rows),
        low=low,
        high=high,
        is_of_mean=release.statistic.is_centred or any(one.is_of_mean for one in measured),
    )


def centred_sql(measured: Measured, rows: RowSource) -> str:
    """Sum of y = 2 i - (low + high): the values about the middle of their bounds, in half grid steps."""
    found = centred_total_sql(measured, rows)
    if found is not None:
        return found
    if is_of_bigints(measured, rows):
        # Per row a sum(integer), which is also that of a SUM in the same statement. That of bigints is a
        # numeric, whose quotients are no whole numbers: so there is a cast.
        middle = rows.binds.number(measured.low + measured.high, "bigint")
        total, count = total_sql(measured, rows), values_sql(measured, rows)
        return f"(2 * {total} - {middle} * {count})::bigint"
    only = filter_sql(measured.condition, rows)
    return f"pg_catalog.sum({_centred(measured, rows)}){only}"


def is_of_bigints(measured: Measured, rows: RowSource) -> bool:
    """Whether `centred_sql` is a bigint, whatever rows there are."""
    is_small = max(abs(measured.low), abs(measured.high)) < _TOTAL_SAFE
    return is_small and centred_total_sql(measured, rows) is None


def squared_sql(measured: Measured, rows: RowSource) -> str:
    """Sum of y^2, in numeric where bigint could overflow."""
    kind = "bigint" if measured.width < _SQUARE_SAFE else "numeric"
    y = f"{_centred(measured, rows)}::{kind}"
    return f"pg_catalog.sum(({y}) * ({y})){filter_sql(measured.condition, rows)}"


def centred_row_sum(measured: Measured, rows: RowSource) -> RowSum:
    return RowSum(
        count=values_sql(measured, rows),
        sql=centred_sql(measured, rows),
        low=-measured.width,
        high=measured.width,
        is_of_mean=True,
    )


def _squares_sql(measured: Measured, rows: RowSource) -> str:
    """Sum of 2 y^2 - (high - low)^2, in numeric where bigint could overflow."""
    kind = "bigint" if measured.width < _SQUARE_SAFE else "numeric"
    y = f"{_centred(measured, rows)}::{kind}"
    square = f"(2 * ({y}) * ({y}) - {rows.binds.number(measured.width**2, kind)})"
    return f"pg_catalog.sum({square}){filter_sql(measured.condition, rows)}"


def _products_sql(of: tuple[Measured, ...], rows: RowSource) -> str:
    """Sum of products of the values about the middle of their bounds; a NULL factor makes a NULL product."""
    one, other = of
    kind = "bigint" if one.width * other.width < _SQUARE_SAFE**2 else "numeric"
    factors = (f"{_centred(one, rows)}::{kind}", f"{_centred(other, rows)}::{kind}")
    return f"pg_catalog.sum({' * '.join(factors)}){filter_sql(one.condition, rows)}"


def _centred(measured: Measured, rows: RowSource) -> str:
    middle = rows.binds.number(measured.low + measured.high, "bigint")
    return f"(2 * ({index_sql(measured, rows)})::bigint - {middle})"
