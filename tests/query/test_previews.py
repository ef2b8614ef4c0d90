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
    "COPY (SELECT * FROM shop.orders LIMIT 5) TO STDOUT",
    "DECLARE c CURSOR FOR SELECT * FROM shop.orders LIMIT 5",
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


def _read(text: str, *, empty: bool) -> Reading | None:
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
    return read_statement(statement, resolved, tables, (), empty_previews=empty)


@pytest.mark.parametrize("text", PREVIEWS)
def test_only_where_the_policy_says_so(text: str) -> None:
    reading = _read(text, empty=True)
    assert reading is not None and not reading.query.blocks
    assert reading.preview == ORDERS
    assert "pg_dp_empty" in reading.text
    with pytest.raises(Refusal) as caught:
        _read(text, empty=False)
    assert caught.value.code is Code.RAW_ROWS


@pytest.mark.parametrize(
    "text",
    [
        "SELECT quantity, count(*) FROM orders GROUP BY quantity LIMIT 5",
        "SELECT DISTINCT quantity FROM orders LIMIT 5",
    ],
)
def test_what_is_answered_is_answered(text: str) -> None:
    reading = _read(text, empty=True)
    assert reading is not None and reading.query.blocks and reading.preview is None
