"""Of too few units a smoothed median is NULL, by a noisy number of them; never the middle of the bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.slots import Slots
from proxy.engine.answer_notices import answer_notices
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan, Gate, LaplaceNoise, SampleAggregate
from proxy.release import adding_noise
from tests.pipeline_world import walk
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import release_block

_DRAWS = 4_000


def _block(sql: str) -> tuple[BlockPlan, SampleAggregate]:
    pipeline = walk(sql)
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    (release,) = block.releases
    assert isinstance(release, SampleAggregate)
    return block, release


def _table(block: BlockPlan, groups: dict[tuple[str | None, ...], int]) -> ExactTable:
    """Units that have one value, 7, each, spread over all partitions."""
    rows = []
    for keys, units in groups.items():
        for cell in range(block.sub_partitions):
            here = units // block.sub_partitions + (cell < units % block.sub_partitions)
            if here:
                rows.append(ExactRow(keys, cell, (here, 7 * here)))
    return ExactTable(tuple(rows), (Slots(count=0, total=1, units=0),), (0,))


def _opened(gate: Gate, units: int) -> float:
    bits = SeededBits(3)
    return sum(adding_noise._opens(gate, units, bits) for _ in range(_DRAWS)) / _DRAWS


def _law(gate: Gate, units: int) -> float:
    """P(units + DLap >= least), of the definition."""
    p = math.exp(-1 / float(gate.noise.scale))
    short = gate.least - units
    tail = p ** abs(short) / (1 + p)
    return tail if short > 0 else 1 - tail * p


@pytest.mark.parametrize("off", [-1.0, -0.3, 0.0, 0.3, 1.0])
def test_the_law_at_the_threshold(off: float) -> None:
    """4,000 draws: off by more than 0.035 comes once in 100,000 times."""
    _, release = _block("SELECT avg(i4) FROM people")
    gate = replace(release.gate, noise=LaplaceNoise(scale=Fraction(20)))
    units = gate.least + round(off * 20)
    assert abs(_opened(gate, units) - _law(gate, units)) < 0.035
    wrong = replace(gate, noise=LaplaceNoise(scale=Fraction(13)))
    if abs(off) == 1.0:
        assert abs(_opened(wrong, units) - _law(gate, units)) > 0.035


@pytest.mark.parametrize("sql", ["SELECT avg(i4) FROM people", "SELECT max(i4) FROM people"])
def test_nothing_is_null_and_not_the_middle(sql: str) -> None:
    block, release = _block(sql)
    assert release.gate.least > 8 * release.partitions
    nothing = ExactTable((), (Slots(count=0, total=1, extreme=1, units=0),), (0,))
    (row,) = release_block(block, [nothing], SeededBits(1)).rows
    (value,) = row.values
    assert (value.text(), value.json()) == (None, "null")


def test_groups_stand_by_themselves() -> None:
    block, release = _block("SELECT t, avg(i4) FROM people GROUP BY t")
    (key,) = block.keys
    assert key.values is not None
    large, small, *_ = key.values
    groups: dict[tuple[str | None, ...], int] = {
        (large,): 40 * release.gate.least,
        (small,): release.gate.least // 4,
    }
    noisy = release_block(block, [_table(block, groups)], SeededBits(2))
    texts = {row.keys[0]: row.values[0].text() for row in noisy.rows}
    assert texts[large] is not None
    assert [text for name, text in texts.items() if name != large] == [None] * (len(texts) - 1)
    (told,) = answer_notices(block, noisy)
    assert f"avg is NULL in {len(texts) - 1} of {len(texts)} groups" in told
    assert "mechanism: best" in told
