"""What to write instead of LATERAL: a subquery over all rows, joined by what LATERAL compares.

`CROSS JOIN LATERAL (SELECT ... WHERE o.customer_id = c.id ORDER BY o.created_at DESC LIMIT 1) l` takes the last
order of each customer. So does a row number within each customer, where it is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import TokenType

from proxy.query.syntax.conjuncts import compared_sides, conjuncts
from proxy.query.syntax.selects import Select, Span, aggregates_rows, select_at
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed, on_one_line

_LONGEST = 1500  # characters of a hint
_GENERAL = (
    "Number the rows of each unit in a subquery and JOIN the first ones: JOIN (SELECT * FROM (SELECT unit,"
    " column, row_number() OVER (PARTITION BY unit ORDER BY time DESC) AS rn FROM table) q WHERE rn = 1) l"
    " ON l.unit = other.unit. Of aggregates JOIN (SELECT unit, count(*) AS n FROM table GROUP BY unit) l"
    " ON l.unit = other.unit."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lateral:
    """select: what stands in its brackets. own, other: what WHERE compares. conditions: the others in it."""

    select: Select
    alias: str
    own: str
    other: str
    conditions: tuple[str, ...]


def lateral_hint(lexed: Lexed, place: int) -> str:
    """Write the statement that has the same rows without LATERAL.

    Args:
        place: Of the word LATERAL.

    Returns:
        A hint with a statement that runs as it stands, where the subquery is of one table, and WHERE compares
        one column of it with one of the FROM clause. Else a hint with a statement to be filled in.
    """
    first = place + 1
    parts = lexed.lexemes[first : first + 1]
    if not parts or parts[0].token.token_type is not TokenType.L_PAREN:
        return _GENERAL
    last = lexed.partner[first]
    end, alias = _alias(lexed, last + 1)
    found = _read(lexed, first + 1, last, alias)
    subquery = None if found is None else _subquery(lexed, found)
    before = _join_before(lexed, place)
    if found is None or subquery is None or before is None:
        return _GENERAL
    begin, join = before
    if [one.word for one in lexed.lexemes[end : end + 2]] == ["on", "true"]:
        end += 2
    elif join == "LEFT JOIN" or (end < len(lexed.lexemes) and lexed.lexemes[end].word == "on"):
        return _GENERAL
    head = on_one_line(lexed, 0, begin)
    rest = f" {on_one_line(lexed, end, len(lexed.lexemes))}" if end < len(lexed.lexemes) else ""
    joined = f"{join} {subquery} {alias} ON {alias}.{_key(lexed, found)} = {found.other}"
    statement = f"{head} {joined}{rest}".rstrip("; ")
    if len(statement) > _LONGEST:
        return _GENERAL
    return f"Join a subquery over all rows instead: {statement}."


def _alias(lexed: Lexed, at: int) -> tuple[int, str]:
    """Where the alias ends, and it."""
    lexemes = lexed.lexemes
    if at < len(lexemes) and lexemes[at].word == "as":
        at += 1
    return (at + 1, lexemes[at].name) if at < len(lexemes) else (at, "")


def _join_before(lexed: Lexed, place: int) -> tuple[int, str] | None:
    """Where the join begins whose right side LATERAL is, and how it is to be written."""
    words = [one.word for one in lexed.lexemes[:place]]
    if lexed.lexemes[place - 1].token.token_type is TokenType.COMMA:
        return place - 1, "JOIN"
    for written, join in (
        (("left", "outer", "join"), "LEFT JOIN"),
        (("left", "join"), "LEFT JOIN"),
        (("cross", "join"), "JOIN"),
        (("inner", "join"), "JOIN"),
        (("join",), "JOIN"),
    ):
        if tuple(words[-len(written) :]) == written:
            return place - len(written), join
    return None


def _read(lexed: Lexed, first: int, last: int, alias: str) -> _Lateral | None:
    if not alias or lexed.lexemes[first].word != "select":
        return None
    select = select_at(lexed, first, last)
    if (
        select.end != last
        or select.distinct
        or {"having", "window", "offset"} & set(select.clauses)
    ):
        return None
    source, where = select.clauses.get("from"), select.clauses.get("where")
    if source is None or where is None or "group" in select.clauses:
        return None
    parts = lexed.lexemes[slice(*source)]
    if any(not (one.name or one.token.token_type is TokenType.DOT) for one in parts):
        return None
    table, equal, others = parts[-1].name, list[tuple[str, str]](), list[str]()
    for part in conjuncts(lexed, where):
        compared = compared_sides(lexed, part, ("=",))
        sides = () if compared is None else compared[:2]
        own = [side for side in sides if not _is_outside(lexed, side, table)]
        other = [side for side in sides if side not in own]
        if own and other:
            equal.append((on_one_line(lexed, *own[0]), on_one_line(lexed, *other[0])))
        else:
            others.append(on_one_line(lexed, *part))
            if _is_outside(lexed, part, table):
                return None
    if len(equal) != 1 or "or" in _words(lexed, where):
        return None
    own_text, other_text = equal[0]
    return _Lateral(
        select=select, alias=alias, own=own_text, other=other_text, conditions=tuple(others)
    )


def _subquery(lexed: Lexed, found: _Lateral) -> str | None:
    """The same rows of all units, with what LATERAL compares as a column."""
    clauses = found.select.clauses
    items, source = on_one_line(lexed, *clauses["items"]), on_one_line(lexed, *clauses["from"])
    if any(
        lexed.lexemes[first].token.token_type is TokenType.STAR
        or lexed.lexemes[last - 1].token.token_type is TokenType.STAR
        for first, last in split_commas(lexed, *clauses["items"])
    ):
        return None
    where = f" WHERE {' AND '.join(found.conditions)}" if found.conditions else ""
    selected = f"SELECT {found.own} AS {_key(lexed, found)}, {items}"
    if aggregates_rows(lexed, found.select):
        if {"order", "limit", "fetch"} & set(clauses):
            return None
        return f"({selected} FROM {source}{where} GROUP BY {found.own})"
    if "order" not in clauses or "limit" not in clauses:
        return None
    order, most = on_one_line(lexed, *clauses["order"]), on_one_line(lexed, *clauses["limit"])
    if not most.isdigit():
        return None
    number = f"row_number() OVER (PARTITION BY {found.own} ORDER BY {order}) AS rn"
    rows = "rn = 1" if most == "1" else f"rn <= {most}"
    return f"(SELECT * FROM ({selected}, {number} FROM {source}{where}) numbered WHERE {rows})"  # noqa: S608


def _key(lexed: Lexed, found: _Lateral) -> str:
    """How the column is called that LATERAL compares: as in its table, if no other column is."""
    *_, name = found.own.split(".")
    items = split_commas(lexed, *found.select.clauses["items"])
    taken = {lexed.lexemes[last - 1].name for _, last in items}
    return name if name.isidentifier() and name.lower() not in taken else "joined_key"


def _is_outside(lexed: Lexed, span: Span, table: str) -> bool:
    """Whether a column of another relation stands there, with its name in front."""
    return any(
        lexed.lexemes[place].name not in ("", table)
        and lexed.lexemes[place + 1].token.token_type is TokenType.DOT
        for place in range(span[0], span[1] - 1)
    )


def _words(lexed: Lexed, span: Span) -> list[str]:
    return [one.word for one in lexed.lexemes[slice(*span)]]
