"""A table of which a prepared copy is made, for doctests and tests."""

from __future__ import annotations

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.policy.policy_model import (
    ColumnPolicy,
    IdentifierUnit,
    PreparedCopy,
    ProtectedTable,
    UnitPath,
)

SALES = Table(
    TableName("shop", "sales"),
    (
        Column("id", SqlType.INT8, "bigint", False),
        Column("price", SqlType.INT4, "integer", True),
        Column("buyer", SqlType.INT4, "integer", True),
        Column("note", SqlType.TEXT, "text", True),
    ),
    primary_key=("id",),
)
LINES = Table(
    TableName("shop", "lines"),
    (
        Column("id", SqlType.INT8, "bigint", False),
        Column("sale", SqlType.INT8, "bigint", True),
        Column("amount", SqlType.INT4, "integer", True),
    ),
    primary_key=("id",),
)
SHOP = Catalog({SALES.name: SALES, LINES.name: LINES})
SALES_POLICY = ProtectedTable(
    SALES.name,
    IdentifierUnit("person", "buyer"),
    {"price": ColumnPolicy("price")},
    max_rows_per_unit=3,
    prepared=PreparedCopy(table=TableName("dp", "sales"), max_age=86_400),
)
LINES_POLICY = ProtectedTable(
    LINES.name,
    IdentifierUnit("person", "sale", UnitPath(SALES.name, "buyer")),
    {"amount": ColumnPolicy("amount")},
    max_rows_per_unit=3,
    prepared=PreparedCopy(table=TableName("dp", "lines"), max_age=86_400),
)
