"""Window functions over the rows of each privacy unit, as columns of a subquery. Plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from proxy.base.node_parts import each_changed, with_parts
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate


class WindowFunction(Enum):
    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    FIRST_VALUE = "first_value"
    LAST_VALUE = "last_value"
    LAG = "lag"
    LEAD = "lead"
    AGGREGATE = "aggregate"
    ROW_NAME = "gen_random_uuid"  # of no window: other in each row


class Frame(Enum):
    """Which rows of its partition a function sees. DEFAULT: up to the row's peers, all of them without ORDER
    BY; others are those that one pass over the partition can do."""

    DEFAULT = ""
    ROWS_SO_FAR = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


_WITHOUT_TIES = (WindowFunction.RANK, WindowFunction.DENSE_RANK, WindowFunction.ROW_NAME)


@dataclass(frozen=True, slots=True)
class OrderTerm:
    expression: Expression
    is_descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowColumn:
    """aggregate: of AGGREGATE; operand: of those that give a value of a row; offset: of LAG and LEAD.

    Only the planner puts these: ties: what decides where `order` does not; present: a column of `partition`
    that names the unit, and where it is NULL the value is NULL; rows: the most that a count can be. It puts the
    unit before `partition`.
    """

    name: str
    function: WindowFunction
    type: SqlType
    partition: tuple[Expression, ...]
    order: tuple[OrderTerm, ...]
    frame: Frame
    operand: Expression | None = None
    aggregate: Aggregate | None = None
    offset: int = 1
    ties: tuple[ColumnRef, ...] = ()
    present: ColumnRef | None = None
    rows: int = 0
    position: int | None = field(default=None, compare=False)

    @property
    def sorts(self) -> tuple[tuple[Expression, ...], tuple[OrderTerm, ...]]:
        return self.partition, self.order

    @property
    def depends_on_ties(self) -> bool:
        """Whether it tells apart rows that its ORDER BY does not."""
        if self.function in _WITHOUT_TIES:
            return False
        return self.function is not WindowFunction.AGGREGATE or self.frame is Frame.ROWS_SO_FAR

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All that it is made of."""
        inner = () if self.aggregate is None else self.aggregate.operands
        condition = None if self.aggregate is None else self.aggregate.condition
        maybe = (part for part in (self.operand, condition) if part is not None)
        return (*self.partition, *(term.expression for term in self.order), *inner, *maybe)

    def changed(self, change: Callable[[Expression], Expression]) -> WindowColumn:
        """With every expression in it changed."""

        def term(one: OrderTerm) -> OrderTerm:
            return with_parts(one, expression=change(one.expression))

        return with_parts(
            self,
            partition=each_changed(self.partition, change),
            order=each_changed(self.order, term),
            operand=None if self.operand is None else change(self.operand),
            aggregate=None if self.aggregate is None else self.aggregate.changed(change),
        )
