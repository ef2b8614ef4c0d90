"""Keys of types with a modifier, character(n), timestamp(p), numeric(p, s): types, modifiers, blanks and groups
as PostgreSQL's."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy

_NAME = "modifiers"
_SCRIPT = """\
CREATE SCHEMA t;
CREATE TABLE t.v (id integer PRIMARY KEY, c3 char(3), c10 char(10), c char, vc varchar(5), n numeric(6, 1),
  ts0 timestamp(0), ts3 timestamp(3), tz0 timestamptz(0), tz3 timestamptz(3));
INSERT INTO t.v SELECT i, (ARRAY['ab', 'xyz', 'q'])[1 + i % 3], (ARRAY['ab', 'xyz', 'a b'])[1 + i % 3],
  (ARRAY['a', 'b'])[1 + i % 2], (ARRAY['ab', 'xyz'])[1 + i % 2], (i % 5) / 2.0,
  timestamp '2024-01-01' + i % 49 * interval '1 hour', timestamp '2024-01-01' + i % 30 * interval '1 ms',
  timestamptz '2024-01-01 00:00:00+00' + i % 49 * interval '1 hour',
  timestamptz '2024-01-01 00:00:00+00' + i % 30 * interval '1 ms' FROM generate_series(1, 6000) i;
"""
_TABLES = """\
tables:
  t.v:
    unit: row
    columns:
      c3: {values: [ab, xyz, q]}
      c10: {}
      c: {values: [a, b]}
      vc: {values: [ab, xyz]}
      n: {values: [0.0, 0.5, 1.0, 1.5, 2.0]}
      ts0: {bounds: [2024-01-01, 2024-01-03]}
      ts3: {bounds: ["2024-01-01 00:00:00", "2024-01-01 00:00:00.029"], grid: 0.001}
      tz0: {bounds: [2024-01-01, 2024-01-03]}
      tz3: {}
"""
_KEYS = (
    *("c3", "c10", "c", "vc", "n", "ts0", "ts3", "tz0", "tz3", "c3::text", "c3 || 'x'"),
    *("length(c3)", "upper(c3)", "c10 = 'ab'", "trim(c10)", "left(c10, 2)", "vc::varchar(2)", "ts0::date"),
    *("ts0::timestamptz", "tz0::timestamp", "date_trunc('hour', ts0)", "date_trunc('hour', tz0)"),
)  # fmt: skip
_FORMS = (
    "SELECT {} AS k, count(*) FROM t.v GROUP BY 1",
    "SELECT k, n FROM (SELECT {} AS k, count(*) AS n FROM t.v GROUP BY 1) q WHERE k IS NOT NULL",
    "SELECT DISTINCT {} AS k FROM t.v",
    "WITH q AS (SELECT {} AS k, c FROM t.v) SELECT k, c, count(*) FROM q GROUP BY k, c HAVING count(*) > 20",
)


served = served_alone(_NAME, _SCRIPT, _TABLES)


def _answer(
    connection: psycopg.Connection, sql: str
) -> tuple[list[tuple[int, int]], list[tuple[bytes | None, ...]]]:
    """Types and modifiers of the columns, and the rows."""
    result = connection.pgconn.exec_(sql.encode())
    assert not result.error_message, (sql, result.error_message)
    columns = range(result.nfields)
    rows = [
        tuple(result.get_value(row, column) for column in columns) for row in range(result.ntuples)
    ]
    return [(result.ftype(column), result.fmod(column)) for column in columns], sorted(
        rows, key=str
    )


@pytest.mark.every(4)
@pytest.mark.parametrize("form", _FORMS)
def test_keys_are_those_of_postgresql(served: LiveProxy, form: str) -> None:
    """With epsilon 100 counts of rows are exact, but for once in 10^40."""
    dsn = make_conninfo(served.servers.protected.dsn(), dbname=_NAME)
    with (
        psycopg.connect(dsn, autocommit=True) as plain,
        served.connect(_NAME, analyst=served.servers.new_analyst()) as proxy,
    ):
        plain.execute("SET TimeZone = 'UTC'")
        proxy.execute("SET TimeZone = 'UTC'; SET dp.epsilon = 100")
        for key in _KEYS:
            sql = form.format(key)
            assert _answer(proxy, sql) == _answer(plain, sql), sql
