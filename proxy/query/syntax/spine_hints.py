"""What to write instead of `series LEFT JOIN table`: the table's answers, joined to the series.

A series of months or numbers (generate_series(), VALUES, a CTE) keeps groups in which the table has no rows.
The series is public, so PostgreSQL joins it with answers as it does elsewhere, and the groups are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import TokenType

from proxy.query.syntax.conjuncts import compared_sides, conjuncts
from proxy.query.syntax.selects import Span
from proxy.query.syntax.tokens import Lexed, Lexeme, on_one_line

_GENERAL = (
    "Group the table in a subquery, and join its answers to the series: SELECT g.m, q.n FROM"
    " generate_series(timestamptz '2024-01-01', timestamptz '2024-12-01', interval '1 month') g(m) LEFT JOIN"
    " (SELECT date_trunc('month', column) AS m, count(*) AS n FROM table GROUP BY 1) q ON q.m = g.m."
)
_LONGEST = 1500  # characters of a hint
_AFTER = frozenset(
    {"where", "group", "having", "order", "limit", "union", "window", "fetch", "offset"}
)
_UNITS = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second"})
_FROM_ON, _BEFORE = frozenset({">=", ">"}), frozenset({"<", "<="})
_COMPARATORS = frozenset({"="}) | _FROM_ON | _BEFORE


@dataclass(frozen=True, slots=True)
class _JoinedTable:
    """The table on the right of the last join, as it is written."""

    written: str
    alias: str


def spine_hint(lexed: Lexed, inside: int) -> str:
    """Write the statement that has the groups of an outer join that keeps a series.

    Args:
        inside: A lexeme of the FROM clause, on the depth of its joins.

    Returns:
        A hint with a statement that runs as it stands, where the last JOIN is on equality, or on the month (or
        another unit) that begins at each number of the series; else with one to be filled in.
    """
    found = _statement(lexed, inside)
    if found is None or len(found) > _LONGEST:
        return _GENERAL
    return f"Group the table in a subquery, and join its answers to the series: {found}."


def _statement(lexed: Lexed, inside: int) -> str | None:
    lexemes, depth = lexed.lexemes, lexed.lexemes[inside].depth
    first = _before(lexed, inside, "from")
    if first is None:
        return None
    last = next(
        (
            place
            for place in range(first + 1, len(lexemes))
            if lexemes[place].depth < depth
            or (lexemes[place].depth == depth and _first_word(lexemes[place]) in _AFTER)
        ),
        len(lexemes),
    )
    own = [place for place in range(first + 1, last) if lexemes[place].depth == depth]
    joins = [place for place in own if lexemes[place].word == "join"]
    conditions = [
        place for place in own if joins and place > joins[-1] and lexemes[place].word == "on"
    ]
    if not conditions:
        return None
    table = _table(lexed, joins[-1] + 1, conditions[0])
    begin = joins[-1]
    while lexemes[begin - 1].word in ("left", "outer", "inner"):
        begin -= 1
    if table is None or begin <= first + 1:
        return None
    pairs = _pairs(lexed, (conditions[0] + 1, last), table.alias)
    if not pairs:
        return None
    spine = on_one_line(lexed, first + 1, begin)
    keys = ", ".join(f"{key} AS k{place}" for place, (key, _) in enumerate(pairs, start=1))
    on = " AND ".join(
        f"answered.k{place} = {other}" for place, (_, other) in enumerate(pairs, start=1)
    )
    shown = ", ".join(other for _, other in pairs)
    groups = ", ".join(str(place) for place in range(1, len(pairs) + 1))
    grouped = f"(SELECT {keys}, count(*) AS n FROM {table.written} GROUP BY {groups}) answered"  # noqa: S608
    selected = f"{_with_clause(lexed, first)}SELECT {shown}, answered.n"
    return f"{selected} FROM {spine} LEFT JOIN {grouped} ON {on}"


def _before(lexed: Lexed, inside: int, word: str) -> int | None:
    depth = lexed.lexemes[inside].depth
    for place in range(inside, -1, -1):
        if lexed.lexemes[place].depth < depth:
            return None
        if lexed.lexemes[place].depth == depth and lexed.lexemes[place].word == word:
            return place
    return None


def _with_clause(lexed: Lexed, clause: int) -> str:
    """The CTEs in front of the SELECT that has this FROM, if it is the outermost one."""
    select = _before(lexed, clause, "select")
    is_outermost = lexed.lexemes[clause].depth == 0
    if select is None or not is_outermost or lexed.lexemes[0].word != "with":
        return ""
    return f"{on_one_line(lexed, 0, select)} "


def _table(lexed: Lexed, first: int, last: int) -> _JoinedTable | None:
    """A plain name, with an alias or without: a subquery would have answers of its own."""
    parts = lexed.lexemes[first:last]
    if not parts or any(not (one.name or _is(one, TokenType.DOT)) for one in parts):
        return None
    return _JoinedTable(written=on_one_line(lexed, first, last), alias=parts[-1].name)


def _pairs(lexed: Lexed, span: Span, alias: str) -> list[tuple[str, str]]:
    """What the table is to be grouped by, and what that equals of the series."""
    parts = [compared_sides(lexed, one, _COMPARATORS) for one in conjuncts(lexed, span)]
    equal: list[tuple[str, str]] = []
    starts: list[tuple[str, str]] = []
    for part in parts:
        if part is None:
            return []
        left, right, comparator = part
        ours = [_names(lexed, side, alias) for side in (left, right)]
        if ours[0] == ours[1]:
            return []
        key, other = on_one_line(lexed, *left), on_one_line(lexed, *right)
        if ours[1]:
            key, other = other, key
            comparator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(comparator, comparator)
        if comparator == "=":
            equal.append((key, other))
        elif comparator in _FROM_ON:
            starts.append((key, other))
        elif comparator not in _BEFORE:
            return []
    if not starts:
        return equal if len(equal) == len(parts) else []
    unit = _unit(lexed, span)
    if unit is None or len(starts) > 1 or len(parts) != len(equal) + 2:
        return []
    return [(f"date_trunc('{unit}', {starts[0][0]})", starts[0][1]), *equal]


def _unit(lexed: Lexed, span: Span) -> str | None:
    """Of interval '1 month'."""
    for place in range(span[0], span[1] - 1):
        if lexed.lexemes[place].word == "interval":
            words = lexed.lexemes[place + 1].token.text.lower().split()
            unit = words[1].rstrip("s") if len(words) == 2 and words[0] == "1" else ""
            return unit if unit in _UNITS else None
    return None


def _names(lexed: Lexed, span: Span, alias: str) -> bool:
    """Whether a column with this alias in front stands there."""
    return any(
        lexed.lexemes[place].name == alias and _is(lexed.lexemes[place + 1], TokenType.DOT)
        for place in range(span[0], span[1] - 1)
    )


def _first_word(lexeme: Lexeme) -> str:
    """GROUP BY and ORDER BY are one token each."""
    return lexeme.word.partition(" ")[0]


def _is(lexeme: Lexeme, kind: TokenType) -> bool:
    return lexeme.token.token_type is kind
