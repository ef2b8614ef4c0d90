"""WITH clauses on tokens: which names hide tables, and where (PostgreSQL 17 documentation, section 7.8,
SELECT).

Whoever does not see a name of a WITH takes it for the table of that name, and answers another question. So a
WITH that cannot be read to its end is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.query.syntax.selects import Span
from proxy.query.syntax.tokens import Lexed

# What follows a WITH that is no clause: WITH TIES, ORDINALITY, [NO] DATA, HOLD, timestamp WITH TIME ZONE,
# a check option, options in brackets; and a word before it: WITHOUT is another word.
_NO_CLAUSE = frozenset(
    {"ties", "ordinality", "no", "data", "hold", "time", "check", "local", "cascaded"}
)
WRITES = frozenset({"insert", "update", "delete", "merge"})
_MAIN = WRITES | {"select", "values", "table"}
# FOR [NO KEY] UPDATE, ON CONFLICT DO UPDATE, THEN UPDATE of a MERGE
_BEFORE_NO_WRITE = frozenset({"for", "key", "do", "then"})


@dataclass(frozen=True, slots=True)
class Visible:
    """A CTE's name and the lexemes in which it hides tables of that name."""

    name: str
    span: Span
    body: Span  # the lexemes inside its brackets
    columns: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    name: str
    opening: int
    closing: int
    columns: tuple[str, ...]


def visible_ctes(lexed: Lexed) -> tuple[Visible, ...]:
    """The names of all WITH clauses: each is visible to what follows it within its own query and not in its
    own body; under RECURSIVE in all bodies, earlier ones too.

    Refuses  UNSUPPORTED: a WITH that cannot be read to its end
    """
    found: list[Visible] = []
    for index, lexeme in enumerate(lexed.lexemes):
        if lexeme.word != "with" or _opens_copy_options(lexed, index):
            continue
        recursive = _word(lexed, index + 1) == "recursive"
        clause = _clause(lexed, index + (2 if recursive else 1))
        if clause is None:
            if recursive or not _is_no_clause(lexed, index + 1):
                raise Refusal(
                    Code.UNSUPPORTED,
                    "this WITH clause is not supported in a statement on protected tables",
                    "Write WITH name AS (SELECT ...), with plain names.",
                    lexeme.position,
                )
            continue
        end = _end_of_query(lexed, index)
        for cte in clause:
            begin = index if recursive else cte.closing
            body = (cte.opening + 1, cte.closing)
            found.append(Visible(cte.name, (begin, end), body, cte.columns))
    return tuple(found)


def writes(lexed: Lexed, first: int, last: int) -> bool:
    """Whether a CTE may write among these lexemes: it is run to its end, whatever is asked of it (PostgreSQL 17
    documentation, section 7.8.4). A word that may begin such a body counts: FOR UPDATE and DO UPDATE do not.
    """
    lexemes = lexed.lexemes[first:last]
    if not any(lexeme.word == "with" for lexeme in lexemes):
        return False
    depth = lexemes[0].depth
    return any(
        lexeme.word in WRITES and lexeme.depth > depth and before.word not in _BEFORE_NO_WRITE
        for before, lexeme in pairwise(lexemes)
    )


def refuse_unicode_names(lexed: Lexed) -> None:
    """U&"..." names a table, a column or a WITH that is not seen by that name.

    Refuses  UNSUPPORTED
    """
    for index in range(len(lexed.lexemes) - 2):
        first, ampersand, name = lexed.lexemes[index : index + 3]
        if (
            lexed.text[first.start : first.end].lower() == "u"
            and first.end == ampersand.start
            and lexed.text[ampersand.start : ampersand.end] == "&"
            and ampersand.end == name.start
            and name.kind is TokenType.IDENTIFIER
        ):
            raise Refusal(
                Code.UNSUPPORTED,
                'U&"..." is not available in a statement on protected tables',
                'Write the name itself, in double quotes if needed: "name".',
                first.position,
            )


