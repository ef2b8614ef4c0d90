"""Key words that are names, comments in comments, and aggregates of constants."""

from __future__ import annotations

import pytest

from proxy.base.errors import Code, Refusal
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.statement_reading import Reading
from proxy.query.syntax.tokens import lex
from tests.pipeline_world import read


def _reading(text: str) -> Reading:
    found = read(text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) AS {} FROM people",
        "SELECT count(*) AS {}, sum(n) FROM people WHERE n > 1",
        "SELECT count(*) FROM (SELECT n AS {} FROM people) q",
    ],
)
@pytest.mark.parametrize(
    "word", ["limit", "offset", "from", "where", "fetch", "into", "union", "window", "for"]
)
def test_any_word_is_a_label(text: str, word: str) -> None:
    reading = _reading(text.format(word))
    assert len(reading.query.blocks) == 1
    if "(SELECT" not in text:
        assert f"AS {word}" in reading.text


@pytest.mark.parametrize(
    "comment",
    [
        "/*/**/*/",
        "/**/",
        "/* a /* b */ c */",
        "/*/**/ WHERE n > 1 --*/\n",
        "/* ' */",
        "/* \u00a0 */",
    ],
)
def test_comments_nest(comment: str) -> None:
    """The parser ends some of them early, and read words that PostgreSQL reads over."""
    (block,) = _reading(f"SELECT count(*) FROM {comment} people{comment}").query.blocks
    assert block.where is None
    assert block.aggregates[0].kind is AggregateKind.COUNT_ROWS


def test_what_looks_like_a_comment_in_a_string() -> None:
    text = "SELECT '/*', \"/*\", $$/*$$, E'\\'/*' -- /*\n, 1"
    lexed = lex(text)
    assert lexed is not None
    assert lexed.text == text
    assert [x.token.text for x in lexed.lexemes if x.token.text == "/*"] == ["/*"] * 3
    assert lexed.lexemes[-1].token.text == "1"


@pytest.mark.parametrize("pair", ["1, 1", "n, 1", "1, n", "n, 1 + 2"])
@pytest.mark.parametrize("name", ["corr", "covar_pop", "covar_samp", "regr_slope", "regr_r2"])
def test_a_pair_with_a_constant_is_refused(name: str, pair: str) -> None:
    with pytest.raises(Refusal) as caught:
        read(f"SELECT {name}({pair}) FROM people")
    assert caught.value.code is Code.UNSUPPORTED
    assert "constant" in caught.value.message
    assert caught.value.position == 8
