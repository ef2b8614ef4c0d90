"""MIN and MAX of units: one value for each unit and group, counted by the public places at which values are.

All minima and maxima of a block share one scan, and what comes back is as long as the list of places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.compiler.aggregate_sql import RowSource, extreme_sql, index_sql
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import condition_sql
from proxy.compiler.relation_sql import source_sql
from proxy.compiler.seeded_keys import spread_texts_sql
from proxy.compiler.select_list import (
    Output,
    finished,
    key_sql,
    named_by,
    private_key_names,
    row_conditions,
)
from proxy.compiler.unit_gathering import gathered_sql, rows_of_units, select_groups
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, KeptUnits, UnitExtreme
from proxy.mechanisms.growing_places import Places
from proxy.query.ir.query_aggregates import AggregateKind

_KEPT = 1  # groups of a unit
_Extremes = Sequence[UnitExtreme | KeptUnits]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedPlaces:
    """How units are counted by the place of their minimum or maximum.

    Attributes:
        places: The places, in columns of rows that have one value of each unit and group.
        slots: Of each release. A row has one number more than there are places: how many units.
    """

    places: Output
    slots: tuple[Slots, ...]

    def sql(self, source: str, plan: BlockPlan, binds: Binds) -> str:
        """Count the rows of a source: keys, a place of each minimum and maximum, how many units.

        At most one place of a row is not NULL: each has a histogram of its own (GROUPING SETS), so that places
        do not multiply.
        """
        names = [f"k{i}" for i in range(1, len(plan.keys) + 1)]
        placed = [f"{sql} AS p{n}" for sql, n in self.places.expressions.items()]
        counted = [f"p{n}" for n in self.places.expressions.values()]
        by = [*names, *spread_texts_sql(private_key_names(plan), binds)]
        # LIMIT ALL: Citus computes GROUPING SETS of rows that it has gathered, and of no others.
        sets = ", ".join(f"({', '.join([*by, place])})" for place in counted)
        return (
            f"SELECT {', '.join([*names, *counted, 'pg_catalog.count(*)'])}"
            f" FROM (SELECT {', '.join([*names, *placed])} FROM {source} u LIMIT ALL) p"
            f" GROUP BY GROUPING SETS ({sets})"
        )


def extreme_scan(plan: BlockPlan, releases: tuple[int, ...], binds: Binds) -> BackendQuery:
    """Count units by the place of their minimum or maximum, as `CountedPlaces` has it.

    Args:
        plan: The block.
        releases: Its minima and maxima of units, and the numbers of units that these are of.
        binds: The parameters of the statement.
    """
    extremes, values = _extremes(plan, releases), Output()
    unit = plan.neighbours
    match unit:
        case UnitNeighbours():
            rows = rows_of_units(plan, binds)
            found = unit_places(plan, releases, values, rows)
            source, seeds = _of_units(plan, unit, extremes, values, rows)
        case RowNeighbours():
            places = Output()
            columns = [_of_row(one, values, places, binds) for one in extremes]
            found = _counted(places, columns)
            source, seeds = _of_rows(plan, unit, values, binds), ()
        case _:
            assert_never(unit)
    sql = found.sql(f"({source})", plan, binds)
    whole = replace(plan, sub_partitions=0)
    return finished(sql, whole, releases, binds, seeds, found.slots, None)


def unit_places(
    plan: BlockPlan, releases: tuple[int, ...], inner: Output, rows: RowSource
) -> CountedPlaces:
    """Place the minima and maxima of rows gathered by unit and group.

    Args:
        plan, releases: The block, and the numbers of the releases.
        inner: What is gathered; what the places need is added.
        rows: Rows of the scan.
    """
    places = Output()
    columns = [_gathered(one, inner, places, rows) for one in _extremes(plan, releases)]
    return _counted(places, columns)


def _counted(places: Output, columns: Sequence[int]) -> CountedPlaces:
    count = len(places.expressions)
    return CountedPlaces(
        places=places, slots=tuple(Slots(extreme=column, count=count) for column in columns)
    )


def _extremes(plan: BlockPlan, releases: tuple[int, ...]) -> _Extremes:
    found = [plan.releases[number] for number in releases]
    extremes = [one for one in found if isinstance(one, UnitExtreme | KeptUnits)]
    assert len(extremes) == len(releases), "what is of units by their values"
    return extremes


def _of_units(
    plan: BlockPlan, unit: UnitNeighbours, extremes: _Extremes, values: Output, rows: RowSource
) -> tuple[str, tuple[str, ...]]:
    """One row for each unit and group, of one group of each unit; and the seeds of that choice. The group is
    chosen among all that hold rows of the unit, whatever values these have."""
    source = gathered_sql(plan, unit, values, rows)
    if not any(one.keeps_one_group for one in extremes):
        return source, ()
    source, seed = select_groups(source, plan, unit, _KEPT, rows.binds)
    return source, (seed,)


def _gathered(
    release: UnitExtreme | KeptUnits, values: Output, places: Output, rows: RowSource
) -> int:
    """The column of the places of a minimum or maximum of the rows of a unit."""
    value = values.add(extreme_sql(release.aggregate.kind, release.measured, rows))
    return places.add(_place_sql(release, f"v{value}", rows.binds))


def _of_rows(plan: BlockPlan, unit: RowNeighbours, values: Output, binds: Binds) -> str:
    """One row for each unit, as it is stored."""
    head = [f"{key_sql(key, binds)} AS k{i}" for i, key in enumerate(plan.keys, 1)]
    listed = ", ".join([*head, *(f"{sql} AS v{n}" for sql, n in values.expressions.items())])
    source = source_sql(
        plan.source, row_conditions(plan, unit.not_null, binds), binds, *named_by(plan)
    )
    return f"SELECT {listed} FROM {source}"


def _of_row(release: UnitExtreme | KeptUnits, values: Output, places: Output, binds: Binds) -> int:
    """The column of the places of the values of rows."""
    measured = release.measured
    value = index_sql(measured, RowSource(binds, inner=False))
    if measured.condition is not None:
        value = f"CASE WHEN {condition_sql(measured.condition, binds)} THEN {value} END"
    return places.add(_place_sql(release, f"v{values.add(value)}", binds))


def _place_sql(release: UnitExtreme | KeptUnits, value: str, binds: Binds) -> str:
    """The number of the place at which a value counts; NULL for NULL. The values are clamped, so that each has
    one (mechanisms.growing_places)."""
    one, is_least = release.measured, release.aggregate.kind is AggregateKind.MIN
    edges = binds.add(
        [str(index) for index in Places(one.low, one.high, is_least).indices], "bigint[]"
    )
    if is_least:
        return f"pg_catalog.width_bucket({value}::bigint - 1, {edges})"
    return f"pg_catalog.width_bucket({value}::bigint, {edges}) - 1"
