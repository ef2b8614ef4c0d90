"""What a statement makes of its query's answer, and its LIMITs: texts that PostgreSQL can try before it.

Found on tokens. What is not found is not tried, and then PostgreSQL says it after the charge.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import TokenType

from proxy.query.syntax.selects import Select, Span, selects
from proxy.query.syntax.statements import Statement, StatementKind
from proxy.query.syntax.tokens import Lexeme
from proxy.query.syntax.with_clauses import writes

_KINDS_OF_TABLES = frozenset({"temp", "temporary", "unlogged", "local", "global"})


@dataclass(frozen=True, slots=True)
class MadeByStatement:
    """Of CREATE TABLE AS, SELECT INTO, DECLARE. `head` and then a query makes it.

    if_not_exists: it was said, and is not in head. tag: what PostgreSQL calls the command, where head has it
    named otherwise.
    """

    head: str
    if_not_exists: bool = False
    tag: str | None = None
    is_cursor: bool = False


def inner_query(statement: Statement, rewritten: str) -> str:
    """The query inside a rewritten statement, of which nothing else was changed."""
    lexemes = statement.lexed.lexemes
    before = lexemes[statement.first].start
    after = len(statement.text) - lexemes[statement.last - 1].end
    return rewritten[before : len(rewritten) - after]


def made(statement: Statement) -> MadeByStatement | None:
    lexemes = statement.lexed.lexemes
    first = lexemes[0].word
    if statement.kind is StatementKind.WRAPPED and first in ("create", "declare"):
        head = statement.text[: lexemes[statement.first].start]
        words = [x.word for x in lexemes[: statement.first]]
        for index in range(len(words) - 2):
            if first == "create" and words[index : index + 3] == ["if", "not", "exists"]:
                clause = slice(lexemes[index].start, lexemes[index + 2].end)
                return MadeByStatement(
                    head[: clause.start] + head[clause.stop :], if_not_exists=True
                )
        return MadeByStatement(head, is_cursor=first == "declare")
    if statement.kind is StatementKind.QUERY:
        for select in selects(statement):
            if "into" in select.clauses:
                return _into(statement, select.clauses["into"])
    return None


def _into(statement: Statement, span: Span) -> MadeByStatement:
    """SELECT INTO is CREATE TABLE AS (PostgreSQL 17 documentation, SELECT INTO)."""
    lexemes = statement.lexed.lexemes
    at, kinds = span[0], []
    while lexemes[at].word in _KINDS_OF_TABLES and at + 1 < span[1]:
        kinds.append(lexemes[at].word)
        at += 1
    if lexemes[at].word == "table" and at + 1 < span[1]:
        at += 1
    name = statement.text[lexemes[at].start : lexemes[span[1] - 1].end]
    return MadeByStatement(" ".join(["CREATE", *kinds, "TABLE", name, "AS "]), tag="SELECT INTO")


def copy_around(statement: Statement, query: str) -> str:
    """COPY (...) with another query."""
    lexemes = statement.lexed.lexemes
    before, after = lexemes[statement.first].start, lexemes[statement.last - 1].end
    return statement.text[:before] + query + statement.text[after:]


def is_copy_to_client(statement: Statement) -> bool:
    """Else to a file or a program of the server."""
    words = [x.word for x in statement.lexed.lexemes[statement.last + 1 : statement.last + 3]]
    return words == ["to", "stdout"]


def copy_encoding(statement: Statement) -> str | None:
    """The encoding that COPY names in its options, as it is written there."""
    return _copy_option(statement, "encoding")


def is_binary(statement: Statement) -> bool:
    """Whether the client gets the rows in binary format by what the statement says: COPY, or a cursor."""
    if statement.kind is not StatementKind.WRAPPED and statement.kind is not StatementKind.COPY:
        return False
    lexemes = statement.lexed.lexemes
    if lexemes[0].word == "declare":
        return any(lexeme.word == "binary" for lexeme in lexemes[: statement.first])
    options = lexemes[statement.last + 1 :]
    is_old_form = any(lexeme.word == "binary" and lexeme.depth == 0 for lexeme in options)
    return is_old_form or (_copy_option(statement, "format") or "").lower() == "binary"


def _copy_option(statement: Statement, name: str) -> str | None:
    if statement.kind is not StatementKind.COPY:
        return None
    options = statement.lexed.lexemes[statement.last + 1 :]
    for lexeme, value in itertools.pairwise(options):
        if lexeme.word == name:
            return value.token.text
    return None


def limits(statement: Statement) -> Iterator[tuple[str, bool]]:
    """Each LIMIT, OFFSET and FETCH made of whole numbers and parameters alone, as a clause; and whether, if it
    lets no row through, the statement has none and does nothing."""
    found = selects(statement)
    depth = statement.lexed.lexemes[statement.first].depth
    is_single = sum(select.depth == depth for select in found) == 1
    is_query = statement.lexed.lexemes[statement.first].word in ("select", "with")
    is_query &= not writes(statement.lexed, statement.first, statement.last)
    for select in found:
        outermost = is_single and is_query and select.depth == depth
        for name, span in _bounds(select):
            text = constant_text(statement, _without_words(statement, span, name == "fetch"))
            if text is not None:
                word = "OFFSET" if name == "offset" else "LIMIT"
                yield f"{word} ({text})", outermost and word == "LIMIT"


def _bounds(select: Select) -> Iterator[tuple[str, Span]]:
    for name in ("limit", "offset", "fetch"):
        if name in select.clauses:
            yield name, select.clauses[name]


def _without_words(statement: Statement, span: Span, is_fetch: bool) -> Span:
    """Of FETCH FIRST n ROWS ONLY and OFFSET n ROWS the number."""
    lexemes = statement.lexed.lexemes
    first, last = span
    if is_fetch and first < last and lexemes[first].word in ("first", "next"):
        first += 1
    while last > first and lexemes[last - 1].word in ("row", "rows", "only", "with", "ties"):
        last -= 1
    return first, last


_WHOLE_NUMBERS = frozenset({"int", "integer", "bigint", "smallint", "int2", "int4", "int8"})
_OPERATORS = frozenset(
    {
        *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD),
        *(TokenType.L_PAREN, TokenType.R_PAREN, TokenType.DCOLON),
    }
)
_CONSTANTS = frozenset({TokenType.NUMBER, TokenType.STRING, TokenType.PARAMETER})


def constant_text(statement: Statement, span: Span) -> str | None:
    """The text of a span, if nothing in it can be a function, a column or a query of more than constants."""
    lexemes = statement.lexed.lexemes
    first, last = span
    if first >= last:
        return None
    for index in range(first, last):
        lexeme = lexemes[index]
        opened = lexemes[index - 1].kind is TokenType.L_PAREN and index > first
        is_scalar = lexeme.word == "select" and opened  # (SELECT -1)
        known = lexeme.kind in _OPERATORS | _CONSTANTS or lexeme.word in _WHOLE_NUMBERS
        if not known and not is_scalar:
            return None
    return statement.text[lexemes[first].start : lexemes[last - 1].end]


# Whether a statement computes with its answers, so that PostgreSQL can raise an error while it runs.
#
# Decided on tokens: what is not known to be plain counts as computed.


_WRITES = frozenset({"insert", "update", "delete", "merge"})
# Names, literals and comparisons raise no error.
_COMPUTING_NOTHING = frozenset(
    {
        *(TokenType.COMMA, TokenType.DOT, TokenType.SEMICOLON, TokenType.NUMBER),
        *(TokenType.STRING, TokenType.PARAMETER),
        *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE),
    }
)
_COMPUTING = frozenset(
    {
        *(
            "all",
            "any",
            "array",
            "at",
            "between",
            "case",
            "cast",
            "collate",
            "cross",
            "end",
            "escape",
        ),
        *("except", "exists", "filter", "for", "from", "full", "ilike", "in", "inner", "intersect"),
        *("interval", "into", "is", "join", "lateral", "left", "like", "natural", "on", "over"),
        *("right", "row", "similar", "some", "table", "union", "using", "values", "window", "with"),
    }
)


def computes(statement: Statement, replaced: Iterable[tuple[int, int]]) -> bool:
    """
    Given    replaced: where the rewritten statement has something else than the client wrote, as 0-based
             characters; columns and rows of answers stand there
    Gives    False for a SELECT of plain columns of answers and literals, compared and ordered
    """
    lexemes = statement.lexed.lexemes
    if lexemes[0].word in _WRITES:
        return True
    left = list(_without(lexemes[statement.first : statement.last], sorted(replaced)))
    selects = sum(lexeme.word == "select" for lexeme in left)
    return selects != 1 or not all(map(_is_plain, left))


def writes_rows(statement: Statement) -> bool:
    """Whether the statement as a whole is an INSERT, UPDATE, DELETE or MERGE. WITH may stand before it."""
    lexemes = statement.lexed.lexemes
    if lexemes[0].word in _WRITES:
        return True
    inner = lexemes[statement.first : statement.last]
    depth = inner[0].depth
    is_query = statement.kind is StatementKind.QUERY
    return is_query and any(one.word in _WRITES and one.depth == depth for one in inner)


def _without(lexemes: Sequence[Lexeme], spans: Sequence[tuple[int, int]]) -> Iterator[Lexeme]:
    """Those outside of all spans, which are in order."""
    number = 0
    for lexeme in lexemes:
        while number < len(spans) and spans[number][1] <= lexeme.start:
            number += 1
        if number == len(spans) or lexeme.start < spans[number][0]:
            yield lexeme


def _is_plain(lexeme: Lexeme) -> bool:
    if lexeme.name:
        return lexeme.word not in _COMPUTING
    return lexeme.kind in _COMPUTING_NOTHING and lexeme.token.text.isascii()
