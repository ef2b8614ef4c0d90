"""Mutants of release (partitions, groups) and engine (the charge)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from proxy.base.slots import Slots
from proxy.engine.charged_queries import ChargedQueries, Paid, PlannedQuery, answer_of
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan, SampleAggregate
from proxy.mechanisms.bits import RandomBits
from proxy.release import adding_noise
from proxy.release.noisy_relation import NoisyTable
from tests import unchecked_blocks
from tests.charged_plans import charged
from tests.engine import test_order

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
        async with self._drawer.session(query.analyst) as session:
            plan, lifts = query.prepared.drawn, query.prepared.lifts
            paid = Paid(remaining=None, loss=query.loss, charge=charged(plan))
            relation = await self._drawn(query, paid, lifts, session, {}, {})
        charge = await self._ledger.reserve(query.analyst, plan, "", "")
        assert charge.receipt is not None
        await self._ledger.settle(charge.receipt, True)
        return answer_of(relation, query, replace(paid, charge=charge))

    patch.setattr(ChargedQueries, "run", late)


def charge_not_settled_on_failure(patch: pytest.MonkeyPatch) -> None:
    async def never(self: object, receipt: str, answered: bool) -> None:
        return None

    patch.setattr(test_order.Recorder, "settle", never)
