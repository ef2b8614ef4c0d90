"""The catalogue of the demo's databases, written down so that golden cases need no server.

tests/fifty_queries/test_live.py holds it against the real one.
"""

from __future__ import annotations

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, ForeignKey, Table, TableName
from proxy.planner.facts import PublicValues


def _column(
    name: str, kind: SqlType, *, null: bool = False, numeric: tuple[int, int] | None = None
) -> Column:
    if numeric is None:
        return Column(name, kind, kind.sql, null)
    precision, scale = numeric
    return Column(name, kind, f"numeric({precision},{scale})", null, precision, scale)


_ADULT = Table(
    TableName("census", "adult"),
    (
        _column("id", SqlType.INT4),
        _column("age", SqlType.INT4),
        _column("sex", SqlType.TEXT),
        _column("education", SqlType.TEXT),
        _column("occupation", SqlType.TEXT, null=True),
        _column("region", SqlType.TEXT),
        _column("hours_per_week", SqlType.INT4, null=True),
        _column("income", SqlType.NUMERIC, null=True, numeric=(10, 2)),
        _column("married", SqlType.BOOL),
        _column("zip", SqlType.TEXT),
    ),
    ("id",),
    has_ctid=True,
)
_CUSTOMERS = Table(
    TableName("shop", "customers"),
    (
        _column("id", SqlType.INT4),
        _column("name", SqlType.TEXT, null=True),
        _column("email", SqlType.TEXT, null=True),
        _column("state", SqlType.TEXT),
        _column("birth_date", SqlType.DATE, null=True),
        _column("signed_up", SqlType.TIMESTAMPTZ),
    ),
    ("id",),
    has_ctid=True,
)
_PRODUCTS = Table(
    TableName("shop", "products"),
    (
        _column("id", SqlType.INT4),
        _column("title", SqlType.TEXT, null=True),
        _column("category", SqlType.TEXT, null=True),
        _column("price", SqlType.NUMERIC, null=True, numeric=(8, 2)),
    ),
    ("id",),
    has_ctid=True,
)
_ORDERS = Table(
    TableName("shop", "orders"),
    (
        _column("id", SqlType.INT4),
        _column("customer_id", SqlType.INT4),
        _column("product_id", SqlType.INT4),
        _column("quantity", SqlType.INT4),
        _column("total", SqlType.NUMERIC, numeric=(8, 2)),
        _column("status", SqlType.TEXT),
        _column("created_at", SqlType.TIMESTAMPTZ),
    ),
    ("id",),
    foreign_keys=(
        ForeignKey(("customer_id",), _CUSTOMERS.name, ("id",)),
        ForeignKey(("product_id",), _PRODUCTS.name, ("id",)),
    ),
    has_ctid=True,
)
CATALOGS = {
    "census": Catalog({_ADULT.name: _ADULT}),
    "shop": Catalog({table.name: table for table in (_CUSTOMERS, _PRODUCTS, _ORDERS)}),
}
_CATEGORIES = ("Books", "Clothing", "Home", "Kitchen", "Outdoor", "Tools", "Toys")
PUBLIC: dict[str, PublicValues] = {
    "census": {},
    "shop": {
        (_PRODUCTS.name, "category"): _CATEGORIES,
        (_PRODUCTS.name, "id"): tuple(sorted(str(number) for number in range(1, 201))),
    },
}
