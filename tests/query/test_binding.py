"""Binding says what stands in which span and changes nothing; values that are not known yet are tagged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.query.bind.statement_binding import bind_statement
from proxy.query.ir.bound_statement import (
    AggregateSubquery,
    BoundStatement,
    IntervalValue,
    KeyValue,
    SpanMeaning,
)
from proxy.query.ir.expressions import Comparison, InPublic, Parameter
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Join, Relation
from proxy.query.rewrite.replacing_aggregates import replace_aggregates
from proxy.query.statement_reading import rewrite_statement
from proxy.query.syntax.placeholders import (
    ClientParameter,
    PublicSubquery,
    ScalarAnswer,
    of_token,
    token_text,
)
from proxy.query.syntax.selects import selects
from proxy.query.syntax.statements import Statement, look
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
