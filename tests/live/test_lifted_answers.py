"""Slices of one table are one question: `column = constant` is a group of that column (planner/lifting.py)."""

from __future__ import annotations

from datetime import datetime

import psycopg
import pytest

from tests.live.served_alone import served_alone
from tests.live.session_answers import answers_to, assert_near, exact_answer
from tests.live_proxy import LiveProxy

DATABASE = "lifted"
_SCRIPT = """\
CREATE SCHEMA k;
CREATE TABLE k.people (id int PRIMARY KEY, age int NOT NULL, sex text NOT NULL, state text, member boolean,
    floor int NOT NULL);
INSERT INTO k.people
SELECT n, 18 + n % 60, (ARRAY['f', 'm'])[1 + n % 2], (ARRAY['CA', 'NY', 'TX', NULL, 'WA'])[1 + n % 5],
       n % 7 = 0, n % 3
FROM generate_series(1, 3000) n;
CREATE TABLE k.visits (id int PRIMARY KEY, person int NOT NULL REFERENCES k.people, kind text NOT NULL,
    cost int NOT NULL);
CREATE TABLE k.seen (id int PRIMARY KEY, at timestamptz NOT NULL, clock timestamp, age int NOT NULL,
    sex text NOT NULL);
INSERT INTO k.seen SELECT n, timestamptz '2023-11-15 00:00+00' + n * interval '5 hours',
    timestamp '2023-11-15' + n * interval '5 hours', n % 130 - 5, (ARRAY['f', 'm'])[1 + n % 2]
FROM generate_series(1, 2500) n;
INSERT INTO k.visits SELECT n, 1 + n % 1000, (ARRAY['a', 'b', 'c', 'd'])[1 + n % 4], n % 50
FROM generate_series(1, 3900) n;
"""
_TABLES = """\
reuse: 24h
tables:
  k.people:
    unit: row
    columns:
      age: {bounds: [0, 120]}
      sex: {values: [f, m]}
      state: {values: [CA, NY, TX]}
      floor: {values: [0, 1, 2]}
      member: {}
  k.seen:
    unit: row
    columns:
      at: {bounds: [2024-01-01, 2024-12-31]}
      clock: {bounds: [2024-01-15, 2024-12-31]}
      age: {bounds: [0, 119]}
      sex: {values: [f, m]}
  k.visits:
    unit: {person: person}
    max_rows_per_unit: 4
    columns:
      kind: {values: [a, b, c, d]}
      cost: {bounds: [0, 100]}
"""


lifting = served_alone(DATABASE, _SCRIPT, _TABLES)


# Of each all but the first are slices of one question: the first costs, the others nothing.
_FAMILIES = (
    (
        "SELECT state, count(*) FROM k.people GROUP BY state ORDER BY 1",
        "SELECT count(*) FROM k.people WHERE state = 'CA'",
        "SELECT count(*) FROM k.people WHERE 'NY' = state",
        "SELECT state, count(*) FROM k.people WHERE state IN ('NY', 'TX') GROUP BY state ORDER BY 1",
        "SELECT state, count(*) FROM k.people WHERE state = 'TX' GROUP BY 1",
    ),
    (
        "SELECT count(*), sum(age) FROM k.people WHERE sex = 'f' AND member AND age > 20",
        "SELECT sum(age), count(*) FROM k.people WHERE NOT member AND age > 20 AND sex = 'm'",
        "SELECT sex, member, count(*), sum(age) FROM k.people WHERE age > 20 GROUP BY 1, 2 ORDER BY 1, 2",
        "SELECT sex, count(*), sum(age) FROM k.people WHERE age > 20 AND member GROUP BY 1 ORDER BY 1",
    ),
    (
        "SELECT sex, count(*) FROM k.people WHERE floor = 1 GROUP BY sex ORDER BY 1",
        "SELECT floor, count(*) FROM k.people WHERE sex = 'f' GROUP BY floor ORDER BY 1",
        "SELECT count(*) FROM k.people WHERE sex = 'm' AND floor = 2",
    ),
    (
        "SELECT kind, sum(cost) FROM k.visits GROUP BY kind ORDER BY 1",
        "SELECT sum(cost) FROM k.visits WHERE kind = 'b'",
    ),
)


@pytest.mark.every(2)
@pytest.mark.parametrize("texts", _FAMILIES)
def test_slices_cost_nothing(lifting: LiveProxy, texts: tuple[str, ...]) -> None:
    analyst = lifting.servers.new_analyst()
    answers = answers_to(lifting, analyst, *texts, epsilon="20")
    assert lifting.when_settled(analyst)[1] == pytest.approx(20)
    for text, answer in zip(texts, answers, strict=True):
        exact = [row for row in exact_answer(lifting, text) if None not in row and "WA" not in row]
        assert_near(answer, exact, 4000)


def test_numbers_are_those_of_the_whole(lifting: LiveProxy) -> None:
    analyst = lifting.servers.new_analyst()
    whole, one = answers_to(
        lifting,
        analyst,
        "SELECT sex, floor, count(*) FROM k.people WHERE age < 50 GROUP BY 1, 2",
        "SELECT count(*) FROM k.people WHERE age < 50 AND floor = 2 AND sex = 'f'",
    )
    assert [n for sex, floor, n in whole if (sex, floor) == ("f", 2)] == [one[0][0]]


