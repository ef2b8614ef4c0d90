"""Candidates for refused statements: what they are made of, that no text makes the corrections raise, and
errors that show a statement as it was asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.base.errors import Refusal
from proxy.base.result_columns import IntervalColumn, IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.query.bind.output_columns import result_select
from proxy.query.corrections import CANDIDATES, CORRECTIONS, corrections
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression
from proxy.query.ir.query import AggregateBlock
from proxy.query.refused_parts import RefusedStatement, UsableColumn
from proxy.query.syntax.selects import Span, selects
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from tests.live.hinted_statements import HINTED
from tests.pipeline_world import read
from tests.planner.test_golden_pipeline import arguments_of, planned_cases

_TABLES = {
    "shop.orders": (
        UsableColumn(name="status", is_listed=True),
        UsableColumn(name="total", is_number=True),
        UsableColumn(name="created_at"),
        UsableColumn(name="customer_id"),
    )
}


def _candidates(sql: str, reason: str, word: str | None = None, hint: str = "") -> list[str]:
    position = None if word is None else sql.index(word) + 1
    refused = RefusedStatement(
        text=sql, reason=reason, hint=hint, position=position, tables=_TABLES
    )
    return list(corrections(refused))


@pytest.mark.parametrize(
    ("sql", "reason", "word", "first"),
    [
        (
            "SELECT sum(total / visits) FROM orders",
            "UNSUPPORTED",
            "total",
            None,  # visits is no column that can be used
        ),
        (
            "SELECT sum(total / customer_id) FROM orders",
            "UNSUPPORTED",
            "total /",
            "SELECT sum(total / nullif(customer_id, 0)) FROM orders",
        ),
        (  # an aggregate of the column stays what it is
            "SELECT x.created_at, max(x.created_at), count(*) FILTER (WHERE x.created_at < now()) FROM orders x"
            " GROUP BY x.created_at ORDER BY x.created_at, min(x.created_at)",
            "NO_BOUNDS",
            "x.created_at ORDER",
            "SELECT date_trunc('month', x.created_at), max(x.created_at), count(*) FILTER (WHERE x.created_at <"
            " now()) FROM orders x GROUP BY date_trunc('month', x.created_at) ORDER BY date_trunc('month',"
            " x.created_at), min(x.created_at)",
        ),
        (
            "SELECT created_at, '  ;' AS x, count(*) FROM orders GROUP BY created_at",
            "NO_BOUNDS",
            "created_at,",
            "SELECT date_trunc('month', created_at), '  ;' AS x, count(*) FROM orders"
            " GROUP BY date_trunc('month', created_at)",
        ),
        (
            "WITH big AS (SELECT * FROM orders WHERE total > 5) SELECT status, total FROM big",
            "RAW_ROWS",
            "SELECT status",
            "WITH big AS (SELECT * FROM orders WHERE total > 5) SELECT status, count(*), avg(total)"
            " FROM big GROUP BY status",
        ),
        (
            "SELECT status, sum(total), avg(total) FROM orders GROUP BY status",
            "INFEASIBLE",
            None,
            "SELECT status, sum(total) FROM orders GROUP BY status",
        ),
        (
            "SELECT status, sum(total), avg(total), max(total) FROM orders GROUP BY status",
            "INFEASIBLE",
            "max",
            "SELECT status, sum(total), avg(total) FROM orders GROUP BY status",
        ),
        (
            "SELECT DISTINCT ON (status) status, total FROM orders ORDER BY status, created_at",
            "RAW_ROWS",
            "DISTINCT",
            "SELECT status, count(*), avg(total) FROM orders GROUP BY status",
        ),
        (
            "SELECT min(o.status) AS least FROM orders o WHERE total > 3",
            "UNSUPPORTED",
            "min",
            "SELECT o.status, count(*) FROM orders o WHERE total > 3 GROUP BY o.status",
        ),
        ("SELECT OrderTotal FROM orders", "42703", "Order", "SELECT total FROM orders"),
        ("SELECT email FROM orders", "42703", "email", None),
        (
            "SELECT avg(Totals) FROM orders",
            "42703",
            "Totals",
            "SELECT avg(total) FROM orders",
        ),
    ],
)
def test_the_first_candidate(sql: str, reason: str, word: str | None, first: str | None) -> None:
    found = _candidates(sql, reason, word)
    assert (found[0] if found else None) == first


_BY_UNIT = "Join on the privacy unit (customer_id of shop.orders = id of shop.customers), or"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            "orders o JOIN customers c ON c.id = o.total WHERE o.total > 5",
            "orders o JOIN customers c ON o.customer_id = c.id WHERE o.total > 5",
        ),
        (
            "shop.orders JOIN shop.customers ON (status = state) GROUP BY status",
            "shop.orders JOIN shop.customers ON orders.customer_id = customers.id GROUP BY status",
        ),
        (
            'orders "O" JOIN products p ON p.id = "O".total LEFT JOIN customers c ON c.id = p.id AND true',
            'orders "O" JOIN products p ON p.id = "O".total LEFT JOIN customers c ON "O".customer_id = c.id',
        ),
        ("orders o, customers c WHERE c.id = o.total", None),
        ("orders o JOIN orders c ON c.total = o.total", None),
        ("orders o JOIN customers c USING (id)", None),
        ("(SELECT * FROM orders) o JOIN customers c ON c.id = o.total", None),
    ],
)
def test_a_join_is_on_the_unit_that_the_hint_names(source: str, found: str | None) -> None:
    sql = "SELECT count(*) FROM "
    expected = [] if found is None else [f"{sql}{found}"]
    assert _candidates(f"{sql}{source}", "UNSUPPORTED", source, _BY_UNIT) == expected


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("explain", "nth"),
    [
        ("EXPLAIN VERBOSE", 3),
        ("EXPLAIN", 1),
        ("EXPLAIN (VERBOSE, COSTS OFF)", 1),
        ("EXPLAIN VERBOSE", 1),
    ],
)
def test_an_explained_statement_gets_an_explained_one(explain: str, nth: int) -> None:
    """Nobody is charged for what they did not ask: each statement and reason, as without EXPLAIN."""
    seen = 0
    texts = ["WITH q AS (SELECT * FROM orders) SELECT status, count(*), total FROM q", *_REFUSED]
    for text in texts[::nth]:
        for reason in CORRECTIONS:
            for place in (None, 1, text.index(" ") + 2, len(text) // 2):
                found = _corrected(text, reason, place)
                shifted = place and place + len(explain) + 1
                assert _corrected(f"{explain} {text}", reason, shifted) == [
                    f"{explain} {one}" for one in found
                ]
                seen += len(found)
    assert seen > 100 / nth


_REFUSED = [one.refused for one in HINTED.values() if one.refused.startswith(("SELECT", "WITH"))]


def _corrected(text: str, reason: str, place: int | None) -> list[str]:
    hint = " ".join(HINTED)
    return list(
        corrections(
            RefusedStatement(text=text, reason=reason, hint=hint, position=place, tables=_TABLES)
        )
    )


@pytest.mark.parametrize(
    ("sql", "reason", "word", "found"),
    [
        (
            "SELECT avg(age(created_at)) FROM orders",
            "FUNCTION",
            "age",
            [
                "SELECT avg(extract(year FROM age(current_date, created_at))) FROM orders",
                "SELECT avg(created_at <= current_date - interval '30 years') FROM orders",
            ],
        ),
        (
            "SELECT avg(age(now(), created_at)) FROM orders",
            "FUNCTION",
            "age",
            [
                "SELECT avg(extract(year FROM age(now(), created_at))) FROM orders",
                "SELECT avg(created_at <= now() - interval '30 years') FROM orders",
            ],
        ),
        ("SELECT avg(justify_days(created_at)) FROM orders", "FUNCTION", "justify", []),
        ("SELECT cuont(*) FROM orders", "42883", "cuont", ["SELECT count(*) FROM orders"]),
        (
            'SELECT count(*) FROM orders WHERE status = "Paid" AND total > 5',
            "42703",
            '"Paid',
            ["SELECT count(*) FROM orders WHERE status = 'Paid' AND total > 5"],
        ),
        ('SELECT "Paid" FROM orders', "42703", '"Paid', []),
        (
            "SELECT date_trunc('hour', created_at), count(*) FROM orders GROUP BY 1",
            "NO_BOUNDS",
            "date_trunc",
            [
                "SELECT date_trunc('day', created_at), count(*) FROM orders GROUP BY 1",
                "SELECT date_trunc('month', created_at), count(*) FROM orders GROUP BY 1",
                "SELECT extract(hour FROM created_at), count(*) FROM orders GROUP BY 1",
                "SELECT floor(created_at), count(*) FROM orders GROUP BY 1",
                "SELECT count(*) FROM orders",
            ],
        ),
    ],
)
def test_a_candidate_means_what_was_asked(
    sql: str, reason: str, word: str, found: list[str]
) -> None:
    """A form of two values is not filled with one twice: age(x, x) is 0."""
    form = "Write extract(year FROM age(later, earlier)) or earlier <= later - interval '30 years', whole years"
    assert _candidates(sql, reason, word, form) == found


def test_as_many_aggregates_as_can_be_answered_are_offered() -> None:
    columns = [f"max({n})" for n in range(7)]
    found = _candidates(f"SELECT {', '.join(columns)} FROM orders", "INFEASIBLE", "max")
    assert found[:3] == [f"SELECT {', '.join(columns[:n])} FROM orders" for n in (6, 3, 1)]


def test_several_statements_are_not_corrected() -> None:
    for sql in ("COMMIT; SELECT * FROM shop.orders", "SELECT * FROM shop.orders; DROP TABLE x"):
        assert _candidates(sql, "RAW_ROWS", "shop") == []


@pytest.mark.every(4)
@pytest.mark.parametrize("part", range(4))
def test_no_text_makes_a_correction_raise(part: int) -> None:
    """Each statement with each reason, and each of its places to blame; and cut off anywhere."""
    hint = " ".join(HINTED)
    for sql in [one.refused for one in HINTED.values()][part::4]:
        for text in (sql, sql[: len(sql) // 2], sql[len(sql) // 3 :]):
            for reason in CORRECTIONS:
                for position in (None, 1, len(text) // 2, len(text), 10**6):
                    refused = RefusedStatement(
                        text=text, reason=reason, hint=hint, position=position, tables=_TABLES
                    )
                    assert len(list(corrections(refused))) <= CANDIDATES


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("customer_id = 5 AND status = 'a'", " WHERE status = 'a'"),
        ("status = 'a' AND customer_id IN (1, 2)", " WHERE status = 'a'"),
        ("customer_id = 5", ""),
        ("status = 'a' OR customer_id = 5", " WHERE status = 'a' OR customer_id = 5"),
        (" AND ".join(f"customer_id = {n}" for n in range(600)), None),
    ],
)
def test_what_leaves_one_unit_is_left_out_whole_or_not_at_all(where: str, left: str | None) -> None:
    tables = {"shop.orders": (UsableColumn(name="customer_id", is_unit=True),)}
    text = f"SELECT * FROM orders WHERE {where}"
    refused = RefusedStatement(text=text, reason="RAW_ROWS", hint="", position=None, tables=tables)
    wanted = [] if left is None else [f"SELECT count(*) FROM orders{left}"]
    assert list(corrections(refused)) == wanted


_PARTS = 4
_OF_ORDERS = "(SELECT 1 FROM orders o WHERE o.uid = m.uid)"
_FORMS = (
    f"SELECT t, count(*) FILTER (WHERE EXISTS {_OF_ORDERS}) FROM members m GROUP BY t",
    f"SELECT t, 2 * count(*) FILTER (WHERE NOT EXISTS {_OF_ORDERS}) FROM members m GROUP BY t",
    f"SELECT sum(CASE WHEN EXISTS {_OF_ORDERS} THEN i4 END) / count(*) FROM members m",
    "SELECT count(*) FILTER (WHERE i4 > (SELECT avg(i4) FROM people)) FROM people",
    "SELECT count(*) FILTER (WHERE t IN (SELECT code FROM places)) FROM people",
    "SELECT avg(i4) FILTER (WHERE i4 IN (SELECT k FROM rates)) + 1 FROM people",
    "SELECT count(*) - (SELECT count(*) FROM people) FROM people",
    "SELECT " + " + ".join(["count(*)"] * 60) + " FROM people",
)


def _items(sql: str, types: tuple[SqlType, ...]) -> Iterator[Span]:
    """Where the expressions of the result's columns stand in the text, by characters."""
    found = read(sql, types)
    assert found is not None
    statement, reading = found
    if not reading.query.blocks or len({*map(_outputs, reading.query.blocks)}) != 1:
        return
    result = result_select(statement, selects(statement))
    if result is None or not reading.query.blocks[0].outputs:
        return
    lexed = statement.lexed
    for span in split_commas(lexed, *result.items):
        first, last = parse_item(lexed, span, {})[2]
        yield lexed.lexemes[first].start, lexed.lexemes[last - 1].end


