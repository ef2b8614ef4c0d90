"""Statements whose outer query fails whatever the rows and the noise are, and statements that may succeed."""

from __future__ import annotations

from dataclasses import dataclass

_FROM = "FROM shop.orders"
_GROUPS = "FROM shop.orders GROUP BY status"


@dataclass(frozen=True, slots=True)
class CertainError:
    """statement: fails with sqlstate, after the statements of `before`. parameters: of an extended query."""

    name: str
    statement: str
    sqlstate: str
    before: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    is_binary: bool = False  # the results of an extended query

    @property
    def is_for_http(self) -> bool:
        return (
            not self.before and not self.is_binary and self.statement.startswith(("SELECT", "WITH"))
        )


def _items(name: str, items: str, sqlstate: str, source: str = _FROM) -> CertainError:
    return CertainError(name, f"SELECT {items} {source}", sqlstate)


_FUNCTIONS = [
    _items("width_bucket", "width_bucket(count(*), 1, 1, 0)", "2201G"),
    _items("repeat", "repeat('x', 2*1000*1000*1000 + count(*)::int % 2), count(*)", "54000"),
    _items("json_null_key", "json_build_object(NULL, count(*))", "22004"),
    _items("json_odd", "json_build_object('a', count(*), 'b')", "22023"),
    _items("format", "format('%s %s', count(*))", "22023"),
    _items("format_specifier", "format('%y', count(*))", "22023"),
    _items("regexp_replace", "regexp_replace(count(*)::text, '(', '')", "2201B"),
    _items("regexp_flags", "regexp_replace(count(*)::text, 'a', 'b', 'zz')", "22023"),
    _items("regexp_match", "count(*)::text ~ '['", "2201B"),
    _items("make_date", "make_date(count(*)::int, 13, 1)", "22008"),
    _items("make_time", "make_time(25, 0, sum(quantity))", "22008"),
    _items("text_to_int", "(count(*) || 'x')::int", "22P02"),
    _items("text_to_date", "('day ' || count(*))::date", "22007"),
    _items("text_to_interval", "(count(*) || ' parsecs')::interval", "22007"),
    _items("text_to_uuid", "count(*)::text::uuid", "22P02"),
    _items("text_to_inet", "('x' || count(*))::inet", "22P02"),
    _items("json_cast", "(count(*) || '{')::json", "22P02"),
    _items("jsonb_path", "jsonb_path_query(to_jsonb(count(*)), 'strict $.a')", "2203A"),
    _items(
        "jsonb_path_syntax",
        "to_jsonb(count(*)) @? ('$[' || left(count(*)::text, 0))::jsonpath",
        "42601",
    ),
    _items("jsonb_set_path", "jsonb_set(to_jsonb(count(*)), '{a}', '1')", "22023"),
    _items("jsonb_array", "jsonb_array_length(to_jsonb(count(*)))", "22023"),
    _items("substring", "substring(count(*)::text, 1, -1)", "22011"),
    _items("like_escape", "count(*)::text LIKE 'a' ESCAPE 'ab'", "22025"),
    _items("overlay", "overlay(count(*)::text PLACING 'x' FROM 0)", "22011"),
    _items("split_part", "split_part(count(*)::text, ',', 0)", "22023"),
    _items("date_trunc", "date_trunc('eon', now() + make_interval(secs => count(*)))", "22023"),
    _items(
        "date_bin",
        "date_bin('0 days', now() + make_interval(secs => count(*)), '2020-01-01')",
        "22008",
    ),
    _items("extract", "extract(eon FROM now() + make_interval(secs => count(*)))", "22023"),
    _items(
        "time_zone",
        "(now() + make_interval(secs => count(*))) AT TIME ZONE 'Mars/Olympus'",
        "22023",
    ),
    _items("decode", "decode(count(*) || 'xx', 'hex')", "22023"),
    _items("decode_format", "decode(count(*)::text, 'hexx')", "22023"),
    _items("encode_format", "encode(count(*)::text::bytea, 'hexx')", "22023"),
    _items("convert_to", "convert_to(count(*)::text, 'klingon')", "22023"),
    _items("to_char", "to_char(count(*), '9.9.9')", "42601"),
    _items("to_date", "to_date(count(*) || '-x', 'YYYY-MM')", "22007"),
    _items("string_to_array", "(string_to_array(count(*)::text || ',x', ','))::int[]", "22P02"),
    _items("array_bounds", "array_fill(count(*), ARRAY[-1])", "54000"),
    _items("array_dimensions", "array_fill(count(*), ARRAY[NULL::int])", "22004"),
    _items("array_cat", "ARRAY[count(*)] || ARRAY[[ARRAY[count(*)]]]", "2202E"),
    _items("array_literal", "('{' || count(*))::int[]", "22P02"),
    _items("range_bounds", "int8range(count(*), count(*) - 1)", "22000"),
    _items("range_flags", "int8range(count(*), count(*) + 1, 'xx')", "42601"),
    _items("series_step", "count(*), generate_series(1, count(*), 0)", "22023"),
    _items("division", "mod(count(*), count(*) - count(*))", "22012"),
    _items("square_root", "sqrt(-1 - abs(count(*)))", "2201F"),
    _items("logarithm", "ln(0 * count(*))", "2201E"),
    _items("overflow", "count(*)::smallint * 0 + 40000::bigint::smallint", "22003"),
    _items("bit_length", "count(*)::bit(8) & B'1'", "22026"),
    _items("set_config", "set_config('work_mem', count(*) || 'x', true)", "22023"),
    _items("set_config_unknown", "set_config('no such', count(*)::text, true)", "42704"),
    _items("enum_of_nothing", "pg_size_bytes(count(*) || ' parsec')", "22023"),
    _items("scalar_of_many", "count(*), (SELECT id FROM shop.products)", "21000"),
    _items("scalar_division", "count(*), (SELECT count(*) / 0 FROM shop.products)", "22012"),
    _items("ntile", "ntile((count(*) * 0)::int) OVER (ORDER BY count(*))", "22014", _GROUPS),
    _items("nth_value", "nth_value(count(*), (count(*) * 0)::int) OVER ()", "22016", _GROUPS),
    _items("label_to_date", "status::date, count(*)", "22007", _GROUPS),
    _items("label_to_number", "status::int + 1, count(*)", "22P02", _GROUPS),
    _items(
        "percentile",
        "count(*), (SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY price) FROM shop.products)",
        "22003",
    ),
    _items("having", f"count(*) {_FROM} HAVING width_bucket(count(*), 1, 1, 0) > 0", "2201G", ""),
    _items("order", f"count(*) {_GROUPS} ORDER BY width_bucket(count(*), 1, 1, 0)", "2201G", ""),
]

