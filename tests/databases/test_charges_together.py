"""Charges that wait in one process: each is told to whom it is of, whatever ends some of them."""

from __future__ import annotations

import asyncio
import contextlib
import random  # noqa: TID251  the same charges for the same seed
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.accounting.events import dlaplace
from proxy.accounting.statement_record import StatementRecord
from proxy.base.errors import Code, Fault, Refusal
from proxy.drawing.answer_slots import CachedQuestion
from proxy.ledger import charge_queue
from proxy.ledger.bearer_tokens import create_token
from proxy.ledger.cached_claims import CachedClaims, Claimed
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_tables import LedgerTables, Receipt
from proxy.ledger.users import remove_analyst
from proxy.policy.policy_model import Reuse
from tests.asked_by import run_of
from tests.chosen_slots import slot_offset
from tests.databases.ledger_database import (
    ANALYSTS,
    INTO_ALLOWANCE,
    SOURCE,
    add_people,
    loss,
    rows,
    set_limits,
)
from tests.ledger_key import LEDGER_CIPHER
from tests.named_slots import named_slot
from tests.unchecked_blocks import priced
from tests.waiting import until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def people(ledger_dsn: str) -> str:
    add_people(ledger_dsn)
    return ledger_dsn


@dataclass(frozen=True)
class _Process:
    tables: LedgerTables
    claims: CachedClaims


def _run(
    dsn: str, use: Callable[[Sequence[_Process]], Awaitable[None]], processes: int = 1
) -> None:
    async def run() -> None:
        async with contextlib.AsyncExitStack() as stack:
            made = []
            for _ in range(processes):
                tables = LedgerTables(dsn, SOURCE, LEDGER_CIPHER)
                await tables.open()
                stack.push_async_callback(tables.close)
                made.append(
                    _Process(tables, CachedClaims(tables, Reuse(86_400, slot_offset(86_400))))
                )
            await use(made)

    asyncio.run(run())


def _question(name: int, epsilon: str = "1") -> CachedQuestion:
    block = priced(loss(epsilon, "0"), tables=("s.t",))
    return named_slot(block, name.to_bytes(32, "big"), f"question {name}", "terms")


@contextmanager
def _held(dsn: str) -> Iterator[psycopg.Connection]:
    """Every charge waits meanwhile. Gives a connection that sees who does."""
    with psycopg.connect(dsn, autocommit=True) as watcher, psycopg.connect(dsn) as holder:
        holder.execute("LOCK ledger.balance IN EXCLUSIVE MODE")
        yield watcher


def _waiting(watcher: psycopg.Connection) -> list[tuple[int, str]]:
    found = watcher.execute(
        "SELECT pid, query FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock' AND query LIKE '%ledger.%' AND pid <> pg_backend_pid()"
    ).fetchall()
    return [(pid, query) for pid, query in found]


async def _until_waiting(watcher: psycopg.Connection, what: str, number: int = 1) -> int:
    def is_there() -> bool:
        return sum(what in query for _, query in _waiting(watcher)) == number

    await asyncio.to_thread(until, is_there)
    return _waiting(watcher)[0][0]


async def _batch(
    process: _Process, watcher: psycopg.Connection, asked: Sequence[Awaitable[Any]]
) -> Sequence[asyncio.Future[Any]]:
    """Sent together, where the table is locked: behind one that is ended for it, and charged nothing."""
    first = asyncio.ensure_future(process.tables.reserve("carol", loss("1", "0"), "first", "p"))
    pid = await _until_waiting(watcher, "ledger.reserve_one(")
    tasks = [asyncio.ensure_future(one) for one in asked]
    await asyncio.sleep(0)
    watcher.execute("SELECT pg_cancel_backend(%s)", (pid,))
    with pytest.raises(Fault):
        await first
    await _until_waiting(watcher, "ledger.reserve_each")
    return tasks


def _outcome(found: object) -> str:
    match found:
        case Receipt() | Claimed():
            return "charged"
        case Refusal(code=Code.OVER_BUDGET):
            return "over budget"
        case Refusal(code=Code.PROTECTED):
            return "not an analyst"
        case Fault():
            return "fault"
    raise AssertionError(found)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(3))