def _outputs(block: AggregateBlock) -> int:
    return len(block.outputs)


def _asked(sql: str, types: tuple[SqlType, ...], place: int, span: Span) -> NoisyExpression | None:
    """What dp.error() of an item is of, None where it is refused."""
    text = f"{sql[: span[0]]}dp.error({sql[span[0] : span[1]]}){sql[span[1] :]}"
    try:
        found = read(text, types)
    except Refusal:
        return None
    assert found is not None
    block = next(one for one in found[1].query.blocks if one.outputs)
    numbers = [one.number for one in block.intervals if one.end is IntervalEnd.ERROR]
    assert block.outputs[place].reason == ""
    if len(numbers) != 1:
        return None  # which of several is not seen here
    return _numbered(block, IntervalColumn(IntervalEnd.ERROR, numbers[0]))


def _numbered(block: AggregateBlock, column: IntervalColumn) -> NoisyExpression:
    if column.number > len(block.aggregates):
        return block.expressions[column.number - len(block.aggregates) - 1]
    return AnswerOf(column.number, block.aggregates[column.number - 1].type)


@pytest.mark.parametrize("sql", _FORMS)
def test_forms_with_subqueries(sql: str) -> None:
    _check(sql)


@pytest.mark.every(2)
@pytest.mark.parametrize("part", range(_PARTS))
def test_golden_statements(part: int) -> None:
    for case in planned_cases()[part::_PARTS]:
        _check(case.statement, arguments_of(case)[0])


def _check(sql: str, types: tuple[SqlType, ...] = ()) -> None:
    found = read(sql, types)
    assert found is not None
    blocks = [one for one in found[1].query.blocks if one.outputs]
    for place, span in enumerate(_items(sql, types)):
        asked = _asked(sql, types, place, span)
        if asked is not None:
            column = blocks[0].outputs[place]
            is_told = column.expression == asked or "dp.error()" in column.reason
            assert is_told, (column, sql)
