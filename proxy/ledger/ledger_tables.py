"""One source's part of the ledger: a charge is one round trip, durable before it returns.

`ledger.reserve` (ledger_migrations) is one statement and so one transaction: it locks both balances, checks all
limits, appends the receipt and commits. Nothing is ever refunded.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import psycopg
from psycopg.rows import TupleRow, dict_row
from psycopg_pool import AsyncConnectionPool

from proxy.accounting.amounts import Amount, charge, decimal
from proxy.accounting.events import Event
from proxy.accounting.refusal import Refused, over_budget
from proxy.base.errors import Code, Fault, Refusal
from proxy.mechanisms.loss import NOTHING, Loss

# What a commit must mean (PostgreSQL 17 documentation, section 19.5): on disk, whole, before the answer comes.
_DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
_OPTIONS = (
    "-c synchronous_commit=on -c search_path=pg_catalog -c timezone=UTC"
    " -c default_transaction_isolation=read\\ committed -c statement_timeout=30s"
    " -c idle_in_transaction_session_timeout=30s -c jit=off"
)
_OPEN_SECONDS = 30.0
CONNECTIONS = 4
_WAIT_SECONDS = 5.0  # for a connection: a ledger that is away is told so soon
# Whoever was removed charges nothing, whatever a shadow still lets them do. The call takes the name from the
# row that says so, and is not made without it.
_RESERVE = """\
SELECT r.* FROM (
    SELECT n.name, NOT EXISTS (SELECT FROM ledger.analyst a WHERE a.name = n.name)
        OR EXISTS (SELECT FROM ledger.analyst a WHERE a.name = n.name AND a.removed_at IS NULL) AS may_ask
    FROM (SELECT %s::text AS name) n OFFSET 0) who
CROSS JOIN LATERAL ledger.reserve(%s, CASE WHEN who.may_ask THEN who.name END, %s, %s, %s, %s, %s) r
WHERE who.may_ask"""
_BUDGET = """\
SELECT coalesce(json_agg(b), '[]')::text FROM (
    SELECT CASE kind WHEN 'total' THEN '(everybody together)' ELSE %(analyst)s::text END AS analyst,
           trim_scale(epsilon_limit) AS epsilon_limit, trim_scale(epsilon_spent) AS epsilon_spent,
           trim_scale(epsilon_left) AS epsilon_remaining,
           trim_scale(delta_limit) AS delta_limit, trim_scale(delta_spent) AS delta_spent,
           trim_scale(delta_left) AS delta_remaining,
           period, renews_at, trim_scale(rho_limit) AS rho_limit, trim_scale(rho_spent) AS rho_spent
    FROM ledger.standing(%(source)s, %(analyst)s, transaction_timestamp()) ORDER BY kind) b"""
_HISTORY = """\
SELECT coalesce(json_agg(h ORDER BY h.receipt), '[]')::text FROM (
    SELECT r.id AS receipt, r.at, trim_scale(r.epsilon) AS epsilon, trim_scale(r.delta) AS delta,
           coalesce(s.outcome, 'reserved') AS outcome, r.fingerprint AS statement,
           r.policy_digest AS policy
    FROM ledger.receipt r LEFT JOIN ledger.settlement s ON s.receipt = r.id
    WHERE r.source = %(source)s AND r.analyst = %(analyst)s
    ORDER BY r.id DESC LIMIT 10000) h"""


class LedgerNotDurable(RuntimeError):
    """The ledger's server would lose charges in a crash: dpproxy does not serve on it."""


