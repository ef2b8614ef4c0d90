"""Guards of windows over the rows of a unit and of subqueries about a row: without one of them neighbours move
more, or an order decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.audit import neighbour_audit
from proxy.compiler.compiling import compile_block
from proxy.kernel.refusals import NotPrivate
from proxy.planner import joins, lookups, numbered_rows, rows_per_unit, unit_windows
from proxy.planner.facts import ColumnFacts, Facts, PlanningContext, RelationWithUnit, UnitRows
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import GroupByUnit, Join, WindowColumn
from tests.audit.exact_results import Auditor
from tests.audit.without_kernel import without_kernel
from tests.pipeline_world import POLICIES, walk

_FIRST = "SELECT sum(i4) FROM (SELECT i4, {} OVER (PARTITION BY {}) AS r FROM orders) q WHERE r {}"
_OF_A_KEY = _FIRST.format("row_number()", "t ORDER BY i4", "= 1")
_UNSORTED = "SELECT sum(x) FROM (SELECT first_value(i4) OVER (PARTITION BY uid ORDER BY b) AS x FROM orders) q"


def _wrong(sql: str, auditor: Auditor) -> list[str]:
    pipeline = walk(sql, POLICIES["world"])
    assert pipeline is not None
    return auditor.audit(pipeline.plan)


def test_the_unit_is_partitioned_by_whatever_else_is(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a key were taken for the unit, the answer would be wrong, but not more than a unit's; without the
    unit in the partition it is that of many."""
    planner = unit_windows._WindowPlanner
    monkeypatch.setattr(planner, "_names_the_unit", lambda *_: None)
    assert _wrong(_OF_A_KEY, auditor) == []
    real = planner.column

    def without_unit(
        self: unit_windows._WindowPlanner, column: WindowColumn, ties: tuple[ColumnRef, ...]
    ) -> tuple[WindowColumn, ColumnFacts]:
        planned, known = real(self, column, ties)
        return replace(planned, partition=planned.partition[1:]), known

    monkeypatch.setattr(planner, "column", without_unit)
    with pytest.raises(NotPrivate):
        _wrong(_OF_A_KEY, auditor)
    without_kernel(monkeypatch)
    assert _wrong(_OF_A_KEY, auditor) != []


def test_ties_fall_to_what_can_be_seen(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _wrong(_UNSORTED, auditor) == []
    monkeypatch.setattr(unit_windows._WindowPlanner, "ties", lambda *_: ())
    with pytest.raises(NotPrivate):
        _wrong(_UNSORTED, auditor)
    without_kernel(monkeypatch)
    assert any("order of rows" in line for line in _wrong(_UNSORTED, auditor))


def test_only_row_numbers_are_of_one_row(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several rows can be the first by rank(), and of each further key there is one by row_number()."""
    of_rank = _FIRST.format("rank()", "uid ORDER BY b", "= 1")
    of_keys = _FIRST.format("row_number()", "uid, i2 ORDER BY i4", "= 1")
    assert _wrong(of_rank, auditor) == _wrong(of_keys, auditor) == []
    monkeypatch.setattr(numbered_rows, "_is_row_number", lambda *_: True)
    for question in (of_rank, of_keys):
        with pytest.raises(NotPrivate):
            _wrong(question, auditor)
    without_kernel(monkeypatch)
    assert _wrong(of_rank, auditor) != []
    assert _wrong(of_keys, auditor) != []


@pytest.mark.parametrize(
    ("compared", "rows"),
    [("= 1", 1), ("= 3", 1), ("<= 2", 2), ("< 2", 1), ("< 2.5", 2), ("<= 2.5", 2), ("< 1", 1)],
)
def test_how_many_first_rows_there_are(auditor: Auditor, compared: str, rows: int) -> None:
    sql = _FIRST.format("row_number()", "uid ORDER BY i4", compared)
    pipeline = walk(sql, POLICIES["world"])
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    assert getattr(block.neighbours, "rows", None) == rows
    assert auditor.audit(pipeline.plan) == []


def test_names_of_rows_are_the_same_on_neighbours(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that gen_random_uuid() gives are others at each run: another half of the rows would count."""
    named = "(SELECT uid, i4, gen_random_uuid() AS k FROM orders)"
    half = (
        f"SELECT count(*), sum(i4) FROM {named} q WHERE k > '80000000-0000-0000-0000-000000000000'"
    )
    chosen = (
        "SELECT sum(i4) FROM (SELECT i4, row_number() OVER (PARTITION BY uid ORDER BY k) AS r"
        f" FROM {named} z) q WHERE r = 1"
    )
    plans = [pipeline.plan for sql in (half, chosen) if (pipeline := walk(sql)) is not None]
    bases = [base.small() for base in auditor.bases if base.name == "hostile"]
    assert [auditor.audit(plan, bases) for plan in plans] == [[], []]
    monkeypatch.setattr(neighbour_audit, "compile_block", lambda block, **_: compile_block(block))
    assert all(auditor.audit(plan, bases) for plan in plans)


_LOOKUP = "SELECT count(*) FROM calls c WHERE EXISTS (SELECT 1 FROM orders o WHERE {} = {})"
_KEYS = "SELECT count(*) FROM (SELECT uid, i2, t FROM orders GROUP BY uid, i2, t) q"


def _moves(sql: str, auditor: Auditor) -> bool:
    pipeline = walk(sql, POLICIES["world"])
    assert pipeline is not None
    return auditor.audit(pipeline.plan) != []


def test_a_lookup_that_is_not_on_the_unit(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if what is compared were enough to say whose rows meet."""
    assert not _moves(_LOOKUP.format("o.uid", "c.uid"), auditor)

    def only_compared(
        relation: Join,
        facts: Facts,
        left: RelationWithUnit,
        right: RelationWithUnit,
        known: PlanningContext,
    ) -> RelationWithUnit:
        return RelationWithUnit(relation, facts, left.ownership)

    monkeypatch.setattr(joins, "looked_up", only_compared)
    with pytest.raises(NotPrivate):
        _moves(_LOOKUP.format("o.i2", "c.i2"), auditor)
    without_kernel(monkeypatch)
    assert _moves(_LOOKUP.format("o.i2", "c.i2"), auditor)


def test_the_unit_is_joined_whatever_is_compared(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what is compared were taken for the unit, the answer would be wrong, but not more than a unit's."""
    monkeypatch.setattr(lookups, "on_the_unit", lambda *_: True)
    assert not _moves(_LOOKUP.format("o.i2", "c.i2"), auditor)


def test_rows_per_unit_and_key_are_not_one(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not _moves(_KEYS, auditor)
    real = rows_per_unit._gathered

    def as_one(
        grouped: GroupByUnit, ownership: UnitRows, unit: ColumnRef, is_one_row: bool
    ) -> UnitRows:
        return real(grouped, ownership, unit, True)

    monkeypatch.setattr(rows_per_unit, "_gathered", as_one)
    with pytest.raises(NotPrivate):
        _moves(_KEYS, auditor)
    without_kernel(monkeypatch)
    assert _moves(_KEYS, auditor)
