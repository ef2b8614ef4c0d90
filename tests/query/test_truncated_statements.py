"""Statements that end too early, or with a part left out: a refusal or an answer, never another error."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.base.errors import Refusal
from proxy.query.syntax.tokens import lex
from tests.cases import Case, in_folder
from tests.pipeline_world import POLICIES, walk

_GOLDEN = Path(__file__).parents[1] / "golden"
_CASES = list(in_folder(_GOLDEN / "pipeline"))
_FIRST = next(iter(POLICIES.values()))
_MARKED = {"where", "on", "by", "having", "from", "select", "in", "and", "not", "=", "(", ","}


def _walk(text: str) -> None:
    try:
        walk(text, _FIRST, (), ())
    except Refusal as refusal:
        assert refusal.message and refusal.hint


@pytest.mark.every(8)
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_truncated_after_a_word(case: Case) -> None:
    """After each word behind which a part is expected, and with the word behind it left out."""
    text = case.statement
    lexed = lex(text)
    assert lexed is not None
    lexemes = lexed.lexemes
    for one, following in zip(lexemes, (*lexemes[1:], None), strict=True):
        if text[one.start : one.end].lower() in _MARKED:
            _walk(text[: one.end])
            if following is not None:
                _walk(text[: one.end] + text[following.end :])
