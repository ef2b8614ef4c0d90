"""A refused statement taken apart: its SELECTs, the word that is to blame, and texts made of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import TokenType

from proxy.base.errors import Refusal
from proxy.query.syntax.selects import (
    ANSWERED,
    OTHER_AGGREGATES,
    Select,
    Span,
    is_call,
    own_lexemes,
    select_at,
)
from proxy.query.syntax.statements import behind_options
from proxy.query.syntax.tokens import Lexed, lex, on_one_line

_CHARACTERS = 8_192  # of a statement: a longer one is corrected by who has made it


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableColumn:
    """is_listed: the policy has its values; is_number: it can be averaged, if it has bounds; is_unit: it names
    the privacy unit; joins: tables and columns that it can be joined with."""

    name: str
    is_listed: bool = False
    is_number: bool = False
    is_unit: bool = False
    joins: tuple[tuple[str, str], ...] = ()


UsableTables = Mapping[str, Sequence[UsableColumn]]  # by name, with the schema's


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStatement:
    """A statement, and what was said of it.

    Attributes:
        reason: `Code.name`, or the SQLSTATE of an error of PostgreSQL's.
        position: 1-based, in characters.
        tables: What the analyst may ask about.
    """

    text: str
    reason: str
    hint: str
    position: int | None
    tables: UsableTables


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRefusal:
    """at: the lexeme that is to blame; outer: the SELECT around all that holds it; own: the innermost one."""

    lexed: Lexed
    at: int
    outer: Select | None
    own: Select | None
    hint: str
    tables: UsableTables

    @property
    def columns(self) -> Mapping[str, UsableColumn]:
        """Of the tables that the statement names, by name; of all, where it names none."""
        words = {one.name for one in self.lexed.lexemes if one.name}
        named = [
            columns for name, columns in self.tables.items() if name.rpartition(".")[2] in words
        ]
        return {one.name: one for columns in (named or self.tables.values()) for one in columns}


def read_refusal(refused: RefusedStatement) -> ReadRefusal | None:
    """None: it is no single statement that is worth a look."""
    if len(refused.text) > _CHARACTERS:
        return None
    try:
        lexed = lex(refused.text)
    except Refusal:
        return None
    if lexed is None or not lexed.lexemes:
        return None
    lexemes = list(lexed.lexemes)
    while lexemes and lexemes[-1].kind is TokenType.SEMICOLON:
        lexemes.pop()
    if not lexemes or any(one.kind is TokenType.SEMICOLON for one in lexemes):
        return None
    start = (refused.position or 1) - 1
    least = min(query_start(lexed), len(lexemes) - 1)
    at = max((n for n, one in enumerate(lexemes) if one.start <= start), default=0)
    at = max(at, least)
    around = [
        select
        for n, one in enumerate(lexemes)
        if one.word == "select"
        and (select := select_at(lexed, n, len(lexemes))).keyword <= at < select.end
    ]
    if refused.position is None:
        around = around[:1]
    return ReadRefusal(
        lexed=lexed,
        at=at,
        outer=around[0] if around else _first_select(lexed, len(lexemes)),
        own=around[-1] if around else None,
        hint=refused.hint,
        tables=refused.tables,
    )


def _first_select(lexed: Lexed, end: int) -> Select | None:
    """Of a statement whose fault lies beside its SELECTs, as in COPY or in WITH."""
    lexemes = lexed.lexemes[:end]
    found = [n for n, one in enumerate(lexemes) if one.word == "select"]
    depth = min((lexemes[n].depth for n in found), default=0)
    return next((select_at(lexed, n, end) for n in found if lexemes[n].depth == depth), None)


def text_of(lexed: Lexed, span: Span) -> str:
    return on_one_line(lexed, *span)


def query_start(lexed: Lexed) -> int:
    """The first lexeme behind EXPLAIN and its options."""
    return behind_options(lexed)[0] if lexed.lexemes[0].word == "explain" else 0


def before(lexed: Lexed, select: Select) -> str:
    """WITH and its queries, which stand before a SELECT."""
    start = query_start(lexed)
    is_with = select.depth == 0 and start < select.keyword and lexed.lexemes[start].word == "with"
    return text_of(lexed, (start, select.keyword)) + " " if is_with else ""


def asking(refused: ReadRefusal, select: Select, items: Sequence[str], keys: Sequence[str]) -> str:
    """The SELECT with other items and keys, of the rows that it names. What puts rows in order is left out."""
    lexed, parts = refused.lexed, [f"SELECT {', '.join(items)}"]
    for name, word in (("from", "FROM"), ("where", "WHERE")):
        if name in select.clauses:
            parts.append(f"{word} {text_of(lexed, select.clauses[name])}")
    if keys:
        parts.append(f"GROUP BY {', '.join(keys)}")
    return before(lexed, select) + " ".join(parts)


def with_keys(refused: ReadRefusal, select: Select, keys: Sequence[str]) -> str:
    """The SELECT as it is, grouped by these."""
    lexed, clauses = refused.lexed, select.clauses
    ends = [clauses[name][1] for name in ("items", "from", "where") if name in clauses]
    tail = (
        text_of(lexed, (clauses["group"][1], select.end))
        if "group" in clauses
        else text_of(lexed, (max(ends), select.end))
    )
    head = text_of(lexed, (select.keyword, max(ends)))
    return f"{before(lexed, select)}{head} GROUP BY {', '.join(keys)} {tail}".strip()


def items_of(lexed: Lexed, span: Span) -> list[Span]:
    """The parts of a list, between commas.

    >>> lexed = lex("SELECT a, f(b, c) AS d")
    >>> [on_one_line(lexed, *one) for one in items_of(lexed, (1, len(lexed.lexemes)))]
    ['a', 'f(b, c) AS d']
    """
    if span[0] >= span[1]:
        return []
    depth = min(one.depth for one in lexed.lexemes[slice(*span)])
    commas = [
        n
        for n in range(*span)
        if lexed.lexemes[n].depth == depth and lexed.lexemes[n].kind is TokenType.COMMA
    ]
    starts, ends = [span[0], *(n + 1 for n in commas)], [*commas, span[1]]
    return [one for one in zip(starts, ends, strict=True) if one[0] < one[1]]


def unnamed(lexed: Lexed, item: Span) -> Span:
    """An output column without its alias."""
    first, last = item
    if last - first > 2 and lexed.lexemes[last - 2].word == "as":
        return first, last - 2
    return item


def column_of(refused: ReadRefusal, item: Span) -> UsableColumn | None:
    """The column that an expression is, if it is nothing else."""
    lexed = refused.lexed
    first, last = unnamed(lexed, item)
    if not 0 < last - first <= 5 or (last - first) % 2 == 0:
        return None
    dots = all(lexed.lexemes[n].kind is TokenType.DOT for n in range(first + 1, last, 2))
    names = [lexed.lexemes[n].name for n in range(first, last, 2)]
    return refused.columns.get(names[-1]) if dots and all(names) else None


def aggregates(lexed: Lexed, item: Span) -> bool:
    return any(
        lexed.lexemes[n].name in ANSWERED | OTHER_AGGREGATES and is_call(lexed, n)
        for n in own_lexemes(lexed, item)
    )


def operand_end(lexed: Lexed, at: int) -> int:
    """The end of a name or a call, with FILTER, WITHIN GROUP and OVER."""
    lexemes, end = lexed.lexemes, at + 1
    while end + 1 < len(lexemes) and lexemes[end].kind is TokenType.DOT:
        end += 2
    if end < len(lexemes) and lexemes[end].kind is TokenType.L_PAREN:
        end = lexed.partner[end] + 1
    while end < len(lexemes) and lexemes[end].word in ("filter", "within", "over"):
        opens = end + 1 + (lexemes[end].word == "within")
        if opens >= len(lexemes) or lexemes[opens].kind is not TokenType.L_PAREN:
            break
        end = lexed.partner[opens] + 1
    return end


def replaced(refused: ReadRefusal, span: Span, text: str) -> str:
    """The whole statement with other words in one place."""
    lexed = refused.lexed
    end = len(lexed.lexemes)
    while lexed.lexemes[end - 1].kind is TokenType.SEMICOLON:
        end -= 1
    before, after = text_of(lexed, (0, span[0])), text_of(lexed, (span[1], end))
    gap = " " if span[0] and lexed.lexemes[span[0]].start > lexed.lexemes[span[0] - 1].end else ""
    is_apart = span[1] < end and lexed.lexemes[span[1]].start > lexed.lexemes[span[1] - 1].end
    return f"{before}{gap}{text}{' ' if is_apart and text else ''}{after}"


def aggregate_around(lexed: Lexed, at: int) -> int | None:
    """Where the innermost aggregate begins whose brackets hold a lexeme."""
    found = None
    for n in range(at + 1):
        is_aggregate = lexed.lexemes[n].name in ANSWERED | OTHER_AGGREGATES and is_call(lexed, n)
        if is_aggregate and at < operand_end(lexed, n):
            found = n
    return found


def operand_of(lexed: Lexed, call: int) -> str:
    """The first argument of a call, or what its WITHIN GROUP orders by, without DISTINCT."""
    inside = call + 1, lexed.partner[call + 1]
    ends = operand_end(lexed, call)
    if inside[1] + 1 < ends and lexed.lexemes[inside[1] + 1].word == "within":
        opens = inside[1] + 3
        first = opens + 1
        while first < ends and lexed.lexemes[first].kind in (TokenType.ORDER_BY,):
            first += 1
        return text_of(lexed, (first, lexed.partner[opens]))
    arguments = items_of(lexed, (inside[0] + 1, inside[1]))
    if not arguments:
        return "*"
    first, last = arguments[0]
    return text_of(lexed, (first + (lexed.lexemes[first].word == "distinct"), last))


def has_all_columns(lexed: Lexed, select: Select) -> bool:
    """Whether all columns of a table are among the output."""
    return any(
        lexed.lexemes[item[1] - 1].kind is TokenType.STAR for item in items_of(lexed, select.items)
    )


def call_named(refused: ReadRefusal, name: str) -> int | None:
    """Where the innermost call of a function begins that holds what is to blame."""
    lexed = refused.lexed
    calls = [
        n
        for n in range(refused.at + 1)
        if lexed.lexemes[n].name == name
        and is_call(lexed, n)
        and refused.at < operand_end(lexed, n)
    ]
    return calls[-1] if calls else None


def is_column(refused: ReadRefusal, index: int) -> bool:
    return refused.lexed.lexemes[index].name in refused.columns and not is_call(
        refused.lexed, index
    )
