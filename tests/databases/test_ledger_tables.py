"""The ledger in the database: exact, durable, the same rule as the pure one, at any concurrency."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Code, Fault, Refusal
from proxy.databases.embedded import EmbeddedPostgres
from proxy.databases.ledger_tables import LedgerNotDurable, LedgerTables, Outcome, Receipt
from proxy.ledger.amounts import NONE, Amount, charge, decimal
from proxy.ledger.balance import Balance, Granted, decide, in_window
from proxy.mechanisms.loss import Loss
from proxy.policy.model import Period
from tests.servers_fixture import Servers

UTC = timezone.utc
ROOT = Path(__file__).parents[2]
_T = TypeVar("_T")


@pytest.fixture
def ledger_dsn(pair: Servers) -> Iterator[str]:
    """An empty ledger: a database of its own, made as the shadow makes it."""
    with psycopg.connect(pair.shadow_server.dsn(), autocommit=True) as server:
        server.execute("CREATE DATABASE ledger")
        dsn = pair.shadow_server.dsn("ledger")
        files = Path(sys.modules["proxy.databases.ledger_tables"].__file__ or "").parent
        with psycopg.connect(dsn) as connection:
            for name in ("shadow.sql", "ledger.sql"):
                connection.execute((files / name).read_bytes())
        yield dsn
        server.execute("DROP DATABASE ledger WITH (FORCE)")


def set_limits(
    dsn: str, own: str, total: str, per: Period = Period.MONTH, delta: str = "0.5"
) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("DELETE FROM dp.allowance")
        connection.execute(
            "INSERT INTO dp.allowance VALUES ('total', '', %s, %s, 'none'), ('default', '', %s, %s, %s)",
            (Decimal(total), Decimal(delta), Decimal(own), Decimal(delta), per.value),
        )


def with_ledger(dsn: str, use: Callable[[LedgerTables], Awaitable[_T]], connections: int = 4) -> _T:
    async def run() -> _T:
        ledger = LedgerTables(dsn, connections)
        await ledger.open()
        try:
            return await use(ledger)
        finally:
            await ledger.close()

    return asyncio.run(run())


def loss(epsilon: str, delta: str = "1e-6") -> Loss:
    return Loss(Fraction(epsilon), Fraction(delta))


def rows(dsn: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(query.encode()).fetchall()


def test_a_receipt_and_what_remains(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="3", total="3")

    async def use(ledger: LedgerTables) -> tuple[Receipt, Receipt, Receipt]:
        first = await ledger.reserve("alice", loss("1/3"), "count orders", "policy 1")
        await ledger.settle(first.id, Outcome.ANSWERED)
        await ledger.settle(first.id, Outcome.FAILED)
        second = await ledger.reserve("bob", loss("0.5"), "sum total", "policy 1")
        await ledger.settle(second.id, Outcome.FAILED)
        third = await ledger.reuse("alice", "count orders", "policy 1")
        standing = await ledger.remaining("alice")
        assert standing.usable == third.remaining
        assert standing.own.epsilon == Fraction(3) - charge(loss("1/3")).epsilon
        assert standing.total.epsilon == Fraction(5, 2) - charge(loss("1/3")).epsilon
        return first, second, third

    first, second, third = with_ledger(ledger_dsn, use)
    assert first.charged == (Fraction("0.333333333333333334"), Fraction("1e-6"))
    assert first.remaining.epsilon == 3 - first.charged.epsilon
    assert second.remaining.epsilon == Fraction("2.166666666666666666"), "everybody's is less"
    assert third.charged == NONE
    assert rows(
        ledger_dsn,
        "SELECT r.id, analyst, epsilon::text, delta::text, reused, fingerprint, policy_digest, outcome"
        " FROM dp.receipt r LEFT JOIN dp.settlement s ON s.receipt = r.id ORDER BY r.id",
    ) == [
        (
            *(first.id, "alice", "0.333333333333333334", "0.000001000000000000000000000000"),
            *(False, "count orders", "policy 1", "answered"),
        ),
        (
            *(second.id, "bob", "0.500000000000000000", "0.000001000000000000000000000000"),
            *(False, "sum total", "policy 1", "failed"),
        ),
        (
            *(third.id, "alice", "0.000000000000000000", "0.000000000000000000000000000000"),
            *(True, "count orders", "policy 1", None),
        ),
    ]


def test_over_budget_charges_nothing(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="1.5")

    async def use(ledger: LedgerTables) -> tuple[Refusal, Refusal]:
        await ledger.reserve("alice", loss("0.75"), "f", "p")
        with pytest.raises(Refusal) as own:
            await ledger.reserve("alice", loss("0.5"), "f", "p")
        with pytest.raises(Refusal) as total:
            await ledger.reserve("bob", loss("0.8"), "f", "p")
        assert (await ledger.reserve("bob", loss("0.75"), "f", "p")).remaining.epsilon == 0
        return own.value, total.value

    own, total = with_ledger(ledger_dsn, use)
    assert own.code is total.code is Code.OVER_BUDGET
    assert own.message.startswith('the privacy budget of "alice" does not cover')
    assert "left are epsilon 0.25," in own.message
    assert "renews at" in own.hint
    assert total.message.startswith("everybody's privacy budget does not cover")
    assert "left are epsilon 0.75," in total.message
    assert rows(ledger_dsn, "SELECT sum(epsilon)::text FROM dp.receipt") == [
        ("1.500000000000000000",)
    ]


@pytest.mark.parametrize("analysts", [1, 32])
def test_32_at_once_with_budget_for_10(ledger_dsn: str, analysts: int) -> None:
    """One analyst against their own limit; 32 analysts against everybody's."""
    set_limits(ledger_dsn, own="10", total="10")

    async def use(ledger: LedgerTables) -> list[Receipt | BaseException]:
        other = LedgerTables(ledger_dsn, 8)  # as if another proxy shared the shadow
        await other.open()
        try:
            return await asyncio.gather(
                *(
                    (ledger, other)[number % 2].reserve(
                        f"analyst {number % analysts}", loss("1"), "f", "p"
                    )
                    for number in range(32)
                ),
                return_exceptions=True,
            )
        finally:
            await other.close()

    results = with_ledger(ledger_dsn, use, connections=8)
    receipts = [result for result in results if isinstance(result, Receipt)]
    assert len(receipts) == 10
    assert len({receipt.id for receipt in receipts}) == 10
    assert sorted(int(receipt.remaining.epsilon) for receipt in receipts) == list(range(10))
    refusals = [result for result in results if isinstance(result, Refusal)]
    assert len(refusals) == 22
    assert rows(ledger_dsn, "SELECT epsilon::integer FROM dp.balance WHERE kind = 'total'") == [
        (10,)
    ]


