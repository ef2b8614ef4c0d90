"""Which statements may touch protected data, decided on tokens alone; everything else is relayed unparsed.

A miss cannot leak: the statement then meets the shadow's guard (docs/design/pipeline.md 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from sqlglot import TokenType

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.query.syntax.assignments import may_alter_role, may_assign
from proxy.query.syntax.tokens import Lexed, Lexeme, fold, lex


class StatementKind(Enum):
    QUERY = "query"  # SELECT, WITH, VALUES, parenthesised
    WRAPPED = "wrapped"  # DECLARE ... FOR query, CREATE TABLE ... AS query, INSERT ... query
    COPY = "copy"  # COPY (query) TO
    EXPLAIN = "explain"
    TABLE = "table"  # TABLE t, EXPLAIN TABLE t, COPY t TO
    VIEW = "view"  # CREATE VIEW ... AS query, which nothing can be read from


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that names what may be a protected relation.

    first, last: the inner query's lexemes, last exclusive.
    relations: distinct dotted chains that may name one, as written; chains: their places, (first lexeme, index
    into relations).
    """

    lexed: Lexed
    kind: StatementKind
    first: int
    last: int
    relations: tuple[str, ...]
    chains: tuple[tuple[int, int], ...]
    explain_json: bool = False

    @property
    def text(self) -> str:
        return self.lexed.text

    @property
    def explain_verbose(self) -> bool:
        """Whether an EXPLAIN has VERBOSE, of which the last one counts."""
        before = self.lexed.lexemes[1 : self.first]
        if before and before[0].kind is TokenType.L_PAREN:
            return _is_verbose(before)
        return any(lexeme.word == "verbose" for lexeme in before)

    @property
    def needs_transaction(self) -> bool:
        """DECLARE of a cursor without WITH HOLD, which PostgreSQL refuses outside a transaction block
        (PostgreSQL 17 documentation, DECLARE)."""
        before = [lexeme.word for lexeme in self.lexed.lexemes[: self.first]]
        return before[:1] == ["declare"] and before[-3:-1] != ["with", "hold"]

    def analysed_text(self) -> str:
        """The inner query alone, blanks in front of it so that error positions agree with the whole. INSERT
        as it is: what its table lacks is told before the question is asked."""
        lexemes = self.lexed.lexemes
        if self.kind is StatementKind.VIEW and "recursive" in (x.word for x in lexemes[:5]):
            return "SELECT"  # the query names the view
        if lexemes[0].word == "insert":
            return self.text
        start, end = lexemes[self.first].start, lexemes[self.last - 1].end
        return "".join("\n" if c == "\n" else " " for c in self.text[:start]) + self.text[start:end]


@dataclass(frozen=True, slots=True)
class Execute:
    """EXECUTE name(arguments): runs what an SQL-level PREPARE has stored. inside: EXPLAIN, CREATE TABLE AS."""

    name: str
    arguments: tuple[str, ...]
    inside: str = ""


@dataclass(frozen=True, slots=True)
class StoredQuery:
    """PREPARE name AS query: it asks nothing yet, and is relayed."""

    statement: Statement


class Names:
    """The last parts of the names of the policy's tables, for a first look at a text.

    Given    protected ones, by which a text is worth a look; others, to be resolved beside them
    """

    def __init__(self, protected: Iterable[str], others: Iterable[str] = ()) -> None:
        self._protected = frozenset(protected)
        self._all = self._protected | frozenset(others)
        self._folded = tuple({fold(name).lower() for name in self._protected})

    def may_occur_in(self, text: str) -> bool:
        """Whether a text can name a protected relation or run a prepared statement. Cheap: no tokens. One
        that is longer than base.limits.LOOKED_AT_BYTES is the shadow's to judge."""
        if len(text) > limits.LOOKED_AT_BYTES:
            return False
        folded = text.lower()
        return "execute" in folded or any(name in folded for name in self._folded)

    def __contains__(self, name: str) -> bool:
        return name in self._all


