"""Text without names of columns, which says the same wherever it stands."""

from __future__ import annotations

from sqlglot import TokenType

from proxy.query.syntax.constant_types import own_type_at, type_at
from proxy.query.syntax.selects import is_call
from proxy.query.syntax.tokens import Lexed

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
        if lexeme.token.token_type is TokenType.DCOLON:
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
