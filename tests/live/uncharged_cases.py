"""Statements that PostgreSQL refuses anyway, or that need no answer: none of them is charged."""

from __future__ import annotations

from dataclasses import dataclass

ORDERS = "count(*) FROM shop.orders"


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    statement: str
    before: tuple[str, ...] = ()
    sqlstate: str | None = None  # None: no error, and nothing to charge
    is_own: bool = True  # PostgreSQL says the same of the statement without the proxy


_EXISTS = ("CREATE TEMP TABLE there (a int)",)
CASES = [
    Case("ctas_no_right", f"CREATE TABLE public.x AS SELECT {ORDERS}", (), "42501"),
    Case("ctas_no_schema", f"CREATE TABLE nowhere.x AS SELECT {ORDERS}", (), "3F000"),
    Case("ctas_exists", f"CREATE TEMP TABLE there AS SELECT {ORDERS}", _EXISTS, "42P07"),
    Case(
        "ctas_if_not_exists", f"CREATE TEMP TABLE IF NOT EXISTS there AS SELECT {ORDERS}", _EXISTS
    ),
    Case("ctas_columns", f"CREATE TEMP TABLE y (a, b) AS SELECT {ORDERS}", (), "42601"),
    Case("ctas_same_column", f"CREATE TEMP TABLE y AS SELECT count(*), {ORDERS}", (), "42701"),
    Case("ctas_option", f"CREATE TEMP TABLE y WITH (odd = 1) AS SELECT {ORDERS}", (), "22023"),
    Case(
        "ctas_read_only", f"CREATE TEMP TABLE y AS SELECT {ORDERS}", ("BEGIN READ ONLY",), "25006"
    ),
    Case(
        "ctas_made_read_only",
        f"CREATE TEMP TABLE y AS SELECT {ORDERS}",
        ("BEGIN", "SET TRANSACTION READ ONLY"),
        "25006",
    ),
    Case("into_no_right", "SELECT count(*) INTO public.x FROM shop.orders", (), "42501"),
    Case("into_exists", "SELECT count(*) INTO TEMP TABLE there FROM shop.orders", _EXISTS, "42P07"),
    Case(
        "into_read_only",
        "SELECT count(*) INTO TEMP y FROM shop.orders",
        ("BEGIN READ ONLY",),
        "25006",
    ),
    Case("view", f"CREATE VIEW public.v AS SELECT {ORDERS}", (), "42501"),
    Case(
        "matview",
        f"CREATE MATERIALIZED VIEW public.v AS SELECT {ORDERS}",
        (),
        "42501",
        is_own=False,
    ),
    Case("declare_outside", f"DECLARE c CURSOR FOR SELECT {ORDERS}", (), "25P01"),
    Case(
        "declare_exists",
        f"DECLARE c CURSOR FOR SELECT {ORDERS}",
        ("BEGIN", "DECLARE c CURSOR FOR SELECT 1"),
        "42P03",
    ),
    Case(
        "declare_hold_exists",
        f"DECLARE c CURSOR WITH HOLD FOR SELECT {ORDERS}",
        ("DECLARE c CURSOR WITH HOLD FOR SELECT 1",),
        "42P03",
    ),
    Case("copy_to_file", f"COPY (SELECT {ORDERS}) TO '/tmp/x'", (), "42501"),
    Case("copy_to_program", f"COPY (SELECT {ORDERS}) TO PROGRAM 'id'", (), "42501"),
    Case("copy_option", f"COPY (SELECT {ORDERS}) TO STDOUT (FORMAT odd)", (), "22023"),
    Case(
        "copy_column",
        f"COPY (SELECT {ORDERS}) TO STDOUT (FORMAT csv, FORCE_QUOTE (x))",
        (),
        "42703",
    ),
    Case("copy_limit", f"COPY (SELECT {ORDERS} LIMIT -1) TO STDOUT", (), "2201W"),
    Case("insert_no_right", f"INSERT INTO shop.products SELECT {ORDERS}", (), "42501"),
    Case("insert_columns", f"INSERT INTO there SELECT 1, {ORDERS}", _EXISTS, "42601"),
    Case("insert_column", f"INSERT INTO there (b) SELECT {ORDERS}", _EXISTS, "42703"),
    Case(
        "insert_type",
        "INSERT INTO there SELECT 'x'::text FROM (SELECT count(*) FROM shop.orders) q",
        _EXISTS,
        "42804",
    ),
    Case(
        "explain_analyze_ctas",
        f"EXPLAIN ANALYZE CREATE TEMP TABLE y AS SELECT {ORDERS}",
        is_own=False,
    ),
    Case("explain_analyze", f"EXPLAIN ANALYZE SELECT {ORDERS}", is_own=False),
    Case(
        "execute_number",
        "EXECUTE q(1, 2)",
        (f"PREPARE q (int) AS SELECT {ORDERS} WHERE quantity > $1",),
        "42601",
    ),
    Case(
        "execute_type",
        "EXECUTE q('x')",
        (f"PREPARE q (int) AS SELECT {ORDERS} WHERE quantity > $1",),
        "22P02",
        is_own=True,
    ),
    Case(
        "execute_limit", "EXECUTE q(-1)", (f"PREPARE q (int) AS SELECT {ORDERS} LIMIT $1",), "2201W"
    ),
    Case(
        "ctas_execute",
        "CREATE TABLE public.x AS EXECUTE q",
        (f"PREPARE q AS SELECT {ORDERS}",),
        "0A000",
        is_own=False,
    ),
    Case(
        "explain_execute",
        "EXPLAIN ANALYZE EXECUTE q",
        (f"PREPARE q AS SELECT {ORDERS}",),
        "0A000",
        is_own=False,
    ),
    Case("limit", f"SELECT {ORDERS} LIMIT -1", (), "2201W"),
    Case("limit_expression", f"SELECT {ORDERS} LIMIT (3 - 5)::bigint", (), "2201W"),
    Case("limit_zero_division", f"SELECT {ORDERS} LIMIT 1/0", (), "22012"),
    Case("limit_inside", f"SELECT * FROM (SELECT {ORDERS} LIMIT -1) q", (), "2201W"),
    Case("limit_query", f"SELECT {ORDERS} LIMIT (SELECT -1)", (), "2201W"),
    Case("limit_query_none", f"SELECT {ORDERS} LIMIT (SELECT 0)"),
    Case("offset_query", f"SELECT {ORDERS} OFFSET ((SELECT 2 - 3))", (), "2201X"),
    Case("ntile", "SELECT ntile(0) OVER (), count(*) FROM shop.orders", (), "22014"),
    Case(
        "ntile_of_sum", "SELECT ntile(2 - 3) OVER (ORDER BY count(*)) FROM shop.orders", (), "22014"
    ),
    Case(
        "nth_value", "SELECT nth_value(count(*), 0) OVER () FROM shop.orders LIMIT 5", (), "22016"
    ),
    Case("frame", "SELECT sum(count(*)) OVER (ROWS -1 PRECEDING) FROM shop.orders", (), "22013"),
    Case(
        "frame_between",
        "SELECT sum(count(*)) OVER (ROWS BETWEEN -1 PRECEDING AND CURRENT ROW) FROM shop.orders",
        (),
        "22013",
    ),
    Case(
        "frame_end",
        "SELECT sum(count(*)) OVER (ORDER BY count(*) GROUPS BETWEEN 1 PRECEDING AND (-1) FOLLOWING)"
        " FROM shop.orders",
        (),
        "22013",
    ),
    Case("window_clause", f"SELECT ntile(0) OVER w, {ORDERS} WINDOW w AS ()", (), "22014"),
    Case("series", "SELECT count(*), generate_series(1, 9, 0) FROM shop.orders", (), "22023"),
    Case("to_date", "SELECT count(*), to_date('x', 'YYYY') FROM shop.orders", (), "22007"),
    Case(
        "to_timestamp", "SELECT count(*), to_timestamp('x', 'YYYY') FROM shop.orders", (), "22007"
    ),
    Case("limit_none", f"SELECT {ORDERS} LIMIT 5 - 5"),
    Case("limit_zero", f"SELECT {ORDERS} LIMIT '0'"),
    Case("offset", f"SELECT {ORDERS} OFFSET -1", (), "2201X"),
    Case("offset_rows", f"SELECT {ORDERS} OFFSET -1 ROWS", (), "2201X"),
    Case("fetch", f"SELECT {ORDERS} FETCH FIRST -1 ROWS ONLY", (), "2201W"),
    Case("fetch_none", f"SELECT {ORDERS} FETCH FIRST 0 ROWS ONLY"),
    Case("having_false", f"SELECT {ORDERS} HAVING false"),
    Case("having_never", f"SELECT {ORDERS} HAVING 1 = 2"),
    Case("unused_cte", f"WITH q AS (SELECT {ORDERS}) SELECT 1"),
    Case("ctas_having_false", f"CREATE TEMP TABLE y AS SELECT {ORDERS} HAVING false"),
    Case("divided_by_zero", "SELECT 1/0, count(*) FROM shop.orders", (), "22012"),
    Case("answer_by_zero", "SELECT count(*) / 0 FROM shop.orders", (), "22012", is_own=False),
    Case(
        "answer_modulo_zero",
        "SELECT sum(quantity) % 0.0 FROM shop.orders",
        (),
        "22012",
        is_own=False,
    ),
    Case("no_right_of_function", f"SELECT pg_read_file('x'), {ORDERS}", (), "42501"),
    Case("unknown_function", f"SELECT nosuch(), {ORDERS}", (), "42883"),
    Case(
        "no_right_of_table",
        "SELECT count(*), (SELECT 1 FROM pg_authid LIMIT 1) FROM shop.orders",
        (),
        "42501",
    ),
    Case("failed", f"SELECT {ORDERS}", ("BEGIN", "SELECT 1/0"), "25P02"),
]
