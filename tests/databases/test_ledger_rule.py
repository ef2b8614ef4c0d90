"""The rule in the database and the pure one, side by side, over any history: analysts, costs, policies
that change limits and periods, clocks that jump either way.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from proxy.accounting.amounts import Amount, charge, decimal
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Period
from tests.ledger_model.balance import NONE, Balance, Granted, decide, in_window, left_of, plus

UTC = timezone.utc

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
                    result = plus(result, amount)
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
            connection.execute("DELETE FROM ledger.allowance")
            connection.execute(
                "INSERT INTO ledger.allowance VALUES (1, 'total', '', %s, %s, 'none'),"
                " (1, 'default', '', %s, %s, %s)",
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
                    " FROM ledger.reserve_at(1, %s, %s, %s, '[]', 'f', 'p', %s)",
                    (first, decimal(cost.epsilon), decimal(cost.delta), now),
                ).fetchone()
                assert row is not None
                if isinstance(expected, Granted):
                    own, total = expected.own, expected.total
                    # Of no earlier time than the windows that it is charged in (0009).
                    at = max(now, own.window_start or now, total.window_start or now)
                    model.receipts.append((at, first, cost))
                    model.balances.update({first: own, "": total})
                own_left, total_left = (
                    left_of(own.spent, limits[0]),
                    left_of(total.spent, limits[1]),
                )
                assert row[0] is isinstance(expected, Granted)
                assert tuple(map(Fraction, row[1:5])) == (*own_left, *total_left)
                assert row[5] == own.renews_at
            for analyst in ("a", "b"):
                shown = connection.execute(
                    "SELECT epsilon_spent, delta_spent, renews_at FROM ledger.lines_at(1, %s, '{}', %s)"
                    " ORDER BY kind",
                    (analyst, now),
                ).fetchall()
                for line, balance in zip(shown, model.current(analyst, period, now), strict=True):
                    assert Amount(Fraction(line[0]), Fraction(line[1])) == balance.spent
                    assert line[2] == balance.renews_at
        connection.rollback()  # the next history begins with an empty ledger
