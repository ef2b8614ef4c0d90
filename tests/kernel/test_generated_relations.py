"""Every claim of the kernel about relations at random, by brute force on PostgreSQL.

Relations are of all nodes, wrong ones as well: most of those are refused. What is accepted is compiled, and
run on a tiny database and on all its neighbours with the same seeds.
"""

from __future__ import annotations

from collections import Counter
from random import Random  # noqa: TID251

import psycopg
import pytest

from proxy.kernel.attribution import relation_of
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.world import World
from tests.kernel.claims import Claims
from tests.kernel.made_relations import POLICY, RelationMaker, units_are_what_the_policy_says
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG

WORLD = World(POLICY, CATALOG)
_OF_ONE_DATABASE = 40


def test_deletions_are_of_the_units_of_the_policy() -> None:
    assert units_are_what_the_policy_says()


def _verified(seed: int, count: int) -> Counter[str]:
    """How many relations were accepted, by kind of owner.

    Raises:
        AssertionError: A claim does not hold.
    """
    database, maker, found = tiny_database(), RelationMaker(Random(seed)), Counter[str]()
    for number in range(count):
        if number % _OF_ONE_DATABASE == 0:
            rows = maker.rows()
            database.fill(rows)
        relation = maker.relation(maker.random.choice((1, 2, 2, 3, 3, 4)))
        try:
            known = relation_of(relation, WORLD)
        except NotPrivate as refused:
            found[f"refused: {refused.rule.value}"] += 1
            continue
        try:
            broken = Claims(database, relation, known).broken()
        except psycopg.Error as error:
            # A statement that the server does not understand shows nothing, to nobody.
            assert error.sqlstate is not None and error.sqlstate.startswith("42"), relation
            found[f"not SQL: {error.sqlstate}"] += 1
            continue
        assert not broken, f"{broken[:3]}\n{relation}\n{known.owner}\n{rows}"
        found[type(known.owner).__name__] += 1
    return found


@pytest.mark.every(49)
@pytest.mark.parametrize(("seed", "count"), [(0, 160), *((seed, 400) for seed in range(48))])
def test_claims_hold(seed: int, count: int) -> None:
    found = _verified(seed, count)
    assert found["OfUnit"] > count * 3 / 40 and found["Rows"] > count * 3 / 80, found
    assert found["Public"] > count * 3 / 400, found
