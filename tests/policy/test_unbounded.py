"""`max_rows_per_unit: none` in a policy file."""

from __future__ import annotations

import pytest

from proxy.policy.policy_model import ROWS_AT_MOST, ProtectedTable
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import read_policy

_TEXT = """\
dpproxy: 1
database: shop
source: ${{SHOP_DSN}}
privacy: {{epsilon: 1.0, delta: 1e-6}}
tables:
  shop.orders: {{unit: {unit}, {rest}}}
budgets: {{total: {{epsilon: 100, delta: 1e-3}}, default: {{epsilon: 10, delta: 1e-4}}}}
"""
_PERSON = "{customer: customer_id}"


def _table(rest: str, unit: str = _PERSON) -> ProtectedTable:
    text = _TEXT.format(unit=unit, rest=rest)
    (table,) = read_policy(text, "shop.yaml", {"SHOP_DSN": "x"}).tables.values()
    assert isinstance(table, ProtectedTable)
    return table


def test_rows_are_declared_unbounded() -> None:
    table = _table("max_rows_per_unit: none, max_groups_per_unit: 3, join_rows_at_most: 7")
    assert table.is_unbounded and table.chooses_rows
    assert (table.max_rows_per_unit, table.max_groups_per_unit) == (ROWS_AT_MOST, 3)
    assert table.join_rows_at_most == 7
    for bounded in ("max_rows_per_unit: auto", "max_rows_per_unit: 5", "columns: {}"):
        assert not _table(bounded).is_unbounded


@pytest.mark.parametrize(
    ("rest", "unit", "told"),
    [
        (
            "max_rows_per_unit: none, rows_at_most: 5",
            _PERSON,
            "rows_at_most has no effect with max_rows_per_unit: none",
        ),
        ("max_rows_per_unit: none", "row", "max_rows_per_unit is for a unit with an identifier"),
        ("max_rows_per_unit: None", _PERSON, "max_rows_per_unit must be a decimal number"),
    ],
)
def test_what_means_nothing_is_refused(rest: str, unit: str, told: str) -> None:
    with pytest.raises(PolicyErrors) as refused:
        _table(rest, unit)
    assert told in str(refused.value)
