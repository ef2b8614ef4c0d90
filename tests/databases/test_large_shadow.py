"""A shadow of 1,000 tables is built, and built anew, within the memory of a session of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.policy.policy_model import ColumnPolicy, IdentifierUnit, Policy, ProtectedTable
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.shadow.shadow_database import Shadow
from tests.databases.test_memory_of_an_analyst import only_linux
from tests.servers_fixture import PRIVACY, budgets

_TABLES, _COLUMNS = 1000, 20


def _of(tables: int) -> tuple[Policy, Catalog]:
    person = Column("person", SqlType.INT8, "bigint", nullable=False)
    others = tuple(
        Column(f"c{place}", SqlType.TEXT, "text", nullable=True) for place in range(_COLUMNS - 1)
    )
    names = [TableName("wide", f"t{number}") for number in range(tables)]
    catalog = Catalog({name: Table(name, (person, *others)) for name in names})
    unit = IdentifierUnit("person", "person")
    columns = {column.name: ColumnPolicy(column.name) for column in others}
    protected = {name: ProtectedTable(name, unit, columns, 10) for name in names}
    return Policy("wide", "", PRIVACY, protected, budgets(), f"{tables}"), catalog


@pytest.mark.long
@only_linux
def test_a_thousand_tables_are_built_and_built_anew(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, "shadow", disposable=True, for_analysts=True)
    server.start()
    try:
        shadow = Shadow(server.dsn(), "wide", server.address)
        for tables in (_TABLES, _TABLES - 1):
            shadow.build(*_of(tables), None, withholds=False)
        of_policy = [name for name in shadow.relation_oids() if name.schema == "wide"]
        assert len(of_policy) == _TABLES - 1
        assert shadow.verify() == ()
    finally:
        server.stop()
