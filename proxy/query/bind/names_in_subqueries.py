"""Names in subqueries that stay in the text of a SELECT on protected rows: which of them mean something around
the subquery.

On the shadow a noisy relation takes the place of the rows. A name that means a column of theirs would be one of
nothing there, or of another relation of the statement that happens to have the name: another question, answered
without a word. So each is decided here. What a FROM within the subquery defines stays; a key is that of the
noisy relation; anything else of the rows is refused, and so is what may be the one or the other (PostgreSQL 17
documentation, section 4.2.11). The noisy relation has names of its own, which hide those that it stands beside.
No row is read for any of it: what stands in a key's place is a key that is shown, on the shadow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn

from sqlglot import TokenType, exp

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import NOISY_RELATION, is_made_column
from proxy.query.bind.group_keys import WrittenKey, dependent_key
from proxy.query.bind.select_context import SelectContext, is_no_column
from proxy.query.bind.source_reading import nature_of
from proxy.query.bind.sources import Nature, Sources
from proxy.query.ir.bound_statement import KeyValue
from proxy.query.syntax.from_clause import Item, JoinItem, QueryItem, TableItem, leaves
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import (
    ANSWERED,
    OTHER_AGGREGATES,
    Select,
    Span,
    is_call,
    opens_query,
    query_parts,
)
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

# Words that no column can be called by without quotes (PostgreSQL 17, kwlist.h, RESERVED_KEYWORD and
# TYPE_FUNC_NAME_KEYWORD).
_RESERVED = frozenset(
    {
        *("all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both"),
        *("authorization", "binary", "case", "cast", "check", "collate", "collation", "column"),
        *("concurrently", "constraint", "create", "cross", "current_catalog", "current_date"),
        *("current_role", "current_schema", "current_time", "current_timestamp", "current_user"),
        *("default", "deferrable", "desc", "distinct", "do", "else", "end", "except", "false"),
        *("fetch", "for", "foreign", "freeze", "from", "full", "grant", "group", "having", "ilike"),
        *("in", "initially", "inner", "intersect", "into", "is", "isnull", "join", "lateral"),
        *("leading", "left", "like", "limit", "localtime", "localtimestamp", "natural", "not"),
        *("notnull", "null", "offset", "on", "only", "or", "order", "outer", "overlaps", "placing"),
        *("primary", "references", "returning", "right", "select", "session_user", "similar"),
        *("some", "symmetric", "system_user", "table", "tablesample", "then", "to", "trailing"),
        *("true", "union", "unique", "user", "using", "variadic", "verbose", "when", "where"),
        *("window", "with"),
    }
)
_AROUND_AGGREGATES = frozenset({"filter", "within"})
_AFTER_A_NAME = frozenset({"asc", "desc", "nulls", "first", "last"})
_NOISY = re.compile(rf"{NOISY_RELATION}\d+")
_QUALIFY = "Write it with the name or the alias of its table: SELECT o.x FROM other o."
_ALIAS = (
    "Give the table in the subquery an alias that is used nowhere else: SELECT a.x FROM other a."
)
_RENAME = (
    "Give the groups' columns other names and compare those: SELECT * FROM (SELECT column AS k, count(*) AS n"
    " FROM table GROUP BY column) q WHERE EXISTS (SELECT 1 FROM other o WHERE o.x = q.k)."
)
_JOIN = (
    "Answer it for each group and join the answers: FROM (SELECT column AS k, count(*) AS n FROM table GROUP BY"
    " column) q JOIN (SELECT column AS k, count(*) AS m FROM other GROUP BY column) p ON p.k = q.k."
)


@dataclass(frozen=True, slots=True)
class _Name:
    """A column's name as it is written: lexemes, what stands before it, and itself; "" for a star."""

    span: Span
    qualifier: tuple[str, ...]
    name: str


