"""The ledger's decision."""

from __future__ import annotations

from datetime import datetime, timezone
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.accounting.amounts import Amount
from proxy.accounting.refusal import Refused, over_budget
from proxy.base.errors import Code
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


def test_the_refusal_says_what_is_left_and_when_it_renews() -> None:
    refused = Refused(amount("0.5", "9e-6"), amount("60", "1e-4"), DEC)
    refusal = over_budget("alice", amount("1", "1e-6"), refused)
    assert refusal.code is Code.OVER_BUDGET
    assert refusal.message == (
        'the privacy budget of "alice" does not cover this statement: '
        "it costs epsilon 1, delta 0.000001, but only epsilon 0.5, delta 0.000009 remains"
    )
    assert refusal.hint.startswith("The budget renews at 2026-12-01 00:00 UTC.")


def test_the_refusal_names_everybodys_budget_where_that_falls_short() -> None:
    refused = Refused(amount("20", "1e-4"), amount("0.25", "1e-4"), DEC)
    refusal = over_budget("alice", amount("1"), refused)
    assert refusal.message.startswith("the shared privacy budget does not cover this statement")
    assert "only epsilon 0.25" in refusal.message
    assert "does not renew" in refusal.hint
    lifetime = Refused(amount("0"), amount("9"), None)
    assert "does not renew" in over_budget("alice", amount("1"), lifetime).hint


@pytest.mark.parametrize(
    ("cost", "left", "sentence"),
    [
        (("1", "1e-6"), ("0.5", "9e-6"), " A smaller dp.epsilon costs less."),
        (("1", "1e-5"), ("2", "9e-6"), " A smaller dp.delta costs less."),
        (
            ("1", "1e-5"),
            ("0.5", "9e-6"),
            " A smaller dp.epsilon costs less. A smaller dp.delta costs less.",
        ),
        (("1", "0"), ("0", "1"), ""),
        (("1", "1e-6"), ("0", "0"), ""),
        (("1", "1e-6"), ("5", "0"), " dp.delta = 0 costs no delta."),
        (
            ("1", "1e-6"),
            ("0.5", "0"),
            " A smaller dp.epsilon costs less. dp.delta = 0 costs no delta.",
        ),
    ],
)
def test_the_refusal_names_what_would_cost_less(
    cost: tuple[str, str], left: tuple[str, str], sentence: str
) -> None:
    refusal = over_budget("alice", amount(*cost), Refused(amount(*left), amount("9", "1"), None))
    assert refusal.hint.removeprefix(_NO_RENEWAL) == sentence


_NO_RENEWAL = "This budget does not renew. The data owner can raise it in the policy."
