"""The ledger in the database: exact, durable, the same rule as the pure one, at any concurrency."""

from __future__ import annotations

import asyncio
import time
from fractions import Fraction

import psycopg
import pytest
from psycopg import sql

from proxy.accounting.amounts import charge
from proxy.base.errors import Code, Fault, Refusal
from proxy.ledger.ledger_tables import ChargeOutcome, LedgerTables, Receipt
from proxy.policy.policy_model import Period
from tests.chosen_slots import far_period
from tests.databases.ledger_database import loss, rows, set_limits, with_ledger
from tests.ledger_key import LEDGER_CIPHER


def test_a_receipt_and_what_remains(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="3", total="3")

    async def use(ledger: LedgerTables) -> tuple[Receipt, Receipt]:
        first = await ledger.reserve("alice", loss("1/3"), "count orders", "policy 1")
        await ledger.settle_each({first.id: ChargeOutcome.ANSWERED})
        await ledger.settle_each({first.id: ChargeOutcome.FAILED})
        second = await ledger.reserve("bob", loss("0.5"), "sum total", "policy 1")
        await ledger.settle_each({second.id: ChargeOutcome.FAILED})
        own, total = await ledger.lines("alice")
        assert (await ledger.remaining("alice")).epsilon == total.left.epsilon
        assert own.left.epsilon == Fraction(3) - charge(loss("1/3")).epsilon
        assert total.left.epsilon == Fraction(5, 2) - charge(loss("1/3")).epsilon
        return first, second

    first, second = with_ledger(ledger_dsn, use)
    assert first.charged == (Fraction("0.333333333333333334"), Fraction("1e-6"))
    assert first.remaining.epsilon == 3 - first.charged.epsilon
    assert second.remaining.epsilon == Fraction("2.166666666666666666"), "everybody's is less"
    assert rows(
        ledger_dsn,
        "SELECT r.id, analyst, epsilon::text, delta::text, events, fingerprint, policy_digest, outcome"
        " FROM ledger.receipt r LEFT JOIN ledger.settlement s ON s.receipt = r.id ORDER BY r.id",
    ) == [
        (
            *(first.id, "alice", "0.333333333333333334", "0.000001000000000000000000000000"),
            *([], "count orders", "policy 1", "answered"),
        ),
        (
            *(second.id, "bob", "0.500000000000000000", "0.000001000000000000000000000000"),
            *([], "sum total", "policy 1", "failed"),
        ),
    ]


def test_over_budget_charges_nothing(ledger_dsn: str) -> None:
    period = Period(far_period())
    set_limits(ledger_dsn, own="1", total="1.5", per=period)

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
    assert "only epsilon 0.25," in own.message
    assert ("renews at" in own.hint) is (period is not Period.NONE)
    assert total.message.startswith("the shared privacy budget does not cover")
    assert "only epsilon 0.75," in total.message
    assert rows(ledger_dsn, "SELECT sum(epsilon)::text FROM ledger.receipt") == [
        ("1.500000000000000000",)
    ]


@pytest.mark.parametrize("analysts", [1, 32])
def test_32_at_once_with_budget_for_10(ledger_dsn: str, analysts: int) -> None:
    """One analyst against their own limit; 32 analysts against everybody's."""
    set_limits(ledger_dsn, own="10", total="10")

    async def use(ledger: LedgerTables) -> list[Receipt | BaseException]:
        other = LedgerTables(
            ledger_dsn, 1, LEDGER_CIPHER, 8
        )  # as if another proxy shared the shadow
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
    assert rows(ledger_dsn, "SELECT epsilon::integer FROM ledger.balance WHERE kind = 'total'") == [
        (10,)
    ]


def test_a_ledger_that_is_gone_is_a_fault(ledger_dsn: str) -> None:
    async def use(ledger: LedgerTables) -> None:
        with pytest.raises(Fault) as caught:
            await ledger.reserve("alice", loss("1"), "f", "p")  # no limits: no default
        assert "limit" not in caught.value.message

    with_ledger(ledger_dsn, use)


def test_append_only(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="5", total="5")
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        row = connection.execute(
            "SELECT receipt FROM ledger.reserve_at(1, 'a', 1, 0, '[]', 'f', 'p', now())"
        ).fetchone()
        assert row is not None
        connection.execute("INSERT INTO ledger.settlement VALUES (%s, now(), 'answered')", row)
        for table, column in (("receipt", "analyst"), ("settlement", "outcome")):
            for statement in (
                "UPDATE ledger.{} SET {} = 'failed'",
                "DELETE FROM ledger.{} WHERE {} <> ''",
                "TRUNCATE ledger.{} CASCADE -- {}",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                    connection.execute(
                        sql.SQL(statement).format(sql.Identifier(table), sql.Identifier(column))
                    )
        for bad in ("'a', -1, 0", "'a', NULL, 0", "'a', 1, -1e-9"):
            with pytest.raises(psycopg.errors.RaiseException, match="not negative"):
                connection.execute(
                    f"SELECT ledger.reserve_at(1, {bad}, '[]', 'f', 'p', now())".encode()
                )
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("SELECT ledger.reserve_at(1, '', 1, 0, '[]', 'f', 'p', now())")


def test_a_receipt_is_of_a_source_that_is_there(ledger_dsn: str) -> None:
    """Nothing in the receipt itself refers to it: the chain does."""
    written = """INSERT INTO ledger.receipt
        (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest)
        VALUES (77, now(), 'a', 1, 0, '[]', 'f', 'p')"""
    with (
        psycopg.connect(ledger_dsn) as connection,
        pytest.raises(psycopg.errors.ForeignKeyViolation, match="chain"),
    ):
        connection.execute(written)


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