_QUERIES = [
    CertainError(
        "union",
        f"SELECT count(*) {_FROM} UNION ALL SELECT id / (id - id) FROM shop.products",
        "22012",
    ),
    CertainError(
        "cte_of_many",
        f"WITH x AS (SELECT status AS s, count(*) AS n {_GROUPS}) SELECT (SELECT n FROM x) FROM shop.products",
        "21000",
    ),
    CertainError(
        "nested", f"SELECT * FROM (SELECT count(*) AS n {_FROM}) q WHERE mod(n, n - n) = 1", "22012"
    ),
    CertainError(
        "limit", f"SELECT count(*) {_FROM} LIMIT (SELECT -min(id) FROM shop.products)", "2201W"
    ),
    CertainError(
        "offset", f"SELECT count(*) {_FROM} OFFSET (SELECT -min(id) FROM shop.products)", "2201X"
    ),
    CertainError(
        "recursive",
        f"WITH RECURSIVE r(i, n) AS (SELECT 1, count(*) {_FROM} UNION ALL"
        " SELECT i + 1, mod(1, 2 - i) FROM r WHERE i < 5) SELECT * FROM r",
        "22012",
    ),
    CertainError(
        "join",
        f"SELECT mod(p.id, p.id - p.id), n FROM shop.products p, (SELECT count(*) AS n {_FROM}) q",
        "22012",
    ),
    CertainError(
        "join_of_groups",
        f"SELECT make_date(p.id, 13, n::int) FROM shop.products p JOIN (SELECT product_id,"
        f" count(*) AS n {_FROM} GROUP BY product_id) q ON q.product_id = p.id",
        "22008",
    ),
    CertainError(
        "parameter", f"SELECT width_bucket(count(*), 1, 1, $1::int) {_FROM}", "2201G", (), ("0",)
    ),
    CertainError(
        "parameter_pattern",
        f"SELECT regexp_replace(count(*)::text, $1, $2) {_FROM}",
        "2201B",
        (),
        ("(", ""),
    ),
]

