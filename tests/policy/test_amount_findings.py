"""Totals, deltas and years of budgets, as `policy check` judges them by the policy alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.mechanisms.loss import Loss
from proxy.policy.amount_findings import amount_findings
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    BlockLength,
    Budget,
    IdentifierUnit,
    Period,
    Policy,
    ProtectedTable,
)
from proxy.policy.publication import Continual, Publication
from tests.pipeline_world import IN_BLOCKS, POLICIES

F = FindingName
_DELTA = Fraction(1, 10**5)


def _policy(total: int = 20, delta: Fraction = _DELTA) -> Policy:
    policy = POLICIES["world"]
    privacy = replace(
        policy.privacy, epsilon=Fraction(1), max_epsilon=Fraction(1), delta=Fraction(1, 10**8)
    )
    budgets = replace(
        policy.budgets,
        total=Budget(Loss(Fraction(total), delta)),
        default=Budget(Loss(Fraction(4), Fraction(1, 10**6))),
        analysts={},
        groups={},
        tables={},
    )
    return replace(policy, privacy=privacy, budgets=budgets, publish=())


def _found(policy: Policy) -> dict[FindingName, Finding]:
    return {one.name: one for one in amount_findings(policy)}


@pytest.mark.parametrize(
    ("total", "name"),
    [
        (20, None),
        (21, F.TOTAL_EPSILON_LARGE),
        (50, F.TOTAL_EPSILON_LARGE),
        (51, F.TOTAL_IS_LARGE),
        (10**6, F.TOTAL_IS_LARGE),
    ],
)
def test_a_total_warns_above_20_and_is_severe_above_50(
    total: int, name: FindingName | None
) -> None:
    found = _found(_policy(total))
    assert set(found) == ({name} if name else set())
    if name is F.TOTAL_IS_LARGE:
        assert found[name].severity is Severity.SEVERE
        assert "come to certainty" in found[name].what


def test_delta_is_held_against_units() -> None:
    policy = _policy()
    assert F.DELTA_AGAINST_UNITS not in _found(policy), "nobody has said how many units there are"
    assert F.DELTA_AGAINST_UNITS not in _found(replace(policy, units_about=9_999))
    found = _found(replace(policy, units_about=10_000))[F.DELTA_AGAINST_UNITS]
    assert found.path == ("budgets", "total"), "equal to a tenth of 1 / units is not below it"
    paths = [
        one.path
        for one in amount_findings(replace(policy, units_about=10**7))
        if one.name is F.DELTA_AGAINST_UNITS
    ]
    assert paths == [("privacy", "delta"), ("budgets", "total")]


def test_what_is_published_is_held_against_units() -> None:
    loss = Loss(Fraction(1, 1000), Fraction(1, 10**6))
    publication = Publication(name="n", sql="", seconds=7 * 86_400, offset=0, loss=loss)
    policy = replace(_policy(delta=Fraction(1, 10**7)), publish=(publication,), units_about=200_000)
    paths = [one.path for one in amount_findings(policy) if one.name is F.DELTA_AGAINST_UNITS]
    assert paths == [("publish", 0, "delta")]


def test_a_year_is_added_up_where_budgets_renew() -> None:
    policy = _policy()
    assert F.TOTAL_RENEWS not in _found(policy)
    monthly = Budget(Loss(Fraction(4), Fraction(1, 10**6)), Period.MONTH)
    daily = Budget(Loss(Fraction(1, 2), Fraction(0)), Period.DAY)
    budgets = replace(policy.budgets, default=monthly, groups={"press": daily})
    told = _found(replace(policy, budgets=budgets))[F.TOTAL_RENEWS]
    assert told.severity is Severity.NOTE
    assert "budgets.default epsilon 48, delta 1.2e-5" in told.what
    assert "budgets.groups.press epsilon 183, delta 0" in told.what
    assert "within its epsilon 20, delta 1e-5" in told.what


def test_a_year_of_publications_counts() -> None:
    loss = Loss(Fraction(1, 100), Fraction(1, 10**9))
    publication = Publication(name="n", sql="", seconds=86_400, offset=0, loss=loss)
    told = _found(replace(_policy(), publish=(publication,)))[F.TOTAL_RENEWS]
    assert "publish epsilon 3.66, delta 3.7e-7" in told.what
    series = replace(publication, continual=Continual(days=365, most_days=7))
    told = _found(replace(_policy(), publish=(series,)))[F.TOTAL_RENEWS]
    assert "publish epsilon 0.01, delta 1e-9" in told.what, "it is charged once"


def test_blocks_of_time_say_what_a_year_of_them_comes_to() -> None:
    """Of the blocks that there are, if they are fewer than a year has."""
    for name, per, times in (
        ("orders", BlockLength.QUARTER, 4),
        ("visits", BlockLength.MONTH, 12),
        ("visits", BlockLength.DAY, 366),
    ):
        table = IN_BLOCKS.tables[TableName("w", name)]
        assert isinstance(table, ProtectedTable) and isinstance(table.unit, IdentifierUnit)
        blocks = table.unit.blocks
        assert blocks is not None
        unit = replace(table.unit, blocks=replace(blocks, per=per))
        policy = replace(IN_BLOCKS, tables={table.name: replace(table, unit=unit)})
        limit = Budget(Loss(Fraction(1, 2), Fraction(0)))
        found = _found(replace(policy, budgets=replace(policy.budgets, total=limit)))
        told = found[F.UNIT_HAS_BLOCKS].what
        assert f"{times} times that, epsilon {decimal(Fraction(times, 2))}" in told
        assert "to 1 in 61" in told and found[F.UNIT_HAS_BLOCKS].where == f"w.{name}"
    assert F.UNIT_HAS_BLOCKS not in _found(POLICIES["world"])
