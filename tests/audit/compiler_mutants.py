"""Mutants of the compiler: partitions, clamps, bounds of rows and groups per unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.compiler import (
    aggregate_sql,
    compiling,
    expression_sql,
    extreme_scan,
    relation_sql,
    row_scan,
    select_list,
    statistic_sql,
    sub_partitions,
    unit_gathering,
    unit_scan,
    value_scan,
)
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.full_joins import Condition, condition
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, OrderStatistic
from proxy.kernel.statistics import Measured
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import Clamped, ColumnRef
from proxy.query.ir.relations import GroupByUnit, Scan, Subquery


def partition_by_row_order(patch: pytest.MonkeyPatch) -> None:
    real = sub_partitions.sub_partition_sql

    def by_place(
        columns: tuple[ColumnRef, ...], count: int, binds: Binds
    ) -> tuple[str, tuple[str, ...]]:
        if len(columns) != 1 or columns[0].column != "id":
            return real(columns, count, binds)
        cell, seeds = real(columns, count, binds)
        place = f"({columns[0].relation}.ctid::text::point)[1]::integer"
        return cell.replace(f'{columns[0].relation}."id"::integer', place), seeds

    patch.setattr(row_scan, "sub_partition_sql", by_place)


def _everywhere(patch: pytest.MonkeyPatch, name: str, mutant: object) -> None:
    """In every module of the compiler that has taken the function in."""
    for module in (
        expression_sql,
        aggregate_sql,
        statistic_sql,
        relation_sql,
        row_scan,
        unit_scan,
        value_scan,
    ):
        if hasattr(module, name):
            patch.setattr(module, name, mutant)


def clamp_left_out(patch: pytest.MonkeyPatch) -> None:
    _everywhere(patch, "clamp_sql", lambda value, clamped, binds: value)


def null_becomes_a_bound(patch: pytest.MonkeyPatch) -> None:
    def cut(value: str, clamped: Clamped, binds: Binds) -> str:
        low, high = binds.number(clamped.low), binds.number(clamped.high)
        return f"least(greatest(({value})::numeric, {low}), {high})"

    _everywhere(patch, "clamp_sql", cut)


def _with_unit(
    patch: pytest.MonkeyPatch, change: Callable[[UnitNeighbours], UnitNeighbours]
) -> None:
    real = unit_scan.unit_scan

    def changed(
        plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
    ) -> BackendQuery:
        return real(plan, releases, change(unit), binds)

    patch.setattr(compiling, "unit_scan", changed)


def rows_of_a_unit_not_bounded(patch: pytest.MonkeyPatch) -> None:
    _with_unit(patch, lambda unit: replace(unit, rows=10**6))


def rows_of_a_group_not_bounded(patch: pytest.MonkeyPatch) -> None:
    def free(unit: UnitNeighbours) -> UnitNeighbours:
        return unit if unit.rows_per_group is None else replace(unit, rows_per_group=unit.rows)

    _with_unit(patch, free)


def groups_of_a_unit_not_cut(patch: pytest.MonkeyPatch) -> None:
    _with_unit(patch, lambda unit: replace(unit, groups=None))


def groups_cut_by_arrival(patch: pytest.MonkeyPatch) -> None:
    real = unit_gathering.select_groups

    def arrived(
        source: str, plan: BlockPlan, unit: UnitNeighbours, groups: int, binds: Binds
    ) -> tuple[str, str]:
        place = f"pg_catalog.min({unit.column.relation}.ctid)"
        source = source.replace(" AS unit,", f" AS unit, {place} AS arrival,", 1)
        cut, seed = real(source, plan, unit, groups, binds)
        return cut.replace("ORDER BY pg_catalog.hash", "ORDER BY arrival, pg_catalog.hash"), seed

    patch.setattr(unit_scan, "select_groups", arrived)


def share_of_a_group_rounded_up(patch: pytest.MonkeyPatch) -> None:
    real = unit_scan._clamped_rows

    def up(number: int, unit: UnitNeighbours, spread: bool, binds: Binds) -> str:
        kept = real(number, unit, spread, binds)
        return kept.replace(" ELSE pg_catalog.div(", " ELSE 1 + pg_catalog.div(")

    patch.setattr(unit_scan, "_clamped_rows", up)


def _skipping_the_cut(patch: pytest.MonkeyPatch, when: Callable[[int, str], str]) -> None:
    """Where the sum of all rows of a unit may be taken as it is."""

    def skipped(number: int, unit: UnitNeighbours, spread: bool, binds: Binds) -> str:
        return when(number, binds.number(unit.rows, "bigint"))

    patch.setattr(unit_scan, "_all_rows_count", skipped)


def cut_skipped_by_rows_of_a_group(patch: pytest.MonkeyPatch) -> None:
    """A unit within its rows in each of many groups, and not in all together."""
    _skipping_the_cut(patch, lambda number, rows: f"v{number} <= {rows}")


def cut_skipped_for_every_unit(patch: pytest.MonkeyPatch) -> None:
    _skipping_the_cut(patch, lambda number, rows: "true")


def cut_of_a_group_skipped_by_rows_of_all(patch: pytest.MonkeyPatch) -> None:
    """Where a group has a bound of its own, a unit within its rows in all groups may be above it in one."""
    real = unit_scan._all_rows_count

    def skipped(number: int, unit: UnitNeighbours, spread: bool, binds: Binds) -> str | None:
        summed = unit if unit.rows_per_group is None else replace(unit, rows_per_group=None)
        return real(number, summed, spread, binds)

    patch.setattr(unit_scan, "_all_rows_count", skipped)


def rows_without_a_unit_kept(patch: pytest.MonkeyPatch) -> None:
    real = select_list.row_conditions
    for module in (extreme_scan, row_scan, unit_gathering, value_scan):
        patch.setattr(module, "row_conditions", lambda plan, unit, binds: real(plan, None, binds))


def _of_values(patch: pytest.MonkeyPatch, kind: type[DistinctCount] | type[OrderStatistic]) -> None:
    """Of one unit as many values as it has."""
    real, most = value_scan.value_scan, 10**6

    def changed(
        plan: BlockPlan, numbers: tuple[int, ...], sums: tuple[int, ...], binds: Binds
    ) -> BackendQuery:
        releases = list(plan.releases)
        for number in numbers:
            release = releases[number]
            if isinstance(release, kind):
                plan = replace(plan, neighbours=replace(plan.neighbours, rows=most))
                if isinstance(release, OrderStatistic):
                    measured = replace(release.measured, rows=most)
                    releases[number] = replace(release, measured=measured)
        return real(replace(plan, releases=tuple(releases)), numbers, sums, binds)

    patch.setattr(compiling, "value_scan", changed)


def distinct_values_of_a_unit_not_cut(patch: pytest.MonkeyPatch) -> None:
    _of_values(patch, DistinctCount)


def values_of_a_unit_not_cut(patch: pytest.MonkeyPatch) -> None:
    _of_values(patch, OrderStatistic)


def groups_of_an_extreme_not_cut(patch: pytest.MonkeyPatch) -> None:
    """A unit has a minimum in each of its groups."""

    def uncut(
        source: str, plan: BlockPlan, unit: UnitNeighbours, groups: int, binds: Binds
    ) -> tuple[str, str]:
        _, seed = unit_gathering.select_groups(source, plan, unit, groups, binds)
        return source, seed

    patch.setattr(extreme_scan, "select_groups", uncut)


def extreme_not_gathered_by_unit(patch: pytest.MonkeyPatch) -> None:
    """Each row of a unit is a value of its own."""
    real = unit_gathering.gathered_sql

    def by_row(plan: BlockPlan, unit: UnitNeighbours, *others: Any, **named: Any) -> str:
        gathered = real(plan, unit, *others, **named)
        return (
            f"{gathered}, {unit.column.relation}.ctid"
            if isinstance(plan.source, Scan)
            else gathered
        )

    patch.setattr(extreme_scan, "gathered_sql", by_row)


def centred_clamp_left_out(patch: pytest.MonkeyPatch) -> None:
    real = statistic_sql._centred

    def wide(measured: Measured, rows: aggregate_sql.RowSource) -> str:
        reach = Fraction(2**31 - 1)
        middle = rows.binds.number(measured.low + measured.high, "bigint")
        free = real(replace(measured, clamp=Bounds(-reach, reach)), rows)
        return f"({free} - {middle})"  # the middle of the wide clamp is 0

    patch.setattr(statistic_sql, "_centred", wide)


def products_not_centred(patch: pytest.MonkeyPatch) -> None:
    """Of the values themselves, not about the middle of their bounds."""

    def plain(of: tuple[Measured, ...], rows: aggregate_sql.RowSource) -> str:
        factors = (f"({aggregate_sql.index_sql(one, rows)})::bigint * 2" for one in of)
        only = aggregate_sql.filter_sql(of[0].condition, rows)
        return f"pg_catalog.sum({' * '.join(factors)}){only}"

    patch.setattr(statistic_sql, "_products_sql", plain)


def groups_not_cut_for_private_keys(patch: pytest.MonkeyPatch) -> None:
    real = unit_scan.unit_scan

    def changed(
        plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
    ) -> BackendQuery:
        free = unit if plan.selection is None else replace(unit, groups=None)
        return real(plan, releases, free, binds)

    patch.setattr(compiling, "unit_scan", changed)


def rows_without_a_unit_kept_per_unit(patch: pytest.MonkeyPatch) -> None:
    """In the relation per unit and above it; either alone changes nothing, by the other."""
    real = relation_sql._per_unit

    def kept(grouped: GroupByUnit, binds: Binds) -> str:
        with patch.context() as within:
            within.setattr(relation_sql, "has_value", lambda *_: condition("TRUE"))
            return real(grouped, binds)

    def row_conditions(plan: BlockPlan, unit: ColumnRef | None, binds: Binds) -> list[Condition]:
        above = isinstance(plan.source, Subquery) and isinstance(plan.source.source, GroupByUnit)
        return select_list.row_conditions(plan, None if above else unit, binds)

    patch.setattr(relation_sql, "_per_unit", kept)
    patch.setattr(row_scan, "row_conditions", row_conditions)
