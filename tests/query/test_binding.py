"""Binding says what stands in which span and changes nothing: values that are not known yet, parameters,
columns that are unknown, NULL, checked, or of a query around."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import cast

import pytest
from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.engine.policy_statements import PolicyStatements
from proxy.query.bind.outer_joins import NullColumns, adds_nothing, is_null, truths
from proxy.query.bind.statement_binding import bind_statement
from proxy.query.checked_columns import CheckedColumn, checked_columns
from proxy.query.ir import expressions as ir
from proxy.query.ir.bound_statement import (
    AggregateSubquery,
    BoundStatement,
    IntervalValue,
    KeyValue,
    SpanMeaning,
)
from proxy.query.ir.expressions import Comparison, InPublic, Parameter
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query import COMPUTED_AROUND, OutputColumn
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Join, Relation
from proxy.query.rewrite.replacing_aggregates import replace_aggregates
from proxy.query.statement_reading import rewrite_statement
from proxy.query.syntax.parameters import parameters
from proxy.query.syntax.placeholder_tokens import PublicSubquery, of_token, token_text
from proxy.query.syntax.placeholders import ClientParameter, ScalarAnswer
from proxy.query.syntax.selects import selects
from proxy.query.syntax.statements import Statement, look
from proxy.query.syntax.tokens import lex
from proxy.query.unknown_columns import unknown_name_hint, unknown_table_hint
from proxy.servers.engine_adapter import _column_hint
from tests.pipeline_world import EXPOSED, NAMES, read, resolve


def _bound(text: str, types: tuple[SqlType, ...] = ()) -> tuple[Statement, BoundStatement]:
    statement = look(text, NAMES)
    assert isinstance(statement, Statement)
    tables = {
        index: EXPOSED[name]
        for index, relation in statement.chains
        if (name := resolve(statement.relations[relation])) is not None
    }
    bound = bind_statement(statement, selects(statement), tables, types)
    assert bound is not None
    return statement, bound


def _table(statement: Statement, subquery: AggregateSubquery) -> dict[str, SpanMeaning]:
    lexemes = statement.lexed.lexemes
    return {
        statement.text[lexemes[first].start : lexemes[last - 1].end]: meaning
        for (first, last), meaning in subquery.spans.items()
    }


def test_every_span_has_its_meaning() -> None:
    statement, bound = _bound(
        "SELECT t, date_part('year', d), avg(i4) + 1, dp.low(avg(i4)), dp.error(count(*)) "
        "FROM people GROUP BY t, date_part('year', d) HAVING count(*) > 5 ORDER BY t, sum(i4)"
    )
    (subquery,) = bound.subqueries
    found = _table(statement, subquery)
    assert list(found) == [
        *("t", "date_part('year', d)", "avg(i4)", "dp.low(avg(i4))", "dp.error(count(*))"),
        *("count(*)", "sum(i4)"),
    ]
    kinds = [a.kind for a in subquery.block.aggregates]
    assert kinds == [AggregateKind.AVG, AggregateKind.COUNT_ROWS, AggregateKind.SUM]
    assert found["t"] == KeyValue(subquery.block.keys[0])
    assert found["date_part('year', d)"] == KeyValue(subquery.block.keys[1])
    assert found["avg(i4)"] == subquery.block.aggregates[0]
    assert isinstance(found["avg(i4)"], Aggregate)
    assert found["dp.low(avg(i4))"] == IntervalValue(IntervalEnd.LOW, subquery.block.aggregates[0])
    assert {column.name for column in subquery.block.intervals} == {"l1", "e2"}


def test_rewriting_is_a_function_of_the_statement_and_the_tables() -> None:
    statement, bound = _bound("SELECT t AS x, max(i4) FROM people GROUP BY t HAVING count(*) > 2")
    texts = {
        rewrite_statement(
            statement.text, replace_aggregates(statement.lexed, bound.subqueries, 3), 2
        ).text
        for _ in range(2)
    }
    assert texts == {
        'SELECT dp_b1.k1 AS x, dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset('
        "($3)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 integer, a2 bigint) "
        "WHERE dp_b1.a2 > 2"
    }


def test_an_answer_in_a_condition_is_no_text_of_its_own() -> None:
    _, bound = _bound(
        "SELECT count(*) FROM people WHERE i4 > (SELECT avg(i4) FROM people) AND i4 < $1",
        (SqlType.INT4,),
    )
    inner, outer = bound.subqueries
    assert (inner.is_constant, outer.is_constant) == (True, False)
    (scalar,) = bound.scalars
    assert (scalar.answer, scalar.block) == (ScalarAnswer(0), 0)
    where = outer.block.where
    assert where is not None
    sources = [
        part.right.source
        for part in getattr(where, "operands", ())
        if isinstance(part, Comparison) and isinstance(part.right, Parameter)
    ]
    assert sources == [ScalarAnswer(0), ClientParameter(1)]


def test_a_public_list_is_no_parameter() -> None:
    _, bound = _bound("SELECT count(*) FROM people WHERE t IN (SELECT code FROM places)")
    assert isinstance(bound.subqueries[0].block.where, InPublic)


@pytest.mark.parametrize("tag", [ScalarAnswer(0), ScalarAnswer(12), PublicSubquery(0)])
def test_a_token_holds_its_tag(tag: ScalarAnswer | PublicSubquery) -> None:
    assert of_token(token_text(tag)) == tag


@pytest.mark.parametrize(
    "written", ["$65536", "$131070", "@ 'answer 0'", "@ '1'", "@ 'list 0'", "@ E'answer 0'"]
)
def test_nothing_a_client_writes_is_taken_for_an_answer(written: str) -> None:
    """Beside a subquery of which there is an answer. `@` is the absolute value to PostgreSQL."""
    text = f"SELECT count(*) FROM people WHERE i4 > (SELECT avg(i4) FROM people) AND i4 < {written}"
    with pytest.raises(Refusal) as refused:
        read(text, (SqlType.INT4,))
    assert refused.value.code is Code.UNSUPPORTED


_SIDES = "FROM members p1 JOIN orders p2 {} JOIN (orders p3 JOIN members p4 {}) ON p3.uid = p1.uid"


def test_using_within_brackets_is_of_its_own_side() -> None:
    """Written out or not, a join is the same; one within brackets knows nothing of what stands before it."""
    using = _SIDES.format("USING (uid)", "USING (uid)")
    on = _SIDES.format("ON p1.uid = p2.uid", "ON p3.uid = p4.uid")
    assert _unplaced(f"SELECT count(*) {using}") == _unplaced(f"SELECT count(*) {on}")


@pytest.mark.parametrize("where", ["WHERE uid > 3", "GROUP BY uid"])
def test_a_column_that_two_sides_have_made_one_is_ambiguous(where: str) -> None:
    """As in PostgreSQL: neither side's column is taken for the other's."""
    using = _SIDES.format("USING (uid)", "USING (uid)")
    with pytest.raises(Refusal):
        _bound(f"SELECT count(*) {using} {where}")


def _unplaced(text: str) -> Relation:
    """The rows of a statement's only block, but for where it is written."""
    _, bound = _bound(text)
    (subquery,) = bound.subqueries
    return _without_places(subquery.block.source)


