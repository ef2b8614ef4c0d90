"""A condition in canonical form says of every row what it said before, by PostgreSQL's own evaluation."""

from __future__ import annotations

import random  # noqa: TID251  the same statements in every run

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import condition_sql
from proxy.compiler.relation_sql import relation_sql
from proxy.query.ir.expressions import Expression
from proxy.query.ir.relations import Relation
from proxy.reuse.canonical_form import CanonicalForm, canonical_condition
from tests.compiler.test_narrowing import random_condition
from tests.pipeline_world import walk

_STATEMENTS = [(3, 150), pytest.param(4, 4_000, marks=pytest.mark.long)]


def text_of(expression: Expression) -> str:
    return CanonicalForm().text(expression)


def _where(condition: str) -> tuple[Relation, Expression] | None:
    try:
        pipeline = walk(f"SELECT count(*) FROM people WHERE {condition}")
    except Refusal:
        return None
    assert pipeline is not None
    block = pipeline.plan.blocks[0]
    return None if block.where is None else (block.source, block.where)


def _truths(source: Relation, condition: Expression, server: psycopg.Connection) -> list[object]:
    binds = Binds()
    sql = f"SELECT {condition_sql(condition, binds)} FROM {relation_sql(source, binds)} ORDER BY id"
    return [row[0] for row in server.execute(sql.encode(), binds.values)]


@pytest.mark.parametrize("seed, statements", _STATEMENTS)
def test_truth_stays(hostile: psycopg.Connection, seed: int, statements: int) -> None:
    draw = random.Random(seed)
    changed = tried = 0
    for _ in range(statements):
        condition = random_condition(draw, "", 2)
        found = _where(condition)
        if found is None:
            continue
        source, before = found
        after = canonical_condition(before, text_of)
        assert _truths(source, after, hostile) == _truths(source, before, hostile), condition
        assert canonical_condition(after, text_of) == after, condition
        tried += 1
        changed += after != before
    assert tried > statements * 0.8
    assert changed > tried / 2