def test_two_processes_at_the_limit_charge_never_one_too_many(people: str, seed: int) -> None:
    """Mixed analysts, groups and tables, charges and claims: each receipt is of whom it is given to, all that
    was admitted is charged, and a budget of which one less was spent had refused."""
    set_limits(people, own="14", total="40")
    with psycopg.connect(people) as connection:
        connection.execute(
            f"{INTO_ALLOWANCE} VALUES (1, 'group', 'g', 12, 0.5, 'none'),"
            " (1, 'table', 's.t', 21, 0.5, 'none')"
        )
    remove_analyst(people, "dan")
    chosen = random.Random(seed)
    asked = [
        (chosen.choice(ANALYSTS), chosen.random() < 0.3, chosen.choice(("s.t", "s.u")))
        for _ in range(120)
    ]
    found: list[object] = []

    async def one(process: _Process, number: int) -> Receipt | Claimed | None:
        who, is_claim, table = asked[number]
        if is_claim:
            question = _question(number)
            return await process.claims.claim(
                run_of(who), (question,), str(number), "p", may_draw=True
            )
        record = StatementRecord(tables={table: loss("1", "0")})
        return await process.tables.reserve(who, loss("1", "0"), str(number), "p", (), record)

    async def use(processes: Sequence[_Process]) -> None:
        each = [one(processes[number % 2], number) for number in range(120)]
        found.extend(await asyncio.gather(*each, return_exceptions=True))

    _run(people, use, processes=2)
    outcomes = Counter(map(_outcome, found))
    assert outcomes["not an analyst"] == sum(who == "dan" for who, *_ in asked)
    assert set(outcomes) == {"charged", "over budget", "not an analyst"}
    told = {}
    for number, result in enumerate(found):
        receipt = result.receipt if isinstance(result, Claimed) else result
        if isinstance(receipt, Receipt):
            told[receipt.id] = (asked[number][0], str(number))
    kept = rows(people, "SELECT id, analyst, fingerprint FROM ledger.receipt")
    assert {id: (who, which) for id, who, which in kept} == told
    assert len(told) == outcomes["charged"]
    spent = {
        (kind, name): of
        for kind, name, of, *_ in rows(
            people, "SELECT kind, analyst, epsilon::integer FROM ledger.balance"
        )
    }
    assert spent["total", ""] == len(told)
    limits = {("total", ""): 40, ("group", "g"): 12, ("table", "s.t"): 21}
    limits |= {("analyst", name): 14 for name in ANALYSTS}
    full = {line for line, limit in limits.items() if spent.get(line, 0) == limit}
    assert all(spent.get(line, 0) <= limit for line, limit in limits.items())
    for (who, is_claim, table), result in zip(asked, found, strict=True):
        if _outcome(result) == "over budget":
            mine = {("analyst", who), ("total", ""), ("table", "s.t" if is_claim else table)}
            mine |= {("group", "g")} if who in ("ann", "bob") else set()
            assert mine & full
    together = rows(
        people, "SELECT count(*) FROM ledger.receipt GROUP BY xmin::text ORDER BY 1 DESC"
    )
    assert 1 < together[0][0] <= charge_queue.MOST_TOGETHER
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert rows(people, deadlocks) == [(0,)], "all lock in one order"
    assert ledger_problems(people) == ()


def test_a_backend_that_is_killed_in_the_middle_of_a_batch(people: str) -> None:
    """What of it may stand is not known here: nobody is answered, and there is no second try."""
    set_limits(people, own="99", total="99")

    async def use(processes: Sequence[_Process]) -> None:
        (process,) = processes
        reserve = process.tables.reserve
        with _held(people) as watcher:
            asked = [reserve(who, loss("1", "0"), who, "p") for who in ("ann", "bob", "eve")]
            tasks = await _batch(process, watcher, asked)
            watcher.execute(
                "SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) pid",
                ([pid for pid, _ in _waiting(watcher)],),
            )
            found = await asyncio.gather(*tasks, return_exceptions=True)
            assert [_outcome(one) for one in found] == ["fault"] * 3
        assert rows(people, "SELECT count(*) FROM ledger.receipt") == [(0,)]
        assert (await reserve("ann", loss("1", "0"), "after", "p")).id

    _run(people, use)
    assert rows(people, "SELECT fingerprint FROM ledger.receipt") == [("after",)]
    assert ledger_problems(people) == ()


