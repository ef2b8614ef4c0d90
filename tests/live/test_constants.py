"""Constants that the shadow evaluates: relative dates, formats, typed parameters, arrays; as in PostgreSQL."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest

from proxy.base.limits import LIST_ELEMENTS
from proxy.query.syntax.statements import Statement
from tests.live.constant_statements import (
    COUNT,
    FORMATS,
    HOSTILE,
    LISTS,
    RELATIVE,
    SCRIPT,
    TABLES,
    statements,
)
from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD

_TOP = (
    "(SELECT kind AS kind__, sum(n) AS mme_inner__ FROM w.calls GROUP BY kind"
    " ORDER BY mme_inner__ DESC LIMIT 2)"
)
_SPINE = (
    "(SELECT g AS month FROM generate_series('2024-01-01'::timestamp, '2026-01-01', '1 month') g)"
)

JOINED = (
    # Superset's series limit, on a table and on a virtual dataset
    "SELECT date_trunc('year', at) AS y, kind AS kind, count(*) AS count FROM w.calls"
    f" JOIN {_TOP} AS series_limit ON kind = kind__ GROUP BY date_trunc('year', at), kind"
    " ORDER BY count DESC LIMIT 10000",
    f"SELECT kind, sum(n) AS s, count(*) FROM (SELECT kind, n, at::timestamp AS at FROM w.calls) v JOIN {_TOP}"
    " AS series_limit ON kind = kind__ WHERE at >= '2020-01-01' GROUP BY kind HAVING count(*) > 5",
    f"SELECT kind, avg(n), count(*) FROM w.calls JOIN {_TOP} AS s ON kind = kind__ WHERE n < 50 GROUP BY 1",
    # the others in one
    "SELECT CASE WHEN (s.kind__ IS NOT NULL) THEN kind ELSE 'Others' END AS kind, count(*) AS count"
    f" FROM w.calls LEFT OUTER JOIN {_TOP} AS s ON kind = kind__"
    " GROUP BY CASE WHEN (s.kind__ IS NOT NULL) THEN kind ELSE 'Others' END LIMIT 1000",
    f"SELECT coalesce(s.kind__, 'Others') AS k, sum(n), count(n) FROM w.calls LEFT JOIN {_TOP} s"
    " ON kind = kind__ GROUP BY 1",
    # Tableau's top N, with and without the key among the columns
    f"SELECT c.kind, sum(c.n), count(*) FROM w.calls c INNER JOIN {_TOP} t0 ON (c.kind = t0.kind__)"
    " GROUP BY 1",
    f"SELECT sum(c.n), count(*) FROM w.calls c INNER JOIN {_TOP} t0"
    " ON (c.kind IS NOT DISTINCT FROM t0.kind__)",
    "SELECT kind, count(*) FROM w.calls WHERE n >= 10 AND kind IN"
    " (SELECT kind FROM w.calls GROUP BY 1 ORDER BY sum(n) DESC LIMIT 1) GROUP BY 1",
    f"SELECT date_trunc('year', at) AS y, count(*) FROM w.calls WHERE kind NOT IN (SELECT kind__ FROM {_TOP} t)"
    " AND n BETWEEN 3 AND 90 GROUP BY 1",
    f"WITH top AS {_TOP} SELECT kind, max(n), count(*) FROM w.calls JOIN top ON top.kind__ = kind"
    " GROUP BY kind",
    # a share of a total, and of what a group has
    "SELECT kind, round(count(*) * 100.0 / q.total) AS share, count(*) FROM w.calls"
    " CROSS JOIN (SELECT count(*) AS total FROM w.calls) q GROUP BY kind, q.total",
    "SELECT c.kind, q.total, count(*) FROM w.calls c JOIN (SELECT kind, count(*) AS total FROM w.calls"
    " GROUP BY kind) q USING (kind) WHERE c.n < 20 GROUP BY 1, 2",
    f"SELECT kind, mme_inner__ > 0, count(*) FROM w.calls JOIN {_TOP} s ON kind = kind__"
    " WHERE n < 50 OR n > 60 GROUP BY kind, mme_inner__, s.kind__ HAVING count(*) > 3 OR false",
    # names that are those of a noisy relation's columns elsewhere
    "SELECT k1, x1.c2 > 0 AS a1, sum(n) AS k2, count(*) AS b1 FROM w.calls JOIN (SELECT kind AS k1,"
    " count(*) AS c2 FROM w.calls GROUP BY kind) x1 ON kind = k1 WHERE c2 > 5 GROUP BY k1, c2 ORDER BY k2",
    "SELECT a1, count(*) AS k1 FROM w.calls JOIN (SELECT kind AS a1, count(*) AS c2 FROM w.calls GROUP BY kind)"
    " dp_x1 ON kind <> a1 GROUP BY a1 ORDER BY k1",
    # bins between ends that are answers
    "WITH r AS (SELECT min(n) / 10 * 10 AS low, 25 AS step FROM w.calls)"
    " SELECT CASE WHEN n < low + step THEN 'first' WHEN n < low + 2 * step THEN 'second' ELSE 'rest' END"
    " AS bin, count(*) FROM w.calls CROSS JOIN r GROUP BY 1",
    # sums over a window of time, of a spine without rows
    f"SELECT q.month, count(*) FROM {_SPINE} q JOIN (SELECT date_trunc('month', shown) AS month FROM w.calls) x"
    " ON x.month <= q.month AND x.month > q.month - interval '3 months' GROUP BY q.month",
    # a period before
    "WITH base AS (SELECT date_trunc('year', shown) AS y, count(*) AS c FROM w.calls"
    " WHERE date_trunc('year', shown) = '2025-01-01' GROUP BY 1),"
    " ends AS (SELECT min(y) AS low, max(y) AS high FROM base),"
    " before AS (SELECT date_trunc('year', shown) AS y, count(*) AS c FROM w.calls LEFT JOIN ends ON TRUE"
    " WHERE ((kind IS NOT NULL) = true) AND date_trunc('year', shown) >= ends.low - INTERVAL '1 year'"
    " AND date_trunc('year', shown) <= ends.high - INTERVAL '1 year' GROUP BY 1)"
    " SELECT base.y, before.c, base.c FROM base LEFT JOIN before ON base.y = before.y + INTERVAL '1 year'",
    # public rows in a subquery
    "SELECT p.id, count(*) FROM w.calls c JOIN (SELECT id, name AS k FROM w.kinds WHERE id < 30) p"
    " ON c.kind = p.k GROUP BY 1",
    "SELECT p.id, count(*) FROM w.calls c LEFT JOIN (SELECT id, name AS k FROM w.kinds) p ON c.kind = p.k"
    " GROUP BY 1",
)

# Whose rows meet several answers, or one that is not theirs: refused, not answered wrongly.
NOT_JOINED = (
    f"SELECT avg(n) FROM w.calls JOIN {_TOP} s ON kind = kind__",
    "SELECT kind, avg(n) FROM w.calls JOIN (SELECT kind AS k, (n < 50) AS h, count(*) AS c FROM w.calls"
    " GROUP BY 1, 2) q ON kind = q.k GROUP BY 1",
    f"SELECT dp.error(count(*)) FROM w.calls JOIN {_TOP} s ON kind = kind__",
    f"SELECT kind, n FROM w.calls JOIN {_TOP} s ON kind = kind__",
    f"SELECT kind, avg(n) FROM w.calls JOIN {_TOP} s ON kind = kind__ GROUP BY kind, ctid",
    f"SELECT kind, avg(n) FROM w.calls c JOIN {_TOP} s ON kind = kind__ GROUP BY kind, c",
    f"SELECT s.kind__, w.calls.n FROM w.calls JOIN {_TOP} s ON kind = kind__ GROUP BY 1, 2, person",
)


ZONES = ("UTC", "America/New_York")


constants = served_alone("constants", SCRIPT, TABLES)


@pytest.fixture(scope="module")
def listeners(constants: LiveProxy) -> Iterator[BothListeners]:
    opened = open_http(constants)
    yield opened
    opened.close()


@pytest.mark.long
@pytest.mark.every(2)
@pytest.mark.parametrize("zone", ZONES)
def test_as_in_postgresql(constants: LiveProxy, zone: str) -> None:
    """Without values over the simple and the extended protocol, with values as psycopg sends them."""
    with (
        psycopg.connect(constants.servers.protected.dsn("constants"), autocommit=True) as direct,
        constants.connect("constants", analyst=constants.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for each in (direct, connection):
            each.execute(f"SET TimeZone = '{zone}'".encode())
        differ = []
        for sql, given in statements():
            ways: list[dict[str, Any]] = [{}] if given else [{}, {"prepare": True}]
            for way in ways:
                try:
                    exact = direct.execute(sql.encode(), given, **way)
                    wanted = exact.fetchall()
                    answered = connection.execute(sql.encode(), given, **way)
                    # Groups that are public but for the rows are answered, too.
                    found = [row for row in answered.fetchall() if len(row) == 1 or row[-1] != 0]
                except psycopg.Error as error:
                    differ.append((sql, str(error)))
                    continue
                kinds = [[c.type_code for c in one.description or ()] for one in (exact, answered)]
                if sorted(found) != sorted(wanted) or kinds[0] != kinds[1]:
                    differ.append((sql, f"{found} for {wanted}"))
        assert differ == [], "\n".join(map(str, differ))


def test_rows_meet_answers_as_in_postgresql(constants: LiveProxy) -> None:
    """Groups, types and counts are PostgreSQL's; sums about so."""
    with (
        psycopg.connect(constants.servers.protected.dsn("constants"), autocommit=True) as direct,
        constants.connect("constants", analyst=constants.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        connection.execute("SET dp.notice = on")
        differ = []
        for sql in JOINED:
            exact = direct.execute(sql.encode())
            wanted = sorted(exact.fetchall(), key=str)
            try:
                answered = connection.execute(sql.encode())
            except psycopg.Error as error:
                differ.append((sql, str(error)))
                continue
            found = sorted((row for row in answered.fetchall() if row[-1] != 0), key=str)
            kinds = [
                [(c.name, c.type_code) for c in one.description or ()] for one in (exact, answered)
            ]
            if kinds[0] != kinds[1] or not _about(found, wanted):
                differ.append((sql, f"{found} for {wanted}"))
        assert differ == [], "\n".join(map(str, differ))
        for sql in NOT_JOINED:
            with pytest.raises(psycopg.errors.DatabaseError) as refused:
                connection.execute(sql.encode())
            assert refused.value.diag.sqlstate in ("0A000", "42501", "42703"), str(refused.value)


def test_errors_over_http_where_rows_meet_answers(
    constants: LiveProxy, listeners: BothListeners
) -> None:
    """Of groups as they are; none of groups that are added up, whose parts are said to have some."""
    analyst = constants.servers.new_analyst()
    of_groups, of_sums = (
        listeners.query(JOINED[n], database="constants", analyst=analyst, epsilon=100).json()
        for n in (0, 3)
    )
    assert len(of_groups["errors"]["rows"]) == len(of_groups["rows"])
    assert [column is None for column in of_groups["errors"]["columns"]] == [True, True, False]
    assert of_sums["errors"]["columns"][0] is None and of_sums["errors"]["rows"] is None
    assert "adds up" in of_sums["errors"]["columns"][1]["no_interval"]
    assert "adds up" in str(of_sums["accuracy"]) and "adds up" not in str(of_groups["accuracy"])


def _about(found: list[Any], wanted: list[Any]) -> bool:
    """Counts, which are the last column, exactly; other numbers within a hundredth."""

    def is_about(one: Any, other: Any) -> bool:
        if isinstance(other, int | float | Decimal):
            return abs(float(one) - float(other)) <= 1 + abs(float(other)) / 100
        return bool(one == other)

    return len(found) == len(wanted) and all(
        row[-1] == other[-1] and all(map(is_about, row, other))
        for row, other in zip(found, wanted, strict=True)
    )


def test_over_http(constants: LiveProxy, listeners: BothListeners) -> None:
    """In UTC, as every request is; EXPLAIN and /v1/explain as well."""
    analyst = constants.servers.new_analyst()
    differ = []
    with psycopg.connect(constants.servers.protected.dsn("constants")) as direct:
        direct.execute("SET TimeZone = 'UTC'")
        for condition in (*RELATIVE[:6], *FORMATS[:4], *LISTS[:6]):
            sql = f"{COUNT} WHERE {condition}"
            wanted = direct.execute(sql.encode()).fetchall()
            answered = listeners.query(sql, database="constants", analyst=analyst, epsilon=100)
            if answered.json().get("rows") != [list(row) for row in wanted]:
                differ.append((sql, answered.json(), wanted))
        for condition, given in (("n = $1::INTEGER", 7), ("n = ANY($1)", "{1,2,70}")):
            sql = f"{COUNT} WHERE {condition}"
            plain = sql.replace("$1", f"'{given}'::int[]" if "ANY" in sql else str(given))
            wanted = direct.execute(plain.encode()).fetchall()
            more: dict[str, Any] = {"database": "constants", "analyst": analyst}
            answered = listeners.query(sql, str(given), epsilon=100, **more)
            if answered.json().get("rows") != [list(row) for row in wanted]:
                differ.append((sql, answered.json(), wanted))
            explained = listeners.query(sql, str(given), path="/v1/explain", **more)
            assert explained.status_code == 200, explained.json()
    assert differ == [], "\n".join(map(str, differ))


def test_explained_and_executed(constants: LiveProxy) -> None:
    """EXPLAIN, EXECUTE of SQL, a cursor and COPY take the same path."""
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst) as connection:
        connection.execute("SET dp.epsilon = 100")
        asked = f"{COUNT} WHERE at >= now() - interval '30 days'"
        (wanted,) = connection.execute(asked).fetchall()
        plan = connection.execute(f"EXPLAIN {asked}").fetchall()
        assert any("epsilon" in str(line) for line in plan)
        connection.execute(f"PREPARE q (int) AS {COUNT} WHERE at >= now() - $1 * interval '1 day'")
        assert connection.execute("EXECUTE q (15 + 15)").fetchall() == [wanted]
        with connection.transaction():
            connection.execute(f"DECLARE c CURSOR FOR {asked}")
            assert connection.execute("FETCH ALL FROM c").fetchall() == [wanted]
        with connection.cursor().copy(f"COPY ({asked}) TO STDOUT") as copied:
            assert b"".join(copied).split() == [str(wanted[0]).encode()]


def test_one_now_in_a_statement(constants: LiveProxy) -> None:
    """now() is that of the transaction, and what a statement sees of it is one instant."""
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst, autocommit=False) as connection:
        connection.execute("SET dp.epsilon = 100")
        (first,) = connection.execute("SELECT now()").fetchone() or ()
        same = f"at > now() AND at > '{first}' OR at <= now() AND at <= '{first}'"
        asked = (
            f"SELECT now(), count(*) FROM w.calls WHERE now() = '{first}'::timestamptz AND ({same})"
        )
        found = connection.execute(asked.encode()).fetchall()
        assert found == [(first, 3000)]
        connection.rollback()


