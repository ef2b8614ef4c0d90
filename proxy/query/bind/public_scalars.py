"""Scalar subqueries of one public table: the shadow has its rows, so they are constants like others.

By allow-list of words: each name is a column of that table or the table itself, so that nothing in them can
mean a column of a query around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import TokenType

from proxy.query.ir.exposed import Exposed
from proxy.query.syntax.constant_spans import FUNCTIONS
from proxy.query.syntax.selects import AGGREGATES, is_call, is_relation
from proxy.query.syntax.statements import Statement
from proxy.query.syntax.tokens import Lexed

_WORDS = frozenset(
    {
        *("select", "from", "where", "and", "or", "not", "is", "null", "true", "false", "as"),
        *("like", "ilike", "in", "between", "order by", "order", "by", "asc", "desc", "limit"),
        *("case", "when", "then", "else", "end", "distinct"),
    }
)
_CALLED = FUNCTIONS | (AGGREGATES & {"count", "sum", "avg", "min", "max"})
# In whose brackets a subquery is no single value, however many there are.
_OF_ROWS = frozenset({"in", "any", "some", "all", "exists", "array", "lateral"})


def public_scalars(statement: Statement, tables: Mapping[int, Exposed]) -> frozenset[int]:
    """
    Given    tables: first lexeme of what names a table of the policy -> table
    Gives    the opening brackets of those that are constant
    """
    return frozenset(_found(statement, tables))


def _found(statement: Statement, tables: Mapping[int, Exposed]) -> Iterator[int]:
    lexed = statement.lexed
    for index in range(statement.first, statement.last):
        lexeme = lexed.lexemes[index]
        opens = lexeme.token.token_type is TokenType.L_PAREN and index > statement.first
        if not opens or lexed.lexemes[index + 1].word != "select":
            continue
        close = lexed.partner[index]
        inside = [at for at in tables if index < at < close]
        if len(inside) != 1 or tables[inside[0]].protected or not is_one_value(lexed, index):
            continue
        if _is_of(lexed, index, inside[0], tables[inside[0]]):
            yield index


def is_one_value(lexed: Lexed, index: int) -> bool:
    """Whether a subquery in this bracket stands where one value is meant."""
    if is_relation(lexed, index) and not _is_listed(lexed, index):
        return False
    while index > 0 and lexed.lexemes[index - 1].token.token_type is TokenType.L_PAREN:
        index -= 1
    return index > 0 and lexed.lexemes[index - 1].word not in _OF_ROWS


def _is_listed(lexed: Lexed, index: int) -> bool:
    """Whether what stands behind a comma is in the brackets of IN or of a call, not in FROM."""
    around = [at for at in range(index) if lexed.partner[at] > index]
    return lexed.lexemes[index - 1].token.token_type is TokenType.COMMA and (
        bool(around) and (lexed.lexemes[around[-1] - 1].word in (*_CALLED, "in"))
    )


def _is_of(lexed: Lexed, index: int, chain: int, table: Exposed) -> bool:
    """Whether a bracket holds SELECT ... FROM table [alias] ..., with no name of anything else."""
    lexemes, close = lexed.lexemes, lexed.partner[index]
    if lexemes[chain - 1].word != "from":
        return False
    end = chain + 1
    while lexemes[end].token.token_type is TokenType.DOT:
        end += 2
    named = {lexemes[end - 1].name}
    alias = end + 1 if lexemes[end].word == "as" else end
    if lexemes[alias].name and lexemes[alias].word not in _WORDS:
        named, end = {lexemes[alias].name}, alias + 1
    own = {*table.columns, *named}
    for at in (*range(index + 1, chain), *range(end, close)):
        name, word = lexemes[at].name, lexemes[at].word
        if word == "select" and at > index + 1:
            return False
        if word in _WORDS:
            continue
        if is_call(lexed, at) and name:
            if word not in _CALLED or lexemes[at - 1].token.token_type is TokenType.DOT:
                return False
        elif name and name not in own:
            return False
    return True
