"""Every constant of a query is measured before anything is charged, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, get_args, get_type_hints

import pytest

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.planner.text_lengths import check_sizes
from proxy.query.ir import expressions as ir
from proxy.query.ir.query import AggregateBlock, Key, Query
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll
from proxy.query.ir.written_numbers import number
from tests.pipeline_world import walk

TEXT = SqlType.TEXT
LARGE = (
    ir.Constant("x" * (limits.CONSTANT_BYTES + 1), TEXT),
    ir.Constant("é" * (limits.CONSTANT_BYTES // 2 + 1), TEXT),
    ir.Constant(Fraction(10) ** limits.NUMBER_DIGITS, SqlType.NUMERIC),
    ir.Constant(-(Fraction(10) ** limits.NUMBER_DIGITS), SqlType.NUMERIC),
    ir.Constant(Fraction(1, 10 ** (limits.NUMBER_DIGITS + 1)), SqlType.NUMERIC),
)
_COLUMN = ir.ColumnRef("s", TEXT, None, "r1")
_SCAN = Scan("r1", TableName("w", "people"))
_AGGREGATE = Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8)
_PLAIN: dict[type, ir.Expression] = {
    ir.Clamped: ir.Clamped(_COLUMN, Fraction(0), Fraction(1), TEXT),
    ir.Comparison: ir.Comparison(ir.Comparator.EQ, _COLUMN, _COLUMN),
    ir.Connective: ir.Connective("AND", (_COLUMN, _COLUMN)),
    ir.Not: ir.Not(_COLUMN),
    ir.Is: ir.Is(_COLUMN, None),
    ir.In: ir.In(_COLUMN, (ir.Constant("x", TEXT),)),
    ir.InPublic: ir.InPublic(_COLUMN, TableName("w", "places"), "r2", _COLUMN, _COLUMN),
    ir.Like: ir.Like(_COLUMN, ir.Constant("x", TEXT), False),
    ir.Arithmetic: ir.Arithmetic(ir.Operator.ADD, _COLUMN, _COLUMN, TEXT),
    ir.Inside: ir.Inside(
        ir.InsideLook.ANY, _COLUMN, (ir.Constant("x", TEXT),), (ir.Constant("x", TEXT),), TEXT
    ),
    ir.Quotient: ir.Quotient(_COLUMN, ir.Constant(Fraction(1), TEXT), False, TEXT),
    ir.NumericCall: ir.NumericCall(ir.NumericFunction.ABS, _COLUMN, 0, TEXT),
    ir.RealCall: ir.RealCall(ir.RealFunction.LN, _COLUMN, None, TEXT),
    ir.Concat: ir.Concat((_COLUMN, _COLUMN)),
    ir.TextCall: ir.TextCall(ir.TextFunction.STRPOS, _COLUMN, (ir.Constant("x", TEXT),), TEXT),
    ir.Extract: ir.Extract("year", _COLUMN),
    ir.DateTrunc: ir.DateTrunc("year", _COLUMN, TEXT),
    ir.FormattedTime: ir.FormattedTime(_COLUMN, "YYYY"),
    ir.Shift: ir.Shift(_COLUMN, 1, 0, 0, SqlType.TIMESTAMP),
    ir.TimeBin: ir.TimeBin(_COLUMN, 1, 0, SqlType.TIMESTAMP),
    ir.Bucket: ir.Bucket(_COLUMN, Fraction(0), Fraction(1), 3),
    ir.Case: ir.Case(((_COLUMN, _COLUMN),), _COLUMN, TEXT),
    ir.Choose: ir.Choose(ir.Choice.COALESCE, (_COLUMN, _COLUMN), TEXT),
    ir.NullIf: ir.NullIf(_COLUMN, _COLUMN, TEXT),
    ir.Cast: ir.Cast(_COLUMN, TEXT),
}
_LEAVES = {ir.Constant, ir.Parameter, ir.ColumnRef}


def _with_one(value: Any, put: ir.Constant) -> Iterator[Any]:
    """The value with one of the expressions inside it exchanged, each place in turn."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            for changed in _with_one(item, put):
                yield (*value[:index], changed, *value[index + 1 :])
    elif type(value) in _LEAVES:
        yield put
    elif isinstance(value, Fraction):
        if isinstance(put.value, Fraction):
            yield put.value
    elif is_dataclass(value) and not isinstance(value, TableName):
        for field in fields(value):
            for changed in _with_one(getattr(value, field.name), put):
                yield replace(value, **{field.name: changed})  # type: ignore[type-var]