def split(text: str) -> tuple[tuple[int, str], ...]:
    """The statements of a simple query, each with its offset; empty ones left out.

    >>> split("BEGIN; select ';' ; ")
    ((0, 'BEGIN'), (7, "select ';'"))
    """
    lexed = lex(text)
    if lexed is None:
        return ((0, text),)
    pieces: list[tuple[int, str]] = []
    start: int | None = None
    end = 0
    for lexeme in lexed.lexemes:
        if lexeme.kind is TokenType.SEMICOLON and lexeme.depth == 0:
            if start is not None:
                pieces.append((start, text[start:end]))
            start = None
            continue
        start = lexeme.start if start is None else start
        end = lexeme.end
    if start is not None:
        pieces.append((start, text[start:end]))
    return tuple(pieces)


def pieces(text: str, names: Names) -> tuple[tuple[int, str], ...]:
    """As `split`, but a text that cannot name anything protected, SET what answers cost or alter a role stays
    whole, and so does one that is too long to be looked into: `look` refuses it."""
    sets = len(text) <= limits.STATEMENT_BYTES and may_assign(text)
    if not (sets or may_alter_role(text) or names.may_occur_in(text)):
        return ((0, text),)
    try:
        return split(text)
    except Refusal:
        return ((0, text),)


def look(text: str, names: Names) -> Statement | Execute | StoredQuery | None:
    """What a statement may touch. None: nothing protected, relay it.

    Refuses  TOO_COMPLEX (base.limits), SYNTAX: odd white space
    """
    if not names.may_occur_in(text):
        return None
    lexed = _without_empty_ones(lex(text))
    if lexed is None or not lexed.lexemes:
        return None
    found = _executed(lexed)
    if found is not None:
        return _execute(lexed, *found)
    relations, chains = _chains(lexed, names)
    if not relations:
        return None
    view = _view(lexed)
    if view is not None:
        return Statement(lexed, StatementKind.VIEW, *view, relations, chains)
    located = _inner_query(lexed)
    stored = _after(lexed, "as") if located is None else None
    if located is not None:
        kind, first, last, as_json = located
        return Statement(lexed, kind, first, last, relations, chains, as_json)
    if stored is not None:
        kind, first, last, _ = stored
        return StoredQuery(Statement(lexed, kind, first, last, relations, chains))
    return None


_BEFORE_VIEW = frozenset(
    {"or", "replace", "temp", "temporary", "local", "recursive", "materialized"}
)


def _view(lexed: Lexed) -> tuple[int, int] | None:
    """Where the query of a CREATE VIEW begins and ends."""
    words = [lexeme.word for lexeme in lexed.lexemes]
    place = next((i for i, word in enumerate(words[1:], 1) if word not in _BEFORE_VIEW), 0)
    if words[0] != "create" or not place or words[place] != "view":
        return None
    end = len(words)
    while end > place and lexed.lexemes[end - 1].kind is TokenType.SEMICOLON:
        end -= 1
    if words[end - 2 : end] == ["check", "option"]:  # WITH [LOCAL | CASCADED] CHECK OPTION
        end -= 3 + (words[end - 3] in ("local", "cascaded"))
    own = (i for i in range(place, end - 1) if lexed.lexemes[i].depth == 0)
    start = next((i + 1 for i in own if words[i] == "as"), None)
    return None if start is None else (start, end)


def _without_empty_ones(lexed: Lexed | None) -> Lexed | None:
    """Blanks for the semicolons in front of a statement, which PostgreSQL reads over; positions stay."""
    if lexed is None or not lexed.lexemes or lexed.lexemes[0].kind is not TokenType.SEMICOLON:
        return lexed
    text = lexed.text
    for lexeme in lexed.lexemes:
        if lexeme.kind is not TokenType.SEMICOLON:
            break
        text = text[: lexeme.start] + " " + text[lexeme.end :]
    return lex(text)


