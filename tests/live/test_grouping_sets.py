"""GROUPING SETS, ROLLUP and CUBE as in PostgreSQL: levels, labels, types, GROUPING(); each level is paid."""

from __future__ import annotations

import psycopg
import pytest

from tests.live.conftest import RELATIONS
from tests.live.levels_and_joins import NOISY, described, differences
from tests.live_proxy import LiveProxy

_STATEMENTS = (
    # As Superset and SQLAlchemy write them.
    "SELECT kind AS kind, paid AS paid, COUNT(*) AS count, grouping(kind) AS kind__superset_grouping,"
    " grouping(paid) AS g FROM r.rentals GROUP BY GROUPING SETS((kind, paid), (kind), ()) ORDER BY count DESC",
    "SELECT r.rentals.kind, r.rentals.paid, count(*) AS n FROM r.rentals"
    " GROUP BY ROLLUP(r.rentals.kind, r.rentals.paid)",
    "SELECT kind, size, paid, grouping(size), count(*) FROM r.rentals GROUP BY CUBE (kind, size, paid)",
    "SELECT coalesce(kind, 'Total') AS k, GROUPING(paid, kind), count(*) FROM r.rentals"
    " GROUP BY GROUPING SETS (kind, (kind, paid), ()) HAVING grouping(kind, paid) < 2 ORDER BY 1, 2",
    "SELECT date_trunc('year', day) AS y, extract(quarter FROM day) q, count(*) FROM r.rentals"
    " GROUP BY 1, ROLLUP (2)",
    "SELECT date_part('quarter', day) q, upper(kind) u, count(*), count(*) FILTER (WHERE paid) FROM r.rentals"
    " WHERE kind <> 'b' GROUP BY GROUPING SETS ((1), (2), (1, 2))",
    "SELECT kind, paid, count(*) FROM r.rentals GROUP BY DISTINCT ROLLUP (kind), ROLLUP (kind, paid)",
    "SELECT kind, count(*) FROM r.rentals GROUP BY ROLLUP (kind), ROLLUP (kind)",
    "SELECT size, grouping(size), count(*) FROM r.rentals GROUP BY ROLLUP (size) ORDER BY size NULLS FIRST",
    "SELECT kind, grouping(kind) FROM r.rentals GROUP BY CUBE (kind)",
    # One key in several words, in the same levels; a column is one key however it is named.
    "SELECT paid IS NULL AS a, (paid IS NULL) = true AS b, grouping((paid IS NULL) = true) AS g, count(*)"
    " FROM r.rentals GROUP BY ROLLUP ((1, 2))",
    "SELECT kind, rentals.kind, grouping(kind), count(*) FROM r.rentals GROUP BY ROLLUP (kind, r.rentals.kind)",
    "SELECT kind AS k, kind AS l, grouping(kind), count(*) FROM r.rentals GROUP BY ROLLUP ((k, 2))",
    "SELECT kind, count(*) FROM r.rentals WHERE false GROUP BY ROLLUP (kind)",
    "SELECT count(*) FROM r.rentals GROUP BY ()",
    "SELECT kind, grouping(r.rentals.kind) AS g, count(*) FROM r.rentals GROUP BY (kind)",
    "SELECT category, paid, count(*) FROM r.rentals JOIN r.products p"
    " ON p.id = product GROUP BY ROLLUP ((p.category, paid))",
    "SELECT k, p, sum(n) FROM (SELECT kind AS k, paid AS p, 1 AS n FROM r.rentals) q GROUP BY CUBE (k, p)",
    "SELECT m, m > 0, floor(m) f, count(*) FROM"
    " (SELECT customer, count(*) AS m FROM r.rentals GROUP BY customer) q"
    " WHERE m BETWEEN 1 AND 3 GROUP BY ROLLUP (floor(m)), (m > 0), m",
    "WITH t AS (SELECT kind, paid, count(*) AS n, grouping(kind) AS g FROM r.rentals GROUP BY CUBE (1, 2))"
    " SELECT paid, sum(g) AS g, max(n) FROM t GROUP BY 1",
    "SELECT kind, rank() OVER (PARTITION BY grouping(kind) ORDER BY kind), count(*) FROM r.rentals"
    " GROUP BY ROLLUP (kind)",
    "SELECT ((floor(amount / 20))) * 20, count(*) FROM r.rentals WHERE amount < 60"
    " GROUP BY ROLLUP (floor(r.rentals.amount / 20) * 20) HAVING count(*) > 50",
    # A key that begins with a column which is none.
    "SELECT grouping(kind, product * 2) AS g, product * 2 AS twice, kind, count(*) FROM r.rentals"
    " GROUP BY CUBE (product * 2, kind) HAVING grouping(product * 2) + grouping(kind) < 2",
    # Sums of their parts: one release, which PostgreSQL adds up on the shadow.
    "SELECT kind, paid, sum(m) AS sum FROM (SELECT kind, paid, count(*) AS m FROM r.rentals GROUP BY 1, 2) q"
    " GROUP BY ROLLUP (kind, paid)",
    # Keys that are private are selected in each level by itself.
    "SELECT amount, paid, count(*) FROM r.rentals WHERE amount < 3 GROUP BY ROLLUP (amount, paid)",
)  # fmt: skip


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", _STATEMENTS)
def test_as_in_postgresql(live: LiveProxy, sql: str) -> None:
    with (
        psycopg.connect(live.servers.protected.dsn(RELATIONS)) as direct,
        live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        exact, answered = direct.execute(sql.encode()), connection.execute(sql.encode())
        assert described(answered) == described(exact)
        noisy = sum(column.name in NOISY for column in exact.description or ())
        assert differences(answered.fetchall(), exact.fetchall(), noisy) == []


def test_every_level_is_paid(live: LiveProxy) -> None:
    """EXPLAIN names a block for each level, which share epsilon; the charge is the statement's, once."""
    sql = "SELECT kind, paid, count(*) FROM r.rentals GROUP BY ROLLUP (kind, paid)"
    with live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection:
        explained = [row[0] for row in connection.execute(f"EXPLAIN (VERBOSE) {sql}".encode())]
        assert sum("33.3 %" in line for line in explained) == 3
        before = connection.execute("SELECT epsilon_spent FROM dp.budget").fetchone()
        connection.execute(sql.encode())
        after = connection.execute("SELECT epsilon_spent FROM dp.budget").fetchone()
        assert before is not None and after is not None and after[0] - before[0] == 1


def test_copied_and_prepared(live: LiveProxy) -> None:
    """COPY puts the relation into the text, where it stands once."""
    sql = "SELECT kind, grouping(kind), count(*) FROM r.rentals WHERE paid = {} GROUP BY ROLLUP (kind)"
    with live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        given = connection.execute(sql.format("%s").encode(), (True,), prepare=True).fetchall()
        copy = f"COPY ({sql.format('true')}) TO STDOUT"
        with connection.cursor().copy(copy.encode()) as copied:
            copied.set_types(["text", "int4", "int8"])
            assert sorted(copied.rows(), key=repr) == sorted(given, key=repr)


def test_a_column_has_one_error_for_all_levels(live: LiveProxy) -> None:
    sql = "SELECT kind, count(*) AS n FROM r.rentals GROUP BY ROLLUP (kind)"
    with live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection:
        heard: list[str] = []
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        connection.execute("SET dp.notice = on")
        connection.execute(sql.encode())
    lines = [line for text in heard for line in text.splitlines() if line.strip().startswith("n:")]
    assert len(lines) == 1, heard
