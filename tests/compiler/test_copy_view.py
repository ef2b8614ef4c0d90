"""What is printed for a prepared copy, and for which tables nothing is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, RowBound, Table, TableName
from proxy.compiler.copy_view import (
    copy_script,
    copy_select,
    index_columns,
    made_copy,
    printed_digest,
    wanted_copies,
)
from proxy.policy.policy_model import (
    BlockLength,
    Bounds,
    ColumnPolicy,
    PreparedCopy,
    RowUnit,
    TimeBlocks,
    UnitPath,
)
from tests.compiler.copied_tables import SALES, SALES_POLICY
from tests.pipeline_world import POLICIES

_PAID = Column("paid", SqlType.NUMERIC, "numeric(8,2)", True, 8, 2)
_BOUNDED = ColumnPolicy("paid", bounds=Bounds(Fraction(-1), Fraction(50)))
_STORED = replace(SALES, columns=(*SALES.columns, _PAID))
_POLICY = replace(SALES_POLICY, columns={**SALES_POLICY.columns, "paid": _BOUNDED})


def _catalog(*tables: Table) -> Catalog:
    return Catalog({table.name: table for table in tables})


_SHOP = _catalog(_STORED)


def _shown(*columns: Column) -> Mapping[str, Any]:
    """These columns are stored, and shown."""
    shown = {c.name: ColumnPolicy(c.name) for c in columns}
    return {
        "catalog": _catalog(replace(_STORED, columns=(*_STORED.columns, *columns))),
        "policy": replace(_POLICY, columns={**_POLICY.columns, **shown}),
    }


def _unit(**parts: Any) -> Mapping[str, Any]:
    unit: Any = SALES_POLICY.unit
    return {"policy": replace(_POLICY, unit=replace(unit, **parts))}


def _in(name: str) -> Mapping[str, Any]:
    return {
        "policy": replace(_POLICY, prepared=PreparedCopy(table=TableName("dp", name), max_age=9))
    }


_UNPRINTED: Mapping[str, Mapping[str, Any]] = {
    "no copy": {"policy": replace(_POLICY, prepared=None)},
    "rows as units": {"policy": replace(_POLICY, unit=RowUnit(1))},
    "a unit in another table": _unit(path=UnitPath(TableName("shop", "orders"), "buyer")),
    "a unit in time": _unit(blocks=TimeBlocks(per=BlockLength.MONTH, time="price")),
    "no primary key": {"catalog": _catalog(replace(_STORED, primary_key=()))},
    "no table": {"catalog": _catalog()},
    "a slot of its own": _shown(Column("slot", SqlType.INT4, "integer", True)),
    "an index of its own": _shown(Column("paid_i", SqlType.INT4, "integer", True)),
    "no unit": _unit(column="gone"),
    **{f"a column with {sign}": _shown(replace(_PAID, name=f"a{sign}b")) for sign in "'$%\\"},
    **{f"a copy with {sign}": _in(f"a{sign}b") for sign in "'$%\\"},
    **{
        f"a table with {sign}": {"policy": replace(_POLICY, name=TableName("shop", f"a{sign}b"))}
        for sign in "'$%\\"
    },
}


@pytest.mark.parametrize("name", _UNPRINTED)
def test_what_has_no_copy_is_not_printed(name: str) -> None:
    given: Any = {"policy": _POLICY, "catalog": _SHOP, "rows": 3}
    assert copy_select(**given) and made_copy(**given) and copy_script(**given, reader="reader")
    given |= _UNPRINTED[name]
    assert copy_select(**given) is None
    assert made_copy(**given) is None
    assert copy_script(**given, reader="reader") is None


def test_an_index_is_of_a_bounded_numeric_alone() -> None:
    assert index_columns(_POLICY, _SHOP) == {
        "paid_i": "(numeric_larger(numeric_smaller(r.paid, 50::numeric), -1::numeric) * 100)::integer"
    }
    for own in (ColumnPolicy("paid"), None):
        columns = {**SALES_POLICY.columns, **({} if own is None else {"paid": own})}
        assert index_columns(replace(_POLICY, columns=columns), _SHOP) == {}
    text = copy_select(_POLICY, _SHOP, 3)
    assert text is not None
    assert text.startswith("SELECT r.buyer,\n    r.slot,\n    (numeric_larger(")
    assert (
        "* 100)::integer AS paid_i,\n    r.price,\n    r.paid\nFROM (SELECT t.buyer, t.price"
        in text
    )


def test_rows_are_told_apart_by_all_of_the_key() -> None:
    text = copy_select(_POLICY, _catalog(replace(_STORED, primary_key=("id", "note"))), 3)
    assert text is not None
    assert (
        "ORDER BY hash_record_extended(ROW(t.id, t.note), s.seed), t.id, t.note)::integer" in text
    )


def test_a_copy_that_is_made_is_as_it_is_printed() -> None:
    found = made_copy(_POLICY, _SHOP, 3)
    assert found is not None and found.name == TableName("dp", "sales")
    assert found.columns == (
        Column("buyer", SqlType.INT4, "integer", False),
        Column("slot", SqlType.INT4, "integer", False),
        Column("paid_i", SqlType.INT4, "integer", True),
        Column("price", SqlType.INT4, "integer", True),
        _PAID,
    )
    assert found.primary_key == ("buyer", "slot")
    assert found.row_bound == RowBound(column="buyer", rows=3)


def test_the_view_is_known_by_the_bound_that_the_server_keeps() -> None:
    """Of a table that has a copy, which the catalogue has with its bound; else a view is no copy's."""
    policy = replace(POLICIES["best"], tables={SALES.name: _POLICY})
    made = made_copy(_POLICY, _SHOP, 7)
    assert made is not None
    text = copy_select(_POLICY, _SHOP, 7)
    assert text is not None and "r.slot <= 7" in text
    assert len(printed_digest(text)) == 32

    def printed(*tables: Table) -> str:
        return wanted_copies(policy, _catalog(*tables))[SALES.name].printed

    assert printed(_STORED, made) == printed_digest(text)
    assert printed(_STORED) == printed(made) == ""
    assert printed(_STORED, replace(made, row_bound=None)) == ""
    assert printed(replace(_STORED, primary_key=()), made) == ""
    without = replace(policy, tables={SALES.name: replace(_POLICY, prepared=None)})
    assert wanted_copies(without, _catalog(_STORED, made)) == {}


def test_the_script_makes_the_copy_with_its_bound() -> None:
    script = copy_script(_POLICY, _SHOP, 7, "reader")
    assert script is not None
    for line in (
        "-- A copy of shop.sales with at most 7 rows of each person, printed by `dpproxy prepare`.",
        "    ADD CONSTRAINT slot_is_bounded CHECK (slot >= 1 AND slot <= 7),",
        "    ADD PRIMARY KEY (buyer, slot);",
        "GRANT SELECT ON dp.sales_new, dp.prepared TO reader;",
        "CREATE TABLE dp.sales_new AS SELECT * FROM dp.sales_source;",
        "COMMENT ON TABLE dp.sales_new IS 'dpproxy prepare';",
    ):
        assert line in script.splitlines()
    assert "price SET NOT NULL" not in script
    strict = replace(SALES, columns=tuple(replace(c, nullable=False) for c in SALES.columns))
    told = copy_script(SALES_POLICY, _catalog(strict), 7, "reader")
    assert (
        told is not None and "    ALTER slot SET NOT NULL,\n    ALTER price SET NOT NULL," in told
    )
