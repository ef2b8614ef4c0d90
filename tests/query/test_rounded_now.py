"""The present in steps: which words are replaced, and by what."""

from __future__ import annotations

import pytest

from proxy.query.syntax.constant_spans import PresentRule, constant_spans
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
    (span,) = constant_spans(lexed, 0, len(lexed.lexemes), present=PresentRule(step=3600))
    assert span.text == evaluated


def test_each_slot_has_a_text_where_the_present_is_named() -> None:
    lexed = lex("now()::date - 7 = '2026-01-01'::date - 1")
    assert lexed is not None
    rule = PresentRule(slots=(3600, 60))
    moving, fixed = constant_spans(lexed, 0, len(lexed.lexemes), present=rule)
    assert moving.text == "now ( ) :: date - 7" and fixed.slots == ()
    assert [seconds for seconds, _ in moving.slots] == [3600, 60]
    assert all(text.endswith("::pg_catalog.timestamptz :: date - 7") for _, text in moving.slots)
    assert "/ 3600) * 3600" in moving.slots[0][1] and "/ 60) * 60" in moving.slots[1][1]
