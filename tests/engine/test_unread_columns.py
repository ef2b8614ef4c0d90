"""A column of a type that is not read can be named by no question: no plan may have it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, TableName
from proxy.engine.policy_statements import _exposed
from proxy.policy.policy_model import ColumnPolicy, ProtectedTable
from tests.pipeline_world import CATALOG, POLICIES, SCHEMA


@pytest.mark.parametrize("table", ["places", "visits"])
def test_it_is_not_exposed(table: str) -> None:
    name, policy = TableName(SCHEMA, table), POLICIES["world"].tables[TableName(SCHEMA, table)]
    described = CATALOG.tables[name]
    place = Column("place", SqlType.OTHER, "point", True)
    more = replace(described, columns=(*described.columns, place))
    before = _exposed(name, policy, CATALOG)
    if isinstance(policy, ProtectedTable):  # the check of a policy refuses that
        policy = replace(policy, columns={**policy.columns, "place": ColumnPolicy("place")})
    assert before.columns
    assert _exposed(name, policy, Catalog({**CATALOG.tables, name: more})) == before
