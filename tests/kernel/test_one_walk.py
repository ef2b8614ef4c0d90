"""A plan whose values cannot be longer than usual is priced in one walk: a second one would see the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.kernel import work
from proxy.kernel.plan import BlockPlan
from proxy.kernel.work import UnitWork, block_work
from proxy.kernel.world import World
from tests.kernel.test_golden_plans import golden_blocks
from tests.pipeline_world import CATALOG, POLICIES, walk

_WORLD = World(POLICIES["world"], CATALOG)
_STATEMENTS = (
    ("SELECT count(*) FROM visits", True),
    ("SELECT count(*) FROM visits WHERE i4 > 5", True),
    ("SELECT count(*) FROM visits WHERE t = 'a'", False),
    ("SELECT count(*) FROM visits WHERE i4::text = '5'", True),
    ("SELECT count(*) FROM (SELECT i4::text AS x FROM visits) q WHERE x > '5'", True),
)


class _Walks:
    """How many walks each price took, of which the second is made whether it is needed or not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.walked: list[UnitWork] = []
        self._of = work._walked
        monkeypatch.setattr(work, "_walked", self._keep)

    def _keep(self, plan: BlockPlan, walk: work._Pricer) -> UnitWork:
        if walk.longest is None:
            self.walked = []
        found = self._of(plan, walk)
        self.walked.append(found)
        if walk.longest is None and not walk.has_longer:
            again = work._Pricer(walk.world, walk.mentioned, walk.levels)
            self.of_second = self._of(plan, again)
        return found


@pytest.mark.parametrize(("text", "is_one"), _STATEMENTS)
def test_how_many_walks(text: str, is_one: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = walk(text)
    assert found is not None
    walks = _Walks(monkeypatch)
    block_work(found.plan.blocks[0], _WORLD)
    assert (len(walks.walked) == 1) is is_one


@pytest.mark.long
def test_a_second_walk_sees_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    walks, compared = _Walks(monkeypatch), 0
    for statement, world, block in golden_blocks():
        found = block_work(block, world)
        if len(walks.walked) == 1:
            single = found.single_nanoseconds
            assert replace(walks.of_second, single_nanoseconds=single) == found, statement
            compared += 1
    assert compared > 100
