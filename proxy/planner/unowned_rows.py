"""Rows that belong to nobody: their privacy unit is null, and no answer counts them (ADR 0012)."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.relations import Relation, scans


def columns_without_unit(source: Relation, known: PlanningContext) -> tuple[str, ...]:
    """Columns that name the unit of a row, or lead to it, and can be null."""
    return tuple(dict.fromkeys(_nullable(source, known)))


def _nullable(source: Relation, known: PlanningContext) -> Iterator[str]:
    for scan in scans(source):
        policy = known.policy.tables[scan.table]
        if isinstance(policy, ProtectedTable) and isinstance(policy.unit, IdentifierUnit):
            column = known.catalog.tables[scan.table].column(policy.unit.column)
            if column is not None and column.nullable:
                yield f"{column.name} of {scan.table}"
