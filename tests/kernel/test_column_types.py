"""Types of columns and computed values: each condition of proxy/kernel/column_types.py, broken alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.base.zones import zone_named
from proxy.catalog.catalog_model import TableName
from proxy.kernel.column_types import (
    aggregate_type,
    check_expressions,
    columns_in,
    conjuncts,
    injective,
    is_grouped_in_one_form,
    is_hashed,
    is_printed_as_number,
    window_type,
)
from proxy.kernel.refusals import NotCovered, NotPrivate, Rule
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Case,
    Cast,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    FormattedTime,
    InPublic,
    Is,
    NullIf,
    Parameter,
    Shift,
    TimeBin,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Frame, WindowColumn, WindowFunction
from proxy.query.syntax.placeholders import ScalarAnswer
from tests.kernel.examples import WORLD, column

_KINDS = {
    "i4": SqlType.INT4,
    "b": SqlType.BOOL,
    "t": SqlType.TEXT,
    "v": SqlType.VARCHAR,
    "c": SqlType.BPCHAR,
    "e": SqlType.ENUM,
    "d": SqlType.DATE,
    "ts": SqlType.TIMESTAMP,
    "tz": SqlType.TIMESTAMPTZ,
}
_TYPES = {("r1", name): kind for name, kind in _KINDS.items()}
_RATES = TableName("w", "rates")


def _of(name: str) -> ColumnRef:
    return column("r1", name, _KINDS[name])


_TRUTH = Comparison(Comparator.EQ, _of("i4"), Constant(Fraction(1), SqlType.INT4))
_NULL = Constant(None, None)
_NOTHING = column("r1", "nothing", SqlType.INT4)
_KEY = column("l", "k", SqlType.INT8)
_LISTED = InPublic(_of("i4"), _RATES, "l", _KEY, Is(_KEY, None))


def _case(one: str, other: str | None, claimed: SqlType) -> Case:
    otherwise = _NULL if other is None else _of(other)
    return Case(((_TRUTH, _of(one)),), otherwise, claimed)


def _moved(name: str, claimed: SqlType, **by: int) -> Shift:
    of = {"months": 0, "days": 0, "microseconds": 0, **by}
    return Shift(_of(name), of["months"], of["days"], of["microseconds"], claimed)


_ANOTHER_TYPE = "a computed value of another type"
_ANOTHER_TIME = "a time of another type"
_ANOTHER_KIND = "a computed value of another kind"
_COMPUTED: list[tuple[Expression, str | None]] = [
    # What has no type of its own takes that of the other.
    (_case("ts", None, SqlType.TIMESTAMP), None),
    # Texts that are compared as they are meet in text, by whatever name for it.
    (_case("t", "v", SqlType.TEXT), None),
    (_case("t", "v", SqlType.VARCHAR), None),
    (_case("v", "v", SqlType.VARCHAR), None),
    (_case("v", "e", SqlType.VARCHAR), _ANOTHER_TYPE),
    (_case("v", "v", SqlType.TEXT), _ANOTHER_TYPE),
    (_case("t", "v", SqlType.BPCHAR), _ANOTHER_TYPE),
    (_case("t", "c", SqlType.VARCHAR), _ANOTHER_TYPE),
    (_case("t", "v", SqlType.DATE), _ANOTHER_TYPE),
    (_case("t", "b", SqlType.VARCHAR), _ANOTHER_TYPE),
    # A date that is moved by days alone is one.
    (_moved("d", SqlType.DATE, days=1), None),
    (_moved("d", SqlType.TIMESTAMP, days=1), None),
    (_moved("d", SqlType.TIMESTAMP, months=1), None),
    (_moved("d", SqlType.DATE, months=1), _ANOTHER_TIME),
    (_moved("d", SqlType.DATE, microseconds=1), _ANOTHER_TIME),
    (_moved("d", SqlType.TIMESTAMPTZ, days=1), _ANOTHER_TIME),
    (_moved("ts", SqlType.TIMESTAMP, days=1), None),
    (_moved("tz", SqlType.TIMESTAMPTZ, months=1), None),
    (_moved("ts", SqlType.DATE, days=1), _ANOTHER_TIME),
    (_moved("tz", SqlType.TIMESTAMP, days=1), _ANOTHER_TIME),
    # What is printed of a truth is a text or a number, and blanks are of columns.
    (Cast(_TRUTH, SqlType.TEXT), None),
    (Cast(_TRUTH, SqlType.INT4), None),
    (Cast(_of("d"), SqlType.TIMESTAMP), None),
    (Cast(_TRUTH, SqlType.DATE), _ANOTHER_KIND),
    (Cast(_of("i4"), SqlType.BPCHAR), _ANOTHER_KIND),
    (FormattedTime(_of("ts"), "YYYY", SqlType.VARCHAR), None),
    (FormattedTime(_of("ts"), "YYYY", SqlType.BPCHAR), _ANOTHER_KIND),
    (FormattedTime(_of("ts"), "YYYY", SqlType.INT4), _ANOTHER_KIND),
    # Both sides of a list are looked at.
    (_LISTED, None),
    (replace(_LISTED, operand=_NOTHING), "a column that is not there"),
    (replace(_LISTED, output=_of("i4")), "a column that is not there"),
    (replace(_LISTED, condition=Is(_of("i4"), None)), "a column that is not there"),
]


@pytest.mark.parametrize(("part", "where"), _COMPUTED, ids=map(str, range(len(_COMPUTED))))
def test_a_computed_value_has_its_type(part: Expression, where: str | None) -> None:
    if where is None:
        check_expressions((part,), _TYPES, WORLD)
        return
    with pytest.raises(NotPrivate) as refused:
        check_expressions((part,), _TYPES, WORLD)
    assert (refused.value.rule, refused.value.where) == (Rule.EXPRESSION, where)


_UNTYPED = Constant("a", None)
_ZONE, _UTC = zone_named("Europe/Berlin"), zone_named("UTC")


def _case_of(one: Expression, other: Expression, kind: SqlType) -> Case:
    return Case(((_TRUTH, one),), other, kind)


@pytest.mark.parametrize(
    ("part", "passes"),
    [
        (Parameter(ScalarAnswer(0), SqlType.TEXT), False),
        (Parameter(ScalarAnswer(0), SqlType.DATE), True),
        (NullIf(_NULL, _of("c"), SqlType.BPCHAR), False),
        (NullIf(_of("c"), _of("c"), SqlType.BPCHAR), True),
        (_case_of(_NULL, _of("c"), SqlType.BPCHAR), False),
        (_case_of(_NULL, _of("c"), SqlType.TEXT), True),
        (_case_of(_NULL, _of("d"), SqlType.DATE), True),
        (_case_of(_of("c"), _of("c"), SqlType.BPCHAR), True),
        (_case_of(_UNTYPED, _UNTYPED, SqlType.TIMESTAMP), False),
        (_case_of(_NULL, _NULL, SqlType.TEXT), True),
        (_case_of(_NULL, _NULL, SqlType.TIMESTAMP), False),
        (Cast(_of("tz"), SqlType.DATE, _ZONE), False),
        (Cast(_of("tz"), SqlType.DATE, _UTC), True),
        (Cast(_of("ts"), SqlType.DATE, _ZONE), True),
        (Constant(Fraction(1), SqlType.DATE), False),
        (Constant("-5", SqlType.INT4), False),
        (Constant("NaN", SqlType.FLOAT8), True),
        (Constant("NaN", SqlType.BOOL), False),
        (Constant("a", SqlType.UUID), True),
        (TimeBin(_of("d"), 10**6, 0, SqlType.DATE), False),
        (TimeBin(_of("ts"), 10**6, 0, SqlType.TIMESTAMP), True),
    ],
)
def test_a_type_is_that_of_what_is_printed(part: Expression, passes: bool) -> None:
    if passes:
        check_expressions(part, _TYPES, WORLD)
        return
    with pytest.raises(NotPrivate):
        check_expressions(part, _TYPES, WORLD)


def test_what_is_in_no_list_is_refused() -> None:
    for part in (object(), frozenset({_of("i4")}), 1.5):
        with pytest.raises(NotCovered) as refused:
            check_expressions((part,), _TYPES, WORLD)
        assert refused.value.where == "a node that is not in the list"


def test_a_list_is_of_a_table_that_is_there() -> None:
    tables = {name: table for name, table in WORLD.catalog.tables.items() if name != _RATES}
    world = World(WORLD.policy, replace(WORLD.catalog, tables=tables))
    with pytest.raises(NotPrivate) as refused:
        check_expressions(_LISTED, _TYPES, world)
    assert refused.value.where == "a list of a table that is not there"


def test_a_list_reads_no_column_of_the_row_but_its_operand() -> None:
    assert columns_in(_LISTED) == {("r1", "i4")}
    assert columns_in((_LISTED, _of("t"))) == {("r1", "i4"), ("r1", "t")}


def test_parts_that_all_have_to_hold() -> None:
    either = Connective("OR", (_TRUTH, _LISTED))
    both = Connective("AND", (Connective("AND", (_TRUTH, _LISTED)), either))
    assert [*conjuncts(both)] == [_TRUTH, _LISTED, either]
    assert [*conjuncts(either)] == [either]
    assert [*conjuncts(None)] == []


@pytest.mark.parametrize(
    ("kind", "operand", "given"),
    [
        (AggregateKind.COUNT_ROWS, None, SqlType.INT8),
        (AggregateKind.COUNT, _of("i4"), SqlType.INT8),
        (AggregateKind.COUNT_DISTINCT, _of("d"), SqlType.INT8),
        (AggregateKind.MAX, _of("d"), SqlType.DATE),
        (AggregateKind.MAX, _of("i4"), SqlType.NUMERIC),
        (AggregateKind.MAX, _NULL, SqlType.NUMERIC),
        (AggregateKind.SUM, None, SqlType.NUMERIC),
    ],
)
def test_an_aggregate_and_its_window_have_one_type(
    kind: AggregateKind, operand: Expression | None, given: SqlType
) -> None:
    aggregate = Aggregate(kind, operand, None, SqlType.TEXT)
    assert aggregate_type(aggregate) is given
    assert window_type(_window(WindowFunction.AGGREGATE, aggregate=aggregate), _TYPES) is given


def _window(function: WindowFunction, **parts: object) -> WindowColumn:
    known = {"name": "x", "type": SqlType.TEXT, "partition": (), "order": (), "frame": Frame.WHOLE}
    return WindowColumn(function=function, **{**known, **parts})  # type: ignore[arg-type]


def test_windows_have_types() -> None:
    assert window_type(_window(WindowFunction.ROW_NAME), _TYPES) is SqlType.UUID
    assert window_type(_window(WindowFunction.ROW_NUMBER), _TYPES) is SqlType.INT8
    of_value = _window(WindowFunction.FIRST_VALUE, operand=_of("tz"))
    assert window_type(of_value, _TYPES) is SqlType.TIMESTAMPTZ


def test_seconds_of_a_clock_are_a_number() -> None:
    numbers = {kind for kind in SqlType if is_printed_as_number(kind) and not kind.is_number}
    assert numbers == {SqlType.INTERVAL, SqlType.CLOCK_TIME}


_ALIKE = [
    (SqlType.INT2, SqlType.NUMERIC),
    (SqlType.FLOAT4, SqlType.FLOAT8),
    (SqlType.TEXT, SqlType.VARCHAR),
    (SqlType.DATE, SqlType.DATE),
]
_APART = [
    (SqlType.INT4, SqlType.TEXT),
    (SqlType.DATE, SqlType.TEXT),
    (SqlType.DATE, SqlType.TIMESTAMP),
    (SqlType.OTHER, SqlType.OTHER),
]


def test_types_of_which_equal_values_are_one() -> None:
    for one, other in _ALIKE:
        assert injective(one, other) and injective(other, one)
    several = (SqlType.FLOAT8, SqlType.NUMERIC), (SqlType.DURATION, SqlType.DURATION)
    for one, other in (*_APART, *several):
        assert not injective(one, other) and not injective(other, one)


def test_types_of_which_equal_values_meet_by_a_hash() -> None:
    several = (SqlType.FLOAT8, SqlType.NUMERIC), (SqlType.DURATION, SqlType.DURATION)
    for one, other in (*_ALIKE, *several):
        assert is_hashed(one, other) and is_hashed(other, one)
    for one, other in _APART:
        assert not is_hashed(one, other) and not is_hashed(other, one)


def test_blanks_at_the_end_are_not_printed_of_a_key() -> None:
    kinds = (SqlType.BPCHAR, SqlType.FLOAT8, SqlType.DURATION, SqlType.OTHER, SqlType.JSONB)
    assert [is_grouped_in_one_form(kind) for kind in kinds] == [True, True, False, False, False]
