"""Texts with blanks at their end, of each type, through each cast: compared as PostgreSQL compares them."""

from __future__ import annotations

import psycopg
import pytest

from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy

_NAME = "blanks"
_SCRIPT = """\
CREATE SCHEMA s;
CREATE TABLE s.texts (person int PRIMARY KEY, c char(3), v varchar(5), t text, vc char(3) NOT NULL);
INSERT INTO s.texts SELECT n, (ARRAY['a','b','ab',NULL])[1 + n % 4],
    (ARRAY['a','a ','b','ab','ab ',NULL])[1 + n % 6], (ARRAY['a','a ','b ','ab','a  '])[1 + n % 5],
    (ARRAY['a','b','ab'])[1 + n % 3]
FROM generate_series(0, 1999) n;
"""
_TABLES = """\
tables:
  s.texts:
    unit: {person: person}
    columns: {c: {}, v: {}, t: {}, vc: {values: [a, ab, b]}}
"""
_COLUMNS = ("c", "v", "t", "vc")
_SUBJECTS = (
    *_COLUMNS,
    *(f"{column}::{kind}" for column in _COLUMNS for kind in ("text", "varchar", "varchar(2)")),
    *(f"CAST({column} AS text)" for column in _COLUMNS),
    *("c::varchar::text", "coalesce(c, 'a ')", "coalesce(c::text, 'a ')", "c || ''"),
)
_ARRAYS = ("text", "varchar", "varchar(2)", "char(3)", "bpchar", "char(1)")
_CONDITIONS = (
    *(f"{{x}} {sign} 'a '" for sign in ("=", "<>", "<", ">=", "IS DISTINCT FROM")),
    *("{x} = 'a'", "{x} <> 'ab'", "'a ' = {x}", "NOT ({x} = 'a ')"),
    *("{x} IN ('a ', 'b')", "{x} NOT IN ('a ', 'b')", "{x} IN ('a ')", "{x} IN ('a', 'ab ')"),
    *(f"{{x}} = 'a '::{kind}" for kind in _ARRAYS),
    *(f"{{x}} IN ('a '::{kind}, 'b'::{kind})" for kind in ("text", "varchar", "char(3)")),
    *("{x} = ANY('{a,b}')", "{x} = ANY('{\"a \",b}')", "{x} <> ALL('{\"a \",b}')"),
    *(f"{{x}} = ANY('{{\"a \",b}}'::{kind}[])" for kind in _ARRAYS),
    *(f"{{x}} <> ALL('{{\"a \",b}}'::{kind}[])" for kind in _ARRAYS),
    *(f"{{x}} = ANY(ARRAY['a ', 'b']::{kind}[])" for kind in _ARRAYS),
    *("{x} = ANY(ARRAY['a ', 'b'])", "{x} = ANY(ARRAY['a '::char(3), 'b'])"),
    *("{x} LIKE 'a'", "{x} LIKE 'a '", "{x} LIKE 'a%'", "{x} NOT LIKE '% '", "{x} LIKE 'a_'"),
    *("{x} ILIKE 'A'", "{x} LIKE ANY('{a,b}')", "{x} LIKE '%b'"),
    *("{x} BETWEEN 'a ' AND 'ab'", "{x} NOT BETWEEN 'a ' AND 'ab '"),
    *("CASE WHEN {x} = 'a ' THEN true ELSE false END", "CASE {x} WHEN 'a ' THEN true END"),
    *("nullif({x}, 'a ') IS NULL", "length({x}) = 1", "{x} || '.' = 'a.'", "{x} || '.' = 'a .'"),
    *(f"{{x}} = {column}" for column in _COLUMNS),
    *(f"{{x}} = {column}::text" for column in _COLUMNS),
    "{x} <> v",
)


proxy = served_alone(_NAME, _SCRIPT, _TABLES)


def _answer(connection: psycopg.Connection, sql: str) -> object:
    try:
        return connection.execute(sql.encode()).fetchall()
    except psycopg.Error as error:
        return str(error).partition("\n")[0]


@pytest.mark.every(24)
@pytest.mark.parametrize("subject", _SUBJECTS)
def test_compared_as_postgresql_compares(subject: str, proxy: LiveProxy) -> None:
    wrong, refused = [], []
    with (
        psycopg.connect(proxy.servers.protected.dsn(_NAME), autocommit=True) as direct,
        proxy.connect(_NAME, analyst=proxy.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for condition in _CONDITIONS:
            asked = condition.replace("{x}", subject)
            sql = f"SELECT count(*) FROM s.texts WHERE {asked}"
            wanted, found = _answer(direct, sql), _answer(connection, sql)
            if isinstance(found, str):
                refused += [] if isinstance(wanted, str) else [(asked, found)]
            elif found != wanted:
                wrong.append((asked, found, wanted))
    assert wrong == [], "\n".join(map(str, wrong))
    unread = [one for one in refused if " LIKE ANY(" not in one[0]]
    assert unread == [], "\n".join(map(str, unread))
