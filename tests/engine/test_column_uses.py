"""What a column can be used for, remembered by what the planner knows of it, is what the planner says of it."""

from __future__ import annotations

import random  # noqa: TID251  the same columns for the same number
from dataclasses import replace

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.cli import accuracy_report as policy_accuracy_module
from proxy.cli.accuracy_report import PolicyAccuracy, policy_accuracy
from proxy.planner.facts import PublicContents
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable
from proxy.shadow import shadow_tables
from proxy.shadow.shadow_tables import ColumnUses
from tests.audit.generated_bounds import statement
from tests.pipeline_world import CATALOG, POLICIES

_NAMES = [table.name for table in POLICIES["world"].protected()]


@pytest.mark.every(16)
@pytest.mark.parametrize("number", range(0, 80, 5))
def test_columns_of_equal_shape_have_equal_uses(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty columns of each policy; other policies and tables of the same process are remembered as well."""
    asked = ColumnUses.asked

    def without(uses: ColumnUses, table: TableName, column: str) -> tuple[str, ...]:
        with monkeypatch.context() as context:
            context.setattr(shadow_tables, "reading_shape", lambda *_: None)
            return asked(uses, table, column)

    draw, policy = random.Random(number), statement(number).policy
    uses = ColumnUses(policy, CATALOG, {})
    for _ in range(20):
        table = draw.choice(_NAMES)
        column = draw.choice(CATALOG.tables[table].columns).name
        assert uses.of(table, column) == without(uses, table, column), (table, column)
        assert uses.asked(table, column) == without(uses, table, column), (table, column)


def _renamed() -> tuple[Policy, Catalog]:
    """Tables and columns of other names, with the same in them."""
    name, other = TableName("w", "orders"), TableName("w", "purchases")
    table, described = POLICIES["world"].tables[name], CATALOG.tables[name]
    assert isinstance(table, ProtectedTable) and isinstance(table.unit, IdentifierUnit)
    columns = {f"{key}_x": replace(one, name=f"{key}_x") for key, one in table.columns.items()}
    unit = replace(table.unit, column="uid_x")
    named = tuple(replace(one, name=f"{one.name}_x") for one in described.columns)
    policy = replace(
        POLICIES["world"], tables={other: replace(table, name=other, columns=columns, unit=unit)}
    )
    made = replace(described, name=other, columns=named, primary_key=("id_x",))
    return policy, Catalog({other: made})


def test_what_is_known_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_tables, "_REMEMBERED", {})
    table, columns = TableName("w", "orders"), ("i4", "t", "d", "free", "uid", "id")
    uses = ColumnUses(POLICIES["world"], CATALOG, {})
    found = [uses.of(table, column) for column in columns]
    asked = ColumnUses.asked
    monkeypatch.setattr(ColumnUses, "asked", lambda *_: pytest.fail("it was asked again"))
    policy, catalog = _renamed()
    again = ColumnUses(policy, catalog, {})
    other = TableName("w", "purchases")
    assert [again.of(other, f"{column}_x") for column in columns] == found
    monkeypatch.setattr(ColumnUses, "asked", asked)
    assert len({*found}) > 3


def test_what_differs_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, the noise and the bound of a unit are parts of what is known."""
    remembered = dict[object, object]()
    monkeypatch.setattr(shadow_tables, "_REMEMBERED", remembered)
    policy, catalog = _renamed()
    (table,) = policy.tables
    described, given = catalog.tables[table], policy.tables[table]
    assert isinstance(given, ProtectedTable)
    others = (
        (policy, catalog),
        (policy, Catalog({table: replace(described, unique=(("uid_x",),))})),
        (
            replace(policy, privacy=replace(policy.privacy, epsilon=policy.privacy.epsilon / 7)),
            catalog,
        ),
        (replace(policy, tables={table: replace(given, max_rows_per_unit=4)}), catalog),
    )
    for changed, made in others:
        ColumnUses(changed, made, {}).of(table, "i4_x")
    assert len(remembered) == len(others)


@pytest.mark.every(18)
@pytest.mark.parametrize("name", POLICIES)
def test_columns_of_equal_shape_are_equally_exact(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `dpproxy policy check`: with what is remembered as without."""
    tables = {table: POLICIES[name].tables[table] for table in _NAMES[::4]}
    policy = replace(POLICIES[name], tables=tables)
    found = policy_accuracy(policy, CATALOG, PublicContents())
    monkeypatch.setattr(policy_accuracy_module, "column_shape", lambda *_: None)
    asked = policy_accuracy(policy, CATALOG, PublicContents())
    assert list(map(_texts, found)) == list(map(_texts, asked))


def _texts(line: PolicyAccuracy) -> tuple[object, ...]:
    said = line.planned.message if isinstance(line.planned, Refusal) else line.planned
    return line.table, line.column, line.aggregate, said
