"""The work of a unit, as it is planned: what is counted, what is refused and what is cut."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.engine.answer_conditions import conditions
from proxy.kernel import work
from proxy.kernel.formed_rows import AS_STORED, RowCount, UnboundedRows
from proxy.kernel.plan import BlockPlan
from proxy.kernel.work import TooMuchWork, UnitWork, block_work, check_work
from proxy.kernel.work_prices import NodePrice, NotPriced, ResultSize, expression_price
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Arithmetic,
    ColumnRef,
    Constant,
    Expression,
    Inside,
    InsideLook,
    Operator,
)
from tests.kernel.examples import key_plan, of_table
from tests.pipeline_world import CATALOG, POLICIES, walk

_WORLD = World(POLICIES["world"], CATALOG)


def _block(question: str, *arguments: str) -> BlockPlan:
    types = (SqlType.TEXT,) * len(arguments)
    found = walk(question, types=types, arguments=tuple(map(json.dumps, arguments)))
    assert found is not None
    return found.plan.blocks[0]


def _work(question: str) -> UnitWork:
    return block_work(_block(question), _WORLD)


def _refused(question: str, *arguments: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        _block(question, *arguments)
    assert caught.value.code is Code.TOO_COMPLEX
    return caught.value


def _inside(look: InsideLook, kind: SqlType) -> Expression:
    path = (Constant("k", SqlType.TEXT),)
    return Inside(look, of_table("r1", "orders", "j"), path, (), kind)


def test_rows_are_counted_where_they_are_formed() -> None:
    """People are rows, orders are of units that store any number, 6 of which are joined."""
    assert _work("SELECT count(*) FROM people").rows == 1
    of_unit = _work("SELECT count(*) FROM orders")
    assert of_unit.nanoseconds == 0 and of_unit.stored_nanoseconds > 0
    assert _work("SELECT count(*) FROM orders a JOIN visits b ON a.uid = b.uid").rows == 30 + 6 + 5


def test_a_mention_costs_the_whole_expression() -> None:
    inner = "SELECT power(i4 + 200, 1.5) AS p FROM people"
    once = _work(f"SELECT count(*) FROM ({inner}) q WHERE p > 1").nanoseconds
    four = " OR ".join(["p > 1"] * 4)
    assert _work(f"SELECT count(*) FROM ({inner}) q WHERE {four}").nanoseconds > 3 * once


def test_a_group_is_computed_once() -> None:
    inner = "SELECT uid, max(power(i4 + 200, 1.5)) AS p FROM orders GROUP BY uid"
    once = _work(f"SELECT count(*) FROM ({inner}) q WHERE p > 1")
    four = " OR ".join(["p > 1"] * 4)
    again = _work(f"SELECT count(*) FROM ({inner}) q WHERE {four}")
    assert again.stored_nanoseconds == once.stored_nanoseconds
    assert again.nanoseconds < 2 * once.nanoseconds


def test_what_may_be_read_twice_costs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """MIN and MAX of a whole table look at its ends first (compiler/value_ends.py)."""
    world = World(POLICIES["best"], CATALOG)
    statements = "SELECT min(i4) FROM people", "SELECT min(i4), max(i4) FROM people"
    planned = [walk(statement, world.policy) for statement in statements]
    blocks = [one.plan.blocks[0] for one in planned if one is not None]
    twice = [block_work(block, world).nanoseconds for block in blocks]
    monkeypatch.setattr(BlockPlan, "looks_at_ends", lambda *_: False)
    assert twice == [2 * block_work(block, world).nanoseconds for block in blocks] != [0, 0]


def test_aggregates_keep_digits() -> None:
    """What hid the digits once: MAX of a product with a long constant."""
    long = "1." + "7" * 300
    inner = f"SELECT uid, max(i4 * {long}) AS p FROM orders GROUP BY uid"
    short = _work(
        "SELECT count(*) FROM (SELECT uid, max(i4) AS p FROM orders GROUP BY uid) q WHERE ln(p + 200) > 1"
    )
    assert _work(f"SELECT count(*) FROM ({inner}) q WHERE ln(p + 1000) > 1").nanoseconds > (
        20 * short.nanoseconds
    )


_SEVERAL = "sum(power(i4 + 200, 1.5) + power(i4 + 201, 1.5))"


@pytest.mark.parametrize("table", ["orders", "lines", "visits"])
def test_a_dear_row_is_read_less_often(table: str) -> None:
    """Also where the unit is found along a reference."""
    block = _block(f"SELECT {_SEVERAL} FROM {table}")
    assert block.most_stored is not None and 1_000 < block.most_stored < 10_000
    found = check_work([block], _WORLD)
    assert found.stored_nanoseconds <= limits.ROW_NANOSECONDS
    assert found.nanoseconds <= limits.UNIT_NANOSECONDS


def test_a_cheap_row_is_read_whatever_is_stored() -> None:
    assert _block("SELECT sum(i4 * 2) FROM orders").most_stored is None


def test_rows_that_may_count_are_read() -> None:
    """A statement that lets fewer rows be read than count is refused."""
    often = " + ".join(["power(i4 + 200, 10.5)"] * 150)
    assert _refused(f"SELECT count(*) FROM notes WHERE {often} > 1").hint


def test_the_dearest_step_is_named() -> None:
    long = "1." + "7" * 350
    sides = [f"(SELECT uid, i4 * {long} AS x FROM {table})" for table in ("orders", "visits")]
    joined = f"{sides[0]} a JOIN {sides[1]} b ON a.uid = b.uid"

    def question(operand: str) -> str:
        value = " + ".join([f"ln({operand} + 100000)"] * 30)
        return f"SELECT count(*) FROM {joined} WHERE {value} > 1"

    refused = _refused(question("a.x + b.x"))
    assert re.search(
        r"busy for [\d.]+ seconds, more than 0.25: .* ln\(\) on numbers", refused.message
    )
    assert "round(x, 2)" in refused.hint
    assert _block(question("round(a.x, 2) + round(b.x, 2)"))


def test_a_text_in_a_jsonb_that_a_join_repeats_is_as_long_as_any() -> None:
    """16 KiB that are stored of a jsonb are 4 MiB in memory."""
    joined = "SELECT count(*) FROM orders a JOIN visits b ON a.uid = b.uid WHERE b.i4 = 77 OR"
    assert "LIKE" in _refused(f"{joined} left(a.j ->> 'k', 100000) LIKE '%{'b' * 200}%'").message
    assert _block(f"{joined} a.j ->> 'k' LIKE '%b%'")  # of which the planner takes the beginning


@pytest.mark.parametrize(
    ("expression", "stored", "carried"),
    [
        (of_table("r1", "orders", "t"), 2**30, 2**30),
        (of_table("r1", "orders", "j"), 2**22, 2**22),
        (_inside(InsideLook.TEXT, SqlType.TEXT), 2**22, 4 * limits.KEY_CHARACTERS),
        (_inside(InsideLook.TEXT, SqlType.TEXT), 100, 100),
        (_inside(InsideLook.MEMBER, SqlType.JSONB), 2**22, limits.INSIDE_STORED_BYTES),
        (_inside(InsideLook.MEMBER, SqlType.JSONB), 8_000, 8_000),
    ],
)
def test_what_is_computed_is_cut_where_it_is_carried(
    expression: Expression, stored: int, carried: int
) -> None:
    """What is stored stands in a row of a subquery as a pointer to it, whole."""
    price = NodePrice(1.0, ResultSize(0, 0, stored))
    assert work._cut_text(price, expression).size.octets == carried


def test_numbers_without_a_scale_are_cut_in_arithmetic() -> None:
    found = walk("SELECT sum(n * n), sum(n2 * n2), sum(n) FROM orders")
    assert found is not None
    text = str(found.queries)
    assert text.count(f'pg_catalog.trunc((r1."n")::numeric, {limits.NUMBER_AFTER_POINT})') >= 2
    assert f'trunc((r1."n2")::numeric, {limits.NUMBER_AFTER_POINT})' not in text


def test_what_is_not_rounded_has_all_digits() -> None:
    """Of a number without a scale that reaches a product by another way."""
    inner = "SELECT uid, max(n) AS m FROM orders GROUP BY uid"
    rounded = "SELECT uid, max(round(n, 2)) AS m FROM orders GROUP BY uid"
    dear, cheap = (
        _work(f"SELECT count(*) FROM ({q}) q WHERE m * m > 1").nanoseconds for q in (inner, rounded)
    )
    assert dear > 1e6 > 10 * cheap


_HERS = "CASE WHEN uid = 42 THEN $1 ELSE '' END"


@pytest.mark.parametrize(
    "condition",
    [
        f"{_HERS} LIKE '%{'a' * 253}b%'",
        f"{_HERS} ILIKE '{'%a' * 99}'",
        f"strpos({_HERS}, 'b{'a' * 255}') = 0",
        f"rtrim({_HERS}, 'b{'a' * 99}') = 'x'",
        f"greatest({_HERS}, t) = 'b' OR least({_HERS}, t, s) = 'c' OR {_HERS} <= 'd'",
    ],
)
@pytest.mark.parametrize(
    "source",
    [
        "SELECT count(*) FROM w.orders WHERE {}",
        "SELECT count(*) FROM (SELECT uid, {} AS found, t, s FROM w.orders) q WHERE found",
    ],
)
def test_texts_of_the_statement_are_priced(condition: str, source: str) -> None:
    """A text that CASE gives for one person's row: fewer rows are read, the longer it is."""
    short, long = (_block(source.format(condition), "a" * size) for size in (1, 8_000))
    assert long.most_stored is not None
    assert short.most_stored is None or long.most_stored < short.most_stored


