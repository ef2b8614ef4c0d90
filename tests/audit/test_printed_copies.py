"""`dpproxy audit` of a table with a prepared copy: what is printed keeps people apart, and plans on it hold."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.audit import synthetic_copies, synthetic_database
from proxy.audit.synthetic_copies import mixed_units
from proxy.audit.synthetic_database import SyntheticDatabase
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, RowBound
from proxy.cli.audit import Audited, Size, audited
from proxy.cli.loading import CheckedPolicy
from proxy.compiler.copy_view import copy_select
from proxy.kernel import attribution
from proxy.kernel.world import World
from proxy.planner import reading_copies
from proxy.policy.policy_model import Bounds, ColumnPolicy, Policy, ProtectedTable
from proxy.query.ir.relations import Scan
from tests.compiler.copied_tables import LINES, LINES_POLICY, SALES, SALES_POLICY, SHOP
from tests.pipeline_world import POLICIES
from tests.servers_fixture import servers

_QUESTIONS = (
    "SELECT count(*), sum(price), count(DISTINCT buyer), count(DISTINCT price) FROM shop.sales",
    "SELECT note, count(*), sum(price), count(DISTINCT buyer) FROM shop.sales GROUP BY note",
    "SELECT avg(price), min(price), max(price) FROM shop.sales WHERE note = 'a'",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM shop.sales",
    "SELECT count(*), sum(price), avg(price), min(price), max(price) FROM shop.sales",
)
_NOTES = ColumnPolicy("note", values=("a", "b", "c"))
_PRICE = ColumnPolicy("price", bounds=Bounds(Fraction(0), Fraction(100)))
_POLICY = replace(
    POLICIES["best"],
    tables={SALES.name: replace(SALES_POLICY, columns={"price": _PRICE, "note": _NOTES})},
    publish=(),
)
_STORED = tuple(
    replace(c, type=SqlType.NUMERIC, type_name="numeric(8,2)", precision=8, scale=2)
    if c.name == "price"
    else c
    for c in SALES.columns
)
_CATALOG = Catalog({SALES.name: replace(SALES, columns=_STORED)})
# The same buyers have lines of their sales.
_OF_LINES = (
    "SELECT count(*), sum(amount), count(DISTINCT amount), count(DISTINCT sale) FROM shop.lines",
    "SELECT count(*) FROM shop.lines WHERE amount > 10",
    "SELECT avg(amount), min(amount), max(amount) FROM shop.lines",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM shop.lines",
)
_AMOUNT = ColumnPolicy("amount", bounds=Bounds(Fraction(0), Fraction(100)))
_REFERRING = replace(
    _POLICY,
    tables={
        SALES.name: replace(SALES_POLICY, prepared=None),
        LINES.name: replace(LINES_POLICY, columns={"amount": _AMOUNT}),
    },
)
Change = Callable[[str], str]


def _without_partition(text: str) -> str:
    return text.replace("PARTITION BY t.buyer\n", "")


def _by_another_column(text: str) -> str:
    return text.replace("PARTITION BY t.buyer", "PARTITION BY t.note")


def _first_of_all(text: str) -> str:
    """The rows of a unit hang on how many rows there are."""
    return text.replace("r.slot <= 3", "r.slot <= (SELECT count(*) % 3 FROM shop.sales)")


def _ranked_by_others(text: str) -> str:
    """A row stays where few have its price, whoever has bought for it."""
    return text.replace(
        "t.note, row_number", "t.note, count(*) OVER (PARTITION BY t.price) AS n, row_number"
    ).replace("r.slot <= 3", "r.slot <= 3 AND r.n < 4")


def _by_the_reference(text: str) -> str:
    """So many lines of each sale: a unit has too many, but its own ones."""
    return text.replace("PARTITION BY u.buyer", "PARTITION BY t.sale")


def _joined_by_another_column(text: str) -> str:
    """A line is of a buyer who has bought for as much."""
    return text.replace("u.id = t.sale", "u.price = t.amount")


def _units_of_all(text: str) -> str:
    return text.replace("PARTITION BY u.buyer\n", "")


def _joined_with_the_next(text: str) -> str:
    return text.replace(
        "u.id = t.sale", "u.id = (SELECT min(id) FROM shop.sales WHERE id > t.sale)"
    )


def _mixed(
    change: Change, patch: pytest.MonkeyPatch, policy: Policy = _POLICY, catalog: Catalog = _CATALOG
) -> int:
    """Of how many units rows in the copy change, when those of others do."""

    def changed(policy: ProtectedTable, catalog: Catalog, rows: int) -> str | None:
        text = copy_select(policy, catalog, rows)
        if text is None:
            return None
        changed = change(text)
        assert changed != text or change is str
        return changed

    patch.setattr(synthetic_copies, "copy_select", changed)
    patch.setattr(synthetic_database, "DATABASE", "printed_copies")  # other tests have an `audit`
    database = SyntheticDatabase(servers().protected.dsn(), policy, catalog, rows=12)
    try:
        (name, here), *_ = database.copied().items()
        found = 0
        for one in database.changes():
            with database.applied(one):
                found += mixed_units(here, database.copied()[name])
        return found
    finally:
        database.close()


def test_what_is_printed_keeps_people_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _mixed(str, monkeypatch) == 0


@pytest.mark.parametrize(
    "change", [_without_partition, _by_another_column, _first_of_all, _ranked_by_others]
)
def test_what_mixes_people_is_found(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _mixed(change, monkeypatch) > 0


def test_what_is_printed_through_a_reference_keeps_people_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _mixed(str, monkeypatch, _REFERRING, SHOP) == 0


@pytest.mark.parametrize(
    "change",
    [_units_of_all, _joined_by_another_column, _joined_with_the_next, _first_of_all],
)
def test_what_mixes_people_through_a_reference_is_found(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _mixed(change, monkeypatch, _REFERRING, SHOP) > 0


def _audited(
    questions: tuple[str, ...] = _QUESTIONS,
    rows: int = 30,
    policy: Policy = _POLICY,
    catalog: Catalog = _CATALOG,
) -> Audited:
    checked = CheckedPolicy(policy, catalog)
    return asyncio.run(audited(checked, ";\n".join(questions), Size(rows=rows)))


@pytest.mark.long
def test_plans_on_a_copy_move_no_more_than_planned() -> None:
    found = _audited()
    assert found.audit.violations == 0, (found.audit.mixed, found.audit.failed)
    copied = [one.sql for one in found.audited_query if one.sql.endswith("(prepared copy)")]
    assert len(copied) == len(_QUESTIONS), found.refused
    seen = {one.sql for one in found.audit.findings if one.observed.get(1)}
    assert seen >= set(copied[:2])


@pytest.mark.long
def test_plans_on_a_copy_through_a_reference_move_no_more_than_planned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = _audited(_OF_LINES, policy=_REFERRING, catalog=SHOP)
    assert found.audit.violations == 0, (found.audit.mixed, found.audit.failed)
    copied = [one.sql for one in found.audited_query if one.sql.endswith("(prepared copy)")]
    assert len(copied) == len(_OF_LINES), found.refused
    seen = {one.sql for one in found.audit.findings if one.observed.get(1)}
    assert seen >= set(copied[:2])

    def by_sale(policy: ProtectedTable, catalog: Catalog, rows: int) -> str | None:
        text = copy_select(policy, catalog, rows)
        return None if text is None else _by_the_reference(text)

    monkeypatch.setattr(synthetic_copies, "copy_select", by_sale)
    assert _audited(_OF_LINES[:2], policy=_REFERRING, catalog=SHOP).audit.violations > 0


@pytest.mark.long
def test_a_bound_that_the_copy_does_not_keep_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes a unit for one row; and the view has no bound."""

    def one_row(scan: Scan, world: World) -> RowBound:
        return RowBound(column="buyer", rows=1)

    with monkeypatch.context() as patch:
        for module in (attribution, reading_copies):
            patch.setattr(module, "bound_of_copy", one_row)
        assert _audited(_QUESTIONS[:2]).audit.violations > 0

    def unbounded(policy: ProtectedTable, catalog: Catalog, rows: int) -> str | None:
        text = copy_select(policy, catalog, rows)
        return None if text is None else re.sub("WHERE r.slot <= .*", "", text)

    monkeypatch.setattr(synthetic_copies, "copy_select", unbounded)
    assert _audited(_QUESTIONS[:2]).audit.violations > 0
