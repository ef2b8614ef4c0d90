"""Constants with which a function raises on some row, and those with which it raises on none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.constant_checks import check_inside, check_size, check_text_call
from proxy.query.ir.expressions import (
    Constant,
    Expression,
    Inside,
    InsideLook,
    Like,
    Parameter,
    TextCall,
    TextFunction,
)
from proxy.query.syntax.placeholders import ClientParameter
from tests.kernel.examples import column

_F = TextFunction
_TEXT = column("r1", "t", SqlType.TEXT)
_ANSWER = Parameter(ClientParameter(0), SqlType.INT4)
_LONG = "x" * limits.SEARCHED_BYTES
_PUT = "x" * limits.REPLACEMENT_BYTES


def _constant(value: str | int | None) -> Constant:
    if isinstance(value, str):
        return Constant(value, SqlType.TEXT)
    return Constant(None if value is None else Fraction(value), SqlType.INT4)


def _call(function: TextFunction, *arguments: str | int | Parameter | None) -> TextCall:
    given = (one if isinstance(one, Parameter) else _constant(one) for one in arguments)
    return TextCall(function, _TEXT, tuple(given), SqlType.TEXT)


def _like(pattern: str) -> Like:
    return Like(_TEXT, _constant(pattern), False)


def _inside(
    *path: Constant | Parameter, arguments: tuple[Constant | Parameter, ...] = ()
) -> Inside:
    of = column("r1", "j", SqlType.JSONB)
    return Inside(InsideLook.TEXT, of, path, arguments, SqlType.TEXT)


@pytest.mark.parametrize(
    "call",
    [
        _call(_F.SUBSTR, -3),
        _call(_F.SUBSTR, -3, 0),
        _call(_F.SUBSTR, 1, None),
        _call(_F.LEFT, -3),
        _call(_F.LEFT, 2**31 - 1),
        _call(_F.LEFT, 1 - 2**31),
        _call(_F.LEFT, None),
        _call(_F.SPLIT_PART, ",", -1),
        _call(_F.LPAD, 0, "x"),
    ],
)
def test_no_row_makes_it_raise(call: TextCall) -> None:
    check_text_call(call)


@pytest.mark.parametrize(
    "call",
    [
        _call(_F.LEFT, _ANSWER),
        _call(_F.SUBSTR, 1, -1),
        _call(_F.SPLIT_PART, ",", 0),
        _call(_F.LEFT, 2**31),
        _call(_F.LEFT, -(2**31)),
    ],
)
def test_a_row_could_make_it_raise(call: TextCall) -> None:
    with pytest.raises(Refusal):
        check_text_call(call)


def test_paths_are_constants_and_places_whole_numbers_of_their_type() -> None:
    for right in (
        _inside(_constant("a"), _constant(2**31 - 1)),
        _inside(_constant(None), arguments=(_constant("a"),)),
        _inside(Constant(Fraction(2**31), SqlType.INT8)),
    ):
        check_inside(right)
    for wrong in (
        _inside(_ANSWER),
        _inside(arguments=(_ANSWER,)),
        _inside(_constant(2**31)),
        _inside(_constant(-(2**31))),
    ):
        with pytest.raises(Refusal):
            check_inside(wrong)


@pytest.mark.parametrize(
    "part",
    [
        _constant("é" * (limits.CONSTANT_BYTES // 2)),
        _like("%_" * (limits.PATTERN_WILDCARDS // 2)),
        _like(_LONG),
        _call(_F.STRPOS, _LONG),
        _call(_F.SPLIT_PART, _LONG, 1),
        _call(_F.STARTS_WITH, _LONG),
        _call(_F.REPLACE, _LONG, _PUT),
        _call(_F.BTRIM),
        _call(_F.BTRIM, "x" * limits.TRIM_CHARACTERS),
        _call(_F.LPAD, limits.PADDED_CHARACTERS, _LONG),
        _call(_F.LPAD, _ANSWER),
        _call(_F.LEFT, 2**31),
        Like(_TEXT, _ANSWER, False),
        _TEXT,
    ],
)
def test_it_is_short_enough(part: Expression) -> None:
    check_size(part)


@pytest.mark.parametrize(
    "part",
    [
        _constant("é" * (limits.CONSTANT_BYTES // 2) + "x"),
        _like("%" * (limits.PATTERN_WILDCARDS + 1)),
        _like("_" * (limits.PATTERN_WILDCARDS + 1)),
        _like(_LONG + "x"),
        _call(_F.STRPOS, _LONG + "x"),
        _call(_F.SPLIT_PART, _LONG + "x", 1),
        _call(_F.STARTS_WITH, _LONG + "x"),
        _call(_F.REPLACE, _LONG + "x", ""),
        _call(_F.REPLACE, "x", _PUT + "x"),
        _call(_F.BTRIM, "x" * (limits.TRIM_CHARACTERS + 1)),
        _call(_F.LTRIM, "x" * (limits.TRIM_CHARACTERS + 1)),
        _call(_F.RTRIM, "x" * (limits.TRIM_CHARACTERS + 1)),
        _call(_F.LPAD, limits.PADDED_CHARACTERS + 1),
        _call(_F.RPAD, limits.PADDED_CHARACTERS + 1),
    ],
)
def test_it_is_too_long(part: Expression) -> None:
    with pytest.raises(Refusal):
        check_size(part)