def test_who_is_cancelled_in_a_batch_is_charged_and_the_others_are_told(people: str) -> None:
    set_limits(people, own="99", total="99")

    async def use(processes: Sequence[_Process]) -> None:
        (process,) = processes
        with _held(people) as watcher:
            asked = [process.tables.reserve(who, loss("1", "0"), who, "p") for who in ANALYSTS]
            tasks = await _batch(process, watcher, asked)
            tasks[1].cancel()
            await asyncio.sleep(0.05)
            assert [query for _, query in _waiting(watcher)], "the others are not cancelled"
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found.pop(1), asyncio.CancelledError)
        ids = {one.id for one in found if isinstance(one, Receipt)}
        kept = dict(rows(people, "SELECT id, fingerprint FROM ledger.receipt"))
        assert sorted(kept.values()) == sorted(ANALYSTS)
        assert [kept[one] for one in kept if one not in ids] == ["bob"]

    _run(people, use)
    assert ledger_problems(people) == ()


def test_one_that_raises_and_one_of_a_spent_token_undo_no_others(people: str) -> None:
    set_limits(people, own="99", total="99")
    token = create_token(people, "ann", days=1, epsilon=Decimal("0.5")).number

    async def use(processes: Sequence[_Process]) -> None:
        (process,) = processes
        reserve = process.tables.reserve
        unknown = {**dlaplace(loss("1", "0"), 1, Fraction(1)), "v": 99}
        with _held(people) as watcher:
            asked = [
                reserve("ann", loss("1", "0"), "ann", "p"),
                reserve("ann", loss("1", "0"), "unknown", "p", (unknown,)),
                reserve("bob", loss("100", "0"), "over", "p"),
                reserve("ann", loss("1", "0"), "token", "p", token=token),
                reserve("bob", loss("1", "0"), "bob", "p"),
            ]
            tasks = await _batch(process, watcher, asked)
        found = await asyncio.gather(*tasks, return_exceptions=True)
        outcomes = list(map(_outcome, found))
        assert outcomes == ["charged", "fault", "over budget", "over budget", "charged"]

    _run(people, use)
    assert rows(people, "SELECT fingerprint FROM ledger.receipt ORDER BY id") == [
        ("ann",),
        ("bob",),
    ]
    assert ledger_problems(people) == ()


_KILLED = """
import asyncio, sys
from fractions import Fraction
from proxy.ledger.ledger_tables import LedgerTables
from proxy.mechanisms.loss import Loss
from tests.ledger_key import LEDGER_CIPHER
from tests.asked_by import run_of
async def main():
    ledger = LedgerTables(sys.stdin.readline().strip(), 1, LEDGER_CIPHER)
    await ledger.open()
    async def client(who):
        while True:
            receipt = await ledger.reserve(who, Loss(Fraction(1), Fraction(0)), who, 'p')
            print(receipt.id, who, flush=True)
    await asyncio.gather(*map(client, ('ann', 'bob', 'carol', 'eve')))
asyncio.run(main())
"""


def test_kill_9_of_the_process_leaves_whole_batches(people: str) -> None:
    """All that was told is there, and of what was not told no more than was under way."""
    set_limits(people, own="99999", total="99999")
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(people + "\n")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(60)]
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
    told = {int(line.split()[0]): line.split()[1] for line in lines if line.endswith("\n")}
    busy = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'ledger' AND application_name <> 'w'"
    )
    until(lambda: rows(f"{people} application_name=w", busy) == [(0,)])
    kept = dict(rows(people, "SELECT id, fingerprint FROM ledger.receipt"))
    assert kept.items() >= told.items()
    assert len(kept) <= len(told) + 4
    spent = rows(people, "SELECT epsilon::integer FROM ledger.balance WHERE kind = 'total'")
    assert spent == [(len(kept),)]
    together = rows(
        people,
        "SELECT max(n) FROM (SELECT count(*) AS n FROM ledger.receipt GROUP BY xmin::text) c",
    )
    assert together[0][0] > 1
    assert ledger_problems(people) == ()
