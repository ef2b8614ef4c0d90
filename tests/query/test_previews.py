"""Which statements would show a few rows, and have none where their protected tables have none."""

from __future__ import annotations

import pytest

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import by_oid
from proxy.catalog.catalog_model import Column, TableName
from proxy.query.bind.output_columns import result_select
from proxy.query.ir.exposed import Exposed
from proxy.query.statement_reading import Reading, read_statement
from proxy.query.syntax.previews import is_preview
from proxy.query.syntax.selects import selects
from proxy.query.syntax.statements import Names, Statement, look

ORDERS, KINDS = TableName("shop", "orders"), TableName("shop", "kinds")
_NAMES = Names({"orders"}, {"orders", "kinds"})

PREVIEWS = (
    "SELECT * FROM shop.orders LIMIT 100",
    "SELECT * FROM shop.orders FETCH FIRST 5 ROWS ONLY",
    "SELECT * FROM shop.orders ORDER BY id DESC LIMIT 10 OFFSET 20",
    "SELECT o.id, o.quantity * 2 AS twice FROM shop.orders AS o WHERE o.id > 5 LIMIT 1",
    "SELECT * FROM (SELECT id, quantity FROM shop.orders) AS virtual_table LIMIT 1001",
    "SELECT * FROM (SELECT * FROM shop.orders ORDER BY id LIMIT 50) AS t LIMIT 1",
    "WITH recent AS (SELECT * FROM shop.orders WHERE id > 9) SELECT * FROM recent LIMIT 5",
    "SELECT o.id, k.id FROM shop.orders o JOIN shop.kinds k ON k.id = o.id LIMIT 5",
    "SELECT o.id, k.id FROM shop.kinds k JOIN shop.orders o ON k.id = o.id LIMIT 5",
    "SELECT o.id, k.id FROM shop.orders o LEFT JOIN shop.kinds k ON k.id = o.id LIMIT 5",
    "SELECT o.id, k.id FROM shop.kinds k RIGHT JOIN shop.orders o ON k.id = o.id LIMIT 5",
    "SELECT * FROM shop.orders, shop.kinds LIMIT 5",
    "SELECT * FROM (SELECT id FROM orders UNION ALL SELECT quantity FROM orders) t LIMIT 5",
    "SELECT *, row_number() OVER (ORDER BY id) FROM shop.orders LIMIT 5",
    "SELECT * FROM (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) q LIMIT 5",
    "COPY (SELECT * FROM shop.orders LIMIT 5) TO STDOUT",
    "DECLARE c CURSOR FOR SELECT * FROM shop.orders LIMIT 5",
    "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM shop.orders",
    "SELECT row_to_json(x) FROM (SELECT * FROM shop.orders LIMIT 10) x",
    "SELECT to_jsonb(x) AS j FROM (SELECT o.id AS a FROM shop.orders o FETCH FIRST 5 ROWS ONLY) AS x",
    "SELECT *, count(*) OVER () FROM shop.orders LIMIT 10",
    "SELECT id, sum(quantity) FILTER (WHERE id > 3) OVER (PARTITION BY id) AS s FROM shop.orders LIMIT 1",
    "SELECT 1 AS one FROM shop.orders WHERE id > 4 LIMIT 1",
)
# With a row, or a number, though there are no rows of shop.orders; or no query by itself.
OTHERS = (
    "SELECT * FROM shop.orders",
    "SELECT max(id) FROM (SELECT id FROM shop.orders LIMIT 5) t LIMIT 5",
    "SELECT id, (SELECT count(*) FROM shop.orders LIMIT 1) FROM shop.kinds LIMIT 5",
    "SELECT range_agg(int4range(id, id)) FROM shop.orders LIMIT 1",
    "SELECT * FROM shop.kinds k LEFT JOIN shop.orders o ON k.id = o.id LIMIT 5",
    "SELECT * FROM shop.orders o RIGHT JOIN shop.kinds k ON k.id = o.id LIMIT 5",
    "SELECT * FROM shop.orders o FULL JOIN shop.kinds k ON k.id = o.id LIMIT 5",
    "SELECT id FROM shop.orders UNION ALL SELECT id FROM shop.kinds LIMIT 5",
    "SELECT * FROM (SELECT id FROM orders UNION ALL SELECT id FROM kinds) t LIMIT 5",
    "SELECT * FROM (SELECT id FROM orders UNION ALL VALUES (1)) t LIMIT 5",
    "SELECT customer_id, count(*) FROM shop.orders GROUP BY customer_id LIMIT 5",
    "SELECT * FROM (SELECT customer_id FROM orders GROUP BY ROLLUP (customer_id)) q LIMIT 5",
    "SELECT * FROM (SELECT customer_id FROM orders GROUP BY (), customer_id) q LIMIT 5",
    "SELECT 1 FROM shop.orders HAVING true LIMIT 5",
    "SELECT EXISTS (SELECT * FROM shop.orders LIMIT 1)",
    "SELECT 1 WHERE NOT EXISTS (SELECT * FROM shop.orders) LIMIT 1",
    "WITH w AS (INSERT INTO t SELECT id FROM orders RETURNING 1) SELECT * FROM orders LIMIT 5",
    "CREATE TEMP TABLE t AS SELECT * FROM shop.orders LIMIT 5",
    "CREATE TEMP TABLE t AS SELECT * FROM (SELECT * FROM shop.orders LIMIT 5) q",
    "EXPLAIN SELECT * FROM shop.orders LIMIT 5",
    "COPY (SELECT * FROM shop.orders) TO STDOUT",
    "SELECT row_to_json(x) FROM (SELECT * FROM shop.orders) x",
    "SELECT json_agg(x) FROM (SELECT * FROM shop.orders LIMIT 10) x",
    "SELECT count(*) FILTER (WHERE id > 1) FROM shop.orders LIMIT 1",
    "SELECT sum(count(*)) OVER () FROM shop.orders LIMIT 1",
    "DECLARE c CURSOR FOR SELECT max(id) FROM shop.orders",
    "DECLARE c CURSOR FOR SELECT EXISTS (SELECT 1 FROM shop.orders)",
    "SELECT EXISTS (SELECT 1 FROM shop.orders LIMIT 1) LIMIT 1",
    "SELECT (SELECT 1 FROM shop.orders LIMIT 1) IS NOT NULL LIMIT 1",
    "SELECT id FROM shop.kinds WHERE id IN (SELECT id FROM shop.orders LIMIT 5) LIMIT 5",
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM shop.orders) THEN 1 ELSE 0 END LIMIT 1",
    "SELECT id FROM shop.kinds WHERE NOT EXISTS (SELECT 1 FROM shop.orders) LIMIT 1",
)


