"""Which columns can hold a unit: the kernel judges it, as partitions of units are by hashes of texts.

`policy check` refuses the same columns, but nothing that is not believed may have to be right for privacy.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random  # noqa: TID251  the same rows for the same seed

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.owners import OfUnit
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.shape import shape_of
from proxy.kernel.world import World
from proxy.policy.column_shapes import family
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from tests.kernel.examples import WORLD, of_table, scan
from tests.kernel.made_blocks import TEMPLATE, BlockMaker, _measured
from tests.kernel.made_relations import RelationMaker
from tests.kernel.tiny_database import TinyDatabase, tiny_database

_VISITS = TableName("w", "visits")
_COLUMNS = [
    *WORLD.catalog.tables[_VISITS].columns,
    Column("citext", SqlType.OTHER, "citext", True),
]


def _world(unit: Column) -> World:
    """Where a column of visits holds the unit."""
    policy, there = WORLD.policy.tables[_VISITS], WORLD.catalog.tables[_VISITS]
    assert isinstance(policy, ProtectedTable)
    held = replace(policy, unit=IdentifierUnit("span", unit.name))
    stored = there if there.column(unit.name) else replace(there, columns=(*there.columns, unit))
    return World(
        replace(WORLD.policy, tables={**WORLD.policy.tables, _VISITS: held}),
        replace(WORLD.catalog, tables={**WORLD.catalog.tables, _VISITS: stored}),
    )


@pytest.mark.parametrize("unit", _COLUMNS, ids=lambda one: one.name)
def test_the_kernel_refuses_what_the_check_of_a_policy_does(unit: Column) -> None:
    if family(unit) is not None:
        relation_of(scan("r1", "visits"), _world(unit))
        return
    with pytest.raises(NotPrivate) as refused:
        relation_of(scan("r1", "visits"), _world(unit))
    assert refused.value.rule is Rule.SCAN


def _of_intervals() -> BlockPlan:
    """A median, mean or extreme of partitions, by a unit of which equal values have several texts."""
    unit, value = of_table("r1", "visits", "iv"), of_table("r1", "visits", "i4")
    maker = BlockMaker(RelationMaker(Random(1)))
    neighbours = UnitNeighbours(
        column=unit, rows=3, groups=None, rows_per_group=None, is_summed=True
    )
    plan = replace(
        TEMPLATE,
        source=scan("r1", "visits"),
        neighbours=neighbours,
        keys=(),
        grouped=False,
        answers=(),
        sub_partitions=5,
    )
    return replace(
        plan, releases=(maker._sample(shape_of(plan), _measured(value, -2, 3, 3), value),)
    )


def test_other_units_decide_the_partition_of_one_of_several_forms() -> None:
    """So the rule is no idle one: a day and 24 hours are one unit, in the partition of either text."""
    database, random, plan = tiny_database(), Random(3), _of_intervals()
    database.run("SET enable_hashagg = off")
    try:
        assert any(_is_moved_further(database, random, plan) for _ in range(40))
    finally:
        database.run("RESET enable_hashagg")


def _is_moved_further(database: TinyDatabase, random: Random, plan: BlockPlan) -> bool:
    """Whether one unit moves the partitions of others, of rows in another order each time."""
    stored = [(day, f"{day} days") for day in range(1, 9) for _ in range(6)]
    stored += [(day, f"{24 * day} hours") for day in range(1, 9) for _ in range(6)]
    stored += [(20, "20 days")] * 5
    random.shuffle(stored)
    rows = (f"({n}, '{text}', {day % 5 - 2})" for n, (day, text) in enumerate(stored))
    database.fill(f"INSERT INTO visits(id, iv, i4) VALUES {', '.join(rows)}")
    moved = database.moved(plan, "DELETE FROM visits WHERE iv = interval '20 days'")
    return any(one.observed > one.planned for one in moved)


def test_a_column_that_leads_to_the_unit_is_no_unit() -> None:
    """It names a row of another table, whose own column is judged."""
    name, unit = next(
        (name, table.unit)
        for name, table in WORLD.policy.tables.items()
        if isinstance(table, ProtectedTable)
        and isinstance(table.unit, IdentifierUnit)
        and table.unit.path is not None
    )
    there = WORLD.catalog.tables[name]
    columns = tuple(
        replace(one, type=SqlType.TIMESTAMP) if one.name == unit.column else one
        for one in there.columns
    )
    assert not next(one for one in columns if one.name == unit.column).holds_units
    tables = {**WORLD.catalog.tables, name: replace(there, columns=columns)}
    world = World(WORLD.policy, replace(WORLD.catalog, tables=tables))
    assert isinstance(relation_of(scan("r1", name.name), world).owner, OfUnit)
