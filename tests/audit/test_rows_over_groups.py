"""Where a unit's rows are fewer than its groups times the rows within each, they are what is paid for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.compiler import unit_gathering, unit_scan
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, NoisyStatistic
from proxy.policy.policy_model import Policy, ProtectedTable
from tests.audit.exact_results import Auditor
from tests.audit.reach import Reach
from tests.kernel.examples import l1
from tests.pipeline_world import POLICIES, SCHEMA, walk

_ORDERS = TableName(SCHEMA, "orders")
_REACH = Reach(3, 2, True, per_group=2)
_QUESTIONS = (
    "SELECT t, count(*) FROM orders GROUP BY t",
    "SELECT t, count(i4), sum(i4) FROM orders GROUP BY t",
    "SELECT t, avg(i4), count(*) FROM orders GROUP BY t",
    "SELECT t, variance(n2), regr_slope(i4, n2) FROM orders GROUP BY t",
    "SELECT d, count(*) FILTER (WHERE i4 > 0), sum(i8) FROM orders GROUP BY d",
    "SELECT s, count(*), sum(n2) FROM orders GROUP BY s",
)


def _policy(name: str) -> Policy:
    """3 rows of a unit, in 2 groups, 2 in each."""
    policy = POLICIES[name]
    orders = policy.tables[_ORDERS]
    assert isinstance(orders, ProtectedTable)
    fewer = replace(orders, max_rows_per_unit=3)
    return replace(policy, tables={**policy.tables, _ORDERS: fewer})


def _promise(_: BlockPlan) -> Reach:
    return _REACH


@pytest.mark.every(12)
@pytest.mark.parametrize("question", _QUESTIONS)
@pytest.mark.parametrize("policy", ["world", "best", "gaussian"])
def test_neighbours_move_by_no_more_than_planned(
    policy: str, question: str, auditor: Auditor
) -> None:
    pipeline = walk(question, _policy(policy))
    assert pipeline is not None
    assert auditor.audit(pipeline.plan, promise=_promise) == []


def test_the_smaller_bound_is_paid_for() -> None:
    for policy, moved in (("world", Fraction(3)), ("gaussian", Fraction(2**2 + 1))):
        pipeline = walk(_QUESTIONS[0], _policy(policy))
        assert pipeline is not None
        (block,) = pipeline.plan.blocks
        (release,) = block.releases
        assert isinstance(release, NoisyStatistic) and isinstance(block.neighbours, UnitNeighbours)
        assert block.neighbours.is_summed
        assert l1(block) == 3
        assert _paid(release) == moved


def _paid(release: NoisyStatistic) -> Fraction:
    from proxy.kernel.plan import GaussianNoise, LaplaceNoise
    from proxy.mechanisms import zcdp

    if isinstance(release.noise, GaussianNoise):
        return release.noise.sigma2 * 2 * zcdp.rho_of_loss(release.loss.epsilon, release.loss.delta)
    assert isinstance(release.noise, LaplaceNoise)
    return release.noise.scale * release.loss.epsilon


def test_it_is_the_cut_that_keeps_to_it(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    in_group = unit_gathering.in_group_sql
    monkeypatch.setattr(
        unit_scan,
        "_clamped_rows",
        lambda number, unit, spread, binds: in_group(number, unit, binds),
    )
    pipeline = walk(_QUESTIONS[0], _policy("world"))
    assert pipeline is not None
    assert auditor.audit(pipeline.plan, promise=_promise)
