"""What a kept answer costs in time beside a fresh one, what finding it costs, and charges in a second."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from fractions import Fraction

import psycopg
import uvloop

from proxy.accounting import amounts
from proxy.accounting.events import dlaplace
from proxy.kernel.plan import BlockPlan
from proxy.ledger.charge_statements import ChargeRequest, reserving
from proxy.ledger.ledger_tables import LedgerTables
from proxy.mechanisms.loss import Loss
from proxy.reuse.block_question import question_of
from tests.bench.measuring import Bound, Comparison
from tests.bench.servers import ANALYSTS, Servers
from tests.ledger_key import LEDGER_CIPHER
from tests.pipeline_world import walk

_KEPT = Bound(ratio=0.5)
_CANONICAL_MS = 0.3
_CLIENTS = 8
_COMMITS = 0.7  # of what the ledger's server commits alone
_SCALE = Fraction(1000)
_LOSS = Loss(1 / _SCALE, Fraction(0))
_SELECT = "SELECT count(*) FROM bench.people WHERE income > "
# Statements of tests.pipeline_world, from small to as large as dashboards have them.
_STATEMENTS = (
    "SELECT count(*) FROM people",
    "SELECT b, count(*), sum(i4) FROM people WHERE i4 > 5 AND t = 'a' GROUP BY b",
    "SELECT b, t, count(*), sum(i4), avg(n2), sum(i8) FROM people"
    " WHERE i4 > 5 AND i4 < 50 AND t IN ('a', 'b') AND NOT b GROUP BY b, t",
)


def kept_answers(servers: Servers) -> list[Comparison]:
    """Both through the proxy; of the fresh one the text is another each time."""
    fresh, kept = servers.proxied("people_kept"), servers.proxied("people_kept")
    return [
        Comparison("count(*) where", _new(fresh, itertools.count()), _same(kept), _KEPT),
        Comparison(
            "count(*) where, prepared",
            _new_prepared(fresh, itertools.count(100_000)),
            _same_prepared(kept),
            _KEPT,
        ),
    ]


def canonicalising(rounds: int) -> str:
    """The canonical texts of questions, in this process."""
    lines = ["Canonicalising a question: milliseconds, median and least"]
    for text in _STATEMENTS:
        pipeline = walk(text)
        assert pipeline is not None
        times = [_timed(pipeline.plan.blocks) for _ in range(rounds)]
        median = statistics.median(times)
        verdict = "holds" if median < _CANONICAL_MS else "MISSED"
        lines.append(
            f"    {text[:60]:60}{median:8.3f}{min(times):8.3f}  < {_CANONICAL_MS}  {verdict}"
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class Commits:
    """In a second, medians. one: of a single client, the others of eight; called: of charges that each makes by
    itself; charged: of charges as the proxy makes them."""

    one: float
    alone: float
    called: float
    charged: float

    def __str__(self) -> str:
        share = self.charged / self.alone
        verdict = "holds" if share >= _COMMITS else "MISSED"
        return (
            f"Durable commits in a second on the ledger's server: {self.one:.0f} by one client alone,"
            f" {self.alone:.0f} by {_CLIENTS},\n{self.charged:.0f} charges by {_CLIENTS}, which is"
            f" {self.charged / self.one:.2f} and {share:.2f} of them  >= {_COMMITS}  {verdict}\n"
            f"{self.called:.0f} of the same charges by {_CLIENTS} connections that call the ledger's function"
            f" themselves: {self.charged / self.called:.2f} of that"
        )


def durable_commits(ledger: str, rounds: int, seconds: float) -> Commits:
    """Rows in a table of its own, and charges as the proxy reserves them, in turn and from this process."""
    return uvloop.run(_durable_commits(ledger, rounds, seconds))


async def _durable_commits(ledger: str, rounds: int, seconds: float) -> Commits:
    found: list[tuple[float, float, float, float]] = []
    async with AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(
                await psycopg.AsyncConnection.connect(ledger, autocommit=True, prepare_threshold=0)
            )
            for _ in range(_CLIENTS)
        ]
        await sessions[0].execute("CREATE TABLE IF NOT EXISTS public.durable (of text)")
        cursor = await sessions[0].execute("SELECT min(id) FROM ledger.source")
        row = await cursor.fetchone()
        assert row is not None
        tables = LedgerTables(ledger, int(row[0]), LEDGER_CIPHER, _CLIENTS)
        await tables.open()
        stack.push_async_callback(tables.close)

        async def insert(number: int) -> None:
            await sessions[number].execute("INSERT INTO public.durable VALUES ('a row')")

        async def charge(number: int) -> None:
            analyst = ANALYSTS[number % len(ANALYSTS)]
            await tables.reserve(analyst, _LOSS, "0" * 32, "bench", [dlaplace(_LOSS, 1, _SCALE)])

        async def call(number: int) -> None:
            request = ChargeRequest(
                analyst=ANALYSTS[number % len(ANALYSTS)],
                cost=amounts.charge(_LOSS),
                events=[dlaplace(_LOSS, 1, _SCALE)],
                tables={},
                fingerprint="0" * 32,
                policy_digest="bench",
                statement=None,
            )
            text, values = reserving(tables.source, request, None)
            await (await sessions[number].execute(text.encode(), values)).fetchall()

        for _ in range(rounds):
            one = await _in_a_second(insert, 1, seconds)
            alone = await _in_a_second(insert, _CLIENTS, seconds)
            called = await _in_a_second(call, _CLIENTS, seconds)
            found.append((one, alone, called, await _in_a_second(charge, _CLIENTS, seconds)))
        await sessions[0].execute("DROP TABLE public.durable")
    return Commits(*map(statistics.median, zip(*found, strict=True)))


async def _in_a_second(
    work: Callable[[int], Awaitable[None]], clients: int, seconds: float
) -> float:
    end = time.perf_counter() + seconds
    done = [0] * clients

    async def client(number: int) -> None:
        while time.perf_counter() < end:
            await work(number)
            done[number] += 1

    await asyncio.gather(*map(client, range(clients)))
    return sum(done) / seconds


def _timed(blocks: tuple[BlockPlan, ...]) -> float:
    begin = time.perf_counter()
    for block in blocks:
        question_of(block)
    return (time.perf_counter() - begin) * 1000


def _new(connection: psycopg.Connection, numbers: Iterator[int]) -> Callable[[], object]:
    def run() -> object:
        text = f"{_SELECT}{next(numbers)}.5"
        return connection.execute(text.encode(), prepare=False).fetchall()

    return run


def _same(connection: psycopg.Connection) -> Callable[[], object]:
    text = f"{_SELECT}30000"

    def run() -> object:
        return connection.execute(text.encode(), prepare=False).fetchall()

    return run


def _new_prepared(connection: psycopg.Connection, numbers: Iterator[int]) -> Callable[[], object]:
    def run() -> object:
        given = (next(numbers),)
        return connection.execute(f"{_SELECT}%s::numeric".encode(), given, prepare=True).fetchall()

    return run


def _same_prepared(connection: psycopg.Connection) -> Callable[[], object]:
    def run() -> object:
        return connection.execute(
            f"{_SELECT}%s::numeric".encode(), (40_000,), prepare=True
        ).fetchall()

    return run