def keys_in_subquery(
    context: SelectContext, keys: Sequence[WrittenKey], bracket: int, is_prefixed: bool
) -> Iterator[tuple[Span, KeyValue]]:
    """
    Given    the bracket of a subquery that stays in the text; is_prefixed: the noisy relation's columns have
             names that are nowhere in the statement
    Gives    where a key of the SELECT around stands in it
    Refuses  RAW_ROWS: columns of the rows that are no keys; UNSUPPORTED: keys within aggregates of the
             subquery, or in one that is answered by itself; names that may be of either
    """
    close = context.lexed.partner[bracket]
    hidden = HiddenNames(context.sources)
    index = bracket + 1
    while index < close:
        found = _name_at(context, index, close)
        if found is None:
            index += 1
            continue
        index = found.span[1]
        is_rows = _may_be_of_rows(context, found)
        if not is_rows and (is_prefixed or not _may_be_captured(context, found)):
            continue
        around = _selects(context, bracket, found.span[0])
        if _is_no_expression(context, hidden, around, found):
            continue
        written = _written(context, found)
        is_hidden = hidden.is_hidden(around, found.span[0], written)
        # A column of a published table may be called as a table is. If the row as a whole was meant, nothing
        # else of the statement can be taken for it.
        is_outermost = written.is_row and not _stands_within(context)
        if is_hidden is True or (is_hidden is None and is_outermost):
            continue
        if not is_rows:
            refuse_captured(context, found.span[0])
        if is_hidden is None and hidden.reads_rows(bracket, close):
            continue
        if is_hidden is None:
            message = (
                "may be a column of the subquery that it stands in, or of the table around that"
            )
            hint = _ALIAS if found.qualifier else _QUALIFY
            _refuse(context, found, Code.UNSUPPORTED, message, hint)
        yield found.span, _key(context, keys, found, bracket, around)


def named_by_keys(context: SelectContext, found: Iterable[Span]) -> Iterator[Span]:
    """
    Given    found: where keys stand
    Gives    the items of subqueries with one in them and without an alias: what is around may use the name that
             PostgreSQL takes from the key's
    """
    here = context.select
    within = [one for one in context.sources.selects if here.keyword < one.keyword < here.end]
    keys = tuple(found)
    for select in within:
        for first, last in items_of(context.lexed, select):
            is_there = any(first <= start and end <= last for start, end in keys)
            if is_there and context.lexed.lexemes[last - 2].word != "as":
                yield first, last


def refuse_captured(context: SelectContext, index: int) -> NoReturn:
    """
    Given    a name of what stands around the SELECT, that the noisy relation has as well
    """
    lexeme = context.lexed.lexemes[index]
    hint = (
        f"Give the column around it another name, as in (SELECT {lexeme.name} AS other, ...) o, and write"
        " o.other."
    )
    if _NOISY.fullmatch(lexeme.name):
        hint = f"Use names that do not begin with {NOISY_RELATION}: SELECT sum(x) AS total ..."
    raise Refusal(
        Code.UNSUPPORTED,
        f'the name "{lexeme.name}" cannot be used in a SELECT on a protected table',
        hint,
        lexeme.position,
    )


def is_captured(context: SelectContext, index: int) -> bool:
    """Whether a name outside of subqueries, which is no column of the rows, would be one of the noisy relation:
    only where another SELECT stands around this one can it mean something at all."""
    found = _name_at(context, index, context.select.end)
    return (
        found is not None
        and not _may_be_of_rows(context, found)
        and _may_be_captured(context, found)
    )


def _name_at(context: SelectContext, index: int, close: int) -> _Name | None:
    """A name that may be a column's."""
    lexed = context.lexed
    lexemes = lexed.lexemes
    is_word = not lexemes[index].name or lexemes[index].word in _RESERVED
    if is_word or (index > 0 and is_no_column(lexed, index)):
        return None
    last = lexed.name_end(index)
    names = tuple(lexemes[at].name for at in range(index, last + 1, 2))
    if last + 2 < close and lexemes[last + 1].kind is TokenType.DOT:
        return _Name((index, last + 1), names, "")  # name.*
    after = lexemes[last + 1].kind if last + 1 < len(lexemes) else None
    if after in (TokenType.L_PAREN, TokenType.STRING):
        return None
    return _Name((index, last + 1), names[:-1], names[-1])


def _may_be_of_rows(context: SelectContext, found: _Name) -> bool:
    relations = context.scope.relations
    if found.qualifier:
        last = found.qualifier[-1]
        return any(last == one[-1] for relation in relations for one in relation.qualifiers)
    return found.name in context.scope.merged or any(
        found.name in relation.columns or (found.name,) in relation.qualifiers
        for relation in relations
    )


