"""Columns of a type that is not read: of a key alone.

To read another one raises on a row, if it is generated at each reading. Its text may be longer than any can be,
as that of a bytea of 540 MB, by which rows of a unit would be put in order.
"""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column
from proxy.kernel.attribution import relation_of
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.query.ir.expressions import ColumnRef, Is
from proxy.query.ir.relations import Relation, Scan, Subquery, Truncate
from tests.kernel.examples import WORLD, of_table, scan
from tests.kernel.holes import block_of, judge
from tests.kernel.tiny_database import tiny_database

_VISITS = scan("r1", "visits")
_ODD = ColumnRef("odd", SqlType.OTHER, None, "r1")
_UID, _ID = of_table("r1", "visits", "uid"), of_table("r1", "visits", "id")


def _world(key: str = "id") -> World:
    visits = WORLD.catalog.tables[_VISITS.table]
    odd = Column("odd", SqlType.OTHER, "integer, generated at each reading", False)
    visits = replace(visits, columns=(*visits.columns, odd), primary_key=(key,))
    return World(WORLD.policy, Catalog({**WORLD.catalog.tables, _VISITS.table: visits}))


def _cut(*order: ColumnRef, source: Scan | Subquery = _VISITS) -> Truncate:
    return Truncate(source, _UID, 2, order, (_UID,), ("uid", "id"), "place")


_READ: dict[str, Relation] = {
    "a condition": Subquery("q", _VISITS, Is(_ODD, None), (("uid", _UID),)),
    "an output": Subquery("q", _VISITS, None, (("uid", _UID), ("odd", _ODD))),
    "an order": _cut(_ID, _ODD),
    "what is there": replace(_cut(_ID), present=(_UID, _ODD)),
}


@pytest.mark.parametrize("read", _READ)
def test_none_is_read(read: str) -> None:
    with pytest.raises(NotPrivate) as refused:
        relation_of(_READ[read], _world())
    assert refused.value.rule is Rule.EXPRESSION


def test_that_of_a_key_is_one_by_which_rows_are_put_in_order() -> None:
    relation_of(_cut(_ODD), _world("odd"))


def _without_a_value() -> BlockPlan:
    return replace(block_of("SELECT count(*) FROM visits"), where=Is(_ODD, None))


def test_one_person_decides_whether_it_raises() -> None:
    database = tiny_database()
    database.fill("INSERT INTO visits(id, uid, i4) SELECT g, g, g - 3 FROM generate_series(1, 9) g")
    generated = "ADD COLUMN odd integer GENERATED ALWAYS AS (10 / i4) VIRTUAL"
    try:
        with database.without(f"ALTER TABLE visits {generated}; DELETE FROM visits WHERE uid = 3"):
            assert database.tables(_without_a_value())
    except psycopg.errors.SyntaxError:
        pytest.skip("virtual generated columns came with PostgreSQL 18")
    with (
        database.without(f"ALTER TABLE visits {generated}"),
        pytest.raises(psycopg.errors.DivisionByZero),
    ):
        database.tables(_without_a_value())
    with pytest.raises(NotPrivate):
        judge(_without_a_value(), _world())
