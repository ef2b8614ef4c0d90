"""The SELECTs of a statement as spans of tokens: clauses, conditions that AND joins, sets of GROUP BY.

PostgreSQL itself has analysed the statement on the shadow before; so this needs to find clauses, not to
judge grammar (PostgreSQL 17 documentation, section 7.8, SELECT).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from sqlglot import TokenType

from proxy.base.limits import GROUPING_SETS
from proxy.query.syntax.statements import Statement, split_commas
from proxy.query.syntax.tokens import Lexed, too_complex

Span = tuple[int, int]  # lexemes, last exclusive

_CLAUSES = {
    TokenType.INTO: "into",
    TokenType.FROM: "from",
    TokenType.WHERE: "where",
    TokenType.GROUP_BY: "group",
    TokenType.HAVING: "having",
    TokenType.WINDOW: "window",
    TokenType.ORDER_BY: "order",
    TokenType.LIMIT: "limit",
    TokenType.OFFSET: "offset",
    TokenType.FETCH: "fetch",
    TokenType.FOR: "for",
}
_SET_OPERATIONS = frozenset({TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT})


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT. clauses: name -> span of its content, keyword excluded; items is always there, and `on` is
    what DISTINCT ON has in its brackets."""

    keyword: int
    end: int  # exclusive
    depth: int
    clauses: dict[str, Span]
    distinct: bool

    @property
    def items(self) -> Span:
        return self.clauses["items"]

    @property
    def is_distinct_on(self) -> bool:
        return "on" in self.clauses


def selects(statement: Statement) -> tuple[Select, ...]:
    """Every SELECT of the statement's query, in the order of the text."""
    lexemes = statement.lexed.lexemes
    return tuple(
        select_at(statement.lexed, index, statement.last)
        for index in range(statement.first, statement.last)
        if lexemes[index].word == "select"
    )


def select_at(lexed: Lexed, keyword: int, last: int) -> Select:
    """The SELECT that begins at a lexeme, and ends at the last one of the span at most."""
    lexemes = lexed.lexemes
    depth = lexemes[keyword].depth
    clauses: dict[str, Span] = {}
    start = keyword + 1
    distinct = start < last and lexemes[start].word == "distinct"
    if start < last and lexemes[start].word in ("distinct", "all"):
        start += 1
    if distinct and start + 1 < last and lexemes[start].word == "on" and is_call(lexed, start):
        close = lexed.partner[start + 1]
        clauses["on"] = (start + 2, close)
        start = close + 1
    name = "items"
    index = start
    while index < last:
        lexeme = lexemes[index]
        kind = lexeme.kind
        if lexeme.depth < depth:
            break
        if lexeme.depth == depth:
            if _is_name(lexed, index):
                index += 1
                continue
            if kind in _SET_OPERATIONS or kind is TokenType.SEMICOLON:
                break
            if kind is TokenType.R_PAREN and lexed.partner[index] < keyword:
                break
            if kind in _CLAUSES and not _part_of_expression(lexed, index):
                clauses[name] = (start, index)
                name, start = _CLAUSES[kind], index + 1
        index += 1
    clauses[name] = (start, index)
    for name in _CUTS:
        if name in clauses and _cuts_nothing(lexed, clauses[name]):
            del clauses[name]
    return Select(keyword, index, depth, clauses, distinct)


_CUTS = ("limit", "offset")
_OF_NOTHING = frozenset({("all",), ("null",), ("0",), ("0", "row"), ("0", "rows")})


def _cuts_nothing(lexed: Lexed, span: Span) -> bool:
    """LIMIT ALL, LIMIT NULL, OFFSET 0 and OFFSET NULL leave all rows, as if they were not written (PostgreSQL
    17 documentation, section 7.6)."""
    first, last = span
    lexemes = lexed.lexemes
    while last - first > 2 and lexed.partner[first] == last - 1:
        first, last = first + 1, last - 1
    words = tuple(x.word or x.token.text for x in lexemes[first:last])
    is_limit = lexemes[span[0] - 1].kind is TokenType.LIMIT
    return words in _OF_NOTHING and (not is_limit or words[0] != "0")


def joins_selects(lexed: Lexed, index: int) -> bool:
    """UNION, INTERSECT, EXCEPT."""
    return lexed.lexemes[index].kind in _SET_OPERATIONS and not _is_name(lexed, index)


def _is_name(lexed: Lexed, index: int) -> bool:
    """After AS and in a dotted name any word may stand (PostgreSQL 17 documentation, appendix C)."""
    before = lexed.lexemes[index - 1]
    return bool(lexed.lexemes[index].name) and (before.word == "as" or before.kind is TokenType.DOT)


def _part_of_expression(lexed: Lexed, index: int) -> bool:
    """IS [NOT] DISTINCT FROM is no FROM clause."""
    if lexed.lexemes[index].kind is not TokenType.FROM:
        return False
    before = [lexeme.word for lexeme in lexed.lexemes[max(0, index - 3) : index]]
    return before[-2:] == ["is", "distinct"] or before[-3:] == ["is", "not", "distinct"]


