"""Mistakes of the reader, made on purpose: what it would claim of privacy, the kernel does not believe.

Each statement is planned as it is. With the mistake the kernel refuses the plan, or the planner does, before
anything is read or charged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.kernel.refusals import NotPrivate
from proxy.query.bind import row_lookups
from proxy.query.bind.nodes import conditions
from proxy.query.ir import expressions
from proxy.query.ir.expressions import ColumnRef, InPublic
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Subquery
from tests.audit.without_kernel import without_kernel
from tests.pipeline_world import POLICIES, walk

Patch = pytest.MonkeyPatch
_LIST = "SELECT count(*) FROM people WHERE t IN (SELECT code FROM places WHERE zone = 'north')"
_LIST_BELOW = (
    "SELECT count(*) FROM (SELECT uid, i4 FROM visits WHERE t IN (SELECT code FROM places)) q"
    " WHERE i4 > 0"
)
_LIST_OF_A_FILTER = "SELECT count(*) FILTER (WHERE t IN (SELECT code FROM places)) FROM people"
_LISTS = (_LIST, _LIST_BELOW, _LIST_OF_A_FILTER)
_OF_A_PROTECTED_TABLE = (
    "SELECT count(*) FROM people p"
    " WHERE EXISTS (SELECT 1 FROM visits v WHERE v.i4 = p.i4 AND v.uid = 7)"
)
_TWO_EQUALITIES = (
    "SELECT count(*) FROM members m"
    " WHERE EXISTS (SELECT 1 FROM visits v WHERE v.uid = m.uid AND v.t = m.t)"
)
_SCALAR = (
    "SELECT sum((SELECT max(i4) FROM visits v WHERE v.uid = m.uid AND v.i2 = m.i2)) FROM members m"
)
_IN = "SELECT count(*) FROM members WHERE uid IN (SELECT uid FROM visits WHERE i4 > 5)"
_LOOKUPS = (_TWO_EQUALITIES, _SCALAR, _IN)


def _plan(text: str) -> None:
    assert walk(text, POLICIES["best"]) is not None


def _is_refused(text: str) -> None:
    with pytest.raises((NotPrivate, Refusal)):
        walk(text, POLICIES["best"])


def test_a_protected_table_taken_for_a_public_one(monkeypatch: Patch) -> None:
    """Its rows would be read exactly before the charge, with a planned sensitivity of 1."""
    monkeypatch.setattr(row_lookups.RowLookups, "_is_protected", lambda self, scan: False)
    _is_refused(_OF_A_PROTECTED_TABLE)


_VISITS = TableName("w", "visits")
_CHANGES: dict[str, Callable[[InPublic], InPublic]] = {
    "a protected table": lambda one: replace(
        one, table=_VISITS, output=replace(one.output, column="t"), condition=None
    ),
    "no table of the policy": lambda one: replace(one, table=TableName("w", "unknown")),
    "a column that it has not": lambda one: replace(one, output=replace(one.output, column="t")),
    "a column of the row around": lambda one: replace(one, output=_operand(one)),
}


def _operand(one: InPublic) -> ColumnRef:
    assert isinstance(one.operand, ColumnRef)
    return one.operand


@pytest.mark.parametrize("text", _LISTS)
@pytest.mark.parametrize("change", _CHANGES)
def test_lists_are_of_public_tables(monkeypatch: Patch, text: str, change: str) -> None:
    _plan(text)
    mistaken = ModuleType("expressions")
    vars(mistaken).update(vars(expressions))
    vars(mistaken)["InPublic"] = lambda *parts: _CHANGES[change](InPublic(*parts))
    monkeypatch.setattr(conditions, "ir", mistaken)  # in the one place that makes such a part
    _is_refused(text)


def _without_the_second_equality(monkeypatch: Patch) -> None:
    real = row_lookups.RowLookups._add

    def add(self: Any, source: Relation, queried: Any, *more: Any, **named: Any) -> Subquery:
        found = real(self, source, queried, *more, **named)
        subquery, pairs, place = self.joins[-1]
        self.joins[-1] = (subquery, pairs[:1], place)
        return found

    monkeypatch.setattr(row_lookups.RowLookups, "_add", add)


def test_an_equality_that_is_forgotten(monkeypatch: Patch) -> None:
    """Each member would meet a row for each of their kinds: sensitivity 1 is planned."""
    _without_the_second_equality(monkeypatch)
    _is_refused(_TWO_EQUALITIES)
    _is_refused(_SCALAR)


def _changed_joins(monkeypatch: Patch, change: Callable[[Join], Join]) -> None:
    real = row_lookups.RowLookups.joined

    def joined(self: Any, relation: Relation) -> Relation:
        found = real(self, relation)
        return change(found) if isinstance(found, Join) and found.is_lookup else found

    monkeypatch.setattr(row_lookups.RowLookups, "joined", joined)


def _with_more_keys(join: Join) -> Join:
    """A further key that nothing is compared with."""
    right = join.right
    assert isinstance(right, Subquery) and isinstance(right.source, GroupByUnit)
    column = replace(right.source.keys[0], column="i2")  # type: ignore[arg-type]
    return replace(
        join, right=replace(right, source=replace(right.source, keys=(*right.source.keys, column)))
    )


def _ungrouped(join: Join) -> Join:
    """The rows themselves, under the names of one row each."""
    right = join.right
    assert isinstance(right, Subquery) and isinstance(right.source, GroupByUnit)
    grouped = right.source
    below = {"unit": grouped.unit} | {f"k{n}": key for n, key in enumerate(grouped.keys, start=1)}
    outputs = tuple((name, below.get(name, grouped.unit)) for name, _ in right.outputs)
    return replace(
        join, right=replace(right, source=grouped.source, where=grouped.where, outputs=outputs)
    )


@pytest.mark.parametrize("text", _LOOKUPS)
@pytest.mark.parametrize("change", [_with_more_keys, _ungrouped])
def test_lookups_meet_one_row_at_most(
    monkeypatch: Patch, text: str, change: Callable[[Join], Join]
) -> None:
    _plan(text)
    _changed_joins(monkeypatch, change)
    _is_refused(text)


def test_the_kernel_is_what_refuses(monkeypatch: Patch) -> None:
    """Without it both mistakes are planned."""
    without_kernel(monkeypatch)
    with monkeypatch.context() as one:
        one.setattr(row_lookups.RowLookups, "_is_protected", lambda self, scan: False)
        _plan(_OF_A_PROTECTED_TABLE)
    with monkeypatch.context() as one:
        _changed_joins(one, _with_more_keys)
        _plan(_TWO_EQUALITIES)
    _without_the_second_equality(monkeypatch)
    _plan(_TWO_EQUALITIES)