_MADE = [
    CertainError(
        "encoding",
        f"SELECT U&'\\4e2d', count(*) {_FROM}",
        "22P05",
        ("SET client_encoding = LATIN1",),
    ),
    CertainError(
        "table", f"CREATE TEMP TABLE y AS SELECT make_date(count(*)::int, 13, 1) {_FROM}", "22008"
    ),
    CertainError("into", f"SELECT make_date(count(*)::int, 13, 1) INTO TEMP y {_FROM}", "22008"),
    CertainError(
        "copy", f"COPY (SELECT make_date(count(*)::int, 13, 1) {_FROM}) TO STDOUT", "22008"
    ),
    CertainError(
        "cursor_with_hold",
        f"DECLARE c CURSOR WITH HOLD FOR SELECT make_date(count(*)::int, 13, 1) {_FROM}",
        "22008",
    ),
    CertainError(
        "execute",
        "EXECUTE q(0)",
        "2201G",
        (f"PREPARE q(int) AS SELECT width_bucket(count(*), 1, 1, $1) {_FROM}",),
    ),
    CertainError(
        "execute_alone",
        "EXECUTE q",
        "22008",
        (f"PREPARE q AS SELECT make_date(count(*)::int, 13, 1) {_FROM}",),
    ),
    CertainError(
        "in_block", f"SELECT make_date(count(*)::int, 13, 1) {_FROM}", "22008", ("BEGIN",)
    ),
    CertainError(
        "read_only",
        f"SELECT make_date(count(*)::int, 13, 1) {_FROM}",
        "22008",
        ("BEGIN READ ONLY",),
    ),
    CertainError(
        "quoted_identifiers",
        f"SELECT make_date(count(*)::int, 13, 1) {_FROM}",
        "22008",
        ("SET quote_all_identifiers = on", "SET search_path = shop, pg_temp"),
    ),
    CertainError(
        "insert_check",
        f"INSERT INTO k SELECT 1 + abs(count(*)) {_FROM}",
        "23514",
        ("CREATE TEMP TABLE k (a bigint CHECK (a < 0))",),
    ),
    CertainError(
        "insert_unique",
        f"INSERT INTO k SELECT -5 + 0 * count(*) {_FROM}",
        "23505",
        ("CREATE TEMP TABLE k (a bigint PRIMARY KEY)", "INSERT INTO k VALUES (-5)"),
    ),
    CertainError(
        "insert_not_null",
        f"INSERT INTO k SELECT status, nullif(count(*), count(*)) {_GROUPS}",
        "23502",
        ("CREATE TEMP TABLE k (a text, b bigint NOT NULL)",),
    ),
    CertainError(
        "insert_length",
        f"INSERT INTO k SELECT count(*) || 'xx' {_FROM}",
        "22001",
        ("CREATE TEMP TABLE k (a varchar(1))",),
    ),
    CertainError(
        "insert_range",
        f"INSERT INTO k SELECT 40000 + abs(count(*)) {_FROM}",
        "22003",
        ("CREATE TEMP TABLE k (a smallint)",),
    ),
    CertainError(
        "insert_from_cte",
        f"WITH q AS (SELECT count(*) AS n {_FROM}) INSERT INTO k SELECT 40000 + abs(n) FROM q",
        "22003",
        ("CREATE TEMP TABLE k (a smallint)",),
    ),
]

_KEY = "CREATE TEMP TABLE k (a bigint {more})"
_FIVE = "SELECT 5 + 0 * count(*)"


