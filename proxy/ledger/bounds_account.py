"""The accounts of what the owner of a policy reads privately, or publishes: charged to the shared budget.

Each has a line of its own in the ledger, so that it is seen what was spent on it. Its limit is that of
everybody together, so that nothing but the total decides.
"""

from __future__ import annotations

from typing import Any

import psycopg

# No analyst can have these names (users.py).
POLICY_BOUNDS = "(policy bounds)"
PUBLISHED = "(published)"  # as ledger.published_account

_LIMIT = (
    "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period, rho)"
    " SELECT source, 'analyst', %s, epsilon, delta, period, rho FROM ledger.allowance"
    " WHERE source = %s AND kind = 'total'"
    " ON CONFLICT (source, kind, analyst) DO UPDATE"
    " SET (epsilon, delta, period, rho)"
    " = (EXCLUDED.epsilon, EXCLUDED.delta, EXCLUDED.period, EXCLUDED.rho)"
)


def open_account(ledger_dsn: str, source: int) -> None:
    """Before a charge to it. The limits of the source must be there."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute(_LIMIT, (POLICY_BOUNDS, source))


def renew_account(connection: psycopg.Connection[Any], source: int) -> None:
    """When the limits of a source were written anew, of accounts with charges. In the transaction of the
    caller."""
    for account in (POLICY_BOUNDS, PUBLISHED):
        charged = connection.execute(
            "SELECT EXISTS (SELECT FROM ledger.receipt WHERE source = %s AND analyst = %s)",
            (source, account),
        ).fetchone()
        if charged is not None and charged[0]:
            connection.execute(_LIMIT, (account, source))
