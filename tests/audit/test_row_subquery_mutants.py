"""Guards of subqueries about rows and of further keys: without one of them neighbours move more."""

from __future__ import annotations

import pytest

from proxy.kernel.refusals import NotPrivate
from proxy.planner import joins, lookups, rows_per_unit
from proxy.planner.facts import Facts, PlanningContext, RelationWithUnit, UnitRows
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import GroupByUnit, Join
from tests.audit.exact_results import Auditor
from tests.audit.without_kernel import without_kernel
from tests.pipeline_world import POLICIES, walk

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