_PAIRS = "SELECT count(*) FROM orders a JOIN visits b ON a.uid = b.uid WHERE {}"


@pytest.mark.parametrize(
    "condition",
    [
        "a.t || b.t LIKE '%x%'",
        "lower(CASE WHEN b.i4 > 2 THEN a.t END) = 'x'",
        "a.t < b.t",
        "greatest(a.t, b.t) = 'x'",
        "CASE WHEN b.i4 > 2 THEN a.t END ~ 'x.*y'",
    ],
)
def test_texts_that_a_join_repeats_are_cut(condition: str) -> None:
    block = _block(_PAIRS.format(condition))
    assert block.text_characters is not None
    assert block.text_characters in limits.TEXT_BEGINNINGS
    told = f"the first {block.text_characters} characters" in " ".join(conditions(block))
    assert told == (block.text_characters < limits.TEXT_CHARACTERS)
    found = walk(_PAIRS.format(condition))
    assert found is not None
    text = found.queries[0][0].sql
    assert re.search(r"pg_catalog\.left\(", text)
    for mention in re.finditer(r'r\d\."t"', text.split(" WHERE ")[-1]):
        assert "::text, %(" in text.split(" WHERE ")[-1][mention.end() :]


def test_more_pairs_leave_shorter_texts() -> None:
    condition = "a.t || b.t LIKE '%xyz%'"
    three = "visits a JOIN visits b ON a.uid = b.uid JOIN orders c ON c.uid = a.uid"
    more = f"SELECT count(*) FROM {three} WHERE {condition}"
    few, many = _block(_PAIRS.format(condition)).text_characters, _block(more).text_characters
    assert few is not None and many is not None and many <= few


