"""Series at random that the kernel lets through move no further than they pay for, by brute force over steps.

Rows come while steps are read, late and early ones as well. Each step is read once, and what one unit moves in
all steps together is compared with what the noise is for.
"""

from __future__ import annotations

from collections import Counter
from random import Random  # noqa: TID251  the same series for the same seed

import pytest

from proxy.kernel import continual_rules, sensitivities
from proxy.kernel.block_price import price_of_block
from proxy.kernel.refusals import NotPrivate
from tests.kernel.made_blocks import WORLD
from tests.kernel.made_relations import RelationMaker
from tests.kernel.made_series import (
    SeriesMaker,
    read_steps,
    stream_movements,
    without_a_unit,
)
from tests.kernel.test_weakened_kernel import _weak
from tests.kernel.tiny_database import tiny_database

_TRIED = 160


def _verified(seed: int, tried: int) -> Counter[str]:
    """How many movements were as large as paid for.

    Raises:
        AssertionError: One was larger.
    """
    database, found = tiny_database(), Counter[str]()
    database.fill("SELECT 1")
    maker = SeriesMaker(RelationMaker(Random(seed)))
    for _ in range(tried):
        block = maker.block()
        if block is None:
            continue
        try:
            price_of_block(block, WORLD)
        except NotPrivate:
            continue
        found["one by one" if block.is_stepwise else "at once"] += 1
        arrivals, number = (
            maker.arrivals(len(block.listed_groups)),
            maker.maker.random.randrange(10**6),
        )
        whole, *others = without_a_unit(block, arrivals)
        here = read_steps(database, block, whole, number)
        for other in others:
            there = read_steps(database, block, other, number)
            for one in stream_movements(block, here, there):
                assert one.observed <= one.paid, (one, block, here, there)
                found["met"] += one.observed == one.paid
    return found


@pytest.mark.every(17)
@pytest.mark.parametrize(("seed", "tried"), [(0, 64), *((seed, _TRIED) for seed in range(16))])
def test_no_unit_moves_a_series_further(seed: int, tried: int) -> None:
    found = _verified(seed, tried)
    assert found["one by one"] > tried / 16 and found["at once"] > tried / 16, found
    assert found["met"] > tried / 32, found  # less noise would not do


_WEAKENED = {
    "rows that no SQL bounds": _weak(
        sensitivities.rows_of_step, "if not unit.is_summed:", "if False:"
    ),
    "steps by a hash": _weak(
        continual_rules.check_series,
        "if isinstance(units, UnitNeighbours) and not units.is_in_order:",
        "if False:",
    ),
    "rows that go": _weak(
        continual_rules.check_series, "if not only_grows(block, policy):", "if False:"
    ),
    "fewer steps": _weak(
        sensitivities.steps_of,
        "return -(-shape.rows // rows_of_step(shape))",
        "return max(1, -(-shape.rows // rows_of_step(shape)) - 1)",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", _WEAKENED)
def test_without_a_condition_one_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _WEAKENED[name].put(monkeypatch)
    with pytest.raises(AssertionError):
        for seed in range(100, 110):
            _verified(seed, _TRIED)
