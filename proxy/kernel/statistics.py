"""Statistics: linear sums over rows, of which COUNT, SUM, AVG, variances and regression are made.

Each is one case of `of_row`: how much one row can add. Its SQL: compiler.statistic_sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import ColumnRef, Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the database computes of each row for one release: a grid index of the operand, clamped.

    clamp: multiples of the grid; low, high: the clamp in grid steps; rows: at most so many rows of one unit
    count, over all groups; on_grid: the column's type holds only grid steps; least: nothing below it;
    is_of_mean: its sum is divided by a number of rows, so that a unit with more rows than count adds its mean
    so many times (as it does to centred sums); factors: columns of an operand that is computed, each clamped as
    it is there, on a grid of its own that its type keeps to: of their indices the operand can be computed in
    whole numbers, and they follow from the operand and the catalogue; index: a column that holds the index
    already, on a grid of which index_steps are a step here. It is clamped all the same, so nothing is believed
    of what is in it.
    """

    operand: Expression
    condition: Expression | None
    clamp: Bounds
    grid: Fraction
    rows: int
    on_grid: bool = False
    least: Fraction | None = None
    is_of_mean: bool = False
    factors: tuple[Measured, ...] = field(default=(), compare=False)
    index: ColumnRef | None = None
    index_steps: int = 1

    @property
    def low(self) -> int:
        return int(self.clamp.low / self.grid)

    @property
    def high(self) -> int:
        return int(self.clamp.high / self.grid)

    @property
    def width(self) -> int:
        return self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Rows whose operand is not NULL (None: all rows). never_null: the operand, by the catalogue: all count."""

    operand: Expression | None
    condition: Expression | None
    never_null: bool


class Statistic(Enum):
    """What is added up over rows whose operand is not NULL. y = 2 i - (low + high), D = high - low."""

    ROWS = "rows"  # 1
    STEPS = "sum"  # i, the grid index
    CENTRED = "centred sum"  # y
    SQUARES = "centred squares"  # 2 y^2 - D^2
    PRODUCTS = "centred products"  # y z, of two operands

    @property
    def label(self) -> str:
        """As EXPLAIN names it."""
        match self:
            case Statistic.ROWS:
                return "count"
            case Statistic.STEPS | Statistic.CENTRED:
                return "sum"
            case Statistic.SQUARES:
                return "sum of squares"
            case Statistic.PRODUCTS:
                return "sum of products"
            case _:
                assert_never(self)

    @property
    def is_centred(self) -> bool:
        """About the middle of the bounds: the sum of all rows says something else than that of some."""
        return self not in (Statistic.ROWS, Statistic.STEPS)


def of_row(statistic: Statistic, measured: Sequence[Measured]) -> tuple[int, int]:
    """The least and the most that one row adds.

    Source   docs/design/mechanisms.md 2.1, 2.2, 7.1, 7.2, 7.4
    """
    match statistic:
        case Statistic.ROWS:
            return 1, 1
        case Statistic.STEPS:
            (one,) = measured
            return one.low, one.high
        case Statistic.CENTRED:
            (one,) = measured
            return -one.width, one.width
        case Statistic.SQUARES:
            (one,) = measured
            return -(one.width**2), one.width**2
        case Statistic.PRODUCTS:
            one, other = measured
            return -one.width * other.width, one.width * other.width
        case _:
            assert_never(statistic)


def row_sensitivity(statistic: Statistic, measured: Sequence[Measured]) -> int:
    """How far one row moves it; 1 at least, so that noise never vanishes."""
    return max(1, *map(abs, of_row(statistic, measured)))
