"""A FROM clause as a tree of items, by tokens: tables, subqueries and CTEs, joined (PostgreSQL 17
documentation, section 7.2.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.query.syntax.constant_types import own_type_at, type_at
from proxy.query.syntax.selects import Span, is_call
from proxy.query.syntax.tokens import Lexed, Lexeme

_JOIN_WORDS = frozenset(
    {"join", "left", "right", "full", "inner", "cross", "natural", "on", "using"}
)
_QUERY_WORDS = frozenset({"select", "with", "values"})
_OF_CONSTANTS = (["generate_series"], ["unnest"])


# Hints: a month without rows stays by the first, the first row of each unit comes by the second.
JOINED_SERIES = (
    "Group the table in a subquery, and join its answers to the series: SELECT g.m, q.n FROM"
    " generate_series(timestamptz '2024-01-01', timestamptz '2024-12-01', interval '1 month') g(m) LEFT JOIN"
    " (SELECT date_trunc('month', column) AS m, count(*) AS n FROM table GROUP BY 1) q ON q.m = g.m."
)
LATERAL = "LATERAL is not available on a protected table"


def without_lateral(table: str, unit: str, order: str) -> str:
    """What to write in place of LATERAL."""
    counted = f"(SELECT {unit}, count(*) AS n FROM {table} GROUP BY {unit})"  # noqa: S608
    rows = f"SELECT *, row_number() OVER (PARTITION BY {unit} ORDER BY {order} DESC) AS rn FROM {table}"  # noqa: S608
    first = f"(SELECT * FROM ({rows}) q WHERE rn = 1)"  # noqa: S608
    what = f"of aggregates {counted} l, of one row {first} l"
    return f"JOIN what is asked of each unit, ON l.{unit} = the unit of the other table: {what}."


@dataclass(frozen=True, slots=True)
class TableItem:
    """first: the first lexeme of the name; chain: its parts, folded; span: of all that stands for it, with ONLY
    and alias."""

    first: int
    chain: tuple[str, ...]
    alias: str | None
    columns: tuple[str, ...]
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class QueryItem:
    """A subquery in brackets, or a function of constants; query: the lexemes inside brackets, or the call."""

    query: Span
    alias: str | None
    columns: tuple[str, ...]
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class JoinItem:
    left: Item
    right: Item
    left_outer: bool
    on: Span | None
    using: tuple[str, ...]
    place: int  # of the word JOIN or the comma
    full: bool = False
    span: Span = (0, 0)
    is_turned: bool = False  # RIGHT JOIN, as LEFT JOIN


Item = TableItem | QueryItem | JoinItem


def leaves(item: Item) -> tuple[TableItem | QueryItem, ...]:
    """In their order. A loop: a list of a thousand tables is as many joins inside each other."""
    found: list[TableItem | QueryItem] = []
    waiting: list[Item] = [item]
    while waiting:
        one = waiting.pop()
        if isinstance(one, JoinItem):
            waiting += (one.right, one.left)
        else:
            found.append(one)
    return tuple(found)


def read_from(lexed: Lexed, span: Span) -> Item:
    """
    Refuses  UNSUPPORTED: NATURAL joins, functions of columns, LATERAL, TABLESAMPLE
    """
    cursor = _TokenCursor(lexed, span[0], span[1])
    start = cursor.at
    item = _joined(cursor)
    while cursor.is_symbol(TokenType.COMMA):
        place = cursor.at
        cursor.at += 1
        right = _joined(cursor)
        item = JoinItem(item, right, False, None, (), place, span=(start, cursor.at))
    if cursor.at != span[1]:
        _refuse(cursor.lexeme, "this form of FROM is not available on a protected table")
    return item


@dataclass(slots=True)
class _TokenCursor:
    lexed: Lexed
    at: int
    end: int

    @property
    def lexeme(self) -> Lexeme:
        return self.lexed.lexemes[min(self.at, self.end - 1)]

    @property
    def word(self) -> str:
        return self.lexeme.word if self.at < self.end else ""

    def is_symbol(self, kind: TokenType) -> bool:
        return self.at < self.end and self.lexeme.kind is kind

    def take(self, *words: str) -> bool:
        if self.word in words:
            self.at += 1
            return True
        return False


_FORMS = "Use tables, subqueries in brackets, JOIN ... ON and LEFT JOIN ... ON."


def _refuse(lexeme: Lexeme, message: str, hint: str = _FORMS) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, hint, lexeme.position)


def _joined(cursor: _TokenCursor) -> Item:
    start = cursor.at
    left = _primary(cursor)
    while cursor.word in _JOIN_WORDS - {"on", "using"}:
        place = cursor.at
        if cursor.word == "natural":
            _refuse(cursor.lexeme, "NATURAL JOIN is not available on a protected table")
        cross = cursor.take("cross")
        outer = cursor.word if cursor.word in ("left", "right", "full") else ""
        cursor.take("inner", "left", "right", "full")
        cursor.take("outer")
        if not cursor.take("join"):
            _refuse(cursor.lexeme, "this form of JOIN is not available on a protected table")
        right = _primary(cursor)
        on, using = (None, ()) if cross else _condition(cursor)
        if outer == "right":
            left, right = right, left
        full, text = outer == "full", (start, cursor.at)
        left = JoinItem(left, right, bool(outer), on, using, place, full, text, outer == "right")
    return left


def _condition(cursor: _TokenCursor) -> tuple[Span | None, tuple[str, ...]]:
    if cursor.take("using"):
        return None, _names(cursor)
    if not cursor.take("on"):
        # a JOIN b JOIN c ON ... ON ...: the inner ON belongs to the inner join
        _refuse(cursor.lexeme, "a JOIN without its own ON is not available on a protected table")
    start, depth = cursor.at, cursor.lexeme.depth
    while cursor.at < cursor.end:
        lexeme = cursor.lexeme
        here = lexeme.depth == depth and not _follows_dot(cursor)
        called = cursor.at + 1 < cursor.end and (
            cursor.lexed.lexemes[cursor.at + 1].kind is TokenType.L_PAREN
        )
        # left(...) and right(...) are functions
        if (
            here
            and lexeme.word in _JOIN_WORDS
            and not (called and lexeme.word in ("left", "right"))
        ):
            break
        if here and lexeme.kind is TokenType.COMMA:
            break
        cursor.at += 1
    return (start, cursor.at), ()


def _follows_dot(cursor: _TokenCursor) -> bool:
    """Whether a word is a name, whatever it means elsewhere: q.left (PostgreSQL 17 documentation, appendix
    C)."""
    return cursor.lexed.lexemes[cursor.at - 1].kind is TokenType.DOT


def _primary(cursor: _TokenCursor) -> Item:
    start = cursor.at
    if cursor.word == "lateral":
        raise Refusal(
            Code.UNSUPPORTED,
            LATERAL,
            without_lateral("table", "unit", "time"),
            cursor.lexeme.position,
        )
    if cursor.is_symbol(TokenType.L_PAREN):
        close = cursor.lexed.partner[cursor.at]
        inside = (cursor.at + 1, close)
        if cursor.lexed.lexemes[inside[0]].word in _QUERY_WORDS:
            cursor.at = close + 1
            alias, columns = _alias(cursor)
            return QueryItem(inside, alias, columns, (start, cursor.at))
        item = read_from(cursor.lexed, inside)
        cursor.at = close + 1
        if cursor.at < cursor.end and cursor.word not in _JOIN_WORDS and cursor.lexeme.name:
            _refuse(
                cursor.lexeme,
                "an alias of a join is not available on a protected table",
                "Write the join as a subquery: FROM (SELECT * FROM a JOIN b ON b.x = a.x) q.",
            )
        return replace(item, span=(start, cursor.at))
    cursor.take("only")
    first = cursor.at
    if cursor.at >= cursor.end or not cursor.lexeme.name or cursor.word == "rows":
        _refuse(cursor.lexeme, "this form of FROM is not available on a protected table")
    chain = [cursor.lexeme.name]
    cursor.at += 1
    while cursor.is_symbol(TokenType.DOT):
        cursor.at += 1
        chain.append(cursor.lexeme.name)
        cursor.at += 1
    if cursor.is_symbol(TokenType.STAR):
        cursor.at += 1
    called = None
    if cursor.is_symbol(TokenType.L_PAREN):
        arguments = (cursor.at + 1, cursor.lexed.partner[cursor.at])
        if chain not in _OF_CONSTANTS or not is_closed(cursor.lexed, arguments):
            raise Refusal(
                Code.UNSUPPORTED,
                "a function in FROM beside a protected table is not available",
                JOINED_SERIES,
                cursor.lexeme.position,
            )
        cursor.at = arguments[1] + 1
        called = (first, cursor.at)
        if cursor.word == "with":
            _refuse(cursor.lexeme, "WITH ORDINALITY is not available beside a protected table")
    alias, columns = _alias(cursor)
    if called is not None:  # one column, which has the alias for its name
        names = columns or ((alias,) if alias else ())
        return QueryItem(called, alias, names, (start, cursor.at))
    return TableItem(first, tuple(chain), alias, columns, (start, cursor.at))


def _alias(cursor: _TokenCursor) -> tuple[str | None, tuple[str, ...]]:
    has_as = cursor.take("as")
    if cursor.at >= cursor.end or cursor.word in _JOIN_WORDS or not cursor.lexeme.name:
        if has_as:
            _refuse(cursor.lexeme, "this alias is not supported")
        return None, ()
    if cursor.word == "tablesample":
        _refuse(cursor.lexeme, "TABLESAMPLE is not available on a protected table")
    alias = cursor.lexeme.name
    cursor.at += 1
    return alias, _names(cursor) if cursor.is_symbol(TokenType.L_PAREN) else ()


def _names(cursor: _TokenCursor) -> tuple[str, ...]:
    """(a, b, ...)"""
    if not cursor.is_symbol(TokenType.L_PAREN):
        _refuse(cursor.lexeme, "this list of columns is not supported")
    close = cursor.lexed.partner[cursor.at]
    names = tuple(x.name for x in cursor.lexed.lexemes[cursor.at + 1 : close] if x.name)
    cursor.at = close + 1
    return names


# Text without names of columns, which says the same wherever it stands.


_WORDS = frozenset(
    {
        *("select", "values", "union", "all", "array", "cast", "as", "null", "true", "false"),
        *("interval", "extract", "from", "case", "when", "then", "else", "end", "and", "or"),
        *("not", "between", "is", "limit", "offset", "year", "month", "day", "hour", "minute"),
        *("second", "current_date", "current_timestamp", "localtimestamp", "distinct"),
        *("pg_catalog", "row", "at", "time", "zone", "order", "order by", "by", "where"),
    }
)


def is_closed(lexed: Lexed, span: tuple[int, int]) -> bool:
    """Whether no name in it can be a column's: of a query without FROM."""
    index, last = span
    while index < last:
        lexeme = lexed.lexemes[index]
        typed = type_at(lexed, index)
        if lexeme.kind is TokenType.DCOLON:
            own = own_type_at(lexed, index + 1) if type_at(lexed, index + 1) is None else None
            index = own.end if own is not None else index + 1
        elif typed is not None:
            index = typed.end
        elif lexeme.word == "as" and lexed.lexemes[index + 1].name:
            index += 2
        elif lexeme.name and lexeme.word not in _WORDS and not is_call(lexed, index):
            return False
        else:
            index += 1
    return True