def _without_places(relation: Relation) -> Relation:
    match relation:
        case Join():
            equal = tuple(
                (replace(a, position=None), replace(b, position=None)) for a, b in relation.equal
            )
            sides = _without_places(relation.left), _without_places(relation.right)
            return replace(relation, left=sides[0], right=sides[1], equal=equal, position=None)
        case _:
            return relation


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("SELECT 1 FROM t WHERE a IN ($1,$2) AND b IN ($1,$3)", "1213"),
        ("SELECT $1+$2-$3||$4", "1234"),
        ("SELECT $1::text,$2::int", "12"),
        ("SELECT a FROM t WHERE x<$1 AND y>@$2", "12"),
        ("SELECT a$1, b$2$3 FROM t", ""),
        ("SELECT '$1,$2', \"$3,$4\", E'\\'$5,$' FROM t WHERE x=$6", "6"),
        ("SELECT 'it''s $1', $2", "2"),
        ("SELECT $$ $1,$2 $$, $a$ $3 $$ $a$, $4", "4"),
        ("SELECT 1 -- $1,$2\n, $3 /* $4 /* $5 */ $6 */, $7", "37"),
        ("SELECT date'2020-01-01', $1", "1"),
        ("SELECT é$1, $2", "2"),
    ],
)
def test_parameters(text: str, numbers: str) -> None:
    assert "".join(text[start + 1 : end] for start, end in parameters(text)) == numbers
    lexed = lex(text)
    assert lexed is not None
    found = [
        after.token.text
        for before, after in zip(lexed.lexemes, lexed.lexemes[1:], strict=False)
        if before.kind is TokenType.PARAMETER and before.token.text == "$"
    ]
    assert "".join(found) == numbers
    for lexeme in lexed.lexemes:
        if lexeme.word:
            assert text[lexeme.start : lexeme.end].lower() == lexeme.word


