"""The ledger's decision."""

from __future__ import annotations

from datetime import datetime, timezone
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.accounting.amounts import Amount
from proxy.policy.policy_model import Period
from tests.ledger_model.balance import NONE, Balance, Granted, decide, in_window, left_of, plus

UTC = timezone.utc
NOV, DEC = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)


def amount(epsilon: str, delta: str = "0") -> Amount:
    return Amount(Fraction(epsilon), Fraction(delta))


def nothing(_since: datetime | None) -> Amount:
    return NONE


@pytest.mark.parametrize(
    ("own", "total", "cost", "granted"),
    [
        (amount("1", "1e-6"), amount("9", "1e-3"), amount("1", "1e-6"), True),
        (amount("1", "1e-6"), amount("9", "1e-3"), amount("1.000000000000000001"), False),
        (amount("1", "1e-6"), amount("9", "1e-3"), amount("0", "1.1e-6"), False),
        (amount("9", "1e-3"), amount("1", "1e-6"), amount("1.1"), False),
        (amount("9", "1e-3"), amount("1", "1e-6"), amount("0", "2e-6"), False),
        (amount("0"), amount("0"), amount("0"), True),
    ],
)
def test_a_charge_must_fit_every_limit(
    own: Amount, total: Amount, cost: Amount, granted: bool
) -> None:
    answer = decide(Balance(Period.DAY, NOV), own, Balance(Period.NONE), total, cost)
    assert isinstance(answer, Granted) is granted


amounts = st.builds(
    lambda e, d: Amount(Fraction(e, 10), Fraction(d, 10**6)), st.integers(0, 30), st.integers(0, 30)
)


@given(st.lists(amounts), amounts, amounts)
def test_spent_is_the_sum_of_what_was_granted_and_never_above_a_limit(
    costs: list[Amount], own_limit: Amount, total_limit: Amount
) -> None:
    own = total = Balance(Period.NONE)
    granted = NONE
    for cost in costs:
        answer = decide(own, own_limit, total, total_limit, cost)
        if isinstance(answer, Granted):
            own, total, granted = answer.own, answer.total, plus(granted, cost)
        else:
            assert answer.own_left == left_of(own.spent, own_limit)
            assert not (cost.fits(answer.own_left) and cost.fits(answer.total_left))
        assert own.spent == total.spent == granted
        assert granted.fits(own_limit)
        assert granted.fits(total_limit)


def test_a_new_window_is_empty_and_the_old_one_never_opens_again() -> None:
    known = Balance(Period.MONTH, NOV, amount("5"))
    in_november = in_window(known, Period.MONTH, datetime(2026, 11, 30, 23, tzinfo=UTC), nothing)
    assert in_november == known
    renewed = in_window(known, Period.MONTH, DEC, nothing)
    assert renewed == Balance(Period.MONTH, DEC, NONE)
    back = in_window(Balance(Period.MONTH, DEC, amount("2")), Period.MONTH, NOV, nothing)
    assert back == Balance(Period.MONTH, DEC, amount("2"))
    assert back.renews_at == datetime(2027, 1, 1, tzinfo=UTC)


def test_another_period_adds_the_receipts_up() -> None:
    asked: list[datetime | None] = []

    def spent(since: datetime | None) -> Amount:
        asked.append(since)
        return amount("7")

    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    known = Balance(Period.DAY, datetime(2026, 11, 20, tzinfo=UTC), amount("1"))
    assert in_window(known, Period.MONTH, now, spent) == Balance(Period.MONTH, NOV, amount("7"))
    assert in_window(known, Period.NONE, now, spent) == Balance(Period.NONE, None, amount("7"))
    assert asked == [NOV, None]
