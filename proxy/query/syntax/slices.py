"""sqlglot's trees of slices of tokens. Whatever goes wrong inside the parser is a refusal, never a crash."""

from __future__ import annotations

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from proxy.base.errors import Code, Refusal
from proxy.base.written_spans import is_simple
from proxy.query.syntax.parameters import plain_strings
from proxy.query.syntax.placeholder_tokens import (
    EvaluatedConstant,
    Placeholders,
    PublicSubquery,
    RowSubquery,
    token_text,
)
from proxy.query.syntax.selects import Span
from proxy.query.syntax.tokens import Lexed


class _Trees(Postgres):
    """PostgreSQL's trees, with the templates of to_char() as they were written."""

    TIME_MAPPING = {}  # noqa: RUF012


_POSTGRES = _Trees()
HINT = "Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column."

EXPRESSION_HINT = "Use plain comparisons, arithmetic and CASE on the columns of the table."
_BEFORE_LIST = frozenset({"in", "any", "some", "all"})
_FIELDS = frozenset({"year", "month", "day", "hour", "minute", "second"})


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
    node = _only(lexed, span, tokens, "expressions", "an output column")
    if not isinstance(node, exp.Alias):
        return node, None, span
    has_as = lexed.lexemes[span[1] - 2].word == "as"
    return node.this, lexed.lexemes[span[1] - 1].name, (span[0], span[1] - (2 if has_as else 1))


def parse_ordered(lexed: Lexed, span: Span, placeholders: Placeholders) -> exp.Expr:
    """One term of ORDER BY: an expression, or exp.Ordered."""
    before = [Token(TokenType.SELECT, "SELECT"), Token(TokenType.NUMBER, "1")]
    tokens = [*before, Token(TokenType.ORDER_BY, "ORDER BY"), *_tokens(lexed, span, placeholders)]
    return _only(lexed, span, tokens, "order", "ORDER BY")


def _only(lexed: Lexed, span: Span, tokens: list[Token], part: str, what: str) -> exp.Expr:
    """The only output, or term of ORDER BY, of a SELECT."""
    try:
        trees = _POSTGRES.parser().parse(tokens, lexed.text)
    except (SqlglotError, RecursionError, TypeError, ValueError, IndexError):
        trees = []
    tree = trees[0] if len(trees) == 1 else None
    found = tree.args.get(part) if isinstance(tree, exp.Select) else None
    several = found.expressions if isinstance(found, exp.Order) else found or []
    if len(several) != 1 or not isinstance(several[0], exp.Expr):
        raise Refusal(
            Code.UNSUPPORTED,
            f"{what} of this query on a protected table is not supported",
            HINT,
            _position(lexed, span),
        )
    return several[0]


def _position(lexed: Lexed, span: Span) -> int | None:
    return lexed.lexemes[span[0]].position if span[0] < len(lexed.lexemes) else None


def _no_operator_for_parameter(lexed: Lexed, index: int, last: int) -> None:
    """`@ 1`, the absolute value, is to sqlglot the parameter 1."""
    lexeme = lexed.lexemes[index]
    if (
        lexeme.kind is TokenType.PARAMETER
        and lexeme.token.text != "$"
        and index + 1 < last
        and lexed.lexemes[index + 1].kind is TokenType.NUMBER
    ):
        raise Refusal(
            Code.UNSUPPORTED,
            f"operator {lexeme.token.text} is not allowed in a query on a protected table",
            "Write abs(x).",
            lexeme.position,
        )


def _no_part_of_an_interval(lexed: Lexed, index: int, last: int) -> None:
    """sqlglot reads interval '1 day 02:00' as one day, and `interval '1 day' hour` without its field: it gets
    one number and one unit only."""
    lexeme = lexed.lexemes[index]
    if lexeme.word != "interval" or index + 1 >= last or lexed.lexemes[index - 1].word == "zone":
        return  # after AT TIME ZONE no interval is read at all
    after = lexed.lexemes[index + 1]
    written = lexed.text[after.start : after.end]
    if written[-1:] not in ("'", "$"):
        return
    following = lexed.lexemes[index + 2] if index + 2 < last else None
    is_field = following is not None and following.word in _FIELDS
    is_whole = is_simple(written[1:-1]) and not is_field
    if written[:1] == "'" and is_field and written[1:-1].strip("+-").isdecimal():
        beyond = lexed.lexemes[index + 3] if index + 3 < last else None
        is_whole = beyond is None or beyond.word != "to"
    is_split = following is not None and following.kind is TokenType.STRING
    if written[:1] != "'" or not is_whole or is_split:
        raise Refusal(
            Code.UNSUPPORTED,
            "this form of interval is not available on a protected table",
            "Write one number of one unit: interval '90 minutes'.",
            after.position,
        )


def _tokens(lexed: Lexed, span: Span, placeholders: Placeholders) -> list[Token]:
    """The tokens of a span, with parameters for what is read or evaluated on its own.

    date_part() is to sqlglot EXTRACT, which is numeric: it is cast to what it is in PostgreSQL.
    """
    tokens: list[Token] = []
    index, parts = span[0], set[int]()
    while index < span[1]:
        placeholder = placeholders.get(index)
        if placeholder is None:
            _no_operator_for_parameter(lexed, index, span[1])
            _no_part_of_an_interval(lexed, index, span[1])
            place = lexed.lexemes[index].token
            tokens.append(place)
            if lexed.lexemes[index].word == "date_part" and index + 1 < span[1]:
                parts.add(lexed.partner[index + 1])
            if index in parts:
                at = (place.line, place.col, place.start, place.start)
                tokens.append(Token(TokenType.DCOLON, "::", *at))
                tokens.append(Token(TokenType.DOUBLE, "float8", *at))
            index += 1
            continue
        place = lexed.lexemes[index].token
        put = [(TokenType.PARAMETER, "$"), (TokenType.NUMBER, token_text(placeholder))]
        before = lexed.lexemes[index - 1].word
        is_list = isinstance(placeholder, RowSubquery) and before == "in"
        is_list |= isinstance(placeholder, EvaluatedConstant) and before in _BEFORE_LIST
        if isinstance(placeholder, PublicSubquery) or is_list:  # IN wants a list
            put = [(TokenType.L_PAREN, "("), *put, (TokenType.R_PAREN, ")")]
        for kind, text in put:
            tokens.append(Token(kind, text, place.line, place.col, place.start, place.start))
        if isinstance(placeholder, EvaluatedConstant | RowSubquery):
            index = placeholder.end
        else:
            index = lexed.partner[index] + 1
    return plain_strings(lexed.text, tokens)
