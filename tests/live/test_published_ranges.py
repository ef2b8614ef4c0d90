"""Days that are published with `ranges: day`: any range of them is free, the sum of its days, with the error of
that sum; what they do not make up is paid."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from proxy.estimates.series_noise import range_sigma2
from proxy.kernel.plan import ContinualNoise, NoisyStatistic
from proxy.mechanisms import discrete_gaussian
from tests.live.published_tables import release_and_show
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

NAME = "published_ranges"
_DAYS = 120
_SCRIPT = """\
CREATE SCHEMA s;
CREATE TABLE s.visits (id int PRIMARY KEY, person int NOT NULL, at timestamp NOT NULL, day date NOT NULL,
    tz timestamptz NOT NULL, amount int NOT NULL, kind text NOT NULL);
INSERT INTO s.visits
SELECT n, n % 3000, at, at::date, at AT TIME ZONE 'UTC', n % 90, (ARRAY['a', 'b'])[1 + n % 2]
FROM (SELECT n, timestamp '2026-01-01' + make_interval(hours => n % 2880) AS at
      FROM generate_series(1, 9000) n) v;
CREATE TABLE s.rows AS SELECT * FROM s.visits;
ALTER TABLE s.rows ADD PRIMARY KEY (id);
"""
_COLUMNS = """\
    columns:
      at: {bounds: [2025-12-01, 2026-06-30]}
      day: {bounds: [2026-01-01, 2026-04-30]}
      tz: {bounds: [2025-12-01, now]}
      amount: {bounds: [0, 100]}
      kind: {values: [a, b]}
