"""GROUP BY as lists of keys: one, or several of GROUPING SETS, ROLLUP and CUBE."""

from __future__ import annotations

from proxy.base import limits
from proxy.query.canonical.trees import GroupingSets, GroupItem, RowOf, SelectTree, Tree
from proxy.query.syntax.tokens import too_complex

Level = tuple[Tree, ...]


def key_sets(select: SelectTree) -> tuple[Level, ...]:
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


def _levels(item: GroupItem) -> list[Level]:
    if isinstance(item, RowOf):
        return [item.elements]
    if not isinstance(item, GroupingSets):
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
