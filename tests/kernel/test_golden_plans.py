"""All golden plans pass the kernel, and plans broken on purpose do not (tampered_plans.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from proxy.base.errors import Refusal
from proxy.kernel.block_price import price_of_block
from proxy.kernel.checked_plan import check_plan
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.kernel.plan_digest import plan_digest
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.world import World
from tests.kernel.tampered_plans import KINDS, Tampered
from tests.pipeline_world import CATALOG, POLICIES
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases

# Broken in a way that is none: so many plans of a kind live, for this reason.
EQUIVALENT: dict[str, tuple[int, str]] = {
    "cut_by_a_key_keeps_more": (1, "public rows beside an identified unit may be any number"),
    "cut_of_a_unit_keeps_more": (4, "a cut by no column, or for its work alone, may keep all rows"),
    "cut_keeps_rows_of_nobody": (2, "GROUP BY the unit above leaves them out"),
    "cut_in_no_order": (1, "the unit, which is unique there, is a key"),
    "window_without_ties": (1, "PARTITION BY has the key of the table"),
    "lookup_grouped_by_more": (1, "it stands below a GROUP BY the unit, which has one row each"),
    "window_by_the_unit_last": (1, "both columns hold the unit"),
    "part_of_a_union_shifted": (1, "both columns hold the unit"),
}


@cache
def _plans() -> tuple[tuple[str, World, PrivatePlan], ...]:
    return tuple(_golden())


def _golden() -> Iterator[tuple[str, World, PrivatePlan]]:
    for case in planned_cases():
        world = World(POLICIES[case.headers.get("policy", "world")], CATALOG)
        try:
            found = golden_pipeline(case)
        except Refusal:
            continue
        if found is not None:
            yield case.statement, world, found.plan


def golden_plans() -> tuple[tuple[str, World, PrivatePlan], ...]:
    return _plans()


def golden_blocks() -> Iterator[tuple[str, World, BlockPlan]]:
    for statement, world, plan in _plans():
        for block in plan.blocks:
            yield statement, world, block


def test_golden_plans_are_let_through() -> None:
    blocks = 0
    for statement, world, plan in _plans():
        found = check_plan(plan.blocks, plan.loss, world)
        assert found.private == plan
        for one in found.blocks:
            is_drawn = bool(one.block.releases or one.block.selection)
            assert (one.price.epsilon > 0) == is_drawn, statement
        blocks += len(found.blocks)
    assert blocks > 400


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_broken_is_refused(kind: str) -> None:
    refused, lived = 0, []
    for statement, world, block in golden_blocks():
        try:
            broken = KINDS[kind](Tampered(block=block, world=world))
        except NotPrivate:  # an owner was asked for of a part that has none by itself
            continue
        if broken is None or broken == block:
            continue
        try:
            price_of_block(broken, world)
            lived.append(statement)
        except NotPrivate:
            refused += 1
    assert refused + len(lived) > 0, "no golden plan can be broken so"
    most, _ = EQUIVALENT.get(kind, (0, ""))
    assert len(lived) <= most, lived[:3]


def test_there_are_many_kinds() -> None:
    assert len(KINDS) >= 62
    assert set(EQUIVALENT) <= set(KINDS)


def test_plans_of_one_digest_are_one_plan() -> None:
    found = defaultdict(set)
    for _, _, block in golden_blocks():
        drawn = (block.source, block.where, block.keys, block.releases, block.neighbours)
        found[plan_digest([block], b"a key")].add(drawn)
    assert all(len(plans) == 1 for plans in found.values())
    assert len(found) > 300
