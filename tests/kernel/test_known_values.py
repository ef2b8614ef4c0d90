"""Where values lie: each condition of proxy/kernel/known_values.py."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.kernel.known_values import (
    ANYTHING,
    FIRST_SECOND,
    LAST_SECOND,
    NULL,
    ColumnValues,
    Value,
    answer_value,
    around,
    bits_of,
    constant_value,
    hull,
    stored_value,
    type_characters,
    within,
)
from proxy.kernel.refusals import NotPrivate
from proxy.query.ir.expressions import Constant, Parameter
from proxy.query.syntax.placeholders import ClientParameter
from tests.pipeline_world import CATALOG

_ONE = within(Fraction(1), Fraction(2))
_SHORT = Value(characters=3)


def test_the_larger_end_has_the_bits() -> None:
    assert within(Fraction(-9), Fraction(1)).bits == within(Fraction(-1), Fraction(9)).bits == 4
    assert Value(high=Fraction(1)).bits is None and Value(low=Fraction(1)).bits is None
    for number in (Fraction(1), Fraction(7, 8), Fraction(8), Fraction(1, 3), Fraction(-5)):
        assert abs(number) < Fraction(2) ** bits_of(number)
    assert around(3) == within(Fraction(-8), Fraction(8))


def test_the_distance_from_0() -> None:
    assert _ONE.distance == 1 and within(Fraction(-3), Fraction(-2)).distance == 2
    for reaches in (within(Fraction(0), Fraction(1)), within(Fraction(-1), Fraction(0)), ANYTHING):
        assert reaches.distance is None
    assert Value(low=Fraction(1)).distance is None and Value(high=Fraction(-1)).distance is None


def test_what_holds_of_one_of_several() -> None:
    low = within(Fraction(-5), Fraction(1))
    assert hull([_ONE, low]) == hull([low, _ONE, NULL]) == within(Fraction(-5), Fraction(2))
    assert hull([]) == hull([NULL, NULL]) == NULL and hull([NULL, _ONE]) == _ONE
    assert hull([_ONE, ANYTHING]) == hull([_SHORT, ANYTHING]) == ANYTHING
    for half in (Value(low=Fraction(1)), Value(high=Fraction(2))):
        assert hull([_ONE, half]) == hull([half, _ONE]) == ANYTHING
    apart = replace(_ONE, is_apart=True)
    assert hull([apart, apart]).is_apart and not hull([apart, _ONE]).is_apart
    assert hull([_SHORT, Value(characters=5)]).characters == 5


@pytest.mark.parametrize(
    ("kind", "name", "characters"),
    [
        (SqlType.VARCHAR, "character varying(20)", 20),
        (SqlType.BPCHAR, "character(2)", 2),
        (SqlType.VARCHAR, "character varying", None),
        (SqlType.TEXT, "my character(2)", None),
        (SqlType.ENUM, "mood", limits.IDENTIFIER_BYTES),
    ],
)
def test_a_type_says_how_long_its_texts_are(
    kind: SqlType, name: str, characters: int | None
) -> None:
    column = Column("c", kind, name, True)
    assert type_characters(column) == stored_value(column).characters == characters


def test_a_type_says_which_numbers_there_are() -> None:
    declared = Column("n", SqlType.NUMERIC, "numeric(5,2)", True, 5, 2)
    assert stored_value(declared) == Value(step=Fraction(1, 100), least=Fraction(-1000))
    assert stored_value(replace(declared, is_enforced=False)) == ANYTHING
    text = Column("s", SqlType.VARCHAR, "character varying(20)", True, is_enforced=False)
    assert stored_value(text) == ANYTHING


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        (None, SqlType.INT4, NULL),
        (Fraction(2), SqlType.INT4, replace(within(Fraction(2), Fraction(2)), is_apart=True)),
        (Fraction(0), SqlType.INT4, within(Fraction(0), Fraction(0))),
        ("abc", SqlType.TEXT, Value(characters=3)),
        ("2024-01-01", None, Value(characters=10)),
        ("1970-01-02", SqlType.TIMESTAMP, within(Fraction(86_400), Fraction(86_400))),
        ("1970-01-01 02:00:00+02", SqlType.TIMESTAMPTZ, within(Fraction(0), Fraction(0))),
        ("1970-01-01 02:00:00+02", SqlType.TIMESTAMP, within(Fraction(7_200), Fraction(7_200))),
        ("infinity", SqlType.DATE, ANYTHING),
        (True, SqlType.BOOL, ANYTHING),
    ],
)
def test_a_constant_is_itself(
    value: Fraction | str | bool | None, kind: SqlType | None, found: Value
) -> None:
    assert constant_value(Constant(value, kind)) == found


def test_a_constant_has_a_length() -> None:
    longest = "é" * (limits.CONSTANT_BYTES // 2)
    assert constant_value(Constant(longest, SqlType.TEXT)).characters == len(longest)
    with pytest.raises(NotPrivate):
        constant_value(Constant(longest + "x", SqlType.TEXT))


def test_only_answers_that_are_times_have_ends() -> None:
    def answer(kind: SqlType) -> Value:
        return answer_value(Parameter(ClientParameter(0), kind))

    assert answer(SqlType.DATE) == within(FIRST_SECOND, LAST_SECOND)
    assert answer(SqlType.INT4) == ANYTHING


def test_columns_are_computed_or_stored() -> None:
    people = next(one for name, one in CATALOG.tables.items() if name.name == "people")
    columns = ColumnValues(computed={("q", "x"): _ONE}).beside(ColumnValues(tables={"r1": people}))
    assert columns.value(("q", "x")) == _ONE
    assert columns.value(("r1", "s")).characters == 20
    assert columns.value(("r1", "no_column")) == columns.value(("r2", "s")) == ANYTHING