def _written(context: SelectContext, found: _Name) -> WrittenName:
    is_row = not (
        found.qualifier
        or found.name in context.scope.merged
        or any(found.name in relation.columns for relation in context.scope.relations)
    )
    return WrittenName(qualifier=found.qualifier, name=found.name, is_row=is_row)


def _may_be_captured(context: SelectContext, found: _Name) -> bool:
    first = (*found.qualifier, found.name)[0]
    if not _NOISY.fullmatch(first) and (found.qualifier or not is_made_column(first)):
        return False
    return _stands_within(context)


def _stands_within(context: SelectContext) -> bool:
    """Whether another SELECT stands around this one, of which names may mean something in it."""
    here = context.select
    return any(one.keyword < here.keyword < one.end for one in context.sources.selects)


def _selects(context: SelectContext, bracket: int, index: int) -> list[Select]:
    return [one for one in context.sources.selects if bracket < one.keyword <= index < one.end]


def _is_no_expression(
    context: SelectContext, hidden: HiddenNames, around: Sequence[Select], found: _Name
) -> bool:
    """A relation or an alias in FROM or WITH; an alias in the list; an output in ORDER BY or GROUP BY."""
    lexed, (first, last) = context.lexed, found.span
    if lexed.lexemes[first - 1].word in ("table", "over"):
        return True
    for cte in context.sources.ctes:
        named = cte.body[0] - 2  # AS, or [NOT] MATERIALIZED after it
        while lexed.lexemes[named].word in ("not", "materialized"):
            named -= 1
        begin = named - 1
        if cte.columns:
            begin = lexed.partner[begin] - 1
        if begin <= first < named:
            return True
    if not around:
        return False
    here = max(around, key=lambda one: one.keyword)
    window = here.clauses.get("window", (0, 0))
    is_window = window[0] <= first < window[1] and lexed.lexemes[last].word == "as"
    if is_window or hidden.is_in_from(here, first):
        return True
    if here.items[0] <= first < here.items[1]:
        aliases = _aliases(context, here)
        return any(last == end and alias is not None for end, alias, _ in aliases)
    for name in ("order", "group"):
        span = here.clauses.get(name, (0, 0))
        if found.qualifier or not span[0] <= first < span[1]:
            continue
        for part in split_commas(lexed, *span):
            rest = {one.word for one in lexed.lexemes[part[0] + 1 : part[1]]}
            if part[0] == first and rest <= _AFTER_A_NAME:
                return any(
                    found.name == (one or other) for _, one, other in _aliases(context, here)
                )
    return False


def _aliases(
    context: SelectContext, select: Select
) -> Iterator[tuple[int, str | None, str | None]]:
    """Of each item in its list where it ends, its alias, and the name that it has without one."""
    sources = context.sources
    for span in items_of(context.lexed, select):
        with suppress(Refusal):
            _, alias, inner = parse_item(context.lexed, span, sources.placeholders)
            implied = output_name(context.lexed, inner)
            yield span[1], alias, None if implied is None else implied.name


def _key(
    context: SelectContext,
    keys: Sequence[WrittenKey],
    found: _Name,
    bracket: int,
    around: Sequence[Select],
) -> KeyValue:
    column = context.scope.find(found.qualifier, found.name) if found.name else None
    key = next((one.key for one in keys if column and one.key.expression == column), None)
    key = key or dependent_key(context, keys, found.span, column)
    if key is None:
        _refuse(
            context,
            found,
            Code.RAW_ROWS,
            "of a protected table can only be read inside an aggregate or as a GROUP BY key",
            _RENAME,
        )
    if any(nature_of(context.sources, one) is not Nature.CLEAN for one in around):
        message = "is a key of the SELECT around: this subquery is answered by itself"
        _refuse(context, found, Code.UNSUPPORTED, message, _JOIN)
    for index in range(bracket, context.lexed.partner[bracket]):
        if _NOISY.fullmatch(context.lexed.lexemes[index].name):
            refuse_captured(context, index)
    if _is_in_aggregate(context, bracket, found.span[0]):
        message = (
            "is a key of the SELECT around, and cannot stand inside an aggregate of a subquery"
        )
        _refuse(context, found, Code.UNSUPPORTED, message, _RENAME)
    return KeyValue(key)


