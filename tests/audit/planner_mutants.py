"""Mutants of the planner (sensitivities, split, whose rows a relation holds), of releases, of a unit's work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.base.slots import Slots
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.relation_sql import source_sql
from proxy.engine.charged_queries import ChargedQueries, Paid, PlannedQuery, answer_of
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel import sensitivities, statistics
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, Gate, NoisyStatistic, OrderStatistic, SampleAggregate
from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms import clipped_mean, discrete_laplace, split
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from proxy.planner import (
    joins,
    neighbours,
    planning,
    release_choice,
    sample_aggregate,
    shared_releases,
    table_rows,
    tracking,
    unit_truncation,
)
from proxy.planner.facts import (
    Facts,
    PlanningContext,
    ProtectedRows,
    RelationWithUnit,
    RowOwnership,
    UnitRows,
)
from proxy.planner.measuring import MeasureContext
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import Join, Relation, Scan, UnionAll
from proxy.release import adding_noise
from proxy.release.noisy_relation import NoisyTable
from tests import unchecked_blocks
from tests.audit.exact_results import Auditor
from tests.charged_plans import charged
from tests.engine import test_order
from tests.pipeline_world import SCHEMA, walk

_Outputs = Callable[[SampleAggregate, Slots, Iterable[ExactRow], int], list[int]]


def _with_outputs(patch: pytest.MonkeyPatch, change: Callable[[_Outputs], _Outputs]) -> None:
    patch.setattr(adding_noise, "partition_outputs", change(adding_noise.partition_outputs))


def empty_partition_dropped(patch: pytest.MonkeyPatch) -> None:
    def change(real: _Outputs) -> _Outputs:
        def dropped(
            release: SampleAggregate, slots: Slots, group: Iterable[ExactRow], sub_partitions: int
        ) -> list[int]:
            full = real(release, slots, group, sub_partitions)
            return [output for output in full if output != release.fill] or [release.fill]

        return dropped

    _with_outputs(patch, change)


def empty_partition_filled_from_the_data(patch: pytest.MonkeyPatch) -> None:
    def change(real: _Outputs) -> _Outputs:
        def filled(
            release: SampleAggregate, slots: Slots, group: Iterable[ExactRow], sub_partitions: int
        ) -> list[int]:
            full = real(release, slots, group, sub_partitions)
            found = [output for output in full if output != release.fill]
            middle = sum(found) // len(found) if found else release.fill
            return [middle if output == release.fill else output for output in full]

        return filled

    _with_outputs(patch, change)


def partitions_from_the_true_number_of_rows(patch: pytest.MonkeyPatch) -> None:
    def change(real: _Outputs) -> _Outputs:
        def counted(
            release: SampleAggregate, slots: Slots, group: Iterable[ExactRow], sub_partitions: int
        ) -> list[int]:
            rows = list(group)
            return real(replace(release, partitions=len(rows) | 1), slots, rows, sub_partitions)

        return counted

    _with_outputs(patch, change)


def empty_group_dropped(patch: pytest.MonkeyPatch) -> None:
    real = unchecked_blocks.release_block

    def held(plan: BlockPlan, tables: Sequence[ExactTable], bits: RandomBits) -> NoisyTable:
        there = {row.keys for exact in tables for row in exact.rows}
        whole = real(plan, tables, bits)
        return NoisyTable(tuple(row for row in whole.rows if row.keys in there))

    patch.setattr(unchecked_blocks, "release_block", held)


# --- engine -------------------------------------------------------------------------------------------


def charge_after_the_answer(patch: pytest.MonkeyPatch) -> None:
    async def late(self: ChargedQueries, query: PlannedQuery) -> NoisyAnswer:
        async with self._drawer.session(query.run.turn) as session:
            plan, lifts = query.prepared.drawn, query.prepared.lifts
            paid = Paid(remaining=None, loss=query.loss, charge=charged(plan))
            relation = await self._drawn(query, paid, lifts, session, {}, {})
        charge = await self._ledger.reserve(query.run, plan, "", "")
        assert charge.receipt is not None
        await self._ledger.settle(charge.receipt, True)
        return answer_of(relation, query, replace(paid, charge=charge))

    patch.setattr(ChargedQueries, "run", late)


def charge_not_settled_on_failure(patch: pytest.MonkeyPatch) -> None:
    async def never(self: object, receipt: str, answered: bool) -> None:
        return None

    patch.setattr(test_order.Recorder, "settle", never)


# With the most rows of one unit that the policy lets them form: visits 5, orders 6, calls 2, lines 7, notes 4.
_QUESTIONS = (
    ("SELECT count(*) FROM visits a JOIN visits b ON a.uid = b.uid", 25),
    ("SELECT count(*) FROM orders o LEFT JOIN calls c ON o.uid = c.uid", 12),
    (
        "SELECT count(*) FROM notes a JOIN notes b ON a.uid = b.uid JOIN notes c ON b.uid = c.uid",
        64,
    ),
    (
        "SELECT count(*) FROM lines l JOIN orders o ON l.order_id = o.id JOIN calls c ON c.uid = o.uid",
        14,
    ),
    (
        "SELECT count(*) FROM (SELECT uid, i4 FROM calls UNION ALL SELECT uid, i4 FROM calls) q"
        " JOIN orders o ON o.uid = q.uid",
        24,
    ),
    (
        "SELECT count(*) FROM members m JOIN orders o ON m.uid = o.uid JOIN calls c ON c.uid = m.uid",
        12,
    ),
)
_TOO_MANY = "SELECT count(*) FROM visits a" + "".join(
    f" JOIN visits t{i} ON a.uid = t{i}.uid" for i in range(5)
)


def work_complains(auditor: Auditor) -> bool:
    return next(_too_many_rows(auditor), None) is not None


def _too_many_rows(auditor: Auditor) -> Iterator[str]:
    try:
        walk(_TOO_MANY)
        yield _TOO_MANY
    except Refusal:
        pass
    (crowd,) = (base.name for base in auditor.bases if base.name == "crowd")
    for question, most in _QUESTIONS:
        try:
            pipeline = walk(question)
        except Refusal as refused:  # the kernel counts the rows as well (kernel/work.py)
            yield f"{question}: {refused.message}"
            continue
        assert pipeline is not None
        (block,) = pipeline.plan.blocks
        assert isinstance(block.neighbours, UnitNeighbours)
        binds = Binds()
        unit, relation = (
            column_sql(block.neighbours.column),
            source_sql(block.source, [], binds, block.neighbours),
        )
        grouped = f"SELECT count(*) AS n FROM {relation} WHERE {unit} IS NOT NULL GROUP BY {unit}"
        sql = f"SELECT coalesce(max(n), 0) FROM ({grouped}) q".replace(
            f'"{SCHEMA}".', f'"{crowd}".'
        )
        values = {**binds.values, **dict.fromkeys(binds.seeds, 42)}
        row = auditor.connection.execute(sql.encode(), values).fetchone()
        assert row is not None
        if row[0] > most:
            yield f"{question}: {row[0]} rows of a unit, {most} are planned"


def sides_of_a_join_not_cut(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unit_truncation, "truncate_side", lambda side, known: side)


def left_side_of_a_join_not_cut(patch: pytest.MonkeyPatch) -> None:
    real = unit_truncation.truncate_side
    state = {"calls": 0}

    def every_second(side: RelationWithUnit, known: PlanningContext) -> RelationWithUnit:
        state["calls"] += 1
        return side if state["calls"] % 2 else real(side, known)

    patch.setattr(unit_truncation, "truncate_side", every_second)


def product_of_a_join_not_limited(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "JOINED_ROWS_PER_UNIT", 10**9)


def product_of_earlier_joins_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unit_truncation, "multiplied", lambda left, right: max(left, right))


def several_rows_taken_for_one(patch: pytest.MonkeyPatch) -> None:
    """A subquery's rows are taken for one of each unit."""
    real = joins.met_of_one_unit

    def one(relation: Join, known: PlanningContext) -> tuple[bool, bool] | None:
        met = real(relation, known)
        return None if met is None else (met[0], met[1] or not isinstance(relation.left, Join))

    patch.setattr(joins, "met_of_one_unit", one)


