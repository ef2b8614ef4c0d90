"""What names mean inside one SELECT, and which nodes of a parsed expression may be read there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ErrorLevel

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, TableName
from proxy.query.bind.function_forms import FUNCTIONS, SUBSTITUTES, form_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression
from proxy.query.ir.relations import Relation
from proxy.query.syntax.placeholder_tokens import PublicSubquery, RowSubquery
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.query.syntax.slices import EXPRESSION_HINT
from proxy.query.syntax.tokens import fold, truncate

_POSTGRES = Postgres()


class ColumnType(NamedTuple):
    type: SqlType
    type_name: str  # as PostgreSQL prints it, modifier included
    labels: tuple[str, ...] = ()  # of an enumeration, in its order, where they are public


def column_type_of(column: Column) -> ColumnType:
    labels = () if column.enumeration is None else column.enumeration.labels
    return ColumnType(column.type, column.display_type_name, labels)


class ConstantType(NamedTuple):
    """Of what the shadow evaluates. is_list: an array of values of the type."""

    type: SqlType
    is_list: bool


@dataclass(frozen=True, slots=True)
class Named:
    """A relation as names can reach it: ours (alias), the client's prefixes, its columns. key: those on which
    the others depend, of a table with a primary key."""

    alias: str
    qualifiers: frozenset[tuple[str, ...]]
    columns: Mapping[str, ColumnType]
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """SELECT output FROM table AS alias WHERE condition."""

    table: TableName
    alias: str
    output: ir.ColumnRef
    condition: Expression | None


class StarColumn(NamedTuple):
    """Of those that * stands for."""

    name: str
    column: ir.ColumnRef
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean inside one SELECT.

    merged: columns that JOIN ... USING has made one; parameters: types of $1, $2, ...;
    scalars: types of answers of other aggregate subqueries; public: what IN (SELECT ... FROM a public table)
    looks up;
    readers: how each kind of node is read; what is not in it is refused;
    constants: of what the shadow evaluates, by number;
    outer: of the SELECT around a subquery that is asked of each of its rows; lookups: reads such subqueries,
    where they can stand; star: what * stands for, None: the columns of the relations, one after the other;
    fixed: columns of rows of constants, by alias and name.
    """

    relations: tuple[Named, ...]
    parameters: tuple[SqlType, ...]
    merged: Mapping[str, ir.ColumnRef] = field(default_factory=dict)
    scalars: Mapping[ScalarAnswer, SqlType] = field(default_factory=dict)
    public: Mapping[PublicSubquery, PublicColumn] = field(default_factory=dict)
    readers: Readers = field(default_factory=dict)
    constants: Mapping[int, ConstantType] = field(default_factory=dict)
    outer: Scope | None = None
    lookups: Lookups | None = None
    star: tuple[StarColumn, ...] | None = None
    fixed: Mapping[tuple[str, str], Callable[[], Expression]] = field(default_factory=dict)

    def constant_at(self, qualifier: tuple[str, ...], name: str) -> Expression | None:
        """The column of a row of constants in FROM; None: there is no such column, or several."""
        found = [
            read
            for (alias, column), read in self.fixed.items()
            if column == name and qualifier in ((), (alias,))
        ]
        if not found and self.outer is not None:
            return self.outer.constant_at(qualifier, name)
        return found[0]() if len(found) == 1 else None

    def find(self, qualifier: tuple[str, ...], name: str) -> ir.ColumnRef | None:
        """The one column of this name, or None: of the innermost SELECT that has one (PostgreSQL 17
        documentation, section 4.2.11)."""
        if not qualifier and name in self.merged:
            return self.merged[name]
        found = [
            relation
            for relation in self.relations
            if name in relation.columns and (not qualifier or qualifier in relation.qualifiers)
        ]
        if not found and self.outer is not None:
            return self.outer.find(qualifier, name)
        if len(found) != 1:
            return None
        return ir.ColumnRef(name, found[0].columns[name].type, None, found[0].alias)

    def labels(self, expression: Expression) -> tuple[str, ...]:
        """Of a column of an enumeration that is read as one, not as the text of its label."""
        if not isinstance(expression, ir.ColumnRef) or expression.type is not SqlType.ENUM:
            return ()
        for relation in self.relations:
            if relation.alias == expression.relation and expression.column in relation.columns:
                return relation.columns[expression.column].labels
        return () if self.outer is None else self.outer.labels(expression)

    def look_up(self, subquery: RowSubquery, operand: Expression | None = None) -> Expression:
        """What a subquery says of a row; operand: what stands before IN."""
        if self.lookups is None:
            raise Refusal(
                Code.UNSUPPORTED,
                "a subquery about each row is not available in ON",
                "Write it in WHERE, or join a subquery that groups by the privacy unit.",
            )
        return self.lookups.read(subquery, operand, self)

    def with_lookups(self, relation: Relation) -> Relation:
        """The FROM clause with what has been looked up for its rows."""
        return relation if self.lookups is None else self.lookups.joined(relation)

    def read(self, node: exp.Expr) -> Expression:
        """A part of an expression: a node by its exact type."""
        if not isinstance(node, exp.Expr):  # e.g. of count(): an argument that is not there
            raise Refusal(
                Code.SYNTAX,
                "a part of an expression is missing",
                "Write an argument, e.g. count(*) or sum(column).",
            )
        reader = self.readers.get(type(node))
        if reader is None:
            raise unknown(node)
        return reader(node, self)


class Lookups(Protocol):
    """Subqueries that are asked of each row of one SELECT."""

    def read(
        self, subquery: RowSubquery, operand: Expression | None, scope: Scope
    ) -> Expression: ...

    def joined(self, relation: Relation) -> Relation: ...


