"""Published tables: released on a schedule, charged to the shared budget alone, read by everybody for
nothing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.engine.publishing import Publishing
from proxy.ledger.users import open_to_all, restrict
from tests.live.published_tables import SCRIPT, TABLES, release_and_show
from tests.live.served_database import served_database
from tests.live.session_answers import answers_to, total_paid
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers
from tests.unjudged_rows import unjudged

_DRAWS = 8  # two have equal numbers now and then
DATABASE, CACHED = "published_here", "published_and_cached"


@pytest.fixture(scope="module")
def publishing() -> Iterator[LiveProxy]:
    pair = servers()
    served = [
        served_database(pair, DATABASE, SCRIPT, TABLES, "best"),
        served_database(pair, CACHED, SCRIPT, f"reuse: 24h\n{TABLES}", "best"),
    ]
    proxy = start_proxy(pair, served)
    for database in (DATABASE, CACHED):
        release_and_show(proxy, database)
    yield proxy
    proxy.stop()


def _database(proxy: LiveProxy) -> Database:
    return proxy.assembly.databases[DATABASE]


def _publishing(proxy: LiveProxy) -> Publishing:
    found = _database(proxy).publishing
    assert found is not None
    return found


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
    assert total_paid(publishing) == pytest.approx(6)
    assert publishing.spent(analyst) == (0, 0.0, 0)


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
    analyst, before = publishing.servers.new_analyst(), total_paid(publishing)
    answers = answers_to(publishing, analyst, *_CHARTS * 3)
    size = len(_CHARTS)
    assert answers[:size] == answers[size : 2 * size] == answers[2 * size :]
    assert answers[0] == answers[1] == answers[2]
    (table,) = answers_to(
        publishing, analyst, "SELECT region, orders, turnover FROM published.by_region ORDER BY 1"
    )
    assert table == answers[0]
    assert publishing.spent(analyst) == (0, 0.0, 0) and total_paid(publishing) == before


@pytest.mark.parametrize("setting", [("epsilon", "2"), ("published", "off"), ("fresh", "on")])
def test_what_is_not_there_is_paid(publishing: LiveProxy, setting: tuple[str, str]) -> None:
    """More exactly than it was published, or anew."""
    analyst, name = publishing.servers.new_analyst(), setting[0]
    answers_to(publishing, analyst, _CHARTS[5], **{name: setting[1]})
    assert publishing.when_settled(analyst)[1] == pytest.approx(2 if name == "epsilon" else 1)


# What can be made of what is published, no less exactly than it would be drawn.
_MADE = (
    "SELECT region, count(*) FROM k.orders GROUP BY region ORDER BY 1",
    "SELECT sum(amount) FROM k.orders WHERE region = 'north'",
    "SELECT region, sum(amount) / 2 FROM k.orders WHERE region IN ('north', 'east') GROUP BY 1 ORDER BY 1",
    "SELECT sum(amount), count(*) FROM k.orders WHERE region <> 'north' AND region <> 'east' GROUP BY region",
)


@pytest.mark.parametrize("text", _MADE)
@pytest.mark.parametrize("database", [DATABASE, CACHED])
def test_what_can_be_made_of_it_is_free(publishing: LiveProxy, database: str, text: str) -> None:
    analyst = publishing.servers.new_analyst()
    answers = answers_to(publishing, analyst, text, text, f"EXPLAIN {text}", database=database)
    columns = "SELECT region, orders, turnover FROM published.by_region"
    (rows,) = answers_to(publishing, analyst, columns, database=database)
    table = {row[0]: row[1:] for row in rows}
    expected = [
        sorted((region, orders) for region, (orders, _) in table.items()),
        [(table["north"][1],)],
        [(region, table[region][1] / 2) for region in ("east", "north")],
        [(table["south"][1], table["south"][0])],
    ][_MADE.index(text)]
    assert answers[0] == answers[1] == expected
    assert publishing.spent(analyst) == (0, 0.0, 0)
    assert "at no cost: " in str(answers[2]) and "published.by_region of 20" in str(answers[2])


def test_sums_of_groups_are_free_where_they_are_exact_enough(publishing: LiveProxy) -> None:
    """Of two groups the variance is twice that of one."""
    text = "SELECT count(*) FROM k.orders WHERE region IN ('north', 'east')"
    analyst = publishing.servers.new_analyst()
    answers_to(publishing, analyst, text, accept_error="2")
    answers_to(publishing, analyst, text, epsilon="0.5")
    assert publishing.spent(analyst)[0] == 0
    answers_to(publishing, analyst, text)
    assert publishing.when_settled(analyst)[1] == pytest.approx(1)


def test_rows_beyond_the_listed_groups_are_not_made_of_them(publishing: LiveProxy) -> None:
    """region is any text: the sum over the listed ones is not that of all rows."""
    analyst = publishing.servers.new_analyst()
    answers_to(publishing, analyst, "SELECT count(*) FROM k.orders", epsilon="0.1")
    assert publishing.when_settled(analyst)[1] == pytest.approx(0.1)


@pytest.mark.parametrize("database", [DATABASE, CACHED])
def test_of_several_parts_those_that_are_published_are_free(
    publishing: LiveProxy, database: str
) -> None:
    analyst = publishing.servers.new_analyst()
    text = (
        "SELECT a.n, b.n FROM (SELECT count(*) AS n FROM k.orders WHERE region = 'north') a,"
        " (SELECT count(*) AS n FROM k.people) b"
    )
    (plan, rows) = answers_to(publishing, analyst, f"EXPLAIN {text}", text, database=database)
    assert len(rows) == 1 and str(plan).count("at no cost: ") == 1
    assert publishing.when_settled(analyst)[1] == pytest.approx(0.5)


def test_the_error_is_that_of_the_release(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    made, table = answers_to(
        publishing,
        analyst,
        "SELECT region, dp.error(count(*)), dp.error(sum(amount)) FROM k.orders GROUP BY 1 ORDER BY 1",
        "SELECT region, orders_error, turnover_error FROM published.by_region ORDER BY 1",
        epsilon="0.2",
    )
    assert [tuple(map(str, row)) for row in made] == [tuple(map(str, row)) for row in table]
    assert publishing.spent(analyst)[0] == 0


def test_an_analyst_without_budget_reads_what_is_published(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    with psycopg.connect(_database(publishing).lease.ledger_dsn, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period)"
            " VALUES (%s, 'analyst', %s, 0, 0, 'none')",
            (_database(publishing).lease.source, analyst),
        )
    assert len(answers_to(publishing, analyst, _MADE[0], "TABLE published.ages")[0]) == 3
    with pytest.raises(psycopg.Error):
        answers_to(publishing, analyst, "SELECT count(*) FROM k.people")


@pytest.mark.parametrize("database", [DATABASE, CACHED])
def test_who_may_not_query_any_more_is_not_answered_from_it(
    publishing: LiveProxy, database: str
) -> None:
    """In a session that is open; nor of what they have been shown, where that is cached."""
    analyst, lease = (
        publishing.servers.new_analyst(),
        publishing.assembly.databases[database].lease,
    )
    with psycopg.connect(lease.ledger_dsn) as ledger:
        row = ledger.execute("SELECT name FROM ledger.source WHERE id = %s", (lease.source,))
        ((name,),) = row.fetchall()
    two = (_MADE[0], "SELECT sex, count(*) FROM k.people GROUP BY sex")
    part_of_it = "SELECT count(*) FROM k.people WHERE sex = 'f'"
    with publishing.connect(database, analyst=analyst) as connection:
        connection.execute("SET dp.epsilon = 0.5")
        for text in two:
            connection.execute(text.encode())
        restrict(lease.ledger_dsn, name)
        try:
            for text in (*two, part_of_it):
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="may not query"):
                    connection.execute(text.encode())
        finally:
            open_to_all(lease.ledger_dsn, name)
        assert len(connection.execute(two[0].encode()).fetchall()) == 3


def test_explain_and_notice_say_where_it_is_from(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    explained = answers_to(publishing, analyst, f"EXPLAIN {_CHARTS[0]}")[0]
    text = " ".join(str(line[0]).strip() for line in explained)
    assert "Not read, at no cost: published.by_region of 20" in text
    assert "dp.published = off asks anew" in text
    notices: list[str] = []
    with publishing.connect(DATABASE, analyst=analyst) as connection:
        connection.add_notice_handler(lambda one: notices.append(one.message_primary or ""))
        connection.execute("SET dp.notice = on")
        connection.execute(_CHARTS[0].encode())
    assert "charged epsilon 0" in notices[0] and "from published.by_region of 20" in notices[0]


def test_it_is_in_the_catalogue_and_nothing_can_be_written(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    found = answers_to(
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
            answers_to(publishing, analyst, statement)


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
    assert len(answers_to(publishing, analyst, text)[0]) == 3
    assert publishing.when_settled(analyst)[1] == pytest.approx(1)


def test_rows_of_people_are_not_joined_with_published_tables(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    with pytest.raises(psycopg.Error) as refused:
        answers_to(
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
        after = before
        for _ in range(_DRAWS):
            publishing.do(of.release(ages, is_now=True))
            assert session.execute(text).fetchall() == before, "it is not shown yet"
            publishing.do(of.show())
            after = session.execute(text).fetchall()
            if after != before:
                break
        assert after != before and snapshot.execute(text).fetchall() == before
        (asked,) = answers_to(
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
    before = answers_to(publishing, analyst, text)
    database.shadow.build(database.policy, database.catalog, unjudged(database.policy))
    assert answers_to(publishing, analyst, text) == before
    assert database.shadow.verify() == ()