def test_kill_9_between_reserve_and_settle_keeps_the_charge(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="10", total="10")
    program = (
        "import asyncio, sys\n"
        "from fractions import Fraction\n"
        "from proxy.databases.ledger_tables import LedgerTables\n"
        "from proxy.mechanisms.loss import Loss\n"
        "async def main():\n"
        "    ledger = LedgerTables(sys.stdin.readline().strip())\n"
        "    await ledger.open()\n"
        "    receipt = await ledger.reserve('alice', Loss(Fraction(4), Fraction(0)), 'f', 'p')\n"
        "    print(receipt.id, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as proxy:
        assert proxy.stdin is not None
        assert proxy.stdout is not None
        proxy.stdin.write(ledger_dsn + "\n")
        proxy.stdin.flush()
        receipt = int(proxy.stdout.readline())
        proxy.send_signal(signal.SIGKILL)
    assert rows(
        ledger_dsn,
        "SELECT r.id, r.epsilon::integer, s.outcome FROM dp.receipt r"
        " LEFT JOIN dp.settlement s ON s.receipt = r.id",
    ) == [(receipt, 4, None)]

    async def use(ledger: LedgerTables) -> Fraction:
        return (await ledger.remaining("alice")).own.epsilon

    assert with_ledger(ledger_dsn, use) == 6


def test_kill_9_of_the_server_loses_no_receipt(tmp_path: Path) -> None:
    """Reserve in a loop, kill the postmaster and every backend, start again: all that returned is there."""
    server = EmbeddedPostgres(tmp_path, "ledger")
    server.start()
    try:
        files = Path(sys.modules["proxy.databases.ledger_tables"].__file__ or "").parent
        with psycopg.connect(server.dsn()) as connection:
            for name in ("shadow.sql", "ledger.sql"):
                connection.execute((files / name).read_bytes())
        set_limits(server.dsn(), own="1000000", total="1000000")
        postmaster = server.process_id
        assert postmaster is not None

        async def use() -> list[int]:
            ledger = LedgerTables(server.dsn())
            await ledger.open()
            receipts: list[int] = []
            try:
                while True:
                    receipts.append((await ledger.reserve("a", loss("1"), "f", "p")).id)
                    if len(receipts) == 100:
                        os.kill(postmaster, signal.SIGKILL)
                        for process in Path("/proc").glob("[0-9]*"):
                            try:
                                if (process / "cwd").readlink() == server.home / "data":
                                    os.kill(int(process.name), signal.SIGKILL)
                            except OSError:
                                continue
            except Fault:
                return receipts
            finally:
                await ledger.close()

        returned = asyncio.run(use())
        assert len(returned) >= 100
        server.restart()
        kept = {row[0] for row in rows(server.dsn(), "SELECT id FROM dp.receipt")}
        assert kept >= set(returned)
        assert len(kept) <= len(returned) + 1, "one may have been committed without an answer"
        (spent,) = rows(
            server.dsn(), "SELECT epsilon::integer FROM dp.balance WHERE kind = 'total'"
        )
        assert spent == (len(kept),)
    finally:
        server.stop()


def test_a_ledger_that_could_lose_a_commit_is_not_opened(pair: Servers) -> None:
    async def open_it(dsn: str) -> None:
        ledger = LedgerTables(dsn)
        with pytest.raises(LedgerNotDurable, match="fsync = on"):
            await ledger.open()

    asyncio.run(open_it(pair.protected.dsn()))  # made without fsync


def test_a_ledger_that_is_gone_is_a_fault(ledger_dsn: str) -> None:
    async def use(ledger: LedgerTables) -> None:
        with pytest.raises(Fault) as caught:
            await ledger.reserve("alice", loss("1"), "f", "p")  # no limits: no default
        assert "limit" not in caught.value.message

    with_ledger(ledger_dsn, use)


def test_append_only(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="5", total="5")
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        row = connection.execute("SELECT receipt FROM dp.reserve('a', 1, 0, 'f', 'p')").fetchone()
        assert row is not None
        connection.execute("INSERT INTO dp.settlement VALUES (%s, now(), 'answered')", row)
        for table, column in (("receipt", "analyst"), ("settlement", "outcome")):
            for statement in (
                "UPDATE dp.{} SET {} = 'failed'",
                "DELETE FROM dp.{} WHERE {} <> ''",
                "TRUNCATE dp.{} CASCADE -- {}",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                    connection.execute(
                        sql.SQL(statement).format(sql.Identifier(table), sql.Identifier(column))
                    )
        for bad in ("'a', -1, 0", "'a', NULL, 0", "'a', 1, -1e-9"):
            with pytest.raises(psycopg.errors.RaiseException, match="not negative"):
                connection.execute(f"SELECT dp.reserve({bad}, 'f', 'p')".encode())
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("SELECT dp.reserve('', 1, 0, 'f', 'p')")


def test_reserve_is_quick(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="100000", total="100000")

    async def use(ledger: LedgerTables) -> float:
        times = []
        for _ in range(100):
            before = time.perf_counter()
            await ledger.reserve("alice", loss("1"), "f", "p")
            times.append(time.perf_counter() - before)
        return sorted(times)[50]

    median = with_ledger(ledger_dsn, use)
    assert median < 0.02, f"{median * 1000:.2f} ms: it was below 1 ms on an idle machine"


# The rule in the database and the pure one, side by side, over any history: analysts, costs, policies
# that change limits and periods, clocks that jump either way.

_STEPS = st.one_of(
    st.tuples(
        st.just("charge"),
        st.sampled_from(["a", "b"]),
        st.integers(0, 12),
        st.integers(0, 12),
    ),
    st.tuples(st.just("clock"), st.integers(-40, 70), st.integers(0, 23), st.just(0)),
    st.tuples(
        st.just("policy"), st.sampled_from(list(Period)), st.integers(0, 40), st.integers(0, 60)
    ),
)


class _Model:
    """What proxy.ledger says, with a list for the receipts."""

    def __init__(self) -> None:
        self.receipts: list[tuple[datetime, str, Amount]] = []
        self.balances: dict[str, Balance] = {}

    def spent_since(self, analyst: str | None) -> Callable[[datetime | None], Amount]:
        def spent(since: datetime | None) -> Amount:
            result = NONE
            for at, who, amount in self.receipts:
                if (analyst is None or who == analyst) and (since is None or at >= since):
                    result = result.plus(amount)
            return result

        return spent

    def current(self, analyst: str, period: Period, now: datetime) -> tuple[Balance, Balance]:
        own = in_window(
            self.balances.get(analyst, Balance()), period, now, self.spent_since(analyst)
        )
        total = in_window(
            self.balances.get("", Balance()), Period.NONE, now, self.spent_since(None)
        )
        return own, total


@given(st.lists(_STEPS, min_size=1, max_size=25))
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
def test_the_database_decides_as_the_pure_rule(
    ledger_dsn: str, steps: list[tuple[Any, Any, Any, Any]]
) -> None:
    model = _Model()
    now = datetime(2026, 11, 20, 13, 30, tzinfo=UTC)
    period, own_limit, total_limit = Period.MONTH, 20, 45
    with psycopg.connect(make_conninfo(ledger_dsn, options="-c timezone=Asia/Tokyo")) as connection:

        def write_limits() -> None:
            connection.execute("DELETE FROM dp.allowance")
            connection.execute(
                "INSERT INTO dp.allowance VALUES ('total', '', %s, %s, 'none'),"
                " ('default', '', %s, %s, %s)",
                (
                    *(Decimal(total_limit) / 10, Decimal(total_limit).scaleb(-6)),
                    *(Decimal(own_limit) / 10, Decimal(own_limit).scaleb(-6), period.value),
                ),
            )

        write_limits()
        for kind, first, second, third in steps:
            if kind == "clock":
                now += timedelta(days=first, hours=second)
            elif kind == "policy":
                period, own_limit, total_limit = first, second, third
                write_limits()
            else:
                cost = charge(Loss(Fraction(second, 10), Fraction(third, 10**6)))
                own, total = model.current(first, period, now)
                limits = [
                    Amount(Fraction(number, 10), Fraction(number, 10**6))
                    for number in (own_limit, total_limit)
                ]
                expected = decide(own, limits[0], total, limits[1], cost)
                row = connection.execute(
                    "SELECT receipt IS NOT NULL, greatest(own_epsilon, 0), greatest(own_delta, 0),"
                    " greatest(total_epsilon, 0), greatest(total_delta, 0), renews_at"
                    " FROM dp.reserve_at(%s, %s, %s, 'f', 'p', %s)",
                    (first, decimal(cost.epsilon), decimal(cost.delta), now),
                ).fetchone()
                assert row is not None
                if isinstance(expected, Granted):
                    own, total = expected.own, expected.total
                    model.receipts.append((now, first, cost))
                    model.balances.update({first: own, "": total})
                own_left, total_left = own.spent.left_of(limits[0]), total.spent.left_of(limits[1])
                assert row[0] is isinstance(expected, Granted)
                assert tuple(map(Fraction, row[1:5])) == (*own_left, *total_left)
                assert row[5] == own.renews_at
            for analyst in ("a", "b"):
                shown = connection.execute(
                    "SELECT epsilon_spent, delta_spent, renews_at FROM dp.standing(%s, %s)"
                    " ORDER BY kind",
                    (analyst, now),
                ).fetchall()
                for line, balance in zip(shown, model.current(analyst, period, now), strict=True):
                    assert Amount(Fraction(line[0]), Fraction(line[1])) == balance.spent
                    assert line[2] == balance.renews_at
        connection.rollback()  # the next history begins with an empty ledger
