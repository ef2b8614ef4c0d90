"""Blocks at random that the kernel lets through move no further than they pay for, by brute force."""

from __future__ import annotations

from collections import Counter
from random import Random  # noqa: TID251  the same blocks for the same seed

import pytest

from proxy.audit.movement import Movement, movements
from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from tests.kernel.made_blocks import WORLD, BlockMaker, with_chosen_bounds, with_chosen_rows
from tests.kernel.made_relations import DELETIONS, RelationMaker
from tests.kernel.tiny_database import tiny_database


def _checked(block: BlockPlan | None, is_bounded: bool) -> BlockPlan | None:
    if block is None:
        return None
    try:
        price_of_block(block, WORLD, is_bounded=is_bounded)
    except NotPrivate:
        return None
    return block


def _kind(block: BlockPlan, one: Movement) -> str:
    return "" if one.release is None else type(block.releases[one.release]).__name__


def _verified(seed: int, count: int) -> Counter[str]:
    """How many movements were as large as planned, by what was measured.

    Raises:
        AssertionError: One was larger.
    """
    database, found = tiny_database(), Counter[str]()
    maker = BlockMaker(RelationMaker(Random(seed)))
    for number in range(count):
        if number % 20 == 0:
            database.fill(maker.maker.rows())
        made = maker.block()
        bounded = (
            None if made is None else with_chosen_bounds(made, maker.maker.random.choice((1, 2, 4)))
        )
        of_rows = None if made is None else with_chosen_rows(made)
        for block in (_checked(made, False), _checked(bounded, True), _checked(of_rows, True)):
            if block is None:
                continue
            found["blocks"] += 1
            here = database.tables(block)
            for deletion in DELETIONS:
                with database.without(deletion.sql):
                    there = database.tables(block)
                for one in movements(block, here, there):
                    assert one.observed <= one.planned, (deletion, one, block)
                    found[one.measure.name] += one.observed == one.planned != 0
                    found[_kind(block, one)] += one.observed == one.planned != 0
    return found


@pytest.mark.every(33)
@pytest.mark.parametrize(("seed", "count"), [(0, 40), *((seed, 100) for seed in range(32))])
def test_none_moves_further(seed: int, count: int) -> None:
    found = _verified(seed, count)
    assert found["blocks"] > count / 5, found
    # Bounds are met exactly, so less noise would not do.
    assert found["ROWS"] + found["STEPS"] + found["SQUARED"] > count / 50, found


@pytest.mark.long
def test_extremes_of_units_are_met_exactly() -> None:
    found = _verified(100, 120)
    assert found["UnitExtreme"] and found["KeptUnits"], found
