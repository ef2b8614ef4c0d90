"""A computed value that the kernel lets pass has the type that it claims, or no statement computes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest

from proxy.base.sql_types import SqlType
from proxy.kernel.attribution import relation_of
from proxy.kernel.column_types import FUNCTIONS_OF_A_ROW, is_printed_as_number
from proxy.kernel.join_rules import computed_equal, met_once
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.totality import check_relation
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Concat,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
    Inside,
    InsideLook,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    NumericFunction,
    Operator,
    Parameter,
    Quotient,
    RealCall,
    RealFunction,
    Shift,
    TextCall,
    TextFunction,
    TimeBin,
)
from proxy.query.ir.relations import Join, Subquery
from proxy.query.syntax.placeholders import ScalarAnswer
from tests.kernel.examples import of_table, scan
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES

_WORLD = World(POLICIES["best"], CATALOG)
_DAY = Fraction(86_400)


def _of(name: str) -> ColumnRef:
    return of_table("r1", "people", name)


_ONE, _TEXT = Constant(Fraction(1), SqlType.INT4), Constant("a", SqlType.TEXT)
_NUMBER = Clamped(_of("n"), Fraction(1), Fraction(9), SqlType.NUMERIC)
_TIME = Clamped(_of("ts"), Fraction(0), 365 * _DAY, SqlType.TIMESTAMP)
_ALIKE = Comparison(Comparator.EQ, _of("i4"), _ONE)
_ZONE = TextCall(TextFunction.LEFT, _of("t"), (_ONE,), SqlType.TEXT)
_KEY = ColumnRef("k", SqlType.INT8, None, "l")
_RATES = next(name for name in CATALOG.tables if name.name == "rates")
_PADDED = Constant("a", SqlType.BPCHAR)

# Every node of the list of functions of a row, of any claimed type.
NODES: dict[str, Callable[[SqlType], Expression]] = {
    "sum": lambda kind: Arithmetic(Operator.ADD, _NUMBER, _ONE, kind),
    "quotient": lambda kind: Quotient(_NUMBER, _ONE, False, kind),
    "rounded": lambda kind: NumericCall(NumericFunction.ROUND, _NUMBER, 1, kind),
    "root": lambda kind: RealCall(RealFunction.SQRT, _NUMBER, None, kind),
    "bucket": lambda kind: Bucket(_NUMBER, Fraction(0), Fraction(9), 3, kind),
    "hour": lambda kind: Extract("hour", _of("ts"), kind),
    "clamped": lambda kind: Clamped(_of("n"), Fraction(0), Fraction(9), kind),
    "clamped integer": lambda kind: Clamped(_of("i4"), Fraction(0), Fraction(9), kind),
    "clamped float": lambda kind: Clamped(_of("f8"), Fraction(0), Fraction(9), kind),
    "clamped time": lambda kind: Clamped(_of("ts"), Fraction(0), _DAY, kind),
    "clamped date": lambda kind: Clamped(_of("d"), Fraction(0), Fraction(1), kind),
    "alike": lambda kind: Comparison(Comparator.EQ, _of("i4"), _ONE, kind),
    "both": lambda kind: Connective("AND", (_ALIKE, _ALIKE), kind),
    "not": lambda kind: Not(_ALIKE, kind),
    "is null": lambda kind: Is(_of("i4"), None, kind),
    "in": lambda kind: In(_of("i4"), (_ONE,), kind),
    "in a list": lambda kind: InPublic(_of("i8"), _RATES, "l", _KEY, None, kind),
    "like": lambda kind: Like(_of("t"), _TEXT, False, type=kind),
    "lower": lambda kind: TextCall(TextFunction.LOWER, _of("t"), (), kind),
    "length": lambda kind: TextCall(TextFunction.LENGTH, _of("t"), (), kind),
    "begins": lambda kind: TextCall(TextFunction.STARTS_WITH, _of("t"), (_TEXT,), kind),
    "both texts": lambda kind: Concat((_of("t"), _of("c")), kind),
    "member": lambda kind: Inside(InsideLook.TEXT, _of("j"), (_TEXT,), (), kind),
    "seconds": lambda kind: Inside(InsideLook.EPOCH, _of("iv"), (), (), kind),
    "month": lambda kind: DateTrunc("month", _TIME, kind),
    "clock": lambda kind: FormattedTime(_TIME, "YYYY-MM-DD", kind),
    "moved": lambda kind: Shift(_TIME, 0, 1, 0, kind),
    "bin": lambda kind: TimeBin(_TIME, 1_000_000, 0, kind),
    "case of numbers": lambda kind: Case(((_ALIKE, _NUMBER),), _ONE, kind),
    "case of texts": lambda kind: Case(((_ALIKE, _of("c")),), _of("s"), kind),
    "case of times": lambda kind: Case(((_ALIKE, _TIME),), _of("ts"), kind),
    "padded or not": lambda kind: Choose(Choice.COALESCE, (_PADDED, _of("s")), kind),
    "padded or nothing": lambda kind: Choose(
        Choice.COALESCE, (Constant(None, None), _PADDED), kind
    ),
    "padded": lambda kind: Choose(Choice.COALESCE, (_of("c"), _PADDED), kind),
    "answer": lambda kind: Parameter(ScalarAnswer(0), kind),
    "no text": lambda kind: NullIf(_of("c"), _of("s"), kind),
    "no number": lambda kind: NullIf(_NUMBER, _ONE, kind),
    "varying first": lambda kind: Choose(Choice.GREATEST, (_of("s"), _TEXT), kind),
    "blanks below": lambda kind: Case((), Case(((_ALIKE, _of("c")),), _TEXT, SqlType.TEXT), kind),
    "untyped": lambda kind: Case((), Constant("a", None), kind),
    "printed": lambda kind: Cast(_of("i4"), kind),
    "printed truth": lambda kind: Cast(_ALIKE, kind),
    "printed time": lambda kind: Cast(_TIME, kind),
    "column": lambda kind: ColumnRef("s", kind, None, "r1"),
    "label": lambda kind: ColumnRef("e", kind, None, "r1"),
    "whole": lambda kind: Constant(Fraction(1), kind),
    "true": lambda kind: Constant(True, kind),
    "written": lambda kind: Choose(Choice.COALESCE, (Constant("a", kind), _TEXT), SqlType.TEXT),
}
_SIDES = (("r1", "people"), ("r2", "places"))
_NUMBERS = frozenset({"smallint", "integer", "bigint", "numeric"})
_TEXTS = frozenset({"text", "character varying"})
ROW = (
    "INSERT INTO people(id, i2, i4, i8, n, f8, t, c, s, d, ts, e, j, iv) VALUES"
    " (1, 1, 1, 1, 1, 1, 'a', 'a', 'a', '2001-01-01', '2001-01-01', 'low', '{\"a\": 1}', '1 day')"
)


def _accepted(made: Expression) -> tuple[Subquery, SqlType] | None:
    """A relation of the value, and the type that the kernel takes it for; None: it is refused."""
    relation = Subquery("q", scan("r1", "people"), None, (("x", made),))
    try:
        known = relation_of(relation, _WORLD)
        check_relation(relation, _WORLD)
    except NotPrivate:
        return None
    return relation, known.types["q", "x"]


def family_of(kind: SqlType) -> frozenset[str]:
    if kind is SqlType.BPCHAR:
        return frozenset({"character"})
    if kind.is_text:  # text is the one that others meet exactly
        return _TEXTS if kind is SqlType.VARCHAR else frozenset({"text"})
    if is_printed_as_number(kind) and not kind.is_float:
        return _NUMBERS | {kind.sql}  # a constant that is an interval is one
    return frozenset({kind.sql})


@pytest.mark.every(2)
@pytest.mark.parametrize("node", NODES)
def test_it_is_what_it_claims(node: str) -> None:
    database, found = tiny_database(), Counter[bool]()
    database.fill(ROW)
    for kind in SqlType:
        accepted = _accepted(NODES[node](kind))
        found[accepted is not None] += 1
        if accepted is None:
            continue
        relation, taken_for = accepted
        try:
            actual = database.type_of(relation, ("q", "x"))
        except (psycopg.ProgrammingError, psycopg.DataError):
            continue  # whatever rows there are: it is seen when the statement is analysed
        assert actual in family_of(taken_for), (kind, taken_for)
    assert found[True], "the kernel lets none of them pass"
    assert found[False], "the kernel refuses none of them"


def test_what_is_chosen_beside_blanks_meets_several_keys() -> None:
    """A constant as character(n) makes what coalesce() gives one, too, which equals keys with blanks."""
    (places,) = (name for name in CATALOG.tables if name.name == "places")
    table = CATALOG.tables[places]
    code, *others = table.columns
    varying = replace(code, type=SqlType.VARCHAR, type_name="character varying")
    tables = {**CATALOG.tables, places: replace(table, columns=(varying, *others))}
    world = World(_WORLD.policy, replace(CATALOG, tables=tables))
    left, right = (relation_of(scan(alias, name), world) for alias, name in _SIDES)

    def met(chosen: Expression) -> bool:
        key = ColumnRef("code", SqlType.VARCHAR, None, "r2")
        same = Comparison(Comparator.EQ, chosen, key)
        join = Join(scan(*_SIDES[0]), scan(*_SIDES[1]), False, (), same)
        return met_once(right, computed_equal(join, left, right))

    both = Choose(Choice.COALESCE, (_TEXT, _of("s")), SqlType.TEXT)
    assert met(both)
    for padded in (_PADDED, Constant(None, SqlType.BPCHAR)):
        assert not met(replace(both, operands=(padded, _of("s"))))
    of_both = "SELECT coalesce('a'::{0}, 'b'::varchar) = 'a  '::varchar"
    assert tiny_database().asked(of_both.format("bpchar")) == [(True,)]
    assert tiny_database().asked(of_both.format("text")) == [(False,)]


@pytest.mark.parametrize("kind", [kind for kind in SqlType if kind.is_text])
def test_an_answer_is_no_text(kind: SqlType) -> None:
    """What is once given as a text would be cast to a time wherever it is named as one: at each row."""
    assert _accepted(Parameter(ScalarAnswer(0), kind)) is None
    asked = "SELECT a::timestamp FROM (SELECT '17'::text AS a) s WHERE a <> ''"
    with pytest.raises(psycopg.DataError):
        tiny_database().asked(asked)


def test_every_function_of_a_row_is_there() -> None:
    there = {type(make(SqlType.TEXT)) for make in NODES.values()}
    assert there >= FUNCTIONS_OF_A_ROW