@pytest.mark.parametrize(
    "text",
    [
        *("$1 '", "/* $1", "$a$ $1", 'SELECT "$1', "$1 /* /* */ $2"),
        *("$", "a $ ", "$1 + @$\n", "SELECT $ /* 1 */"),  # a dollar sign with nothing after it
    ],
)
def test_texts_that_do_not_end(text: str) -> None:
    """They are PostgreSQL's to judge; to look at them must end, too."""
    list(parameters(text))
    lex(text)


_ALL = "SELECT * FROM dp.columns lists what each can be used for."


def _hint(text: str, message: str) -> str | None:
    statement = look(text, NAMES)
    assert isinstance(statement, Statement)
    return unknown_name_hint(statement, EXPOSED, message)


@pytest.mark.parametrize("alias", ["o", '"Ord"', "orders"])
@pytest.mark.parametrize("table", ["orders", "w.orders"])
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN", ","])
def test_it_names_the_columns_of_the_alias(alias: str, table: str, join: str) -> None:
    on = "WHERE" if join == "," else "ON"
    named = alias.strip('"')
    condition = f"{alias}.uid = m.uid AND {alias}.secret = 1"
    text = f"SELECT count(*) FROM members m {join} {table} {alias} {on} {condition}"
    found = _hint(text, f"column {named}.secret does not exist")
    assert found is not None
    assert found.startswith("Columns of w.orders") and "uid" in found and found.endswith(_ALL)
    assert "w.members" not in found and "secret" not in found
    is_outer = join in ("LEFT JOIN", "FULL JOIN")
    assert (f"WHERE {alias}.uid IS NULL" in found) is is_outer


def test_a_join_with_using() -> None:
    found = _hint(
        "SELECT count(*) FROM members LEFT JOIN orders USING (uid) WHERE orders.x IS NULL",
        "column orders.x does not exist",
    )
    assert found is not None and "WHERE orders.uid IS NULL" in found


def test_a_name_without_its_table_gets_those_of_all() -> None:
    found = _hint(
        "SELECT count(*) FROM members m, orders WHERE secret = 1", 'column "secret" does not exist'
    )
    assert found is not None
    assert "Columns of w.members (m)" in found and "Columns of w.orders that" in found


def test_in_subqueries_and_ctes() -> None:
    found = _hint(
        "WITH q AS (SELECT n.secret FROM notes n) SELECT count(*) FROM q",
        "column n.secret does not exist",
    )
    assert found is not None and "w.notes (n)" in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SELECT count(*) FROM (SELECT t FROM people) q WHERE q.x = 1",
            "column q.x does not exist",
        ),
        ("SELECT count(*) FROM people p, other o", "column o.x does not exist"),
        ("SELECT count(*) FROM people", 'relation "x" does not exist'),
        ("SELECT avg(d) FROM people", "function avg(date) does not exist"),
        ("SELECT nosuchthing(d) FROM people", "function nosuchthing(date) does not exist"),
        ("SELECT t + d FROM people", "operator does not exist: text + date"),
    ],
)
def test_of_other_names_the_message_stays_as_it_is(text: str, message: str) -> None:
    assert _hint(text, message) is None


