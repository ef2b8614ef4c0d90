"""The kernel lets no plan pass of which a row could make the SQL raise (proxy/kernel/totality.py).

That what it lets pass raises on no hostile row is tried in tests/never_raise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column
from proxy.kernel import (
    known_values,
    listed_values,
    number_totality,
    text_totality,
    time_totality,
    totality,
)
from proxy.kernel.block_price import price_of_block
from proxy.kernel.known_values import Value, constant_value, stored_value
from proxy.kernel.listed_values import check_listed
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.totality import check_relation, check_totality
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Cast,
    Clamped,
    Comparator,
    Comparison,
    Constant,
    Expression,
    Not,
    NumericCall,
    NumericFunction,
)
from proxy.query.ir.relations import Join, Scan, Subquery, UnionAll
from tests.kernel.examples import WORLD, column, scan
from tests.kernel.raising_plans import KINDS, Stated, raising_in_each_place, stated_blocks
from tests.kernel.test_golden_plans import golden_blocks
from tests.kernel.test_weakened_kernel import Weakened, _weak
from tests.pipeline_world import CATALOG, walk

# Broken in a way that is none: so many plans of a kind live, for this reason.
EQUIVALENT: dict[str, tuple[int, str]] = {
    "stored_time_cut": (1, "it is the least of times that are cut below"),
    "constant_that_is_long": (2, "it is compared, and no function makes more of it"),
    "key_called_short": (12, "a subquery has cut it, or what is computed is short"),
    "sum_of_stored_numbers": (1, "it is a column that a subquery has computed of clamped ones"),
}


@cache
def _blocks() -> tuple[Stated, ...]:
    of_golden = (Stated(statement=s, world=w, block=b) for s, w, b in golden_blocks())
    return (*stated_blocks(), *of_golden)


def test_statements_with_all_nodes_are_let_through() -> None:
    for one in stated_blocks():
        price_of_block(one.block, one.world)


def _raising(kind: str) -> Iterator[tuple[Stated, BlockPlan]]:
    for one in _blocks():
        broken = KINDS[kind](one.block)
        if broken is not None and broken != one.block:
            yield one, broken


def _is_refused(block: BlockPlan, world: World) -> bool:
    try:
        price_of_block(block, world)
    except NotPrivate:
        return True
    return False


@pytest.mark.every(4)
@pytest.mark.parametrize("kind", KINDS)
def test_what_raises_is_refused(kind: str) -> None:
    made = list(_raising(kind))
    lived = [one.statement for one, broken in made if not _is_refused(broken, one.world)]
    assert len(made) > len(lived), "no plan can be broken so"
    most, _ = EQUIVALENT.get(kind, (0, ""))
    assert len(lived) <= most, lived[:3]


def test_there_are_many_kinds() -> None:
    assert len(KINDS) >= 65
    assert set(EQUIVALENT) <= set(KINDS)


_PLACES = (
    "SELECT t, count(*) FILTER (WHERE i4 > 3), count(s) FROM people WHERE i4 > 5 GROUP BY t",
    "SELECT count(DISTINCT t) FILTER (WHERE i4 > 3), max(i4), avg(n2) FROM people",
    "SELECT sum(x) FROM (SELECT i4 AS x FROM people WHERE i2 > 1) q WHERE x > 4",
    "SELECT sum(x) FROM (SELECT uid, t, sum(i4) FILTER (WHERE i2 > 1) AS x FROM orders WHERE i4 > 2"
    " GROUP BY uid, t) q",
    "SELECT sum(x) FROM (SELECT uid, sum(i4) OVER (PARTITION BY uid, t ORDER BY i2) AS x FROM orders) q",
    "SELECT sum(x) FROM (SELECT uid, lag(i4) OVER (PARTITION BY uid ORDER BY i2) AS x FROM orders) q",
    "SELECT count(*) FROM orders o LEFT JOIN calls c ON o.uid = c.uid AND o.i4 > c.i4",
    "SELECT count(*) FROM (SELECT i4 FROM people UNION ALL SELECT free FROM people WHERE i4 > 1) q",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FILTER (WHERE i2 > 1) FROM orders",
)


@pytest.mark.parametrize("statement", _PLACES)
def test_no_place_is_forgotten(statement: str) -> None:
    found = walk(statement)
    assert found is not None
    places = [broken for block in found.plan.blocks for broken in raising_in_each_place(block)]
    assert places
    for broken in places:
        with pytest.raises(NotPrivate) as refused:
            check_totality(broken, WORLD)
        assert refused.value.rule is Rule.TOTALITY


def _subquery(alias: str, source: Subquery | Scan, **outputs: Expression) -> Subquery:
    return Subquery(alias, source, None, tuple(outputs.items()))


def _negated(expression: Expression, times: int) -> Expression:
    for _ in range(times):
        expression = Not(expression)
    return expression


def test_expressions_are_no_deeper_than_the_stack() -> None:
    """PostgreSQL puts the columns of subqueries in where they are named."""
    found = _subquery("q0", scan("r1", "people"), b=column("r1", "b", SqlType.BOOL))
    for number in range(1, 100):
        inner = _negated(column(f"q{number - 1}", "b", SqlType.BOOL), 49)
        found = _subquery(f"q{number}", found, b=inner)
    check_relation(found, WORLD)
    with pytest.raises(NotPrivate):
        check_relation(
            _subquery("q", found, b=_negated(column("q99", "b", SqlType.BOOL), 60)), WORLD
        )


def _with_type(kind: SqlType) -> World:
    """A column of each table of another type."""
    tables = {
        name: replace(
            table,
            columns=tuple(
                Column(one.name, kind, "?", True) if one.name == "free" else one
                for one in table.columns
            ),
        )
        for name, table in CATALOG.tables.items()
    }
    return World(WORLD.policy, Catalog(tables))


_UNKNOWN = column("r1", "free", SqlType.OTHER)


@pytest.mark.parametrize(
    "condition",
    [
        Comparison(Comparator.EQ, _UNKNOWN, _UNKNOWN),
        Comparison(Comparator.EQ, Cast(_UNKNOWN, SqlType.TEXT), Constant("a", SqlType.TEXT)),
    ],
)
def test_values_of_unknown_types_are_neither_compared_nor_printed(condition: Expression) -> None:
    world = _with_type(SqlType.OTHER)
    there = Subquery("q", scan("r1", "people"), condition, ())
    with pytest.raises(NotPrivate) as refused:
        check_relation(there, world)
    assert refused.value.rule is Rule.TOTALITY
    both = Join(scan("r1", "people"), scan("r2", "people"), False, ((_UNKNOWN, _UNKNOWN),), None)
    with pytest.raises(NotPrivate):
        check_relation(both, world)


def test_texts_of_several_collations_are_named_so() -> None:
    """Two that meet as they are stored raise on the first row (42P22)."""
    (block,) = _plan("SELECT count(*) FROM people WHERE t = s").blocks
    world = _with_type(SqlType.COLLATED)
    text = column("r1", "free", SqlType.TEXT)
    price_of_block(block, world)
    with pytest.raises(NotPrivate):
        price_of_block(replace(block, where=Comparison(Comparator.EQ, text, text)), world)


def _plan(statement: str) -> PrivatePlan:
    found = walk(statement)
    assert found is not None
    return found.plan


def test_a_column_of_a_union_is_what_one_of_its_parts_is() -> None:
    clamped = Clamped(column("r1", "n", SqlType.NUMERIC), Fraction(0), Fraction(1), SqlType.NUMERIC)
    known = _subquery("q1", scan("r1", "people"), x=clamped)
    unknown = _subquery("q2", scan("r2", "people"), x=column("r2", "n", SqlType.NUMERIC))
    of_known = check_relation(UnionAll("u", (known, known)), WORLD)
    assert of_known.value(("u", "x")).high == 1
    either = check_relation(UnionAll("u", (known, unknown)), WORLD)
    assert either.value(("u", "x")).high is None


def test_what_is_believed_of_a_column_is_enforced() -> None:
    declared = Column("n", SqlType.NUMERIC, "numeric(5,2)", True, 5, 2)
    assert stored_value(declared).step == Fraction(1, 100)
    assert stored_value(replace(declared, is_enforced=False)) == Value()
    text = Column("s", SqlType.VARCHAR, "character varying(20)", True)
    assert stored_value(replace(text, is_enforced=False)) == Value()


def test_a_time_beyond_the_calendar_has_no_ends() -> None:
    assert constant_value(Constant("infinity", SqlType.TIMESTAMP)) == Value()
    assert constant_value(Constant("10000-01-01", SqlType.DATE)) == Value()
    on_another_clock = "date_trunc('day', timestamptz '0001-01-01 00:00+14') < tz"
    assert _plan(f"SELECT count(*) FROM people WHERE {on_another_clock}").blocks


def test_sums_and_products_of_what_is_too_large_are_refused() -> None:
    """Each product has as many digits as both of its factors, and the next one takes no more of them."""
    (block,) = _plan("SELECT sum(n2 * n2) FROM people").blocks
    number = column("r1", "n2", SqlType.NUMERIC)
    large = Clamped(number, Fraction(0), Fraction(2**5_000), SqlType.NUMERIC)
    absolute = NumericCall(NumericFunction.FLOOR, large, 0, SqlType.NUMERIC)
    where = Comparison(Comparator.GT, absolute, Constant(Fraction(1), SqlType.NUMERIC))
    with pytest.raises(NotPrivate):
        check_totality(replace(block, where=where), WORLD)


_N, _T, _X, _J = number_totality, time_totality, text_totality, totality
# Rules with one condition less, by the kind of broken plans that this lets through.
_WEAKENED: dict[str, Weakened] = {
    "stored_number_added": _weak(
        _N.computable_bits, 'raise refused("arithmetic on a value without ends")', "return 0"
    ),
    "stored_number_divided": _weak(
        _N.quotient_rule,
        "computable_bits(operand), computable_bits(divisor)",
        "0, divisor.bits or 0",
    ),
    "stored_number_as_divisor": _weak(
        _N.quotient_rule,
        "bits, by = computable_bits(operand), computable_bits(divisor)\n",
        "bits, by = computable_bits(operand), 0\n    divisor = within(Fraction(1), Fraction(1))\n",
    ),
    "divisor_that_reaches_0": _weak(
        _N.quotient_rule, "distance is None and not divisor.is_apart", "False"
    ),
    "divisor_of_0": _weak(known_values.constant_value, "is_apart=number != 0", "is_apart=True"),
    "divisor_without_nullif": _weak(
        _N.clamp_rule, "is_apart = low > 0 or high < 0 or", "is_apart = True or"
    ),
    "divisor_that_is_another_nullif": _weak(_N.without_zero, "operand.is_apart or is_zero", "True"),
    "divisor_cut_to_0": _weak(_N.clamp_rule, "and low != 0 != high", ""),
    "stored_number_in_a_real_function": _weak(
        _N.real_call_rule,
        "bits = computable_bits(operand)\n",
        "bits, operand = 1, replace(operand, low=Fraction(1), high=Fraction(1))\n",
    ),
    "logarithm_of_0": _weak(_N.real_call_rule, "operand.low <= 0", "False"),
    "logarithm_to_the_base_of_1": _weak(
        _N.real_call_rule,
        "constant is None or constant <= 0 or constant == 1",
        "not (constant := Fraction(2))",
    ),
    "root_of_less_than_0": _weak(_N.real_call_rule, "operand.low < 0", "False"),
    "exponent_too_large": _weak(
        _N._exponential, "max(abs(low), abs(high)) * logarithm > MOST_EXPONENT", "False"
    ),
    "power_of_a_base_below_0": _weak(
        _N.real_call_rule,
        "constant is None or constant <= 0:",
        "not (constant := Fraction(2)):",
    ),
    "power_too_large": _weak(
        _N._power,
        "exponent is None or abs(exponent) > _MOST_POWER or base.low is None",
        "not (exponent := min(exponent, Fraction(1)))",
    ),
    "power_of_large_numbers": _weak(_N._power, "bits * abs(exponent) > _MOST_POWER_BITS", "False"),
    "negative_power_of_0": _weak(
        _N._power,
        'raise refused("a negative power of what may be 0")',
        "distance = Fraction(1)",
    ),
    "broken_power_of_less_than_0": _weak(
        _N._power, "exponent.denominator != 1 and base.low < 0", "False"
    ),
    "stored_number_rounded": _weak(_N.rounding_rule, "computable_bits(operand) + 1", "1"),
    "stored_number_in_a_bucket": _weak(_N.bucket_rule, "    computable_bits(operand)\n", ""),
    "sign_in_a_bucket": _weak(
        _N.rounding_rule, "Value() if bits is None else around(max(1, bits))", "around(1)"
    ),
    "buckets_that_are_none": _weak(_N.bucket_rule, "or not 1 <= bucket.count <= _MOST_BUCKETS", ""),
    "buckets_of_one_bound": _weak(_N.bucket_rule, "bucket.low == bucket.high or", ""),
    "text_cast_to_a_number": _weak(_J._cast, "    check_number(cast.operand)\n", ""),
    "text_computed_with": _weak(_N.rounding_rule, "    check_number(call.operand)\n", ""),
    "text_clamped_as_a_number": _weak(_N.clamp_rule, "    check_number(clamped.operand)\n", ""),
    "function_of_texts_as_a_number": _weak(
        _X.text_call_rule, "is_right = call.type.is_text", "is_right = True"
    ),
    "result_that_is_no_number": _weak(
        _J._Judge._chosen, "is_printed_as_number(expression.type)", "False"
    ),
    "number_clamped_as_a_float": _weak(
        _N.clamp_rule, "is_of_floats and clamped.operand.type is SqlType.NUMERIC", "False"
    ),
    "clamp_inside_out": _weak(_N.clamp_rule, "low > high", "False"),
    "stored_number_as_one_of_several": _weak(
        known_values.hull, "len(lows) == len(highs) == len(there)", "bool(lows)"
    ),
    "time_clamp_inside_out": _weak(_T.time_clamp_rule, "clamped.low > clamped.high", "False"),
    "jsonb_as_a_text": _weak(_X.printed_rule, "    check_printed(below)\n", ""),
    "function_of_jsonb": _weak(_X.text_call_rule, "    _check_text(call.operand)\n", ""),
    "pattern_on_jsonb": _weak(_X.like_rule, "    _check_text(like.operand)\n", ""),
    "jsonb_put_to_a_text": _weak(
        _X.concatenation_rule, "        _check_text(part)\n", "        pass\n"
    ),
    "function_of_texts_printed": _weak(
        _X.printed_rule, "        check_number(below)\n", "        pass\n"
    ),
    "distinct_jsonb": _weak(_J.check_distinct, "    check_printed(operand)\n", ""),
    "distinct_numbers_called_long": _weak(
        _J.check_distinct, "release.is_long and not is_text", "False"
    ),
    "group_of_a_unit_by_an_array": _weak(_J._groups, "        check_printed(key)\n", ""),
    "join_by_jsonb": _weak(
        _J.check_relation, "                check_printed(one)\n", "                pass\n"
    ),
    "key_of_jsonb": _weak(_J.check_key, "    check_printed(key.expression)\n", ""),
    "look_at_a_time_of_day_as_an_interval": _weak(
        _X._type_of_look, "of is SqlType.DURATION and inside.type", "inside.type"
    ),
    "look_into_what_is_no_column": _weak(
        _X.inside_rule, "not isinstance(inside.operand, ColumnRef)", "False"
    ),
    "grid_of_too_many_digits": _weak(
        _J.check_grid_index,
        "max(bits_of(measured.grid), bits_of(1 / measured.grid)) > MOST_BITS",
        "False",
    ),
    "stored_time_cut": _weak(
        _T._moved,
        'raise refused("a time that is moved and may be at the end of the calendar")',
        "return operand",
    ),
    "stored_time_moved": _weak(
        _T._moved,
        'raise refused("a time that is moved and may be at the end of the calendar")',
        "return operand",
    ),
    "stored_time_in_a_bin": _weak(
        _T.bin_rule,
        "low is None or high is None or low < _FIRST_BINNED or high > _LAST_BINNED:",
        "low is None:\n            return operand\n        if False:",
    ),
    "stored_time_on_another_clock": _weak(
        _T.cast_time_rule,
        "is_by_clock or (below is SqlType.DATE and cast.type is not SqlType.DATE)",
        "False",
    ),
    "clock_of_no_zone": _weak(
        _T._check_zone, "zone is not None and zone_named(zone.name) != zone", "False"
    ),
    "time_moved_out_of_the_calendar": _weak(
        _T._moved, "low < _FIRST_OF_ALL or high > _LAST_OF_ALL", "False"
    ),
    "time_cut_to_no_unit": _weak(
        _T.truncation_rule_of_time, "date_trunc.unit not in TRUNCATIONS", "False"
    ),
    "bins_of_no_width": _weak(_T.bin_rule, "not 0 < time_bin.width <= _MOST_WIDTH", "False"),
    "bins_of_a_millennium": _weak(_T.bin_rule, "<= _MOST_WIDTH", ""),
    "template_that_is_not_known": _weak(_T.template_rule, "found is None", "False"),
    "hour_of_a_date": _weak(
        _T.extract_rule, "kind is SqlType.DATE and extract.field in _CLOCK_FIELDS", "False"
    ),
    "field_that_is_not_known": _weak(_T.extract_rule, "or extract.field not in _FIELDS", ""),
    "text_cast_to_a_date": _weak(_T.cast_time_rule, "below is None or not below.is_time", "False"),
    "text_cast_to_a_name": _weak(
        _J._cast,
        "    check_number(cast.operand)\n    if not cast.type.is_number:",
        "    if False:",
    ),
    "date_clamped_as_a_timestamp": _weak(
        _T.time_clamp_rule, "clamped.operand.type is not clamped.type", "False"
    ),
    "pattern_that_ends_with_an_escape": _weak(_X.like_rule, "check_pattern(like)", "pass"),
    "pattern_of_many_wildcards": _weak(_X.like_rule, "check_size(like)", "pass"),
    "pattern_that_is_long": _weak(_X.like_rule, "check_size(like)", "pass"),
    "pattern_of_an_answer": _weak(_X.like_rule, "check_pattern(like)", "pass"),
    "length_below_0": _weak(_X.text_call_rule, "check_text_call(call)", "pass"),
    "part_0": _weak(_X.text_call_rule, "check_text_call(call)", "pass"),
    "length_beyond_an_integer": _weak(_X.text_call_rule, "check_text_call(call)", "pass"),
    "argument_that_is_an_answer": _weak(_X.text_call_rule, "check_text_call(call)", "pass"),
    "trim_of_many_characters": _weak(_X.text_call_rule, "check_size(part)", "pass"),
    "search_for_a_long_text": _weak(_X.text_call_rule, "check_size(part)", "pass"),
    "replacement_that_is_long": _weak(_X.text_call_rule, "check_size(part)", "pass"),
    "text_padded_to_a_long_one": _weak(_X.text_call_rule, "check_size(part)", "pass"),
    "constant_that_is_long": _weak(
        known_values.constant_value,
        'len(text.encode("utf-8", "surrogatepass")) > limits.CONSTANT_BYTES',
        "False",
    ),
    "place_beyond_an_integer": _weak(_X.inside_rule, "check_inside(inside)", "pass"),
    "look_as_a_number": _weak(
        _X.inside_rule, "inside.type is not _type_of_look(inside, inside.operand.type)", "False"
    ),
    "look_into_what_is_no_jsonb": _weak(
        _X.inside_rule, "inside.type is not _type_of_look(inside, inside.operand.type)", "False"
    ),
    "member_deeper_than_the_stack": _weak(_X.inside_rule, "json_constant(text, None)", "pass"),
    "least_that_the_type_does_not_have": _weak(
        _J.check_grid_index, "stored.least is None or stored.least < measured.least", "False"
    ),
    "column_called_on_the_grid": _weak(
        _J.check_grid_index, "measured.on_grid and not is_on_grid", "False"
    ),
    "index_that_no_float_holds": _weak(
        _J.check_grid_index, "max(abs(measured.low), abs(measured.high)) > LARGEST_INDEX", "False"
    ),
    "text_that_is_measured": _weak(
        _J.check_grid_index, "        check_number(operand)\n", "        pass\n"
    ),
    "computed_time_that_is_measured": _weak(
        _J.check_grid_index, "_plain(operand) is None", "False"
    ),
    "key_called_short": _weak(
        _J.check_key, "characters is None or characters > limits.KEY_CHARACTERS", "False"
    ),
    "listed_key_of_another_type": _weak(listed_values.check_listed, "if kind.is_text", "if True"),
    "distinct_texts_called_short": _weak(
        _J.check_distinct,
        "value.characters is None or value.characters > limits.KEY_CHARACTERS",
        "False",
    ),
    "sum_of_stored_numbers": _weak(_J.aggregate_value, "computable_bits(value)", "0"),
    "count_cut_below_zero": _weak(_J.aggregate_value, "not 0 <= most < 2**63", "False"),
}


def test_each_kind_has_a_condition() -> None:
    assert KINDS.keys() == _WEAKENED.keys()


@pytest.mark.every(5)
@pytest.mark.parametrize("kind", KINDS)
def test_without_its_condition_it_gets_through(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [(one, broken) for one, broken in _raising(kind) if _is_refused(broken, one.world)]
    _WEAKENED[kind].put(monkeypatch)
    assert not all(_is_refused(broken, one.world) for one, broken in made)


_NINES = "9" * 2_000
_TEXTS = {
    SqlType.INT2: (
        ("0", "1", "-32768"),
        ("32768", "x", "1.5", "", "+1", "01", "-0", "1e0", " 1", "1\n", "\u0661"),
    ),
    SqlType.INT4: (("2147483647", "-2147483648"), ("2147483648", "-2147483649")),
    SqlType.INT8: (
        ("9223372036854775807", "-9223372036854775808"),
        ("9223372036854775808", "1_0"),
    ),
    SqlType.NUMERIC: (
        ("1.50", "NaN", "-Infinity", "0.00", "-0.01", f"-{_NINES}99"),
        *[
            (
                "1,5",
                "e5",
                "0x1",
                "1e5",
                "+1",
                "01",
                ".5",
                "5.",
                "-0",
                "-0.00",
                "nan",
                f"-{_NINES}999",
            )
        ],
    ),
    SqlType.FLOAT4: (
        ("0.1", "3e+38", "1e-37", "Infinity", "0", "-0"),
        ("3.5e+38", "9e-38", "1e-50", "0e+99x", "1E5", "1e5", "9" * 500, "0." + "0" * 399 + "1"),
    ),
    SqlType.FLOAT8: (("1e+308", "1e-307"), ("1e+309", "9e-308", "1e-320", "0.5f")),
    SqlType.BOOL: (("true", "false"), ("yes!", "2", "t", "f", "TRUE")),
    SqlType.DATE: (
        (
            *("2024-02-29", "0005-02-29 BC", "12000-02-29", "infinity", "-infinity"),
            *("0001-01-01", "294275-12-31", "4712-12-31 BC"),
        ),
        (
            *("2023-02-29", "0000-01-01", "012000-02-29", "2024-2-29", "2024-02-29 12:00:00"),
            *("294276-01-01", "4713-01-01 BC"),
        ),
    ),
    SqlType.TIMESTAMPTZ: (
        ("2024-02-29 12:00:00+00", "2024-02-29 12:00:00.5+05:30"),
        ("2024-02-29 25:61", "2024-02-29 12:00:00" + "0" * 99),
    ),
    SqlType.UUID: (("00000000-0000-0000-0000-00000000000a",), ("00000000",)),
    SqlType.TEXT: (("", "x", " 1"), ()),
    SqlType.OTHER: ((), ("1",)),
}


@pytest.mark.parametrize("kind", _TEXTS)
def test_listed_keys_are_values_of_their_column(kind: SqlType) -> None:
    right, wrong = _TEXTS[kind]
    check_listed(kind, (*right, None))
    for text in wrong:
        with pytest.raises(NotPrivate):
            check_listed(kind, (*right, text))


_TAKEN = {
    "zero_with_a_sign": (
        _weak(listed_values._is_numeric, 'text.strip("-0.") != ""', "True"),
        SqlType.NUMERIC,
        "-0.00",
    ),
    "number_that_is_none": (
        _weak(listed_values._is_numeric, "_NUMERIC.fullmatch(text) is None", "False"),
        SqlType.NUMERIC,
        "1e5",
    ),
    "float_that_would_be_0": (
        _weak(listed_values._is_float, 'text.strip("-0.") == ""', "True"),
        SqlType.FLOAT8,
        "1e-999",
    ),
    "float_that_is_none": (
        _weak(listed_values._is_float, "_FLOAT.fullmatch(text) is None", "False"),
        SqlType.FLOAT8,
        "1E5",
    ),
    "date_with_a_time": (
        _weak(listed_values.is_value, "_DATE if kind is SqlType.DATE else _TIME", "_TIME"),
        SqlType.DATE,
        "2024-02-29 12:00:00",
    ),
    "whole_number_with_a_sign": (
        _weak(listed_values.is_value, "_WHOLE.fullmatch(text) is not None and", ""),
        SqlType.INT4,
        "+1",
    ),
}


@pytest.mark.parametrize("name", _TAKEN)
def test_without_its_condition_a_text_gets_through(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    weakened, kind, text = _TAKEN[name]
    with pytest.raises(NotPrivate):
        check_listed(kind, [text])
    weakened.put(monkeypatch)
    check_listed(kind, [text])
