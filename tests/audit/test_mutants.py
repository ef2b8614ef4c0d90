"""Mutants of planner, compiler, release and engine: each must die, by the layer that is named.

The layers: neighbours (tests/audit/test_golden_neighbours.py), cost (the same file), own answer
(test_generated_questions.py), order (tests/engine/test_order.py), truncation (truncated.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Fault
from proxy.compiler import (
    aggregate_sql,
    cells,
    compiling,
    expression_sql,
    relation_sql,
    row_scan,
    select_list,
    unit_scan,
    value_scan,
)
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.expression_sql import Binds
from proxy.engine.asking import Answer, Engine, Question
from proxy.exact.table import ExactRow, ExactTable
from proxy.mechanisms import discrete_laplace, split
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from proxy.planner import joins, planning, table_rows, tracking
from proxy.planner.facts import Owner, ProtectedRows, UnitRows
from proxy.planner.plan import (
    BlockPlan,
    Measured,
    Neighbours,
    NoisyDistinct,
    OrderStatistic,
    RowNeighbours,
    SmoothedMedian,
    UnitNeighbours,
)
from proxy.policy.model import Bounds
from proxy.query.expressions import Clamped, ColumnRef, Expression
from proxy.query.relations import Derived, PerUnit, Relation, Scan, Stacked
from proxy.release import releasing
from proxy.release.noised import NoisyTable
from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.audit.expressions import Number
from tests.audit.table_questions import Asked
from tests.audit.test_generated_questions import own_answer
from tests.audit.truncation_mutants import TRUNCATION_MUTANTS
from tests.engine import test_order
from tests.world import POLICIES, walk

# Every mutant is tried on all of them; the real code must pass them all.
QUESTIONS = (
    "SELECT count(*), avg(i4) FROM people",
    "SELECT sum(i4) FROM people",
    "SELECT max(i2) FROM people GROUP BY t",
    "SELECT count(*), avg(n2) FROM trips",
    "SELECT count(*), sum(i4) FROM visits",
    "SELECT count(*), sum(n2) FROM visits GROUP BY t",
    "SELECT count(*), sum(i4), avg(i4) FROM orders GROUP BY t",
    "SELECT count(*), max(i4) FROM notes GROUP BY t",
    "SELECT count(*), min(i2) FROM members",
    "SELECT count(*), sum(o.i4) FROM members m JOIN orders o ON m.uid = o.uid",
    "SELECT count(*), avg(x) FROM (SELECT i4 AS x FROM calls) q",
    "SELECT sum(n) FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) q",
    "SELECT count(*), max(n) FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) q",
    "SELECT count(*), sum(i4) FROM lines",
    "SELECT sum(i4) FROM (SELECT i4 FROM orders UNION ALL SELECT i4 FROM calls) q",
    "SELECT count(DISTINCT i8 + i4 * 7 + n2) FROM visits",
    "SELECT variance(i4), stddev(i4 + i2) FROM people",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM visits",
    "SELECT s, count(*) FROM notes GROUP BY s",
    "SELECT s, count(*) FROM trips GROUP BY s",
    "SELECT count(*) FROM (SELECT i4 FROM people UNION ALL SELECT i4 FROM people) q",
)
WANTED = Loss(POLICIES["world"].privacy.epsilon, POLICIES["world"].privacy.delta)
Patch = Callable[[pytest.MonkeyPatch], None]


def neighbours_complain(auditor: Auditor) -> bool:
    for question in QUESTIONS:
        road = walk(question)
        assert road is not None
        try:
            if auditor.audit(road.plan, [base.small() for base in auditor.bases]):
                return True
        except Fault:  # the statement raised on some row
            return True
    return False


def cost_complains(auditor: Auditor) -> bool:
    for question in QUESTIONS:
        road = walk(question)
        assert road is not None
        cost = spent(road.plan)
        if cost.epsilon > WANTED.epsilon or cost.delta > WANTED.delta:
            return True
    return False


def own_answer_complains(auditor: Auditor) -> bool:
    for column in ("i2", "i4", "i8", "n2"):
        asked = Asked("people", "sum", Number(column, True, True), None, None, ())
        try:
            assert own_answer(asked, auditor)
        except AssertionError:
            return True
    return False


def order_complains(auditor: Auditor) -> bool:
    try:
        test_order.test_the_charge_comes_before_the_data_and_is_settled_after()
    except AssertionError:
        return True
    return False


# --- planner -----------------------------------------------------------------------------------------


def sensitivity_halved(patch: pytest.MonkeyPatch) -> None:
    real = discrete_laplace.scale_for

    def half(sensitivity: int, epsilon: Fraction) -> Fraction:
        return real(sensitivity, epsilon) / 2

    patch.setattr(discrete_laplace, "scale_for", half)


def epsilon_not_split(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(split, "split", lambda loss, k: Loss(loss.epsilon, loss.delta / k))


def delta_not_split(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(split, "split", lambda loss, k: Loss(loss.epsilon / k, loss.delta))


def groups_of_a_unit_not_paid(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(split, "per_group", lambda loss, groups: loss)


def delta_not_grown_for_k_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(split, "per_unit", lambda loss, k: Loss(loss.epsilon / k, loss.delta / k))


def k_rows_treated_as_one(patch: pytest.MonkeyPatch) -> None:
    real = planning._neighbours

    def one(owner: Owner, groups: int | None) -> tuple[Neighbours, int]:
        found, reach = real(owner, groups)
        if isinstance(found, RowNeighbours):
            return replace(found, rows=1), 1
        return found, reach

    patch.setattr(planning, "_neighbours", one)


# --- compiler ----------------------------------------------------------------------------------------


def partition_by_row_order(patch: pytest.MonkeyPatch) -> None:
    real = cells.cell_sql

    def by_place(
        columns: tuple[ColumnRef, ...], count: int, binds: Binds
    ) -> tuple[str, tuple[str, ...]]:
        if len(columns) != 1 or columns[0].column != "id":
            return real(columns, count, binds)
        cell, seeds = real(columns, count, binds)
        place = f"({columns[0].relation}.ctid::text::point)[1]::integer"
        return cell.replace(f'{columns[0].relation}."id"::integer', place), seeds

    patch.setattr(row_scan, "cell_sql", by_place)


def _everywhere(patch: pytest.MonkeyPatch, name: str, mutant: object) -> None:
    """In every module of the compiler that has taken the function in."""
    for module in (expression_sql, aggregate_sql, relation_sql, row_scan, unit_scan, value_scan):
        if hasattr(module, name):
            patch.setattr(module, name, mutant)


def clamp_left_out(patch: pytest.MonkeyPatch) -> None:
    _everywhere(patch, "cut_sql", lambda value, clamped, binds: value)


def null_becomes_a_bound(patch: pytest.MonkeyPatch) -> None:
    def cut(value: str, clamped: Clamped, binds: Binds) -> str:
        low, high = binds.number(clamped.low), binds.number(clamped.high)
        return f"least(greatest(({value})::numeric, {low}), {high})"

    _everywhere(patch, "cut_sql", cut)


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
    real = unit_scan._cut_groups

    def arrived(source: str, plan: BlockPlan, groups: int, binds: Binds) -> tuple[str, str]:
        assert isinstance(plan.neighbours, UnitNeighbours)
        place = f"pg_catalog.min({plan.neighbours.column.relation}.ctid)"
        source = source.replace(" AS unit,", f" AS unit, {place} AS arrival,", 1)
        cut, seed = real(source, plan, groups, binds)
        return cut.replace("ORDER BY pg_catalog.hash", "ORDER BY arrival, pg_catalog.hash"), seed

    patch.setattr(unit_scan, "_cut_groups", arrived)


def share_of_a_group_rounded_up(patch: pytest.MonkeyPatch) -> None:
    real = unit_scan._kept

    def up(number: int, unit: UnitNeighbours, spread: bool, binds: Binds) -> str:
        kept = real(number, unit, spread, binds)
        return kept.replace(" ELSE pg_catalog.div(", " ELSE 1 + pg_catalog.div(")

    patch.setattr(unit_scan, "_kept", up)


def rows_without_a_unit_kept(patch: pytest.MonkeyPatch) -> None:
    real = select_list.where_sql
    for module in (row_scan, unit_scan, value_scan):
        patch.setattr(module, "where_sql", lambda plan, not_null, binds: real(plan, None, binds))


def _of_values(patch: pytest.MonkeyPatch, kind: type[NoisyDistinct] | type[OrderStatistic]) -> None:
    """Of one unit as many values as it has."""
    real, most = value_scan.value_scan, 10**6

    def changed(plan: BlockPlan, number: int, binds: Binds) -> BackendQuery:
        releases = list(plan.releases)
        release = releases[number]
        if isinstance(release, kind):
            plan = replace(plan, neighbours=replace(plan.neighbours, rows=most))
            if isinstance(release, OrderStatistic):
                measured = replace(release.measured, rows=most)
                releases[number] = replace(release, measured=measured)
        return real(replace(plan, releases=tuple(releases)), number, binds)

    patch.setattr(compiling, "value_scan", changed)


def distinct_values_of_a_unit_not_cut(patch: pytest.MonkeyPatch) -> None:
    _of_values(patch, NoisyDistinct)


def values_of_a_unit_not_cut(patch: pytest.MonkeyPatch) -> None:
    _of_values(patch, OrderStatistic)


def centred_clamp_left_out(patch: pytest.MonkeyPatch) -> None:
    real = aggregate_sql._centred

    def wide(measured: Measured, rows: aggregate_sql.Rows) -> str:
        reach = Fraction(2**31 - 1)
        middle = rows.binds.number(measured.low + measured.high, "bigint")
        free = real(replace(measured, clamp=Bounds(-reach, reach)), rows)
        return f"({free} - {middle})"  # the middle of the wide clamp is 0

    patch.setattr(aggregate_sql, "_centred", wide)


def groups_not_cut_for_private_keys(patch: pytest.MonkeyPatch) -> None:
    real = unit_scan.unit_scan

    def changed(
        plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
    ) -> BackendQuery:
        free = unit if plan.selection is None else replace(unit, groups=None)
        return real(plan, releases, free, binds)

    patch.setattr(compiling, "unit_scan", changed)


def multiplicity_of_a_join_ignored(patch: pytest.MonkeyPatch) -> None:
    """Only the left side's bound counts: a table of one row per unit stays one when it is joined."""

    def left_only(a: UnitRows, b: UnitRows) -> UnitRows:
        return a

    patch.setattr(joins, "_both", left_only)


