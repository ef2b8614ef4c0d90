"""Statistics: linear sums over rows, of which COUNT, SUM, AVG, variances and regression are made.

Each is one case of `of_row`: how much one row can add. Its SQL: compiler.statistic_sql.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.node_parts import nodes
from proxy.kernel.known_values import Value
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import Clamped, ColumnRef, Expression

# Indices are added, squared and multiplied as bigints (compiler.statistic_sql), and floats hold them exactly
# (PROOFS.md 3 "Rounding").
LARGEST_INDEX = 2**52


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the database computes of each row for one release: a grid index of the operand, clamped.

    clamp: multiples of the grid; low, high: the clamp in grid steps; rows: at most so many rows of one unit
    count, over all groups; on_grid: the column's type holds only grid steps; least: nothing below it;
    is_of_mean: its sum is divided by a number of rows, so that a unit with more rows than count adds its mean
    so many times (as it does to centred sums); factors: some of the `factors_of` an operand that is computed;
    index: a column that holds the index already, on a grid of which index_steps are a step here. It is clamped
    all the same, so nothing is believed of what is in it.
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


def factors_of(operand: Expression, stored: Callable[[ColumnRef], Value]) -> tuple[Measured, ...]:
    """Give the columns of an operand of whose indices it can be computed in whole numbers (PROOFS.md 36).

    Each is clamped as it is there, on steps that its type (stored) keeps to, the ends of its clamp among them:
    so no index lies beyond these. A plan can leave some out. With another one a row could be added up and not
    be counted.

    >>> from tests.kernel.examples import of_table
    >>> column = of_table("r1", "visits", "n2")
    >>> operand = Clamped(column, Fraction(0), Fraction(2), column.type)
    >>> [one.high for one in factors_of(operand, lambda _: Value(step=Fraction(1, 100)))]
    [200]
    >>> factors_of(operand, lambda _: Value()), factors_of(operand, lambda _: Value(step=Fraction(3)))
    ((), ())
    """
    found = []
    for one in dict.fromkeys(nodes(operand)):
        if not isinstance(one, Clamped) or not isinstance(one.operand, ColumnRef):
            continue
        known, ends = stored(one.operand), (one.low, one.high)
        step = known.step
        if step is None or not one.type.is_number:
            continue
        if any((end / step).denominator != 1 or abs(end / step) > LARGEST_INDEX for end in ends):
            continue
        factor = Measured(
            operand=one,
            condition=None,
            clamp=Bounds(*ends),
            grid=step,
            rows=1,
            on_grid=True,
            least=known.least,
        )
        found.append(factor)
    return tuple(found)


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
