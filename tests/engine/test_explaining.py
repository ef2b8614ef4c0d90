"""The privacy plan as text and JSON: shares add up, and what is proposed is said."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.explain_text import explain_json, explain_lines
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Policy, ProtectedTable
from tests.pipeline_world import POLICIES, walk

LEFT = Loss(Fraction(100), Fraction(1, 10))


def _plan(sql: str, policy: str | Policy = "world") -> PrivatePlan:
    pipeline = walk(sql, POLICIES[policy] if isinstance(policy, str) else policy)
    assert pipeline is not None
    return pipeline.plan


def _text(plan: PrivatePlan) -> str:
    """Without the breaks of long lines."""
    lines = "\n".join(explain_lines(plan, LEFT, ["..."] * len(plan.blocks)))
    return re.sub(r"\n {8,}", " ", lines)


@pytest.mark.parametrize(
    ("policy", "sql"),
    [
        ("world", "SELECT count(*), sum(i4), avg(i4), variance(i4), stddev(i4) FROM people"),
        ("best", "SELECT sum(i4), count(i4), avg(i4), max(i4), count(DISTINCT i4) FROM visits"),
        ("best", "SELECT count(*), count(id), avg(id) FROM orders"),
        ("ratio", "SELECT avg(i4), avg(n2) FROM trips"),
        ("clipped", "SELECT avg(i4), min(i4) FROM people"),
        ("best", "SELECT corr(i4, i2), regr_slope(i2, i4), avg(i4), count(*) FROM people"),
        ("world", "SELECT covar_pop(i4, i2) FROM people"),
        ("weighted", "SELECT count(*), sum(i4), avg(n2), (SELECT max(i4) FROM people) FROM people"),
    ],
)
def test_shares_add_up_to_the_statement(policy: str, sql: str) -> None:
    plan = _plan(sql, policy)
    entries = accuracies(plan)
    assert len(entries) == sum(len(block.answers) for block in plan.blocks)
    assert sum((entry.epsilon for entry in entries), Fraction(0)) == plan.loss.epsilon == 8
    assert sum((entry.delta for entry in entries), Fraction(0)) == plan.loss.delta
    assert sum((entry.share for entry in entries), Fraction(0)) == 1
    shown = explain_json(plan, LEFT, ["..."] * len(plan.blocks))["aggregates"]
    assert isinstance(shown, list)
    assert math.isclose(sum(entry["share"] for entry in shown), 1)


def test_weights_are_displayed() -> None:
    text = _text(_plan("SELECT count(*), sum(i4), avg(n2), max(i4) FROM people", "weighted"))
    for name, share in (
        ("count(*)", "12.5 %"),
        ("sum", "25 %"),
        ("avg", "50 %"),
        ("max", "12.5 %"),
    ):
        (line,) = (line for line in text.splitlines() if line.strip().startswith(f"{name}:"))
        assert f"({share})" in line, line


def test_shared_sums_are_named() -> None:
    text = _text(_plan("SELECT sum(i4), count(i4), avg(i4) FROM people", "best"))
    assert "avg: made of count, noisy sum" in text
    assert "shared with sum" in text
    same = _text(_plan("SELECT count(*), count(id) FROM orders"))
    assert "the same as count(*): no such value is NULL" in same


def test_a_medians_partitions_and_least_noise_are_displayed() -> None:
    text = _text(_plan("SELECT avg(i4) FROM people"))
    assert "partitions; NULL for fewer than about " in text
    assert ", 95 % error at least +-" in text
    assert "units, plus their sampling error; the scale of the noise is private" in text


def test_an_error_over_rows_and_one_in_ranks_are_displayed() -> None:
    text = _text(_plan("SELECT avg(i4), max(i4) FROM people", "best"))
    assert re.search(r"avg: noisy sum about .* 95 % error \+-[\d.]+ / n \(", text)
    assert re.search(r"max: exponential .* 95 % error \+-\d+ ranks \(", text)
    shared = _text(_plan("SELECT avg(i4), count(i4), variance(i4) FROM people", "best"))
    assert len(re.findall(r"95 % error \+-[\d.]+ / n \(", shared)) == 2


def test_gaussian_noise_is_proposed_where_it_is_smaller() -> None:
    name = TableName("w", "orders")
    table = POLICIES["world"].tables[name]
    assert isinstance(table, ProtectedTable)
    many = replace(
        table, max_rows_per_unit=80, max_groups_per_unit=40, max_rows_per_group_per_unit=2
    )
    privacy = replace(POLICIES["world"].privacy, epsilon=Fraction(1), delta=Fraction(1, 10**6))
    policy = replace(
        POLICIES["world"], tables={**POLICIES["world"].tables, name: many}, privacy=privacy
    )
    wide = _text(_plan("SELECT d, count(*), sum(i4) FROM orders GROUP BY d", policy))
    assert wide.count("noise: gaussian in the policy would give +-") == 2
    narrow = _text(_plan("SELECT t, count(*), sum(i4) FROM orders GROUP BY t", policy))
    assert "gaussian" not in narrow  # four groups


def test_private_keys_say_how_many_units_they_need() -> None:
    text = _text(_plan("SELECT s, count(*) FROM people GROUP BY s"))
    assert "private, for 4 of epsilon" in text
    # Two: 0.0005 (1 + e^4); three: 1 - e^-4 (1 - 0.0005 (2 + e^4)).
    assert "half of those with 3, 95 % of those with 3" in text