def rows_of_a_union_not_added(patch: pytest.MonkeyPatch) -> None:
    real = tracking._stacked

    def of_first(stacked: Stacked, parts: list[tracking.Tracked]) -> tracking.Tracked:
        found = real(stacked, parts)
        owner = found.owner
        if isinstance(owner, ProtectedRows):
            return replace(found, owner=replace(owner, rows=1))
        return found

    patch.setattr(tracking, "_stacked", of_first)


_Hidden = tuple[tuple[str, Expression], ...]


def hidden_unit_dropped(patch: pytest.MonkeyPatch) -> None:
    """A subquery's rows are hashed and protected one by one instead of by their unit."""
    real = tracking._carried

    def by_row(alias: str, owner: Owner, taken: set[str]) -> tuple[_Hidden, Owner]:
        hidden, carried = real(alias, owner, taken)
        return hidden, ProtectedRows(1, ()) if isinstance(carried, UnitRows) else carried

    patch.setattr(tracking, "_carried", by_row)


def rows_without_a_unit_kept_per_unit(patch: pytest.MonkeyPatch) -> None:
    """In the relation per unit and above it; either alone changes nothing, by the other."""
    real = relation_sql._per_unit

    def kept(grouped: PerUnit, binds: Binds) -> str:
        unit = expression_sql.column_sql(grouped.unit)
        return real(grouped, binds).replace(f"{unit} IS NOT NULL", "TRUE", 1)

    def where(plan: BlockPlan, not_null: ColumnRef | None, binds: Binds) -> str:
        above = isinstance(plan.source, Derived) and isinstance(plan.source.source, PerUnit)
        return select_list.where_sql(plan, None if above else not_null, binds)

    patch.setattr(relation_sql, "_per_unit", kept)
    patch.setattr(row_scan, "where_sql", where)


