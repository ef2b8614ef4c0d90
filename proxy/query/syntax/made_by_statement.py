"""What a statement makes of its query's answer, and its LIMITs: texts that PostgreSQL can try before it.

Found on tokens. What is not found is not tried, and then PostgreSQL says it after the charge.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import TokenType

from proxy.query.syntax.constant_parts import CONDITIONAL, constant_text
from proxy.query.syntax.selects import Select, Span, selects
from proxy.query.syntax.statements import Statement, StatementKind
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


_BINDS_TIGHTER = frozenset({TokenType.CARET, TokenType.DCOLON, TokenType.L_BRACKET, TokenType.DOT})


def divides_by_zero(statement: Statement) -> bool:
    """Whether something is divided by the number zero, whatever the answer."""
    lexemes = statement.lexed.lexemes[statement.first : statement.last]
    if any(lexeme.word in CONDITIONAL for lexeme in lexemes):
        return False
    for before, zero, after in zip(lexemes, lexemes[1:], (*lexemes[2:], None), strict=False):
        if before.token.token_type not in (TokenType.SLASH, TokenType.MOD):
            continue
        is_zero = zero.token.token_type is TokenType.NUMBER and not zero.token.text.strip("0.")
        if is_zero and (after is None or after.token.token_type not in _BINDS_TIGHTER):
            return True
    return False
