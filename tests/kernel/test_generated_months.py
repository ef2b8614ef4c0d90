"""Blocks at random of people in blocks of time: who is in a block of time that is charged moves them no further
than it pays, and who is in another one changes nothing at all, by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random  # noqa: TID251  the same blocks for the same seed

import pytest

from proxy.audit.movement import movements
from proxy.base.sql_types import SqlType
from proxy.exact.table import ExactTable
from proxy.kernel import fixed_columns, units_in_time
from proxy.kernel.block_price import price_of_block
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.units_in_time import budget_lines
from proxy.policy.policy_model import BlockLength
from proxy.query.ir.expressions import Cast, Expression
from tests.kernel.examples import TIMED
from tests.kernel.made_months import MonthMaker, units
from tests.kernel.tiny_database import tiny_database
from tests.unchecked_blocks import compiled

_TRIED = 60


def _lines(block: BlockPlan | None) -> tuple[str, ...] | None:
    """The budgets that pay for a block. None: it is refused."""
    if block is None:
        return None
    try:
        price_of_block(block, TIMED)
        return budget_lines(block.source, TIMED)
    except NotPrivate:
        return None


def _rows(tables: Sequence[ExactTable]) -> list[list[str]]:
    return [sorted(map(repr, one.rows)) for one in tables]


def _verified(seed: int, tried: int) -> Counter[str]:
    """How many movements were as large as planned.

    Raises:
        AssertionError: One was larger, or of a unit that pays nothing.
    """
    database, found = tiny_database(), Counter[str]()
    maker = MonthMaker(Random(seed))
    for number in range(tried):
        if number % 20 == 0:
            database.fill(maker.rows())
        block = maker.block()
        lines = _lines(block)
        if block is None or lines is None:
            continue
        found["blocks"] += 1
        found["within one group"] += block.reach == 1
        queries, neighbours = compiled(block), block.neighbours
        # Partitions at random are others in each run.
        is_random = isinstance(neighbours, RowNeighbours) and block.sub_partitions > 0
        here = [database.table(one) for one in queries]
        for unit in units():
            with database.without(unit.sql):
                there = [database.table(one) for one in queries]
            if unit.line not in lines:
                assert is_random or _rows(here) == _rows(there), (unit, block)
                found["pays nothing"] += 1
                continue
            for one in movements(block, here, there):
                assert one.observed <= one.planned, (unit, one, block)
                found["met"] += one.observed == one.planned != 0
    return found


@pytest.mark.every(16)
@pytest.mark.parametrize("seed", range(16))
def test_no_person_in_a_month_moves_further(seed: int) -> None:
    found = _verified(seed, _TRIED)
    assert found["blocks"] > 10 and found["pays nothing"] > 20, found
    assert found["within one group"] and found["met"] > 5, found


@pytest.mark.long
def test_weeks_are_in_several_months(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a unit taken to be in one week of its month, it would move more groups than are paid."""
    found = {**fixed_columns._WHOLE, BlockLength.MONTH: ("month", "week", "day", "year")}
    monkeypatch.setattr(fixed_columns, "_WHOLE", found)
    with pytest.raises(AssertionError):
        for seed in range(100, 110):
            _verified(seed, _TRIED)


@pytest.mark.long
def test_rows_of_other_months_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were only the first block charged of those that are read, the others would change what is drawn."""
    read_by = units_in_time.InTime.read_by

    def first(self: units_in_time.InTime, where: Expression | None) -> range:
        return read_by(self, where)[:1]

    monkeypatch.setattr(units_in_time.InTime, "read_by", first)
    with pytest.raises(AssertionError):
        for seed in range(100, 110):
            _verified(seed, _TRIED)


@pytest.mark.long
def test_the_person_alone_is_no_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the output that has the person alone taken for the unit, rows of several months would be one's."""
    monkeypatch.setattr(
        units_in_time.InTime,
        "name",
        property(lambda self: Cast(self.person, SqlType.TEXT)),
    )
    monkeypatch.setattr(MonthMaker, "_blocks", lambda self, known: known.every)
    with pytest.raises(AssertionError):
        for seed in range(100, 110):
            _verified(seed, _TRIED)
