"""Which tables of the protected database a block of a plan reads, wherever they stand in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from proxy.base.node_parts import nodes
from proxy.catalog.catalog_model import TableName
from proxy.kernel.plan import BlockPlan
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable


def read_tables(block: BlockPlan, policy: Policy) -> frozenset[TableName]:
    """Collect the tables that the statements of a block read.

    Args:
        block: Its relations and conditions name tables: in FROM, and as lists in conditions.
        policy: That it was planned by: a unit can be found through another table.
    """
    found = frozenset(_named(block))
    units = (
        table.unit for name in found if isinstance(table := policy.tables.get(name), ProtectedTable)
    )
    paths = (unit.path for unit in units if isinstance(unit, IdentifierUnit))
    return found.union(path.table for path in paths if path is not None)


def _named(block: BlockPlan) -> Iterator[TableName]:
    for node in nodes(block):
        yield from (
            part
            for part in (getattr(node, one.name) for one in fields(node))
            if isinstance(part, TableName)
        )