"""
_WITHIN = "at >= '2026-01-01' AND at < '2026-05-01'"
_PUBLISHED = {
    "visits": "SELECT at::date AS day, count(*) AS n, sum(amount) AS amount FROM s.visits"
    f" WHERE {_WITHIN} GROUP BY 1",
    "of_a": "SELECT date_trunc('day', at) AS day, count(*) AS n FROM s.rows"
    f" WHERE kind = 'a' AND {_WITHIN} GROUP BY 1",
    "dates": "SELECT day, count(*) AS n FROM s.rows GROUP BY 1",
    "all_days": "SELECT date_trunc('day', at) AS day, count(*) AS n FROM s.rows GROUP BY 1",
    "instants": "SELECT date_trunc('day', tz) AS day, sum(amount) AS n FROM s.rows"
    f" WHERE {_WITHIN.replace('at ', 'tz ')} GROUP BY 1",
}


def _policy() -> str:
    publish = "".join(
        f"  - name: {name}\n    sql: |\n      {text}\n    every: 24h\n    epsilon: 60\n    ranges: day\n"
        f"    max_days_per_unit: {3 if name == 'visits' else 1}\n"
        for name, text in _PUBLISHED.items()
    )
    people = "unit: {person: person}\n    max_rows_per_unit: 3\n"
    return (
        f"reuse: 24h\npublish:\n{publish}tables:\n  s.visits:\n    {people}{_COLUMNS}"
        f"  s.rows:\n    unit: row\n{_COLUMNS}"
        "accept: {ROW_UNIT_NAMES_PEOPLE: on}\n"
    )


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiveProxy]:
    served = start_proxy(servers(), [served_database(servers(), NAME, _SCRIPT, _policy(), "best")])
    release_and_show(served, NAME)
    yield served
    served.stop()


def _asked(proxy: LiveProxy, text: str) -> tuple[list[tuple[object, ...]], float]:
    """The rows, and what they cost."""
    analyst = proxy.servers.new_analyst()
    with proxy.connect(NAME, analyst=analyst) as connection:
        rows = connection.execute(text.encode()).fetchall()
    return rows, proxy.when_settled(analyst)[1]


def _published(proxy: LiveProxy, text: str) -> list[tuple[object, ...]]:
    """Of the published table itself."""
    rows, spent = _asked(proxy, text)
    assert spent == 0
    return rows


_FREE = {
    "a month": (
        "SELECT count(*), sum(amount) FROM s.visits WHERE at >= '2026-02-01' AND at < '2026-03-01'",
        "SELECT sum(n), sum(amount) FROM published.visits WHERE day BETWEEN '2026-02-01' AND '2026-02-28'",
    ),
    "any range": (
        "SELECT sum(amount) * 2 FROM s.visits WHERE at >= '2026-01-17' AND at < '2026-04-03'",
        "SELECT sum(amount) * 2 FROM published.visits WHERE day >= '2026-01-17' AND day < '2026-04-03'",
    ),
    "the statement itself": (
        f"SELECT date_trunc('day', at), count(*) FROM s.rows WHERE kind = 'a' AND {_WITHIN} GROUP BY 1"
        " ORDER BY 1",
        "SELECT day, n FROM published.of_a ORDER BY 1",
    ),
    "some of its days": (
        "SELECT at::date, count(*) FROM s.rows WHERE kind = 'a' AND at >= '2026-02-03' AND at < '2026-02-07'"
        " GROUP BY 1 ORDER BY 1",
        "SELECT day::date, n FROM published.of_a WHERE day >= '2026-02-03' AND day < '2026-02-07' ORDER BY 1",
    ),
    "months": (
        "SELECT date_trunc('month', at), count(*) FROM s.visits WHERE at >= '2026-01-10' AND at <"
        " '2026-05-01' GROUP BY 1 ORDER BY 1",
        "SELECT date_trunc('month', day)::timestamp, sum(n) FROM published.visits WHERE day >= '2026-01-10'"
        " GROUP BY 1 ORDER BY 1",
    ),
    "weeks, with another condition": (
        "SELECT date_trunc('week', at), count(*) FROM s.rows WHERE kind = 'a' AND at >= '2026-01-05' AND"
        " at < '2026-03-02' GROUP BY 1 ORDER BY 1",
        "SELECT date_trunc('week', day), sum(n) FROM published.of_a WHERE day >= '2026-01-05' AND"
        " day < '2026-03-02' GROUP BY 1 ORDER BY 1",
    ),
    "dates": (
        "SELECT count(*) FROM s.rows WHERE day BETWEEN '2026-03-10' AND '2026-04-30'",
        "SELECT sum(n) FROM published.dates WHERE day >= '2026-03-10'",
    ),
    "from a day on, of days that end with the bounds": (
        "SELECT count(*) FROM s.rows WHERE at >= '2026-03-10'",
        "SELECT sum(n) FROM published.all_days WHERE day >= '2026-03-10'",
    ),
    "quarters until a day": (
        "SELECT date_trunc('quarter', at), count(*) FROM s.rows WHERE at < '2026-03-10' GROUP BY 1 ORDER BY 1",
        "SELECT date_trunc('quarter', day), sum(n) FROM published.all_days WHERE day < '2026-03-10'"
        " GROUP BY 1 ORDER BY 1",
    ),
    "instants": (
        "SELECT sum(amount) FROM s.rows WHERE tz >= '2026-03-10 00:00+00' AND tz < '2026-04-28 00:00+00'",
        "SELECT sum(n) FROM published.instants WHERE day >= '2026-03-10 00:00+00' AND day <"
        " '2026-04-28 00:00+00'",
    ),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", _FREE)
def test_a_range_of_published_days_is_free(proxy: LiveProxy, name: str) -> None:
    asked, summed = _FREE[name]
    rows, spent = _asked(proxy, asked)
    assert spent == 0 and rows == _published(proxy, summed) and rows


_PAID = {
    "not whole days": "at >= '2026-02-01 01:00' AND at < '2026-03-01'",
    "after the last day": "at >= '2026-02-01' AND at < '2026-05-02'",
    "before the first day": "at < '2026-03-01'",
    "another condition": "at >= '2026-02-01' AND at < '2026-03-01' AND kind = 'a'",
    "another column": "tz >= '2026-02-01 00:00+00' AND tz < '2026-03-01 00:00+00'",
    "all rows": "true",
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", _PAID)
def test_what_days_do_not_make_up_is_paid(proxy: LiveProxy, name: str) -> None:
    _, spent = _asked(proxy, f"SELECT count(*) FROM s.visits WHERE {_PAID[name]}")
    assert spent == pytest.approx(1)


@pytest.mark.parametrize(
    "what", ["avg(amount)", "count(DISTINCT person)", "count(kind)", "max(amount)"]
)
def test_what_is_no_sum_of_what_is_published_is_paid(proxy: LiveProxy, what: str) -> None:
    """But for counts of a column that is never NULL, which are those of rows."""
    text = f"SELECT {what} FROM s.visits WHERE at >= '2026-02-01' AND at < '2026-03-01'"
    assert _asked(proxy, text)[1] == pytest.approx(0 if what == "count(kind)" else 1)


def test_another_clock_than_that_of_the_days_is_paid(proxy: LiveProxy) -> None:
    text = (
        "SELECT sum(amount) FROM s.rows WHERE tz >= '2026-03-10 00:00' AND tz < '2026-04-28 00:00'"
    )
    analyst = proxy.servers.new_analyst()
    with proxy.connect(NAME, analyst=analyst) as connection:
        connection.execute("SET timezone = 'Asia/Kolkata'")
        connection.execute(text.encode())
    assert proxy.when_settled(analyst)[1] == pytest.approx(1)


def test_the_error_is_that_of_the_sum(proxy: LiveProxy) -> None:
    """Less than what its days have together, though not of one day alone."""
    publishing = proxy.assembly.databases[NAME].publishing
    assert publishing is not None
    (source,) = (one for one in publishing._engine.published.sources if one.name == "visits")
    (release,) = (
        one
        for one in source.block.releases
        if isinstance(one, NoisyStatistic) and one.aggregate.operand is None
    )
    assert isinstance(release.noise, ContinualNoise) and len(release.noise.factor) == _DAYS
    for begin, end in ((31, 59), (31, 90), (1, 120)):
        first, last = (date(2026, 1, 1) + timedelta(days=day) for day in (begin, end))
        ((low, n, error, high),), spent = _asked(
            proxy,
            "SELECT dp.low(count(*)), count(*), dp.error(count(*)), dp.high(count(*)) FROM s.visits"
            f" WHERE at >= '{first}' AND at < '{last}'",
        )
        noise = release.noise.factor, release.noise.sigma2
        assert spent == 0 and isinstance(n, int) and isinstance(error, float)
        assert error == discrete_gaussian.half_width(range_sigma2(*noise, begin, end))
        assert (low, high) == (n - error, n + error)
        of_days = (end - begin) * range_sigma2(*noise, 60, 61)
        assert range_sigma2(*noise, begin, end) < of_days / 4


def test_explain_names_the_days(proxy: LiveProxy) -> None:
    text = "EXPLAIN SELECT count(*) FROM s.visits WHERE at >= '2026-02-01' AND at < '2026-03-01'"
    plan = " ".join(str(line).strip() for (line,) in _asked(proxy, text)[0])
    plan = " ".join(plan.split())
    assert "made of published.visits" in plan and "28 days added up" in plan
    assert "a unit counts on 3 of its days at most" in plan
