"""The statements of tests/sql: columns, types, groups and values as PostgreSQL's, or refused with a hint; and
what of their databases a file of SQL cannot say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, time
from statistics import fmean
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus

from tests.live.compared_answers import Answer, asked_of, differences, numbers_in
from tests.live.conftest import RELATIONS
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers
from tests.sql.corpus import FOLDER, Asked, Corpus, Section, corpus

CORPORA = [corpus(file.stem) for file in sorted(FOLDER.glob("*.sql"))]

Proxies = Callable[[str], LiveProxy]


@pytest.fixture(scope="module")
def proxies(live: LiveProxy) -> Iterator[Proxies]:
    """Of a corpus by its name; one of its own where not that of all tests of this folder serves it."""
    served = dict[str, LiveProxy]()

    def of(name: str) -> LiveProxy:
        one = corpus(name)
        if name not in served and name != RELATIONS:
            how, script = one.settings["mechanism"], one.schema
            database = served_database(servers(), name, script, one.policy, how, most="100")
            served[name] = start_proxy(servers(), [database])
        return served.get(name, live)

    yield of
    for proxy in served.values():
        proxy.stop()


def _sections(kind: str) -> list[object]:
    return [
        pytest.param(one, section, rest, id=f"{one.name}: {section.title}" + " at night" * rest,
                     marks=[pytest.mark.long] if rest or "long" in section.settings else [])
        for one in CORPORA
        for section in one.expecting(kind)
        for rest in ([False, True] if "every" in section.settings else [False])
    ]  # fmt: skip


def _mean(connection: psycopg.Connection, asked: Asked, draws: int) -> Answer:
    """Of one row of numbers."""
    drawn = [asked_of(connection, asked, False) for _ in range(draws)]
    rows = [answer[1][0] for answer in drawn if not isinstance(answer, str)]
    means = tuple(
        repr(fmean(numbers_in(value)[0] for value in column)) for column in zip(*rows, strict=True)
    )
    return drawn[0][0], [means]  # type: ignore[return-value]


@pytest.mark.every(18)
@pytest.mark.parametrize(("one", "section", "rest"), _sections("as PostgreSQL"))
def test_as_postgresql(proxies: Proxies, one: Corpus, section: Section, rest: bool) -> None:
    proxy, settings, wrong = proxies(one.name), section.settings, list[str]()
    here, there = settings.get("beside", " = ").split(" = ")
    every = int(settings.get("every", "1"))
    chosen = [a for n, a in enumerate(section.statements()) if (n % every > 0) == rest]
    for session in settings.get("sessions", "").split(" | "):
        analyst = proxy.servers.new_analyst()
        with (
            psycopg.connect(proxy.servers.protected.dsn(one.name), autocommit=True) as direct,
            proxy.connect(one.name, analyst=analyst, autocommit=True) as connection,
        ):
            connection.execute("SET dp.epsilon = 100")
            for each in (direct, connection):
                for setting in filter(None, (*_own(one), *session.split("; "))):
                    each.execute(setting.encode())
            for number, asked in enumerate(chosen):
                beside = Asked(asked.sql.replace(here, there) if here else asked.sql, asked.given)
                exact, spent = asked_of(direct, beside, False), proxy.spent(analyst)
                simple = number % 2 == 0 and not asked.given
                answered = asked_of(connection, asked, simple)
                if isinstance(answered, str) or isinstance(exact, str):
                    if type(answered) is not type(exact):
                        wrong.append(f"{asked}: {answered!r} for {exact!r}")
                    if isinstance(answered, str) and proxy.spent(analyst) != spent:
                        wrong.append(f"{asked}: an error after the charge")
                    continue
                trouble = differences(answered, exact, settings)
                if trouble and "draws" in settings:
                    mean = _mean(connection, asked, int(settings["draws"]))
                    trouble = differences(mean, exact, settings)
                wrong += [f"{asked} {session}: {trouble}"] if trouble else []
    assert wrong == [], "\n".join(wrong)


def _own(one: Corpus) -> list[str]:
    """Tables of one's own."""
    own = one.sections.get("session")
    return [asked.sql for asked in own.statements()] if own else []


@pytest.mark.parametrize(("one", "section", "rest"), _sections("refused"))
def test_refused_by_a_rule_and_free_of_charge(
    proxies: Proxies, one: Corpus, section: Section, rest: bool
) -> None:
    proxy = proxies(one.name)
    analyst = proxy.servers.new_analyst()
    with proxy.connect(one.name, analyst=analyst, autocommit=True) as connection:
        for setting in _own(one):
            connection.execute(setting.encode())
        for asked in section.statements():
            with pytest.raises(psycopg.DatabaseError) as refused:
                raw = [given.encode() for given in asked.given]
                result = connection.pgconn.exec_params(asked.sql.encode(), raw)
                assert result.status != ExecStatus.TUPLES_OK, asked
                raise psycopg.errors.error_from_result(result)
            found = refused.value.diag
            assert (
                found.sqlstate in section.settings.get("sqlstate", f"{found.sqlstate}").split()
            ), asked
            said = f"{found.message_primary} {found.message_hint}"
            assert asked.hint in said and "could not be run" not in said, (asked, said)
            assert found.message_hint or "unhinted" in section.settings, (asked, said)
    assert proxy.spent(analyst)[0] == 0


