"""GROUP BY as lists of keys: one, or several of GROUPING SETS, ROLLUP and CUBE."""

from __future__ import annotations

from proxy.base import limits
from proxy.query.canonical import trees
from proxy.query.canonical.walk import has_aggregate, has_window
from proxy.query.syntax.tokens import too_complex

Level = tuple[trees.Tree, ...]


def key_sets(select: trees.SelectTree) -> tuple[Level, ...]:
    """
    Raises:
        Refusal: TOO_COMPLEX: more than `base.limits` allows.
    """
    found: list[Level] = [()]
    for item in select.group:
        found = [(*before, *level) for before in found for level in _levels(item)]
        _limited(found)
    if select.is_group_distinct:
        found = list({frozenset(level): level for level in found}.values())
    return tuple(found)


def groups_of_some_rows(select: trees.SelectTree) -> trees.SelectTree | None:
    """The subquery of which a SELECT shows the groups alone, though a LIMIT keeps some of its rows.

    Which rows PostgreSQL takes is its own choice: the groups of all rows are what it may answer at most, and no
    more of them are returned than so many rows can have. Metabase asks so for the values of a column.
    """
    item = select.source[0] if len(select.source) == 1 else None
    inner = item.query if isinstance(item, trees.QueryInFrom) else None
    if not isinstance(inner, trees.SelectTree) or inner.ending.offset or inner.ending.has_ties:
        return None
    is_plain = not (inner.group or inner.is_distinct or inner.having or inner.ending.order)
    most, returned = whole_number(inner.ending.limit), whole_number(select.ending.limit)
    shown = (select.items, select.ending.order)
    is_grouped = (select.group or select.is_distinct) and not select.distinct_on
    is_all = is_grouped and not (select.where or select.having or select.ending.offset)
    if not (is_plain and is_all) or most is None or returned is None or returned > most:
        return None
    return None if has_aggregate(shown) or has_window(shown) else inner


def whole_number(tree: trees.Tree | None) -> int | None:
    """Of LIMIT with a whole number."""
    while isinstance(tree, trees.CastTo):
        tree = tree.operand
    text = tree.value if isinstance(tree, trees.Literal) else None
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else None


def _levels(item: trees.GroupItem) -> list[Level]:
    if isinstance(item, trees.RowOf) and not item.is_explicit:
        return [tuple(dict.fromkeys(item.elements))]
    if not isinstance(item, trees.GroupingSets):
        return [(item,)]
    if item.word == "GROUPING SETS":
        return _limited([level for part in item.parts for level in _levels(part)])
    parts = [_levels(part)[0] for part in item.parts]
    if item.word == "ROLLUP":
        return [sum(parts[:end], ()) for end in range(len(parts), -1, -1)]
    _limited([()] * 2 ** min(len(parts), 20))
    masks = range(2 ** len(parts))
    return [
        sum((part for at, part in enumerate(parts) if not mask >> (len(parts) - 1 - at) & 1), ())
        for mask in masks
    ]


def _limited(levels: list[Level]) -> list[Level]:
    if len(levels) > limits.GROUPING_SETS:
        raise too_complex(f"of more than {limits.GROUPING_SETS} grouping sets")
    return levels
