"""What the ledger remembers of the columns that analysts were shown."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.ledger.ledger_sources import Identity, adopt_as, adopt_new
from proxy.ledger.noted_columns import later_columns, note_public_columns
from proxy.policy.policy_model import Policy, PublicTable
from tests.samples import checked_sample

_NAME = TableName("public", "halls")


def _catalog(oid: int, **numbers: int) -> Catalog:
    columns = tuple(
        Column(name, SqlType.TEXT, "text", nullable=True, number=number)
        for name, number in numbers.items()
    )
    return Catalog({_NAME: Table(_NAME, columns, oid=oid)})


def _policy() -> Policy:
    return replace(checked_sample("shop").policy, tables={_NAME: PublicTable(_NAME)})


class _Memory:
    def __init__(self, ledger_dsn: str) -> None:
        self._dsn = ledger_dsn
        self._source = adopt_new(ledger_dsn, Identity("1", "club"), "club").id

    def later(self, catalog: Catalog) -> list[tuple[str, bool]]:
        found = later_columns(self._dsn, self._source, _policy(), catalog)
        return [(one.problem.message.rpartition(": ")[2], one.are_others) for one in found]

    def note(self, catalog: Catalog) -> list[TableName]:
        return note_public_columns(self._dsn, self._source, _policy(), catalog)


@pytest.fixture
def memory(ledger_dsn: str) -> _Memory:
    return _Memory(ledger_dsn)


def test_another_number_in_the_same_table_is_another_column(memory: _Memory) -> None:
    shown = _catalog(7, code=1, phone=2)
    assert memory.later(shown) == [], "nothing was shown yet"
    assert memory.note(shown) == []
    assert memory.later(shown) == []
    assert memory.later(_catalog(7, code=1, phone=3)) == [("phone", True)]
    assert memory.later(_catalog(7, code=1, phone=2, note=3)) == [("note", False)]
    assert memory.later(_catalog(7, code=2, phone=1)) == [("code, phone", True)], "swapped names"
    assert memory.later(_catalog(7, code=1)) == []
    assert memory.note(_catalog(7, code=1, phone=3)) == [], "the owner has listed it"
    assert memory.later(_catalog(7, code=1, phone=3)) == []


def test_a_table_that_was_created_again_is_compared_by_names(memory: _Memory) -> None:
    memory.note(_catalog(7, code=1, phone=4))
    restored = _catalog(9, code=1, phone=2)
    assert memory.later(restored) == []
    assert memory.later(_catalog(9, code=1, phone=2, note=3)) == [("note", False)]
    assert memory.note(restored) == [_NAME]
    assert memory.note(restored) == [], "told once"
    assert memory.later(_catalog(9, code=1, phone=5)) == [("phone", True)]


def test_data_that_has_moved_is_compared_by_names(memory: _Memory, ledger_dsn: str) -> None:
    """Another server can give a restored table the same oid by chance."""
    memory.note(_catalog(7, code=1, phone=4))
    restored = _catalog(7, code=1, phone=2)
    assert memory.later(restored) == [("phone", True)]
    adopt_as(ledger_dsn, Identity("2", "club"), "club")
    assert memory.later(restored) == []
    assert memory.note(restored) == []
    assert memory.later(_catalog(7, code=1, phone=4)) == [("phone", True)]


def test_what_an_earlier_version_noted_is_compared_by_names(
    memory: _Memory, ledger_dsn: str
) -> None:
    shown = _catalog(7, code=1, phone=4)
    memory.note(shown)
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("UPDATE ledger.public_column SET relation = NULL, number = NULL")
    assert memory.later(_catalog(7, code=1, phone=5)) == []
    assert memory.note(shown) == []
    assert memory.later(_catalog(7, code=1, phone=5)) == [("phone", True)]
