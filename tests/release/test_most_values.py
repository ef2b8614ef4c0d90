"""COUNT(DISTINCT) is cut to the number of values that there can be, where that is public."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest

from proxy.base.result_columns import IntervalEnd
from proxy.kernel.plan import BlockPlan
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.noisy_relation import NoisyTable
from proxy.release.presenting import presented
from tests.release.released_world import block_of

_FAR = 10_000  # noise takes a count so far
# What is counted, and how many values it can have. None: nobody knows but the data.
_MOST = {
    "b": 2,
    "NOT b": 2,
    "t": 3,  # NULL is no value
    "upper(t)": 3,
    "e": 2,
    "i4": 101,
    "i4 % 10": 10,
    "i4 / 50": 3,
    "i2": 2,  # listed, narrower than its bounds
    "CASE WHEN i4 > 50 THEN 'old' WHEN i4 > 20 THEN 'middle' ELSE 'young' END": 3,
    "extract(month FROM d)": 12,
    "coalesce(t, 'none')": 4,
    "i8": 6001,  # its grid says nothing of what is counted
    "f8": None,
    "n": None,
    "i4 + i2": None,
}
_CONDITIONS = {
    "t IN ('x', 'y')": ("t", 2),
    "i4 BETWEEN 20 AND 29": ("i4 / 10", 1),
    "t <> 'x'": ("upper(t)", 2),
}


def _block(operand: str, rest: str = "", where: str = "") -> BlockPlan:
    counted = f"count(DISTINCT {operand}){rest}"
    return block_of(
        f"SELECT {counted} AS n, dp.low({counted}) AS l, dp.high({counted}) AS h, dp.error({counted}) AS e"
        f" FROM people {where}"
    )


def _shown(block: BlockPlan, index: int) -> tuple[NoisyTable, int, dict[IntervalEnd, float]]:
    table = presented(block, DrawnBlock((DrawnGroup((), (DrawnNumber(index),)),)))
    (row,) = json.loads(table.json(block.intervals, with_errors=True))
    ends = {one.end: row[one.name] for one in block.intervals}
    return table, table.rows[0].values[0].index, ends


@pytest.mark.parametrize("operand", _MOST)
def test_no_number_and_no_end_is_above_what_there_can_be(operand: str) -> None:
    most, block = _MOST[operand], _block(operand)
    assert dict(block.most_values) == ({} if most is None else {1: most})
    for index in (-_FAR, -1, 0, 1, most or 1, (most or 1) + 1, _FAR):
        table, value, ends = _shown(block, index)
        low, high, error = (
            ends[end] for end in (IntervalEnd.LOW, IntervalEnd.HIGH, IntervalEnd.ERROR)
        )
        assert low <= value <= high and error >= 0
        if most is None:
            assert value == index
        else:
            assert value == min(index, most) and low <= most and high <= max(most, 0)
            assert error <= max(most - value, value)
            assert table.rows[0].values[0].is_capped == (index > most)


@pytest.mark.parametrize("condition", _CONDITIONS)
def test_conditions_leave_fewer_values(condition: str) -> None:
    operand, most = _CONDITIONS[condition]
    for rest, where in ((f" FILTER (WHERE {condition})", ""), ("", f"WHERE {condition}")):
        block = _block(operand, rest, where)
        assert dict(block.most_values) == {1: most}
        assert _shown(block, _FAR)[1] == most


def test_intervals_hold_what_is_true_as_often_as_before() -> None:
    """Whatever the noise is: what is cut holds each possible truth that the whole interval holds."""
    block = _block("i4 % 10")
    half_width = int(_shown(_block("n"), _FAR)[2][IntervalEnd.ERROR])
    for truth, noise in product(range(11), range(-3 * half_width, 3 * half_width + 1)):
        _, _, ends = _shown(block, truth + noise)
        held = ends[IntervalEnd.LOW] <= truth <= ends[IntervalEnd.HIGH]
        assert held or abs(noise) > half_width


def test_a_rounded_number_is_cut_after_it_is_rounded() -> None:
    block = replace(
        block_of("SELECT count(DISTINCT i4) FROM people", epsilon="0.01"), is_rounded=True
    )
    shown = {_shown(block, index)[1] for index in range(80, 130)}
    assert {80, 101} <= shown and max(shown) == 101 and len(shown) < 22


def test_the_counted_unit_is_no_public_value() -> None:
    assert block_of("SELECT count(DISTINCT uid) FROM orders").most_values == ()