Reader = Callable[[exp.Expr, Scope], Expression]
Readers = Mapping[type[exp.Expr], Reader]


def position_of(node: exp.Expr) -> int | None:
    """1-based position of the first word below a node that kept its place."""
    for part in node.walk():
        if "start" in part.meta:
            return int(part.meta["start"]) + 1
    return None


def column_name(node: exp.Column) -> tuple[tuple[str, ...], str]:
    """What stands before a column's name, and the name; "" for a star."""
    parts = (node.args.get(key) for key in ("catalog", "db", "table"))
    qualifier = tuple(identifier(part) for part in parts if part is not None)
    return qualifier, "" if isinstance(node.this, exp.Star) else identifier(node.this)


def identifier(node: object) -> str:
    """An identifier as PostgreSQL folds it."""
    if not isinstance(node, exp.Identifier):
        raise Refusal(
            Code.UNSUPPORTED,
            "a name in this query on a protected table is not supported",
            "Use plain names of tables and columns.",
        )
    return truncate(node.name) if node.args.get("quoted") else fold(node.name)


*_FIRST, _LAST = FUNCTIONS.values()
_ALLOWED = f"Allowed are comparisons, + - * / and ||, CASE, LIKE, {', '.join(_FIRST)} and {_LAST}."

# What is written, where the parser's name for it says little.
_WRITTEN: Mapping[type[exp.Expr], str] = {
    exp.All: "ALL",
    exp.Any: "ANY",
    exp.Array: "ARRAY",
    exp.ArrayContainedBy: "operator <@",
    exp.ArrayContainsAll: "operator @>",
    exp.ArrayOverlaps: "operator &&",
    exp.AtTimeZone: "AT TIME ZONE of this",
    exp.BitString: "a bit string",
    exp.ByteString: "a byte string",
    exp.BitwiseAnd: "operator &",
    exp.BitwiseLeftShift: "operator <<",
    exp.BitwiseNot: "operator ~",
    exp.BitwiseOr: "operator |",
    exp.BitwiseRightShift: "operator >>",
    exp.BitwiseXor: "operator #",
    exp.Bracket: "a subscript",
    exp.Collate: "COLLATE",
    exp.Dot: "a function with its schema, or a field of a row,",
    exp.DPipe: "operator ||",
    exp.Escape: "ESCAPE",
    exp.Exists: "EXISTS",
    exp.HexString: "a bit string",
    exp.Interval: "an interval",
    exp.JSONExtract: "operator ->",
    exp.JSONExtractScalar: "operator ->>",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.Overlaps: "OVERLAPS",
    exp.Parameter: "a parameter of unknown type",
    exp.RegexpILike: "operator ~*",
    exp.RegexpLike: "operator ~",
    exp.SimilarTo: "SIMILAR TO",
    exp.Tuple: "a list in brackets",
}
# What to write instead, where there is something of the same meaning.
_LIST = "Write the list after IN: column IN (1, 2), column NOT IN (1, 2), or column IN ($1, $2)."
_UNNEST = (
    "Count what is in an array one by one: count(*) FILTER (WHERE 'a' = ANY(column)). A list stands after IN:"
    " column IN (1, 2)."
)
_PATTERN = (
    "Write column LIKE 'a%' or column ILIKE 'a%', in which % is any text and _ any character."
)
_INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(("ANY", "ALL", "SOME", "ARRAY"), _LIST),
    "UNNEST": _UNNEST,
    "A FUNCTION WITH ITS SCHEMA, OR A FIELD OF A ROW,": "Write the function alone, without pg_catalog.",
    **dict.fromkeys(("OPERATOR ~", "OPERATOR ~*", "SIMILAR TO", "ESCAPE"), _PATTERN),
}
_NOW = (
    *(exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.Localtime, exp.Localtimestamp),
)


def unknown(node: exp.Expr) -> Refusal:
    if isinstance(node, _NOW):
        return Refusal(
            Code.FUNCTION,
            "the current date and time are not available on protected columns",
            "Write them as a constant, e.g. column >= '2026-01-31'.",
            position_of(node),
        )
    written = _WRITTEN.get(type(node))
    if written is not None:
        return Refusal(
            Code.UNSUPPORTED,
            f"{written} is not allowed in a query on a protected table",
            _INSTEAD.get(written.upper(), EXPRESSION_HINT),
            position_of(node),
        )
    form = form_of(node)
    if form is not None:  # to list it among the allowed ones would help nobody
        return Refusal(
            Code.FUNCTION,
            f"function {form.name} is not allowed with these arguments on protected columns",
            form.hint,
            position_of(node),
        )
    if isinstance(node, exp.Func):
        name = function_name(node)
        return Refusal(
            Code.FUNCTION,
            f"function {name} is not allowed on protected columns",
            _instead_of(name),
            position_of(node),
        )
    return Refusal(
        Code.UNSUPPORTED,
        "this form of expression is not allowed in a query on a protected table",
        EXPRESSION_HINT,
        position_of(node),
    )


def _instead_of(function: str) -> str:
    substitute = SUBSTITUTES.get(function.lower())
    return _INSTEAD.get(function.upper(), _ALLOWED) if substitute is None else substitute.hint


def function_name(node: exp.Expr) -> str:
    """As PostgreSQL calls it; the parser has names of its own (Rand, TimeToStr)."""
    if type(node) is exp.Anonymous:
        return str(node.name)
    written = _POSTGRES.generate(node, unsupported_level=ErrorLevel.IGNORE)
    name = written.partition("(")[0].lower()
    return name if name.isidentifier() else type(node).__name__.lower()


def only(node: exp.Expr, *allowed: str) -> None:
    """Every argument that is set must be one that the reader looks at."""
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            raise unknown(node)
