"""One row of constants in FROM, (SELECT 1 AS a) c or (VALUES (1)) c(a): its columns are these constants.

So it is where nothing is asked of it as a row: beside a comma, in a CROSS JOIN. Any other one is joined with
answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from proxy.query.canonical import trees
from proxy.query.canonical.context import Ctes, cte_of
from proxy.query.canonical.walk import has_aggregate, has_window

_TRUE = trees.Literal(True)


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """columns: By the names that the statement has for them."""

    item: trees.TableInFrom | trees.QueryInFrom
    columns: tuple[tuple[str, trees.Tree], ...]


@dataclass(frozen=True, slots=True)
class CrossedRows:
    """What is left of a FROM clause without its rows of constants, and these."""

    items: tuple[trees.FromItem, ...]
    constants: tuple[ConstantRow, ...]

    def has(self, item: trees.FromItem) -> bool:
        return any(one.item is item for one in self.constants)


def crossed_rows(source: Sequence[trees.FromItem], ctes: Ctes) -> CrossedRows:
    found: list[ConstantRow] = []
    items = tuple(_others(source, ctes, found))
    return CrossedRows(items, tuple(found))


def query_of(item: trees.FromItem, ctes: Ctes) -> trees.QueryTree | None:
    if isinstance(item, trees.QueryInFrom):
        return item.query
    cte = cte_of(item, ctes) if isinstance(item, trees.TableInFrom) else None
    return None if cte is None else cte.tree.query


def _others(
    items: Sequence[trees.FromItem], ctes: Ctes, found: list[ConstantRow]
) -> Iterator[trees.FromItem]:
    for item in items:
        if not isinstance(item, trees.JoinInFrom):
            row = _constant_row(item, ctes)
            if row is None:
                yield item
            else:
                found.append(row)
        elif item.kind in ("CROSS", "INNER") and not item.using and item.on in (None, _TRUE):
            yield from _joined(item, tuple(_others((item.left, item.right), ctes, found)))
        else:
            # What an outer join fills with NULLs is no constant.
            left, right = (
                _side(one, ctes, found) if item.kind in kinds else one
                for one, kinds in (
                    (item.left, ("INNER", "LEFT")),
                    (item.right, ("INNER", "RIGHT")),
                )
            )
            is_same = left is item.left and right is item.right
            yield item if is_same else replace(item, left=left, right=right)


def _joined(
    item: trees.JoinInFrom, others: tuple[trees.FromItem, ...]
) -> tuple[trees.FromItem, ...]:
    if len(others) != 2 or others == (item.left, item.right):
        return (item,) if len(others) == 2 else others
    return (replace(item, left=others[0], right=others[1]),)


def _side(item: trees.FromItem, ctes: Ctes, found: list[ConstantRow]) -> trees.FromItem:
    inside: list[ConstantRow] = []
    others = tuple(_others((item,), ctes, inside))
    if len(others) != 1:
        return item  # conditions are about the row itself
    found += inside
    return others[0]


def _constant_row(item: trees.FromItem, ctes: Ctes) -> ConstantRow | None:
    query = query_of(item, ctes)
    if not isinstance(item, trees.TableInFrom | trees.QueryInFrom) or query is None:
        return None
    own: tuple[tuple[str, trees.Tree], ...]
    match query:
        case trees.ValuesTree(rows=(row,)):
            own = tuple((f"column{number}", tree) for number, tree in enumerate(row, start=1))
        case trees.SelectTree(items=items):
            is_plain = not (query.source or query.where or query.group or query.having)
            if not is_plain or has_aggregate(items) or has_window(items) or query.is_distinct:
                return None
            own = tuple((name, tree) for tree, name in items)
        case _:
            return None
    if query.ending.limit is not None or query.ending.offset is not None:
        return None
    cte = cte_of(item, ctes) if isinstance(item, trees.TableInFrom) else None
    names = (*item.columns, *(() if cte is None else cte.tree.columns[len(item.columns) :]))
    shown = (*names, *(name for name, _ in own[len(names) :]))
    return ConstantRow(item, tuple(zip(shown, (tree for _, tree in own), strict=False)))
