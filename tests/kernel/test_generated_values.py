"""Blocks over columns of every type that the kernel lets through move no further than they pay for, by brute
force, and raise on no row, whatever is stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random  # noqa: TID251  the same blocks for the same seed

import pytest

from proxy.audit.movement import movements
from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.world import World
from proxy.release.choosing_bounds import totals_of
from tests.kernel.holes import block_of
from tests.kernel.made_blocks import WORLD
from tests.kernel.made_values import OF_VALUES, ValueMaker
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES
from tests.unchecked_blocks import compile_choices


def _is_private(block: BlockPlan) -> bool:
    try:
        price_of_block(block, WORLD)
    except NotPrivate:
        return False
    return True


def _verified(seed: int, count: int, *, is_of_sums: bool) -> Counter[str]:
    """How many movements were as large as planned.

    Raises:
        AssertionError: One was larger.
        psycopg.Error: A row raised.
    """
    database, found = tiny_database(), Counter[str]()
    maker = ValueMaker(Random(seed))
    for number in range(count):
        if number % 20 == 0:
            database.fill(maker.rows())
        block = maker.block_of_sums() if is_of_sums else maker.block()
        if block is None or not _is_private(block):
            continue
        found["blocks"] += 1
        here = database.tables(block)
        for deletion in OF_VALUES:
            with database.without(deletion.sql):
                there = database.tables(block)
            for one in movements(block, here, there):
                assert one.observed <= one.planned, (deletion, one, block)
                found["met"] += one.observed == one.planned != 0
    return found


@pytest.mark.every(17)
@pytest.mark.parametrize(("seed", "count"), [(0, 20), *((seed, 30) for seed in range(16))])
def test_none_moves_further(seed: int, count: int) -> None:
    found = _verified(seed, count, is_of_sums=False)
    assert found["blocks"] > count / 6, found
    assert found["met"], found  # less noise would not do


@pytest.mark.every(17)
@pytest.mark.parametrize(("seed", "count"), [(0, 20), *((seed, 30) for seed in range(16))])
def test_no_sum_moves_further(seed: int, count: int) -> None:
    """Whatever a plan says of its operands."""
    found = _verified(seed, count, is_of_sums=True)
    assert found["blocks"] > count / 6, found
    assert found["met"], found


def test_choices_beside_counts_alone_are_read() -> None:
    """Bands of them have no sums. Reading these raised, but only where there was a unit."""
    block = block_of("SELECT covar_pop(i4, i2) FROM visits", "chosen")
    counts = tuple(one for one in block.releases if one == block.releases[0])
    block = replace(block, releases=counts)
    assert block.sums_of_totals == (0,)
    price_of_block(block, World(POLICIES["chosen"], CATALOG))
    chosen = compile_choices(block)
    assert chosen is not None
    database = tiny_database()
    database.fill("INSERT INTO visits(id, uid, i4, i2) VALUES (1, 1, 5, 1), (2, 1, 5, 1)")
    found = totals_of(block, database.table(chosen))
    assert found.means[0].limited(0, 1) == (1, 0)
