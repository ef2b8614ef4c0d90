"""The policy in force is the one that its owner wrote, but for the terms in which columns are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.cli.loading import with_columns_of
from proxy.mechanisms.loss import Loss
from proxy.policy.check import check, fitted
from proxy.policy.policy_model import Policy, ProtectedTable, PublicTable, RowUnit
from tests.pipeline_world import CATALOG, POLICIES

_VISITS = TableName("w", "visits")
_POLICY = POLICIES["world"]


def _of_rows(policy: Policy) -> Policy:
    table = policy.tables[_VISITS]
    assert isinstance(table, ProtectedTable)
    return replace(policy, tables={**policy.tables, _VISITS: replace(table, unit=RowUnit(1))})


def _made_public(policy: Policy) -> Policy:
    return replace(policy, tables={**policy.tables, _VISITS: PublicTable(_VISITS)})


def _left_out(policy: Policy) -> Policy:
    return replace(policy, tables={n: t for n, t in policy.tables.items() if n != _VISITS})


def _richer(policy: Policy) -> Policy:
    total = replace(policy.budgets.total, limit=Loss(Fraction(10**6), Fraction(0)))
    return replace(policy, budgets=replace(policy.budgets, total=total))


@pytest.mark.parametrize("change", [_of_rows, _made_public, _left_out, _richer])
def test_what_fits_a_policy_to_its_database_decides_nothing_of_units_tables_and_budgets(
    change: Callable[[Policy], Policy],
) -> None:
    changed = change(_POLICY)
    assert changed != _POLICY
    assert with_columns_of(_POLICY, changed) == _POLICY


def test_columns_are_in_the_terms_of_their_types() -> None:
    assert not check(_POLICY, CATALOG)
    assert with_columns_of(_POLICY, fitted(_POLICY, CATALOG)) == fitted(_POLICY, CATALOG)
