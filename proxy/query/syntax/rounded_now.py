"""The words of a constant expression with the present rounded down to a public step.

"The last 30 days" is then one question until the next step.

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


def words_of(lexed: Lexed, first: int, last: int, present: str | None) -> Iterator[str]:
    """Yield each word without the comments between, the words of the present replaced.

    Args:
        present: SQL of the instant that stands for them (`utc_step`, `clock_step`); None: they stay.
    """
    index = first
    while index < last:
        end, kind = (index + 1, None) if present is None else _present(lexed, index, last)
        lexeme = lexed.lexemes[index]
        if kind is None:
            is_sign = lexeme.kind is TokenType.PARAMETER
            yield lexed.text[lexeme.start : lexeme.end] + ("" if is_sign else " ")
        else:
            yield f"{present}::pg_catalog.{kind} "
        index = end


def names_present(lexed: Lexed, first: int, last: int) -> bool:
    """Return whether any of the words says when it is."""
    return any(_present(lexed, index, last)[1] is not None for index in range(first, last))


def _present(lexed: Lexed, index: int, last: int) -> tuple[int, str | None]:
    """The lexeme after what says when it is, and its type; of any other word the next one, and None."""
    start = index
    if _word(lexed, index, last) == "pg_catalog" and _word(lexed, index + 2, last) in _CALLS:
        start = index + 2
    word = _word(lexed, start, last)
    opens = start + 1 < last and lexed.lexemes[start + 1].kind is TokenType.L_PAREN
    close = lexed.partner[start + 1] if opens else -1
    if word in _CALLS and close == start + 2:
        return close + 1, "timestamptz"
    if word in _WORDS:
        return (close if opens else start) + 1, _WORDS[word]
    return index + 1, None


def _word(lexed: Lexed, index: int, last: int) -> str:
    return lexed.lexemes[index].word if index < last else ""


def utc_step(seconds: int) -> str:
    """Round the present down to steps that begin at midnight, UTC."""
    epoch = f"pg_catalog.floor(extract(epoch FROM pg_catalog.now()) / {seconds}) * {seconds}"
    return f"(pg_catalog.to_timestamp({epoch}))"


def clock_step(seconds: int) -> str:
    """Round the present down to steps that begin at midnight of the session's clock.

    In a zone of half an hour a step of UTC's clock would put current_date back to yesterday.
    """
    now, ahead = "extract(epoch FROM pg_catalog.now())", "extract(timezone FROM pg_catalog.now())"
    epoch = f"pg_catalog.floor(({now} + {ahead}) / {seconds}) * {seconds} - {ahead}"
    return f"(pg_catalog.to_timestamp({epoch}))"