def _is_in_aggregate(context: SelectContext, bracket: int, index: int) -> bool:
    """An aggregate of nothing but keys is one of the SELECT around (PostgreSQL 17 documentation, section
    4.2.7), which would be of the noisy relation's rows."""
    lexed = context.lexed
    for at in range(bracket + 1, index):
        if not (lexed.lexemes[at].name and is_call(lexed, at)) or opens_query(lexed, at + 1):
            continue
        if not at + 1 < index < lexed.partner[at + 1]:
            continue
        name = lexed.lexemes[at].name
        after = lexed.lexemes[lexed.partner[at + 1] + 1 : lexed.partner[at + 1] + 2]
        is_one = name in ANSWERED | OTHER_AGGREGATES or "agg" in name
        is_clause = name == "filter" or (name == "group" and lexed.lexemes[at - 1].word == "within")
        if is_one or is_clause or (after and after[0].word in _AROUND_AGGREGATES):
            return True
    return False


def _refuse(context: SelectContext, found: _Name, code: Code, message: str, hint: str) -> NoReturn:
    lexemes = context.lexed.lexemes
    written = context.lexed.text[lexemes[found.span[0]].start : lexemes[found.span[1] - 1].end]
    raise Refusal(code, f'"{written}" {message}', hint, lexemes[found.span[0]].position)


# --- Which names a nested query's own FROM clauses define, so that they mean nothing around it.


_Leaf = TableItem | QueryItem


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """names: that are surely there; is_whole: there are no others."""

    names: tuple[str, ...]
    is_whole: bool


