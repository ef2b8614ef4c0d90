"""Proposals read the tables that are charged for them, and no others (proxy/kernel/proposal_check.py)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel import proposal_check
from proxy.kernel.bound_choices import BoundChoice
from proxy.kernel.proposal_check import CheckedProposals, check_proposals
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.work import TooMuchWork
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import PlanningContext
from proxy.planner.neighbours import choice_of
from proxy.query.ir.expressions import (
    Arithmetic,
    Clamped,
    Comparator,
    Comparison,
    Constant,
    Operator,
    RealCall,
    RealFunction,
)
from proxy.query.ir.relations import Relation, Subquery, UnionAll
from tests.kernel.examples import PREPARED, joined, of_table, scan, scan_of_copy
from tests.kernel.test_weakened_kernel import _weak
from tests.pipeline_world import CATALOG, POLICIES

_POLICY = POLICIES["best"]
_WORLD = World(_POLICY, CATALOG)
_ORDERS = TableName("w", "orders")


def _planned(name: str) -> CheckedProposals:
    table = TableName("w", name)
    context = PlanningContext(_POLICY, CATALOG, {})
    return proposal_plan(context, Fraction(1), table, ["i4"])


def _choice() -> BoundChoice:
    return choice_of(Loss(Fraction(1), Fraction(0)), 100)


def _rows_of(relation: Relation, alias: str, table: TableName = _ORDERS) -> TableProposals:
    """A bound on the rows of a unit, of any relation with the column uid."""
    unit = replace(of_table("r", "orders", "uid"), relation=alias)
    bound = ProposedBound(what=Proposed.ROWS, choice=_choice(), times=1)
    return TableProposals(
        table=table, relation=relation, unit=unit, not_null=unit, keys=(), bounds=(bound,)
    )


def _shown(alias: str, table: str) -> Subquery:
    return Subquery(
        alias, scan(f"{alias}s", table), None, (("uid", of_table(f"{alias}s", table, "uid")),)
    )


_OTHERS = {
    "joined with another table": _rows_of(joined("orders", "uid", "calls", "uid"), "a"),
    "another table by itself": _rows_of(scan("r1", "calls"), "r1"),
    "the table twice": _rows_of(joined("orders", "uid", "orders", "uid"), "a"),
    "together with another table": _rows_of(
        UnionAll("q", (_shown("u1", "orders"), _shown("u2", "calls"))), "q"
    ),
    "a public table": _rows_of(scan("r1", "orders"), "r1", TableName("w", "rates")),
    "nothing of the table": replace(_rows_of(scan("r1", "orders"), "r1"), bounds=()),
    "no table": _rows_of(scan("r1", "orders"), "r1", TableName("w", "nothing")),
}


def test_the_table_alone_is_let_through() -> None:
    found = check_proposals([_rows_of(scan("r1", "orders"), "r1")], _WORLD)
    assert found.tables == {"w.orders": found.loss}


@pytest.mark.parametrize("name", _OTHERS)
def test_no_other_table_is_read(name: str) -> None:
    with pytest.raises(NotPrivate) as refused:
        check_proposals([_OTHERS[name]], _WORLD)
    assert refused.value.rule is Rule.PROPOSAL


def test_no_copy_is_read() -> None:
    """Nothing here looks whether it is there."""
    copied = _rows_of(scan_of_copy("visits", "visits_copy"), "r1", TableName("w", "visits"))
    trips_alone: dict[str, Any] = {"unit": None, "not_null": None}
    with pytest.raises(NotPrivate) as refused:
        check_proposals([replace(copied, **trips_alone)], PREPARED)
    assert refused.value.where == "other tables than are charged"


def test_the_table_that_has_the_unit_is_charged_too() -> None:
    """The unit of a line is in the order that it refers to."""
    plan = _planned("lines")
    assert plan.tables == {"w.lines": plan.loss, "w.orders": plan.loss}
    (stated,) = plan.proposed
    for other in (scan("r1", "lines"), scan("r1", "orders")):
        with pytest.raises(NotPrivate):
            check_proposals([replace(stated, relation=other)], _WORLD)


def test_what_is_read_for_several_tables_adds_up() -> None:
    lines, orders = (_planned(name).proposed[0] for name in ("lines", "orders"))
    plan = check_proposals([lines, orders], _WORLD)
    assert plan.tables["w.orders"] == plan.loss
    assert plan.tables["w.lines"].epsilon < plan.loss.epsilon


_WEAKENED = {
    "joined with another table": _weak(
        proposal_check.check_scans,
        "read != Counter((one, None) for one in charged)",
        "(table.table, None) not in read",
    ),
    "nothing of the table": _weak(
        proposal_check.price_of_table, "if not table.bounds:", "if False:"
    ),
    "the table twice": _weak(
        proposal_check.check_scans,
        "read != Counter((one, None) for one in charged)",
        "read.keys() != {(one, None) for one in charged}",
    ),
}


@pytest.mark.parametrize("name", _WEAKENED)
def test_without_the_condition_it_gets_through(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _WEAKENED[name].put(monkeypatch)
    # Of such rows it is also unknown how long they take.
    monkeypatch.setattr(proposal_check, "check_work", lambda *_: None)
    check_proposals([_OTHERS[name]], _WORLD)


def test_rows_that_take_too_long_are_not_read() -> None:
    index = Clamped(of_table("r1", "orders", "n2"), Fraction(1), Fraction(9), SqlType.NUMERIC)
    three = Constant(Fraction(3), SqlType.INT4)
    for _ in range(12):
        logarithm = RealCall(RealFunction.LN, index, None, SqlType.NUMERIC)
        above = Arithmetic(Operator.ADD, logarithm, three, SqlType.NUMERIC)
        index = Clamped(above, Fraction(1), Fraction(9), SqlType.NUMERIC)
    where = Comparison(Comparator.GT, index, three)
    outputs = (("uid", of_table("r1", "orders", "uid")),)
    rows = [Subquery("q", scan("r1", "orders"), one, outputs) for one in (None, where)]
    check_proposals([_rows_of(rows[0], "q")], _WORLD)
    with pytest.raises(TooMuchWork):
        check_proposals([_rows_of(rows[1], "q")], _WORLD)