def _query(where: ir.Expression | None = None, source: Relation = _SCAN) -> Query:
    return Query((AggregateBlock(source, where, (), False, (_AGGREGATE,)),))


def _is_refused(query: Query) -> bool:
    try:
        check_sizes(query)
    except Refusal as refusal:
        assert refusal.code is Code.TOO_COMPLEX and refusal.hint
        return True
    return False


def test_every_kind_of_node_is_here() -> None:
    assert set(get_args(ir.Expression)) == _PLAIN.keys() | _LEAVES


@pytest.mark.parametrize("kind", _PLAIN, ids=lambda kind: kind.__name__)
def test_every_place_in_every_node(kind: type) -> None:
    plain = _PLAIN[kind]
    assert not _is_refused(_query(plain))
    hints = get_type_hints(kind)
    places = 0
    for large in LARGE:
        for changed in _with_one(plain, large):
            places += 1
            assert _is_refused(_query(changed)), changed
            assert _is_refused(_query(ir.Not(ir.Case(((_COLUMN, changed),), _COLUMN, TEXT))))
    expected = sum("Expression" in str(h) or "Constant" in str(h) for h in hints.values())
    assert places >= len(LARGE) * expected


_BLOCK = AggregateBlock(
    _SCAN,
    _COLUMN,
    (Key(_COLUMN, TEXT, "text"),),
    True,
    (Aggregate(AggregateKind.SUM, _COLUMN, _COLUMN, TEXT),),
)
_DERIVED = Subquery("r2", _SCAN, _COLUMN, (("x", _COLUMN),))
_RELATIONS: tuple[Relation, ...] = (
    Join(_SCAN, _SCAN, False, (), _COLUMN),
    Join(_DERIVED, _SCAN, False, (), None),
    Join(_SCAN, _DERIVED, False, (), None),
    _DERIVED,
    GroupByUnit("r3", _DERIVED, _COLUMN, _COLUMN, _BLOCK.aggregates),
    UnionAll("r4", (_DERIVED, _DERIVED)),
    Truncate(_DERIVED, None, None, (), (), (), "p"),
)


@pytest.mark.parametrize("large", LARGE)
def test_every_place_in_a_block_and_its_relations(large: ir.Constant) -> None:
    assert not _is_refused(Query((_BLOCK,)))
    changed = [replace(_BLOCK, where=large)]
    changed += [replace(_BLOCK, keys=keys) for keys in _with_one(_BLOCK.keys, large)]
    changed += [replace(_BLOCK, aggregates=a) for a in _with_one(_BLOCK.aggregates, large)]
    for relation in _RELATIONS:
        assert not _is_refused(_query(None, relation))
        changed += [replace(_BLOCK, source=source) for source in _with_one(relation, large)]
    assert len(changed) > 15
    for block in changed:
        assert _is_refused(Query((block,))), block
        assert _is_refused(Query((_BLOCK, block)))