def test_texts_that_no_join_repeats_are_cut_by_what_one_costs() -> None:
    """Each costs in proportion to what is stored, and a single one no more than a unit may."""
    most = limits.TEXT_CHARACTERS
    assert _block("SELECT count(*) FROM orders WHERE t LIKE '%x%'").text_characters == most
    alone = "SELECT count(*) FROM members a JOIN orders b ON a.uid = b.uid WHERE b.t LIKE '%x%'"
    assert _block(alone).text_characters == most
    often = " OR ".join(f"lower(t) = '{n}'" for n in range(60))
    fewer = _block(f"SELECT count(*) FROM orders WHERE {often}").text_characters
    assert fewer is not None and fewer < most


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT t, count(*) FROM orders GROUP BY t",
        "SELECT count(DISTINCT t) FROM orders",
        "SELECT count(t) FROM orders WHERE t = 'x' OR t <> 'y' OR t IS NULL OR t IN ('a', 'b')",
        "SELECT count(*) FROM orders WHERE starts_with(s, 'a') OR lower(s) = 'b' OR left(t, 9) = 'c'",
        "SELECT count(coalesce(a.t, b.t)) FROM orders a JOIN visits b ON a.uid = b.uid WHERE a.t = 'x'",
    ],
)
def test_texts_that_are_not_gone_through_are_whole(statement: str) -> None:
    assert _block(statement).text_characters is None


def test_a_listed_key_is_cut_behind_its_longest_value() -> None:
    """So that no text becomes one of the list."""
    found = walk("SELECT a.t, count(*) FROM orders a JOIN visits b ON a.uid = b.uid GROUP BY a.t")
    assert found is not None
    listed = found.plan.blocks[0].keys[0].values
    assert listed is not None
    longest = max(len(value) for value in listed if value is not None)
    query = found.queries[0][0]
    cut = re.search(r'pg_catalog.left\(r\d."t"::text, %\((\w+)\)s::integer\)', query.sql)
    assert cut is not None and int(str(query.parameters[cut[1]])) == longest + 1