@pytest.mark.parametrize(("condition", "told"), HOSTILE, ids=[each for each, _ in HOSTILE])
def test_refused_without_charge(constants: LiveProxy, condition: str, told: str) -> None:
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst) as connection:
        connection.execute(
            "CREATE FUNCTION pg_temp.abs(int) RETURNS int LANGUAGE sql AS 'SELECT 5'"
        )
        connection.execute("CREATE TEMPORARY SEQUENCE s")
        for way in (False, True):
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(f"{COUNT} WHERE {condition}".encode(), prepare=way)
            assert told in str(refused.value)
            assert refused.value.diag.sqlstate != "XX000"
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    assert constants.when_settled(analyst) == (0, 0.0, 0)


def test_own_functions_and_types_do_not_stand_in(constants: LiveProxy) -> None:
    """Names of functions are never looked up among temporary ones; a type of one's own is read as no other."""
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst) as connection:
        connection.execute("SET dp.epsilon = 100")
        connection.execute(
            "CREATE FUNCTION pg_temp.abs(int) RETURNS int LANGUAGE sql AS 'SELECT 5'"
        )
        connection.execute("SET search_path = pg_temp, pg_catalog")
        found = connection.execute(f"{COUNT} WHERE n < abs(-1::numeric(3, 0))").fetchall()
        assert found == [(30,)]
        connection.execute("CREATE DOMAIN pg_temp.date AS text")
        with pytest.raises(psycopg.Error):
            connection.execute(f"{COUNT} WHERE at > lower('x')::date")


