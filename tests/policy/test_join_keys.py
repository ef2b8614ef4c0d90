"""Join keys of tables whose rows cannot be told apart."""

from __future__ import annotations

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, Table, TableName
from proxy.policy.check import join_key_problems
from proxy.policy.policy_model import (
    ColumnPolicy,
    IdentifierUnit,
    JoinKey,
    ProtectedTable,
    PublicTable,
    RowUnit,
    Unit,
)

_NAME = TableName("shop", "log")
_COLUMNS = tuple(Column(name, SqlType.INT4, "integer", True) for name in ("person", "page"))
_NO_KEY, _UNIQUE = Table(_NAME, _COLUMNS), Table(_NAME, _COLUMNS, unique=(("person",),))


@pytest.mark.parametrize(
    ("unit", "keep", "there", "wrong"),
    [
        (RowUnit(), 3, _NO_KEY, "keep: 3 needs a primary key"),
        (RowUnit(), None, _NO_KEY, ""),
        (IdentifierUnit("person", "person"), None, _NO_KEY, "a join key needs a primary key"),
        (IdentifierUnit("person", "person"), None, _UNIQUE, ""),
        (IdentifierUnit("person", "person"), 2, _UNIQUE, "keep: 2 needs a primary key"),
    ],
)
def test_rows_are_truncated_only_where_they_have_names(
    unit: Unit, keep: int | None, there: Table, wrong: str
) -> None:
    keys, columns = {"page": JoinKey(keep)}, {"page": ColumnPolicy("page")}
    table = ProtectedTable(_NAME, unit, columns, 4, join_keys=keys)
    found = join_key_problems(table, there)
    assert [problem.message.startswith(wrong) for problem in found] == ([True] if wrong else [])


def test_a_public_table_is_truncated_only_where_its_rows_have_names() -> None:
    found = join_key_problems(PublicTable(_NAME, {"page": JoinKey(2)}), _NO_KEY)
    assert [problem.path[-1] for problem in found] == ["page"]