@pytest.fixture(scope="module")
def sales(proxies: Proxies) -> LiveProxy:
    return proxies("sales")


def test_times_of_day_are_given_as_parameters(sales: LiveProxy) -> None:
    given: list[Any] = [time(9, 30, 0, 250_000), "24:00", "\t9:30 ", None]
    statements: list[tuple[str, list[Any]]] = [
        *(("SELECT count(*) FROM w.sales WHERE came >= %s", [one]) for one in given),
        ("SELECT count(*) FROM w.sales WHERE came < %s::time AND went <= %b", ["13:00", time(12)]),
        ("SELECT count(*) FROM w.sales WHERE came = ANY(%s::time[])", [["1:07:30.25", "24:00"]]),
        (
            "SELECT count(*) FROM w.sales WHERE came <> ALL(%b)",
            [[time(1, 7, 30, 250_000), time(0)]],
        ),
    ]
    with (
        psycopg.connect(sales.servers.protected.dsn("sales")) as direct,
        sales.connect("sales", analyst=sales.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for sql, values in statements:
            [(wanted,)] = direct.execute(sql.encode(), values).fetchall()
            [(answered,)] = connection.execute(sql.encode(), values).fetchall()
            assert abs(answered - wanted) <= max(0.6, wanted / 10_000), sql


def test_times_of_public_tables_have_extremes(sales: LiveProxy) -> None:
    joined = "FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
    statement = f"SELECT min(since), max(since), sum(price * parts) {joined} WHERE parts < 0"
    sql = f"SELECT min(since), max(since) {joined}"
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        [row] = connection.execute(sql.encode()).fetchall()
        [empty] = connection.execute(statement.encode()).fetchall()
    assert row == (date(2020, 2, 29), date(2021, 5, 31))
    assert empty[:2] == (None, None)  # of no row
    assert abs(empty[2]) < 10


def test_a_public_table_that_has_changed_is_clamped_to_what_was_read(sales: LiveProxy) -> None:
    """So that no row of it moves an answer by more than the noise is for."""
    sums = "sum(price), sum(price) FILTER (WHERE price * 2 > 7)"
    sql = f"SELECT {sums} FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
    with (
        psycopg.connect(sales.servers.protected.dsn("sales"), autocommit=True) as direct,
        sales.connect("sales", analyst=sales.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        direct.execute("UPDATE w.kinds SET price = 9999 WHERE id = 2")
        try:
            [(answered, above)] = connection.execute(sql.encode()).fetchall()
        finally:
            direct.execute("UPDATE w.kinds SET price = 0.25 WHERE id = 2")
        [(exact,)] = direct.execute(
            "SELECT sum(CASE k.id WHEN 2 THEN 3 ELSE k.price END)"
            " FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
        ).fetchall()
    assert (
        abs(answered - exact) < 5
    )  # each of the 2,000 rows counts as 3.00, the most that was there
    assert abs(above) < 5


def test_percentiles_of_an_array_are_an_array(sales: LiveProxy) -> None:
    percentiles = "percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY age)"
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 50")
        [(low, found, error)] = connection.execute(
            f"SELECT dp.low({percentiles}), {percentiles}, dp.error({percentiles}) FROM w.sales"
        ).fetchall()
        plan = "\n".join(
            line
            for (line,) in connection.execute(
                f"EXPLAIN (VERBOSE) SELECT {percentiles} FROM w.sales"
            )
        )
    assert low == error == [None, None]  # a percentile has no interval
    assert len(found) == 2 and found[0] < found[1]
    for part in ("0.25", "0.75"):
        assert plan.count(f"percentile_cont({part}) of age: exponential mechanism") == 1


def test_infinity_is_taken_in_binary(proxies: Proxies) -> None:
    """As drivers send their largest date."""
    standard = proxies("standard")
    given = ((1082, b"\x7f\xff\xff\xff"), (1082, b"\x80\x00\x00\x00"))
    asked = "SELECT count(*) FROM s.visits WHERE until < $1 AND until > $2"
    with (
        psycopg.connect(standard.servers.protected.dsn("standard"), autocommit=True) as direct,
        standard.connect("standard", analyst=standard.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        answers = [
            each.pgconn.exec_params(
                asked.encode(), [value for _, value in given], [kind for kind, _ in given], [1, 1]
            ).get_value(0, 0)
            for each in (direct, connection)
        ]
    assert answers[0] == answers[1] and answers[0] is not None


def test_what_columns_with_an_inside_are_usable_for(sales: LiveProxy) -> None:
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        uses = connection.execute(
            "SELECT column_name, usable_for FROM dp.columns"
            " WHERE column_name IN ('attrs', 'tags', 'scores', 'came')"
        ).fetchall()
    assert dict(uses) == {
        **dict.fromkeys(("attrs", "tags", "scores"), "WHERE, COUNT"),
        "came": "WHERE, COUNT, COUNT(DISTINCT)",
    }
