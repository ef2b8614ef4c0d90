"""Which names a nested query's own FROM clauses define, so that they mean nothing around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlglot import TokenType, exp

from proxy.base.errors import Refusal
from proxy.query.bind.source_reading import nature_of
from proxy.query.bind.sources import Nature, Sources
from proxy.query.syntax.from_clause import Item, JoinItem, QueryItem, TableItem, leaves
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span, is_call, opens_query, query_parts
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

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
        except Refusal:
            return any(index in one.places for one in _relations(self.sources.lexed, span))

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
            lexed, relation = self.sources.lexed, name.relation
            if relation and not _may_name(lexed, span, relation[-1]):
                return False
            is_there = any(
                relation == (one.name,) or (not name.qualifier and name.name in one.columns)
                for one in _relations(lexed, span)
            )
            return True if is_there and not is_inside else None
        # A subquery in FROM sees nothing of what stands beside it, ON its two sides alone.
        visible = (_sees(item, index) if is_inside else leaves(item)) or ()
        found = [self._is_of(leaf, name.relation) for leaf in visible] if name.relation else []
        if not name.qualifier:
            found += [self._has(leaf, name.name) for leaf in visible]
        return True if True in found else (None if None in found else False)

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


_NO_ALIASES = frozenset(
    {
        *("join", "left", "right", "full", "inner", "outer", "cross", "natural", "on", "using"),
        *("tablesample", "with"),
    }
)


@dataclass(frozen=True, slots=True)
class _NamedInFrom:
    """places: lexemes that are its name, its alias or in its list of columns."""

    name: str
    places: tuple[int, ...]
    columns: tuple[str, ...] = ()


def _relations(lexed: Lexed, span: Span) -> Iterator[_NamedInFrom]:
    """Those of a FROM clause that is not read as a tree: at its beginning, after a comma and after JOIN, each
    under its alias. A join in brackets with an alias shows no others."""
    lexemes = lexed.lexemes
    is_relation, index = True, span[0]
    while index < span[1]:
        lexeme = lexemes[index]
        if not is_relation:
            is_relation = lexeme.word == "join" or lexeme.token.token_type is TokenType.COMMA
            index = _after(lexed, index)
            continue
        if lexeme.word in ("lateral", "only", "rows", "from"):
            index += 1
            continue
        found, last = [_NamedInFrom(lexeme.name, (index,))], index
        if lexeme.token.token_type is TokenType.L_PAREN:
            inside = (index + 1, lexed.partner[index])
            found = [] if opens_query(lexed, index) else list(_relations(lexed, inside))
        while last + 2 < span[1] and lexemes[last + 1].token.token_type is TokenType.DOT:
            last, found = last + 2, [_NamedInFrom(lexemes[last + 2].name, (index,))]
        index = _after(lexed, last)
        if lexemes[last].name and index < span[1] and is_call(lexed, last):
            index = _after(lexed, index)
        words = [lexeme.word for lexeme in lexemes[index : min(index + 2, span[1])]]
        index += 2 if words == ["with", "ordinality"] else 0
        index += index < span[1] and lexemes[index].word == "as"
        if index < span[1] and lexemes[index].name and lexemes[index].word not in _NO_ALIASES:
            places = (index, *(place for one in found for place in one.places))
            name, listed = lexemes[index].name, tuple[int, ...]()
            if index + 1 < span[1] and is_call(lexed, index):
                inside = (index + 2, lexed.partner[index + 1])
                listed = tuple(first for first, _ in split_commas(lexed, *inside))
                index += 1
            columns = tuple(lexemes[at].name for at in listed)
            found = [_NamedInFrom(name, (*places, *listed), columns)]
        yield from found
        is_relation = False


def _may_name(lexed: Lexed, span: Span, name: str) -> bool:
    """Whether a word that could be a relation's name or alias stands in a FROM clause."""
    lexemes = lexed.lexemes
    return any(
        lexemes[at].name == name and lexemes[at + 1].token.token_type is not TokenType.DOT
        for at in range(span[0], min(span[1], len(lexemes) - 1))
    )


def _after(lexed: Lexed, index: int) -> int:
    """The lexeme after one, or after what stands in the brackets that it opens."""
    return max(index, lexed.partner[index]) + 1