def test_patterns_sets_and_lists() -> None:
    most, digits = limits.PATTERN_WILDCARDS, limits.LIST_ELEMENTS
    for pattern, refused in (("%" * most, False), ("%_" * (most // 2) + "_", True)):
        like = ir.Like(_COLUMN, ir.Constant(pattern, TEXT), True)
        assert _is_refused(_query(like)) is refused
    for function in (ir.TextFunction.BTRIM, ir.TextFunction.LTRIM, ir.TextFunction.RTRIM):
        for size in (limits.TRIM_CHARACTERS, limits.TRIM_CHARACTERS + 1):
            call = ir.TextCall(function, _COLUMN, (ir.Constant("é" * size, TEXT),), TEXT)
            assert _is_refused(_query(call)) is (size > limits.TRIM_CHARACTERS)
    for size in (digits, digits + 1):
        listed = ir.In(_COLUMN, (ir.Constant(Fraction(1), SqlType.INT4),) * size)
        assert _is_refused(_query(listed)) is (size > digits)


def test_all_texts_together() -> None:
    texts = [chr(97 + n) * limits.CONSTANT_BYTES for n in range(9)]
    of = [ir.Comparison(ir.Comparator.EQ, _COLUMN, ir.Constant(text, TEXT)) for text in texts]
    assert not _is_refused(_query(ir.Connective("AND", tuple(of[:8]))))
    assert _is_refused(_query(ir.Connective("AND", tuple(of))))
    assert not _is_refused(_query(ir.Connective("AND", tuple(of[:1]) * 20)))  # sent once


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e399", Fraction(10) ** 399),
        ("1e400", None),
        ("1e-400", Fraction(1, 10**400)),
        ("1e-401", None),
        ("0e999999999", Fraction(0)),
        ("1e999999999", None),
        ("1" * 5000, None),
        ("0" * 5000 + "7", Fraction(7)),
        ("7." + "0" * 5000, Fraction(7)),
        ("-.5", Fraction(-1, 2)),
        ("+5.", Fraction(5)),
    ],
)
def test_numbers_are_measured_before_they_are_computed(text: str, value: Fraction | None) -> None:
    if value is None:
        with pytest.raises(Refusal, match="400 digits"):
            number(text)
    else:
        assert number(text) == value


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1e", "٣", "1٣", "1e٣", " 1", "1_0", "0x10", "1e9999999999"]
)
def test_what_is_no_number(text: str) -> None:
    assert number(text) is None


_CONDITIONS = (
    "i4 = {n}",
    "i4 IN (1, {n})",
    "i4 BETWEEN 1 AND {n}",
    "i4 + {n} > 1",
    "i4 / {n} > 1",
    "round(n, 2) = {n}",
    "width_bucket(i4, 0, {n}, 3) = 1",
    "CASE WHEN b THEN {n} ELSE 1 END = 1",
    "coalesce(n, {n}) = 1",
    "nullif(n, {n}) = 1",
    "i4 IN (SELECT k FROM rates WHERE k > {n})",
    "-{n} = i4",
    "{n}::float8 = f8",
    "'{n}'::numeric = n",
)
_PLACES = (
    "SELECT count(*) FROM people WHERE {c}",
    "SELECT count(*) FILTER (WHERE {c}) FROM people",
    "SELECT sum(CASE WHEN {c} THEN i4 END) FROM people",
    "SELECT count(*) FROM people GROUP BY ({c})",
    "SELECT count(*) FROM (SELECT i4 FROM people WHERE {c}) q",
    "SELECT sum(x) FROM (SELECT uid, count(*) FILTER (WHERE {c}) AS x FROM orders GROUP BY uid) q",
    "WITH q AS (SELECT i4 FROM people WHERE {c}) SELECT count(*) FROM q",
)


@pytest.mark.parametrize("place", _PLACES)
def test_a_number_of_many_digits_is_a_refusal_wherever_it_is_written(place: str) -> None:
    for condition in _CONDITIONS:
        for large in ("1e9999", "1" * 4400, "1e-9999", "1e999999999"):
            with pytest.raises(Refusal) as caught:
                walk(place.format(c=condition.format(n=large)))
            assert caught.value.code in (Code.TOO_COMPLEX, Code.UNSUPPORTED, Code.SYNTAX)


@pytest.mark.parametrize(
    "condition",
    [
        "t LIKE '{}%'",
        "t ILIKE '%{}'",
        "strpos(t, '{}') > 0",
        "starts_with(lower(t), '{}')",
    ],
)
def test_what_is_searched_for_is_short(condition: str) -> None:
    def asked(length: int) -> bool:
        return (
            walk(f"SELECT count(*) FROM w.orders WHERE {condition.format('a' * length)}")
            is not None
        )

    assert asked(limits.SEARCHED_BYTES - condition.count("%"))
    with pytest.raises(Refusal, match="search text"):
        asked(limits.SEARCHED_BYTES + 1)


def test_texts_that_are_only_compared_cost_nothing() -> None:
    """PostgreSQL computes once what is constant, and = looks at lengths first."""
    listed = ", ".join(f"'{'a' * 100}{n}'" for n in range(100))
    assert walk(f"SELECT count(*) FROM w.orders WHERE t IN ({listed}) OR t > '{'a' * 4000}'")
