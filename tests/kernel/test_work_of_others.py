"""No row decides whether PostgreSQL computes rows of other people, nor how often (compiler/full_joins.py).

Read off the plans that were run: each table is scanned once, whatever the other tables hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from proxy.compiler import relation_sql
from proxy.kernel.attribution import relation_of
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.query.ir.relations import Relation, scans
from tests.kernel.examples import WORLD, joined
from tests.kernel.holes import block_of
from tests.kernel.plain_joins import plain_join_sql
from tests.kernel.test_golden_plans import golden_blocks
from tests.kernel.tiny_database import tiny_database
from tests.unchecked_blocks import compiled

_ROWS = 300
# Of each table: the columns before the data, and those that joins and conditions look at.
_OWN = {
    "people": ("id", "g"),
    "events": ("free", "g"),
    "trips": ("id, leg", "g, 'a'"),
    "visits": ("id, uid", "g, g % 40"),
    "orders": ("id, uid", "g, g % 40"),
    "notes": ("id, uid", "g, (g % 40)::text"),
    "members": ("id, uid", "g, g"),
    "calls": ("id, uid", "g, g % 40"),
    "lines": ("id, order_id", "g, g"),
}
_PUBLIC = (
    "INSERT INTO regions SELECT 't' || g FROM generate_series(1, 9) g;"
    " INSERT INTO places SELECT 't' || g, (ARRAY['north', 'south'])[1 + g % 2]"
    " FROM generate_series(1, 300) g;"
    " INSERT INTO rates SELECT g, 1 FROM generate_series(1, 300) g;"
    " INSERT INTO moods SELECT unnest(enum_range(NULL::public.mood))"
)


def _filled(empty: str | None) -> str:
    """All tables but one hold rows."""
    written = [_PUBLIC]
    for table, (names, values) in _OWN.items():
        if table != empty:
            data = "g % 9, g, g, g, g, 't' || g % 9, 'c', 's', true, '2024-01-01'"
            written.append(
                f"INSERT INTO {table}({names}, i2, i4, i8, n2, n, t, c, s, b, d)"
                f" SELECT {values}, {data} FROM generate_series(1, {_ROWS}) g"
            )
    return "; ".join(written)


def _scanned(block: BlockPlan) -> list[tuple[str, int]]:
    """Scans of tables, and how often each was run, over all statements of a block."""
    return [
        (node["Relation Name"], node["Actual Loops"])
        for query in compiled(block)
        for node in tiny_database().explained(query)
        if "Relation Name" in node
    ]


def _wrong(block: BlockPlan) -> list[tuple[str, int]]:
    return [(table, loops) for table, loops in _scanned(block) if loops != 1]


def _joins(relation: Relation) -> bool:
    return len(list(scans(relation))) > 1


def _joined_blocks() -> Iterator[tuple[str, BlockPlan]]:
    seen = set()
    for statement, _, block in golden_blocks():
        if block.source not in seen and _joins(block.source):
            seen.add(block.source)
            yield statement, block


@pytest.mark.long
@pytest.mark.every(4)
@pytest.mark.parametrize("empty", [None, *sorted(_OWN)])
def test_each_table_is_scanned_once_whatever_another_holds(empty: str | None) -> None:
    tiny_database().fill(_filled(empty))
    seen: Counter[bool] = Counter()
    for statement, block in _joined_blocks():
        if empty is not None and empty not in {one.table.name for one in scans(block.source)}:
            continue
        assert _wrong(block) == [], (statement, empty)
        seen[True] += 1
    assert seen[True] > (60 if empty is None else 0)


# Conditions that name one value, beside whatever holds for all rows of it; on each side of each kind of join.
_ONE_VALUE = [
    "SELECT count(*) FROM orders a JOIN calls b ON a.uid = b.uid WHERE {}",
    "SELECT count(*) FROM orders a LEFT JOIN calls b ON a.uid = b.uid WHERE {}",
    "SELECT count(*) FROM orders a JOIN (SELECT uid, max(i4) AS i4 FROM calls GROUP BY uid) b"
    " ON a.uid = b.uid WHERE {}",
    "SELECT count(*) FROM orders a JOIN orders b ON a.uid = b.uid JOIN calls c ON c.uid = b.uid WHERE {}",
    "SELECT count(*) FROM calls a JOIN orders b ON a.i2 = b.id WHERE {}",
    "SELECT count(*) FROM orders a WHERE {} AND EXISTS (SELECT 1 FROM calls b WHERE b.uid = a.uid)",
    "SELECT count(*) FROM orders a WHERE {} AND i4 > (SELECT max(b.i4) FROM calls b WHERE b.uid = a.uid)",
]
_CONDITIONS = ["a.uid = 7", "a.uid IN (7)", "a.uid = 7 AND a.i4 = 7", "a.uid = -1", "a.i4 = -1"]


@pytest.mark.every(6)
@pytest.mark.parametrize("where", _CONDITIONS)
@pytest.mark.parametrize("statement", _ONE_VALUE)
def test_one_value_of_the_unit_repeats_no_scan(statement: str, where: str) -> None:
    tiny_database().fill(_filled(None))
    block = block_of(statement.format(where), "world")
    assert _wrong(block) == []


def test_one_value_of_a_public_key_repeats_no_scan() -> None:
    tiny_database().fill(_filled(None))
    for where in ("z.code = 't1'", "p.t = 't1'", "z.code = 'none'", "p.i4 = -1"):
        question = f"SELECT count(*) FROM people p JOIN places z ON p.t = z.code WHERE {where}"
        assert _wrong(block_of(question, "world")) == []


def test_without_the_full_join_a_side_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_database().fill(_filled(None))
    monkeypatch.setattr(relation_sql, "full_join_sql", plain_join_sql)
    left_alone = block_of(_ONE_VALUE[-1].format("a.uid = -1"), "world")
    assert 0 in {loops for _, loops in _wrong(left_alone)}


def test_the_kernel_refuses_what_is_not_hashed_and_keys_without_a_seed() -> None:
    by_unit = joined("orders", "uid", "calls", "uid")
    relation_of(by_unit, WORLD)
    relation_of(replace(by_unit, is_seeded=False), WORLD)
    x, y = by_unit.equal[0]
    more = replace(by_unit, is_seeded=False, equal=((x, y), (replace(x, column="id"), y)))
    for refused in (more, replace(by_unit, equal=())):
        with pytest.raises(NotPrivate) as found:
            relation_of(refused, WORLD)
        assert found.value.rule is Rule.JOIN