def test_it_names_the_nearest_table() -> None:
    """Of one name in two schemas that of the schema."""
    for word, name in (("ordes", "w.orders"), ("w.ordes", "w.orders"), ("Oders", "w.orders")):
        found = unknown_table_hint(EXPOSED, f'relation "{word}" does not exist')
        assert found == f"The nearest is {name}. {_ALL}"
    for other in (
        'relation "nosuchthing" does not exist',
        'missing FROM-clause entry for table "orders"',
    ):
        assert unknown_table_hint(EXPOSED, other) is None
    two = [TableName("a", "orders"), TableName("b", "orders"), TableName("c", "orders")]
    for schema in "abc":
        found = unknown_table_hint(two, f'relation "{schema}.order" does not exist')
        assert found == f"The nearest is {schema}.orders. {_ALL}"


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("cuont()", "The nearest is count()."),
        ("nosuch(numeric)", None),
        ("median(numeric)", "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column)."),
        ("year(date)", "Write extract(year FROM column)."),
        ("rond(numeric)", "The nearest is round()."),
    ],
)
def test_it_names_a_function(call: str, hint: str | None) -> None:
    assert _hint("SELECT 1 FROM people", f"function {call} does not exist") == hint


def test_it_names_a_text_in_the_quotes_of_a_name() -> None:
    message = 'column "it\'s" does not exist'
    told = "Write a text in single quotes: 'it''s'. Columns of w.people that can be used: "
    found = _hint('SELECT count(*) FROM people WHERE t = "it\'s"', message)
    assert found is not None and found.startswith(told)
    found = _hint("SELECT count(*) FROM people WHERE nosuch = 1", 'column "nosuch" does not exist')
    assert found is not None and found.startswith("Columns of w.people")


def test_what_the_policy_leaves_out_is_like_what_is_nowhere() -> None:
    text = "SELECT count(o.{0}) FROM members m JOIN orders o ON o.uid = m.uid"
    hints = {
        _hint(text.format(name), f"column o.{name} does not exist") for name in ("id2", "uidd")
    }
    assert len(hints) == 1


@pytest.mark.parametrize(
    "message", ['column "nosuch" does not exist', "column a7.nosuch does not exist"]
)
@pytest.mark.parametrize("clause", [", orders a{}", " JOIN orders a{} USING (uid)"])
def test_a_statement_of_many_tables_has_a_short_hint(message: str, clause: str) -> None:
    """It is made in the midst of PostgreSQL's error: joins inside each other were too deep to be walked."""
    many = "".join(map(clause.format, range(1, 1_000 if "," in clause else 550)))
    found = _hint(f"SELECT nosuch FROM orders a0{many}", message)
    assert found is not None and found.endswith(_ALL)
    assert 500 < len(found) * 10 < 100_000


def test_what_goes_wrong_leaves_the_error_as_it_is() -> None:
    """The relay asks for a hint where nothing may be raised: else the session is lost."""
    statement = look("SELECT nosuch FROM orders", NAMES)
    assert isinstance(statement, Statement)
    broken = cast(PolicyStatements, None)
    assert _column_hint(broken, statement, 'column "nosuch" does not exist') is None


@pytest.mark.parametrize(
    ("condition", "stated"),
    [
        ("((x)::text = 'F'::text)", CheckedColumn(values=("F",))),
        (
            "((x)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))",
            CheckedColumn(values=("a", "b")),
        ),
        ("((x)::numeric >= 0.5)", CheckedColumn(low="0.5")),
    ],
)
def test_casts_that_keep_values(condition: str, stated: CheckedColumn) -> None:
    assert checked_columns((condition,)) == {"x": stated}


@pytest.mark.parametrize(
    "condition",
    [
        "((x)::character varying(1) = 'F')",  # F, and Foo
        "((x)::numeric(3,0) <= 5)",  # 5.4
        "((x)::date = '2024-01-01')",  # any time of that day
        "((x)::integer <= 5)",
    ],
)
def test_casts_that_cut(condition: str) -> None:
    assert checked_columns((condition,)) == {}


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


_WHERE = "WHERE d BETWEEN '2015-01-01' AND '2015-01-24'"
_INNER = f"SELECT d AS day, count(*) AS n, sum(i4) AS total FROM people {_WHERE} GROUP BY d"


def _outer(text: str) -> tuple[OutputColumn, ...]:
    found = read(text)
    assert found is not None
    (block,) = found[1].query.blocks
    assert not block.outputs
    return block.outer_outputs


def _alone(*items: str) -> tuple[OutputColumn, ...]:
    """The same, computed where it is aggregated."""
    found = read(f"SELECT d AS day, {', '.join(items)} FROM people {_WHERE} GROUP BY d")
    assert found is not None
    return found[1].query.blocks[0].outputs[1:]


