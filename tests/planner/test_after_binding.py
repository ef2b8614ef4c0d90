"""What a plan costs when parameters make two aggregates one, and that no plan costs more than was asked for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.base.errors import Fault
from proxy.base.sql_types import SqlType
from proxy.exact.table import ExactTable
from proxy.kernel.plan import NoisyStatistic, PrivatePlan
from proxy.kernel.statistics import Counted, Statistic
from proxy.mechanisms import split
from proxy.mechanisms.loss import Loss
from tests.pipeline_world import POLICIES, walk
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import compile_block, release_block

_INTEGER = SqlType.INT4
_SUMS = (
    "SELECT sum(i4) FILTER (WHERE i8 = $1), sum(i4) FILTER (WHERE i8 = $2), "
    "avg(i4) FILTER (WHERE i8 = $1) FROM people"
)
_COUNTS = _SUMS.replace("sum(i4)", "count(*)").replace("avg(i4)", "variance(i4)")


def _plan(sql: str, policy: str, *arguments: str) -> PrivatePlan:
    pipeline = walk(sql, POLICIES[policy], (_INTEGER,) * len(arguments), arguments)
    assert pipeline is not None
    return pipeline.plan


@pytest.mark.parametrize("other", ["1", "2"])
@pytest.mark.parametrize("policy", ["ratio", "best", "world"])
@pytest.mark.parametrize("sql", [_SUMS, _COUNTS], ids=["sums", "counts"])
def test_equal_aggregates_cost_what_was_run_for(sql: str, policy: str, other: str) -> None:
    wanted = POLICIES[policy].privacy
    loss = _plan(sql, policy, "1", other).loss
    assert (loss.epsilon, loss.delta) <= (wanted.epsilon, wanted.delta)
    assert loss.epsilon == wanted.epsilon


def test_a_sum_run_for_twice_is_drawn_once() -> None:
    block = _plan(_SUMS, "ratio", "1", "1").blocks[0]
    first, second = block.answers[:2]
    assert first.releases == second.releases == (0,)
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic) and release.statistic is Statistic.STEPS
    empty = [ExactTable((), query.slots, query.releases) for query in compile_block(block)]
    (row,) = release_block(block, empty, SeededBits(1)).rows
    assert row.values[0] == row.values[1]


@pytest.mark.parametrize("lost", ["epsilon", "delta"])
def test_a_plan_that_costs_more_than_wanted_is_a_fault(
    lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = split.split_weighted
    keys = "SELECT s, count(*), count(i4) FROM notes GROUP BY s"

    def too_much(loss: Loss, weights: list[Fraction]) -> list[Loss]:
        return [
            Loss(
                loss.epsilon if lost == "epsilon" else share.epsilon,
                loss.delta if lost == "delta" else share.delta,
            )
            for share in real(loss, weights)
        ]

    question = keys if lost == "epsilon" else "SELECT max(i2), min(i2) FROM people"
    first = _plan(keys, "world").blocks[0].releases[0]
    assert isinstance(first, NoisyStatistic) and isinstance(first.of, Counted)
    monkeypatch.setattr(split, "split_weighted", too_much)
    with pytest.raises(Fault):
        _plan(question, "world")
