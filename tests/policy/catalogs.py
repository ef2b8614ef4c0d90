"""The catalogue that the golden policies are held against: every type that a policy can meet."""

from __future__ import annotations

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName


def column(
    name: str,
    sql_type: SqlType,
    type_name: str = "",
    *,
    null: bool = False,
    precision: int | None = None,
    scale: int | None = None,
) -> Column:
    return Column(name, sql_type, type_name or sql_type.sql, null, precision, scale)


CUSTOMERS = Table(
    TableName("shop", "customers"),
    (
        column("id", SqlType.INT4),
        column("state", SqlType.TEXT, null=True),
        column("birth_date", SqlType.DATE, null=True),
        column("signed_up", SqlType.TIMESTAMPTZ),
        column("last_seen", SqlType.TIMESTAMP, null=True),
        column("loyal", SqlType.BOOL),
        column("token", SqlType.UUID),
        column("photo", SqlType.OTHER, "bytea"),
    ),
    primary_key=("id",),
)
ORDERS = Table(
    TableName("shop", "orders"),
    (
        column("id", SqlType.INT8),
        column("customer_id", SqlType.INT8),
        column("product_id", SqlType.INT4),
        column("quantity", SqlType.INT2),
        column("total", SqlType.NUMERIC, "numeric(8,2)", precision=8, scale=2),
        column("weight", SqlType.FLOAT8, null=True),
        column("ratio", SqlType.FLOAT4),
        column("discount", SqlType.NUMERIC, "numeric(4,1)", precision=4, scale=1),
        column("code", SqlType.BPCHAR, "character(2)"),
        column("placed_on", SqlType.DATE),
        column("bare", SqlType.NUMERIC),
    ),
    primary_key=("id",),
)
VISITS = Table(
    TableName("shop", "visits"),
    (
        column("id", SqlType.INT8),
        column("page", SqlType.VARCHAR, "character varying(20)"),
        column("seconds", SqlType.INT4),
        column("day", SqlType.DATE),
    ),
    primary_key=("id",),
)
PRODUCTS = Table(
    TableName("shop", "products"),
    (column("id", SqlType.INT4), column("title", SqlType.TEXT)),
    primary_key=("id",),
)
ORDER_LINES = Table(
    TableName("shop", "order_lines"),
    (
        column("id", SqlType.INT8),
        column("order_id", SqlType.INT4, null=True),
        column("note", SqlType.TEXT),
        column("weight", SqlType.FLOAT8),
        column("price", SqlType.NUMERIC, "numeric(8,2)", precision=8, scale=2),
        column("shipped_on", SqlType.DATE, null=True),
    ),
    primary_key=("id",),
    unique=(("order_id",),),
)
BASKETS = Table(
    TableName("shop", "baskets"),
    (column("customer_id", SqlType.INT4), column("number", SqlType.INT4)),
    primary_key=("customer_id", "number"),
)
SHOP = Catalog(
    {table.name: table for table in (CUSTOMERS, ORDERS, VISITS, PRODUCTS, ORDER_LINES, BASKETS)}
)
