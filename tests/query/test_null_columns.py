"""What is certain of an expression where columns are NULL: as PostgreSQL's three-valued logic has it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.query.ir import expressions as ir
from proxy.query.ir.null_columns import NullColumns, adds_nothing, is_null, truths

_NULLS = NullColumns(frozenset({"r2"}), frozenset({("r3", "x")}), frozenset({("r3", "z")}))
_INT = SqlType.INT4
_GONE = ir.ColumnRef("a", _INT, None, "r2")
_THERE = ir.ColumnRef("a", _INT, None, "r1")
_ZERO, _ONE = ir.Constant(Fraction(0), _INT), ir.Constant(Fraction(1), _INT)
_NOTHING = ir.Constant(None, _INT)


def _equal(left: ir.Expression, right: ir.Expression) -> ir.Comparison:
    return ir.Comparison(ir.Comparator.EQ, left, right)


def _case(condition: ir.Expression, then: ir.Expression, otherwise: ir.Expression) -> ir.Case:
    return ir.Case(((condition, then),), otherwise, _INT)


_MISSING, _OPEN = _equal(_GONE, _ONE), _equal(_THERE, _ONE)
_DISTINCT = ir.Comparison(ir.Comparator.DISTINCT, _GONE, _ONE)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (_GONE, True),
        (_THERE, False),
        (ir.ColumnRef("x", _INT, None, "r3"), True),
        (ir.ColumnRef("y", _INT, None, "r3"), False),
        (ir.Arithmetic(ir.Operator.ADD, _THERE, _GONE, _INT), True),
        (ir.Choose(ir.Choice.COALESCE, (_GONE, _ONE), _INT), False),
        (ir.Choose(ir.Choice.GREATEST, (_GONE, _THERE), _INT), False),
        (ir.Choose(ir.Choice.COALESCE, (_GONE, _NOTHING), _INT), True),
        (_case(_MISSING, _ONE, _NOTHING), True),
        (_case(_MISSING, _ONE, _ONE), False),
        (_case(_OPEN, _ONE, _NOTHING), False),
        (_case(ir.Is(_GONE, None), _NOTHING, _ONE), True),
        (_MISSING, True),
        (_DISTINCT, False),
        (ir.Is(_GONE, None), False),
        (ir.NullIf(_GONE, _THERE, _INT), True),
        (ir.NullIf(_THERE, _GONE, _INT), False),
    ],
)
def test_null(expression: ir.Expression, expected: bool) -> None:
    assert is_null(expression, _NULLS) is expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (_MISSING, {None}),
        (ir.Not(_MISSING), {None}),
        (_DISTINCT, {True, False, None}),
        (ir.Is(_GONE, None), {True}),
        (ir.Is(_MISSING, True), {False}),
        (ir.Not(ir.Is(_GONE, None)), {False}),
        (ir.In(_GONE, (_ONE,)), {None, False}),
        (ir.Not(ir.In(_GONE, (_ONE,))), {None, True}),
        (ir.Connective("AND", (_MISSING, _OPEN)), {None, False}),
        (ir.Connective("OR", (_MISSING, _OPEN)), {None, True}),
        (ir.Connective("OR", (_MISSING, ir.Is(_GONE, None))), {True}),
    ],
)
def test_truths(condition: ir.Expression, expected: set[bool | None]) -> None:
    assert truths(condition, _NULLS) == expected


def test_zeros_add_nothing() -> None:
    assert adds_nothing(_case(_MISSING, _ONE, _ZERO), _NULLS)
    assert adds_nothing(ir.Choose(ir.Choice.COALESCE, (_GONE, _ZERO), _INT), _NULLS)
    assert adds_nothing(ir.ColumnRef("z", _INT, None, "r3"), _NULLS)
    assert not adds_nothing(_case(_OPEN, _ONE, _ZERO), _NULLS)
    assert not adds_nothing(ir.Choose(ir.Choice.COALESCE, (_GONE, _ONE), _INT), _NULLS)
    assert not adds_nothing(_THERE, _NULLS)
