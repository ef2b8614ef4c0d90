"""How many rows of a join by truncation change with each of its tables, as the kernel counts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from unittest import mock

from proxy.kernel import join_rules
from proxy.kernel.attribution import relation_of
from proxy.kernel.owners import ColumnName, Rows
from proxy.kernel.world import World
from proxy.policy.policy_model import ProtectedTable
from proxy.query.ir.relations import Join, Relation, scans

_Pair = tuple[ColumnName, ColumnName]


def changed_by_table(relation: Relation, world: World) -> Mapping[str, int]:
    """By name: the bound is a sum of a term for each table, whose rows alone change in it."""
    chosen = _chosen(relation, world)
    return {name: _with(relation, world, name, chosen) for name in sorted(_tables(relation, world))}


def _tables(relation: Relation, world: World) -> frozenset[str]:
    protected = world.policy.tables
    return frozenset(
        scan.table.name
        for scan in scans(relation)
        if isinstance(protected[scan.table], ProtectedTable)
    )


def _chosen(relation: Relation, world: World) -> Mapping[int, _Pair]:
    """By join, the columns by which its bound is the least."""
    real, least = join_rules._joined_by, dict[int, tuple[int, _Pair]]()

    def joined(join: Join, a: Rows, b: Rows, x: ColumnName, y: ColumnName) -> Rows | None:
        found, before = real(join, a, b, x, y), least.get(id(join))
        if found is not None and (before is None or found.changed < before[0]):
            least[id(join)] = found.changed, (x, y)
        return found

    with mock.patch.object(join_rules, "_joined_by", joined):
        relation_of(relation, world)
    return {join: pair for join, (_, pair) in least.items()}


def _with(relation: Relation, world: World, name: str, chosen: Mapping[int, _Pair]) -> int:
    """Of a side with one table, no row of which changes, the kernel is told so."""
    real = join_rules._joined_by

    def of_side(side: Relation, rows: Rows) -> Rows:
        tables = _tables(side, world)
        return replace(rows, changed=0) if len(tables) == 1 and name not in tables else rows

    def joined(join: Join, a: Rows, b: Rows, x: ColumnName, y: ColumnName) -> Rows | None:
        if chosen[id(join)] != (x, y):
            return None
        return real(join, of_side(join.left, a), of_side(join.right, b), x, y)

    with mock.patch.object(join_rules, "_joined_by", joined):
        owner = relation_of(relation, world).owner
    assert isinstance(owner, Rows)
    return owner.changed