def _chains(lexed: Lexed, names: Names) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """Dotted chains of identifiers whose last part is a protected name."""
    relations: dict[str, int] = {}
    chains: list[tuple[int, int]] = []
    lexemes = lexed.lexemes
    index = 0
    while index < len(lexemes):
        if not lexemes[index].name:
            index += 1
            continue
        last = lexed.name_end(index)
        if lexemes[last].name in names:
            written = lexed.text[lexemes[index].start : lexemes[last].end]
            chains.append((index, relations.setdefault(written, len(relations))))
        index = last + 1
    return tuple(relations), tuple(chains)


def _executed(lexed: Lexed) -> tuple[int, str] | None:
    """Where EXECUTE stands, and in which statement around it."""
    lexemes = lexed.lexemes
    match lexemes[0].word:
        case "execute":
            return 0, ""
        case "explain":
            place, _ = behind_options(lexed)
            around = "EXPLAIN"
            if place < len(lexemes) and lexemes[place].word == "create":
                place = _behind_as(lexed)
        case "create":
            place = _behind_as(lexed)
            around = "CREATE TABLE AS"
        case _:
            return None
    is_there = 0 < place < len(lexemes) and lexemes[place].word == "execute"
    return (place, around) if is_there else None


def _behind_as(lexed: Lexed) -> int:
    """0: there is no AS."""
    words = ((i, x) for i, x in enumerate(lexed.lexemes) if x.word == "as" and not x.depth)
    return next((i + 1 for i, _ in words), 0)


def _execute(lexed: Lexed, place: int, inside: str) -> Execute | None:
    lexemes, name, end = lexed.lexemes, place + 1, len(lexed.lexemes)
    if name >= end or not lexemes[name].name:
        return None
    opens = name + 1
    if opens == end or lexemes[opens].kind is not TokenType.L_PAREN:
        # CREATE TABLE AS may go on WITH [NO] DATA.
        return Execute(lexemes[name].name, (), inside) if opens == end or inside else None
    close = lexed.partner[opens]
    if close != end - 1 and not inside:
        return None
    return Execute(
        lexemes[name].name,
        tuple(
            lexed.text[lexemes[a].start : lexemes[b - 1].end]
            for a, b in split_commas(lexed, opens + 1, close)
        ),
        inside,
    )


def split_commas(lexed: Lexed, first: int, last: int) -> tuple[tuple[int, int], ...]:
    """The comma-separated items between two lexemes, as (first, last exclusive)."""
    if first >= last:
        return ()
    depth = lexed.lexemes[first].depth
    items: list[tuple[int, int]] = []
    start = first
    for index in range(first, last):
        lexeme = lexed.lexemes[index]
        if lexeme.kind is TokenType.COMMA and lexeme.depth == depth:
            items.append((start, index))
            start = index + 1
    items.append((start, last))
    return tuple(items)


_QUERY_WORDS = frozenset({"select", "with", "values"})


def _starts_query(lexeme: Lexeme) -> bool:
    return lexeme.word in _QUERY_WORDS or lexeme.kind is TokenType.L_PAREN


def _inner_query(lexed: Lexed) -> tuple[StatementKind, int, int, bool] | None:
    """Where the query of a statement is: (kind, first, last exclusive, EXPLAIN asked for JSON).

    Statements that are not listed are the shadow's: it holds no data and grants no writes.
    """
    lexemes = lexed.lexemes
    whole = len(lexemes)
    first = lexemes[0]
    if _starts_query(first):
        return StatementKind.QUERY, 0, whole, False
    match first.word:
        case "table":
            return StatementKind.TABLE, 0, whole, False
        case "declare":
            return _after(lexed, "for")
        case "create":
            found = _after(lexed, "as")
            is_table = any(x.word == "table" for x in lexemes[1:4])
            if found is None or not is_table:
                return None
            kind, start, end, _ = found
            if lexemes[end - 1].word == "data":  # WITH [NO] DATA
                if lexemes[end - 2].word == "no":
                    return None  # nothing is asked
                end -= 2
            return kind, start, end, False
        case "insert":
            start, end = _inserted(lexed)
            return (StatementKind.WRAPPED, start, end, False) if 0 < start < end else None
        case "copy":
            if whole > 1 and lexemes[1].kind is TokenType.L_PAREN:
                return StatementKind.COPY, 2, lexed.partner[1], False
            return StatementKind.TABLE, 0, whole, False
        case "explain":
            return _explained(lexed)
        case _:
            return None


