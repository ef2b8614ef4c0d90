"""`bounds: [2018-01-01, now]` in a policy file: what is read and refused, and what each day makes of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Fault
from proxy.catalog.catalog_model import TableName
from proxy.planner.facts import PlanningContext
from proxy.policy.change_words import Change
from proxy.policy.check import check, fitted
from proxy.policy.moving_bounds import bounds_on
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    MovingBounds,
    Policy,
    ProtectedTable,
)
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.reuse.block_question import ReliedOn
from proxy.shadow.shadow_tables import exposed_columns, shadow_tables
from tests.moving_world import day_number
from tests.policy.catalogs import SHOP
from tests.policy.reading import read

_TODAY = day_number("2026-11-26")


def _policy(bounds: str, column: str = "signed_up", more: str = "") -> Policy:
    return read(
        "tables:\n  shop.customers:\n    unit: row\n    columns:\n"
        f"      {column}: {{bounds: {bounds}{more}}}\n"
    )


def _column(policy: Policy, column: str = "signed_up") -> tuple[Fraction, Fraction]:
    table = fitted(policy, SHOP).tables[TableName("shop", "customers")]
    assert isinstance(table, ProtectedTable)
    bounds = bounds_on(table.columns[column], _TODAY)
    assert bounds is not None
    return bounds.low, bounds.high


def test_a_date_column_ends_with_today() -> None:
    low, high = _column(_policy("[2018-01-01, now]", "birth_date"), "birth_date")
    assert (low, high) == (Fraction(day_number("2018-01-01")), Fraction(_TODAY))


@pytest.mark.parametrize("column", ["signed_up", "last_seen"])
@pytest.mark.parametrize("low", ["2018-01-01", "2018-01-01 00:00:00"])
def test_a_timestamp_column_ends_with_the_instant_before_today(column: str, low: str) -> None:
    """Midnight itself would be a group of its own, of rows at that microsecond."""
    found = _column(_policy(f"[{low}, now]", column), column)
    assert found == (
        Fraction(day_number("2018-01-01") * 86_400),
        _TODAY * 86_400 - Fraction(1, 10**6),
    )


@pytest.mark.parametrize(
    ("grid", "day"), [("7", "2026-11-26"), ("30", "2026-11-03"), ("1", "2026-11-26")]
)
def test_the_present_is_rounded_down_to_the_grid(grid: str, day: str) -> None:
    policy = _policy("[2018-01-01, now]", "birth_date", f", grid: {grid}")
    _, high = _column(policy, "birth_date")
    assert high % int(grid) == 0 and high == day_number(day)


def test_a_grid_of_less_than_a_day_is_a_day() -> None:
    policy = _policy("[2018-01-01, now]", "signed_up", ", grid: 3600")
    assert _column(policy) == _column(_policy("[2018-01-01, now]"))


@pytest.mark.parametrize(
    ("bounds", "message", "hint"),
    [
        ("[now, 2030-01-01]", "now can only be the high bound", "[low, now]"),
        ("[now, now]", "now can only be the high bound", "[low, now]"),
        ("[0, now]", "the low bound is a number", "[2018-01-01, now]"),
    ],
)
def test_what_is_no_end_is_refused(bounds: str, message: str, hint: str) -> None:
    with pytest.raises(PolicyErrors) as refused:
        _policy(bounds)
    (problem,) = refused.value.problems
    assert message in problem.message and hint in str(problem)


def test_now_is_no_bound_of_a_total() -> None:
    tables = (
        "tables:\n  shop.orders:\n    unit: row\n    columns:\n"
        "      quantity: {bounds: [0, 5], per_unit: [2018-01-01, now]}\n"
    )
    with pytest.raises(PolicyErrors, match="per_unit is two numbers"):
        read(tables)


def test_a_column_of_another_type_is_refused() -> None:
    tables = "tables:\n  shop.orders:\n    unit: row\n    columns:\n      quantity: "
    (problem,) = check(read(f"{tables}{{bounds: [2018-01-01, now]}}\n"), SHOP)
    assert "numbers, not dates" in problem.message and "[0, 120]" in problem.hint


@pytest.mark.parametrize("low", ["2026-11-26", "2030-01-01"])
def test_a_low_end_that_is_not_over_is_refused(low: str) -> None:
    (problem,) = check(_policy(f"[{low}, now]"), SHOP, day=_TODAY)
    assert "not before now" in problem.message and "a day that is over" in problem.hint
    assert problem.path[-2:] == ("bounds", 0)


def test_such_a_policy_that_was_checked_on_another_clock_can_still_be_planned() -> None:
    found = bounds_on(replace(_only_column(_policy("[2030-01-01, now]")), grid=None), _TODAY)
    assert found is not None and found.low < found.high


def _only_column(policy: Policy) -> ColumnPolicy:
    table = fitted(policy, SHOP).tables[TableName("shop", "customers")]
    assert isinstance(table, ProtectedTable)
    return next(iter(table.columns.values()))


def test_no_clock_takes_the_place_of_a_day_that_is_not_known() -> None:
    with pytest.raises(Fault):
        bounds_on(_only_column(_policy("[2018-01-01, now]")), None)


def test_the_policy_is_the_same_on_each_day() -> None:
    policy = fitted(_policy("[2018-01-01, now]"), SHOP)
    assert policy.digest == _policy("[2018-01-01, now]").digest
    digests = [
        ReliedOn(PlanningContext(policy, SHOP, {}, day=day))._tables for day in (20_000, 20_001)
    ]
    assert digests[0] == digests[1]
    assert policy_changes(policy, policy) == []


def _of_bounds(old: Policy, new: Policy) -> list[Change]:
    return [one for one in policy_changes(old, new) if one.where.endswith(".bounds")]


def test_a_diff_says_it_as_it_is_written() -> None:
    policies = [_policy(bounds) for bounds in ("[2018-01-01, 2026-12-31]", "[2018-01-01, now]")]
    (one,) = _of_bounds(*policies)
    assert "[2018-01-01, 2026-12-31] -> [2018-01-01, now]" in one.what
    (other,) = _of_bounds(*policies[::-1])
    assert "[2018-01-01, now] -> [2018-01-01, 2026-12-31]" in other.what


def test_analysts_are_shown_now_and_not_a_day_that_passes() -> None:
    policy = fitted(_policy("[2018-01-01, now]"), SHOP)
    (row,) = exposed_columns(policy, SHOP, shadow_tables(policy, SHOP, ()))
    assert (row.low, row.high) == ("2018-01-01 00:00:00", "now")
    assert "MIN" in row.usable_for and "GROUP BY" in row.usable_for


def test_constants_are_as_before() -> None:
    bounds = Bounds(Fraction(1), Fraction(2), BoundsKind.DATE)
    column = replace(_only_column(_policy("[2018-01-01, now]")), bounds=bounds)
    assert bounds_on(column, None) is bounds
    assert isinstance(_only_column(_policy("[2018-01-01, now]")).bounds, MovingBounds)
