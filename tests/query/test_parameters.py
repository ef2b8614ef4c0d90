"""Parameters are found where PostgreSQL finds them, however close they stand."""

from __future__ import annotations

import pytest
from sqlglot import TokenType

from proxy.query.syntax.parameters import parameters
from proxy.query.syntax.tokens import lex


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("SELECT 1 FROM t WHERE a IN ($1,$2) AND b IN ($1,$3)", "1213"),
        ("SELECT $1+$2-$3||$4", "1234"),
        ("SELECT $1::text,$2::int", "12"),
        ("SELECT a FROM t WHERE x<$1 AND y>@$2", "12"),
        ("SELECT a$1, b$2$3 FROM t", ""),
        ("SELECT '$1,$2', \"$3,$4\", E'\\'$5,$' FROM t WHERE x=$6", "6"),
        ("SELECT 'it''s $1', $2", "2"),
        ("SELECT $$ $1,$2 $$, $a$ $3 $$ $a$, $4", "4"),
        ("SELECT 1 -- $1,$2\n, $3 /* $4 /* $5 */ $6 */, $7", "37"),
        ("SELECT date'2020-01-01', $1", "1"),
        ("SELECT é$1, $2", "2"),
    ],
)
def test_parameters(text: str, numbers: str) -> None:
    assert "".join(text[start + 1 : end] for start, end in parameters(text)) == numbers
    lexed = lex(text)
    assert lexed is not None
    found = [
        after.token.text
        for before, after in zip(lexed.lexemes, lexed.lexemes[1:], strict=False)
        if before.token.token_type is TokenType.PARAMETER and before.token.text == "$"
    ]
    assert "".join(found) == numbers
    for lexeme in lexed.lexemes:
        if lexeme.word:
            assert text[lexeme.start : lexeme.end].lower() == lexeme.word


@pytest.mark.parametrize(
    "text",
    [
        *("$1 '", "/* $1", "$a$ $1", 'SELECT "$1', "$1 /* /* */ $2"),
        *("$", "a $ ", "$1 + @$\n", "SELECT $ /* 1 */"),  # a dollar sign with nothing after it
    ],
)
def test_texts_that_do_not_end(text: str) -> None:
    """They are PostgreSQL's to judge; to look at them must end, too."""
    list(parameters(text))
    lex(text)
