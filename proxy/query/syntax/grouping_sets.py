"""GROUP BY as the sets of expressions that it groups by, by tokens: GROUPING SETS, ROLLUP, CUBE, brackets."""

from __future__ import annotations

from itertools import combinations

from sqlglot import TokenType

from proxy.base.limits import GROUPING_SETS
from proxy.query.syntax.selects import Span, opens_query
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed, too_complex

Sets = list[tuple[Span, ...]]

_NESTED = (TokenType.ROLLUP, TokenType.CUBE, TokenType.GROUPING_SETS)


def grouping_sets(lexed: Lexed, group: Span) -> tuple[tuple[Span, ...], ...]:
    """
    Given    group: what stands behind GROUP BY, which PostgreSQL has analysed
    Gives    the expressions of each level, one level where none of the three words stands there; several items
             are multiplied out, equal levels stay
    Refuses  TOO_COMPLEX: more levels than a limit
    Source   PostgreSQL 17 documentation, section 7.2.4; gram.y, group_by_item
    """
    first, last = group
    if first >= last:  # no PostgreSQL takes that; who reads the clause refuses it
        return ((),)
    if lexed.lexemes[first].word in ("distinct", "all") and last - first > 1:
        first += 1
    found: Sets = [()]
    for item in split_commas(lexed, first, last):
        more = _sets(lexed, item)
        _check(len(found) * len(more))
        found = [(*level, *further) for level in found for further in more]
    return tuple(found)


def is_distinct(lexed: Lexed, group: Span) -> bool:
    """GROUP BY DISTINCT: levels that are equal are one."""
    return group[0] < group[1] and lexed.lexemes[group[0]].word == "distinct"


def _sets(lexed: Lexed, item: Span) -> Sets:
    first, last = item
    kind = lexed.lexemes[first].token.token_type if first < last else None
    if kind not in _NESTED or not _is_bracketed(lexed, (first + 1, last)):
        return [_expressions(lexed, item)]
    inner = split_commas(lexed, first + 2, last - 1)
    if kind is TokenType.GROUPING_SETS:
        found: Sets = []
        for one in inner:
            found += _sets(lexed, one)
            _check(len(found))
        return found
    elements = [_expressions(lexed, one) for one in inner]
    if kind is TokenType.ROLLUP:
        _check(len(elements) + 1)
        return [_together(elements[:most]) for most in range(len(elements), -1, -1)]
    _check(2 ** min(len(elements), GROUPING_SETS))
    return [
        _together(chosen)
        for most in range(len(elements), -1, -1)
        for chosen in combinations(elements, most)
    ]


def _together(elements: list[tuple[Span, ...]] | tuple[tuple[Span, ...], ...]) -> tuple[Span, ...]:
    return tuple(span for element in elements for span in element)


def _expressions(lexed: Lexed, span: Span) -> tuple[Span, ...]:
    """An expression; of a row in brackets each of its columns, of () none."""
    if not _is_bracketed(lexed, span) or opens_query(lexed, span[0]):
        return (span,)
    parts = split_commas(lexed, span[0] + 1, span[1] - 1)
    return tuple(inner for part in parts for inner in _expressions(lexed, part))


def _is_bracketed(lexed: Lexed, span: Span) -> bool:
    first, last = span
    return (
        first < last
        and lexed.lexemes[first].token.token_type is TokenType.L_PAREN
        and lexed.partner[first] == last - 1
    )


def _check(levels: int) -> None:
    if levels > GROUPING_SETS:
        raise too_complex(f"grouped by more than {GROUPING_SETS} grouping sets")
