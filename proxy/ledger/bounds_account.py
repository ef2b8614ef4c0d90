"""The account of what the owner of a policy reads privately: charged to the shared budget, like a query.

It has a line of its own in the ledger, so that it is seen what was spent on it. Its limit is that of everybody
together, so that nothing but the total decides.
"""

from __future__ import annotations

from typing import Any

import psycopg

POLICY_BOUNDS = "(policy bounds)"  # no analyst can have this name (users.py)

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
    """When the limits of a source were written anew, and it has charges. In the transaction of the caller."""
    charged = connection.execute(
        "SELECT EXISTS (SELECT FROM ledger.receipt WHERE source = %s AND analyst = %s)",
        (source, POLICY_BOUNDS),
    ).fetchone()
    if charged is not None and charged[0]:
        connection.execute(_LIMIT, (POLICY_BOUNDS, source))
