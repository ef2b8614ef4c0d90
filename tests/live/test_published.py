"""Published tables: released on a schedule, charged to the shared budget alone, read by everybody for
nothing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.engine.publishing import Publishing
from tests.live.published_tables import SCRIPT, TABLES
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

DATABASE = "published_here"


@pytest.fixture(scope="module")
def publishing() -> Iterator[LiveProxy]:
    pair = servers()
    proxy = start_proxy(pair, [served_database(pair, DATABASE, SCRIPT, TABLES, "best")])
    of = _publishing(proxy)
    proxy.do(of.release_due())
    proxy.do(of.show())
    yield proxy
    proxy.stop()


def _database(proxy: LiveProxy) -> Database:
    return proxy.assembly.databases[DATABASE]


def _publishing(proxy: LiveProxy) -> Publishing:
    found = _database(proxy).publishing
    assert found is not None
    return found


def _total(proxy: LiveProxy) -> float:
    lease = _database(proxy).lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT coalesce(sum(coalesce(drawn_epsilon, epsilon)), 0)::float8 FROM ledger.receipt"
            " WHERE source = %s",
            (lease.source,),
        ).fetchone()
    assert row is not None
    return float(row[0])


def test_a_table_stands_with_errors_and_a_comment(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    with publishing.connect(DATABASE, analyst=analyst) as connection:
        found = connection.execute("SELECT * FROM published.by_region ORDER BY region")
        assert [column.name for column in found.description or ()] == [
            *("region", "orders", "turnover", "orders_error", "turnover_error")
        ]
        rows = found.fetchall()
        comment = connection.execute(
            "SELECT obj_description('published.by_region'::regclass)"
        ).fetchone()
    assert [row[0] for row in rows] == ["east", "north", "south"]
    assert all(700 < row[1] < 950 and 0 < row[3] < 60 for row in rows)
    assert comment is not None and "epsilon 2, delta 0" in comment[0], comment
    assert _total(publishing) == pytest.approx(6)
    assert publishing.spent(analyst) == (0, 0.0, 0)


def _ask(
    proxy: LiveProxy, analyst: str, *texts: str, **more: str
) -> list[list[tuple[object, ...]]]:
    with proxy.connect(DATABASE, analyst=analyst) as connection:
        for name, value in more.items():
            connection.execute(f"SET dp.{name} = {value}".encode())
        return [connection.execute(text.encode()).fetchall() for text in texts]


_CHARTS = (
    "SELECT region, count(*) AS orders, sum(amount) AS turnover FROM k.orders GROUP BY region ORDER BY 1",
    "select o.region, COUNT(*), SUM(o.amount) from k.orders as o group by o.region order by 1",
    "SELECT region, a, b FROM (SELECT sum(amount) AS b, count(*) AS a, region FROM k.orders"
    " GROUP BY 3) q ORDER BY 1",
    "SELECT region, count(*), sum(amount) FROM k.orders GROUP BY region ORDER BY 2 DESC LIMIT 1",
    "SELECT sex, count(*), avg(age), max(age) FROM k.people GROUP BY sex HAVING count(*) > 0",
    "SELECT count(*) FROM k.orders WHERE day >= '2024-01-01'",
    "SELECT region, orders, turnover / orders FROM published.by_region",
    "TABLE published.ages",
)


def test_a_dashboard_costs_analysts_nothing(publishing: LiveProxy) -> None:
    analyst, before = publishing.servers.new_analyst(), _total(publishing)
    answers = _ask(publishing, analyst, *_CHARTS * 3)
    size = len(_CHARTS)
    assert answers[:size] == answers[size : 2 * size] == answers[2 * size :]
    assert answers[0] == answers[1] == answers[2]
    (table,) = _ask(
        publishing, analyst, "SELECT region, orders, turnover FROM published.by_region ORDER BY 1"
    )
    assert table == answers[0]
    assert publishing.spent(analyst) == (0, 0.0, 0) and _total(publishing) == before


@pytest.mark.parametrize("setting", [("epsilon", "2"), ("published", "off"), ("fresh", "on")])
def test_what_is_not_there_is_paid(publishing: LiveProxy, setting: tuple[str, str]) -> None:
    """More exactly than it was published, or anew."""
    analyst, name = publishing.servers.new_analyst(), setting[0]
    _ask(publishing, analyst, _CHARTS[5], **{name: setting[1]})
    assert publishing.when_settled(analyst)[1] == pytest.approx(2 if name == "epsilon" else 1)


def test_a_part_alone_is_paid(publishing: LiveProxy) -> None:
    """What is derived from published answers comes with derivation."""
    analyst = publishing.servers.new_analyst()
    _ask(publishing, analyst, "SELECT region, count(*) FROM k.orders GROUP BY region")
    assert publishing.when_settled(analyst)[1] == pytest.approx(1)


def test_explain_and_notice_say_where_it_is_from(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    explained = _ask(publishing, analyst, f"EXPLAIN {_CHARTS[0]}")[0]
    text = " ".join(str(line[0]).strip() for line in explained)
    assert "Answered from published.by_region of 20" in text and "nothing is charged" in text
    notices: list[str] = []
    with publishing.connect(DATABASE, analyst=analyst) as connection:
        connection.add_notice_handler(lambda one: notices.append(one.message_primary or ""))
        connection.execute("SET dp.notice = on")
        connection.execute(_CHARTS[0].encode())
    assert "charged epsilon 0" in notices[0] and "from published.by_region of 20" in notices[0]


def test_it_is_in_the_catalogue_and_nothing_can_be_written(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    found = _ask(
        publishing,
        analyst,
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'published' ORDER BY 1",
        "SELECT count(*) FROM by_region",
    )
    assert found == [[("ages",), ("by_region",), ("of_year",)], [(3,)]]
    displayed = publishing.psql("\\d", database=DATABASE)
    assert "published|by_region|table" in displayed
    for statement in (
        "DELETE FROM published.by_region",
        "DROP TABLE published.by_region",
        "CREATE TABLE published.mine (a int)",
        "GRANT SELECT ON published.by_region TO PUBLIC",
    ):
        with pytest.raises(psycopg.Error):
            _ask(publishing, analyst, statement)


_JOINS = (
    "SELECT a.region, a.n, p.orders FROM (SELECT region, count(*) AS n FROM k.orders WHERE amount > 10"
    " GROUP BY region) a JOIN published.by_region p ON p.region = a.region",
    "WITH a AS (SELECT region, count(*) AS n FROM k.orders WHERE amount > 10 GROUP BY region)"
    " SELECT region, n::float / orders FROM a JOIN published.by_region USING (region)",
    "SELECT region, count(*), (SELECT max(orders) FROM published.by_region) FROM k.orders"
    " WHERE amount > 10 GROUP BY region",
)


@pytest.mark.parametrize("text", _JOINS)
def test_answers_are_joined_with_published_tables(publishing: LiveProxy, text: str) -> None:
    analyst = publishing.servers.new_analyst()
    assert len(_ask(publishing, analyst, text)[0]) == 3
    assert publishing.when_settled(analyst)[1] == pytest.approx(1)


def test_rows_of_people_are_not_joined_with_published_tables(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    with pytest.raises(psycopg.Error) as refused:
        _ask(
            publishing,
            analyst,
            "SELECT count(*) FROM k.orders o JOIN published.by_region p ON p.region = o.region",
        )
    assert "cannot be joined with a published table" in str(refused.value)
    assert "JOIN published.by_region p" in str(refused.value.diag.message_hint)
    assert publishing.spent(analyst)[0] == 0


def test_an_open_session_sees_the_next_release(publishing: LiveProxy) -> None:
    """In its next statement, and nobody waits for a lock; a snapshot that is older stays what it was."""
    of, analyst = _publishing(publishing), publishing.servers.new_analyst()
    ages = next(one for one in of.publications if one.name == "ages")
    text = "SELECT * FROM published.ages ORDER BY 1"
    with (
        publishing.connect(DATABASE, analyst=analyst, prepare_threshold=0) as session,
        publishing.connect(DATABASE, analyst=analyst, autocommit=False) as snapshot,
    ):
        snapshot.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        before = session.execute(text).fetchall()
        assert snapshot.execute(text).fetchall() == before
        publishing.do(of.release(ages, is_now=True))
        assert session.execute(text).fetchall() == before, "it is not shown yet"
        publishing.do(of.show())
        after = session.execute(text).fetchall()
        assert after != before and snapshot.execute(text).fetchall() == before
        (asked,) = _ask(
            publishing,
            analyst,
            "SELECT sex, count(*), avg(age), max(age) FROM k.people GROUP BY 1 ORDER BY 1",
        )
        assert [row[:2] for row in asked] == [row[:2] for row in after]
    assert publishing.spent(analyst)[0] == 0
    assert _database(publishing).shadow.verify() == (), "the guard is what it must be"


def test_a_shadow_that_is_built_again_has_its_tables(publishing: LiveProxy) -> None:
    database, analyst = _database(publishing), publishing.servers.new_analyst()
    text = "SELECT * FROM published.by_region ORDER BY 1"
    before = _ask(publishing, analyst, text)
    database.shadow.build(database.policy, database.catalog)
    assert _ask(publishing, analyst, text) == before
    assert database.shadow.verify() == ()
