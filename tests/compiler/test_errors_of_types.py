"""What types and collations raise, they raise once there is a row: that would be a bit about it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.cli.assembly import Database
from proxy.compiler.backend_query import BackendQuery
from tests.list_values import list_values
from tests.live.served_database import planned, served_database
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

_NAME = "errors_of_types"
# The wheel has no ICU, so deterministic collations are given the flag that only ICU's can have.
_SCRIPT = """\
CREATE COLLATION public.loose (provider = libc, locale = 'C');
CREATE COLLATION public.other (provider = libc, locale = 'POSIX');
CREATE TYPE public.mood AS ENUM ('x', 'y');
CREATE TABLE public.t (
    id int PRIMARY KEY, a text COLLATE "C", b varchar(9) COLLATE "POSIX", c char(2) COLLATE "POSIX", d text,
    e public.mood, long varchar(20), short varchar(3), k int, v int
);
INSERT INTO public.t
SELECT g, 'x', 'x', 'x', 'x', 'x', 'x', 'x', g % 10, g % 100 FROM generate_series(1, 500) g;
CREATE TABLE public.orders (id int PRIMARY KEY, uid int, k int, v int, n text COLLATE "POSIX");
INSERT INTO public.orders SELECT g, g % 70, g % 10, g % 100, 'x' FROM generate_series(1, 500) g;
CREATE TABLE public.bits (a bit(8), b money, v int, PRIMARY KEY (a, b));
INSERT INTO public.bits SELECT g::bit(8), g::money, g % 100 FROM generate_series(1, 250) g;
CREATE TABLE public.pub (
    k int PRIMARY KEY, m money, p point, a text COLLATE "C", one text COLLATE public.loose,
    two text COLLATE public.other
);
INSERT INTO public.pub SELECT g, 1, '(1,1)', 'x', 'x', 'x' FROM generate_series(0, 9) g;
UPDATE pg_collation SET collisdeterministic = false WHERE collname IN ('loose', 'other')
"""
_TABLES = """\
tables:
  public.t:
    unit: row
    columns: {a: {}, b: {}, c: {}, d: {}, e: {}, long: {}, short: {}, k: {}, v: {bounds: [0, 100]}}
    join_keys: {a: {keep: 2}}
  public.orders:
    unit: {person: uid}
    max_rows_per_unit: 5
    columns: {k: {}, v: {bounds: [0, 100]}, n: {}}
    join_keys: {n: {keep: 2}}
  public.bits:
    unit: row
    columns: {v: {bounds: [0, 100], partitions: 101}}
  public.pub: public
"""


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Database, psycopg.Connection]]:
    pair = servers()
    database = served_database(pair, _NAME, _SCRIPT, _TABLES)
    with psycopg.connect(pair.protected.dsn(_NAME), autocommit=True) as connection:
        connection.execute("SET search_path = ''")
        yield database, connection


def _queries(database: Database, question: str) -> list[BackendQuery]:
    blocks = planned(database, question).blocks
    return [query for block in blocks for query in compile_block(block)]


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FROM t WHERE v = 4 AND a = b",
        "SELECT count(*) FROM t WHERE v = 4 AND a < c",
        "SELECT count(*) FROM t WHERE v = 4 AND a = b AND b = d",
        "SELECT count(*) FROM t WHERE v = 4 AND lower(coalesce(a, b)) = 'x'",
        "SELECT count(*) FROM t WHERE v = 4 AND upper(CASE WHEN k = 1 THEN a ELSE b END) LIKE 'x%'",
        "SELECT count(*) FROM t WHERE v = 4 AND greatest(a, b) IN ('x', 'y')",
        "SELECT count(nullif(a, b)) FROM t WHERE v = 4",
        "SELECT count(DISTINCT least(a, b)) FROM t WHERE v = 4",
        "SELECT coalesce(a, c), count(*) FROM t WHERE v = 4 GROUP BY 1",
        "SELECT count(*) FROM (SELECT a AS x, v FROM t UNION ALL SELECT b, v FROM t) q WHERE v = 4 AND x = 'x'",
        "SELECT count(*) FROM (SELECT e AS x FROM t UNION ALL SELECT d FROM t) q WHERE x IN ('x', 'y')",
        "SELECT count(x) FROM (SELECT x FROM (SELECT e AS x FROM t UNION ALL SELECT d FROM t) q "
        "UNION ALL SELECT d FROM t) r",
        "SELECT x, count(*) FROM (SELECT a AS x FROM t UNION ALL SELECT d FROM t UNION ALL SELECT b FROM t) q "
        "WHERE lower(x) = 'x' GROUP BY x",
        "SELECT count(*) FROM t JOIN pub ON t.k = pub.k WHERE v = 4 AND t.b = pub.a",
        "SELECT count(*) FROM t WHERE v = 4 AND b IN (SELECT a FROM pub)",
        "SELECT count(*) FROM t JOIN orders o ON t.a = o.n",
        "SELECT avg(v) FROM bits WHERE v = 4",
        "SELECT avg(v) FROM (SELECT v FROM bits) q WHERE v = 4",
    ],
)
def test_it_does_not_raise(served: tuple[Database, psycopg.Connection], question: str) -> None:
    database, connection = served
    for query in _queries(database, question):
        values = {**query.parameters, **dict.fromkeys(query.seeds, 42)}
        values |= list_values(connection, query)
        rows = connection.execute(query.sql.encode(), values).fetchall()
        assert rows != []


@pytest.mark.parametrize(
    "expression",
    [
        "count(nullif(one, two))",
        "count(DISTINCT m)",
        "count(coalesce(one, two))",
        "count(greatest(m, m))",
        "count(*) FILTER (WHERE CASE WHEN v = 1 THEN p END IS NULL)",
        "count(*) FILTER (WHERE one = two)",
        "count(*) FILTER (WHERE one IN (SELECT two FROM pub))",
    ],
)
def test_types_that_we_do_not_know_do_not_meet(
    served: tuple[Database, psycopg.Connection], expression: str
) -> None:
    with pytest.raises(Refusal):
        _queries(served[0], f"SELECT {expression} FROM orders o JOIN pub ON o.k = pub.k")


def test_columns_of_the_databases_collation_are_left_to_their_indexes(
    served: tuple[Database, psycopg.Connection],
) -> None:
    (query,) = _queries(served[0], "SELECT count(*) FROM t WHERE d = 'x'")
    assert "COLLATE" not in query.sql


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        (("long", "long"), "character varying(20)"),
        (("short", "long"), "character varying"),
        (("d", "e"), "text"),
        (("a", "b"), "text"),
    ],
)
def test_a_key_of_a_union_is_of_no_length_unless_all_have_it(
    served: tuple[Database, psycopg.Connection], columns: tuple[str, str], kind: str
) -> None:
    """Else the one key that is longer would fail on its way out, after the charge."""
    one, other = columns
    question = (
        f"SELECT x FROM (SELECT {one} AS x FROM t UNION ALL SELECT {other} FROM t) q GROUP BY x"
    )
    (block,) = planned(served[0], question).blocks
    assert [key.type_name for key in block.keys] == [kind]