_FORMS = {
    "n": "count(*) AS n",
    "n AS of_day": "count(*) AS of_day",
    "n * 2 AS x": "count(*) * 2 AS x",
    "total / n AS x": "sum(i4) / count(*) AS x",
    "q.total::numeric / nullif(q.n, 0) AS x": "sum(i4)::numeric / nullif(count(*), 0) AS x",
    "avg(n) OVER (ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS x": (
        "avg(count(*)) OVER (ORDER BY d ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS x"
    ),
    "sum(n) OVER (ORDER BY day ROWS BETWEEN 2 preceding AND 1 following) AS x": (
        "sum(count(*)) OVER (ORDER BY d ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS x"
    ),
    "round(100.0 * (n / lag(n) OVER (ORDER BY day) - 1), 1) AS x": (
        "round(100.0 * (count(*) / lag(count(*)) OVER (ORDER BY d) - 1), 1) AS x"
    ),
    "n * 100.0 / sum(n) OVER () AS x": "count(*) * 100.0 / sum(count(*)) OVER () AS x",
}


def _renumbered(expression: NoisyExpression | None) -> str:
    """Aggregates are numbered in their order in a list, which differs."""
    assert expression is not None
    numbers = dict.fromkeys(re.findall(r"number=\d+", repr(expression)))
    text = repr(expression)
    for place, number in enumerate(numbers):
        text = text.replace(f"{number},", f"number=a{place},")
    return text


_AROUND = (
    f"SELECT day, {{}} FROM ({_INNER}) q",
    f"SELECT day, {{}} FROM ({_INNER}) AS q ORDER BY day LIMIT 5",
    f"WITH q AS ({_INNER}) SELECT day, {{}} FROM q",
    f"WITH m AS ({_INNER}) SELECT day, {{}} FROM m AS q",
)


@pytest.mark.parametrize("around", _AROUND)
@pytest.mark.parametrize("form", _FORMS)
def test_the_error_is_that_of_the_expression_inside(form: str, around: str) -> None:
    day, column = _outer(around.format(form))
    assert day == OutputColumn("day", None)
    (expected,) = _alone(_FORMS[form])
    assert expected.expression is not None
    assert column.name == expected.name and column.reason == ""
    assert _renumbered(column.expression) == _renumbered(expected.expression)


def test_a_star_is_all_columns() -> None:
    assert [one.name for one in _outer(f"SELECT * FROM ({_INNER}) q")] == ["day", "n", "total"]
    assert [one.name for one in _outer(f"SELECT q.*, n + 1 AS m FROM ({_INNER}) q")][3:] == ["m"]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT sum(n) FROM ({_INNER}) q",
        f"SELECT n || ' rows' FROM ({_INNER}) q",
        f"SELECT n + (SELECT 1) FROM ({_INNER}) q",
        f"SELECT avg(n) OVER () FROM ({_INNER}) q WHERE n > 3",
        f"SELECT avg(n) OVER () FROM ({_INNER} HAVING count(*) > 3) q",
        f"SELECT avg(n) OVER () FROM ({_INNER} ORDER BY n LIMIT 3) q",
        f"SELECT max(n) OVER () FROM ({_INNER}) q",
    ],
)
def test_of_other_expressions_it_is_not_known(text: str) -> None:
    (column,) = _outer(text)
    assert column == OutputColumn(column.name, None, COMPUTED_AROUND)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT day, sum(n) FROM ({_INNER}) q GROUP BY day",
        f"SELECT DISTINCT n FROM ({_INNER}) q",
        f"SELECT n FROM ({_INNER}) q, regions",
        f"SELECT n FROM ({_INNER}) q (a, b, c), generate_series(1, 2)",
        f"WITH m AS ({_INNER}) SELECT n FROM m JOIN m k USING (day)",
        f"WITH m (a, n, c) AS ({_INNER}) SELECT n FROM m",
        f"SELECT n FROM (SELECT n FROM ({_INNER}) q) r",
        f"SELECT n FROM ({_INNER}) q UNION ALL SELECT 1",
    ],
)
def test_other_rows_have_no_columns_here(text: str) -> None:
    assert _outer(text) == ()
