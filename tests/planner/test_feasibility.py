"""An infeasible question is refused with what would make it feasible, and that does."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Code, Refusal
from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import Mechanism, MedianNoise, Policy, Privacy, ProtectedTable
from tests.pipeline_world import POLICIES, walk

_EPSILON = r"SET dp.epsilon = ([0-9.e-]+) \(over HTTP"


def _policy(epsilon: str, most: str, **chosen: object) -> Policy:
    privacy = Privacy(Fraction(epsilon), Fraction(1, 10**6), Fraction(most), Fraction(1, 10**6))
    privacy = replace(privacy, **{"mechanism": Mechanism.SMOOTH_MEDIAN, **chosen})  # type: ignore[arg-type]
    return replace(POLICIES["world"], privacy=privacy)


def _refused(sql: str, policy: Policy, epsilon: str | None = None) -> Refusal | None:
    try:
        walk(sql, policy, settings={} if epsilon is None else {"dp.epsilon": epsilon})
    except Refusal as refusal:
        assert refusal.code is Code.INFEASIBLE
        return refusal
    return None


@pytest.mark.parametrize("noise", list(MedianNoise))
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT max(i4) FROM people",
        "SELECT count(*), sum(i4), avg(n2) FROM people",
        "SELECT t, min(i8) FROM trips GROUP BY t",
        "SELECT t, avg(i4) FROM orders GROUP BY t",
        "SELECT avg(i4), max(i8), min(n2) FROM people",
        "SELECT max(n2), (SELECT avg(i4) FROM orders) FROM people",
    ],
)
def test_the_epsilon_that_is_named_is_enough(sql: str, noise: MedianNoise) -> None:
    policy = _policy("0.0001", "50", median_noise=noise)
    refusal = _refused(sql, policy)
    assert refusal is not None
    found = re.search(_EPSILON, refusal.hint)
    assert found is not None, refusal.hint
    assert _refused(sql, policy, found.group(1)) is None
    assert _refused(sql, policy, str(float(found.group(1)) / 2)) is not None  # and no idle promise
    assert "mechanism: best" in refusal.hint
    assert _refused(sql, _policy("0.0001", "50", mechanism=Mechanism.BEST)) is None


def test_where_the_policy_allows_it_for_one_alone_only() -> None:
    policy = _policy("0.001", "0.01")
    refusal = _refused("SELECT avg(i4), min(i4), max(i4), avg(n2) FROM people", policy)
    assert refusal is not None
    found = re.search(_EPSILON, refusal.hint)
    assert found is not None and "run it in a statement of its own" in refusal.hint, refusal.hint
    assert _refused("SELECT avg(i4) FROM people", policy, found.group(1)) is None


def test_where_no_epsilon_of_the_policy_does() -> None:
    refusal = _refused("SELECT avg(i4) FROM people", _policy("0.001", "0.002"))
    assert refusal is not None
    assert "The policy allows epsilon 0.002 at most" in refusal.hint
    assert re.search(r"it needs 0\.00[3-9]", refusal.message), refusal.message


def _with_partitions(policy: Policy, m: int) -> Policy:
    name = TableName("w", "people")
    table = policy.tables[name]
    assert isinstance(table, ProtectedTable)
    columns = {**table.columns, "i4": replace(table.columns["i4"], partitions=m)}
    return replace(policy, tables={**policy.tables, name: replace(table, columns=columns)})


def test_too_few_partitions_are_named() -> None:
    """With three, both ends of the bounds are one or two units away, at any epsilon that can be paid."""
    policy = _with_partitions(_policy("0.001", "0.001"), 3)
    refusal = _refused("SELECT max(i4) FROM people", policy)
    assert refusal is not None
    assert "it needs" in refusal.message or "partitions" in refusal.message


def test_a_clipped_mean_too() -> None:
    policy = _with_partitions(_policy("0.01", "20", mechanism=Mechanism.CLIPPED_MEAN), 17)
    refusal = _refused("SELECT avg(i4) FROM people", policy)
    assert refusal is not None
    found = re.search(_EPSILON, refusal.hint)
    assert found is not None, refusal.hint
    assert _refused("SELECT avg(i4) FROM people", policy, found.group(1)) is None


def test_without_delta_the_alternatives_are_named() -> None:
    refusal = _refused("SELECT max(i4) FROM people", POLICIES["pure"])
    assert refusal is not None
    assert "delta above 0" in refusal.message
    assert "count and sum" in refusal.hint