def reference_not_followed(patch: pytest.MonkeyPatch) -> None:
    """The unit is what the reference holds, not whom it leads to."""

    def itself(
        scan: Scan, reference: ColumnRef, path: object, known: object
    ) -> tuple[Relation, ColumnRef]:
        return scan, reference

    patch.setattr(table_rows, "_through", itself)


# --- release -----------------------------------------------------------------------------------------

_Outputs = Callable[[SmoothedMedian, int, Iterable[ExactRow], int], list[int]]


def _with_outputs(patch: pytest.MonkeyPatch, change: Callable[[_Outputs], _Outputs]) -> None:
    patch.setattr(releasing, "partition_outputs", change(releasing.partition_outputs))


def empty_partition_dropped(patch: pytest.MonkeyPatch) -> None:
    def change(real: _Outputs) -> _Outputs:
        def dropped(
            release: SmoothedMedian, number: int, group: Iterable[ExactRow], cells: int
        ) -> list[int]:
            full = real(release, number, group, cells)
            return [output for output in full if output != release.fill] or [release.fill]

        return dropped

    _with_outputs(patch, change)


def empty_partition_filled_from_the_data(patch: pytest.MonkeyPatch) -> None:
    def change(real: _Outputs) -> _Outputs:
        def filled(
            release: SmoothedMedian, number: int, group: Iterable[ExactRow], cells: int
        ) -> list[int]:
            full = real(release, number, group, cells)
            found = [output for output in full if output != release.fill]
            middle = sum(found) // len(found) if found else release.fill
            return [middle if output == release.fill else output for output in full]

        return filled

    _with_outputs(patch, change)


