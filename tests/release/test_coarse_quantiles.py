"""Quantiles below one step of their grid: no error in ranks is stated of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.engine.accuracy import ErrorKind
from proxy.engine.answer_accuracy import accuracies
from proxy.kernel.plan import BlockPlan, OrderStatistic, PrivatePlan
from proxy.release.noisy_relation import NoisyRow, NoisyTable, NoisyValue
from proxy.release.presenting import with_coarse
from tests.pipeline_world import POLICIES, walk

_MEDIAN = "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {}) FROM people"


def _plan(operand: str) -> PrivatePlan:
    found = walk(_MEDIAN.format(operand), POLICIES["best"])
    assert found is not None
    return found.plan


def _table(block: BlockPlan, index: int, is_missing: bool = False) -> NoisyTable:
    (release,) = block.releases
    assert isinstance(release, OrderStatistic)
    grid = release.measured.grid
    value = NoisyValue(index, grid, SqlType.FLOAT8, None, is_missing=is_missing)
    return NoisyTable((NoisyRow(keys=(), values=(value,), intervals=(), errors=()),))


def _error(plan: PrivatePlan, block: BlockPlan) -> tuple[ErrorKind | None, str]:
    (entry,) = accuracies(replace(plan, blocks=(block,)))
    return None if entry.error is None else entry.error.kind, entry.described.no_interval


def test_an_answer_below_a_step_has_no_error_in_ranks() -> None:
    plan = _plan("i4 * 123456")
    (block,) = plan.blocks
    coarse = with_coarse(block, _table(block, 0))
    kind, reason = _error(plan, coarse)
    assert coarse.coarse == {0} and kind is None and "it is rounded to steps of" in reason


def test_an_answer_of_some_steps_has_one() -> None:
    plan = _plan("i4 * 123456")
    (block,) = plan.blocks
    for table in (_table(block, 1), _table(block, -2), _table(block, 0, is_missing=True)):
        assert with_coarse(block, table) is block
    assert _error(plan, block)[0] is ErrorKind.IN_RANK


def test_a_column_that_holds_nothing_between_its_steps_has_one() -> None:
    plan = _plan("i4")
    (block,) = plan.blocks
    (release,) = block.releases
    assert isinstance(release, OrderStatistic) and release.measured.grid == Fraction(1)
    assert with_coarse(block, _table(block, 0)) is block
