"""One source's part of the ledger: a charge is one round trip, durable before it returns.

`ledger.reserve_one` (ledger_schema/charges.sql) is one statement, so one transaction: it locks the balances of
all its lines, checks all limits, appends the receipt and commits. Nothing is ever refunded. Charges that wait
for one that is under way are one statement together (`ledger.reserve_each`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from functools import lru_cache
from itertools import count

import psycopg
from psycopg import errors, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import TupleRow

from proxy.accounting.amounts import Amount, charge, decimal
from proxy.accounting.budget_lines import STEPS, BudgetLine, lines_of_json, usable
from proxy.accounting.events import Event
from proxy.accounting.refusal import over_budget, over_token, token_is_over
from proxy.accounting.statement_record import NOTHING_NOTED, StatementRecord
from proxy.base.errors import Code, Fault, Refusal
from proxy.ledger.charge_queue import ChargeQueue, ChargeTimes, LedgerPool
from proxy.ledger.charge_statements import (
    PERSON,
    ChargeRequest,
    Row,
    in_their_order,
    reserving,
    reserving_each,
)
from proxy.ledger.text_cipher import TextCipher
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.turns.pool_use import PoolUse
from proxy.turns.threads import Turn

# One prepared statement on a connection to the ledger, below psycopg's cursors, which take more than twice as
# long: a charge is little else.
#
# Values and rows are still psycopg's: its Transformer dumps the one and loads the other.

_NUMBERS = count()
_TUPLES, _DONE = ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK


class LedgerConnection(psycopg.AsyncConnection[TupleRow]):
    """prepared: the names of its statements, by text and types. There are some dozens of them in all."""

    prepared: dict[tuple[str, tuple[int, ...]], bytes]


async def rows_of_call(
    connection: LedgerConnection, text: str, values: Sequence[object]
) -> list[Row]:
    """One statement, prepared on its first use.

    Given    a connection in autocommit that nobody else uses; text: with %s for each value, and no other %
    Gives    its rows, by names of columns
    Refuses  psycopg.Error
    """
    transformer = Transformer(connection)
    given = transformer.dump_sequence(values, (PyFormat.AUTO,) * len(values))
    types = transformer.types or ()
    if not hasattr(connection, "prepared"):
        connection.prepared = {}
    name = connection.prepared.get((text, types))
    if name is None:
        # Never one that a call had which was cancelled: it may be there.
        name = b"ledger_%d" % next(_NUMBERS)
        connection.pgconn.send_prepare(name, _numbered(text), types)
        await _result(connection)
        connection.prepared[text, types] = name
    connection.pgconn.send_query_prepared(name, given, transformer.formats)
    result = await _result(connection)
    transformer.set_pgresult(result)
    names = [_name(result, number) for number in range(result.nfields)]
    return transformer.load_rows(0, result.ntuples, lambda row: dict(zip(names, row, strict=True)))


async def _result(connection: LedgerConnection) -> PGresult:
    """Refuses  psycopg.Error; where it is cancelled, the statement is, too"""
    results: list[PGresult] = await connection.wait(generators.execute(connection.pgconn))
    if not results:
        raise psycopg.OperationalError
    result = results[-1]
    if result.status not in (_TUPLES, _DONE):
        raise errors.error_from_result(result)
    return result


def _name(result: PGresult, number: int) -> str:
    name = result.fname(number)
    assert name is not None
    return name.decode()


@lru_cache(maxsize=256)
def _numbered(text: str) -> bytes:
    """
    >>> _numbered("SELECT %s, %s::jsonb")
    b'SELECT $1, $2::jsonb'
    """
    first, *rest = text.split("%s")
    return "".join((first, *(f"${n}{part}" for n, part in enumerate(rest, 1)))).encode()


# What a commit must mean (PostgreSQL 17 documentation, section 19.5): on disk, whole, before the answer comes.
_DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
# Plans are made once: what is read is found by its keys, and a charge is many small statements.
_OPTIONS = (
    "-c synchronous_commit=on -c search_path=pg_catalog -c timezone=UTC"
    " -c default_transaction_isolation=read\\ committed"
    " -c idle_in_transaction_session_timeout=30s -c jit=off -c plan_cache_mode=force_generic_plan"
)
_DAY = "SELECT floor(extract(epoch FROM transaction_timestamp()) / 86400)::bigint AS day"
_OPEN_SECONDS = 10.0
CONNECTIONS = 4
_TEXT_OCTETS = 4 * 1024 * 1024  # of statements in one dp.history
_WAIT_SECONDS = 5.0  # for a ledger that is away
_TOKEN_OVER, _TOKEN_SPENT = "DPT01", "DPT02"
# What is read of an account: its lines, and what analysts are told of their budgets and receipts.
_LINES = """\
SELECT l.line FROM (SELECT %s::bigint AS source, %s::text AS name) who
CROSS JOIN LATERAL ledger.lines_at(
    who.source, who.name, %s::jsonb, transaction_timestamp(), %s, %s, %s::jsonb) l"""
# None of who was removed or may not query this data: as each charge decides it.
_ADMITTED_LINES = f"{_LINES} WHERE ledger.may_charge(who.source, who.name)"
# Blocks of time are many: those of which nothing is spent are all alike. Where others spend rho without a limit
# there is no step to tell it in.
_BUDGET = """\
SELECT coalesce(json_agg(b), '[]')::text FROM (
    SELECT CASE WHEN kind = 'total' THEN '(everybody together)' WHEN kind = 'analyst' THEN name
                WHEN kind = 'table' AND ledger.is_of_blocks(ARRAY[name]) THEN format('(%%s)', name)
                ELSE format('(%%s %%s)', kind, name) END AS analyst,
           trim_scale(epsilon_limit) AS epsilon_limit,
           ledger.in_steps(epsilon_spent, epsilon_limit, steps, true) AS epsilon_spent,
           ledger.in_steps(epsilon_left, epsilon_limit, steps, false) AS epsilon_remaining,
           trim_scale(delta_limit) AS delta_limit,
           ledger.in_steps(delta_spent, delta_limit, steps, true) AS delta_spent,
           ledger.in_steps(delta_left, delta_limit, steps, false) AS delta_remaining,
           period, renews_at, trim_scale(rho_limit) AS rho_limit,
           CASE WHEN steps IS NULL OR rho_limit > 0 THEN ledger.in_steps(rho_spent, rho_limit, steps, true) END
               AS rho_spent
    FROM ledger.lines_at(%(source)s, %(analyst)s, NULL, transaction_timestamp())
    CROSS JOIN LATERAL (SELECT CASE WHEN kind <> 'analyst' THEN %(steps)s::integer END AS steps) told
    WHERE kind <> 'table' OR NOT ledger.is_of_blocks(ARRAY[name]) OR epsilon_spent > 0 OR delta_spent > 0
    UNION ALL
    SELECT name, NULL, trim_scale(epsilon_spent), NULL, NULL, trim_scale(delta_spent), NULL, period, NULL, NULL,
           trim_scale(rho_spent)
    FROM ledger.line_at(%(source)s, 'analyst', ledger.published_account(), transaction_timestamp())
    WHERE EXISTS (SELECT FROM ledger.published r WHERE r.source = %(source)s)) b"""
_HISTORY = """\
SELECT row_to_json(h)::text,
       CASE WHEN r.at >= coalesce(own.added_at, '-infinity') THEN r.statement END, r.fingerprint
