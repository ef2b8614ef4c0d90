"""What the ledger remembers of the columns by which a policy tells units apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, ColumnBeneath, Table, TableName
from proxy.ledger.ledger_sources import Identity, adopt_as, adopt_new
from proxy.ledger.noted_columns import note_unit_columns, remade_unit_columns
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, UnitPath
from tests.samples import checked_sample

_HERE = Identity("1", "club")
_PETS, _VISITS, _SHOWN = (TableName("club", name) for name in ("pets", "visits", "shown"))
_OWNER = IdentifierUnit("owner", "owner")


def _table(name: TableName, oid: int, **numbers: int) -> Table:
    columns = tuple(
        Column(one, SqlType.INT4, "integer", nullable=True, number=number)
        for one, number in numbers.items()
    )
    return Table(name, columns, primary_key=("id",), oid=oid)


def _catalog(oid: int, *, owner: int = 2, pet: int = 2, key: int = 1, weight: int = 3) -> Catalog:
    """A view over the pets has an oid of its own each time: it is dropped with a column beneath it."""
    pets = _table(_PETS, oid, id=key, owner=owner, weight=weight)
    visits = _table(_VISITS, oid + 1, id=1, pet=pet, cost=3)
    beneath = tuple(
        ColumnBeneath(table=_PETS, column=one.name, relation=oid, number=one.number)
        for one in pets.columns
        if one.name != "weight"
    )
    shown = replace(
        _table(_SHOWN, 100 + owner + key, owner=1), is_view=True, primary_key=(), beneath=beneath
    )
    return Catalog({one.name: one for one in (pets, visits, shown)})


def _policy() -> Policy:
    path = IdentifierUnit("owner", "pet", UnitPath(_PETS, "owner"))
    units = {_PETS: _OWNER, _VISITS: path, _SHOWN: _OWNER}
    tables = {
        name: ProtectedTable(name=name, unit=unit, columns={}) for name, unit in units.items()
    }
    return replace(checked_sample("shop").policy, tables=tables)


class _Memory:
    def __init__(self, ledger_dsn: str) -> None:
        self.dsn = ledger_dsn
        self._source = adopt_new(ledger_dsn, _HERE, "club").id

    def remade(self, catalog: Catalog) -> list[str]:
        found = remade_unit_columns(self.dsn, self._source, _policy(), catalog)
        assert all(one.are_others for one in found)
        assert all("ledger adopt --policy FILE --as club" in one.problem.hint for one in found)
        return sorted(one.table.name for one in found)

    def note(self, catalog: Catalog) -> list[TableName]:
        return note_unit_columns(self.dsn, self._source, _policy(), catalog)


@pytest.fixture
def memory(ledger_dsn: str) -> _Memory:
    return _Memory(ledger_dsn)


def test_a_column_of_a_unit_that_was_made_anew_is_found(memory: _Memory) -> None:
    """In its table, where a reference leads to it, and beneath a view; no other column counts."""
    served = _catalog(7)
    assert memory.remade(_catalog(7, owner=4)) == [], "nothing was served yet"
    assert memory.note(served) == []
    assert memory.remade(served) == []
    assert memory.remade(_catalog(7, owner=4)) == ["pets", "shown", "visits"]
    assert memory.remade(_catalog(7, pet=4)) == ["visits"]
    assert memory.remade(_catalog(7, key=4)) == ["shown", "visits"]
    assert memory.remade(_catalog(7, weight=4)) == []


def test_a_table_that_was_created_again_is_known_by_its_names(memory: _Memory) -> None:
    memory.note(_catalog(7, owner=4))
    restored = _catalog(20)
    assert memory.remade(restored) == []
    assert memory.note(restored) == [_PETS, _VISITS]
    assert memory.note(restored) == [], "told once"
    assert memory.remade(_catalog(20, owner=4)) == ["pets", "shown", "visits"]


def test_the_owner_can_say_that_the_columns_name_the_same_units(memory: _Memory) -> None:
    memory.note(_catalog(7))
    anew = _catalog(7, owner=4)
    assert memory.remade(anew)
    adopt_as(memory.dsn, _HERE, "club")
    assert memory.remade(anew) == []
    memory.note(anew)
    assert memory.remade(_catalog(7, owner=5)) == ["pets", "shown", "visits"], "said once"


def test_data_that_has_moved_is_known_by_its_names(memory: _Memory) -> None:
    memory.note(_catalog(7))
    adopt_as(memory.dsn, Identity("2", "club"), "club")
    assert memory.remade(_catalog(7, owner=4)) == []
