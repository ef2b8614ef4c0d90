"""What is said of a budget that does not suffice, and of one that is nearly spent."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from fractions import Fraction

import pytest

from proxy.accounting.amounts import Amount
from proxy.accounting.budget_lines import BudgetLine, LineKind, as_reported
from proxy.accounting.refusal import nearly_spent, over_budget
from proxy.base.errors import Code
from proxy.ledger.budget_warnings import BudgetWarnings

DEC = datetime(2026, 12, 1, tzinfo=timezone.utc)
_NO_RENEWAL = "This budget does not renew. The data owner can raise it in the policy."
_SECONDS = 86_400


def amount(epsilon: str, delta: str = "0") -> Amount:
    return Amount(Fraction(epsilon), Fraction(delta))


_PLENTY = amount("100", "0.1")


def line(
    cost: Amount,
    left: Amount,
    limit: Amount = _PLENTY,
    kind: LineKind = LineKind.ANALYST,
    renews_in: int | None = None,
) -> BudgetLine:
    names = {LineKind.ANALYST: "alice", LineKind.GROUP: "sales", LineKind.TABLE: "shop.orders"}
    return BudgetLine(
        kind=kind,
        name=names.get(kind, ""),
        limit=limit,
        spent=Amount(limit.epsilon - left.epsilon, limit.delta - left.delta),
        left=left,
        fits=cost.fits(left),
        fits_fresh=cost.fits(limit),
        cost=cost,
        window=None if renews_in is None else 0,
        renews_at=None if renews_in is None else DEC,
        renews_in=renews_in,
    )


def test_what_is_left_and_when_it_renews() -> None:
    refusal = over_budget((line(amount("1", "1e-6"), amount("0.5", "9e-6"), renews_in=_SECONDS),))
    assert refusal.code is Code.OVER_BUDGET
    assert refusal.message == (
        'the privacy budget of "alice" does not cover this statement: '
        "it costs epsilon 1, delta 0.000001, but only epsilon 0.5, delta 0.000009 remains"
    )
    assert refusal.hint.startswith("The budget renews at 2026-12-01 00:00 UTC.")
    assert refusal.retry_after == refusal.at(3).retry_after == _SECONDS


@pytest.mark.parametrize(
    ("kind", "whose", "cached"),
    [
        (LineKind.ANALYST, 'the privacy budget of "alice"', "that you were shown"),
        (LineKind.GROUP, 'the privacy budget of the group "sales"', "steps of 5 %"),
        (LineKind.TABLE, "the privacy budget of the table shop.orders", "steps of 5 %"),
        (LineKind.TOTAL, "the shared privacy budget", "steps of 5 %"),
    ],
)
def test_each_budget_by_name(kind: LineKind, whose: str, cached: str) -> None:
    short = line(amount("1"), amount("0.25"), kind=kind)
    others = tuple(line(amount("1"), amount("5"), kind=one) for one in LineKind if one is not kind)
    refusal = over_budget((short, *others), is_cached=True)
    assert refusal.message.startswith(f"{whose} does not cover this statement")
    told = "0.25" if kind is LineKind.ANALYST else "0"  # of others' in steps of 0.5
    assert f"only epsilon {told}, " in refusal.message
    assert "does not renew" in refusal.hint and cached in refusal.hint
    assert "in this slot" not in over_budget((short,)).hint
    assert refusal.retry_after is None


def test_waiting_helps_only_where_a_fresh_window_covers_it() -> None:
    short = line(amount("2"), amount("1"), renews_in=60)
    never = line(amount("2"), amount("1"), kind=LineKind.TOTAL)
    too_small = line(amount("2"), amount("1"), amount("1.5", "0.1"), renews_in=60)
    later = line(amount("2"), amount("0"), kind=LineKind.GROUP, renews_in=3600)
    assert over_budget((short,)).retry_after == 60
    both = over_budget((short, later))
    assert both.retry_after == 3600 and "group" in both.message
    assert over_budget((short, never)).retry_after is None
    assert "shared" in over_budget((short, never)).message
    refusal = over_budget((too_small,))
    assert refusal.retry_after is None
    assert "Waiting does not help" in refusal.hint and "epsilon 1.5" in refusal.hint


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
        (("1", "0"), ("0", "0.1"), ""),
        (("1", "1e-6"), ("0", "0"), ""),
        (("1", "1e-6"), ("5", "0"), " dp.delta = 0 costs no delta."),
        (
            ("1", "1e-6"),
            ("0.5", "0"),
            " A smaller dp.epsilon costs less. dp.delta = 0 costs no delta.",
        ),
    ],
)
def test_what_would_cost_less(cost: tuple[str, str], left: tuple[str, str], sentence: str) -> None:
    refusal = over_budget((line(amount(*cost), amount(*left)),))
    assert refusal.hint.removeprefix(_NO_RENEWAL) == sentence


def _spent(epsilon: str, window: int | None = None) -> BudgetLine:
    whole = amount("10", "0.1")
    return BudgetLine(
        kind=LineKind.GROUP,
        name="sales",
        limit=whole,
        spent=amount(epsilon),
        left=whole,
        window=window,
    )


def test_a_warning_is_told_once_in_a_window() -> None:
    warnings = BudgetWarnings(1)
    assert warnings.of("alice", (_spent("7.99"),)) == ()
    (told,) = warnings.of("alice", (_spent("8"),))
    assert told == nearly_spent(_spent("8"))
    assert "80 % of the privacy budget of the group" in told and "epsilon 8 of 10" in told
    assert warnings.of("alice", (_spent("9"),)) == ()
    assert len(warnings.of("bob", (_spent("9"),))) == 1
    assert len(warnings.of("alice", (_spent("9", window=7),))) == 1


def test_a_budget_of_nothing_is_no_reason_to_warn() -> None:
    none = amount("0")
    nothing = BudgetLine(kind=LineKind.TABLE, name="t", limit=none, spent=none, left=none)
    assert nothing.used == 0


@pytest.mark.parametrize("is_cached", [False, True])
def test_the_first_look_hides_no_warning(is_cached: bool) -> None:
    """Where answers are cached, what others spend is told up to a step above."""
    for tenths in range(0, 101):
        line = _spent(str(tenths / 10))
        (reported,) = as_reported((line,), is_cached=is_cached)
        found = BudgetWarnings(1).of("alice", (line,), is_cached=is_cached)
        assert bool(found) == (reported.used >= Fraction(4, 5)), line


def test_of_two_ways_to_fit_the_one_that_is_less_spent_counts() -> None:
    """Half of delta is for the conversion."""
    whole = amount("10", "0.1")
    by_rho = BudgetLine(
        kind=LineKind.TOTAL,
        name="",
        limit=whole,
        spent=amount("30", "0.01"),
        left=amount("2", "0.04"),
        rho_limit=Fraction(4),
        rho_spent=Fraction(3),
    )
    assert by_rho.used == Fraction(3, 4)
    assert replace(by_rho, left=amount("2", "0.005")).used == Fraction(9, 10)
    assert replace(by_rho, spent=amount("1", "0.01")).used == Fraction(1, 5)


def test_budgets_of_others_are_told_in_steps_where_answers_are_cached() -> None:
    """What is spent is told to be more, what is left to be less."""
    shared, own = _spent("8.1"), replace(_spent("8.1"), kind=LineKind.ANALYST)
    shared = replace(shared, left=amount("1.9", "0.1"))
    told, same = as_reported((shared, own), is_cached=True)
    assert (told.spent.epsilon, told.left.epsilon) == (Fraction(17, 2), Fraction(3, 2))
    assert (told.spent.delta, told.left.delta) == (Fraction(0), Fraction(1, 10))
    assert told.used == Fraction(17, 20)
    assert same == own
    assert as_reported((shared, own), is_cached=False) == (shared, own)
    without_limit = replace(shared, rho_spent=Fraction(1, 7))
    (told,) = as_reported((without_limit,), is_cached=True)
    assert told.rho_spent == 0  # there is no step to tell it in
    warnings = BudgetWarnings(1)
    (warning,) = warnings.of("alice", (shared,), is_cached=True)
    assert "epsilon 8.5 of 10" in warning
