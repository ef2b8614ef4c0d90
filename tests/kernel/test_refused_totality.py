"""Each condition of proxy/kernel/totality.py: what it refuses, in its own words, or what it lets through.

What is refused with the words of another condition would pass without this one, or raise no refusal at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from typing import Any, cast

import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.known_values import ANYTHING, ColumnValues, Value, around, within
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.statistics import Measured, factors_of
from proxy.kernel.totality import (
    _check_measured,
    _cut,
    _Judge,
    aggregate_value,
    check_distinct,
    check_grid_index,
    check_key,
    check_relation,
    check_totality,
)
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import (
    Arithmetic,
    Case,
    Cast,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    Extract,
    In,
    Is,
    Like,
    Not,
    NumericCall,
    NumericFunction,
    TextCall,
    TextFunction,
)
from proxy.query.ir.function_names import Operator
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import GroupByUnit, Subquery
from tests.kernel.examples import (
    WORLD,
    block_of_fewest,
    column,
    distinct_count,
    measured,
    scan,
    shape,
    value_choice,
)

_N = column("r1", "n", SqlType.NUMERIC)
_N2 = column("r1", "n2", SqlType.NUMERIC)
_I4 = column("r1", "i4", SqlType.INT4)
_T = column("r1", "t", SqlType.TEXT)
_J = column("r1", "j", SqlType.JSONB)
_D = column("r1", "d", SqlType.DATE)
_B = column("r1", "b", SqlType.BOOL)
_UID = column("r1", "uid", SqlType.INT4)
_UNKNOWN = column("r1", "free", SqlType.OTHER)
_UNTYPED, _UNTYPED_NULL = Constant("x", None), Constant(None, None)
_ROWS = _Judge(ColumnValues())
_LONG = Value(characters=limits.KEY_CHARACTERS + 1)
_SHORT = Value(characters=limits.KEY_CHARACTERS)
_KIND = AggregateKind
_COUNT = within(Fraction(0), Fraction(2**63))
_ROUNDED = NumericCall(NumericFunction.ROUND, _N, 0, SqlType.NUMERIC)


def _judged(expression: Expression) -> Value:
    return _Judge(ColumnValues()).output(expression)


def _aggregate(kind: AggregateKind, operand: Expression | None, most: int = 0) -> Value:
    return aggregate_value(Aggregate(kind, operand, None, SqlType.INT8), most, _ROWS)


def _key(
    expression: Expression,
    value: Value = ANYTHING,
    values: tuple[str | None, ...] | None = None,
    is_long: bool = False,
) -> None:
    kind = expression.type or SqlType.TEXT
    key = KeyPlan(
        expression=expression, type=kind, type_name=kind.sql, values=values, is_long=is_long
    )
    check_key(key, value)


def _distinct(
    operand: Expression,
    value: Value = ANYTHING,
    *,
    of_unit: bool = False,
    is_long: bool = False,
    not_null: ColumnRef | None = None,
) -> None:
    """Of rows of units, or of rows by themselves, which name their units by a column."""
    neighbours = shape(count=1, groups=None).neighbours
    if not_null is not None:
        neighbours = RowNeighbours(rows=1, hashed_by=(), not_null=not_null)
    release = replace(distinct_count(of_unit), operand=operand, is_long=is_long)
    check_distinct(release, neighbours, value)


def _steps(
    operand: Expression,
    low: Fraction | int = 0,
    high: Fraction | int = 10,
    grid: Fraction | int = 1,
) -> Measured:
    clamp = Bounds(Fraction(low), Fraction(high))
    return replace(measured(0, 10), operand=operand, clamp=clamp, grid=Fraction(grid))


def _index(one: Measured, stored: Value = ANYTHING) -> None:
    check_grid_index(one, stored)


def _clamped(operand: Expression) -> Clamped:
    return Clamped(operand, Fraction(0), Fraction(10), SqlType.INT4)


_PRODUCT = Arithmetic(
    Operator.MULTIPLY,
    Clamped(_I4, Fraction(0), Fraction(10), SqlType.INT4),
    Clamped(_N2, Fraction(-1), Fraction(1, 2), SqlType.NUMERIC),
    SqlType.NUMERIC,
)


def _held_to(column: Expression) -> Value:
    steps = {_I4: Fraction(1), _N2: Fraction(1, 100)}
    return Value(step=steps.get(cast(ColumnRef, column)), least=Fraction(-1_000))


_OWN = factors_of(_PRODUCT, _held_to)


def _with_factors(*factors: Measured) -> None:
    rows = ColumnValues(computed={("r1", one.column): _held_to(one) for one in (_I4, _N2)})
    _check_measured(replace(measured(0, 10), operand=_PRODUCT, factors=factors), _Judge(rows))


def _factors_within(end: Fraction, kind: SqlType = SqlType.NUMERIC) -> int:
    ends = min(Fraction(0), end), max(Fraction(0), end)
    return len(factors_of(Clamped(_N2, *ends, kind), _held_to))


def _block(measured: Measured) -> BlockPlan:
    choice = replace(value_choice(Fraction(1)), measured=measured)
    return replace(block_of_fewest(0), value_choices=(choice,))


def _groups(key: Expression) -> GroupByUnit:
    return GroupByUnit("g", scan("r1", "people"), None, _UID, (), keys=(key,))


def _output(expression: Expression) -> Value:
    there = Subquery("q", scan("r1", "people"), None, (("x", expression),))
    return check_relation(there, WORLD).value(("q", "x"))


_NOT_PRINTED = "a text of a value of an unknown type, or of any length"
_NOT_COMPARED = "a value of an unknown type, or of any length, that is compared"
_NOT_LISTED = "a listed key that is no value of its column"
_LONG_KEY = "a key that may be long"
_LONG_TEXT = "distinct texts that may be long"
_NO_NUMBER = "a value that is cast to a number"
_NO_ENDS = "arithmetic on a value without ends"
_NO_COUNT = "a count that is cut to no count"
_NO_STEPS = "a grid without steps"
_MANY_STEPS = "a clamp with too many steps"
_DIGITS = "a grid that is too fine or too coarse"
_NO_LEAST = "a least value that the type of the column does not have"
_OFF_GRID = "a column whose type holds other values than steps of the grid"
_NOT_OWN = "a factor that is not one of the operand's"
_NO_WHOLE = "an index of no whole steps"
_FAR_INDEX = "an index beyond an integer"
_ROUNDED_IN_TEXT = Cast(_ROUNDED, SqlType.TEXT)

# Another one in each field of a factor.
_OTHERS: dict[str, Any] = {
    "operand": _clamped(_UID),
    "condition": _B,
    "clamp": Bounds(Fraction(0), Fraction(9)),
    "grid": Fraction(2),
    "rows": 2,
    "on_grid": False,
    "least": None,
    "is_of_mean": True,
    "index": _I4,
    "index_steps": 0,
}

_REFUSED: tuple[tuple[str, Callable[[], object]], ...] = (
    (_NO_STEPS, lambda: check_totality(_block(_steps(_I4, grid=-1)), WORLD)),
    (_NOT_PRINTED, lambda: check_relation(_groups(_J), WORLD)),
    (
        "texts of another encoding than UTF8",
        lambda: check_relation(
            scan("r1", "visits"),
            replace(WORLD, catalog=replace(WORLD.catalog, encoding="SQL_ASCII")),
        ),
    ),
    (_NO_COUNT, lambda: _aggregate(_KIND.COUNT_ROWS, None, -1)),
    (_NO_COUNT, lambda: _aggregate(_KIND.COUNT, _T, 2**63)),
    (_NOT_COMPARED, lambda: _aggregate(_KIND.COUNT_DISTINCT, _J)),
    (_NOT_COMPARED, lambda: _aggregate(_KIND.COUNT, _UNKNOWN)),
    (_NO_NUMBER, lambda: _aggregate(_KIND.MAX, _T)),
    (_NO_NUMBER, lambda: _aggregate(_KIND.MIN, _UNTYPED)),
    (_NO_NUMBER, lambda: _aggregate(_KIND.SUM, _D)),
    (_NO_ENDS, lambda: _aggregate(_KIND.SUM, _N)),
    (_NOT_PRINTED, lambda: _key(_J, is_long=True)),
    (_NOT_LISTED, lambda: _key(_I4, values=("1", "x"))),
    (_LONG_KEY, lambda: _key(_N)),
    (_LONG_KEY, lambda: _key(_T)),
    (_LONG_KEY, lambda: _key(_T, _LONG)),
    (_NOT_PRINTED, lambda: _distinct(_J)),
    (
        "values that are no texts, of which the first characters count",
        lambda: _distinct(_I4, is_long=True),
    ),
    (_LONG_TEXT, lambda: _distinct(_T)),
    (_LONG_TEXT, lambda: _distinct(_T, _LONG)),
    (_LONG_TEXT, lambda: _distinct(_T, of_unit=True, not_null=_UID)),
    (_LONG_TEXT, lambda: _distinct(_T, not_null=_T)),
    ("a time that is measured and is no column", lambda: _index(_steps(_D))),
    (_NO_NUMBER, lambda: _index(_steps(_T))),
    ("a number without a decimal form", lambda: _index(_steps(_N, low=Fraction(1, 3)))),
    (_NO_STEPS, lambda: _index(_steps(_I4, grid=0))),
    (_NO_STEPS, lambda: _index(_steps(_I4, grid=-1))),
    (_MANY_STEPS, lambda: _index(_steps(_I4, high=2**52 + 1))),
    (_MANY_STEPS, lambda: _index(_steps(_I4, low=-(2**52) - 1))),
    (_DIGITS, lambda: _index(_steps(_I4, high=0, grid=2**4_097))),
    (_DIGITS, lambda: _index(_steps(_I4, high=0, grid=Fraction(1, 2**4_097)))),
    (_NO_LEAST, lambda: _index(replace(_steps(_I4), least=Fraction(0)))),
    (
        _NO_LEAST,
        lambda: _index(replace(_steps(_I4), least=Fraction(0)), Value(least=Fraction(-1))),
    ),
    (_OFF_GRID, lambda: _index(replace(_steps(_I4), on_grid=True))),
    (
        _OFF_GRID,
        lambda: _index(replace(_steps(_I4), on_grid=True), Value(step=Fraction(1, 2))),
    ),
    ("an index that is no integer", lambda: _index(replace(_steps(_I4), index=_T))),
    (_NO_WHOLE, lambda: _index(replace(_steps(_I4), index_steps=0))),
    (_NO_WHOLE, lambda: _index(replace(_steps(_I4), index_steps=2**22))),
    (_FAR_INDEX, lambda: _index(replace(_steps(_I4, high=2**23), index=_I4))),
    (_FAR_INDEX, lambda: _index(replace(_steps(_I4, low=-(2**23)), index=_I4))),
    *(
        (_NOT_OWN, partial(_with_factors, replace(_OWN[0], **{name: other}), _OWN[1]))
        for name, other in _OTHERS.items()
    ),
    (_NOT_OWN, lambda: _with_factors(replace(_OWN[0], factors=_OWN), _OWN[1])),
    (_NOT_COMPARED, lambda: _judged(Comparison(Comparator.EQ, _UNKNOWN, _I4))),
    (_NOT_COMPARED, lambda: _judged(In(_J, (_UNTYPED_NULL,)))),
    (_NOT_COMPARED, lambda: _judged(Case(((_B, _J),), _UNTYPED_NULL, SqlType.JSONB))),
    (_NO_NUMBER, lambda: _judged(Case(((_B, _T),), _I4, SqlType.NUMERIC))),
    (_NO_NUMBER, lambda: _judged(Case(((_B, _I4),), _T, SqlType.NUMERIC))),
    (_NO_ENDS, lambda: _judged(In(_ROUNDED, (_UNTYPED_NULL,)))),
    (_NO_ENDS, lambda: _judged(Is(_ROUNDED, None))),
    (_NO_ENDS, lambda: _judged(Like(_ROUNDED_IN_TEXT, Constant("a", SqlType.TEXT), False))),
    (_NO_NUMBER, lambda: _judged(Cast(_T, SqlType.INT4))),
    ("a cast to a type that is not known", lambda: _judged(Cast(_I4, SqlType.UUID))),
)


@pytest.mark.parametrize(
    ("where", "judged"), _REFUSED, ids=[f"{n} {one}" for n, (one, _) in enumerate(_REFUSED)]
)
def test_one_condition_refuses(where: str, judged: Callable[[], object]) -> None:
    with pytest.raises(NotPrivate) as refused:
        judged()
    assert (refused.value.rule, refused.value.where) == (Rule.TOTALITY, where)


_LOWER = TextCall(TextFunction.LOWER, _T, (), SqlType.TEXT)
_CUT = Value(characters=limits.KEY_CHARACTERS, depth=2)

_GIVEN: tuple[tuple[object, Callable[[], object]], ...] = (
    (None, lambda: check_totality(_block(_steps(_I4)), WORLD)),
    (_COUNT, lambda: _aggregate(_KIND.COUNT_ROWS, None, 2**63 - 1)),
    (_COUNT, lambda: _aggregate(_KIND.COUNT, _J, 0)),
    (_COUNT, lambda: _aggregate(_KIND.COUNT, _N)),
    (_COUNT, lambda: _aggregate(_KIND.COUNT_DISTINCT, _T)),
    # Only a count is cut to the most that it can be.
    (around(4 + 64), lambda: _aggregate(_KIND.SUM, _clamped(_I4), -1)),
    (ANYTHING, lambda: _aggregate(_KIND.MAX, _N)),
    (ANYTHING, lambda: _aggregate(_KIND.MIN, _D)),
    (Value(is_null=True), lambda: _aggregate(_KIND.MIN, _UNTYPED_NULL)),
    (None, lambda: _key(_I4, values=("1", None))),
    # Of what is computed a list is compared as it is; only that of a column is cast.
    (None, lambda: _key(Extract("year", _D), values=("1e5",))),
    (None, lambda: _key(_UNTYPED, values=("x",))),
    (None, lambda: _key(_T, _SHORT)),
    (None, lambda: _key(_T, is_long=True)),
    (None, lambda: _key(_N, is_long=True)),
    (None, lambda: _key(_N, values=("1.5",))),
    (None, lambda: _key(_N, Value(step=Fraction(1, 100)))),
    (None, lambda: _key(_D)),
    (None, lambda: _distinct(_I4)),
    (None, lambda: _distinct(_UNTYPED)),
    (None, lambda: _distinct(_T, is_long=True)),
    (None, lambda: _distinct(_T, _SHORT)),
    (None, lambda: _distinct(_T, of_unit=True)),
    (None, lambda: _distinct(_T, of_unit=True, not_null=_T)),
    (None, lambda: _index(_steps(_UNTYPED_NULL))),
    (None, lambda: _index(_steps(Clamped(_D, Fraction(0), Fraction(10), SqlType.DATE)))),
    (None, lambda: _index(_steps(_I4, low=-(2**52), high=2**52))),
    (None, lambda: _index(replace(_steps(_I4), on_grid=True), Value(step=Fraction(2)))),
    (
        None,
        lambda: _index(replace(_steps(_I4), least=Fraction(0)), Value(least=Fraction(0))),
    ),
    (None, lambda: _with_factors()),
    (None, lambda: _with_factors(*_OWN)),
    (None, lambda: _with_factors(_OWN[1])),
    (1, lambda: _factors_within(Fraction(2**52, 100))),
    (1, lambda: _factors_within(Fraction(-(2**52), 100))),
    (0, lambda: _factors_within(Fraction(2**52 + 1, 100))),
    (0, lambda: _factors_within(Fraction(-(2**52) - 1, 100))),
    (0, lambda: _factors_within(Fraction(1, 200))),
    (0, lambda: _factors_within(Fraction(-1, 200))),
    (0, lambda: _factors_within(Fraction(1), SqlType.DATE)),
    (0, lambda: len(factors_of(_clamped(_N), _held_to))),
    (0, lambda: len(factors_of(_clamped(_clamped(_ROUNDED)), _held_to))),
    (None, lambda: _index(replace(_steps(_I4, high=2**23 - 1), index=_I4))),
    (None, lambda: _index(replace(_steps(_I4, low=1 - 2**23), index=_I4))),
    (Value(depth=2), lambda: _judged(Comparison(Comparator.EQ, _UNTYPED_NULL, _I4))),
    # As deep as the deepest operand, whether it comes first or last.
    (Value(depth=4), lambda: _judged(Connective("AND", (Not(Not(_B)), _B)))),
    (Value(depth=4), lambda: _judged(Connective("AND", (_B, Not(Not(_B)))))),
    (
        Value(depth=4),
        lambda: _judged(Connective("AND", (Not(Not(_B)), Constant(True, SqlType.BOOL)))),
    ),
    (
        Value(depth=4),
        lambda: _judged(Connective("AND", (_B, Not(Not(Constant(True, SqlType.BOOL)))))),
    ),
    # A text that a subquery makes is cut, one that it hands on is not.
    (Value(depth=1), lambda: _output(_T)),
    (_CUT, lambda: _output(_LOWER)),
    (
        replace(_CUT, depth=3),
        lambda: _output(Case(((_B, _LOWER),), _T, SqlType.TEXT)),
    ),
    (Value(characters=3), lambda: _cut(Value(characters=3))),
    (_SHORT, lambda: _cut(_LONG)),
    (_SHORT, lambda: _cut(ANYTHING)),
)


def test_another_factor_is_tried_in_each_field() -> None:
    assert {*_OTHERS, "factors"} == {one.name for one in fields(Measured)}


@pytest.mark.parametrize("number", range(len(_GIVEN)))
def test_it_is_let_through(number: int) -> None:
    wanted, judged = _GIVEN[number]
    assert judged() == wanted
