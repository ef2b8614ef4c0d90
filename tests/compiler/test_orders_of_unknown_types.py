"""A type that is not read is put in order by the bytes of its text.

In another collation two texts may be equal, and which of them is first would follow from the rows of others.
"""

from __future__ import annotations

import pytest

from proxy.base.sql_types import SqlType
from proxy.compiler.relation_sql import _ordered_sql
from proxy.query.ir.expressions import ColumnRef
from tests.kernel.tiny_database import tiny_database

_VALUES = (
    "'a'::text COLLATE \"POSIX\"",
    "'1'::money",
    "'(1,1)'::point",
    "'{}'::json",
    "'101'::bit(3)",
)


@pytest.mark.parametrize("value", _VALUES)
def test_it_is_in_the_order_of_bytes(value: str) -> None:
    (term,) = _ordered_sql(ColumnRef("x", SqlType.OTHER, None, "r1"))
    asked = f"SELECT pg_catalog.pg_collation_for({term}) FROM (SELECT {value} AS x) AS r1 ORDER BY {term}"
    assert tiny_database().asked(asked) == [('"C"',)]