def query_parts(
    lexed: Lexed, span: Span, found: tuple[Select, ...]
) -> tuple[tuple[Select, ...], bool]:
    """The SELECTs that a query in brackets is made of, each perhaps in brackets of its own; and whether it is
    nothing but UNION ALL of them: no other set operation, no VALUES or TABLE, no LIMIT behind a bracket."""
    depth = lexed.lexemes[span[0]].depth
    own = [index for index in range(*span) if lexed.lexemes[index].depth == depth]
    starts, only_all = [span[0]], True
    for index in own:
        if joins_selects(lexed, index):
            is_all = lexed.lexemes[index + 1].word == "all"
            only_all &= is_all and lexed.lexemes[index].kind is TokenType.UNION
            starts.append(index + 1 + is_all)
    parts: list[Select] = []
    for start, end in zip(starts, [*starts[1:], span[1]], strict=True):
        if lexed.lexemes[start].kind is TokenType.L_PAREN:
            close = lexed.partner[start]
            inner, inner_all = query_parts(lexed, (start + 1, close), found)
            parts += inner
            ends = close + 1 == span[1] or (lexed.lexemes[close + 1].kind in _SET_OPERATIONS)
            only_all &= inner_all and ends
            continue
        here = [s for s in found if start <= s.keyword < end and s.depth == depth]
        parts += here
        only_all &= len(here) == 1
    return tuple(parts), only_all


_HINTED = (
    *("count", "sum", "avg", "min", "max", "variance", "stddev"),
    *("percentile_cont", "percentile_disc", "corr", "covar_pop", "covar_samp"),
    *("regr_slope", "regr_intercept", "regr_r2"),
)
AGGREGATES = frozenset((*_HINTED, "var_pop", "var_samp", "stddev_pop", "stddev_samp"))
AVAILABLE = f"Available are {', '.join(_HINTED)}, bool_or, bool_and and every."
OTHER_AGGREGATES = frozenset(
    (
        *("array_agg", "bit_and", "bit_or", "bit_xor", "json_agg"),
        *("json_object_agg", "jsonb_agg", "jsonb_object_agg", "range_agg", "string_agg", "xmlagg"),
        *("regr_avgx", "regr_avgy", "regr_count", "regr_sxx", "regr_sxy", "regr_syy", "mode"),
        *("any_value", "median", "grouping"),
    )
)
# Which are answered by a comparison of noisy counts (bind/aggregate_reading.py).
TRUTHS = frozenset({"bool_or", "bool_and", "every"})
ANSWERED = AGGREGATES | TRUTHS


def aggregates_rows(lexed: Lexed, select: Select) -> bool:
    """Whether a SELECT has groups or aggregates of its own, as against giving rows."""
    if "group" in select.clauses or select.distinct:
        return True
    spans = [
        select.clauses[name]
        for name in ("on", "items", "having", "order")
        if name in select.clauses
    ]
    words = ANSWERED | OTHER_AGGREGATES
    return any(
        lexed.lexemes[index].name in words
        and is_call(lexed, index)
        and not is_window_call(lexed, index)
        for span in spans
        for index in own_lexemes(lexed, span)
    )


def own_lexemes(lexed: Lexed, span: Span) -> Iterator[int]:
    """The lexemes of a span that are not inside a nested query."""
    index = span[0]
    while index < span[1]:
        yield index
        if opens_query(lexed, index):
            index = lexed.partner[index]
        index += 1


def opens_query(lexed: Lexed, index: int) -> bool:
    if lexed.lexemes[index].kind is not TokenType.L_PAREN:
        return False
    following = lexed.lexemes[index + 1 : index + 2]
    return bool(following) and following[0].word in ("select", "with", "values", "table")


def is_call(lexed: Lexed, index: int) -> bool:
    after = lexed.lexemes[index + 1 : index + 2]
    return bool(after) and after[0].kind is TokenType.L_PAREN


def is_window_call(lexed: Lexed, index: int) -> bool:
    """Whether OVER follows a call, and its FILTER: no aggregate, though what stands in its brackets may be."""
    end = lexed.partner[index + 1] + 1
    if end < len(lexed.lexemes) and lexed.lexemes[end].word == "filter" and is_call(lexed, end):
        end = lexed.partner[end + 1] + 1
    return end < len(lexed.lexemes) and lexed.lexemes[end].word == "over"


def has_window(lexed: Lexed, select: Select) -> bool:
    """Whether a window function is in its list."""
    return any(lexed.lexemes[i].word == "over" for i in own_lexemes(lexed, select.items))


def is_relation(lexed: Lexed, index: int) -> bool:
    """Whether what begins here in FROM is a relation, as against a part of ON. A join in brackets may begin
    with one, too: FROM t JOIN ((SELECT ...) q JOIN u ON ...) ON ..."""
    while lexed.lexemes[index - 1].kind is TokenType.L_PAREN:
        index -= 1
    before = lexed.lexemes[index - 1]
    return before.word in ("from", "join", "lateral") or before.kind in (
        TokenType.FROM,
        TokenType.COMMA,
    )


# --- The conditions that AND joins, on tokens, so that one may stay in a text and another not.


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
        is_name = index > span[0] and lexed.lexemes[index - 1].kind is TokenType.DOT
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
        if lexed.lexemes[index].kind is TokenType.EQ:
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
        and lexed.lexemes[first].kind is TokenType.L_PAREN
        and lexed.partner[first] == last - 1
        and not opens_query(lexed, first)
    ):
        first, last = first + 1, last - 1
    return first, last


# --- GROUP BY as the sets of expressions that it groups by, by tokens: GROUPING SETS, ROLLUP, CUBE, brackets.


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
    kind = lexed.lexemes[first].kind if first < last else None
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
        and lexed.lexemes[first].kind is TokenType.L_PAREN
        and lexed.partner[first] == last - 1
    )


def _check(levels: int) -> None:
    if levels > GROUPING_SETS:
        raise too_complex(f"grouped by more than {GROUPING_SETS} grouping sets")
