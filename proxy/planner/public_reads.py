"""Lists that conditions look up are read before anything is charged, so they are of public tables alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.base.errors import Fault
from proxy.base.node_parts import is_kind_of, parts_getter
from proxy.kernel.plan import BlockPlan
from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import PublicTable
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import InPublic


def check_public_reads(block: BlockPlan, known: PlanningContext) -> None:
    """Check that each list of a plan is of a table that the policy declares public, and of nothing else.

    The reader makes `InPublic` of public tables only. Nothing here relies on that: a list of a protected table
    would be read exactly, and free of charge.

    Privacy:
        What is read before the charge is a function of public tables.

    Raises:
        Fault: a list of another table, or with columns that the table has not; a mistake of ours.
    """
    for part in _lists((block.source, block.where, block.keys, block.releases)):
        table = known.catalog.tables.get(part.table)
        if table is None or not isinstance(known.policy.tables.get(part.table), PublicTable):
            raise Fault
        names = {(part.alias, column.name) for column in table.columns}
        condition = () if part.condition is None else columns(part.condition)
        if not {(part.output.relation, part.output.column), *condition} <= names:
            raise Fault


def _lists(whole: object) -> Iterator[InPublic]:
    """All lists in a part of a plan, those in the conditions of others too."""
    waiting: list[Any] = [whole]
    while waiting:
        part = waiting.pop()
        kind = part.__class__
        if kind is InPublic:
            yield part
        if is_kind_of(kind, tuple) or is_kind_of(kind, frozenset):
            waiting += part
        elif (parts := parts_getter(kind)) is not None:
            waiting += parts(part)