def _statement(text: str) -> Statement:
    found = look(text, _NAMES)
    assert isinstance(found, Statement), text
    return found


@pytest.mark.parametrize("text", [*PREVIEWS, *OTHERS])
def test_what_is_a_preview(text: str) -> None:
    statement = _statement(text)
    found = selects(statement)
    lexemes = statement.lexed.lexemes
    protected = {
        index
        for index, relation in statement.chains
        if "orders" in (lexemes[index].name, lexemes[min(index + 2, len(lexemes) - 1)].name)
    }
    result = result_select(statement, found)
    assert is_preview(statement, result, found, protected) == (text in PREVIEWS)


def _read(text: str) -> Reading | None:
    columns = {
        name: Column(name=name, type=by_oid(23), type_name="integer", nullable=False)
        for name in ("id", "customer_id", "quantity")
    }
    tables = {
        ORDERS: Exposed(ORDERS, columns, True, "customer_id"),
        KINDS: Exposed(KINDS, {"id": columns["id"]}, False),
    }
    statement = _statement(text)
    resolved = tuple(KINDS if "kinds" in name else ORDERS for name in statement.relations)
    return read_statement(statement, resolved, tables, ())


@pytest.mark.parametrize("text", PREVIEWS)
def test_it_is_of_no_rows_and_has_its_refusal(text: str) -> None:
    """Which of the two a session gets, policy and session say: tests/live/test_previews.py."""
    reading = _read(text)
    assert reading is not None and not reading.query.blocks
    assert reading.preview is not None and reading.preview.table == ORDERS
    assert "pg_dp_empty" in reading.text
    assert reading.preview.refusal.code is Code.RAW_ROWS


@pytest.mark.parametrize(
    "text", ["TABLE shop.orders LIMIT 5", "TABLE orders ORDER BY 1 FETCH FIRST ROW ONLY"]
)
def test_a_whole_table_with_a_limit_is_one(text: str) -> None:
    reading = _read(text)
    assert reading is not None and reading.preview is not None
    assert "pg_dp_empty" in reading.text and " orders " not in reading.text


@pytest.mark.parametrize(
    "text", ["TABLE shop.orders", "COPY shop.orders TO STDOUT", "EXPLAIN TABLE orders"]
)
def test_a_whole_table_without_one_is_none(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        _read(text)
    assert caught.value.code is Code.RAW_ROWS


@pytest.mark.parametrize(
    "text",
    [
        "SELECT quantity, count(*) FROM orders GROUP BY quantity LIMIT 5",
        "SELECT DISTINCT quantity FROM orders LIMIT 5",
    ],
)
def test_what_is_answered_is_answered(text: str) -> None:
    reading = _read(text)
    assert reading is not None and reading.query.blocks and reading.preview is None
