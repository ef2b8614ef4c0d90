"""sqlglot's trees of slices of tokens. Whatever goes wrong inside the parser is a refusal, never a crash."""

from __future__ import annotations

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from proxy.base.errors import Code, Refusal
from proxy.query.syntax.placeholders import (
    EvaluatedConstant,
    Placeholders,
    PublicSubquery,
    token_text,
)
from proxy.query.syntax.selects import Span
from proxy.query.syntax.string_literals import plain_strings
from proxy.query.syntax.tokens import Lexed


class _Trees(Postgres):
    """PostgreSQL's trees, with the templates of to_char() as they were written."""

    TIME_MAPPING = {}  # noqa: RUF012


_POSTGRES = _Trees()
HINT = "Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column."

EXPRESSION_HINT = "Use plain comparisons, arithmetic and CASE on the columns of the table."


def parse(lexed: Lexed, span: Span, placeholders: Placeholders) -> exp.Expr:
    """One expression.

    Refuses  UNSUPPORTED where sqlglot does not read exactly one
    """
    try:
        trees = _POSTGRES.parser().parse_into(
            exp.Condition, _tokens(lexed, span, placeholders), lexed.text
        )
    except (SqlglotError, RecursionError, TypeError, ValueError, IndexError):  # its own faults too
        trees = []
    if len(trees) != 1 or trees[0] is None:
        raise Refusal(
            Code.UNSUPPORTED,
            "an expression in this query on a protected table is not supported",
            EXPRESSION_HINT,
            _position(lexed, span),
        )
    return trees[0]


def parse_item(
    lexed: Lexed, span: Span, placeholders: Placeholders
) -> tuple[exp.Expr, str | None, Span]:
    """One output column: its expression, its alias, the span of the expression alone."""
    tokens = [Token(TokenType.SELECT, "SELECT"), *_tokens(lexed, span, placeholders)]
    try:
        trees = _POSTGRES.parser().parse(tokens, lexed.text)
    except (SqlglotError, RecursionError, TypeError, ValueError, IndexError):
        trees = []
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1:
        raise Refusal(
            Code.UNSUPPORTED,
            "an output column of this query on a protected table is not supported",
            HINT,
            _position(lexed, span),
        )
    node = tree.expressions[0]
    if not isinstance(node, exp.Alias):
        return node, None, span
    has_as = lexed.lexemes[span[1] - 2].word == "as"
    return node.this, lexed.lexemes[span[1] - 1].name, (span[0], span[1] - (2 if has_as else 1))


def _position(lexed: Lexed, span: Span) -> int | None:
    return lexed.lexemes[span[0]].position if span[0] < len(lexed.lexemes) else None


def _no_operator_for_parameter(lexed: Lexed, index: int, last: int) -> None:
    """`@ 1`, the absolute value, is to sqlglot the parameter 1."""
    lexeme = lexed.lexemes[index]
    if (
        lexeme.token.token_type is TokenType.PARAMETER
        and lexeme.token.text != "$"
        and index + 1 < last
        and lexed.lexemes[index + 1].token.token_type is TokenType.NUMBER
    ):
        raise Refusal(
            Code.UNSUPPORTED,
            f"operator {lexeme.token.text} is not allowed in a query on a protected table",
            "Write abs(x).",
            lexeme.position,
        )


def _tokens(lexed: Lexed, span: Span, placeholders: Placeholders) -> list[Token]:
    """The tokens of a span, with parameters for what is read or evaluated on its own."""
    tokens: list[Token] = []
    index = span[0]
    while index < span[1]:
        placeholder = placeholders.get(index)
        if placeholder is None:
            _no_operator_for_parameter(lexed, index, span[1])
            tokens.append(lexed.lexemes[index].token)
            index += 1
            continue
        place = lexed.lexemes[index].token
        put = [(TokenType.PARAMETER, "$"), (TokenType.NUMBER, token_text(placeholder))]
        if isinstance(placeholder, PublicSubquery):  # IN wants a list
            put = [(TokenType.L_PAREN, "("), *put, (TokenType.R_PAREN, ")")]
        for kind, text in put:
            tokens.append(Token(kind, text, place.line, place.col, place.start, place.start))
        evaluated = placeholder if isinstance(placeholder, EvaluatedConstant) else None
        index = evaluated.end if evaluated else lexed.partner[index] + 1
    return plain_strings(lexed.text, tokens)
