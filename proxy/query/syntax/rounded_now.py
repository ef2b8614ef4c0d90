"""The words of a constant expression with the present rounded down to a public step, so that "the last 30 days"
is one question until the next step.

Source  docs/design/reuse.md 5
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import TokenType

from proxy.query.syntax.tokens import Lexed

_CALLS = frozenset({"now", "transaction_timestamp", "statement_timestamp"})
# Of words that need no brackets, the type of what they say.
_WORDS = {
    "current_timestamp": "timestamptz",
    "localtimestamp": "timestamp",
    "current_date": "date",
    "current_time": "timetz",
    "localtime": "time",
}


def words_of(lexed: Lexed, first: int, last: int, seconds: int | None) -> Iterator[str]:
    """Each word, without the comments between; those that say when it is are rounded down.

    Given    seconds: of the step, which begin at midnight, UTC; None where nothing is rounded
    """
    index = first
    while index < last:
        end, kind = (index + 1, None) if seconds is None else _present(lexed, index, last)
        lexeme = lexed.lexemes[index]
        if kind is None or seconds is None:
            is_sign = lexeme.token.token_type is TokenType.PARAMETER
            yield lexed.text[lexeme.start : lexeme.end] + ("" if is_sign else " ")
        else:
            yield f"{_rounded(seconds)}::pg_catalog.{kind} "
        index = end


def _present(lexed: Lexed, index: int, last: int) -> tuple[int, str | None]:
    """The lexeme after what says when it is, and its type; of any other word the next one, and None."""
    start = index
    if _word(lexed, index, last) == "pg_catalog" and _word(lexed, index + 2, last) in _CALLS:
        start = index + 2
    word = _word(lexed, start, last)
    opens = start + 1 < last and lexed.lexemes[start + 1].token.token_type is TokenType.L_PAREN
    close = lexed.partner[start + 1] if opens else -1
    if word in _CALLS and close == start + 2:
        return close + 1, "timestamptz"
    if word in _WORDS:
        return (close if opens else start) + 1, _WORDS[word]
    return index + 1, None


def _word(lexed: Lexed, index: int, last: int) -> str:
    return lexed.lexemes[index].word if index < last else ""


def _rounded(seconds: int) -> str:
    epoch = f"pg_catalog.floor(extract(epoch FROM pg_catalog.now()) / {seconds}) * {seconds}"
    return f"(pg_catalog.to_timestamp({epoch}))"
