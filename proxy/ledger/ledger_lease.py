"""Processes that serve one source agree on its budgets: each holds a lease on them as long as it lives.

A lease is a shared advisory lock of the ledger's server on the source; who wants to change the limits needs
it alone. So a second policy for the same data shares the budgets or is refused, and a lease ends with its
process, however that ends.
"""

from __future__ import annotations

import weakref

import psycopg

from proxy.ledger.ledger_sources import SourceError, budgets_text, write_budgets
from proxy.policy.policy_model import Policy

_CLASS = 0x64705F62  # of our locks, among all advisory locks of the database


class BudgetLease:
    """
    Given    the ledger's connection string, a source's number, the policy to be served
    Gives    the limits in force are the policy's, until `close`
    Refuses  SourceError where another process serves the source with other budgets
    """

    def __init__(self, ledger_dsn: str, source: int, policy: Policy) -> None:
        self.ledger_dsn = ledger_dsn  # holds a password: never log it
        self.source = source
        self._connection = psycopg.connect(ledger_dsn, autocommit=True)
        weakref.finalize(self, self._connection.close)
        try:
            self._take(source, policy)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def holds(self) -> bool:
        """Whether the lease is still held: it ends with the connection."""
        try:
            self._connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def _take(self, source: int, policy: Policy) -> None:
        connection = self._connection
        connection.execute("SET idle_session_timeout = 0")
        with connection.transaction():
            # The row is the listener: nobody else takes or changes a lease meanwhile.
            row = connection.execute(
                "SELECT budgets FROM ledger.source WHERE id = %s FOR UPDATE", (source,)
            ).fetchone()
            assert row is not None
            if row[0] != budgets_text(policy.budgets, policy.accounting):
                if not self._is_free(source):
                    raise SourceError(
                        f"database {policy.database}: another dpproxy serves the same data with other"
                        " budgets: give both policies the same budgets, or stop the other one first"
                    )
                write_budgets(connection, source, policy)
            connection.execute(
                "INSERT INTO ledger.policy_version (source, digest) VALUES (%s, %s)"
                " ON CONFLICT DO NOTHING",
                (source, policy.digest),
            )
            connection.execute("SELECT pg_advisory_lock_shared(%s, %s::integer)", (_CLASS, source))

    def _is_free(self, source: int) -> bool:
        row = self._connection.execute(
            "SELECT pg_try_advisory_xact_lock(%s, %s::integer)", (_CLASS, source)
        ).fetchone()
        return row is not None and bool(row[0])