# Each costs what it would cost by itself: it is no slice of the first, or not of equal noise.
_APART = (
    "SELECT count(*) FROM k.people WHERE state = 'WA'",  # no public value
    "SELECT count(*) FROM k.people WHERE state <> 'CA'",
    "SELECT count(*) FROM k.people WHERE state IN ('CA', 'NY')",  # a sum of two would be less exact
    "SELECT count(*) FROM k.people WHERE state = 'CA' OR sex = 'f'",
    "SELECT count(*) FROM k.people WHERE upper(state) = 'CA'",
    "SELECT count(*) FROM k.people WHERE state = 'CA' AND state = 'NY'",
    "SELECT count(*) FILTER (WHERE state = 'CA') FROM k.people",
    "SELECT max(age) FROM k.people WHERE state = 'CA'",
    "SELECT count(*) FROM (SELECT state FROM k.people WHERE state = 'NY') q",
)


def test_what_is_no_slice(lifting: LiveProxy) -> None:
    for text in _APART:
        analyst = lifting.servers.new_analyst()
        answers_to(lifting, analyst, "SELECT state, count(*) FROM k.people GROUP BY state")
        (answer,) = answers_to(lifting, analyst, text)
        assert lifting.when_settled(analyst)[1] == pytest.approx(2), text
        ((noisy,),), ((exact,),) = answer, exact_answer(lifting, text)
        assert abs(float(noisy) - float(exact)) < 40 or "max" in text


def test_fresh_is_not_lifted(lifting: LiveProxy) -> None:
    analyst = lifting.servers.new_analyst()
    text = "SELECT count(*) FROM k.people WHERE state = 'CA'"
    with lifting.connect(DATABASE, analyst=analyst) as connection:
        connection.execute(b"SET dp.fresh = on")
        verbose = f"EXPLAIN (VERBOSE) {text}".encode()
        rows = connection.execute(verbose).fetchall()
        assert "state" in str(rows) and "GROUP BY" not in str(rows)
        connection.execute(b"SET dp.fresh = off")
        assert "GROUP BY" in str(connection.execute(verbose).fetchall())


def test_explain_says_what_is_drawn_beside(lifting: LiveProxy) -> None:
    """And that rows of a unit beyond its bound are left out of all groups, not of the one that is asked for."""
    rows, units = (
        "SELECT count(*) FROM k.people WHERE state = 'NY'",
        "SELECT count(*) FROM k.visits WHERE kind = 'a'",
    )
    with lifting.connect(DATABASE, analyst=lifting.servers.new_analyst()) as connection:

        def plan(text: str) -> str:
            lines = connection.execute(f"EXPLAIN {text}".encode()).fetchall()
            return " ".join(" ".join(line.split()) for (line,) in lines)

        assert "Drawn as one of 3 groups, of which the others are free then" in plan(rows)
        assert "fewer may count" not in plan(rows)
        assert (
            "Drawn as one of 4 groups, of which the others are free then; of a unit with more than 4 rows"
            " fewer may count than by itself" in plan(units)
        )
        ((found,),) = connection.execute(f"EXPLAIN (FORMAT JSON) {units}".encode()).fetchall()
        assert "Drawn as one of 4 groups" in str(found)
        connection.execute(b"SET dp.fresh = on")
        assert "Drawn as" not in plan(units)


# The first costs, the others nothing: ranges are groups of months, weeks, tens.
_RANGES = (
    (
        "SELECT date_trunc('month', at) AS m, count(*) FROM k.seen GROUP BY 1 HAVING count(*) < 0",
        "SELECT count(*) FROM k.seen WHERE at >= '2024-05-01' AND at < '2024-06-01'",
        "SELECT count(*) FROM k.seen WHERE at < '2024-03-01 00:00+00' AND '2024-02-01' <= at",
        "SELECT date_trunc('month', at) AS m, count(*) FROM k.seen WHERE at >= '2024-10-01'"
        " GROUP BY 1 ORDER BY 1 LIMIT 2",
        "SELECT date_trunc('month', at) AS m, count(*) FROM k.seen WHERE at >= '2024-03-01'"
        " AND at < '2024-06-01' GROUP BY 1 ORDER BY 1",
    ),
    (
        "SELECT sex, count(*) FROM k.seen WHERE clock >= '2024-04-01' AND clock <= '2024-06-30 23:59:59.999999'"
        " GROUP BY 1 ORDER BY 1",
        "SELECT count(*) FROM k.seen WHERE clock >= '2024-07-01' AND clock < '2024-10-01' AND sex = 'm'",
        "SELECT date_trunc('quarter', clock) AS q, count(*) FROM k.seen WHERE clock >= '2024-04-01'"
        " AND clock < '2024-10-01' AND sex = 'f' GROUP BY 1 ORDER BY 1",
    ),
    (
        "SELECT count(*) FROM k.seen WHERE age BETWEEN 30 AND 39 AND sex = 'f'",
        "SELECT count(*) FROM k.seen WHERE age >= 40 AND age < 50 AND sex = 'm'",
        "SELECT sex, count(*) FROM k.seen WHERE age < 10 GROUP BY 1 ORDER BY 1",  # as its first group is
        "SELECT age / 10 AS ten, count(*) FROM k.seen WHERE sex = 'f' AND age > 49 AND age <= 89"
        " GROUP BY 1 ORDER BY 1",
    ),
)