FROM ledger.receipt r LEFT JOIN ledger.settlement s ON s.receipt = r.id
CROSS JOIN LATERAL (
    SELECT r.id AS receipt, r.at, trim_scale(r.epsilon) AS epsilon, trim_scale(r.delta) AS delta,
           coalesce(s.outcome, 'reserved') AS outcome, r.fingerprint AS statement, r.policy_digest AS policy) h
-- What was asked by who had the name before is not told to who has it now.
LEFT JOIN ledger.analyst own ON own.name = r.analyst AND own.removed_at IS NULL
WHERE r.source = %s AND r.analyst = %s AND r.id < coalesce(%s, 9223372036854775807)
ORDER BY r.id DESC LIMIT %s"""


class LedgerNotDurable(RuntimeError):
    """The ledger's server would lose charges in a crash: dpproxy does not serve on it."""


class ChargeOutcome(Enum):
    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Receipt:
    """id: of ledger.receipt; remaining: what the analyst can still spend; lines: all that was charged to, with
    the charge; person: the analyst's number, None of who is no analyst."""

    id: int
    charged: Amount
    remaining: Amount
    lines: tuple[BudgetLine, ...]
    person: int | None


class LedgerTables:
    """The charges of one source, through a pool of connections to the ledger's server."""

    def __init__(
        self,
        ledger_dsn: str,
        source: int,
        texts: TextCipher,
        connections: int = CONNECTIONS,
        *,
        is_cached: bool = False,
        proof: Callable[[], int] | None = None,
    ) -> None:
        """texts: what hides all that is kept of statements; is_cached: whether answers are cached, for hints;
        proof: gives the proof of the lease under which this serves (BudgetLease)"""
        self.source = source
        self._ledger_dsn = ledger_dsn
        self._connections = connections
        self._proof = proof
        self.is_cached = is_cached
        self.texts = texts
        self.last_receipt = 0  # the highest that this process has seen committed
        self._pool: LedgerPool[LedgerConnection] | None = None  # only while the lease is held
        self._waits_before = 0  # of pools that were closed
        self.charge_times = ChargeTimes()
        self._reserving = ChargeQueue(self._reserve_each, times=self.charge_times)

    async def open(self) -> None:
        """Open the connections to the ledger, under a lease that is held. Also after `suspend`.

        Raises:
            LedgerNotDurable: the server's settings would let it lose a commit.
            psycopg.Error: the server does not answer, or the lease is lost again.
        """
        pool = LedgerPool(
            self._ledger_dsn,
            LedgerConnection,
            most=self._connections,
            options=_OPTIONS,
            name="ledger",
            away_seconds=_WAIT_SECONDS,
            check=self._refuse_without_lease,
            # Prepared by prepared_calls: psycopg, where it prepares, at times deallocates what anybody has.
            settings={"prepare_threshold": None},
        )
        try:
            await pool.open(wait=True, timeout=_OPEN_SECONDS)
            async with pool.connection() as connection:
                for setting, wanted in _DURABLE.items():
                    cursor = await connection.execute("SELECT current_setting(%s)", (setting,))
                    row = await cursor.fetchone()
                    if row is None or row[0] != wanted:
                        raise LedgerNotDurable(
                            f"the ledger's server must have {setting} = {wanted}"
                        )
        except BaseException:
            await pool.close()
            raise
        self._pool = pool

    @property
    def pool_use(self) -> PoolUse:
        """Nothing is there while the lease is lost."""
        stats = {} if self._pool is None else self._pool.get_stats()
        idle = stats.get("pool_available", 0)
        return PoolUse(idle=idle, used=stats.get("pool_size", 0) - idle, limit=self._connections)

    @property
    def waits(self) -> int:
        """How often a connection was waited for, since the start."""
        queued = 0 if self._pool is None else self._pool.get_stats().get("requests_queued", 0)
        return self._waits_before + queued

    async def suspend(self) -> None:
        """Close the connections: the lease is lost. Every call is refused until the next `open`."""
        self._waits_before = self.waits
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def close(self) -> None:
        await self._reserving.close()
        await self.suspend()

    async def _refuse_without_lease(self, connection: LedgerConnection) -> None:
        """Refuse a new connection unless the lease is held on its server.

        A server that was started again holds no lease. It may have been put back from a copy meanwhile, or
        serve other budgets: it is looked at when the lease is taken, before anything is charged in it.
        """
        if self._proof is None:
            return
        # The lease's connection locks its proof. Who gets a share of that lock is beside no lease.
        cursor = await connection.execute(
            "SELECT pg_try_advisory_xact_lock_shared(%s)", (self._proof(),)
        )
        if await cursor.fetchone() != (False,):
            raise psycopg.OperationalError("the lease on the budgets is lost")

    async def reserve(
        self,
        analyst: str,
        loss: Loss,
        fingerprint: str,
        policy_digest: str,
        events: Sequence[Event] = (),
        record: StatementRecord = NOTHING_NOTED,
        token: int | None = None,
    ) -> Receipt:
        """Charge, durably, before any data is read.

        Given    the analyst, the loss of one statement, its fingerprint, the policy's digest, the
                 mechanisms that the loss is composed of (proxy.accounting.events), what else is noted, the
                 token that it comes through
        Gives    a receipt, once the charge is committed to disk
        Refuses  OVER_BUDGET where one of the budgets does not cover it; PROTECTED of who was removed, or may
                 not query this data; `Fault` where the ledger does not answer: the charge may then stand, so
                 there is no second try
        """
        one = ChargeRequest(
            analyst=analyst,
            cost=charge(loss),
            events=events,
            tables={name: as_json(of) for name, of in record.tables.items()},
            fingerprint=fingerprint,
            policy_digest=policy_digest,
            statement=self.encrypted(record.text, analyst, fingerprint),
        )
        if token is None:
            row = await self._reserving.charged(one)
        else:  # it may raise, which would undo the charges of others
            row = await self.first(*reserving(self.source, one, token))
        if row is None:
            raise not_an_analyst(analyst)
        lines = lines_of_json(row["lines"])
        if row["receipt"] is None:
            raise over_budget(lines, is_cached=self.is_cached)
        self.saw(row["receipt"])
        return Receipt(row["receipt"], one.cost, self.usable(lines), lines, row["person"])

    async def _reserve_each(self, these: Sequence[ChargeRequest]) -> Sequence[Row | None]:
        if len(these) == 1:
            return [await self.first(*reserving(self.source, these[0], None))]
        rows = await self.rows(*reserving_each(self.source, these))
        return in_their_order(rows, [one.analyst for one in these])

    def encrypted(self, text: str | None, analyst: str, fingerprint: str) -> bytes | None:
        """A statement's text as a receipt keeps it; None where it keeps none."""
        if text is None:
            return None
        return self.texts.encrypted(text, (analyst, fingerprint))

    def saw(self, receipt: int) -> None:
        """A receipt that is committed."""
        self.last_receipt = max(self.last_receipt, receipt)

    async def settle_each(self, outcomes: Mapping[int, ChargeOutcome]) -> None:
        """Mark what became of charges. Never a refund; a second outcome does not replace the first.

        Given    outcomes: by receipt
        This commit alone does not wait for the disk (PostgreSQL 17 documentation, section 28.4): in a crash
        the note may be lost, never the charge. So the next question's charge does not queue behind it.
        """
        await self.rows(
            "INSERT INTO ledger.settlement (receipt, outcome)"
            " SELECT s.receipt, s.outcome FROM pg_catalog.set_config('synchronous_commit', 'off', true),"
            " unnest(%s::bigint[], %s::text[]) s(receipt, outcome) ON CONFLICT (receipt) DO NOTHING",
            (list(outcomes), [one.value for one in outcomes.values()]),
        )

    async def lines(
        self, analyst: str, record: StatementRecord = NOTHING_NOTED
    ) -> tuple[BudgetLine, ...]:
        """For display: another statement may spend it before the next one asks."""
        return await self._lines(analyst, charge(NOTHING), (), record)

    async def look(
        self,
        analyst: str,
        loss: Loss,
        events: Sequence[Event],
        record: StatementRecord = NOTHING_NOTED,
    ) -> None:
        """Whether a charge would be granted now; it locks nothing and promises nothing.

        Refuses  OVER_BUDGET
        """
        lines = await self._lines(analyst, charge(loss), events, record)
        if any(line.falls_short for line in lines):
            raise over_budget(lines, is_cached=self.is_cached)

    async def remaining(self, analyst: str) -> Amount:
        """As `lines`: what the analyst can still spend."""
        return self.usable(await self.lines(analyst))

    async def admitted(self, analyst: str) -> Amount:
        """As `remaining`, of who may be answered.

        Refuses  PROTECTED of who was removed, or may not query this data: as `reserve`, which decides this in
                 the statement that charges, where nothing is charged
        """
        lines = await self._lines(analyst, charge(NOTHING), (), NOTHING_NOTED, _ADMITTED_LINES)
        if not lines:
            raise not_an_analyst(analyst)
        return self.usable(lines)

    async def day(self) -> int:
        """The day of the clock of the ledger's server, in days since 1970-01-01, UTC."""
        row = await self.first(_DAY, ())
        assert row is not None, "a clock always tells"
        return int(row["day"])

    async def person(self, analyst: str) -> int | None:
        """The analyst's number, which a name that is given again has not; None: there is no such analyst."""
        row = await self.first(PERSON, (analyst,))
        return None if row is None else row["person"]

    def usable(self, lines: tuple[BudgetLine, ...]) -> Amount:
        """What an analyst is told that they can spend now."""
        return usable(lines, is_cached=self.is_cached)

    async def _lines(
        self,
        analyst: str,
        cost: Amount,
        events: Sequence[Event],
        record: StatementRecord,
        statement: str = _LINES,
    ) -> tuple[BudgetLine, ...]:
        rows = await self.rows(
            statement,
            (
                self.source,
                analyst,
                json.dumps({name: as_json(of) for name, of in record.tables.items()}),
                decimal(cost.epsilon),
                decimal(cost.delta),
                json.dumps(list(events)),
            ),
        )
        return lines_of_json([row["line"] for row in rows])

    async def budget(self, analyst: str) -> str:
        """The analyst's lines and everybody's, as a JSON array of objects: the rows of dp.budget."""
        async with self._connection() as connection:
            cursor = await connection.execute(
                _BUDGET,
                {
                    "source": self.source,
                    "analyst": analyst,
                    "steps": STEPS if self.is_cached else None,
                },
            )
            row = await cursor.fetchone()
        if row is None:
            raise Fault("the ledger gave no answer")
        return str(row[0])

    async def history(
        self,
        turn: Turn,
        *,
        newest_first: bool = False,
        before: int | None = None,
        limit: int = 10_000,
    ) -> str:
        """The analyst's latest receipts as a JSON array: the rows of dp.history. Texts of the newest, as
        many as fit. before, limit: as of the port."""
        async with self._connection() as connection:
            cursor = await connection.execute(_HISTORY, (self.source, turn.analyst, before, limit))
            found = await cursor.fetchall()
        texts = await turn.in_thread(_texts_of, self.texts, found, turn.analyst)
        each = [
            f'{row[0][:-1]},"text":{json.dumps(text)}}}'
            for row, text in zip(found, texts, strict=True)
        ]
        return f"[{','.join(each if newest_first else each[::-1])}]"

    async def first(self, statement: str, parameters: tuple[object, ...]) -> Row | None:
        return next(iter(await self.rows(statement, parameters)), None)

    async def rows(self, statement: str, parameters: tuple[object, ...]) -> list[Row]:
        """Of one statement, which is one transaction. Refuses  Fault"""
        async with self._connection() as connection:
            return await rows_of_call(connection, statement, parameters)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[LedgerConnection]:
        """Whatever goes wrong with the ledger, no question is answered."""
        pool = self._pool
        if pool is None:
            raise Fault(
                "the privacy budget ledger is away: statements are refused until it is back"
            )
        try:
            async with pool.connection() as connection:
                yield connection
        except psycopg.Error as error:
            # Raised by ledger.spend_token, with which the whole charge is undone.
            if error.sqlstate == _TOKEN_SPENT:
                raise _over_token(error.diag.message_detail) from None
            if error.sqlstate == _TOKEN_OVER:
                raise token_is_over() from None
            raise Fault("the privacy budget ledger is not available") from error


