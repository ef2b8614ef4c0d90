"""A policy, as far as a ledger reads it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import Accounting, Budget, Budgets, Policy
from tests.ledger_machine.asked import Limit, Terms


def policy_of(terms: Terms) -> Policy:
    def budget(one: Limit) -> Budget:
        return Budget(one.loss, one.period)

    budgets = Budgets(
        total=budget(terms.total),
        default=budget(terms.default),
        analysts={name: budget(one) for name, one in terms.analysts.items()},
        groups={name: budget(one) for name, one in terms.groups.items()},
        tables={TableName(*n.split(".")): budget(one) for n, one in terms.tables.items()},
    )
    accounting = Accounting.ZCDP if terms.is_zcdp else Accounting.BASIC
    made = SimpleNamespace(
        budgets=budgets, accounting=accounting, digest="p", database="data", protected=tuple
    )
    return cast(Policy, made)
