"""Every claim of the kernel about relations at random, over tables with keys and units at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random  # noqa: TID251

import psycopg
import pytest

from proxy.kernel.attribution import relation_of
from proxy.kernel.owners import Known, OfUnit
from proxy.kernel.prepared_copies import check_copies
from proxy.kernel.refusals import NotPrivate
from proxy.query.ir.relations import Relation
from tests.kernel import claims, made_relations
from tests.kernel.claims import Claims
from tests.kernel.made_worlds import MadeWorld, WorldMaker, made_world
from tests.kernel.tiny_database import TinyDatabase

_RELATIONS = 200
_OF_ONE_FILL = 40


@pytest.fixture(scope="module")
def database() -> TinyDatabase:
    """One whose tables are exchanged."""
    found = TinyDatabase()
    found.run("SET search_path = public")
    return found


class _ClaimsOfWorld(Claims):
    made: MadeWorld

    def _named(self, owner: OfUnit, column: tuple[str, str]) -> Iterator[str]:
        """As Claims, where the primary key is of one column."""
        for name, table in owner.named:
            (key,) = self.made.tables[table.name].primary_key
            sql = f"SELECT {key}, uid FROM {table}"
            if table.name in ("lines", "parts"):
                sql = f"SELECT l.{key}, o.uid FROM {table} l LEFT JOIN w.orders o ON o.id = l.order_id"
            units: dict[object, object] = dict(self._database.asked(sql))
            for row in self._here:
                named, unit = row[self._place[name]], row[self._place[column]]
                if None not in (named, unit) and units.get(named, unit) != unit:
                    yield f"{name} names a row of another unit"
                    break


def _known(relation: Relation, made: MadeWorld) -> Known | None:
    try:
        found = relation_of(relation, made.world)
        check_copies([relation], made.world)
    except NotPrivate:
        return None
    return found


@pytest.mark.every(40)
@pytest.mark.parametrize("seed", range(40))
def test_claims_hold(seed: int, database: TinyDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    made = made_world(random)
    for name, value in (("POLICY", made.world.policy), ("USED", made.used), ("TYPES", made.types)):
        monkeypatch.setattr(made_relations, name, value)
    monkeypatch.setattr(claims, "DELETIONS", made.deletions())
    monkeypatch.setattr(_ClaimsOfWorld, "made", made, raising=False)
    database.run(made.creation())
    maker, found = WorldMaker(random, made=made), Counter[str]()
    for number in range(_RELATIONS):
        if number % _OF_ONE_FILL == 0:
            database.run(made.rows())
        relation = maker.relation(random.choice((1, 2, 2, 3, 3, 4)))
        known = _known(relation, made)
        if known is None:
            continue
        try:
            broken = _ClaimsOfWorld(database, relation, known).broken()
        except psycopg.Error as error:
            # A statement that the server does not understand shows nothing, to nobody.
            assert error.sqlstate is not None and error.sqlstate.startswith("42"), relation
            continue
        assert not broken, f"{broken[:3]}\n{relation}\n{known.owner}\n{made.tables}"
        found[type(known.owner).__name__] += 1
    assert found["OfUnit"] > 5, found