def _over_token(detail: str | None) -> Refusal:
    """detail: of ledger.spend_token."""
    if detail is None:
        raise Fault("the ledger does not say what is left of a token")
    told = json.loads(detail)
    renews = told["renews_at"]
    return over_token(
        told["left"],
        renews_at=None
        if renews is None
        else datetime.fromisoformat(renews).astimezone(timezone.utc),
        renews_in=told["renews_in"],
        fits_fresh=told["fits_fresh"],
    )


def not_an_analyst(analyst: str) -> Refusal:
    return Refusal(
        Code.PROTECTED,
        f'"{analyst}" is not an analyst any more, or may not query this database any more',
        "Log in with a name that `dpproxy user list` shows, and `dpproxy access list` for this database.",
    )


def as_json(loss: Loss) -> dict[str, str]:
    """As it is charged."""
    cost = charge(loss)
    return {"epsilon": str(decimal(cost.epsilon)), "delta": str(decimal(cost.delta))}


def _texts_of(cipher: TextCipher, receipts: Sequence[TupleRow], analyst: str) -> list[str | None]:
    """None where there is none, where its key is not here, and of those after what may be shown at once."""
    octets, found = 0, list[str | None]()
    for _, statement, fingerprint in receipts:
        octets += len(statement or b"")
        fits = statement is not None and octets <= _TEXT_OCTETS
        found.append(cipher.decrypted(statement, (analyst, fingerprint)) if fits else None)
    return found
