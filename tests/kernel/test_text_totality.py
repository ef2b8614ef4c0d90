"""Each condition of the rules of texts and looks: what it refuses, in its own words, or the length it gives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.kernel.known_values import ANYTHING, NULL, Value, within
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.text_totality import (
    check_printed,
    concatenation_rule,
    inside_rule,
    like_rule,
    printed_rule,
    text_call_rule,
)
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Cast,
    ColumnRef,
    Concat,
    Constant,
    Expression,
    Extract,
    Inside,
    InsideLook,
    Is,
    Like,
    NumericCall,
    NumericFunction,
    Operator,
    Parameter,
    TextCall,
    TextFunction,
)
from proxy.query.syntax.placeholders import ClientParameter
from tests.kernel.examples import column

_F, _L = TextFunction, InsideLook
_T = column("r1", "t", SqlType.TEXT)
_N = column("r1", "n", SqlType.NUMERIC)
_I4 = column("r1", "i4", SqlType.INT4)
_J = column("r1", "j", SqlType.JSONB)
_D = column("r1", "d", SqlType.DATE)
_IV = column("r1", "iv", SqlType.DURATION)
_TI = column("r1", "ti", SqlType.TIME_OF_DAY)
_UNTYPED = Constant("x", None)
_A = Constant("a", SqlType.TEXT)
_ANSWER = Parameter(ClientParameter(0), SqlType.TEXT)
_TWENTY = Value(characters=20)


def _number(value: int | None) -> Constant:
    return Constant(None if value is None else Fraction(value), SqlType.INT4)


def _call(
    function: TextFunction,
    *arguments: str | int | None,
    kind: SqlType = SqlType.TEXT,
    of: Expression = _T,
    characters: int | None = 20,
) -> int | None:
    given = tuple(
        Constant(one, SqlType.TEXT) if isinstance(one, str) else _number(one) for one in arguments
    )
    return text_call_rule(
        TextCall(function, of, given, kind), Value(characters=characters)
    ).characters


def _concat(*operands: Expression, kind: SqlType = SqlType.TEXT) -> Value:
    return concatenation_rule(Concat(operands, kind), [_TWENTY] * len(operands))


def _look(
    look: InsideLook,
    of: ColumnRef,
    kind: SqlType,
    path: tuple[Constant, ...] = (),
    arguments: tuple[Constant, ...] = (),
) -> Value:
    return inside_rule(Inside(look, of, path, arguments, kind))


def _holds(constant: Constant) -> Value:
    return _look(_L.HOLDS, _J, SqlType.BOOL, arguments=(constant,))


def _printed(operand: Expression, value: Value = ANYTHING) -> int | None:
    return printed_rule(Cast(operand, SqlType.TEXT), value).characters


def _rounded(digits: int, kind: NumericFunction = NumericFunction.ROUND) -> NumericCall:
    return NumericCall(kind, _N, digits, SqlType.NUMERIC)


_UNTYPED_LOOK = Inside(_L.TEXT, _J, (_A,), (), SqlType.TEXT)
_SUM = Arithmetic(Operator.ADD, _I4, _I4, SqlType.INT4)
_ARRAY = column("r1", "ia", SqlType.INT4_ARRAY)
_HUNDRED = within(Fraction(0), Fraction(100))

_NO_TEXT = "a function of texts of what is none"
_OTHER_TEXT = "a function of texts of another type"
_RAISES = "a constant with which a function raises on some row"
_OTHER_LOOK = "a look of another type"
_NOT_PRINTED = "a text of a value of an unknown type, or of any length"
_NO_NUMBER = "a value that is cast to a number"

_REFUSED: tuple[tuple[str, Callable[[], object]], ...] = (
    (_NO_TEXT, lambda: _call(_F.LOWER, of=_J)),
    (_OTHER_TEXT, lambda: _call(_F.LOWER, kind=SqlType.INT4)),
    (_OTHER_TEXT, lambda: _call(_F.LENGTH)),
    (_OTHER_TEXT, lambda: _call(_F.LENGTH, kind=SqlType.BOOL)),
    (_OTHER_TEXT, lambda: _call(_F.STRPOS, "a", kind=SqlType.NUMERIC)),
    (_OTHER_TEXT, lambda: _call(_F.STARTS_WITH, "a")),
    (_OTHER_TEXT, lambda: _call(_F.STARTS_WITH, "a", kind=SqlType.INT4)),
    (_RAISES, lambda: _call(_F.SPLIT_PART, ",", 0)),
    (_RAISES, lambda: _call(_F.BTRIM, "x" * (limits.TRIM_CHARACTERS + 1))),
    (_RAISES, lambda: _call(_F.LEFT, "x" * (limits.CONSTANT_BYTES + 1))),
    (_NO_TEXT, lambda: _concat(_T, _J)),
    ("a text of another type", lambda: _concat(_T, kind=SqlType.INT4)),
    (_NO_TEXT, lambda: like_rule(Like(_J, _A, False))),
    (_RAISES, lambda: like_rule(Like(_T, Constant("a\\", SqlType.TEXT), False))),
    (_RAISES, lambda: like_rule(Like(_T, _ANSWER, False))),
    (_RAISES, lambda: like_rule(Like(_T, Constant("%" * 101, SqlType.TEXT), False))),
    (
        "a look into what is no column",
        lambda: inside_rule(Inside(_L.TEXT, _UNTYPED_LOOK, (_A,), (), SqlType.TEXT)),
    ),
    (_RAISES, lambda: _look(_L.TEXT, _J, SqlType.TEXT, (_number(2**31),))),
    (
        _RAISES,
        lambda: _look(
            _L.TEXT, _J, SqlType.TEXT, (Constant("x" * (limits.CONSTANT_BYTES + 1), None),)
        ),
    ),
    (_RAISES, lambda: _holds(Constant("[" * 33 + "]" * 33, SqlType.JSONB))),
    (_OTHER_LOOK, lambda: _look(_L.TEXT, _J, SqlType.INT4, (_A,))),
    (_OTHER_LOOK, lambda: _look(_L.MEMBER, _T, SqlType.JSONB, (_A,))),
    (_OTHER_LOOK, lambda: _look(_L.HAS_KEY, _T, SqlType.BOOL, arguments=(_A,))),
    (_OTHER_LOOK, lambda: _look(_L.ANY, _J, SqlType.BOOL, arguments=(_A,))),
    (_OTHER_LOOK, lambda: _look(_L.CARDINALITY, _J, SqlType.INT4)),
    (_OTHER_LOOK, lambda: _look(_L.ELEMENT, _J, SqlType.INT4, (_number(1),))),
    # Seconds are numbers, of a stored interval or a time of day.
    (_OTHER_LOOK, lambda: _look(_L.COMPARED, _TI, SqlType.NUMERIC)),
    (_OTHER_LOOK, lambda: _look(_L.COMPARED, _IV, SqlType.TEXT)),
    (_OTHER_LOOK, lambda: _look(_L.EPOCH, _J, SqlType.NUMERIC)),
    (_OTHER_LOOK, lambda: _look(_L.HOUR, _TI, SqlType.TEXT)),
    (_OTHER_LOOK, lambda: _look(_L.EPOCH, _IV, SqlType.TEXT)),
    (_NOT_PRINTED, lambda: _printed(_J)),
    (_NOT_PRINTED, lambda: _printed(_ARRAY)),
    (_NOT_PRINTED, lambda: _printed(column("r1", "free", SqlType.OTHER))),
    (_NO_NUMBER, lambda: _printed(_UNTYPED)),
    (_NO_NUMBER, lambda: _printed(TextCall(_F.LOWER, _T, (), SqlType.TEXT))),
)


@pytest.mark.parametrize(
    ("where", "judged"), _REFUSED, ids=[f"{n} {one}" for n, (one, _) in enumerate(_REFUSED)]
)
def test_one_condition_refuses(where: str, judged: Callable[[], object]) -> None:
    with pytest.raises(NotPrivate) as refused:
        judged()
    assert (refused.value.rule, refused.value.where) == (Rule.TOTALITY, where)


_GIVEN: tuple[tuple[object, Callable[[], object]], ...] = (
    (None, lambda: _call(_F.LENGTH, kind=SqlType.INT4)),
    (None, lambda: _call(_F.STRPOS, "a", kind=SqlType.INT4)),
    (None, lambda: _call(_F.STARTS_WITH, "a", kind=SqlType.BOOL)),
    # Case mapping can lengthen a text, and so can a replacement.
    (None, lambda: _call(_F.LOWER)),
    (None, lambda: _call(_F.REPLACE, "a", "bb")),
    (None, lambda: _call(_F.LOWER, of=_UNTYPED)),
    (5, lambda: _call(_F.LPAD, 5, "x")),
    (50, lambda: _call(_F.RPAD, 50, "x")),
    (0, lambda: _call(_F.LPAD, -5, "x")),
    (None, lambda: _call(_F.LPAD, None, "x")),
    (5, lambda: _call(_F.LEFT, 5)),
    (20, lambda: _call(_F.LEFT, 50)),
    (50, lambda: _call(_F.LEFT, 50, characters=None)),
    (20, lambda: _call(_F.LEFT, -5)),
    (20, lambda: _call(_F.LEFT, None)),
    (20, lambda: _call(_F.RIGHT, 5)),
    (20, lambda: _call(_F.SUBSTR, 5, 7)),
    (20, lambda: _call(_F.SPLIT_PART, ",", 1)),
    (20, lambda: _call(_F.REVERSE)),
    (20, lambda: _call(_F.BTRIM)),
    (20, lambda: _call(_F.LTRIM)),
    (20, lambda: _call(_F.RTRIM, "x")),
    (Value(characters=60), lambda: _concat(_T, _UNTYPED, _T)),
    (ANYTHING, lambda: concatenation_rule(Concat((_T, _T)), [_TWENTY, ANYTHING])),
    (ANYTHING, lambda: like_rule(Like(_T, Constant("%" * 100, SqlType.TEXT), False))),
    (ANYTHING, lambda: _holds(Constant('{"a": 1}', SqlType.JSONB))),
    (ANYTHING, lambda: _holds(Constant(None, SqlType.JSONB))),
    # A text that is looked for is no jsonb.
    (
        ANYTHING,
        lambda: _look(
            _L.HAS_KEY, _J, SqlType.BOOL, arguments=(Constant("[" * 33 + "]" * 33, SqlType.TEXT),)
        ),
    ),
    (ANYTHING, lambda: _look(_L.KIND, _J, SqlType.TEXT)),
    (ANYTHING, lambda: _look(_L.LENGTH, _ARRAY, SqlType.INT4)),
    (ANYTHING, lambda: _look(_L.ELEMENT, _ARRAY, SqlType.INT4, (_number(1),))),
    (ANYTHING, lambda: _look(_L.COMPARED, _IV, SqlType.NUMERIC)),
    (ANYTHING, lambda: _look(_L.EPOCH, _IV, SqlType.NUMERIC)),
    (ANYTHING, lambda: _look(_L.EPOCH, _TI, SqlType.NUMERIC)),
    (NULL, lambda: printed_rule(Cast(Constant(None, None), SqlType.TEXT), NULL)),
    (None, lambda: check_printed(_UNTYPED)),
    (20, lambda: _printed(_T, _TWENTY)),
    (40, lambda: _printed(_D)),
    (40, lambda: _printed(_I4)),
    (40, lambda: _printed(Is(_T, None))),
    (40, lambda: _printed(Extract("year", _D))),
    (40, lambda: _printed(TextCall(_F.LENGTH, _T, (), SqlType.INT4))),
    (40, lambda: _printed(Bucket(_N, Fraction(0), Fraction(5), 5))),
    (40, lambda: _printed(Inside(_L.EPOCH, _IV, (), (), SqlType.NUMERIC))),
    # A numeric of a declared scale has 1,000 digits at most; steps of hundreds say nothing of its digits.
    (1_010, lambda: _printed(_N, Value(step=Fraction(1, 100)))),
    (1_010, lambda: _printed(_N, Value(step=Fraction(1)))),
    (None, lambda: _printed(_N, Value(step=Fraction(100)))),
    (None, lambda: _printed(_N)),
    # What is computed may have many digits after the point, unless it is rounded.
    (None, lambda: _printed(_SUM, _HUNDRED)),
    (None, lambda: _printed(_rounded(2, NumericFunction.CEIL), _HUNDRED)),
    (None, lambda: _printed(_rounded(2))),
    (2 + 2 + 3, lambda: _printed(_rounded(2), _HUNDRED)),
    (2 + 0 + 3, lambda: _printed(_rounded(-2), _HUNDRED)),
    (0 + 2 + 3, lambda: _printed(_rounded(2), within(Fraction(1, 2_000), Fraction(1, 1_000)))),
)


@pytest.mark.parametrize("number", range(len(_GIVEN)))
def test_it_has_this_length(number: int) -> None:
    wanted, judged = _GIVEN[number]
    assert judged() == wanted
