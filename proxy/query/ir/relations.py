"""Row-wise relations: what stands in the FROM clause of an aggregate subquery. Plain data.

Every relation has an alias of ours (r1, r2, ...), so that a column is always (alias, name) and nothing of the
client's naming reaches the protected database.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRead:
    """A prepared copy, as of the time that its owner states. Another time is another question.

    Attributes:
        table: Its name.
        as_of: The time.
        through: The table in which its rows found their units, if those are behind a reference.
    """

    table: TableName
    as_of: str
    through: TableName | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of a table; copy: those of its prepared copy instead, which only the planner puts."""

    alias: str
    table: TableName
    copy: CopyRead | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """INNER or LEFT JOIN. equal: pairs of columns that ON sets equal, left side first; rest: what else ON
    says; left_outer: rows of the left side without partner stay, with NULLs on the right; has_public_outer: so
    would rows of the public side as it was written, which are not formed (bind/outer_joins.py).

    is_lookup: the right side is what a subquery of the question (EXISTS, IN, a scalar one) says of a row's own
    unit. It is one row for each value of the right columns of `equal`, so that no row is repeated. written: of
    such, how the question itself names relations, by their aliases; for hints alone.

    is_seeded: a seeded hash of what `equal` compares is compared, too, so that a person cannot choose keys that
    collide. The planner leaves it out where units alone are compared, of which a person has one, and where a
    side is public."""

    left: Relation
    right: Relation
    left_outer: bool
    equal: tuple[tuple[ColumnRef, ColumnRef], ...]
    rest: Expression | None
    position: int | None = field(default=None, compare=False)  # of JOIN or the comma
    has_public_outer: bool = field(default=False, compare=False)
    is_lookup: bool = False
    is_seeded: bool = True
    written: tuple[tuple[str, str], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Subquery:
    """A row-wise subquery or CTE: filtered, renamed, computed; one output row per row that passes.

    windows: further columns, of one order all of them, for a subquery of ours around it."""

    alias: str
    source: Relation
    where: Expression | None
    outputs: tuple[tuple[str, Expression], ...]
    position: int | None = field(default=None, compare=False)  # of what a refusal of it is about
    windows: tuple[WindowColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupByUnit:
    """GROUP BY the privacy unit, and by further keys: one row per unit and keys: `unit`, k1, ..., a1, ...
    rows: the most that a count in it can be (the planner knows).

    is_compared: its MIN and MAX stand in comparisons alone, and are those of what is stored, not clamped.
    unit: as the reader has it, which may be a reference that leads to the unit; the planner puts the unit."""

    alias: str
    source: Relation
    where: Expression | None
    unit: ColumnRef
    aggregates: tuple[Aggregate, ...]
    rows: int = 0
    keys: tuple[Expression, ...] = ()
    is_compared: bool = False


@dataclass(frozen=True, slots=True)
class UnionAll:
    """UNION ALL of row-wise relations; columns c1, c2, ... matched by place."""

    alias: str
    parts: tuple[Subquery, ...]


@dataclass(frozen=True, slots=True)
class Truncate:
    """Rows of a table or subquery, of which few have equal values in `by`; under the same alias. Only the
    planner makes it.

    most: at most so many rows of one value, the first in keyed-hash order of ordered_by, which names a row;
    None: only a row that is alone with its value. present: columns that are not NULL in a row that is kept;
    by None: that is all. columns: those of the source that may be asked for. place: a name that none has.
    below_join: by the privacy unit, below a join on it; where: a condition on single rows that comes before.
    with_null: rows without a value of `by` stay, all of them, as they do on the left of a LEFT JOIN.
    """

    source: Scan | Subquery | UnionAll | Truncate
    by: ColumnRef | None
    most: int | None
    ordered_by: tuple[ColumnRef, ...]
    present: tuple[ColumnRef, ...]
    columns: tuple[str, ...]
    place: str
    below_join: bool = False
    where: Expression | None = None
    with_null: bool = False

    @property
    def alias(self) -> str:
        return self.source.alias


Relation = Scan | Join | Subquery | GroupByUnit | UnionAll | Truncate


def relations_of(relation: Relation) -> Iterator[Relation]:
    """A relation, and all relations in it."""
    yield relation
    match relation:
        case Scan():
            return
        case Join():
            yield from relations_of(relation.left)
            yield from relations_of(relation.right)
        case Subquery() | GroupByUnit() | Truncate():
            yield from relations_of(relation.source)
        case UnionAll():
            for part in relation.parts:
                yield from relations_of(part)
        case _:
            assert_never(relation)


def scans(relation: Relation) -> Iterator[Scan]:
    """All tables in a relation."""
    return (one for one in relations_of(relation) if isinstance(one, Scan))


def tables_of_rows(relation: Relation) -> tuple[TableName, ...]:
    """The tables of which rows come into a relation, each once. A copy has units of another table, too.

    >>> copy = CopyRead(table=TableName("dp", "lines"), as_of="now", through=TableName("w", "orders"))
    >>> [str(table) for table in tables_of_rows(Scan("r1", TableName("w", "lines"), copy))]
    ['w.lines', 'w.orders']
    """
    named = (
        (scan.table, None if scan.copy is None else scan.copy.through) for scan in scans(relation)
    )
    return tuple(dict.fromkeys(table for pair in named for table in pair if table is not None))


def windows(relation: Relation) -> Iterator[WindowColumn]:
    """All window functions over rows in a relation."""
    for one in relations_of(relation):
        if isinstance(one, Subquery):
            yield from one.windows


# Window functions over the rows of each privacy unit, as columns of a subquery. Plain data.


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