def _inserted(lexed: Lexed) -> tuple[int, int]:
    """Where the query of an INSERT begins and ends."""
    own = [(i, x.word) for i, x in enumerate(lexed.lexemes) if x.depth == 0]
    start = next((i for i, word in own if word in _QUERY_WORDS), 0)
    end = next((i for i, word in own if word == "returning"), len(lexed.lexemes))
    return start, _conflict_clause(lexed, end) or end


def _conflict_clause(lexed: Lexed, end: int) -> int | None:
    """Where ON CONFLICT ... DO begins in an INSERT. A column may be called conflict; nothing after it is do."""
    own = [i for i in range(end) if lexed.lexemes[i].depth == 0]
    while own and lexed.lexemes[own[-1]].word != "do":
        own.pop()
    found = None
    for index, following in pairwise(own):
        if (lexed.lexemes[index].word, lexed.lexemes[following].word) == ("on", "conflict"):
            found = index
    return found


def _after(lexed: Lexed, word: str) -> tuple[StatementKind, int, int, bool] | None:
    for index, lexeme in enumerate(lexed.lexemes[:-1]):
        if lexeme.word == word and lexeme.depth == 0 and _starts_query(lexed.lexemes[index + 1]):
            return StatementKind.WRAPPED, index + 1, len(lexed.lexemes), False
    return None


def _is_json(options: Sequence[Lexeme]) -> bool:
    """The last FORMAT counts; its value may be a string or a quoted name."""
    formats = [
        value.token.text.lower() for name, value in pairwise(options) if name.name == "format"
    ]
    return formats[-1:] == ["json"]


def _is_verbose(options: Sequence[Lexeme]) -> bool:
    values = [
        value.token.text.lower() for name, value in pairwise(options) if name.name == "verbose"
    ]
    return bool(values) and values[-1] not in ("false", "off", "0")


def behind_options(lexed: Lexed) -> tuple[int, bool]:
    """Where the statement begins that EXPLAIN is of, and whether it is asked for as JSON."""
    lexemes = lexed.lexemes
    index = 1
    as_json = False
    if index < len(lexemes) and lexemes[index].kind is TokenType.L_PAREN:
        close = lexed.partner[index]
        options = lexemes[index + 1 : close]
        if not any(x.word in ("select", "table") for x in options):
            as_json = _is_json(options)
            index = close + 1
    while index < len(lexemes) and lexemes[index].word in ("analyze", "analyse", "verbose"):
        index += 1
    return index, as_json


def _explained(lexed: Lexed) -> tuple[StatementKind, int, int, bool] | None:
    """Of DECLARE, CREATE TABLE AS and INSERT it is that of their query."""
    lexemes, end = lexed.lexemes, len(lexed.lexemes)
    index, as_json = behind_options(lexed)
    if index >= end:
        return None
    if _starts_query(lexemes[index]):
        return StatementKind.EXPLAIN, index, end, as_json
    match lexemes[index].word:
        case "table":
            return StatementKind.TABLE, index, end, as_json
        case "declare" | "create":
            found = _after(lexed, "for" if lexemes[index].word == "declare" else "as")
            if found is None:
                return None
            if lexemes[end - 1].word == "data":  # WITH [NO] DATA
                end -= 3 if lexemes[end - 2].word == "no" else 2
            return StatementKind.EXPLAIN, found[1], end, as_json
        case "insert":
            start, end = _inserted(lexed)
            return (StatementKind.EXPLAIN, start, end, as_json) if index < start < end else None
        case _:
            return None
