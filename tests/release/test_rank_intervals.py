"""Intervals of MIN, MAX and quantiles, through the release of a whole block: they hold the exact answer with
95 %, whatever the data; ranks that are 30 % too near are found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.accounting.events import Event
from proxy.base.slots import Slots
from proxy.engine.answer_notices import answer_notices
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.checked_plan import CheckedPlan
from proxy.kernel.plan import BlockPlan, OrderStatistic, PrivatePlan
from proxy.mechanisms import rank_interval
from proxy.release.noisy_interval import NoisyInterval
from proxy.release.noisy_relation import NoisyRow, NoisyTable
from tests.pipeline_world import POLICIES, walk
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import release_block

_DRAWS = 300
# More misses than that, of 5 % at most, come once in a million times.
_MISSES = 35
_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)"
_TAIL = "percentile_disc(0.95) WITHIN GROUP (ORDER BY i4)"


_BEST = POLICIES["best"]
_POLICY = replace(_BEST, privacy=replace(_BEST.privacy, epsilon=Fraction(1, 5)))


def _checked(columns: str) -> CheckedPlan:
    pipeline = walk(f"SELECT {columns} FROM people", _POLICY)
    assert pipeline is not None
    return pipeline.checked


def _plan(columns: str) -> PrivatePlan:
    return _checked(columns).private


def _order(block: BlockPlan, number: int = 0) -> OrderStatistic:
    release = block.releases[number]
    assert isinstance(release, OrderStatistic)
    return release


def _tables(block: BlockPlan, values: Sequence[int]) -> list[ExactTable]:
    counts = Counter(values)
    rows = tuple(ExactRow((), 0, (value, counts[value])) for value in sorted(counts))
    slots = (Slots(extreme=0, count=1),)
    return [ExactTable(rows, slots, (number,)) for number in range(len(block.releases))]


def _released(block: BlockPlan, tables: Sequence[ExactTable], bits: SeededBits) -> NoisyRow:
    (row,) = release_block(block, tables, bits).rows
    return row


def _data(low: int, high: int) -> dict[str, list[int]]:
    bits, width = SeededBits(4), high - low
    at_the_end = [low] * 999 + [high] * 1001  # the median has the rank of an end of a wide gap
    return {
        "ties": [low + width // 3] * 1500 + [low + width // 2] * 400 + [high] * 100,
        "few": [low + 1, low + 2, low + 9],
        "skewed": [
            low + min(width, round(math.exp(bits.below(10**6) / 10**5))) for _ in range(2500)
        ],
        "gap": at_the_end,
        "uniform": [low + bits.below(width + 1) for _ in range(1500)],
    }


_EXACT: dict[str, tuple[str, Callable[[list[int]], tuple[int, int]]]] = {
    "min": ("min(i4)", lambda v: (v[0], v[0])),
    "max": ("max(i4)", lambda v: (v[-1], v[-1])),
    "median": (_MEDIAN, lambda v: (v[(len(v) - 1) // 2], v[len(v) // 2])),
    "tail": (_TAIL, lambda v: (v[math.ceil(0.95 * len(v)) - 1],) * 2),
}


def _misses(block: BlockPlan, values: list[int], least: int, most: int) -> int:
    """How often the interval does not hold the values between which the exact answer is."""
    bits, missed, tables = SeededBits(7), 0, _tables(block, values)
    for _ in range(_DRAWS):
        value = _released(block, tables, bits).values[0]
        if value.is_missing:  # of few rows
            assert len(values) < 10
            continue
        assert value.ends is not None and value.half_width is not None
        assert value.ends.low <= value.index <= value.ends.high
        assert value.half_width == max(value.ends.high - value.index, value.index - value.ends.low)
        missed += not value.ends.low <= least <= most <= value.ends.high
    return missed


@pytest.mark.every(4)
@pytest.mark.parametrize("name", _EXACT)
def test_the_exact_answer_is_in_the_interval(name: str) -> None:
    aggregate, exact = _EXACT[name]
    (block,) = _plan(f"dp.error({aggregate})").blocks
    measured = _order(block).measured
    assert measured.grid == 1
    for data, values in _data(measured.low, measured.high).items():
        assert _misses(block, values, *exact(sorted(values))) <= _MISSES, data


def test_ranks_30_percent_too_near_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = _plan(f"dp.error({_MEDIAN})").blocks
    measured, outside = _order(block).measured, rank_interval.ranks_outside

    def near(*arguments: Any) -> int:
        return math.ceil(0.7 * outside(*arguments))

    monkeypatch.setattr(rank_interval, "ranks_outside", near)
    values = _data(measured.low, measured.high)["gap"]
    assert _misses(block, values, measured.high, measured.high) > _MISSES


def test_few_rows_have_the_bounds_and_a_notice() -> None:
    (block,) = _plan(f"dp.error({_MEDIAN})").blocks
    measured = _order(block).measured
    few = _tables(block, [measured.low + 1, measured.low + 2])
    rows = (_released(block, few, SeededBits(seed)) for seed in range(400))
    row = next(
        one for one in rows if not one.values[0].is_missing
    )  # one of 40, by their noisy number
    ends = row.values[0].ends
    assert ends is not None and (ends.low, ends.high) == (measured.low, measured.high)
    (notice,) = answer_notices(block, NoisyTable((row,)))
    assert "all of its bounds" in notice and "too few rows" in notice
    ties = _tables(block, _data(measured.low, measured.high)["ties"])
    many = _released(block, ties, SeededBits(1))
    assert list(answer_notices(block, NoisyTable((many,)))) == []


def test_what_is_made_of_several_holds_too() -> None:
    """Each of two answers is taken at 97.5 %."""
    (block,) = _plan("dp.error(max(i4) - min(i4)), dp.low(max(i4))").blocks
    levels = [_order(block, n).interval for n in range(2)]
    assert [found and found.level for found in levels] == [1 - Fraction(5, 200)] * 2
    measured = _order(block).measured
    values = _data(measured.low, measured.high)["uniform"]
    bits, missed, tables = SeededBits(2), 0, _tables(block, values)
    for _ in range(_DRAWS):
        row = _released(block, tables, bits)
        if any(
            value.is_missing for value in row.values
        ):  # by the noise of its size, once in a thousand
            continue
        (found,) = row.intervals
        assert isinstance(found, NoisyInterval)
        missed += not found.low <= max(values) - min(values) <= found.high
    assert missed <= _MISSES


def test_an_answer_pays_for_its_size_and_interval_and_all_is_charged() -> None:
    def events(columns: str) -> list[Event]:
        return list(_checked(columns).price.events)

    epsilon = _POLICY.privacy.epsilon
    for columns, shares in (
        ("dp.error(min(i4))", (64, 30, 6)),
        ("dp.high(max(i4)), max(i4)", (64, 30, 6)),
        (f"dp.low({_MEDIAN}), dp.high({_MEDIAN})", (44, 25, 25, 6)),
        ("dp.clipped(min(i4))", (94, 6)),
    ):
        found = [Fraction(str(event["epsilon"])) for event in events(columns)]
        assert found == [epsilon * share / 100 for share in shares], columns
        assert {event["kind"] for event in events(columns)} == {"pure"}
        assert _plan(columns).loss.epsilon == epsilon
    for columns in ("min(i4), max(i4)", f"dp.error(min(i4)), {_MEDIAN}"):
        assert _plan(columns).loss.epsilon == epsilon
