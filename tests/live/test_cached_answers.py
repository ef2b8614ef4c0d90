"""Answers that are cached: one question, however written, is drawn once in a slot and paid once by each."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from proxy.cli.assembly import Database, assemble
from proxy.policy_file.policy_yaml import read_policy
from tests.chosen_slots import reuse_with_far_step, with_chosen_slots
from tests.ledger_key import LEDGER_CIPHER
from tests.live.cached_tables import SCRIPT, TABLES, without_people
from tests.live.served_database import READER, policy_head, served_database
from tests.live.session_answers import answers_to, total_paid
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers.http.both_listeners import open_http
from tests.servers_fixture import servers

DATABASE = "cached"
_DRAWS = 8  # two are equal once in some hundred


@pytest.fixture(scope="module")
def keeping() -> Iterator[LiveProxy]:
    pair = servers()
    proxy = start_proxy(pair, [served_database(pair, DATABASE, SCRIPT, TABLES, "auto")])
    with psycopg.connect(pair.protected.dsn(DATABASE)) as owner:  # as `policy check` asks for
        limit = f"ALTER ROLE {READER} IN DATABASE {DATABASE} SET temp_file_limit = '1GB'"
        owner.execute(limit.encode())
    yield proxy
    proxy.stop()


_SPELLINGS = (
    "SELECT region, count(*), sum(amount) FROM k.orders WHERE day >= '2024-03-01' GROUP BY region ORDER BY 1",
    "select o.region, COUNT(*), SUM(o.amount) from k.orders as o where not (o.day < date '2024-03-01')"
    " group by o.region order by 1",
    "SELECT region, a AS n, b FROM (SELECT sum(amount) AS b, count(*) AS a, region FROM k.orders"
    " WHERE '2024-03-01' <= day GROUP BY 3) q ORDER BY 1",
    "SELECT region, count(*), sum(amount) FROM k.orders WHERE day >= '2024-03-01' AND day >= '2024-03-01'"
    " GROUP BY 1 ORDER BY region",
    "SELECT region, count(*), sum(amount) FROM k.orders WHERE day >= make_date(2024, 3, 1)"
    " GROUP BY 1 ORDER BY 1",
    "SELECT region, count(1), sum(amount) FROM k.orders WHERE day >= '2024-03-01' GROUP BY 1 ORDER BY 1",
    "WITH o AS (SELECT * FROM k.orders) SELECT region, count(*), sum(amount) FROM k.orders"
    " WHERE day >= '2024-03-01' GROUP BY 1 ORDER BY 1",
)


def test_spellings_cost_one(keeping: LiveProxy) -> None:
    analyst, before = keeping.servers.new_analyst(), total_paid(keeping)
    answers = answers_to(keeping, analyst, *_SPELLINGS)
    assert all(answer == answers[0] for answer in answers)
    assert keeping.when_settled(analyst)[1] == pytest.approx(1)
    assert total_paid(keeping) - before == pytest.approx(1)


def test_over_http_a_repeated_answer_says_so_and_a_fresh_one_can_be_had(
    keeping: LiveProxy,
) -> None:
    http, analyst = open_http(keeping), keeping.servers.new_analyst()

    def asked(**more: bool) -> tuple[object, str, float]:
        text = "SELECT count(*), sum(amount) FROM k.orders WHERE day >= '2024-05-05'"
        response = http.query(text, database=DATABASE, analyst=analyst, **more)
        body = response.json()
        assert response.status_code == 200, body
        return body["rows"], body["privacy"]["source"], body["privacy"]["epsilon"]

    try:
        first, again = asked(), asked(fresh=False)
        fresh = [asked(fresh=True) for _ in range(_DRAWS)]
        assert [one[1:] for one in (first, again)] == [("fresh", 1), ("cached", 0)]
        assert {one[1:] for one in fresh} == {("fresh", 1)}
        assert again[0] == first[0] and [one[0] for one in fresh] != [first[0]] * _DRAWS
        for more, told in (({}, "cached"), ({"fresh": True}, "fresh")):
            csv = {"Accept": "text/csv"}
            text = "SELECT count(*), sum(amount) FROM k.orders WHERE day >= '2024-05-05'"
            response = http.query(text, database=DATABASE, analyst=analyst, headers=csv, **more)
            assert response.headers["DPProxy-Source"] == told
    finally:
        http.close()


_KINDS = (
    "SELECT count(*) FROM k.people WHERE age > 30",
    "SELECT sex, avg(age), min(age), max(age) FROM k.people GROUP BY sex",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age), count(DISTINCT age) FROM k.people",
    "SELECT stddev(age), avg(age) FILTER (WHERE sex = 'f') FROM k.people",
    "SELECT avg(amount), sum(amount), count(*) FROM k.orders",
    "SELECT city, count(*) FROM k.orders GROUP BY city ORDER BY city",
    "SELECT region, count(DISTINCT customer), avg(amount) FROM k.orders GROUP BY 1 ORDER BY 2",
    "SELECT date_trunc('month', day) AS m, count(*) FROM k.orders GROUP BY 1 ORDER BY 1",
    "SELECT (SELECT count(*) FROM k.people), count(*) FROM k.orders",
    "SELECT dp.low(avg(age)), dp.high(avg(age)), dp.error(count(*)) FROM k.people",
    "SELECT dp.clipped(sum(amount)), dp.error(sum(amount)) FROM k.orders",
    "SELECT region, sum(amount) FROM k.orders GROUP BY ROLLUP (region) ORDER BY 1",
)


@pytest.mark.every(4)
@pytest.mark.parametrize("text", _KINDS)
def test_bytes_are_the_same(keeping: LiveProxy, text: str) -> None:
    """Of every kind of release; the second analyst pays, the shared budget does not."""
    first, second = keeping.servers.new_analyst(), keeping.servers.new_analyst()
    one = answers_to(keeping, first, text, text)
    paid = keeping.when_settled(first)[1]
    before = total_paid(keeping)
    two = answers_to(keeping, second, text)
    assert one[0] == one[1] == two[0]
    assert paid == pytest.approx(1)
    assert keeping.when_settled(second)[1] == pytest.approx(1)
    assert total_paid(keeping) == pytest.approx(before)


def test_other_epsilon_is_other_terms(keeping: LiveProxy) -> None:
    analyst, before = keeping.servers.new_analyst(), total_paid(keeping)
    text = "SELECT count(*) FROM k.people WHERE age > 31"
    answers_to(keeping, analyst, text)
    answers_to(keeping, analyst, text, epsilon="2")
    assert total_paid(keeping) - before == pytest.approx(3)


def test_who_has_been_shown_a_better_answer_gets_that(keeping: LiveProxy) -> None:
    """And pays nothing; who has not, draws anew: that it stands there tells nobody who asked for it."""
    first, second, before = (
        keeping.servers.new_analyst(),
        keeping.servers.new_analyst(),
        total_paid(keeping),
    )
    text = "SELECT count(*), dp.error(count(*)) FROM k.people WHERE age > 33"
    better = answers_to(keeping, first, text, epsilon="2")
    assert answers_to(keeping, first, text, epsilon="0.5") == better
    assert keeping.when_settled(first)[1] == pytest.approx(2)
    answers_to(keeping, second, text, epsilon="0.5")
    assert keeping.when_settled(second)[1] == pytest.approx(0.5)
    assert total_paid(keeping) - before == pytest.approx(2.5)


def test_fresh_never_replaces(keeping: LiveProxy) -> None:
    """Else one would draw until the number suits."""
    analyst, before = keeping.servers.new_analyst(), total_paid(keeping)
    text = "SELECT sum(age) FROM k.people WHERE age > 32"
    cached = answers_to(keeping, analyst, text)
    fresh = answers_to(keeping, analyst, *[text] * _DRAWS, fresh="on")
    assert fresh != fresh[:1] * _DRAWS and fresh != cached * _DRAWS
    assert answers_to(keeping, analyst, text) == cached
    assert total_paid(keeping) - before == pytest.approx(1 + _DRAWS)


def test_many_at_once_draw_once(keeping: LiveProxy) -> None:
    """By eight connections of three analysts."""
    analysts = [keeping.servers.new_analyst() for _ in range(3)]
    before, found = total_paid(keeping), list[object]()
    text = "SELECT sex, count(*), sum(age) FROM k.people WHERE age < 70 GROUP BY sex ORDER BY 1"
    begin = threading.Barrier(8)

    def ask(analyst: str) -> None:
        begin.wait(60)
        found.append(answers_to(keeping, analyst, text, text))

    asking = [threading.Thread(target=ask, args=(analysts[n % 3],)) for n in range(8)]
    for one in asking:
        one.start()
    for one in asking:
        one.join(60)
    assert len(found) == 8 and all(answer == found[0] for answer in found)
    assert total_paid(keeping) - before == pytest.approx(1)
    assert [keeping.when_settled(one)[1] for one in analysts] == pytest.approx([1, 1, 1])


def test_what_is_cached_needs_no_data(keeping: LiveProxy) -> None:
    """A hit reads the ledger alone."""
    analyst = keeping.servers.new_analyst()
    text = "SELECT max(age) FROM k.people WHERE age < 60"
    cached = answers_to(keeping, analyst, text)
    with without_people(keeping, DATABASE):
        assert answers_to(keeping, analyst, text) == cached
        with pytest.raises(psycopg.Error):
            answers_to(keeping, analyst, text, fresh="on")


def test_a_draw_that_failed_is_finished_under_its_charge(keeping: LiveProxy) -> None:
    analyst, before = keeping.servers.new_analyst(), total_paid(keeping)
    text = "SELECT min(age) FROM k.people WHERE age > 33"
    with without_people(keeping, DATABASE), pytest.raises(psycopg.Error):
        answers_to(keeping, analyst, text)
    assert total_paid(keeping) - before == pytest.approx(1)
    first = answers_to(keeping, analyst, text)
    assert answers_to(keeping, keeping.servers.new_analyst(), text) == first
    assert total_paid(keeping) - before == pytest.approx(1)
    assert keeping.when_settled(analyst)[1] == pytest.approx(1)


def test_another_process_needs_no_budget_for_what_was_seen(keeping: LiveProxy) -> None:
    """What is cached survives a restart, and what is paid for can be read when nothing is left."""
    analyst = keeping.servers.new_analyst()
    keeping.set_limit(DATABASE, analyst, "1", "0.5")
    text = "SELECT count(*) FROM k.people WHERE age > 34"
    cached = answers_to(keeping, analyst, text)
    here = keeping.assembly.databases[DATABASE]
    other = start_proxy(
        keeping.servers,
        [assemble(here.policy, here.catalog, here.shadow, here.lease, LEDGER_CIPHER)],
    )
    try:
        assert answers_to(other, analyst, text) == cached
        with pytest.raises(psycopg.Error, match="does not cover"):
            answers_to(other, analyst, "SELECT count(*) FROM k.people WHERE age > 35")
    finally:
        other.stop()


_PRESENT = (
    "SELECT count(*) FROM k.orders WHERE day > now() - interval '300 days'",
    "SELECT count(*) FROM k.orders WHERE day > (current_timestamp - interval '300 days')",
    "SELECT sum(amount) FROM k.orders WHERE day >= CURRENT_DATE - 900",
)


def test_the_present_is_in_steps(keeping: LiveProxy) -> None:
    """A dashboard of the last days is one question for a while; with `now: exact` it is another each time."""
    paid = []
    for reuse in (reuse_with_far_step(), "reuse: {for: 24h, now: exact}"):
        proxy = start_proxy(keeping.servers, [_dashboard(keeping, reuse)])
        try:
            paid.append(_paid_for_two_views(proxy))
        finally:
            proxy.stop()
    assert paid[0] <= 4.01 < paid[1]


def test_by_default_the_present_is_in_slots(keeping: LiveProxy) -> None:
    """Of an hour, as the windows have days."""
    proxy = start_proxy(keeping.servers, [_dashboard(keeping, "reuse: 24h")])
    try:
        paid, hours = 0.0, {0, 1}
        while len(hours) > 1:  # a slot has ended meanwhile
            begun = _hour(proxy)
            paid = _paid_for_two_views(proxy)
            hours = {begun, _hour(proxy)}
        assert paid <= 4.01
    finally:
        proxy.stop()


def _dashboard(keeping: LiveProxy, reuse: str) -> Database:
    """The same tables, by a policy of another `reuse`."""
    here = keeping.assembly.databases[DATABASE]
    tables = TABLES.replace("reuse: 24h", reuse)
    text = with_chosen_slots(policy_head(DATABASE, "auto") + tables)
    other = read_policy(text, "cached.yaml", {"DSN": here.policy.source})
    policy = replace(here.policy, reuse=other.reuse)
    lease = keeping.servers.lease(policy)
    return assemble(policy, here.catalog, here.shadow, lease, LEDGER_CIPHER)


def _paid_for_two_views(proxy: LiveProxy) -> float:
    analyst = proxy.servers.new_analyst()
    for _ in range(2):
        with proxy.connect(DATABASE, analyst=analyst) as connection:
            for text in _PRESENT:
                connection.execute(text.encode())
            connection.execute(
                "SELECT count(*) FROM k.orders WHERE day > now() - %s::interval",
                ("9 days",),
            )
    return proxy.when_settled(analyst)[1]


def _hour(proxy: LiveProxy) -> int:
    """By the clock of the shadow, whose now() it is."""
    with psycopg.connect(proxy.servers.shadow_server.dsn()) as connection:
        row = connection.execute("SELECT extract(epoch FROM now())::bigint / 3600").fetchone()
    assert row is not None
    return int(row[0])


def test_a_corrected_statement_costs_nothing(keeping: LiveProxy) -> None:
    """And the error that came after the charge says so."""
    analyst = keeping.servers.new_analyst()
    with keeping.connect(DATABASE, analyst=analyst) as connection:
        with pytest.raises(psycopg.DataError) as raised:
            connection.execute(
                "SELECT (count(*) * 10000)::smallint FROM k.orders WHERE amount < 71"
            )
        paid = keeping.when_settled(analyst)
        assert paid[0] == 1
        assert "(receipt " in (raised.value.diag.message_hint or "")
        assert "costs nothing while the answer is reused" in (raised.value.diag.message_hint or "")
        connection.execute("SELECT (count(*) * 10000)::integer FROM k.orders WHERE amount < 71")
    assert keeping.when_settled(analyst)[1] == paid[1]
