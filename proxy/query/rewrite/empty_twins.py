"""Twins of protected tables: the same columns, never a row. What reads nothing is run on them.

Analysts hold no SELECT on the shadow's protected tables, so that PostgreSQL's executor refuses whatever
slips through. A statement that provably reads no row (a probe for names and types, EXPLAIN of rows)
is rewritten to name the twins instead, which they may read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from sqlglot import TokenType

from proxy.base.limits import IDENTIFIER_BYTES
from proxy.base.written_names import quoted
from proxy.catalog.catalog_model import TableName
from proxy.query.ir.exposed import Exposed
from proxy.query.rewrite.edits import Edit
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.tokens import Lexed

# Tools do not list schemas that begin with pg_.
TWIN_SCHEMA = "pg_dp_empty"

_NO_ALIAS = frozenset(
    {"join", "left", "right", "full", "inner", "cross", "natural", "on", "using", "tablesample"}
)


def twin_of(table: TableName) -> TableName:
    """
    >>> str(twin_of(TableName("shop", "orders")))
    'pg_dp_empty.shop.orders'
    """
    name = str(table)
    if len(name.encode()) > IDENTIFIER_BYTES:
        name = hashlib.sha256(name.encode()).hexdigest()[:32]
    return TableName(TWIN_SCHEMA, name)


def on_twins(
    lexed: Lexed, found: tuple[Select, ...], protected: Mapping[int, Exposed]
) -> tuple[Edit, ...]:
    """
    Given    the SELECTs of a statement; protected: first lexeme of what names a protected table -> table
    Gives    the edits that put the twins into every FROM, under the names that the tables had. What is
             missed keeps the table's name, and is refused by PostgreSQL
    """
    texts = {table.name: twin_of(table.name) for table in protected.values()}
    return in_place_of(
        lexed,
        found,
        {
            index: (
                table.name,
                f"{quoted(texts[table.name].schema)}.{quoted(texts[table.name].name)}",
            )
            for index, table in protected.items()
        },
    )


def whole_on_twin(lexed: Lexed, protected: Mapping[int, Exposed]) -> tuple[Edit, ...]:
    """The edit that puts the twin into TABLE t, which has no alias and no columns."""
    index, table = next(iter(protected.items()))
    twin = twin_of(table.name)
    end = lexed.lexemes[lexed.name_end(index) + 1 - 1].end
    return (Edit(lexed.lexemes[index].start, end, f"{quoted(twin.schema)}.{quoted(twin.name)}"),)


def in_place_of(
    lexed: Lexed, found: tuple[Select, ...], instead: Mapping[int, tuple[TableName, str]]
) -> tuple[Edit, ...]:
    """
    Given    instead: first lexeme of what names a relation -> its name, and the text to read instead
    Gives    the edits, in every FROM, under the names that the relations had
    """
    edits = []
    replaced = set()
    for index, (name, text) in instead.items():
        span = _from_of(lexed, found, index)
        if span is not None:
            replaced.add(name)
            edits.append(_replaced(lexed, span, index, name, text))
    edits += _without_schema(lexed, replaced, {edit.start for edit in edits})
    return tuple(edits)


def _from_of(lexed: Lexed, found: tuple[Select, ...], index: int) -> Span | None:
    """The FROM clause in which a name stands as a table; None where it is a column or a whole row."""
    around = [select for select in found if select.keyword < index < select.end]
    if not around:
        return None
    select = max(around, key=lambda select: select.keyword)
    span = select.clauses.get("from")
    if span is None or not span[0] <= index < span[1]:
        return None
    at = index
    while at > span[0] and (
        lexed.lexemes[at - 1].kind is TokenType.L_PAREN or lexed.lexemes[at - 1].word == "only"
    ):
        at -= 1
    before = lexed.lexemes[at - 1]
    follows_comma = before.kind is TokenType.COMMA and before.depth == select.depth
    return span if at == span[0] or before.word == "join" or follows_comma else None


def _replaced(lexed: Lexed, span: Span, index: int, table: TableName, text: str) -> Edit:
    last = lexed.name_end(index) + 1
    end = lexed.lexemes[last - 1].end
    closed = last
    while closed < span[1] and lexed.lexemes[closed].kind is TokenType.R_PAREN:
        if lexed.lexemes[lexed.partner[closed] - 1].word != "only":
            break
        closed += 1  # ONLY (table) alias
    if closed < span[1] and lexed.lexemes[closed].kind is TokenType.STAR:
        closed += 1  # table * alias
    has_alias = closed < span[1] and (
        bool(lexed.lexemes[closed].name) and lexed.lexemes[closed].word not in _NO_ALIAS
    )
    if has_alias:
        return Edit(lexed.lexemes[index].start, end, text)
    # Up to the end of ONLY (...) or *, so that the alias follows them.
    rest = lexed.text[end : lexed.lexemes[closed - 1].end]
    named = f"{text}{rest} AS {quoted(table.name)}"
    return Edit(lexed.lexemes[index].start, end + len(rest), named)


def _without_schema(lexed: Lexed, replaced: set[TableName], done: set[int]) -> Iterator[Edit]:
    """schema.table.column -> table.column: an alias has no schema."""
    lexemes = lexed.lexemes
    for index, lexeme in enumerate(lexemes):
        is_start = lexeme.name and (index == 0 or lexemes[index - 1].kind is not TokenType.DOT)
        if not is_start or lexeme.start in done:
            continue
        end = lexed.name_end(index) + 1
        names = [lexemes[at].name for at in range(index, end, 2)]
        has_star = (
            end + 1 < len(lexemes)
            and lexemes[end].kind is TokenType.DOT
            and lexemes[end + 1].kind is TokenType.STAR
        )
        for skipped in (0, 1):  # of which the first may be the database
            if len(names) + has_star < skipped + 3 or len(names) < skipped + 2:
                continue
            if TableName(names[skipped], names[skipped + 1]) in replaced:
                yield Edit(lexeme.start, lexemes[index + 2 * (skipped + 1)].start, "")
                break