_UNKNOWN = KnownColumns((), False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenName:
    """A name in a subquery: what stands before it, and itself, "" for a star. is_row: it is no column's around
    the subquery, so that it means a row as a whole there."""

    qualifier: tuple[str, ...]
    name: str
    is_row: bool = False

    @property
    def relation(self) -> tuple[str, ...]:
        return (self.name,) if self.is_row else self.qualifier


@dataclass(slots=True)
class HiddenNames:
    """What the SELECTs of a statement define. Nothing is refused: what is not known is said to be so."""

    sources: Sources
    _queries: dict[Span, KnownColumns] = field(default_factory=dict)

    def is_hidden(self, around: Iterable[Select], index: int, name: WrittenName) -> bool | None:
        """
        Given    around: the SELECTs inside of the nested query that a name stands in
        Gives    whether the FROM clause of one of them defines it for certain; None: it may
        """
        found = [self._defines(select, index, name) for select in around]
        return True if True in found else (None if None in found else False)

    def is_in_from(self, select: Select, index: int) -> bool:
        """Whether a lexeme names a relation in FROM or is an alias there, and no part of ON."""
        span = select.clauses.get("from", (0, 0))
        if not span[0] <= index < span[1]:
            return False
        try:
            return _sees(self.sources.from_item(select), index) is None
        except Refusal:  # LATERAL, functions
            return index in self._aliases(span)

    def reads_rows(self, first: int, last: int) -> bool:
        """Whether TABLE reads a CTE of rows, which is refused for that (rewrite/ctes_left.py)."""
        lexemes = self.sources.lexed.lexemes
        for index in range(first, last):
            if lexemes[index].word != "table":
                continue
            cte = self.sources.cte(TableItem(index + 1, (lexemes[index + 1].name,), None, ()))
            if cte is None:
                continue
            parts, _ = query_parts(self.sources.lexed, cte.body, self.sources.selects)
            if any(nature_of(self.sources, part) is Nature.ROWS for part in parts):
                return True
        return False

    def _defines(self, select: Select, index: int, name: WrittenName) -> bool | None:
        span = select.clauses.get("from")
        if span is None:
            return False
        is_inside = span[0] <= index < span[1]
        try:
            item = self.sources.from_item(select)
        except Refusal:  # LATERAL, functions
            lexemes = self.sources.lexed.lexemes
            aliases = [] if is_inside else [(lexemes[at].name,) for at in self._aliases(span)]
            return True if name.relation in aliases else None
        # A subquery in FROM sees nothing of what stands beside it, ON its two sides alone.
        visible = (_sees(item, index) if is_inside else leaves(item)) or ()
        found = [self._is_of(leaf, name.relation) for leaf in visible] if name.relation else []
        if not name.qualifier:
            found += [self._has(leaf, name.name) for leaf in visible]
        return True if True in found else (None if None in found else False)

    def _aliases(self, span: Span) -> Iterator[int]:
        """Where a FROM clause that is not read any further has aliases for certain: behind AS or a bracket."""
        lexemes, index, is_on = self.sources.lexed.lexemes, span[0], False
        while index < span[1] - 1:
            index = max(index, self.sources.lexed.partner[index])  # nothing within brackets
            before, index = lexemes[index], index + 1
            is_next = before.kind is TokenType.COMMA or before.word == "join"
            is_on = before.word == "on" or (is_on and not is_next)
            if not is_on and (before.kind is TokenType.R_PAREN or before.word == "as"):
                yield index

    def _is_of(self, leaf: _Leaf, qualifier: tuple[str, ...]) -> bool | None:
        if leaf.alias is not None:
            return qualifier == (leaf.alias,)
        if isinstance(leaf, QueryItem):
            return False
        if qualifier in (leaf.chain, leaf.chain[-1:]):
            return True
        return None if qualifier[-1] == leaf.chain[-1] else False

    def _has(self, leaf: _Leaf, name: str) -> bool | None:
        columns = self._columns(leaf)
        if name in columns.names:
            return True
        return False if columns.is_whole else None

    def _columns(self, leaf: _Leaf) -> KnownColumns:
        listed = leaf.columns
        if isinstance(leaf, QueryItem):
            found = self._outputs(leaf.query)
        else:
            cte = self.sources.cte(leaf)
            table = self.sources.tables.get(leaf.first)
            if cte is not None:
                found = _renamed(self._outputs(cte.body), cte.columns)
            elif table is not None:
                found = KnownColumns(tuple(table.columns), bool(table.columns))
            else:
                found = _UNKNOWN
        return _renamed(found, listed)

    def _outputs(self, query: Span) -> KnownColumns:
        """The columns of a query in brackets: of its first SELECT."""
        if query not in self._queries:
            self._queries[query] = _UNKNOWN  # a recursive CTE ends here
            parts, _ = query_parts(self.sources.lexed, query, self.sources.selects)
            if parts:
                self._queries[query] = self._listed(parts[0])
        return self._queries[query]

    def _listed(self, select: Select) -> KnownColumns:
        names, is_whole = list[str](), True
        for span in items_of(self.sources.lexed, select):
            found = self._item(select, span)
            names += found.names
            is_whole &= found.is_whole
        return KnownColumns(tuple(names), is_whole)

    def _item(self, select: Select, span: Span) -> KnownColumns:
        lexed = self.sources.lexed
        try:
            node, alias, inner = parse_item(lexed, span, self.sources.placeholders)
            if isinstance(node, exp.Star) and span[1] - span[0] == 1 and "from" in select.clauses:
                columns = [self._columns(leaf) for leaf in leaves(self.sources.from_item(select))]
                names = tuple(name for found in columns for name in found.names)
                return KnownColumns(names, all(found.is_whole for found in columns))
        except Refusal:
            return _UNKNOWN
        implied = output_name(lexed, inner) if alias is None else None
        name = alias if implied is None else implied.name
        column = node.this if isinstance(node, exp.Column) else None
        if name is None or any(isinstance(one, exp.Star) for one in (node, column)):
            return _UNKNOWN
        return KnownColumns((name,), True)


def items_of(lexed: Lexed, select: Select) -> tuple[Span, ...]:
    """The items of a list."""
    return split_commas(lexed, *select.items)


def _renamed(found: KnownColumns, listed: tuple[str, ...]) -> KnownColumns:
    """Under a list of columns, of which only the first may be renamed."""
    if not listed:
        return found
    return KnownColumns(listed, found.is_whole and len(listed) >= len(found.names))


def _sees(item: Item, index: int) -> tuple[_Leaf, ...] | None:
    """The relations that a lexeme in FROM sees; None: it is no part of an expression or a subquery."""
    match item:
        case TableItem():
            return None
        case QueryItem():
            return () if item.query[0] <= index < item.query[1] else None
        case JoinItem():
            if item.on is not None and item.on[0] <= index < item.on[1]:
                return leaves(item)
            found = _sees(item.left, index)
            return _sees(item.right, index) if found is None else found
