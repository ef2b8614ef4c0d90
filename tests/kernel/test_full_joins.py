"""A full join without what has no partner answers as the join that was asked for (compiler/full_joins.py)."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random  # noqa: TID251

import pytest

from proxy.base.node_parts import nodes
from proxy.compiler import relation_sql
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.relations import Join
from tests.kernel.holes import block_of
from tests.kernel.made_relations import RelationMaker
from tests.kernel.plain_joins import plain_join_sql
from tests.kernel.test_golden_plans import golden_blocks
from tests.kernel.tiny_database import tiny_database

# Conditions on each side of each kind of join, in ON and in WHERE; beside public tables on both sides.
_SIDES = [
    "orders a {join} calls b ON a.uid = b.uid{on}",
    "calls b {join} orders a ON a.uid = b.uid{on}",
    "calls b {join} orders a ON b.i2 = a.id{on}",
    "orders a {join} (SELECT uid, max(i4) AS i4, min(i2) AS i2 FROM calls GROUP BY uid) b ON a.uid = b.uid{on}",
    "orders a {join} (calls b LEFT JOIN places z ON b.t = z.code) ON a.uid = b.uid{on}",
    "orders a {join} (calls b JOIN rates k ON b.i8 = k.k) ON a.uid = b.uid{on}",
    "places z JOIN orders a ON a.t = z.code {join} calls b ON a.uid = b.uid{on}",
    "orders a {join} calls b ON a.uid = b.uid{on} LEFT JOIN places z ON z.code = a.t",
    "orders a {join} calls b ON a.uid = b.uid{on} {join} members m ON m.uid = a.uid",
    "orders a JOIN orders c ON a.uid = c.uid {join} calls b ON c.uid = b.uid{on}",
]
_CONDITIONS = [
    "a.i4 > 1",
    "b.i4 > 1",
    "a.i4 > b.i4",
    "b.i4 IS NULL",
    "coalesce(b.i2, 1) = 1",
    "a.i4 IS NULL",
]


def _statements() -> Iterator[str]:
    draw = Random(5)
    for sides in _SIDES:
        for join in ("JOIN", "LEFT JOIN"):
            for on in ("", *draw.sample(_CONDITIONS, 3)):
                written = sides.format(join=join, on=f" AND {on}" if on else "")
                where = draw.choice(["", *(f" WHERE {one}" for one in _CONDITIONS)])
                yield f"SELECT count(*), count(b.i4), sum(a.i4) FROM {written}{where}"


def _answers(block: BlockPlan) -> list[ExactTable]:
    found = tiny_database().tables(block)
    return [
        ExactTable(tuple(sorted(one.rows, key=_place)), one.slots, one.releases) for one in found
    ]


def _place(row: ExactRow) -> str:
    return str((row.keys, row.cell, row.values))


def _as_joins(patch: pytest.MonkeyPatch, block: BlockPlan) -> list[ExactTable]:
    with patch.context() as plain:
        plain.setattr(relation_sql, "full_join_sql", plain_join_sql)
        return _answers(block)


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.long)])
def test_statements_answer_as_with_plain_joins(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = RelationMaker(Random(3))
    blocks = [(statement, block_of(statement, "world")) for statement in _statements()]
    moved = 0
    for _ in range(times):
        tiny_database().fill(maker.rows())
        for statement, block in blocks:
            found = _answers(block)
            assert found == _as_joins(monkeypatch, block), statement
            moved += any(value for table in found for row in table.rows for value in row.values)
    assert moved > len(blocks) * times / 3


@pytest.mark.long
def test_golden_blocks_answer_as_with_plain_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = RelationMaker(Random(4))
    tiny_database().fill(maker.rows())
    for statement, _, block in golden_blocks():
        if any(isinstance(node, Join) for node in nodes(block.source)):
            assert _answers(block) == _as_joins(monkeypatch, block), statement
