"""The rows of each unit gathered, by group where there are any: what bounds on a unit are applied to."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.compiler.aggregate_sql import RowSource, has_computed
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.full_joins import Condition
from proxy.compiler.relation_sql import source_sql
from proxy.compiler.seeded_keys import spread_texts_sql
from proxy.compiler.select_list import (
    Output,
    key_sql,
    named_by,
    private_keys_sql,
    row_conditions,
)
from proxy.compiler.sub_partitions import row_order_sql, seed_sql, short_sql
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, relations_of


def rows_of_units(plan: BlockPlan, binds: Binds) -> RowSource:
    """What is taken of each row of a unit.

    Rows of a source that has a join in it come in no order of an index. So each expression is computed once a
    row there, where one is more than a column (docs/design/backends.md 4).
    """
    is_joined = any(isinstance(one, Join) for one in relations_of(plan.source))
    return RowSource(binds, inner=is_joined and has_computed(plan))


def gathered_sql(
    plan: BlockPlan,
    unit: UnitNeighbours,
    inner: Output,
    rows: RowSource,
    of_units: Sequence[Condition] = (),
    *,
    by_keys: bool = True,
    cell: str = "",
) -> str:
    """One row per unit, and per key as k1, k2, .. if it is gathered by keys; `inner` as v0, v1, .. of its rows.

    Args:
        plan, unit: The block, and its neighbours.
        inner: What is gathered of the rows of a unit.
        rows: What `inner` is printed of.
        of_units: Conditions that name the units; of all that have a value, if there are none.
        by_keys: Whether rows are gathered by group as well.
        cell: The partition of the unit; "" where there are none.
    """
    binds = rows.binds
    keys = [rows.take(key_sql(key, binds)) for key in plan.keys] if by_keys else []
    of_unit = rows.take(column_sql(unit.column))
    gathered = [f"{of_unit} AS unit", *(f"{sql} AS k{n}" for n, sql in enumerate(keys, 1))]
    gathered += [f"{cell} AS cell"] if cell else []
    gathered += [f"{sql} AS v{n}" for sql, n in inner.expressions.items()]
    # The unit first: an index on (unit, keys) then serves the grouping (docs/design/backends.md 4).
    places = [str(i + 2) for i in range(len(keys))]
    private = [rows.take(sql) for sql in private_keys_sql(plan, binds)] if by_keys else []
    by = ", ".join([of_unit, *places, *spread_texts_sql(private, binds)])
    # Unlike in row_scan, listed keys are picked row by row: with the condition the planner takes the index.
    found = [*of_units, *row_conditions(plan, unit.column, binds)]
    source = rows.over(source_sql(plan.source, found, binds, *named_by(plan)))
    return f"SELECT {', '.join(gathered)} FROM {source} GROUP BY {by}"


def select_groups(
    source: str, plan: BlockPlan, unit: UnitNeighbours, groups: int, binds: Binds
) -> tuple[str, str]:
    """Keep the first groups of each unit, in the order of a keyed hash of the unit and the group.

    What a unit keeps depends on its own rows and the seed only. Each unit has an order of its own, so that all
    groups lose the same share of their rows.

    Returns:
        The SQL and the name of the seed.
    """
    keys = [f"k{i}" for i in range(1, len(plan.keys) + 1)]
    seed, name = seed_sql("order", binds)
    order = ", ".join([row_order_sql([gathered_unit_sql(unit, "g", seed), *keys], seed), *keys])
    rank = f"pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY {order}) AS rank"
    most = binds.number(groups, "bigint")
    return f"SELECT * FROM (SELECT *, {rank} FROM ({source}) g) c WHERE rank <= {most}", name


def first_groups(source: str, plan: BlockPlan, groups: int, binds: Binds) -> str:
    """Keep the first groups of each unit, in the order of their keys' texts.

    A group that is kept stays so, whatever later groups the unit comes into (PROOFS.md 33 C3).

    Returns:
        The SQL.
    """
    order = ", ".join(f'k{i} COLLATE "C"' for i in range(1, len(plan.keys) + 1))
    rank = f"pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY {order}) AS rank"
    most = binds.number(groups, "bigint")
    return f"SELECT * FROM (SELECT *, {rank} FROM ({source}) g) c WHERE rank <= {most}"


def gathered_unit_sql(unit: UnitNeighbours, alias: str, seed: str) -> str:
    """Print the column `unit` of a subquery of ours, short enough to be hashed."""
    return short_sql(ColumnRef("unit", unit.column.type, None, alias), seed)


def rows_in_all_sql(rows: str) -> str:
    """Print how many rows a unit has in all its groups. A number of rows is one of float8, whose sum costs a
    third of that of bigints, which is a numeric."""
    return f"(pg_catalog.sum(({rows})::float8) OVER (PARTITION BY unit))::bigint"


def in_group_sql(number: int, unit: UnitNeighbours, binds: Binds) -> str:
    """How many rows a unit may bring to one group, of those that it has there."""
    if unit.rows_per_group is None:
        return f"v{number}"
    return f"least(v{number}, {binds.number(min(unit.rows, unit.rows_per_group), 'bigint')})"
