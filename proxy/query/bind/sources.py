"""The SELECTs of one statement, and what has been found out about where their rows come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NoReturn

from sqlglot import TokenType

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import relation_alias
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.policy.publication import PUBLISHED_SCHEMA
from proxy.query.bind.answer_joins import JoinedFrom
from proxy.query.bind.expression_reading import READERS
from proxy.query.bind.scope import ConstantType, Named, PublicColumn, Scope
from proxy.query.ir.bound_statement import AggregateSubquery
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query import Scalar
from proxy.query.ir.relations import Relation
from proxy.query.ir.typing_rules import settle_literal
from proxy.query.syntax.from_clause import (
    LATERAL,
    Item,
    JoinItem,
    QueryItem,
    TableItem,
    leaves,
    read_from,
    without_lateral,
)
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.placeholder_tokens import (
    EvaluatedConstant,
    Placeholder,
    PublicSubquery,
    RowSubquery,
)
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.query.syntax.selects import Select, Span, is_relation
from proxy.query.syntax.slices import HINT, parse
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed, too_complex
from proxy.query.syntax.with_clauses import Visible

Words = tuple[tuple[TokenType, str], ...]
# Subqueries by their words: of each meaning the first that has it.
Asked = dict[Words, list[AggregateSubquery]]


class Nature(Enum):
    """What a SELECT gives: nothing protected, or only answers of aggregate subqueries; one output row per row,
    or per unit; aggregates of rows, which will be answered with noise."""

    CLEAN = "clean"
    ROWS = "rows"
    AGGREGATES = "aggregates"


@dataclass(slots=True)
class Sources:
    """All SELECTs of one statement, and what has been found out about them.

    tables: first lexeme of a name -> table; placeholders: opening bracket of a subquery, or first lexeme of
    what the shadow evaluates -> what stands for its value; types, public, constants: what is known of each;
    of_rows: subqueries that are asked of each row; subqueries, scalars: what has been read, in order;
    result: the keyword of the SELECT that gives the statement's rows; consumed: keywords of SELECTs that became
    part of an aggregate subquery; items: by keyword, FROM as it is written or why it is refused; relations: by
    keyword, the relation that it is, until it is taken; joined: by keyword, FROM parted into rows and answers;
    public_rows: whether a query gives rows of public tables alone; asked: subqueries that answer for others;
    offsets: as of BoundStatement.
    """

    lexed: Lexed
    selects: tuple[Select, ...]
    ctes: tuple[Visible, ...]
    tables: Mapping[int, Exposed]
    parameters: tuple[SqlType, ...]
    result: int | None = None
    placeholders: dict[int, Placeholder] = field(default_factory=dict)
    constants: Mapping[int, ConstantType] = field(default_factory=dict)
    types: dict[ScalarAnswer, SqlType] = field(default_factory=dict)
    of_rows: list[Select] = field(default_factory=list)
    public: dict[PublicSubquery, PublicColumn] = field(default_factory=dict)
    subqueries: list[AggregateSubquery] = field(default_factory=list)
    asked: Asked = field(default_factory=dict)
    scalars: list[Scalar] = field(default_factory=list)
    consumed: set[int] = field(default_factory=set)
    natures: dict[int, Nature] = field(default_factory=dict)
    items: dict[int, Item | Refusal] = field(default_factory=dict)
    relations: dict[int, tuple[Relation, Scope]] = field(default_factory=dict)
    public_rows: dict[Span, bool] = field(default_factory=dict)
    joined: dict[int, JoinedFrom] = field(default_factory=dict)
    offsets: set[int] = field(default_factory=set)
    _aliases: int = 0

    def alias(self) -> str:
        """
        Gives    the name of one more relation: a table or subquery, each time that a CTE over it is named
        Refuses  TOO_COMPLEX: CTEs that name each other twice would double them at each step
        """
        self._aliases += 1
        if self._aliases > limits.RELATIONS:
            raise too_complex(f"of more than {limits.RELATIONS} tables and subqueries, CTEs put in")
        return relation_alias(self._aliases)

    def add_scalar(self, bracket: int, kind: SqlType, block: int) -> None:
        """A scalar subquery has been read, as the block of that index."""
        answer = ScalarAnswer(len(self.scalars))
        self.placeholders[bracket] = answer
        self.types[answer] = kind
        self.scalars.append(Scalar(answer, block))

    def add_public(self, bracket: int, found: PublicColumn) -> None:
        """A list from a public table has been read."""
        lookup = PublicSubquery(len(self.public))
        self.placeholders[bracket] = lookup
        self.public[lookup] = found

    def add_of_rows(self, first: int, select: Select) -> None:
        """A subquery has been found that is asked of each row, from this lexeme on."""
        end = self.lexed.partner[select.keyword - 1] + 1
        self.placeholders[first] = RowSubquery(len(self.of_rows), end)
        self.of_rows.append(select)

    def is_replaced(self, index: int) -> bool:
        """Whether a lexeme is the bracket of a subquery that has been read, or stands in what is evaluated."""
        if isinstance(self.placeholders.get(index - 1), RowSubquery):
            return True  # the bracket after EXISTS
        return index in self.placeholders or any(
            first <= index < found.end
            for first, found in self.placeholders.items()
            if isinstance(found, EvaluatedConstant)
        )

    def from_item(self, select: Select) -> Item:
        """The FROM clause of a SELECT that has one. It is asked for several times: whether it reaches rows,
        what relation it is. It is read once.

        Refuses  as read_from, each time
        """
        known = self.items.get(select.keyword)
        if known is None:
            try:
                known = read_from(self.lexed, select.clauses["from"])
            except Refusal as refusal:
                known = self._with_names(refusal)
            self.items[select.keyword] = known
        if isinstance(known, Refusal):
            raise known
        return known

    def _with_names(self, refused: Refusal) -> Refusal:
        """LATERAL is refused with what to write of the table that it reads."""
        for index, table in sorted(self.tables.items()):
            is_read = self.lexed.lexemes[index].position > (refused.position or 0)
            if refused.message == LATERAL and is_read and table.unit is not None:
                times = (name for name, one in table.columns.items() if one.type.is_time)
                names = written_name(*table.name), written_name(table.unit)
                hint = without_lateral(*names, written_name(next(times, table.unit)))
                return Refusal(refused.code, LATERAL, hint, refused.position)
        return refused

    def _columns_of(self, leaf: TableItem | QueryItem) -> ConstantColumns | None:
        """Of a leaf of FROM that is one row of constants."""
        query, alias, names = (0, 0), leaf.alias, leaf.columns
        if isinstance(leaf, QueryItem):
            query = leaf.query
        else:
            cte = self.cte(leaf)
            if cte is None:
                return None
            query, alias = cte.body, alias or cte.name
            names = (*names, *cte.columns[len(names) :])
        if alias is None or any(query[0] <= index < query[1] for index in self.tables):
            return None
        return row_columns(self.lexed, query, self.selects, alias, names)

    def rows_item(self, select: Select) -> Item:
        """As `from_item`, without what is one row of constants."""
        return without_constant_rows(self.lexed, self.from_item(select), self._columns_of)[0]

    def fixed_columns(self, select: Select) -> Mapping[tuple[str, str], Callable[[], Expression]]:
        """What the columns of rows of constants in FROM are."""

        def reader(span: Span) -> Callable[[], Expression]:
            def read() -> Expression:
                node = parse(self.lexed, span, self.placeholders)
                return settle_literal(self.scope((), {}).read(node), SqlType.TEXT)

            return read

        _, columns = without_constant_rows(self.lexed, self.from_item(select), self._columns_of)
        found = {key: reader(span) for key, span in columns.items()}
        for read in found.values():
            read()  # what is no constant may be several rows
        return found

    def cte(self, item: TableItem) -> Visible | None:
        if len(item.chain) > 1:
            return None
        hits = [
            cte
            for cte in self.ctes
            if cte.name == item.chain[0] and cte.span[0] <= item.first < cte.span[1]
        ]
        return hits[-1] if hits else None

    def scope(self, named: tuple[Named, ...], merged: dict[str, ColumnRef]) -> Scope:
        return Scope(
            named, self.parameters, merged, self.types, self.public, READERS, self.constants
        )

    def refuse_relation(self, item: TableItem) -> NoReturn:
        """Of what is no table of the policy, among rows of a protected table."""
        if item.chain[:-1] == (PUBLISHED_SCHEMA,):
            raise Refusal(
                Code.UNSUPPORTED,
                "rows of a protected table cannot be joined with a published table",
                f"Join its answers: ... FROM (aggregates by k) a JOIN {'.'.join(item.chain)} p ON p.k = a.k,"
                " where the protected table is aggregated inside.",
                self.lexed.lexemes[item.first].position,
            )
        self.refuse(
            item.first,
            "only tables of the policy can be joined with a protected table",
            "Write values of a table of your own as a list: column IN (1, 2), column = ANY ($1).",
        )

    def refuse_recursion(self, cte: Visible) -> None:
        if (
            cte.span[0] > cte.body[0]
        ):  # without RECURSIVE a name means something else in its own body
            return
        for index in range(*cte.body):
            if self.lexed.lexemes[index].name == cte.name and is_relation(self.lexed, index):
                self.refuse(
                    index,
                    "a recursive query on protected tables is not supported",
                    "Write WITH name AS (SELECT ...) without a reference to itself.",
                )

    def refuse(self, index: int, message: str, hint: str = HINT) -> NoReturn:
        raise Refusal(Code.UNSUPPORTED, message, hint, self.lexed.lexemes[index].position)


# One row of constants in FROM, as WITH p AS (SELECT date '2023-06-01' AS s) ... FROM t, p: its columns are
# the expressions that it was made of.


# Alias and column, to where the expression stands.
ConstantColumns = Mapping[tuple[str, str], Span]
Leaf = TableItem | QueryItem


def without_constant_rows(
    lexed: Lexed, item: Item, columns_of: Callable[[Leaf], ConstantColumns | None]
) -> tuple[Item, ConstantColumns]:
    """Take the leaves out of FROM that are one row of constants, joined with every row.

    Args:
        columns_of: The columns of a leaf; None: it is something else.

    Returns:
        What is left, and the columns of what is not.
    """
    every = leaves(item)
    constant = {leaf.span: found for leaf in every if (found := columns_of(leaf)) is not None}
    if not constant or len(constant) == len(every):
        return item, {}
    left = _left(lexed, item, constant)
    gone = {leaf.span for leaf in every} - {leaf.span for leaf in leaves(left)}
    return left, {key: span for at in gone for key, span in constant[at].items()}


def _left(lexed: Lexed, item: Item, constant: Mapping[Span, ConstantColumns]) -> Item:
    if not isinstance(item, JoinItem) or item.left_outer or item.full:
        return item
    is_true = item.on is not None and [x.word for x in lexed.lexemes[slice(*item.on)]] == ["true"]
    if item.using or not (item.on is None or is_true):
        return item
    for one, other in ((item.left, item.right), (item.right, item.left)):
        if not isinstance(one, JoinItem) and one.span in constant:
            return _left(lexed, other, constant)
    left, right = (_left(lexed, each, constant) for each in (item.left, item.right))
    if left is item.left and right is item.right:
        return item
    return JoinItem(left, right, False, None, (), item.place, span=item.span)


def row_columns(
    lexed: Lexed, query: Span, selects: Iterable[Select], alias: str, names: Sequence[str]
) -> ConstantColumns | None:
    """The columns of SELECT a, b without FROM, or of VALUES (a, b); None: it is something else.

    Args:
        names: Of columns, before those that the query gives.
    """
    first, last = query
    if lexed.lexemes[first].word == "values":
        if lexed.partner[first + 1] + 1 != last:
            return None
        spans = list(split_commas(lexed, first + 2, last - 1))
        own = [f"column{number}" for number in range(1, len(spans) + 1)]
    else:
        select = next((one for one in selects if one.keyword == first), None)
        if select is None or select.end != last or select.distinct:
            return None
        if select.clauses.keys() != {"items"}:
            return None
        items = [_item(lexed, span) for span in split_commas(lexed, *select.clauses["items"])]
        spans, own = [span for span, _ in items], [name for _, name in items]
    found = [*names, *own[len(names) :]]
    if len(found) != len(spans) or len(set(found)) != len(found):
        return None
    return {(alias, name): span for name, span in zip(found, spans, strict=True)}


def _item(lexed: Lexed, span: Span) -> tuple[Span, str]:
    """The expression of an output column, and its name."""
    lexemes = lexed.lexemes
    if span[1] - span[0] > 2 and lexemes[span[1] - 2].word == "as":
        return (span[0], span[1] - 2), lexemes[span[1] - 1].name
    implied = output_name(lexed, span)
    return span, "" if implied is None else implied.name
