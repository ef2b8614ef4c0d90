"""What reads nothing, by its text alone; and the text that is run on empty twins in its place."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import by_oid
from proxy.catalog.catalog_model import Column, TableName
from proxy.query.ir.exposed import Exposed
from proxy.query.statement_reading import Reading, read_statement
from proxy.query.syntax.probes import reads_nothing, unused_ctes
from proxy.query.syntax.selects import selects
from proxy.query.syntax.statements import Names, Statement, look
from proxy.query.syntax.tokens import lex
from proxy.query.syntax.with_clauses import visible_ctes

ORDERS = TableName("shop", "orders")
_NAMES = Names({"orders"}, {"orders"})


def _statement(text: str) -> Statement:
    found = look(text, _NAMES)
    assert isinstance(found, Statement), text
    return found


def _is_probe(text: str) -> bool:
    statement = _statement(text)
    return reads_nothing(statement, selects(statement), {index for index, _ in statement.chains})


def _read(text: str) -> Reading | None:
    integer = by_oid(23)
    columns = {
        name: Column(name=name, type=integer, type_name="integer", nullable=False)
        for name in ("id", "customer_id", "quantity")
    }
    exposed = Exposed(ORDERS, columns, True, "customer_id")
    statement = _statement(text)
    resolved = tuple(ORDERS for _ in statement.relations)
    return read_statement(statement, resolved, {ORDERS: exposed}, ())


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM shop.orders LIMIT 0",
        "SELECT * FROM shop.orders LIMIT (0) OFFSET 5",
        "SELECT * FROM shop.orders OFFSET 3 LIMIT 00",
        "SELECT * FROM shop.orders ORDER BY id FETCH FIRST 0 ROWS ONLY",
        "SELECT * FROM shop.orders FETCH NEXT (0) ROWS ONLY",
        "SELECT count(*) FROM shop.orders LIMIT -1",
        "SELECT count(*) FROM shop.orders OFFSET -2",
        "SELECT * FROM shop.orders WHERE false",
        "SELECT * FROM shop.orders WHERE 1 = 0 AND id = 3",
        "SELECT * FROM shop.orders WHERE ((1 <> 1))",
        "SELECT * FROM shop.orders WHERE NOT TRUE",
        "SELECT * FROM shop.orders WHERE NULL",
        "SELECT * FROM shop.orders WHERE NULL::boolean",
        "SELECT * FROM shop.orders WHERE 1 = NULL",
        "SELECT count(*) FROM shop.orders WHERE 0 > 1",
        "SELECT count(*) FROM shop.orders HAVING false",
        "SELECT * FROM (SELECT * FROM shop.orders) t LIMIT 0",
        "SELECT * FROM (SELECT * FROM shop.orders LIMIT 0) AS t (a, b)",
        "SELECT count(*) FROM (SELECT * FROM shop.orders WHERE false) t",
        "(SELECT * FROM shop.orders) LIMIT 0",
        "(SELECT * FROM shop.orders LIMIT 0)",
        "SELECT 1 WHERE false UNION ALL SELECT id FROM shop.orders WHERE 1 = 0",
        "(SELECT id FROM shop.orders LIMIT 0) EXCEPT SELECT 1 WHERE false",
        "SELECT 1 UNION SELECT id FROM shop.orders LIMIT 0",
        "WITH x AS (SELECT * FROM shop.orders) SELECT * FROM x LIMIT 0",
        "DECLARE c CURSOR FOR SELECT * FROM shop.orders LIMIT 0",
        "CREATE TEMP TABLE t AS SELECT * FROM shop.orders LIMIT 0",
        "COPY (SELECT * FROM shop.orders LIMIT 0) TO STDOUT",
    ],
)
def test_probes(text: str) -> None:
    assert _is_probe(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM shop.orders LIMIT NULL",
        "SELECT * FROM shop.orders LIMIT ALL",
        "SELECT * FROM shop.orders LIMIT 0 + 1",
        "SELECT * FROM shop.orders LIMIT 0.5",
        "SELECT * FROM shop.orders LIMIT '0'",
        "SELECT * FROM shop.orders LIMIT (SELECT 0)",
        "SELECT * FROM shop.orders LIMIT $1",
        "SELECT * FROM shop.orders LIMIT -0",
        "SELECT * FROM shop.orders OFFSET 0",
        "SELECT * FROM shop.orders FETCH FIRST ROW ONLY",
        "SELECT * FROM shop.orders WHERE false OR id = 1",
        "SELECT * FROM shop.orders WHERE 1 = 0 OR true",
        "SELECT * FROM shop.orders WHERE NOT false",
        "SELECT * FROM shop.orders WHERE NOT id BETWEEN 1 AND NULL",
        "SELECT * FROM shop.orders WHERE CASE WHEN id = 1 AND false THEN false ELSE true END",
        "SELECT * FROM shop.orders WHERE id = NULL",
        "SELECT * FROM shop.orders WHERE 1 = 1",
        "SELECT * FROM shop.orders WHERE false IS NOT TRUE",
        "SELECT * FROM shop.orders WHERE 'a' = 'b'",
        "SELECT 1 WHERE false UNION ALL SELECT count(*) FROM shop.orders",
        "SELECT 1 WHERE false UNION ALL (SELECT count(*) FROM shop.orders WHERE id > 5)",
        "SELECT id FROM shop.orders LIMIT 0 UNION ALL SELECT 1",  # no SQL; not for us to say
        "SELECT count(*), (SELECT count(*) FROM shop.orders) FROM pg_class WHERE false",
        "SELECT count(*) FROM (SELECT 1 WHERE false) t, shop.orders",
        "SELECT count(*) FROM (SELECT 1 WHERE false) t RIGHT JOIN shop.orders ON true",
        "SELECT * FROM (SELECT * FROM shop.orders WHERE false) t FULL JOIN shop.orders o ON true",
        "WITH x AS (INSERT INTO t SELECT id FROM shop.orders RETURNING 1) SELECT * FROM x LIMIT 0",
    ],
)
def test_what_is_not_certain_is_no_probe(text: str) -> None:
    assert not _is_probe(text)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (
            "SELECT * FROM shop.orders LIMIT 0",
            'SELECT * FROM "pg_dp_empty"."shop.orders" AS "orders" LIMIT 0',
        ),
        (
            "SELECT o.id FROM shop.orders o WHERE false",
            'SELECT o.id FROM "pg_dp_empty"."shop.orders" o WHERE false',
        ),
        (
            'SELECT "shop"."orders"."id", shop.orders.* FROM orders WHERE false',
            'SELECT "orders"."id", orders.* FROM "pg_dp_empty"."shop.orders" AS "orders" WHERE false',
        ),
        (
            "SELECT shop.shop.orders.id FROM shop.shop.orders LIMIT 0",
            'SELECT orders.id FROM "pg_dp_empty"."shop.orders" AS "orders" LIMIT 0',
        ),
        (
            "SELECT orders, count(orders) FROM ONLY (shop.orders) GROUP BY orders LIMIT 0",
            'SELECT orders, count(orders) FROM ONLY ("pg_dp_empty"."shop.orders") AS "orders"'
            " GROUP BY orders LIMIT 0",
        ),
        (
            "SELECT 1 FROM shop.orders * LIMIT 0",
            'SELECT 1 FROM "pg_dp_empty"."shop.orders" * AS "orders" LIMIT 0',
        ),
        (
            "SELECT 1 FROM (shop.orders a JOIN orders USING (id)), orders AS c LIMIT 0",
            'SELECT 1 FROM ("pg_dp_empty"."shop.orders" a JOIN "pg_dp_empty"."shop.orders" AS "orders"'
            ' USING (id)), "pg_dp_empty"."shop.orders" AS c LIMIT 0',
        ),
        (
            "SELECT * FROM (SELECT extract(year FROM orders) FROM orders) t LIMIT 0",
            "SELECT * FROM (SELECT extract(year FROM orders) FROM"
            ' "pg_dp_empty"."shop.orders" AS "orders") t LIMIT 0',
        ),
    ],
)
def test_the_twins_take_the_place_of_the_tables(text: str, instead: str) -> None:
    reading = _read(text)
    assert reading is not None
    assert reading.query.blocks == ()
    assert reading.text == instead


@pytest.mark.parametrize(
    "rows",
    [
        "SELECT * FROM shop.orders WHERE id = 5",
        "SELECT total FROM shop.orders",
        "TABLE shop.orders",
        "(TABLE shop.orders)",
        "WITH x AS (SELECT * FROM shop.orders) SELECT * FROM x",
        "SELECT id FROM shop.orders UNION SELECT 1",
    ],
)
@pytest.mark.parametrize(
    "explain", ["EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN VERBOSE", "EXPLAIN (COSTS off, FORMAT json)"]
)
def test_explain_of_rows_is_refused_as_the_rows_are(explain: str, rows: str) -> None:
    """A plan of empty tables would look as if the statement could be run."""
    refusals = []
    for text in (rows, f"{explain} {rows}"):
        with pytest.raises(Refusal, match="rows of the protected table") as caught:
            _read(text)
        refusals.append(caught.value)
    alone, explained = refusals
    assert (explained.code, explained.message, explained.hint) == (
        *(alone.code, alone.message, alone.hint),
    )
    assert alone.position is not None
    assert explained.position == alone.position + len(explain) + 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("WITH x AS (SELECT count(*) FROM orders) SELECT 5", {"x"}),
        ("WITH x AS MATERIALIZED (SELECT count(*) FROM orders) SELECT 5", {"x"}),
        ("WITH x AS (SELECT 1), y AS (SELECT * FROM x) SELECT 5", {"x", "y"}),
        ("WITH x AS (SELECT 1), y (a) AS (SELECT * FROM x) SELECT * FROM y", set()),
        ("WITH x AS (SELECT 1), y AS (SELECT 2) SELECT * FROM x", {"y"}),
        ("WITH x AS (INSERT INTO t SELECT 1 RETURNING 1) SELECT 5", set()),
        ("WITH x AS (SELECT 1) SELECT (SELECT count(*) FROM x)", set()),
        ("WITH RECURSIVE x AS (SELECT 1 UNION SELECT 1 FROM x) SELECT 5", {"x"}),
        ("WITH x AS (WITH y AS (SELECT 1) SELECT * FROM y) SELECT 5", {"x", "y"}),
        ("WITH x AS (WITH y AS (SELECT 1) SELECT 2) SELECT * FROM x", {"y"}),
        ("WITH x AS (WITH y AS (SELECT 1) INSERT INTO t SELECT * FROM y) SELECT 5", set()),
        ("WITH x AS (WITH y AS (SELECT 1) UPDATE t SET n = 1) SELECT 5", {"y"}),
        ("WITH x AS (WITH y AS (DELETE FROM t RETURNING 1) SELECT 1) SELECT 5", set()),
        ("WITH x AS (SELECT 1) SELECT 1 AS x", set()),  # perhaps not a use: counted as one
    ],
)
def test_unused_ctes(text: str, names: set[str]) -> None:
    lexed = lex(text)
    assert lexed is not None
    assert {cte.name for cte in unused_ctes(lexed, visible_ctes(lexed))} == names


def test_nothing_is_run_by_a_cte_that_nobody_uses() -> None:
    assert _read("WITH x AS (SELECT count(*) FROM shop.orders) SELECT 5") is None
    reading = _read(
        "WITH x AS (SELECT count(*) FROM shop.orders), y AS (SELECT count(*) n FROM shop.orders)"
        " SELECT n FROM y"
    )
    assert reading is not None and len(reading.query.blocks) == 1
