"""Names of rows that are the same on every database.

gen_random_uuid() is another at each run, so that two runs differ by its chance alone. What is promised holds
for any names of rows, so also for those that are made of what is in them.
"""

from __future__ import annotations

from dataclasses import replace

from typing_extensions import assert_never

from proxy.kernel.plan import BlockPlan
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll


def with_repeated_names(block: BlockPlan) -> BlockPlan:
    """The block with names of rows that are made of what is in them."""
    return replace(block, source=_repeated(block.source))


def _repeated(relation: Relation) -> Relation:
    match relation:
        case Scan():
            return relation
        case Join():
            left, right = _repeated(relation.left), _repeated(relation.right)
            return replace(relation, left=left, right=right)
        case Subquery():
            return _of_subquery(relation)
        case GroupByUnit():
            return replace(relation, source=_repeated(relation.source))
        case UnionAll():
            return replace(relation, parts=tuple(map(_of_subquery, relation.parts)))
        case Truncate():
            source = _repeated(relation.source)
            assert isinstance(source, Scan | Subquery | UnionAll | Truncate)
            return replace(relation, source=source)
        case _:
            assert_never(relation)


def _of_subquery(subquery: Subquery) -> Subquery:
    windows = tuple(replace(column, is_repeated=True) for column in subquery.windows)
    return replace(subquery, source=_repeated(subquery.source), windows=windows)
