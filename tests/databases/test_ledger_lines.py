"""Budgets of groups and tables: the rule in the database and its model side by side; who pays what; at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from datetime import timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from proxy.accounting.amounts import Amount, decimal
from proxy.accounting.budget_lines import LineKind
from proxy.accounting.events import mechanism
from proxy.accounting.statement_record import StatementRecord
from proxy.base.errors import Fault, Refusal
from proxy.ledger.adjustments import (
    Adjusted,
    Adjustment,
    AdjustmentError,
    WaitingRequest,
    adjust,
    confirm,
)
from proxy.ledger.ledger_reports import ledger_problems, spending
from proxy.ledger.ledger_tables import LedgerTables, Receipt
from proxy.ledger.users import add_analyst
from proxy.policy.policy_model import Period
from tests.databases.ledger_database import INTO_ALLOWANCE, loss, rows, set_limits, with_ledger

UTC = timezone.utc
Line = tuple[str, str]  # kind, name


def limit_line(
    dsn: str, kind: str, name: str, epsilon: str, per: Period = Period.NONE, delta: str = "0.5"
) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute(
            f"{INTO_ALLOWANCE} VALUES (1, %s, %s, %s, %s, %s)"
            " ON CONFLICT (source, kind, analyst) DO UPDATE"
            " SET (epsilon, delta, period) = (EXCLUDED.epsilon, EXCLUDED.delta, EXCLUDED.period)",
            (kind, name, Decimal(epsilon), Decimal(delta), per.value),
        )


def put_into(dsn: str, group: str, *names: str) -> None:
    with psycopg.connect(dsn) as connection:
        for name in names:
            connection.execute(
                "INSERT INTO ledger.membership"
                " SELECT id, %s FROM ledger.analyst WHERE name = %s AND removed_at IS NULL",
                (group, name),
            )


@pytest.fixture
def people(ledger_dsn: str) -> Iterator[str]:
    """ann is in `a` and `b`, bob in `b`; carol in none."""
    for name in ("ann", "bob", "carol"):
        add_analyst(ledger_dsn, name, "x")
    put_into(ledger_dsn, "a", "ann")
    put_into(ledger_dsn, "b", "ann", "bob")
    set_limits(ledger_dsn, own="100", total="100")
    yield ledger_dsn
    assert ledger_problems(ledger_dsn) == ()


def _spent(dsn: str) -> dict[Line, Fraction]:
    found = rows(dsn, "SELECT kind, analyst, epsilon FROM ledger.balance WHERE epsilon > 0")
    return {(kind, name): Fraction(epsilon) for kind, name, epsilon in found}


def _drawn(**tables: str) -> StatementRecord:
    return StatementRecord(tables={f"s.{name}": loss(of, "0") for name, of in tables.items()})


def test_all_lines_pay_or_none(people: str) -> None:
    limit_line(people, "group", "b", "2", Period.DAY)
    limit_line(people, "table", "s.t", "1.5")

    async def use(ledger: LedgerTables) -> tuple[Receipt, Refusal, Refusal]:
        first = await ledger.reserve("ann", loss("1", "0"), "f", "p", (), _drawn(t="1", u="0.5"))
        with pytest.raises(Refusal) as table:
            await ledger.reserve("carol", loss("1", "0"), "f", "p", (), _drawn(t="0.75"))
        await ledger.reserve("bob", loss("1", "0"), "f", "p", (), _drawn(u="1"))
        with pytest.raises(Refusal) as group:
            await ledger.reserve("bob", loss("0.5", "0"), "f", "p", (), _drawn(u="0.5"))
        return first, table.value, group.value

    first, table, group = with_ledger(people, use)
    assert [(line.kind, line.name) for line in first.lines] == [
        (LineKind.ANALYST, "ann"),
        (LineKind.GROUP, "b"),
        (LineKind.TABLE, "s.t"),
        (LineKind.TOTAL, ""),
    ]
    assert first.remaining.epsilon == 1, "of the group: that of the table is not everybody's"
    assert table.message.startswith("the privacy budget of the table s.t does not cover")
    assert "epsilon 0.75, delta 0, but only epsilon 0.5," in table.message
    assert table.retry_after is None
    assert 'of the group "b" does not cover' in group.message
    assert group.retry_after is not None and 0 < group.retry_after <= 86_400
    assert _spent(people) == {
        ("analyst", "ann"): 1,
        ("analyst", "bob"): 1,
        ("group", "a"): 1,
        ("group", "b"): 2,
        ("table", "s.t"): 1,
        ("table", "s.u"): Fraction(3, 2),
        ("total", ""): 2,
    }


def test_a_block_of_time_that_no_policy_names_any_more_is_told_and_not_charged(people: str) -> None:
    """Its line stays, its limit does not."""
    block = "person 2026-03"

    async def use(ledger: LedgerTables) -> Receipt:
        record = StatementRecord(tables={block: loss("1", "0")})
        return await ledger.reserve("ann", loss("1", "0"), "f", "p", (), record)

    limit_line(people, "table", block, "9")
    with_ledger(people, use)
    with psycopg.connect(people) as connection:
        connection.execute("DELETE FROM ledger.allowance WHERE analyst = %s", (block,))
    told = {budget: (spent, limit) for _, budget, _, spent, limit, *_ in spending(people)}
    assert told[f"({block})"] == ("1", "-")
    with pytest.raises(Fault):
        with_ledger(people, use)


def _hammer(dsn: str, who: str, tables: tuple[str, ...], seed: int, results: Any) -> None:
    """One process: charges until nothing is granted for a while."""

    async def use(ledger: LedgerTables) -> int:
        granted, refused = 0, 0
        while refused < 12:
            record = StatementRecord(tables={name: loss("1", "0") for name in tables})
            many = [ledger.reserve(who, loss("1", "0"), "f", "p", (), record) for _ in range(4)]
            for found in await asyncio.gather(*many, return_exceptions=True):
                if isinstance(found, Receipt):
                    granted += 1
                elif isinstance(found, Refusal):
                    refused += 1
                else:
                    raise AssertionError(f"{found!r}")  # a deadlock is a Fault
        return granted

    results.put((seed, with_ledger(dsn, use)))


@pytest.mark.every(3)
@pytest.mark.parametrize("short", ["group", "table", "total"])
def test_processes_at_once_never_overspend_and_never_deadlock(people: str, short: str) -> None:
    """Each names tables in an order of its own; of two, both groups are the same, two are in none."""
    limits = {"group": 40, "table": 40, "total": 40} | {short: 15}
    add_analyst(people, "dan", "x")
    put_into(people, "b", "dan")
    put_into(people, "a", "dan")
    set_limits(people, own="1000", total=str(limits["total"]))
    limit_line(people, "group", "b", str(limits["group"]))
    limit_line(people, "table", "s.t", str(limits["table"]))
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    whom = [
        *(("ann", ("s.t", "s.u")), ("dan", ("s.u", "s.t"))),
        *(("carol", ("s.t", "s.u")), ("eve", ("s.u", "s.t"))),
    ]
    processes = [
        context.Process(target=_hammer, args=(people, *one, number, results))
        for number, one in enumerate(whom)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    granted = dict(results.get(timeout=60) for _ in processes)
    spent = _spent(people)
    found = {
        "group": spent["group", "b"],
        "table": spent["table", "s.t"],
        "total": spent["total", ""],
    }
    assert found["table"] == found["total"] == sum(granted.values())
    assert found["group"] == granted[0] + granted[1]
    assert all(found[line] <= limit for line, limit in limits.items())
    assert any(found[line] == limit for line, limit in limits.items()), "all of it is granted"


def test_adjustments_are_events(people: str) -> None:
    limit_line(people, "group", "b", "5")

    async def use(ledger: LedgerTables) -> Receipt:
        return await ledger.reserve("ann", loss("4", "0"), "f", "p", ())

    def by(epsilon: str, kind: LineKind = LineKind.GROUP, name: str = "b", why: str = "why") -> Any:
        amount = Amount(Fraction(epsilon), Fraction(0))
        done = adjust(people, 1, Adjustment(kind=kind, name=name, by=amount, reason=why))
        return (
            done
            if isinstance(done, Adjusted)
            else confirm(people, done.number, "admin API: another")
        )

    with_ledger(people, use)
    with pytest.raises(Refusal, match='group "b"'):
        with_ledger(people, use)
    with pytest.raises(AdjustmentError, match="only epsilon 4, delta 0 is spent"):
        by("-4.1")
    assert by("-4", why="a question that was withdrawn").spent.epsilon == 0
    with_ledger(people, use)
    assert by("3").spent.epsilon == 7, "beyond the limit, too"
    assert by("2.5", LineKind.TOTAL, "").spent.epsilon == Fraction(21, 2)
    for kind, name in ((LineKind.GROUP, "c"), (LineKind.ANALYST, "eve"), (LineKind.TABLE, "s.x")):
        with pytest.raises(AdjustmentError, match="there is no"):
            by("1", kind, name)
    for why in ("", " ", "two\nlines", "x" * 1001):
        with pytest.raises(AdjustmentError, match="a reason is one line"):
            by("1", why=why)
    with pytest.raises(AdjustmentError, match="decimals"):
        by("1e-19")
    found = rows(people, "SELECT kind, name, epsilon::float8, reason FROM ledger.adjustment")
    assert found == [
        ("group", "b", -4.0, "a question that was withdrawn"),
        ("group", "b", 3.0, "why"),
        ("total", "", 2.5, "why"),
    ]
    with psycopg.connect(people) as connection:
        for change in ("UPDATE ledger.adjustment SET epsilon = 0", "DELETE FROM ledger.adjustment"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                connection.execute(change)
            connection.rollback()


def test_groups_and_tables_are_fitted_in_two_ways(people: str) -> None:
    """A table that is read by half of each statement pays what half of its epsilon can cost at most."""
    limit_line(people, "group", "b", "1", delta="0.001")
    limit_line(people, "table", "s.t", "1", delta="0.001")
    one = loss("0.5", "0")
    price, half = Fraction(str(mechanism(one)["rho"])), Fraction(1, 32)

    def rhos(group: Fraction, table: Fraction) -> None:
        with psycopg.connect(people) as connection:
            for kind, most in (("group", group), ("table", table)):
                connection.execute(
                    "UPDATE ledger.allowance SET rho = %s WHERE kind = %s", (decimal(most), kind)
                )

    async def use(ledger: LedgerTables) -> tuple[int, Refusal]:
        for count in range(99):
            try:
                await ledger.reserve("bob", one, "f", "p", (mechanism(one),), _drawn(t="0.25"))
            except Refusal as refusal:
                return count, refusal
        raise AssertionError("it ends")

    rhos(7 * price, Fraction(1))
    count, refusal = with_ledger(people, use)
    assert count == 7 and 'group "b"' in refusal.message
    rhos(Fraction(2), 9 * half)
    count, refusal = with_ledger(people, use)
    assert count == 2 and "table s.t" in refusal.message
    found = rows(people, "SELECT kind, rho FROM ledger.balance WHERE kind IN ('group', 'table')")
    assert {kind: Fraction(rho) for kind, rho in found} == {"group": 9 * price, "table": 9 * half}

    def by(epsilon: str, rho: str | None) -> Fraction:
        wanted = Adjustment(
            kind=LineKind.TABLE,
            name="s.t",
            by=Amount(Fraction(epsilon), Fraction(0)),
            reason="why",
            rho=None if rho is None else Fraction(rho),
        )
        done = adjust(people, 1, wanted)
        if isinstance(done, WaitingRequest):
            confirm(people, done.number, "admin API: another")
        ((spent,),) = rows(people, "SELECT rho FROM ledger.balance WHERE kind = 'table'")
        return Fraction(spent)

    assert by("-0.25", None) == 9 * half, "what it cost is not known"
    assert by("-0.25", "-0.03125") == 8 * half
    assert by("0.25", None) == 9 * half
    with pytest.raises(AdjustmentError, match="nor of its rho"):
        by("-0.25", "-0.3")


@pytest.mark.long
def test_a_charge_with_lines_is_quick(people: str) -> None:
    limit_line(people, "group", "b", "100000")
    limit_line(people, "table", "s.t", "100000")
    set_limits_of = {"own": "100000", "total": "100000"}
    with psycopg.connect(people) as connection:
        for kind in ("default", "total"):
            connection.execute(
                "UPDATE ledger.allowance SET epsilon = %s WHERE kind = %s",
                (set_limits_of["own"], kind),
            )

    async def use(ledger: LedgerTables) -> float:
        times = []
        for _ in range(60):
            before = time.perf_counter()
            await ledger.reserve("ann", loss("1", "0"), "f", "p", (), _drawn(t="1", u="1"))
            times.append(time.perf_counter() - before)
        return sorted(times)[30]

    median = with_ledger(people, use)
    print(f"{median * 1000:.2f} ms")
    assert median < 0.03, f"{median * 1000:.2f} ms: it was about 1 ms on an idle machine"
