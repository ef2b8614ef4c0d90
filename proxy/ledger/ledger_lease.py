"""Processes that serve one source agree on its budgets: each holds a lease on them as long as it lives.

A lease is a shared advisory lock of the ledger's server on the source; who wants to change the limits needs
it alone. So a second policy for the same data shares the budgets or is refused, and a lease ends with its
process, however that ends.

A lease also ends with the ledger's server, and with its connection. The process then takes it again
(`retake`). Each taking has a random number, the proof, which its connection locks. A connection of the same
server that finds the proof locked knows that the lease is held.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref

import psycopg

from proxy.ledger.admin_log import keep_text, text_to_keep
from proxy.ledger.charge_queue import connect_lasting
from proxy.ledger.ledger_sources import SourceError, budgets_of, write_budgets
from proxy.policy.policy_model import Policy

_CLASS = 0x64705F62  # of our locks, among all advisory locks of the database
# How many hold a lease on the source and no vote for the budgets (PostgreSQL 17 documentation, 53.13).
_DISSENT = """\
WITH here AS (
    SELECT l.pid, l.classid::bigint AS class, l.objid::bigint AS object, l.objsubid
    FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND l.granted AND d.datname = pg_catalog.current_database()
), vote (class, object) AS (
    SELECT (v.ballot >> 32) & 4294967295, v.ballot & 4294967295 FROM (VALUES (%(ballot)s::bigint)) v (ballot)
)
SELECT count(*) FROM here WHERE class = %(class)s AND object = %(source)s AND objsubid = 2
AND NOT EXISTS (
    SELECT FROM here other, vote
    WHERE other.pid = here.pid AND other.objsubid = 1
      AND other.class = vote.class AND other.object = vote.object
)"""


class BudgetsAwaited(SourceError):
    """Others that serve the same data have other budgets still."""


class BudgetLease:
    """
    Given    the ledger's connection string, a source's number, the policy to be served
    Gives    the limits in force are the policy's, until `close`
    Refuses  SourceError where another process serves the source with other budgets

    proof: of the lease that was taken last.
    """

    def __init__(self, ledger_dsn: str, source: int, policy: Policy) -> None:
        self.ledger_dsn = ledger_dsn  # holds a password: never log it
        self.source = source
        self._changing = threading.Lock()
        self._connect(policy)

    def retake(self, policy: Policy) -> None:
        """Take the lease again, on a new connection, after it was lost.

        Args:
            policy: the policy in force

        Raises:
            psycopg.Error: the ledger's server does not answer yet. Call it again later.
            SourceError: another process has taken a lease meanwhile, with other budgets.
        """
        with self._changing:
            self.close()
            self._connect(policy)

    def _connect(self, policy: Policy) -> None:
        self._connection = connect_lasting(self.ledger_dsn)
        self._voted: int | None = None
        self._closing = weakref.finalize(self, self._connection.close)
        self.proof = int.from_bytes(os.urandom(8), "big", signed=True)
        try:
            self._take(self.source, policy)
        except BaseException:
            self.close()
            raise

    def change(self, policy: Policy) -> None:
        """The limits in force become those of another policy.

        Refuses  BudgetsAwaited while another process that serves the source has not been given the same
                 budgets: the last one that is changes them for all
        """
        with self._changing:
            text = text_to_keep(self._connection, policy)  # before the source is locked
            with self._connection.transaction():
                if self._is_other(policy):
                    write_budgets(self._connection, self.source, policy)
                self._note(policy, text)

    def agree(self, policy: Policy) -> None:
        """Vote for another policy's limits, and change nothing.

        Refuses  as `change`
        """
        with self._changing, self._connection.transaction():
            self._is_other(policy)

    def _is_other(self, policy: Policy) -> bool:
        """Vote, and tell whether the limits in force are others, which this process may change by then."""
        row = self._connection.execute(
            "SELECT budgets FROM ledger.source WHERE id = %s FOR UPDATE", (self.source,)
        ).fetchone()
        assert row is not None
        self._vote(policy)
        if row[0] == budgets_of(policy):
            return False
        if not self._all_agree(policy):
            raise BudgetsAwaited(
                f"database {policy.database}: another dpproxy serves the same data with other"
                " budgets: they change once its policy has been given the same ones"
            )
        return True

    def _vote(self, policy: Policy) -> None:
        """For these budgets, and no others: as locks, which end with the process."""
        wanted = self._ballot(policy)
        if self._voted == wanted:
            return
        if self._voted is not None:
            self._connection.execute("SELECT pg_advisory_unlock_shared(%s)", (self._voted,))
        self._connection.execute("SELECT pg_advisory_lock_shared(%s)", (wanted,))
        self._voted = wanted

    def _ballot(self, policy: Policy) -> int:
        budgets = budgets_of(policy)
        text = f"{_CLASS} {self.source} {budgets}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)

    def _all_agree(self, policy: Policy) -> bool:
        given = {"class": _CLASS, "source": self.source, "ballot": self._ballot(policy)}
        return self._connection.execute(_DISSENT.encode(), given).fetchone() == (0,)

    def _note(self, policy: Policy, text: str) -> None:
        self._connection.execute(
            "INSERT INTO ledger.policy_version (source, digest) VALUES (%s, %s)"
            " ON CONFLICT DO NOTHING",
            (self.source, policy.digest),
        )
        keep_text(self._connection, policy, text)

    def close(self) -> None:
        self._closing()

    def holds(self) -> bool:
        """Whether the lease is still held: it ends with the connection."""
        try:
            with self._changing:  # no part of another's transaction
                self._connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def _take(self, source: int, policy: Policy) -> None:
        connection = self._connection
        connection.execute("SET idle_session_timeout = 0")
        text = text_to_keep(connection, policy)  # before the source is locked
        with connection.transaction():
            # The row is the listener: nobody else takes or changes a lease meanwhile.
            row = connection.execute(
                "SELECT budgets FROM ledger.source WHERE id = %s FOR UPDATE", (source,)
            ).fetchone()
            assert row is not None
            if row[0] != budgets_of(policy):
                if not self._is_free(source):
                    raise SourceError(
                        f"database {policy.database}: another dpproxy serves the same data with other"
                        " budgets: give both policies the same budgets, or stop the other one first"
                    )
                write_budgets(connection, source, policy)
            self._note(policy, text)
            connection.execute("SELECT pg_advisory_lock_shared(%s, %s::integer)", (_CLASS, source))
            connection.execute("SELECT pg_advisory_lock(%s)", (self.proof,))

    def _is_free(self, source: int) -> bool:
        row = self._connection.execute(
            "SELECT pg_try_advisory_xact_lock(%s, %s::integer)", (_CLASS, source)
        ).fetchone()
        return row is not None and bool(row[0])