def reference_that_is_joined_again_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Only the table of a reference is cut, not the rows that refer to it."""
    real = joins._of_one_unit

    def of_target(
        relation: Join,
        facts: Facts,
        sides: tuple[RelationWithUnit, RelationWithUnit],
        met: tuple[bool, bool],
        known: PlanningContext,
    ) -> RelationWithUnit:
        found = real(relation, facts, sides, met, known)
        assert isinstance(found.ownership, UnitRows)
        untruncated = found.ownership.untruncated
        return replace(found, ownership=replace(found.ownership, untruncated=untruncated[1:]))

    patch.setattr(joins, "_of_one_unit", of_target)


_Layer = Callable[[Auditor], bool]
WORK_MUTANTS: tuple[tuple[Callable[[pytest.MonkeyPatch], None], _Layer], ...] = (
    (sides_of_a_join_not_cut, work_complains),
    (left_side_of_a_join_not_cut, work_complains),
    (product_of_a_join_not_limited, work_complains),
    (product_of_earlier_joins_forgotten, work_complains),
    (several_rows_taken_for_one, work_complains),
    (reference_that_is_joined_again_forgotten, work_complains),
)


def sensitivity_halved(patch: pytest.MonkeyPatch) -> None:
    real = discrete_laplace.scale_for

    def half(sensitivity: int, epsilon: Fraction) -> Fraction:
        return real(sensitivity, epsilon) / 2

    patch.setattr(discrete_laplace, "scale_for", half)


def epsilon_not_split(patch: pytest.MonkeyPatch) -> None:
    real = split.split_weighted
    patch.setattr(
        split,
        "split_weighted",
        lambda loss, weights: [Loss(loss.epsilon, s.delta) for s in real(loss, weights)],
    )


def gate_not_paid(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sample_aggregate, "_after_gate", lambda loss: loss)


def size_of_a_quantile_not_paid(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OrderStatistic, "own_loss", property(lambda release: release.loss))


def groups_of_a_gate_not_counted(patch: pytest.MonkeyPatch) -> None:
    real = sample_aggregate._gate

    def one(context: MeasureContext, partitions: int, loss: Loss) -> Gate:
        gate = real(context, partitions, loss)
        counted = sensitivities.of_gate(context.shape).l1
        return replace(gate, noise=replace(gate.noise, scale=gate.noise.scale / counted))

    patch.setattr(sample_aggregate, "_gate", one)


def delta_not_split(patch: pytest.MonkeyPatch) -> None:
    real = split.split_weighted
    patch.setattr(
        split,
        "split_weighted",
        lambda loss, weights: [Loss(s.epsilon, loss.delta) for s in real(loss, weights)],
    )


def groups_of_a_clipped_mean_not_paid(patch: pytest.MonkeyPatch) -> None:
    real = clipped_mean.scale
    patch.setattr(
        clipped_mean, "scale", lambda low, high, epsilon, changed=1: real(low, high, epsilon)
    )


def rows_of_a_shared_sum_not_paid(patch: pytest.MonkeyPatch) -> None:
    real = release_choice.shared_statistic

    def of_one_row(
        aggregate: Aggregate,
        statistic: Statistic,
        measured: tuple[Measured, ...],
        context: MeasureContext,
        loss: Loss,
    ) -> NoisyStatistic:
        of_one = RowNeighbours(rows=1, hashed_by=(), not_null=None)
        one = replace(context, shape=replace(context.shape, neighbours=of_one))
        return real(aggregate, statistic, measured, one, loss)

    patch.setattr(shared_releases, "shared_statistic", of_one_row)


def products_of_one_width(patch: pytest.MonkeyPatch) -> None:
    """A product of a pair is taken to move by the first one's width."""
    real = statistics.row_sensitivity

    def of_first(statistic: Statistic, measured: Sequence[Measured]) -> int:
        if statistic is not Statistic.PRODUCTS:
            return real(statistic, measured)
        return max(1, measured[0].high - measured[0].low)

    patch.setattr(sensitivities, "row_sensitivity", of_first)


