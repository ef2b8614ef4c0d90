"""A LIMIT on rows of which only the groups are asked.

Metabase asks so for the values of a column: SELECT k FROM (SELECT k FROM t LIMIT 9000) q GROUP BY k LIMIT 50.
Which rows PostgreSQL takes is its own choice: the groups of all rows are what it may answer at most, and no
more of them are returned than so many rows can have. It is read as the statement without the inner LIMIT. What
counts or adds up rows depends on how many there are, and is refused as ever.
"""

from __future__ import annotations

from sqlglot import TokenType

from proxy.base.errors import Refusal
from proxy.query.bind.sources import Sources
from proxy.query.ir.typing_rules import ordinal
from proxy.query.syntax.from_clause import QueryItem
from proxy.query.syntax.previews import may_aggregate
from proxy.query.syntax.selects import Select, Span, is_call, own_lexemes

_INSIDE = frozenset({"items", "from", "where", "limit"})
_AROUND = frozenset({"items", "from", "where", "group", "order", "limit"})


NO_LIMIT = "Leave it out: which rows it would keep is left open."


def clauses_below(sources: Sources, select: Select) -> list[str]:
    """What would decide which rows of a SELECT stay. Not ORDER BY, which leaves them all: it is not read, and
    is left out; but for one in which a SELECT stands. Not OFFSET of a parameter, which is 0 at each run."""
    clauses = ("order", "limit", "offset", "fetch", "window", "for")
    found: list[str] = [name for name in clauses if name in select.clauses]
    number = _parameter(sources, select.clauses.get("offset", (0, 0)))
    if number is not None:
        sources.offsets.add(number)
        found.remove("offset")
    if found == ["limit"] and shows_groups_only(sources, select):
        return []
    first, last = select.clauses.get("order", (0, 0))
    if any(first <= one.keyword < last for one in sources.selects):
        return found
    return [name for name in found if name != "order"]


def _parameter(sources: Sources, span: Span) -> int | None:
    """$1, and nothing else."""
    lexemes = sources.lexed.lexemes[slice(*span)]
    is_one = len(lexemes) == 2 and lexemes[0].token.token_type is TokenType.PARAMETER
    return ordinal(lexemes[1].token.text) if is_one else None


def shows_groups_only(sources: Sources, select: Select) -> bool:
    """
    Given    a SELECT that gives rows, with a LIMIT
    Gives    whether it is all that a SELECT groups, which has no aggregate and a LIMIT that is not above
    """
    most = _limit(sources, select)
    if most is None or select.distinct or not select.clauses.keys() <= _INSIDE:
        return False
    return any(
        _is_all_of(sources, around, (select.keyword, select.end))
        and _returns_no_more(sources, around, most)
        for around in sources.selects
    )


def _is_all_of(sources: Sources, around: Select, query: Span) -> bool:
    first, last = around.clauses.get("from", (0, 0))
    if not first <= query[0] < last:
        return False
    try:
        item = sources.from_item(around)
    except Refusal:
        return False
    return isinstance(item, QueryItem) and item.query == query


def _returns_no_more(sources: Sources, around: Select, most: int) -> bool:
    if not around.clauses.keys() <= _AROUND or not ("group" in around.clauses or around.distinct):
        return False
    returned = _limit(sources, around)
    lexed = sources.lexed
    return (
        returned is not None
        and returned <= most
        and not any(
            (may_aggregate(lexed.lexemes[index].name) and is_call(lexed, index))
            or lexed.lexemes[index].word == "over"
            for name, span in around.clauses.items()
            if name in ("items", "order")
            for index in own_lexemes(lexed, span)
        )
    )


def _limit(sources: Sources, select: Select) -> int | None:
    """Of LIMIT with a whole number."""
    first, last = select.clauses.get("limit", (0, 0))
    text = sources.lexed.lexemes[first].token.text
    return int(text) if last - first == 1 and text.isascii() and text.isdigit() else None