def test_a_statement_without_takes_no_step_more(constants: LiveProxy) -> None:
    """Nothing is described or evaluated for what is read as it stands."""
    known = constants.assembly.databases["constants"].engine.statements
    found = known.look(f"{COUNT} WHERE at > '2025-01-01' AND n = 1 + 2 AND kind IN ('a', 'b')")
    oids = constants.assembly.databases["constants"].shadow.relation_oids()
    assert isinstance(found, Statement)
    given = tuple(next(o for t, o in oids.items() if str(t) == name) for name in found.relations)
    assert known.constants_needed(found, given, (), {}) == ()
    read = known.read(found, given, ())
    assert read is not None
    assert read.constants == ()


def test_as_asyncpg_sends_them(constants: LiveProxy) -> None:
    """Values and arrays in binary formats; a named statement that is run again with other values."""
    analyst = constants.servers.new_analyst()

    async def conversation() -> None:
        connection = await asyncpg.connect(
            host="127.0.0.1",
            port=constants.port,
            user=analyst,
            password=PASSWORD,
            database="constants",
        )
        try:
            await connection.execute("SET dp.epsilon = 100")
            listed = await connection.prepare(f"{COUNT} WHERE n = ANY($1)")
            for given, wanted in (([1, 2, 3], 90), ([], 0), (list(range(2000)), 3000), (None, 0)):
                assert await listed.fetchval(given) == wanted
            typed = f"{COUNT} WHERE kind IN ($1::VARCHAR, $2::VARCHAR) AND n < $3::INTEGER"
            assert await connection.fetchval(typed, "a", "b", 2) == 60
            since = f"{COUNT} WHERE at > now() - $1::interval AND kind = ANY($2::text[])"
            ten_years = dt.timedelta(days=3650)
            assert await connection.fetchval(since, ten_years, ["a", "c"]) == 1500
        finally:
            await connection.close()

    asyncio.run(conversation())


