"""Statements in canonical form as trees, before anything is known of their tables.

PostgreSQL writes each form in one spelling: operators in brackets, `*`, NATURAL and BETWEEN written out,
aliases that are unique in the statement, each literal as a number, true, false, NULL or a text with its type.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TypeTree:
    """name: As PostgreSQL writes it; a quoted name keeps its quotes, as `"integer"` is a type of the client's.
    modifier: (10, 2) of numeric(10,2). fields: `day to second` of an interval."""

    name: str
    modifier: tuple[str, ...] = ()
    fields: str = ""


@dataclass(frozen=True, slots=True)
class ColumnName:
    """relation: An alias, which is unique in the statement; "" for a column that JOIN USING has merged."""

    relation: str
    column: str
    start: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """is_text: In quotes. value: None for NULL."""

    value: str | bool | None
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class ParameterName:
    number: int


@dataclass(frozen=True, slots=True)
class OperatorTree:
    """An operator with one operand, before it, or two. IS DISTINCT FROM is one of them."""

    operator: str
    operands: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class OrderBy:
    operand: Tree
    is_descending: bool
    nulls_first: bool | None


@dataclass(frozen=True, slots=True)
class WindowOf:
    """name: Of the window that it extends. frame: Its words."""

    name: str
    partition: tuple[Tree, ...]
    order: tuple[OrderBy, ...]
    frame: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function, an aggregate or a window function. name: With its schema, but for pg_catalog. over: A window
    or the name of one."""

    name: str
    arguments: tuple[Tree, ...]
    is_star: bool = False
    is_distinct: bool = False
    order: tuple[OrderBy, ...] = ()
    within: tuple[OrderBy, ...] = ()
    filter: Tree | None = None
    over: WindowOf | str | None = None
    start: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class CastTo:
    operand: Tree
    type: TypeTree


@dataclass(frozen=True, slots=True)
class CaseOf:
    subject: Tree | None
    whens: tuple[tuple[Tree, Tree], ...]
    otherwise: Tree | None


@dataclass(frozen=True, slots=True)
class Junction:
    """AND or OR."""

    word: str
    operands: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Tree


@dataclass(frozen=True, slots=True)
class TruthTest:
    """IS NULL (truth None), IS TRUE, IS FALSE; of IS UNKNOWN the operand is a condition."""

    operand: Tree
    truth: bool | None


@dataclass(frozen=True, slots=True)
class Quantified:
    """operand = ANY (array), operand <> ALL (array)."""

    operator: str
    operand: Tree
    array: Tree
    is_all: bool


@dataclass(frozen=True, slots=True)
class InQuery:
    """operand IN (SELECT ...)"""

    operand: Tree
    query: QueryTree


@dataclass(frozen=True, slots=True)
class ExistsQuery:
    query: QueryTree


@dataclass(frozen=True, slots=True)
class ScalarQuery:
    query: QueryTree


@dataclass(frozen=True, slots=True)
class ArrayQuery:
    query: QueryTree


@dataclass(frozen=True, slots=True)
class ArrayOf:
    elements: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class RowOf:
    """is_explicit: Written with ROW, so that it is one value, never a list of keys."""

    elements: tuple[Tree, ...]
    is_explicit: bool = False


@dataclass(frozen=True, slots=True)
class Subscript:
    operand: Tree
    place: Tree


@dataclass(frozen=True, slots=True)
class FieldOf:
    operand: Tree
    name: str


@dataclass(frozen=True, slots=True)
class WholeRow:
    relation: str


@dataclass(frozen=True, slots=True)
class GroupingOf:
    keys: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class SpecialWord:
    """CURRENT_DATE and its like."""

    word: str


@dataclass(frozen=True, slots=True)
class NamedArgument:
    """days => 14"""

    name: str
    value: Tree


@dataclass(frozen=True, slots=True)
class RawSql:
    """SQL of ours in a rewritten statement, as an expression or in FROM. No text is read as one."""

    text: str


@dataclass(frozen=True, slots=True)
class Collated:
    operand: Tree
    collation: str


Tree = (
    ColumnName
    | Literal
    | ParameterName
    | OperatorTree
    | Call
    | CastTo
    | CaseOf
    | Junction
    | Negation
    | TruthTest
    | Quantified
    | InQuery
    | ExistsQuery
    | ScalarQuery
    | ArrayQuery
    | ArrayOf
    | RowOf
    | Subscript
    | FieldOf
    | WholeRow
    | GroupingOf
    | SpecialWord
    | NamedArgument
    | RawSql
    | Collated
)


@dataclass(frozen=True, slots=True)
class GroupingSets:
    """word: GROUPING SETS, ROLLUP or CUBE."""

    word: str
    parts: tuple[GroupItem, ...]


GroupItem = Tree | GroupingSets


@dataclass(frozen=True, slots=True)
class TableInFrom:
    """columns: Names by which all columns of the table are known, in its order; empty: its own."""

    schema: str
    name: str
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryInFrom:
    query: QueryTree
    alias: str
    columns: tuple[str, ...]
    is_lateral: bool


@dataclass(frozen=True, slots=True)
class FunctionInFrom:
    call: Tree
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JoinInFrom:
    """kind: CROSS, INNER, LEFT, RIGHT or FULL."""

    kind: str
    left: FromItem
    right: FromItem
    on: Tree | None
    using: tuple[str, ...]
    alias: str


FromItem = TableInFrom | QueryInFrom | FunctionInFrom | JoinInFrom | RawSql


@dataclass(frozen=True, slots=True)
class CteTree:
    name: str
    columns: tuple[str, ...]
    query: QueryTree
    is_recursive: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """What follows a SELECT or a set operation. has_ties: WITH TIES."""

    order: tuple[OrderBy, ...] = ()
    limit: Tree | None = None
    offset: Tree | None = None
    has_ties: bool = False


NO_ENDING = Ending()


@dataclass(frozen=True, slots=True)
class SelectTree:
    """items: With the names that are written. is_distinct: DISTINCT; distinct_on: its expressions."""

    ctes: tuple[CteTree, ...]
    is_distinct: bool
    distinct_on: tuple[Tree, ...]
    items: tuple[tuple[Tree, str], ...]
    source: tuple[FromItem, ...]
    where: Tree | None
    group: tuple[GroupItem, ...]
    is_group_distinct: bool
    having: Tree | None
    windows: tuple[tuple[str, WindowOf], ...]
    ending: Ending


@dataclass(frozen=True, slots=True)
class SetTree:
    """operator: UNION ALL, UNION, INTERSECT, EXCEPT, ... of two or more parts."""

    ctes: tuple[CteTree, ...]
    operator: str
    parts: tuple[QueryTree, ...]
    ending: Ending


@dataclass(frozen=True, slots=True)
class ValuesTree:
    ctes: tuple[CteTree, ...]
    rows: tuple[tuple[Tree, ...], ...]
    ending: Ending


QueryTree = SelectTree | SetTree | ValuesTree
