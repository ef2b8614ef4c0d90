"""Calls and columns on tokens: what a word is where it stands."""

from __future__ import annotations

from sqlglot import TokenType

from proxy.query.bind.select_context import SelectContext
from proxy.query.syntax.selects import is_call
from proxy.query.syntax.tokens import Lexed

# Before a bracket or an operand, no function's and no column's.
_NO_NAMES = frozenset(
    {
        *("all", "and", "any", "array", "as", "asc", "between", "by", "case", "desc", "distinct"),
        *("else", "end", "exists", "false", "filter", "from", "ilike", "in", "interval", "is"),
        *("like", "not", "null", "on", "or", "over", "row", "select", "similar", "some"),
        *("symmetric", "then", "to", "true", "using", "values", "when", "where", "with"),
    }
)


def call_end(context: SelectContext, index: int) -> int | None:
    """Where a function's call or a column's name ends that begins at a lexeme; None of anything else."""
    lexed = context.lexed
    lexemes = lexed.lexemes
    if not lexemes[index].name or (index > 0 and is_no_column(lexed, index)):
        return None
    last = index
    while (
        last + 2 < len(lexemes)
        and lexemes[last + 1].token.token_type is TokenType.DOT
        and lexemes[last + 2].name
    ):
        last += 2
    if not is_call(lexed, last):
        is_typed = lexemes[last + 1 : last + 2] and (
            lexemes[last + 1].token.token_type is TokenType.STRING
        )
        return None if is_typed or lexemes[index].word in _NO_NAMES else last + 1
    return None if lexemes[last].word in _NO_NAMES else lexed.partner[last + 1] + 1


def is_no_column(lexed: Lexed, index: int) -> bool:
    """Whether a word is a type after :: or AS, a part of a longer name, a field of extract(field FROM ...), AT
    TIME ZONE."""
    before = lexed.lexemes[index - 1]
    if before.token.token_type in (TokenType.DCOLON, TokenType.DOT) or before.word == "as":
        return True
    following = lexed.lexemes[index + 1].word if index + 1 < len(lexed.lexemes) else ""
    if lexed.lexemes[index].word == "at" and following == "time":
        return True
    called = lexed.lexemes[index - 2].word if index > 1 else ""
    return following == "from" and called in ("extract", "trim", "substring", "overlay")
