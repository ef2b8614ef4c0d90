"""Each hole (holes.py) is refused by its rule, and a tiny database still shows why: else the case is stale."""

from __future__ import annotations

import psycopg
import pytest

from proxy.audit.movement import Movement
from proxy.base import limits
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.world import World
from proxy.release.drawn_values import ordered_groups
from tests.kernel.all_holes import HOLES
from tests.kernel.holes import Hole, Shown, judge
from tests.kernel.read_beside_means import moved_beside_means
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES
from tests.unchecked_blocks import compile_choices, compiled

_SEED = 4_242_424_242_424_242


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)
def test_its_rule_refuses_it(hole: Hole) -> None:
    with pytest.raises(NotPrivate) as refused:
        judge(hole.make(), World(POLICIES[hole.policy], CATALOG))
    assert refused.value.rule is hole.rule, refused.value.where


def _moved(hole: Hole, block: BlockPlan, number: int) -> list[Movement]:
    return tiny_database().moved(block, hole.deletion.format(number), _SEED + number)


def _moves(hole: Hole, block: BlockPlan) -> bool:
    return any(
        one.observed > one.planned
        for number in range(1, hole.tries + 1)
        for one in _moved(hole, block, number)
    )


def _moves_beside_means(hole: Hole, block: BlockPlan) -> bool:
    found = moved_beside_means(block, tiny_database(), hole.deletion)
    return any(one.observed > one.planned for one in found)


def _has_long_keys(hole: Hole, block: BlockPlan) -> bool:
    (table,) = tiny_database().tables(block)
    texts = (text for row in table.rows for text in row.keys if text is not None)
    return any(len(text) > limits.KEY_CHARACTERS for text in texts)


def _raises(hole: Hole, block: BlockPlan) -> bool:
    """The row raises, and its neighbour does not."""
    database = tiny_database()
    with database.without(hole.deletion):
        there = database.tables(block)
    assert there
    try:
        _moved(hole, block, 1)
    except (psycopg.Error, TypeError):
        return True
    return False


def _answers_twice(hole: Hole, block: BlockPlan) -> bool:
    """All answers together move further than one of them."""
    groups = list(ordered_groups(block, ()))
    (one,) = (one for one in _moved(hole, block, 1) if one.observed)
    times = sum(group == groups[0] for group in groups)
    return times * one.observed > one.planned


def _is_of_an_answer(hole: Hole, block: BlockPlan) -> bool:
    chosen = compile_choices(block)
    queries = (*compiled(block), *(() if chosen is None else (chosen,)))
    return not block.uses_answers and any(query.scalars for query in queries)


_WAYS = {
    Shown.MOVEMENT: _moves,
    Shown.BESIDE_MEANS: _moves_beside_means,
    Shown.LONG_KEY: _has_long_keys,
    Shown.ERROR: _raises,
    Shown.TWO_ANSWERS: _answers_twice,
    Shown.AN_ANSWER: _is_of_an_answer,
}


@pytest.mark.every(2)
@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)
def test_it_is_a_hole(hole: Hole) -> None:
    tiny_database().fill(hole.rows)
    assert _WAYS[hole.shown](hole, hole.shown_by()), hole.shown.value


def test_holes_are_as_many_as_were_found() -> None:
    assert len(HOLES) >= 26
    assert len({hole.name for hole in HOLES}) == len(HOLES)
