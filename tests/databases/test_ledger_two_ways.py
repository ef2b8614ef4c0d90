"""Budgets that are fitted in two ways: SQL beside the model, over any history, with cached answers of others,
receipts of before, and windows."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from proxy.accounting.amounts import Amount, charge, decimal, limit, rho_limit
from proxy.accounting.events import Event, dlaplace, gaussian, mechanism
from proxy.base.errors import Refusal
from proxy.ledger import ledger_migrations
from proxy.ledger.ledger_check import ledger_problems
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.mechanisms.zcdp import rho_of_loss
from tests.databases.ledger_database import make_ledger, rows, set_limits, with_ledger
from tests.ledger_model.two_ways import Cost, Most, drawn, fits, priced, unpriced
from tests.servers_fixture import Servers

UTC = timezone.utc
_MILLIONTH = Fraction(1, 10**6)


def _pure(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, Fraction(0))
    return loss, [mechanism(loss)]


def _count(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, Fraction(0))
    return loss, [dlaplace(loss, 50, 50 / epsilon)]


def _approx(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, _MILLIONTH)
    return loss, [mechanism(loss)]


def _gaussian(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, _MILLIONTH)
    return loss, [gaussian(loss, Fraction(4), 2 / rho_of_loss(epsilon, _MILLIONTH))]


def _mixed(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    """Thirds, which are rounded up one by one."""
    loss = Loss(epsilon, _MILLIONTH)
    third = Loss(epsilon / 3, _MILLIONTH / 3)
    sigma2 = 1 / rho_of_loss(epsilon / 3, _MILLIONTH / 3)
    return loss, [mechanism(third), mechanism(third), gaussian(third, Fraction(2), sigma2)]


def _untold(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    """Events that do not cover the charge."""
    return Loss(epsilon, _MILLIONTH), [mechanism(Loss(epsilon, Fraction(0)))]


def _half_told(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, Fraction(0))
    return loss, [mechanism(Loss(epsilon / 2, Fraction(0)))]


def _mostly_pure(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    """Half of its epsilon may have less rho than a Gaussian part that was drawn."""
    small = epsilon / 10
    sigma2 = 1 / rho_of_loss(small, _MILLIONTH)
    noisy = gaussian(Loss(small, _MILLIONTH), Fraction(2), sigma2)
    return Loss(epsilon, _MILLIONTH), [mechanism(Loss(epsilon - small, Fraction(0))), noisy]


_KINDS: list[Callable[[Fraction], tuple[Loss, list[Event]]]] = [
    *(_pure, _count, _approx, _gaussian, _mixed, _untold, _half_told, _mostly_pure),
]
_CHARGES = st.tuples(
    st.just("charge"),
    st.sampled_from(["a", "b"]),
    st.sampled_from(_KINDS),
    st.tuples(st.integers(1, 30), st.sampled_from([0, 1, 2, 2, 2])),
)
_STEPS = st.one_of(
    *[_CHARGES] * 6,
    st.tuples(st.just("window"), st.integers(1, 2), st.none(), st.none()),
    st.tuples(st.just("limits"), st.integers(1, 9), st.integers(0, 24), st.booleans()),
)


_Kind = Callable[[Fraction], tuple[Loss, list[Event]]]


def _asked(
    kind: _Kind, tenths: int, times: int = 1, share: int = 2
) -> list[tuple[Any, Any, Any, Any]]:
    return [("charge", "a", kind, (tenths, share))] * times


# Of a budget of epsilon 2, delta 8e-6: which charges are admitted, and what decides.
_DECIDED = {
    "half of delta is for failures": (_asked(_approx, 1, 5), "yyyyn"),
    "Gaussian noise beyond a quarter: epsilons do not count": (
        [*_asked(_gaussian, 1, 2), *_asked(_pure, 5), *_asked(_gaussian, 1), *_asked(_pure, 1)],
        "yyyny",
    ),
    "Gaussian noise beyond a quarter: it takes a quarter": (
        [*_asked(_gaussian, 1, 4), *_asked(_approx, 1, 3)],
        "yyyyyyn",
    ),
    "by epsilon": (_asked(_pure, 5, 5), "yyyyn"),
    "by rho": (_asked(_gaussian, 1, 30), "y" * 30),
    "epsilon that no event tells": (_asked(_half_told, 6, 4), "yyyn"),
    "delta that no event tells": (_asked(_untold, 1, 5), "yyyyn"),
    "a Gaussian part that is drawn": (_asked(_mostly_pure, 9, 3, share=1), "yyn"),
    "nothing is drawn": (_asked(_approx, 3, 5, share=0), "yyyyn"),
    "thirds that are rounded up": (_asked(_mixed, 1, 5), "yyyyn"),
}


@pytest.mark.parametrize("name", _DECIDED)
def test_what_decides(ledger_dsn: str, name: str) -> None:
    steps, admitted = _DECIDED[name]
    assert _compare(ledger_dsn, steps) == admitted


class _Model:
    def __init__(self) -> None:
        self.receipts: list[tuple[int, str, Cost, Cost]] = []
        self.window = 0
        self.own = self.total = Most(epsilon=Fraction(0), delta=Fraction(0), rho=None)

    def limit(self, epsilon: Fraction, delta: Fraction, is_zcdp: bool) -> tuple[Most, Most]:
        def most(times: int) -> Most:
            of = limit(Loss(epsilon * times, delta * times))
            rho = rho_limit(of) if is_zcdp else None
            return Most(epsilon=of.epsilon, delta=of.delta, rho=rho)

        self.own, self.total = most(1), most(2)
        return self.own, self.total

    def spent(self, analyst: str) -> tuple[Cost, Cost]:
        own = [c for w, who, c, _ in self.receipts if who == analyst and w == self.window]
        return sum(own, Cost()), sum((c for *_, c in self.receipts), Cost())

    def charge(self, analyst: str, cost: Cost, of_total: Cost) -> bool:
        own, total = self.spent(analyst)
        is_admitted = fits(own + cost, self.own) and fits(total + of_total, self.total)
        if is_admitted:
            self.receipts.append((self.window, analyst, cost, of_total))
        return is_admitted


@given(st.lists(_STEPS, min_size=1, max_size=40))
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
def test_the_database_decides_as_the_model(
    ledger_dsn: str, steps: list[tuple[Any, Any, Any, Any]]
) -> None:
    _compare(ledger_dsn, steps)


@pytest.mark.long
@given(st.lists(_STEPS, min_size=1, max_size=80))
@settings(
    max_examples=2000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
def test_the_database_decides_as_the_model_in_many_histories(
    ledger_dsn: str, steps: list[tuple[Any, Any, Any, Any]]
) -> None:
    _compare(ledger_dsn, steps)


def _compare(ledger_dsn: str, steps: list[tuple[Any, Any, Any, Any]]) -> str:
    """Which were admitted, y or n each."""
    model = _Model()
    decisions = ""
    now = datetime(2026, 11, 20, 13, 30, tzinfo=UTC)
    with psycopg.connect(ledger_dsn) as connection:
        _write(connection, *model.limit(Fraction(2), 8 * _MILLIONTH, True))
        for kind, first, second, third in steps:
            if kind == "window":
                now += timedelta(days=31 * first)
                model.window += 1
                continue
            if kind == "limits":
                limits = model.limit(Fraction(first, 2), second * _MILLIONTH, third)
                _write(connection, *limits)
                continue
            tenths, share = third
            loss, events = second(Fraction(tenths, 10))
            amount = charge(loss)
            cost = priced(events, *amount)
            paid = Amount(amount.epsilon * share / 2, amount.delta * share / 2)
            of_total = drawn(cost, *paid)
            before = model.spent(first)
            is_admitted = model.charge(first, cost, of_total)
            row = connection.execute(
                "SELECT receipt IS NOT NULL, own_epsilon, own_delta, total_epsilon, total_delta"
                " FROM ledger.charge_at(1, %s, %s, %s, %s, %s, %s::jsonb, 'f', 'p', %s)",
                (
                    first,
                    *map(decimal, (*amount, *paid)),
                    json.dumps(events),
                    now,
                ),
            ).fetchone()
            assert row is not None
            assert row[0] is is_admitted
            decisions += "y" if is_admitted else "n"
            own, total = model.spent(first)
            left = [Fraction(number) for number in row[1:]]
            if not is_admitted:
                _is_told_truly(model, before, (cost, of_total), left)
            shown = connection.execute(
                "SELECT epsilon_spent, delta_spent, rho_spent FROM ledger.standing(1, %s, %s)"
                " ORDER BY kind",
                (first, now),
            ).fetchall()
            assert [tuple(map(Fraction, line)) for line in shown] == [
                (one.epsilon, one.delta, one.rho) for one in (own, total)
            ]
        connection.rollback()
    return decisions


def _is_told_truly(
    model: _Model, spent: tuple[Cost, Cost], cost: tuple[Cost, Cost], left: list[Fraction]
) -> None:
    """A budget that falls short says less than the cost; one that does not, no less."""
    for most, before, asked, epsilon, delta in zip(
        (model.own, model.total), spent, cost, left[::2], left[1::2], strict=True
    ):
        if most.rho is None:
            assert (epsilon, delta) == (most.epsilon - before.epsilon, most.delta - before.delta)
        elif fits(before + asked, most):
            assert epsilon >= asked.epsilon and delta >= asked.delta
        else:
            is_over_already = not fits(before, most)
            assert is_over_already or epsilon < asked.epsilon or delta < asked.delta


def _write(connection: psycopg.Connection[Any], own: Most, total: Most) -> None:
    connection.execute("DELETE FROM ledger.allowance")
    for kind, most, period in (("default", own, "month"), ("total", total, "none")):
        rho = None if most.rho is None else decimal(most.rho)
        connection.execute(
            "INSERT INTO ledger.allowance VALUES (1, %s, '', %s, %s, %s, %s)",
            (kind, decimal(most.epsilon), decimal(most.delta), period, rho),
        )


def _limits(dsn: str, epsilon: str, delta: str) -> None:
    of = limit(Loss(Fraction(epsilon), Fraction(delta)))
    with psycopg.connect(dsn) as connection:
        both = Most(epsilon=of.epsilon, delta=of.delta, rho=rho_limit(of))
        _write(connection, both, both)


def test_a_budget_of_1000_admits_as_many_counts_as_rho_says(ledger_dsn: str) -> None:
    """1,000 by epsilon; by rho 1,780, to the last one."""
    _limits(ledger_dsn, "1000", "1e-4")
    most = rho_limit(limit(Loss(Fraction(1000), Fraction("1e-4"))))
    loss, events = _pure(Fraction(1))
    each = Fraction(str(events[0]["rho"]))
    assert most is not None
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(
            "SELECT count(c.receipt) FROM generate_series(1, 2000) n CROSS JOIN LATERAL"
            " ledger.reserve(1, 'a', 1, 0, %s::jsonb, n::text, 'p') c",
            (json.dumps(events),),
        ).fetchone()
    assert row is not None
    assert row[0] == most // each
    assert 1500 < row[0] < 2000
    refusal = with_ledger(ledger_dsn, lambda ledger: _refused(ledger.look("a", loss, events)))
    assert "only epsilon 0." in refusal.message


async def _refused(asked: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await asked
    return caught.value


def test_what_is_said_to_be_left_can_be_asked(ledger_dsn: str) -> None:
    """By EXPLAIN, dp.budget and refusals: of a pure statement, and no more than a millionth below the most."""
    _limits(ledger_dsn, "200", "1e-4")
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        for number in range(8):
            left = with_ledger(ledger_dsn, lambda ledger: ledger.remaining("a")).own.epsilon
            more, events = _pure(left * (1 + Fraction(1, 10**6)))
            refusal = with_ledger(
                ledger_dsn,
                lambda ledger, more=more, events=events: _refused(ledger.look("a", more, events)),  # type: ignore[misc]
            )
            assert "the privacy budget" in refusal.message
            loss, events = _pure(left if number == 7 else left / 3)
            row = connection.execute(
                "SELECT receipt FROM ledger.reserve(1, 'a', %s, 0, %s::jsonb, 'f', 'p')",
                (decimal(charge(loss).epsilon), json.dumps(events)),
            ).fetchone()
            assert row is not None and row[0] is not None
    assert ledger_problems(ledger_dsn) == ()


def test_receipts_of_before_have_a_rho(ledger_dsn: str) -> None:
    """In a window that opens anew; as one approximate mechanism each."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.receipt (source, at, analyst, epsilon, delta, events, fingerprint,"
            " policy_digest) SELECT 1, now(), 'a', e, 1e-6, '[]', 'f', 'p'"
            " FROM unnest(ARRAY[0.3, 1, 7.000000000000000001]) e"
        )
    _limits(ledger_dsn, "100", "1e-4")
    ((spent,),) = rows(
        ledger_dsn,
        "SELECT rho_spent FROM ledger.standing(1, 'a', now()) WHERE kind = 'analyst'",
    )
    each = [Decimal("0.3"), Decimal(1), Decimal("7.000000000000000001")]
    costs = [unpriced(Fraction(one), _MILLIONTH) for one in each]
    assert Fraction(spent) == sum(cost.rho for cost in costs)
    assert Fraction(spent) == Fraction("0.045") + Fraction(1, 2) + Fraction("7.000000000000000001")


