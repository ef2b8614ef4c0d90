"""What `dpproxy audit` invents for a column is a value of its type, whatever the type."""

from __future__ import annotations

import psycopg
import pytest

from proxy.audit.synthetic_values import Choices, Style, sql_type, synthetic_value
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from tests.policy.postgres import server

pytestmark = pytest.mark.postgres

_NAMES = {
    SqlType.TIME_OF_DAY: "time(3) without time zone",
    SqlType.TEXT_ARRAY: "character varying[]",
}


def test_postgresql_takes_what_is_invented_for_each_type() -> None:
    kinds = [kind for kind in SqlType if kind not in (SqlType.TID, SqlType.ENUM, SqlType.COLLATED)]
    choices, found = Choices(3), set()
    with psycopg.connect(server().dsn(), autocommit=True) as connection:
        for kind in kinds:
            column = Column("x", kind, _NAMES.get(kind, kind.sql), True)
            if kind in (SqlType.INTERVAL, SqlType.CLOCK_TIME):  # of no column
                continue
            for _ in range(40):
                value = synthetic_value(column, None, Style.ANY, None, choices)
                if (kind, value) not in found:
                    connection.execute(f"SELECT %s::{sql_type(column)}", [value])
                    found.add((kind, value))
    assert len(found) > 80
