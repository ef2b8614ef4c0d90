"""No group of fewer units than the policy shows is counted as one of enough, in blocks at random.

The tables have fewer units of one kind than are asked for, with any number of rows each. So no group of a block
that the kernel lets through may have as many as the block shows.
"""

from __future__ import annotations

from collections import Counter
from random import Random  # noqa: TID251  the same blocks for the same seed

import pytest

from proxy.kernel.block_price import price_of_block
from proxy.kernel.refusals import NotPrivate
from tests.kernel.made_blocks import BlockMaker
from tests.kernel.made_relations import RelationMaker
from tests.kernel.made_smallest_groups import blocks_of, kinds_of, most_counted, world_of
from tests.kernel.made_values import ValueMaker
from tests.kernel.tiny_database import tiny_database


def _verified(seed: int, count: int) -> Counter[str]:
    """Raises AssertionError where a group of too few units would be shown."""
    random, database, found = Random(seed), tiny_database(), Counter[str]()
    for number in range(count):
        units = random.choice((2, 2, 3))
        world = world_of(units)
        makers = ValueMaker(random, world), BlockMaker(RelationMaker(random), world)
        if number % 20 == 0:
            database.fill(random.choice((makers[0], makers[1].maker)).rows())
        for block in blocks_of(random.choice(makers), units):
            try:
                price_of_block(block, world)
            except NotPrivate:
                found["refused"] += 1
                continue
            for few in kinds_of(block, units):
                with database.without(few.sql):
                    counted, least = most_counted(block, database.tables(block))
                assert counted < least, (few, counted, block)
                found["let through"] += 1
                found["met exactly"] += counted == least - 1
    return found


@pytest.mark.every(9)
@pytest.mark.parametrize(("seed", "count"), [(0, 64), *((seed, 160) for seed in range(8))])
def test_no_group_of_too_few_units_is_shown(seed: int, count: int) -> None:
    found = _verified(seed, count)
    assert (
        found["let through"] > count / 8 and found["refused"] > count / 8 and found["met exactly"]
    ), found