def _inserted(
    name: str, sqlstate: str, more: str, *before: str, items: str = _FIVE
) -> CertainError:
    tables = (*before, _KEY.format(more=more))
    return CertainError(name, f"INSERT INTO k (a) {items} {_FROM}", sqlstate, tables)


_HELD = "CREATE TEMP TABLE p (a bigint PRIMARY KEY)"
_AFTER = [
    CertainError(
        f"deferred_{name}",
        f"INSERT INTO k (a) {_FIVE} {_FROM}",
        sqlstate,
        (_HELD, _KEY.format(more=more), "INSERT INTO p VALUES (5), (6)", filled),
    )
    for name, sqlstate, more, filled in (
        (
            "primary",
            "23505",
            "PRIMARY KEY DEFERRABLE INITIALLY DEFERRED",
            "INSERT INTO k VALUES (5)",
        ),
        ("unique", "23505", "UNIQUE DEFERRABLE INITIALLY DEFERRED", "INSERT INTO k VALUES (5)"),
        (
            "reference",
            "23503",
            "REFERENCES p DEFERRABLE INITIALLY DEFERRED",
            "DELETE FROM p WHERE a = 5",
        ),
        (
            "exclusion",
            "23P01",
            ", EXCLUDE (a WITH =) DEFERRABLE INITIALLY DEFERRED",
            "INSERT INTO k VALUES (5)",
        ),
    )
]
_TABLES = [
    _inserted("reference", "23503", "REFERENCES p", _HELD),
    _inserted("deferrable", "23503", "REFERENCES p DEFERRABLE", _HELD),
    _inserted("generated", "22012", ", b bigint GENERATED ALWAYS AS (a / (a - a)) STORED"),
    _inserted("beside_default", "23514", "CHECK (a < 0), b int DEFAULT 1"),
    _inserted("beside_clock", "23514", "CHECK (a < 0), b timestamptz DEFAULT clock_timestamp()"),
    _inserted("beside_now", "23514", "CHECK (a < 0), b timestamptz DEFAULT now()"),
    _inserted("default", "22012", ", b int DEFAULT 1 / (length('a') - 1)"),
    _inserted(
        "beside_domain",
        "23514",
        "CHECK (a < 0)",
        "CREATE DOMAIN pg_temp.d AS int CHECK (VALUE > 0)",
    ),
    CertainError(
        "domain",
        f"SELECT (-1 - abs(count(*)))::pg_temp.d {_FROM}",
        "23514",
        ("CREATE DOMAIN pg_temp.d AS bigint CHECK (VALUE > 0)",),
    ),
]
_ITEM = "'=r/postgres'::aclitem"
_SENT = [
    CertainError(f"sent_{name}", f"SELECT {item}, count(*) {_FROM}", sqlstate, (), (), True)
    for name, item, sqlstate in (
        ("record", f"row(1, {_ITEM})", "42883"),
        ("array", f"array[{_ITEM}]", "42883"),
        ("array_of_records", f"array[row(1, array[{_ITEM}])]", "42883"),
    )
]
_COPIED = [
    CertainError(f"copy_{name}", f"COPY (SELECT {items} {_FROM}) TO STDOUT {options}", sqlstate)
    for name, items, options, sqlstate in (
        ("encoding", "U&'\\4e2d', count(*)", "(ENCODING 'LATIN1')", "22P05"),
        (
            "encoding_and_format",
            "U&'\\4e2d', count(*)",
            "WITH (FORMAT csv, encoding latin1)",
            "22P05",
        ),
        ("old_encoding", "U&'\\4e2d', count(*)", "WITH ENCODING 'iso-8859-1'", "22P05"),
        ("binary", f"row({_ITEM}), count(*)", "(FORMAT binary)", "42883"),
        ("binary_array", f"array[{_ITEM}], count(*)", "(FORMAT 'binary')", "42883"),
    )
]
_LARGE = [
    _items("large_row", "repeat('x', 30 * 1000 * 1000), count(*)", "53200"),
    _items(
        "large_aggregate",
        "(SELECT string_agg(repeat('x', 1000000), '') FROM generate_series(1, 2000)), count(*)",
        "53200",
    ),
]

