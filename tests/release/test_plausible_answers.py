"""Made-up answers for a trial run: of every golden plan, within its groups, bounds and types."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from proxy.base.result_columns import aggregate_column, key_column, subquery_name
from proxy.kernel.plan import BlockPlan, OrderStatistic, PrivatePlan
from proxy.release.plausible_answers import MADE_UP_SECONDS, PLAUSIBLE_ANSWERS, plausible_relations
from tests.kernel.test_golden_plans import golden_plans
from tests.machine_speed import allowed_work
from tests.pipeline_world import POLICIES, walk

Rows = list[dict[str, Any]]


def _relations(
    wanted: Callable[[BlockPlan], bool] = lambda _: True,
) -> Iterator[tuple[BlockPlan, tuple[Rows, ...]]]:
    for _, _, plan in golden_plans():
        if not any(map(wanted, plan.blocks)):
            continue
        relations = [
            json.loads(text) for text in plausible_relations(plan, time.thread_time, seconds=60)
        ]
        assert len(relations) == PLAUSIBLE_ANSWERS
        for number, block in enumerate(plan.blocks, start=1):
            yield block, tuple(one[subquery_name(number)] for one in relations)


@pytest.mark.long
def test_each_golden_plan_has_made_up_answers() -> None:
    checked = 0
    for block, relations in _relations():
        for rows in relations:
            names = {key_column(n) for n in range(1, len(block.keys) + 1)}
            names |= {aggregate_column(n) for n in range(1, len(block.answers) + 1)}
            names |= {column.name for column in block.intervals}
            assert all(set(row) == names for row in rows)
            checked += len(rows)
        groups = block.groups()
        if groups is not None and groups <= 2:
            assert {len(rows) for rows in relations} == {groups}, "the groups of the plan"
    assert checked > 5_000


def _has_order_statistic(block: BlockPlan) -> bool:
    return any(isinstance(one, OrderStatistic) for one in block.releases)


def test_order_statistics_are_within_their_bounds() -> None:
    checked = 0
    for block, relations in _relations(_has_order_statistic):
        for number, answer in enumerate(block.answers, start=1):
            release = block.releases[answer.releases[0]]
            if not isinstance(release, OrderStatistic) or release.aggregate.type.is_time:
                continue
            clamp = release.measured.clamp
            values = [row[aggregate_column(number)] for rows in relations for row in rows]
            assert all(clamp.low <= value <= clamp.high for value in values)
            checked += len(values)
    assert checked > 100


@pytest.mark.long
def test_no_two_columns_are_always_alike() -> None:
    """Or count(a) - count(b) would be 0 in each trial, and 1 / (count(a) - count(b)) a certain error."""
    checked = 0
    for block, relations in _relations():
        own = [answer for answer in block.answers if answer.calculated is None]
        if len({answer.releases for answer in own}) < 2 or not any(relations):
            continue
        first, second = own[0], next(one for one in own if one.releases != own[0].releases)
        names = [aggregate_column(block.answers.index(one) + 1) for one in (first, second)]
        alike = all(row[names[0]] == row[names[1]] for rows in relations for row in rows)
        assert not alike, [answer.aggregate for answer in own]
        checked += 1
    assert checked > 20


@pytest.mark.long
def test_most_plans_take_a_part_of_the_time_allowed() -> None:
    """Without this an error would be certain and be charged all the same."""
    plans = [plan for _, _, plan in golden_plans()]
    in_time = sum(bool(plausible_relations(plan, time.thread_time)) for plan in plans)
    assert in_time > 0.95 * len(plans)


@pytest.mark.long
def test_many_groups_are_shown_a_few_at_a_time() -> None:
    """All of them over all relations, or a scalar subquery on a group would be NULL in each trial."""
    checked = 0
    for block, relations in _relations():
        groups = block.groups()
        if groups is None or groups <= 2:
            continue
        rows = [
            [tuple(row[key_column(n)] for n in _keys(block)) for row in one] for one in relations
        ]
        assert all(len(one) == len(set(one)) <= 50 for one in rows)
        if groups <= 2 * PLAUSIBLE_ANSWERS:
            assert len({key for one in rows for key in one}) == groups
            checked += 1
    assert checked > 10


def _keys(block: BlockPlan) -> range:
    return range(1, len(block.keys) + 1)


def _dear_plan() -> PrivatePlan:
    """As many releases as a statement may have, in formulas and expressions that take long."""
    many = 12
    ratio = (
        "(stddev(i4) FILTER (WHERE i4 < {0}) / nullif(avg(i4) FILTER (WHERE i4 > {0}), 0)"
        " * sum(i4) FILTER (WHERE i4 > {0}))"
    )
    columns = [ratio.format(number) for number in range(1, many + 1)]
    columns += [f"dp.error({column}), dp.low({column})" for column in columns]
    pipeline = walk(
        f"SELECT t, {', '.join(columns)} FROM people GROUP BY t", next(iter(POLICIES.values()))
    )
    assert pipeline is not None
    return pipeline.plan


def test_the_time_is_looked_at_after_each_value() -> None:
    """So the work of a plan of any size ends with the time. Each look takes a second here."""
    plan = _dear_plan()
    for seconds in (1, 10, 100):
        looks = count()
        assert plausible_relations(plan, looks.__next__, seconds=seconds) == ()
        assert next(looks) == seconds + 2


@pytest.mark.timed
def test_the_time_is_limited() -> None:
    """More than the limit by one value at most. Intervals of expressions are not computed."""
    plan = _dear_plan()
    begun = time.thread_time()
    assert plausible_relations(plan, time.thread_time) == ()
    assert time.thread_time() - begun < allowed_work(1.5 * MADE_UP_SECONDS)
    begun = time.thread_time()
    (one,) = plausible_relations(plan, time.thread_time, 1, seconds=60)
    assert time.thread_time() - begun < allowed_work(MADE_UP_SECONDS)
    assert len(json.loads(one)[subquery_name(1)]) == 2
