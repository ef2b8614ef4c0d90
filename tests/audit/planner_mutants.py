"""Mutants of the planner: sensitivities, split, and whose rows a relation holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.kernel import sensitivities, statistics
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours
from proxy.kernel.plan import Gate, NoisyStatistic, OrderStatistic
from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms import clipped_mean, discrete_laplace, split
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
)
from proxy.planner.facts import (
    PlanningContext,
    ProtectedRows,
    RelationWithUnit,
    RowOwnership,
    UnitRows,
)
from proxy.planner.foreign_key_joins import AlongForeignKey, along_a_foreign_key
from proxy.planner.measuring import MeasureContext
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import Join, Relation, Scan, UnionAll


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

    def left_only(a: UnitRows, b: UnitRows) -> UnitRows:
        return a

    patch.setattr(joins, "_both", left_only)


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
    real = along_a_foreign_key

    def believed(
        joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
    ) -> AlongForeignKey | None:
        found = real(joined, left, right, known)
        return None if found is None else replace(found, units=joined.equal[0])

    patch.setattr(joins, "along_a_foreign_key", believed)


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