def test_delta_0_is_basic(ledger_dsn: str) -> None:
    assert rho_limit(limit(Loss(Fraction(10), Fraction(0)))) is None
    assert rho_limit(limit(NOTHING)) is None


def test_no_event_is_written_that_cannot_be_priced(ledger_dsn: str) -> None:
    _limits(ledger_dsn, "100", "1e-4")
    for unknown in ('{"v": 3, "kind": "pure"}', '{"v": 2, "kind": "new"}', "{}", "1"):
        with (
            psycopg.connect(ledger_dsn) as connection,
            pytest.raises(psycopg.errors.CheckViolation, match="events_are_known"),
        ):
            connection.execute(
                "SELECT ledger.reserve(1, 'a', 1, 0, jsonb_build_array(%s::jsonb), 'f', 'p')",
                (unknown,),
            )


def test_a_ledger_of_version_2_is_brought_over(
    pair: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its balances have the rho of their windows, and another charge adds to it."""
    scripts = ledger_migrations._scripts()
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE ledger_of_2")
        dsn = make_conninfo(pair.ledger_dsn, dbname="ledger_of_2")
        try:
            with monkeypatch.context() as patched:
                patched.setattr(
                    ledger_migrations, "_scripts", lambda: {n: scripts[n] for n in (1, 2)}
                )
                make_ledger(dsn)
            set_limits(dsn, "10", "10", delta="0.001")
            with psycopg.connect(dsn) as connection:
                for epsilon in ("0.3", "1", "3"):
                    connection.execute(
                        "SELECT ledger.reserve(1, 'a', %s, 1e-6, %s::jsonb, 'f', 'p')",
                        (epsilon, '[{"v": 1, "kind": "pure"}]'),
                    )
            assert ledger_migrations.migrate(dsn) == max(scripts)
            spent = Fraction("0.045") + Fraction(1, 2) + 3
            assert [row[:1] for row in rows(dsn, "SELECT rho FROM ledger.balance")] == [
                (spent,)
            ] * 2
            loss, events = _pure(Fraction(1))
            receipt = with_ledger(dsn, lambda one: one.reserve("a", loss, "f", "p", events))
            assert receipt.charged.epsilon == 1
            found = rows(dsn, "SELECT DISTINCT rho FROM ledger.balance")
            assert found == [(spent + Fraction(str(events[0]["rho"])),)]
            problems = ledger_problems(dsn)
            assert all("other fields" in problem for problem in problems)
        finally:
            server.execute("DROP DATABASE ledger_of_2 WITH (FORCE)")