def _clause(lexed: Lexed, at: int) -> list[_Found] | None:
    """The CTEs that begin at a lexeme, with the main statement after them; None where there are none, or
    anything in between is not understood."""
    found: list[_Found] = []
    while (cte := _cte(lexed, at)) is not None:
        found.append(cte)
        after = _after_search_and_cycle(lexed, cte.closing + 1)
        if after is None:
            return None
        if after < len(lexed.lexemes) and _kind(lexed, after) is TokenType.COMMA:
            at = after + 1
            continue
        is_main = _word(lexed, after) in _MAIN or _kind(lexed, after) is TokenType.L_PAREN
        return found if is_main or _word(lexed, after) == "with" else None
    return None


def _cte(lexed: Lexed, at: int) -> _Found | None:
    """`name [(columns)] AS [[NOT] MATERIALIZED] (`: the body's brackets."""
    lexemes = lexed.lexemes
    if at >= len(lexemes) or not lexemes[at].name:
        return None
    name, columns = lexemes[at].name, tuple[str, ...]()
    at += 1
    if _kind(lexed, at) is TokenType.L_PAREN:
        columns = tuple(x.name for x in lexemes[at + 1 : lexed.partner[at]] if x.name)
        at = lexed.partner[at] + 1
    if _word(lexed, at) != "as":
        return None
    at += 1
    while _word(lexed, at) in ("not", "materialized"):
        at += 1
    if _kind(lexed, at) is not TokenType.L_PAREN:
        return None
    return _Found(name, at, lexed.partner[at], columns)


def _after_search_and_cycle(lexed: Lexed, at: int) -> int | None:
    """After `SEARCH {BREADTH | DEPTH} FIRST BY columns SET name` and `CYCLE columns SET name [TO value DEFAULT
    value] USING name`, where they stand; None where they cannot be read."""
    if _word(lexed, at) == "search":
        at_set = _at(lexed, at, "set")
        if at_set is None or not _is_name(lexed, at_set + 1):
            return None
        at = at_set + 2
    if _word(lexed, at) == "cycle":
        at_set = _at(lexed, at, "set")
        at_using = None if at_set is None else _at(lexed, at_set + 2, "using")
        if at_using is None or not _is_name(lexed, at_using + 1):
            return None
        at = at_using + 2
    return at


def _at(lexed: Lexed, start: int, word: str) -> int | None:
    """The first such word from a lexeme on, before the brackets around close."""
    for index in range(start, len(lexed.lexemes)):
        if lexed.lexemes[index].depth < lexed.lexemes[start].depth:
            return None
        if lexed.lexemes[index].word == word:
            return index
    return None


def _is_no_clause(lexed: Lexed, at: int) -> bool:
    return _word(lexed, at) in _NO_CLAUSE or _kind(lexed, at) is TokenType.L_PAREN


def _opens_copy_options(lexed: Lexed, at: int) -> bool:
    """COPY (query) TO STDOUT WITH CSV HEADER, the syntax of before PostgreSQL 9.0: its query is in brackets."""
    return _word(lexed, 0) == "copy" and lexed.lexemes[at].depth == 0


def _is_name(lexed: Lexed, at: int) -> bool:
    return at < len(lexed.lexemes) and bool(lexed.lexemes[at].name)


def _word(lexed: Lexed, at: int) -> str:
    return lexed.lexemes[at].word if at < len(lexed.lexemes) else ""


def _kind(lexed: Lexed, at: int) -> TokenType | None:
    return lexed.lexemes[at].kind if at < len(lexed.lexemes) else None


def _end_of_query(lexed: Lexed, index: int) -> int:
    """Where the brackets around a WITH close, or the end."""
    depth = lexed.lexemes[index].depth
    for at in range(index, len(lexed.lexemes)):
        if lexed.lexemes[at].kind is TokenType.R_PAREN and lexed.partner[at] < index:
            return at
        if lexed.lexemes[at].depth < depth:
            return at
    return len(lexed.lexemes)