def test_in_a_pipeline(constants: LiveProxy) -> None:
    """What is evaluated between two messages of a client takes neither its place nor its transaction."""
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst) as connection:
        connection.execute("SET dp.epsilon = 100")
        asked = f"{COUNT} WHERE at > now() - %s * interval '1 day'"
        with connection.pipeline():
            cursors = [connection.execute(asked, (days,)) for days in (3650, 3650)]
            plain = connection.execute("SELECT 5")
            listed = connection.execute(f"{COUNT} WHERE n = ANY(%s)", ([1, 2],))
        assert [cursor.fetchall() for cursor in (*cursors, plain, listed)] == [
            *([(3000,)], [(3000,)], [(5,)], [(60,)]),
        ]
        with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
            connection.execute(f"{COUNT} WHERE at > now() - interval '1 day' / %s", (0,))
        with connection.transaction():
            connection.execute("CREATE TEMPORARY TABLE kept (n int)")
            connection.execute(f"{COUNT} WHERE at > now() - interval '1 day'")
            connection.execute("INSERT INTO kept VALUES (1)")
        assert connection.execute("SELECT n FROM kept").fetchall() == [(1,)]


def test_written_twice_is_one_answer(constants: LiveProxy) -> None:
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst) as connection:
        recent = "count(*) FILTER (WHERE at > now() - interval '1 year')"
        asked = f"SELECT {recent}, {recent} + 0 FROM w.calls HAVING {recent} = {recent}"
        (row,) = connection.execute(asked.encode()).fetchall()
        assert row[0] == row[1]


def test_lists_have_a_limit(constants: LiveProxy) -> None:
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst) as connection:
        too_long = ("n = ANY(%s)", list(range(LIST_ELEMENTS + 1)))
        too_large = ("kind = ANY(%s)", ["x" * 1000] * 1000)
        for condition, given in (too_long, too_large):
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(f"{COUNT} WHERE {condition}", (given,))
            assert refused.value.diag.sqlstate == "54001"
    assert constants.when_settled(analyst) == (0, 0.0, 0)


def test_a_null_unit_is_refused(constants: LiveProxy) -> None:
    analyst = constants.servers.new_analyst()
    with constants.connect("constants", analyst=analyst) as connection:
        for call in ("date_trunc(%(u)s::VARCHAR, at)", "to_char(at, %(u)s::VARCHAR)"):
            for given in (None, "decade\\"):
                with pytest.raises(psycopg.errors.FeatureNotSupported):
                    asked = f"SELECT {call}, count(*) FROM w.calls GROUP BY {call}"
                    connection.execute(asked.encode(), {"u": given})
    assert constants.when_settled(analyst) == (0, 0.0, 0)
