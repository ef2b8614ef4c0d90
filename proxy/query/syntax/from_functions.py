"""Functions in FROM: what they give may be as many rows as their arguments say."""

from __future__ import annotations

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.query.syntax.selects import Select, is_call, is_relation, opens_query
from proxy.query.syntax.tokens import Lexed


def refuse_in_function(lexed: Lexed, select: Select, found: tuple[Select, ...]) -> None:
    """
    Given    select: a SELECT on protected rows; found: all of the statement
    Refuses  UNSUPPORTED: generate_series(1, (SELECT count(*) ...)), of as many rows as the noise says
    """
    for outer in found:
        first, last = outer.clauses.get("from", (0, 0))
        for index in range(first, min(last, select.keyword)):
            within = lexed.partner[index] > select.keyword
            if within and _is_function(lexed, index) and lexed.lexemes[index].depth == outer.depth:
                raise Refusal(
                    Code.UNSUPPORTED,
                    "a question cannot be an argument of a function in FROM",
                    "Run the subquery by itself and write its result as a constant.",
                    lexed.lexemes[select.keyword].position,
                )


def _is_function(lexed: Lexed, bracket: int) -> bool:
    """Whether a bracket holds the arguments of a function in FROM, or those of ROWS FROM."""
    lexemes = lexed.lexemes
    if lexemes[bracket - 2].word == "rows" and lexemes[bracket - 1].word == "from":
        return True
    name = bracket - 1
    if not lexemes[name].name or not is_call(lexed, name) or opens_query(lexed, bracket):
        return False
    while lexemes[name - 1].token.token_type is TokenType.DOT:
        name -= 2
    return is_relation(lexed, name)
