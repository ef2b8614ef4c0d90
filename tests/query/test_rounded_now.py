"""The present in steps: which words are replaced, and by what."""

from __future__ import annotations

import pytest

from proxy.query.syntax.constant_spans import constant_spans
from proxy.query.syntax.tokens import lex

_HOUR = "(pg_catalog.to_timestamp(pg_catalog.floor(extract(epoch FROM pg_catalog.now()) / 3600) * 3600))"


@pytest.mark.parametrize(
    ("written", "evaluated"),
    [
        ("now()", f"{_HOUR}::pg_catalog.timestamptz"),
        ("now() - interval '30 days'", f"{_HOUR}::pg_catalog.timestamptz - interval '30 days'"),
        ("pg_catalog.now()", f"{_HOUR}::pg_catalog.timestamptz"),
        ("CURRENT_DATE - 7", f"{_HOUR}::pg_catalog.date - 7"),
        ("current_timestamp(3)", f"{_HOUR}::pg_catalog.timestamptz"),
        (
            "date_trunc('day', localtimestamp)",
            f"date_trunc ( 'day' , {_HOUR}::pg_catalog.timestamp )",
        ),
        ("upper('now()')", "upper ( 'now()' )"),
        ("to_timestamp($1)", "to_timestamp ( $1 )"),
    ],
)
def test_words_of_the_present(written: str, evaluated: str) -> None:
    lexed = lex(written)
    assert lexed is not None
    (span,) = constant_spans(lexed, 0, len(lexed.lexemes), step=3600)
    assert span.text == evaluated