@pytest.mark.parametrize("look", ["a.j ? 'k'", "7 = ANY(a.ia)", "cardinality(a.ta) > b.i4"])
def test_looks_into_a_row_that_a_join_repeats_are_few(look: str) -> None:
    """Each unpacks four megabytes at the worst."""
    inner = "orders a JOIN visits b ON a.uid = b.uid"
    assert _block(f"SELECT count(*) FROM {inner} WHERE {look}")
    many = " OR ".join(
        look.replace("'k'", f"'k{n}'").replace("7", str(n)) + f" AND b.i4 > {n}" for n in range(9)
    )
    assert _refused(f"SELECT count(*) FROM {inner} WHERE {many}").hint


def test_keys_are_few() -> None:
    keys = ", ".join(f"i4 + {n}" for n in range(limits.GROUP_KEYS + 1))
    assert "at most 16 keys" in _refused(f"SELECT count(*) FROM orders GROUP BY {keys}").message


def test_subqueries_do_not_multiply_expressions() -> None:
    def question(levels: int) -> str:
        source = "SELECT uid, i4 * 0.5 AS x FROM w.orders"
        for number in range(levels):
            source = f"SELECT uid, greatest(x, x, x, x, x, x, x, x) AS x FROM ({source}) q{number}"
        return f"SELECT count(*) FROM ({source}) q WHERE x < 0"

    assert _block(question(2))
    assert "subqueries expanded" in _refused(question(5)).message


@pytest.mark.parametrize(
    "condition",
    [
        " OR ".join(f"'{n}' = ANY(ta)" for n in range(129)),
        f"ia @> ARRAY[{', '.join(map(str, range(129)))}]",
        " AND ".join(f"cardinality(ta) > {n}" for n in range(129)),
    ],
)
def test_memory_of_looks_into_one_row(condition: str) -> None:
    """Each unpacks what is stored."""
    assert _refused(f"SELECT count(*) FROM people WHERE {condition}")
    assert _block("SELECT count(*) FROM people WHERE ia @> ARRAY[1, 2] OR cardinality(ta) > 3")


def test_without_a_price_nothing_is_planned() -> None:
    column = ColumnRef("x", SqlType.INT4)
    with pytest.raises(NotPriced):
        expression_price(column, {}, 1024)
    unknown: Any = object()
    with pytest.raises(NotPriced):
        expression_price(Arithmetic(Operator.ADD, column, unknown, SqlType.INT4), _OF_X, 1024)


_OF_X = {("", "x"): NodePrice(1.0, ResultSize())}


def test_rows_of_two_stores_do_not_multiply() -> None:
    with pytest.raises(UnboundedRows):
        AS_STORED.times(AS_STORED)
    assert RowCount(2).times(AS_STORED) == RowCount(0, 2)


def test_the_size_of_a_product() -> None:
    number = Constant(Fraction("12.345"), SqlType.NUMERIC)
    found = expression_price(
        Arithmetic(Operator.MULTIPLY, number, number, SqlType.NUMERIC), {}, 1024
    )
    assert (found.size.before, found.size.after) == (4, 6)


def test_limits_are_met_in_every_currency() -> None:
    for above in (
        UnitWork(nanoseconds=limits.UNIT_NANOSECONDS + 1),
        UnitWork(octets=limits.UNIT_CARRIED_BYTES + 1),
        UnitWork(stored_nanoseconds=limits.ROW_NANOSECONDS + 1),
        UnitWork(stored_octets=limits.ROW_CARRIED_BYTES + 1),
        UnitWork(nodes=limits.EXPANDED_NODES + 1),
    ):
        with pytest.raises(TooMuchWork):
            work._check_limits(above)
    work._check_limits(UnitWork(nanoseconds=limits.UNIT_NANOSECONDS, nodes=limits.EXPANDED_NODES))


@pytest.mark.parametrize(
    ("expression", "values", "times"),
    [
        (Constant(None, None), None, 1),
        (of_table("r1", "visits", "t"), None, 1),
        (of_table("r1", "visits", "i4"), None, 4),
        (of_table("r1", "visits", "i4"), ("1",), 3),
    ],
)
def test_how_often_a_key_is_said(
    expression: Expression, values: tuple[str, ...] | None, times: int
) -> None:
    key = replace(key_plan("t", values), expression=expression)
    assert work._times_said(key) == times
