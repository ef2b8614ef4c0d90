"""The conditions that AND joins, on tokens, so that one may stay in a text and another not."""

from __future__ import annotations

from sqlglot import TokenType

from proxy.query.syntax.selects import Span, opens_query
from proxy.query.syntax.tokens import Lexed


def conjuncts(lexed: Lexed, span: Span) -> tuple[Span, ...]:
    """
    Given    a condition: the lexemes after WHERE or ON
    Gives    the conditions of which it is true that all hold, without brackets around them; one where OR binds
             less than an AND beside it
    Source   PostgreSQL 17 documentation, section 4.1.6: OR binds less than AND, all else more
    """
    span = _bare(lexed, span)
    starts = [span[0]]
    # In CASE ... END, and of BETWEEN, an AND is none of the condition's own.
    cases = betweens = 0
    index = span[0]
    while index < span[1]:
        lexeme = lexed.lexemes[index]
        is_name = index > span[0] and lexed.lexemes[index - 1].token.token_type is TokenType.DOT
        word = "" if is_name else lexeme.word
        if word == "case":
            cases += 1
        elif word == "end" and cases:
            cases -= 1
        elif cases:
            pass
        elif word == "or":
            return (span,)
        elif word == "between":
            betweens += 1
        elif word == "and" and betweens:
            betweens -= 1
        elif word == "and":
            starts.append(index + 1)
        index = lexed.partner[index] + 1 if lexed.partner[index] > index else index + 1
    if len(starts) == 1:
        return (span,)
    ends = [*(start - 1 for start in starts[1:]), span[1]]
    return tuple(
        part
        for first, last in zip(starts, ends, strict=True)
        for part in conjuncts(lexed, (first, last))
    )


def equal_sides(lexed: Lexed, span: Span) -> tuple[Span, Span] | None:
    """Of `a = b` and `a IS NOT DISTINCT FROM b`, as a whole condition; None of anything else."""
    depth = lexed.lexemes[span[0]].depth
    own = [index for index in range(*span) if lexed.lexemes[index].depth == depth]
    if lexed.lexemes[span[0]].word == "not":
        return None
    found: list[tuple[Span, Span]] = []
    for index in own:
        words = tuple(x.word for x in lexed.lexemes[index : index + 4])
        if lexed.lexemes[index].token.token_type is TokenType.EQ:
            found.append(((span[0], index), (index + 1, span[1])))
        elif words == ("is", "not", "distinct", "from"):
            found.append(((span[0], index), (index + 4, span[1])))
    if len(found) != 1:
        return None
    left, right = (_bare(lexed, side) for side in found[0])
    return (left, right) if left[0] < left[1] and right[0] < right[1] else None


def _bare(lexed: Lexed, span: Span) -> Span:
    """Without brackets around the whole."""
    first, last = span
    while (
        last - first > 2
        and lexed.lexemes[first].token.token_type is TokenType.L_PAREN
        and lexed.partner[first] == last - 1
        and not opens_query(lexed, first)
    ):
        first, last = first + 1, last - 1
    return first, last
