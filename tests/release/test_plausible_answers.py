"""Made-up answers for a trial run: of every golden plan, within its groups, bounds and types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from proxy.base.result_columns import aggregate_column, key_column, subquery_name
from proxy.kernel.plan import BlockPlan, OrderStatistic
from proxy.release.plausible_answers import (
    PLAUSIBLE_ANSWERS,
    plausible_relations,
)
from tests.kernel.test_golden_plans import golden_plans

Rows = list[dict[str, Any]]


def _relations() -> Iterator[tuple[BlockPlan, tuple[Rows, ...]]]:
    for _, _, plan in golden_plans():
        relations = [json.loads(text) for text in plausible_relations(plan, seconds=60)]
        assert len(relations) == PLAUSIBLE_ANSWERS
        for number, block in enumerate(plan.blocks, start=1):
            yield block, tuple(one[subquery_name(number)] for one in relations)


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


def test_order_statistics_are_within_their_bounds() -> None:
    checked = 0
    for block, relations in _relations():
        for number, answer in enumerate(block.answers, start=1):
            release = block.releases[answer.releases[0]]
            if not isinstance(release, OrderStatistic) or release.aggregate.type.is_time:
                continue
            clamp = release.measured.clamp
            values = [row[aggregate_column(number)] for rows in relations for row in rows]
            assert all(clamp.low <= value <= clamp.high for value in values)
            checked += len(values)
    assert checked > 100


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