@pytest.mark.parametrize("texts", _RANGES)
def test_ranges_are_groups(lifting: LiveProxy, texts: tuple[str, ...]) -> None:
    analyst = lifting.servers.new_analyst()
    answers = answers_to(lifting, analyst, *texts, epsilon="100")
    assert lifting.when_settled(analyst)[1] == pytest.approx(100)
    for text, answer in zip(texts, answers, strict=True):
        assert list(map(str, answer)) == list(map(str, exact_answer(lifting, text))), text


# Each costs what it would cost by itself, and is the answer about its own rows: what lies beyond the bounds is
# in the first and the last group of a key, and some of these are no groups at all.
_NO_GROUPS = (
    "SELECT count(*) FROM k.seen WHERE at >= '2024-01-01' AND at < '2024-02-01'",
    "SELECT count(*) FROM k.seen WHERE at >= '2024-12-01' AND at < '2025-01-01'",
    "SELECT count(*) FROM k.seen WHERE clock < '2024-02-01' AND clock >= '2024-01-01'",
    "SELECT count(*) FROM k.seen WHERE at > '2024-05-01' AND at < '2024-06-01'",
    "SELECT count(*) FROM k.seen WHERE at >= '2024-05-01' AND at < '2024-05-31'",
    "SELECT count(*) FROM k.seen WHERE at >= '2024-05-01' AND at <= '2024-06-01'",
    "SELECT count(*) FROM k.seen WHERE at >= '2024-05-01'",
    "SELECT count(*) FROM k.seen WHERE at >= '2024-05-01 00:00+02' AND at < '2024-06-01 00:00+02'",
    "SELECT count(*) FROM k.seen WHERE at >= date '2024-05-01' AND at < '2024-06-01' AND clock < '2024-05-16'",
    "SELECT count(*) FROM k.seen WHERE age >= 0 AND age < 10",
    "SELECT count(*) FROM k.seen WHERE age >= 110 AND age < 120",
    "SELECT count(*) FROM k.seen WHERE age > 110",
    "SELECT count(*) FROM k.seen WHERE age >= 35 AND age < 45",
    "SELECT count(*) FROM k.seen WHERE age < 40 AND age >= 30 AND age < 35",
    "SELECT count(*) FROM k.seen WHERE age >= 50 AND age < 40",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("text", _NO_GROUPS)
def test_ranges_that_are_no_groups(lifting: LiveProxy, text: str) -> None:
    analyst = lifting.servers.new_analyst()
    shown = ("date_trunc('month', at)", "date_trunc('month', clock)", "age / 10")
    groups = [f"SELECT {key}, count(*) FROM k.seen GROUP BY 1" for key in shown]
    *_, answer = answers_to(lifting, analyst, *groups, text, epsilon="100")
    assert lifting.when_settled(analyst)[1] == pytest.approx(400)
    assert answer == exact_answer(lifting, text)


def test_ranges_by_another_clock(lifting: LiveProxy) -> None:
    """A month of Berlin is no month of UTC."""
    analyst = lifting.servers.new_analyst()
    text = "SELECT count(*) FROM k.seen WHERE at >= '2024-05-01' AND at < '2024-06-01'"
    with lifting.connect(DATABASE, analyst=analyst) as connection:
        connection.execute(b"SET dp.epsilon = 33")
        (utc,) = connection.execute(text.encode()).fetchall()
        connection.execute(b"SET TimeZone = 'Asia/Tokyo'")
        (tokyo,) = connection.execute(text.encode()).fetchall()
        months = b"SELECT date_trunc('month', at) AS m, count(*) FROM k.seen GROUP BY 1 ORDER BY 1"
        groups = connection.execute(months).fetchall()
        assert connection.execute(text.encode()).fetchall() == [tokyo]
    assert lifting.when_settled(analyst)[1] == pytest.approx(99)
    with psycopg.connect(lifting.servers.protected.dsn(DATABASE)) as owner:
        owner.execute("SET TimeZone = 'Asia/Tokyo'")
        assert owner.execute(text.encode()).fetchall() == [tokyo]
        owner.execute("SET TimeZone = 'UTC'")
        assert owner.execute(text.encode()).fetchall() == [utc]
        owner.execute("SET TimeZone = 'Asia/Tokyo'")
        exact: dict[datetime, int] = dict(owner.execute(months).fetchall())
    assert {at: n for at, n in groups if at.year == 2024 and 2 <= at.month <= 11} == {
        at: n for at, n in exact.items() if at.year == 2024 and 2 <= at.month <= 11
    }