def partitions_from_the_true_number_of_rows(patch: pytest.MonkeyPatch) -> None:
    def change(real: _Outputs) -> _Outputs:
        def counted(
            release: SmoothedMedian, number: int, group: Iterable[ExactRow], cells: int
        ) -> list[int]:
            rows = list(group)
            return real(replace(release, partitions=len(rows) | 1), number, rows, cells)

        return counted

    _with_outputs(patch, change)


def empty_group_dropped(patch: pytest.MonkeyPatch) -> None:
    real = releasing.release_block

    def held(plan: BlockPlan, tables: Sequence[ExactTable], bits: RandomBits) -> NoisyTable:
        there = {row.keys for exact in tables for row in exact.rows}
        whole = real(plan, tables, bits)
        return NoisyTable(tuple(row for row in whole.rows if row.keys in there))

    patch.setattr(releasing, "release_block", held)


# --- engine ------------------------------------------------------------------------------------------


def charge_after_the_answer(patch: pytest.MonkeyPatch) -> None:
    async def late(
        self: Engine,
        question: Question,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        analyst: str,
    ) -> Answer:
        chosen, private = self._planned(question, arguments, settings)
        scalars = question.reading.query.scalars
        answer = await self._answer(private, self._compile(private), chosen, scalars, None, None)
        charged = await self._ledger.reserve(analyst, private.loss, "", self.policy.digest)
        await self._ledger.settle(charged.receipt, True)
        return replace(answer, receipt=charged.receipt)

    patch.setattr(Engine, "ask", late)


def charge_not_settled_on_failure(patch: pytest.MonkeyPatch) -> None:
    async def never(self: object, receipt: str, answered: bool) -> None:
        return None

    patch.setattr(test_order.Recorder, "settle", never)


Layer = Callable[[Auditor], bool]
MUTANTS: tuple[tuple[Patch, Layer], ...] = (
    (sensitivity_halved, neighbours_complain),
    (epsilon_not_split, cost_complains),
    (delta_not_split, cost_complains),
    (groups_of_a_unit_not_paid, cost_complains),
    (delta_not_grown_for_k_rows, cost_complains),
    (k_rows_treated_as_one, neighbours_complain),
    (partition_by_row_order, neighbours_complain),
    (clamp_left_out, neighbours_complain),
    (null_becomes_a_bound, own_answer_complains),
    (rows_of_a_unit_not_bounded, neighbours_complain),
    (rows_of_a_group_not_bounded, neighbours_complain),
    (groups_of_a_unit_not_cut, neighbours_complain),
    (groups_cut_by_arrival, neighbours_complain),
    (share_of_a_group_rounded_up, neighbours_complain),
    (rows_without_a_unit_kept, neighbours_complain),
    (distinct_values_of_a_unit_not_cut, neighbours_complain),
    (values_of_a_unit_not_cut, neighbours_complain),
    (centred_clamp_left_out, neighbours_complain),
    (groups_not_cut_for_private_keys, neighbours_complain),
    (multiplicity_of_a_join_ignored, neighbours_complain),
    (rows_of_a_union_not_added, neighbours_complain),
    (hidden_unit_dropped, neighbours_complain),
    (rows_without_a_unit_kept_per_unit, neighbours_complain),
    (reference_not_followed, neighbours_complain),
    (empty_partition_dropped, neighbours_complain),
    (empty_partition_filled_from_the_data, neighbours_complain),
    (partitions_from_the_true_number_of_rows, neighbours_complain),
    (empty_group_dropped, neighbours_complain),
    (charge_after_the_answer, order_complains),
    (charge_not_settled_on_failure, order_complains),
    *TRUNCATION_MUTANTS,
)
# The real code of joins by truncation: test_truncated_joins.py.
LAYERS = (neighbours_complain, cost_complains, own_answer_complains, order_complains)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
def test_the_real_code_lives(layer: Layer, auditor: Auditor) -> None:
    assert not layer(auditor)


@pytest.mark.parametrize("mutant, layer", MUTANTS, ids=[m.__name__ for m, _ in MUTANTS])
def test_a_mutant_dies(
    mutant: Patch, layer: Layer, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant(monkeypatch)
    assert layer(auditor)