CERTAIN_ERRORS = [
    *_FUNCTIONS,
    *_QUERIES,
    *_MADE,
    *_AFTER,
    *_TABLES,
    *_SENT,
    *_COPIED,
    *_LARGE,
]

# They may succeed, whatever comes of them with this draw of the noise.
POSSIBLE = [
    f"SELECT 1 / count(*) {_FROM}",
    f"SELECT 1 / (count(*) - 1000) {_FROM}",
    f"SELECT sqrt(count(*) - 5) {_FROM}",
    f"SELECT sqrt(5 - count(*)), count(*) {_FROM}",
    f"SELECT (count(*) / 10)::smallint {_FROM}",
    f"SELECT count(*)::smallint {_FROM}",
    f"SELECT count(*)::numeric(2, 1) {_FROM}",
    f"SELECT exp(count(*)) {_FROM}",
    f"SELECT substr(status, 1, 3), substr(status, count(*)::int) {_GROUPS}",
    f"SELECT substring(status, 1, (count(*) / 1000)::int) {_GROUPS}",
    f"SELECT left(status, 2), count(*) {_GROUPS} HAVING 100 / count(*) > 2",
    f"SELECT make_date(2020, (count(*) / 10000)::int, 1) {_FROM}",
    f"SELECT make_date(2020, 1, (count(*) / 3000)::int) {_FROM}",
    f"SELECT make_date(2020 + (avg(quantity))::int, 1, 1) {_FROM}",
    f"SELECT make_time(0, 0, avg(quantity)::float8) {_FROM}",
    f"SELECT sqrt((20 - avg(quantity)) * (avg(quantity) - 1)) {_FROM}",
    f"SELECT ln((avg(quantity) - 1) / (20 - avg(quantity))) {_FROM}",
    f"SELECT acos(avg(total) / 500) {_FROM}",
    f"SELECT sum(total) / (count(*) - count(DISTINCT product_id)) {_FROM}",
    f"SELECT sqrt(count(*) - count(DISTINCT product_id)) {_FROM}",
    f"SELECT sqrt(count(DISTINCT product_id) - count(*)) {_FROM}",
    f"SELECT width_bucket(avg(total), sum(total) / 1000000, sum(total), 5) {_FROM}",
    "SELECT count(*) / (percentile_cont(0.75) WITHIN GROUP (ORDER BY total)"
    f" - percentile_cont(0.25) WITHIN GROUP (ORDER BY total)) {_FROM}",
    f"SELECT chr((count(*) / 1000)::int) {_FROM}",
    f"SELECT status, count(*) / (count(*) - lag(count(*), 1, 0::bigint) OVER ()) {_GROUPS}",
    f"SELECT status, 1 / (avg(total) - lag(avg(total), 1, 0::numeric) OVER ()) {_GROUPS}",
    f"SELECT 1 / (max(avg(total)) OVER () - min(avg(total)) OVER ()) {_GROUPS}",
    f"SELECT count(*) / stddev(count(*)) OVER () {_GROUPS}",
    f"SELECT count(*) / (CASE status WHEN 'paid' THEN 0 ELSE 1 END) {_FROM} WHERE status <> 'paid'"
    " GROUP BY status",
    f"SELECT (SELECT n FROM (SELECT status AS s, count(*) AS n {_GROUPS}) q WHERE s = 'paid')",
    f"SELECT count(*), (SELECT id FROM shop.products WHERE id = 1) {_FROM}",
    f"SELECT CASE WHEN count(*) > 10 THEN count(*) ELSE 1 / (count(*) - count(*)) END {_FROM}",
    f"SELECT (ARRAY[1, 2])[count(*)::int] {_FROM}",
    f"SELECT lpad('x', (count(*) / 1000)::int) {_FROM}",
    f"SELECT date '2020-01-01' + (count(*) / 10)::int {_FROM}",
    f"SELECT p.category, n / (n - 1) FROM shop.products p JOIN (SELECT product_id, count(*) AS n {_FROM}"
    " GROUP BY product_id) q ON q.product_id = p.id LIMIT 3",
]