class ChargeOutcome(Enum):
    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """What is left, in the analyst's window and of everybody's budget; when the former renews."""

    own: Amount
    total: Amount
    renews_at: datetime | None

    @property
    def usable(self) -> Amount:
        """What the analyst can spend now: it must fit both."""
        return Amount(
            min(self.own.epsilon, self.total.epsilon), min(self.own.delta, self.total.delta)
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """id: of ledger.receipt; remaining: what the analyst can still spend."""

    id: int
    charged: Amount
    remaining: Amount
    renews_at: datetime | None


class LedgerTables:
    """The charges of one source, through a pool of connections to the ledger's server."""

    def __init__(self, ledger_dsn: str, source: int, connections: int = CONNECTIONS) -> None:
        self.source = source
        self.last_receipt = 0  # the highest that this process has seen committed
        self._pool = AsyncConnectionPool(
            ledger_dsn,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=_WAIT_SECONDS,
            kwargs={"autocommit": True, "options": _OPTIONS, "prepare_threshold": 0},
            name="ledger",
        )

    async def open(self) -> None:
        """
        Refuses  a server whose settings would let it lose a commit
        """
        await self._pool.open(wait=True, timeout=_OPEN_SECONDS)
        try:
            async with self._pool.connection() as connection:
                for setting, wanted in _DURABLE.items():
                    cursor = await connection.execute("SELECT current_setting(%s)", (setting,))
                    row = await cursor.fetchone()
                    if row is None or row[0] != wanted:
                        raise LedgerNotDurable(
                            f"the ledger's server must have {setting} = {wanted}"
                        )
        except BaseException:
            await self._pool.close()
            raise

    async def close(self) -> None:
        await self._pool.close()

    async def reserve(
        self,
        analyst: str,
        loss: Loss,
        fingerprint: str,
        policy_digest: str,
        events: Sequence[Event] = (),
    ) -> Receipt:
        """Charge, durably, before any data is read.

        Given    the analyst, the loss of one statement, its fingerprint, the policy's digest, the
                 mechanisms that the loss is composed of (proxy.accounting.events)
        Gives    a receipt, once the charge is committed to disk
        Refuses  OVER_BUDGET where the analyst's or everybody's budget does not cover it; PROTECTED of who
                 was removed; `Fault` where the ledger does not answer: the charge may then stand, so there
                 is no second try
        """
        cost = charge(loss)
        row = await self.first(
            _RESERVE,
            (
                analyst,
                self.source,
                decimal(cost.epsilon),
                decimal(cost.delta),
                json.dumps(list(events)),
                fingerprint,
                policy_digest,
            ),
        )
        if row is None:
            raise not_an_analyst(analyst)
        remaining = self.remaining_of(row)
        if row["receipt"] is None:
            raise over_budget(
                analyst, cost, Refused(remaining.own, remaining.total, remaining.renews_at)
            )
        self.saw(row["receipt"])
        return Receipt(row["receipt"], cost, remaining.usable, remaining.renews_at)

    def saw(self, receipt: int) -> None:
        """A receipt that is committed."""
        self.last_receipt = max(self.last_receipt, receipt)

    @staticmethod
    def remaining_of(row: Mapping[str, Any]) -> RemainingBudget:
        """What a charge says of both budgets."""
        return RemainingBudget(
            _amount(row["own_epsilon"], row["own_delta"]),
            _amount(row["total_epsilon"], row["total_delta"]),
            row["renews_at"],
        )

    async def settle(self, receipt: int, outcome: ChargeOutcome) -> None:
        """Mark what became of a charge. Never a refund; a second outcome does not replace the first.

        This commit alone does not wait for the disk (PostgreSQL 17 documentation, section 28.4): in a crash
        the note may be lost, never
        the charge. So the next question's charge does not queue behind it.
        """
        async with self._connection() as connection:
            await connection.execute(
                "INSERT INTO ledger.settlement (receipt, outcome) SELECT %s, %s"
                " FROM pg_catalog.set_config('synchronous_commit', 'off', true)"
                " ON CONFLICT (receipt) DO NOTHING",
                (receipt, outcome.value),
            )

    async def remaining(self, analyst: str) -> RemainingBudget:
        """For display: another statement may spend it before the next one asks."""
        remaining, _ = await self._remaining_for(analyst, charge(NOTHING), ())
        return remaining

    async def look(self, analyst: str, loss: Loss, events: Sequence[Event]) -> None:
        """Whether a charge would be granted now; it locks nothing and promises nothing.

        Refuses  OVER_BUDGET
        """
        cost = charge(loss)
        left, fits = await self._remaining_for(analyst, cost, events)
        if not fits:
            raise over_budget(analyst, cost, Refused(left.own, left.total, left.renews_at))

    async def _remaining_for(
        self, analyst: str, cost: Amount, events: Sequence[Event]
    ) -> tuple[RemainingBudget, bool]:
        async with self._connection() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(
                "SELECT kind, epsilon_left, delta_left, renews_at, fits"
                " FROM ledger.standing(%s, %s, transaction_timestamp(), %s, %s, %s::jsonb)",
                (
                    self.source,
                    analyst,
                    decimal(cost.epsilon),
                    decimal(cost.delta),
                    json.dumps(list(events)),
                ),
            )
            lines = {row["kind"]: row for row in await cursor.fetchall()}
        own, total = lines["analyst"], lines["total"]
        left = RemainingBudget(
            _amount(own["epsilon_left"], own["delta_left"]),
            _amount(total["epsilon_left"], total["delta_left"]),
            own["renews_at"],
        )
        return left, own["fits"] and total["fits"]

    async def budget(self, analyst: str) -> str:
        """The analyst's line and everybody's, as a JSON array of objects: the rows of dp.budget."""
        return await self._document(_BUDGET, {"source": self.source, "analyst": analyst})

    async def history(self, analyst: str, *, newest_first: bool = False) -> str:
        """The analyst's latest receipts as a JSON array: the rows of dp.history."""
        statement = _HISTORY.replace("ORDER BY h.receipt)", "ORDER BY h.receipt DESC)")
        return await self._document(
            statement if newest_first else _HISTORY, {"source": self.source, "analyst": analyst}
        )

    async def _document(self, statement: str, parameters: Mapping[str, object]) -> str:
        async with self._connection() as connection:
            cursor = await connection.execute(statement.encode(), parameters)
            row = await cursor.fetchone()
        if row is None:
            raise Fault("the ledger gave no answer")
        return str(row[0])

    async def first(self, statement: str, parameters: tuple[object, ...]) -> dict[str, Any] | None:
        """One row of one statement, which is one transaction.

        Refuses  Fault
        """
        async with self._connection() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(statement.encode(), parameters)
            return await cursor.fetchone()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[psycopg.AsyncConnection[TupleRow]]:
        """Whatever goes wrong with the ledger, no question is answered."""
        try:
            async with self._pool.connection() as connection:
                yield connection
        except psycopg.Error as error:
            raise Fault("the privacy budget ledger is not available") from error


def not_an_analyst(analyst: str) -> Refusal:
    return Refusal(
        Code.PROTECTED,
        f'"{analyst}" is not an analyst any more',
        "Log in with a name that `dpproxy user list` shows.",
    )


def _amount(epsilon: Decimal, delta: Decimal) -> Amount:
    return Amount(max(Fraction(epsilon), Fraction(0)), max(Fraction(delta), Fraction(0)))