def groups_of_a_unit_not_paid(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(split, "per_group", lambda loss, groups: loss)


def delta_not_grown_for_k_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(split, "per_unit", lambda loss, k: Loss(loss.epsilon / k, loss.delta / k))


def k_rows_treated_as_one(patch: pytest.MonkeyPatch) -> None:
    real = neighbours.neighbours_of

    def one(
        ownership: RowOwnership, groups: int | None, chosen: int | None, reach: int | None = None
    ) -> Neighbours:
        found = real(ownership, groups, chosen, reach)
        return replace(found, rows=1) if isinstance(found, RowNeighbours) else found

    patch.setattr(planning, "neighbours_of", one)


def any_key_taken_for_fixed(patch: pytest.MonkeyPatch) -> None:
    """A unit is in one group, whatever the keys are."""
    patch.setattr(planning, "reach_of", lambda *_: 1)


def multiplicity_of_a_join_ignored(patch: pytest.MonkeyPatch) -> None:
    """Only the left side's bound counts: a table of one row per unit stays one when it is joined."""
    real = joins._of_one_unit

    def left_only(
        relation: Join,
        facts: Facts,
        sides: tuple[RelationWithUnit, RelationWithUnit],
        met: tuple[bool, bool],
        known: PlanningContext,
    ) -> RelationWithUnit:
        found, left = real(relation, facts, sides, met, known), sides[0].ownership
        assert isinstance(found.ownership, UnitRows) and isinstance(left, UnitRows)
        return replace(found, ownership=replace(left, column=found.ownership.column))

    patch.setattr(joins, "_of_one_unit", left_only)


def rows_of_a_union_not_added(patch: pytest.MonkeyPatch) -> None:
    real = tracking._union

    def of_first(union: UnionAll, parts: list[RelationWithUnit]) -> RelationWithUnit:
        found = real(union, parts)
        ownership = found.ownership
        if isinstance(ownership, ProtectedRows):
            return replace(found, ownership=replace(ownership, rows=1))
        return found

    patch.setattr(tracking, "_union", of_first)


_Hidden = tuple[tuple[str, Expression], ...]


def hidden_unit_dropped(patch: pytest.MonkeyPatch) -> None:
    """A subquery's rows are hashed and protected one by one instead of by their unit."""
    real = tracking._carried

    def by_row(
        alias: str, ownership: RowOwnership, taken: set[str]
    ) -> tuple[_Hidden, RowOwnership]:
        hidden, carried = real(alias, ownership, taken)
        return hidden, ProtectedRows(1, ()) if isinstance(carried, UnitRows) else carried

    patch.setattr(tracking, "_carried", by_row)


def units_along_a_foreign_key_not_equal(patch: pytest.MonkeyPatch) -> None:
    """A foreign key is believed to lead to a row of the same unit."""
    real = joins.met_of_one_unit

    def believed(relation: Join, known: PlanningContext) -> tuple[bool, bool] | None:
        return real(relation, known) or (False, True)

    patch.setattr(joins, "along_a_foreign_key", lambda joined, *_: joined)
    patch.setattr(joins, "met_of_one_unit", believed)


def reference_not_followed(patch: pytest.MonkeyPatch) -> None:
    """The unit is what the reference holds, not whom it leads to."""

    def itself(
        scan: Scan, reference: ColumnRef, path: object, known: object
    ) -> tuple[Relation, ColumnRef]:
        return scan, reference

    patch.setattr(table_rows, "_through", itself)


def sign_of_a_sum_by_its_given_total(patch: pytest.MonkeyPatch) -> None:
    """A total of 0 or more is taken to say that no value is below 0: sums of groups make up for each other."""

    def below(release: NoisyStatistic) -> bool:
        return release.total is not None and release.total.low < 0

    patch.setattr(NoisyStatistic, "is_signed", property(below))
