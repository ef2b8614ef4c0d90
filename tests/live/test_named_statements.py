"""What names mean, as in PostgreSQL: generated statements beside its own answers, and some that are hard to
read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from statistics import mean, stdev

import psycopg
import pytest

from tests.live.conftest import RELATIONS
from tests.live.levels_and_joins import NOISY, described, differences
from tests.live.named_statements import NamedStatement, named_statement
from tests.live_proxy import LiveProxy

_REFUSED = ("0A000", "42501")  # by a rule of ours, which costs nothing
_FEATURES = (
    *("using", "nested", "comma", "cte", "cte again", "list of columns", "subquery of a row"),
    *("subquery of a group", "beside another relation", "star"),
)
_NAMED = (
    # An alias is the name of another table, of a column, in other letters.
    'SELECT payments.kind, count("Payments".cents) FROM r.rentals payments JOIN r.payments "Payments"'
    ' ON "Payments".customer = payments.customer GROUP BY payments.kind',
    "SELECT kind.kind, count(*) FROM r.rentals kind JOIN r.returns customer USING (customer)"
    " WHERE customer.customer > 100 AND customer > 50 GROUP BY 1",
    'SELECT "KIND", count(*) FILTER (WHERE kind) FROM (SELECT kind AS "KIND", paid AS kind FROM r.rentals) q'
    ' GROUP BY "KIND"',
    # Columns that have changed their names.
    "SELECT count(*) FILTER (WHERE id > 300), count(*) FILTER (WHERE product > 300)"
    " FROM (SELECT id, product FROM r.rentals) q(product, id)",
    "WITH w(id, customer) AS (SELECT customer, id FROM r.rentals) SELECT count(*) FROM w JOIN r.payments p"
    " ON p.customer = w.id WHERE w.customer > 500",
    "WITH w AS (SELECT customer, id, product FROM r.rentals) SELECT count(*) FILTER (WHERE b > 300)"
    " FROM w v(b, c) WHERE c > 200 AND product > 2",
    "SELECT paid AS kind, kind AS paid, count(*) FROM r.rentals GROUP BY rentals.kind, rentals.paid"
    " ORDER BY kind",
    "SELECT upper(kind) AS size, count(*) FROM r.rentals q GROUP BY q.size, upper(kind), 1 HAVING q.size = 's'",
    # Words of SQL as names.
    "SELECT q.from, q.group AS order, count(*) AS n FROM (SELECT kind AS from, paid AS group FROM r.rentals) q"
    " WHERE q.from <> 'b' GROUP BY q.from, q.group",
    'SELECT count(*) FROM r.rentals "left" JOIN r.payments "on" ON "left".customer = "on".customer'
    ' JOIN r.returns "using" ON "using".customer = "left".customer',
    "SELECT date, count(*) FROM (SELECT customer AS year, kind AS date, id AS timestamp FROM r.rentals) q"
    " JOIN r.payments p ON p.customer = year WHERE timestamp > 300 GROUP BY date",
    # The name of a CTE hides a table's, in its own query, and not in its body.
    "WITH rentals AS (SELECT * FROM r.rentals WHERE kind = 'a'), payments AS (SELECT customer, kind"
    " FROM rentals) SELECT kind, count(*) FROM payments JOIN r.rentals q USING (customer, kind) GROUP BY kind",
    "WITH q AS (SELECT customer FROM r.rentals WHERE paid) SELECT count(*) FROM (WITH q AS (SELECT"
    " customer, cents FROM r.payments) SELECT count(*) AS n FROM q WHERE cents > 100) p",
    # * has a column of USING once, and first; those of one name all; those of RIGHT JOIN as they are written.
    "SELECT count(*) FROM (SELECT * FROM r.rentals JOIN r.payments USING (customer)) q WHERE customer > 300",
    "SELECT kind, count(*) FROM (SELECT * FROM r.rentals JOIN r.payments USING (customer)) q"
    " JOIN r.returns e USING (customer) GROUP BY kind",
    "SELECT id, count(*) FROM (SELECT * FROM r.rentals JOIN r.products USING (id)) AS q GROUP BY 1",
    "WITH j AS (SELECT a.*, b.* FROM r.rentals a JOIN r.payments b ON a.customer = b.customer),"
    " k AS (SELECT * FROM j) SELECT count(*) FROM k WHERE kind = 'a'",
    "SELECT count(*) FROM (SELECT customer, customer, id FROM r.rentals UNION ALL"
    " SELECT customer, id, id FROM r.returns) q WHERE id > 300",
    "SELECT count(*) FILTER (WHERE c2 > 300), count(*) FILTER (WHERE c4 > 300) FROM (SELECT * FROM"
    " (SELECT customer, product FROM r.rentals) a RIGHT JOIN (SELECT customer AS u, rental FROM r.payments) b"
    " ON a.customer = b.u) q(c1, c2, c3, c4)",
    "SELECT count(*) FROM (SELECT * FROM r.payments b RIGHT JOIN r.rentals a USING (customer)) q(c1, c2)"
    " WHERE c1 > 300 AND c2 > 100",
    "SELECT count(*) FROM (SELECT r.rentals.* FROM r.rentals JOIN r.payments r ON r.customer ="
    " rentals.customer) q WHERE id > 500",
    # Lists of columns of a CTE and of its alias; a key by the name of its output; the larger of two integers.
    "WITH w(a, b) AS (SELECT product, id FROM r.rentals) SELECT count(*) FILTER (WHERE a > 100) FROM w v(b, a)",
    "SELECT sum(n) FROM (SELECT customer AS u, date_trunc('month', day) AS m, count(*) AS n FROM r.rentals"
    " GROUP BY u, m) q WHERE u > 300",
    "SELECT id, count(*) FROM r.products JOIN (SELECT product::bigint AS id FROM r.rentals) q USING (id)"
    " GROUP BY id",
    # A sum of no rows.
    "SELECT sum(product) FROM r.rentals WHERE kind IN (SELECT kind FROM r.rentals GROUP BY kind"
    " HAVING count(*) > 100000)",
    # A WITH within a WITH, or in brackets, of rows and of answers.
    "WITH w AS (WITH y AS (SELECT late FROM r.returns) SELECT late, count(*) FROM y GROUP BY 1)"
    " SELECT * FROM w",
    "WITH w AS (WITH x AS MATERIALIZED (SELECT late, customer FROM r.returns), y AS (SELECT a.late FROM x a"
    " JOIN x b ON a.customer = b.customer) SELECT late, count(*) FROM y GROUP BY 1) SELECT a.late, b.count"
    " FROM w a JOIN w b ON a.late = b.late",
    "SELECT count(*) FROM (WITH y AS (SELECT customer, product FROM r.rentals WHERE product > (SELECT"
    " avg(product) FROM r.rentals)) SELECT * FROM y) q",
    "WITH q AS MATERIALIZED (WITH y AS (SELECT customer, id FROM r.rentals), z AS (SELECT * FROM y) SELECT a.*"
    " FROM z a JOIN y b ON a.customer = b.customer AND a.id = b.id) SELECT count(*) FROM q",
    "SELECT kind, sum(n) AS n FROM (WITH y AS (SELECT kind, count(*) AS n FROM r.rentals GROUP BY kind)"
    " SELECT * FROM y) q GROUP BY kind",
    "SELECT count(*) FROM r.rentals WHERE product > (WITH y AS (SELECT product FROM r.rentals) SELECT"
    " avg(product) FROM y)",
    # After a dot any word is a name.
    'SELECT count(*) FROM r.rentals p LEFT JOIN (SELECT customer AS "full" FROM r.payments) q ON p.customer ='
    ' q.full RIGHT JOIN (SELECT customer AS "using", late AS "on" FROM r.returns) s ON s.using = p.customer'
    ' AND s.on JOIN (SELECT customer AS "natural" FROM r.returns) t ON t.natural = s.using',
    'SELECT p.kind, count(*) FROM r.rentals p JOIN (SELECT customer AS "join", customer AS "left" FROM'
    " r.payments) q ON q.left = p.customer AND q . join > 5 WHERE q.join > 10 GROUP BY p.kind",
    # Names in a subquery hide those around it.
    "SELECT count(*) FROM r.rentals q WHERE EXISTS (SELECT 1 FROM r.payments p WHERE p.customer = q.customer"
    " AND id < 200)",
    "SELECT count(*) FROM r.rentals payments WHERE EXISTS (SELECT 1 FROM r.payments p JOIN r.returns rentals"
    " USING (customer) WHERE customer = payments.customer AND rentals.late)",
    "SELECT count(*) FROM r.rentals q WHERE customer IN (SELECT customer FROM r.returns e RIGHT JOIN"
    " r.payments p USING (customer) WHERE e.late)",
    # Names in a subquery that stays in the text: of its own FROM, or of the groups around it, and of no other
    # relation of the statement that happens to have them.
    "SELECT o.category, (SELECT sum(n) FROM (SELECT category AS k, count(*) AS n FROM r.rentals q"
    " JOIN r.products p ON p.id = q.product GROUP BY category HAVING EXISTS (SELECT 1 FROM r.makers m"
    " WHERE category = 'Gizmo')) z) AS sum FROM r.products o",
    "SELECT o.id, o.product, z.* FROM (SELECT id, 2 AS product FROM r.makers) o, LATERAL (SELECT"
    " (SELECT m.country FROM r.makers m WHERE m.id = product), count(*) AS n FROM r.rentals"
    " GROUP BY product) z",
    "SELECT product, (SELECT min(m.country) FROM r.makers m JOIN r.products p ON m.id = p.maker AND p.id <="
    " rentals.product), count(*) AS n FROM r.rentals GROUP BY ROLLUP (product)",
    "SELECT category, count(*) AS n FROM r.rentals q JOIN r.products p ON p.id = q.product GROUP BY category"
    " HAVING count(*) > (SELECT 20 * max(price) FROM r.products WHERE category = 'Gizmo')"
    " ORDER BY (SELECT min(id) FROM r.products i WHERE i.category = p.category)",
    "SELECT rentals.kind, (SELECT max(x) FROM (SELECT rentals.id AS x, 'kind' AS kind FROM r.products rentals)"
    " q WHERE kind = 'kind' AND rentals.kind <> 'a'), count(*) AS n FROM r.rentals GROUP BY 1",
    "SELECT (SELECT kind), (SELECT max(category) FROM (SELECT DISTINCT category, rentals.kind FROM r.products)"
    " q WHERE kind = 'a') AS best, count(*) AS n FROM r.rentals GROUP BY kind",
    "SELECT kind, count(*) AS n FROM r.rentals GROUP BY kind HAVING kind IN (WITH kind(x) AS (VALUES ('a'),"
    " (kind)) SELECT max(x) FROM kind)",
)  # fmt: skip


@pytest.fixture(scope="module")
def direct(live: LiveProxy) -> Iterator[psycopg.Connection]:
    """PostgreSQL itself."""
    dsn = live.servers.protected.dsn(RELATIONS)
    with psycopg.connect(dsn, autocommit=True, options="-c statement_timeout=5s") as connection:
        yield connection


def _difference(
    sql: str, measures: int, asking: psycopg.Connection, direct: psycopg.Connection
) -> list[str]:
    exact, answered = direct.execute(sql.encode()), asking.execute(sql.encode())
    assert described(answered) == described(exact), sql
    return differences(answered.fetchall(), exact.fetchall(), measures)


def _is_noise(
    sql: str, measures: int, asking: psycopg.Connection, direct: psycopg.Connection
) -> bool:
    """Of several tables that are joined the noise may be more than the tolerance: not so its mean."""
    exact = {row[:-measures]: row[-measures:] for row in direct.execute(sql.encode())}
    cells = defaultdict[tuple[tuple[object, ...], int], list[float]](list)
    for _ in range(20):
        for row in asking.execute(sql.encode()):
            for place, number in enumerate(row[-measures:]):
                cells[row[:-measures], place].append(float(number or 0))
    for (label, place), values in cells.items():
        wanted = float(exact.get(label, (0,) * measures)[place] or 0)
        if abs(mean(values) - wanted) > max(1, 1.5 * stdev(values)):  # of 20: six deviations
            return False
    return {label for label, _ in cells} >= exact.keys()


def _outcome(
    statement: NamedStatement, live: LiveProxy, analyst: str, direct: psycopg.Connection
) -> str:
    """ "answered", as PostgreSQL answers; "refused" for nothing; or "no query": PostgreSQL refuses it, too."""
    sql = statement.sql
    try:
        direct.execute(sql.encode())
        by_itself = ""
    except psycopg.errors.QueryCanceled:
        return "slow"
    except psycopg.Error as error:
        by_itself = str(error)
    spent = live.spent(analyst)[:2]
    with live.connect(RELATIONS, analyst=analyst) as asking:
        asking.execute("SET dp.epsilon = 100")
        try:
            asking.execute(sql.encode())
        except psycopg.Error as error:
            assert by_itself or error.sqlstate in _REFUSED, f"{error}: {sql}"
            assert error.sqlstate != "58000" and live.spent(analyst)[:2] == spent, sql
            return "no query" if by_itself else "refused"
        assert not by_itself, f"{by_itself}: {sql}"
        if _difference(sql, statement.measures, asking, direct):
            assert _is_noise(sql, statement.measures, asking, direct), sql
    return "answered"


def _run(numbers: range, live: LiveProxy, direct: psycopg.Connection) -> Counter[str]:
    """How often each outcome came, and each feature of what was answered."""
    seen = Counter[str]()
    for number in numbers:
        if number % 200 == numbers.start % 200:
            analyst = live.servers.new_analyst()
        statement = named_statement(number)
        outcome = _outcome(statement, live, analyst, direct)
        seen[outcome] += 1
        if outcome == "answered":
            seen.update(statement.features)
    return seen


@pytest.mark.every(4)
@pytest.mark.parametrize("sql", _NAMED)
def test_names_as_in_postgresql(live: LiveProxy, direct: psycopg.Connection, sql: str) -> None:
    with live.connect(RELATIONS, analyst=live.servers.new_analyst()) as asking:
        asking.execute("SET dp.epsilon = 100")
        names = [column.name for column in direct.execute(sql.encode()).description or ()]
        noisy = len(names) - sum(name not in NOISY for name in names)
        assert _difference(sql, noisy, asking, direct) == []


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT kind, (SELECT count(*) FROM r.payments p WHERE p.customer > 7 AND rentals.kind = 'a')"
        " FROM r.rentals GROUP BY kind",
        "SELECT kind, (SELECT sum(amount)) FROM r.rentals GROUP BY kind",
        "SELECT o.k1, z.n FROM (SELECT 'a' AS k1) o, LATERAL (SELECT count(*) AS n FROM r.rentals"
        " GROUP BY kind HAVING kind = k1) z",
        "SELECT kind, count(*) FROM r.rentals GROUP BY kind HAVING EXISTS (SELECT 1 FROM pg_class"
        " WHERE kind = 'a')",
    ],
)
def test_names_that_the_shadow_would_mistake_are_refused(live: LiveProxy, sql: str) -> None:
    analyst = live.servers.new_analyst()
    with live.connect(RELATIONS, analyst=analyst) as asking:
        with pytest.raises(psycopg.Error) as caught:
            asking.execute(sql.encode())
        assert caught.value.sqlstate in _REFUSED
        assert caught.value.diag.message_hint
    assert live.spent(analyst)[:2] == (0, 0)


def test_some_generated_statements(live: LiveProxy, direct: psycopg.Connection) -> None:
    seen = _run(range(25), live, direct)
    assert seen["answered"] >= 8, seen


@pytest.mark.long
def test_generated_statements(live: LiveProxy, direct: psycopg.Connection) -> None:
    seen = _run(range(1000, 1900), live, direct)
    assert seen["answered"] >= 350, seen
    assert [name for name in _FEATURES if seen[name] < 4] == [], seen
