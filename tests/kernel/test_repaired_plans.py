"""Plans that are changed and have as little noise as is accepted: no result moves further than is paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random  # noqa: TID251  the same plans for the same seed

import pytest

from proxy.audit.movement import Movement
from proxy.base.errors import Refusal
from proxy.kernel.block_price import check_answers, check_rows, check_units, price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.sensitivities import of_distinct, of_sum
from proxy.kernel.well_formed import check_well_formed
from proxy.kernel.world import World
from tests.kernel.moved_results import random_rows, results_moved, stated_plans
from tests.kernel.repaired_plans import Repairer
from tests.kernel.test_weakened_kernel import Weakened
from tests.kernel.tiny_database import tiny_database

_TRIED = 50


def _repaired(random: Random, world: World, block: BlockPlan) -> BlockPlan | None:
    """None: no such plan can be made."""
    repairer = Repairer(random=random, world=world)
    try:
        for _ in range(random.choice((1, 1, 2, 3))):
            block = repairer.changed(block)
        return repairer.repaired(block)
    except (NotPrivate, ValueError, ArithmeticError):
        return None


def _compared(random: Random, found: Counter[str]) -> Iterator[tuple[Movement, BlockPlan]]:
    plans = stated_plans()
    tiny_database().fill(random_rows(random))
    for _ in range(_TRIED):
        world, before = random.choice(plans)
        block = _repaired(random, world, before)
        if block is None:
            continue
        try:
            check_answers(block, check_well_formed(block, BlockPlan))
            price_of_block(block, world)
        except (NotPrivate, Refusal):
            found["refused"] += 1
            continue
        found["let through"] += 1
        for one in results_moved(block, world):
            found["met exactly"] += one.observed == one.planned != 0
            yield one, block


@pytest.mark.every(64)
@pytest.mark.parametrize("seed", range(64))
def test_what_has_the_least_noise_moves_no_further(seed: int) -> None:
    found = Counter[str]()
    for one, block in _compared(Random(seed), found):
        assert one.observed <= one.planned, (one, block)
    assert min(found[one] for one in ("let through", "refused", "met exactly")) > 5, found


_WEAKENED = {
    "squares_of_one_row": Weakened(
        function=of_sum, was="shape.squared * each**2", now="Fraction(each**2)"
    ),
    "one_row_of_a_unit": Weakened(function=of_sum, was="shape.rows * each", now="each"),
    "one_distinct_value": Weakened(
        function=of_distinct, was="_in_one_group(shape.neighbours.rows)", now="_in_one_group(1)"
    ),
    "unit_taken_for_one_row": Weakened(
        function=check_rows,
        was="not owner.alone and not one_number(block.where, owner.numbered)",
        now="False",
    ),
    "gathered_by_another_column": Weakened(
        function=check_units, was="or name(units.column) not in owner.columns", now=""
    ),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("name", _WEAKENED)
def test_a_weaker_kernel_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _WEAKENED[name].put(monkeypatch)
    for seed in range(16):
        for one, _ in _compared(Random(seed), Counter()):
            if one.observed > one.planned:
                return
    raise AssertionError("no result moves further all the same")
