"""A sum that conditions narrow is the sum that it was: no row that counts is cut any further."""

from __future__ import annotations

import random  # noqa: TID251  the same statements in every run
from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.kernel.plan import BlockPlan, NoisyStatistic
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import Clamped
from tests.compiler.test_narrowing import random_condition
from tests.pipeline_world import POLICIES, walk
from tests.unchecked_blocks import compile_block

_BOUNDS = {"i2": (-5, 10), "i4": (0, 100), "i8": (-1000, 5000), "n2": (0, 175), "f8": (-100, 100)}


def _uncut(block: BlockPlan, column: str) -> BlockPlan:
    """The block with the policy's bounds as its cut."""
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic) and isinstance(release.of, tuple)
    (one,) = release.of
    assert isinstance(one.operand, Clamped)
    low, high = _BOUNDS[column]
    bounds = Bounds(Fraction(low), Fraction(high))
    operand = replace(one.operand, low=bounds.low, high=bounds.high)
    changed = replace(release, of=(replace(one, operand=operand, clamp=bounds),))
    return replace(block, releases=(changed, *block.releases[1:]))


def _rows(hostile: psycopg.Connection, block: BlockPlan) -> list[tuple[object, ...]]:
    (query,) = compile_block(block)
    parameters = {**query.parameters, **dict.fromkeys(query.seeds, 42)}
    return hostile.execute(query.sql.encode(), parameters).fetchall()


@pytest.mark.parametrize("count", [70, pytest.param(200, marks=pytest.mark.long)])
def test_narrowed_sums_are_the_same_sums(count: int, hostile: psycopg.Connection) -> None:
    draw = random.Random(11)
    narrower = 0
    for _ in range(count):
        column = draw.choice(list(_BOUNDS))
        where, only = random_condition(draw, column, 1), random_condition(draw, column, 1)
        filtered = f" FILTER (WHERE {only})" if draw.random() < 0.3 else ""
        text = f"SELECT sum({column}){filtered} FROM people WHERE {where}"
        try:
            pipeline = walk(text, POLICIES["best"])
        except Refusal:
            continue
        assert pipeline is not None
        block = pipeline.plan.blocks[0]
        whole = _uncut(block, column)
        narrower += whole.releases != block.releases
        assert _rows(hostile, block) == _rows(hostile, whole), text
    assert narrower > count * 0.3
