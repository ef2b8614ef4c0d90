"""Answers made of one that was shown or published, beside what PostgreSQL says of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.live.published_tables import release_and_show
from tests.live.served_database import served_database
from tests.live.session_answers import answers_to, assert_near, exact_answer
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

DATABASE = "combined"
_SCRIPT = """\
CREATE SCHEMA k;
CREATE TABLE k.people (id int PRIMARY KEY, age int NOT NULL, pay int, member boolean NOT NULL, maybe boolean,
    region text NOT NULL, place text);
INSERT INTO k.people
SELECT n, 18 + n % 60, nullif(n % 90, 7), n % 7 = 0, (ARRAY[true, false, NULL])[1 + n % 3],
       (ARRAY['north', 'south', 'east', 'west'])[1 + n % 4], (ARRAY['a', 'b', NULL])[1 + n % 3]
FROM generate_series(1, 3000) n;
CREATE TABLE k.visits (id int PRIMARY KEY, person int NOT NULL REFERENCES k.people, paid boolean NOT NULL,
    late boolean NOT NULL, room text NOT NULL, cost int NOT NULL);
INSERT INTO k.visits SELECT n, 1 + n % 1000, n % 2 = 0, n % 5 = 0, (ARRAY['x', 'y', 'z'])[1 + n % 3], n % 50
FROM generate_series(1, 4000) n;
CREATE TABLE k.calls (LIKE k.visits);
INSERT INTO k.calls SELECT * FROM k.visits;
"""
_TABLES = """\
reuse: {for: 24h, lift: off}
publish:
  - {name: both, sql: 'SELECT sum(cost) AS s, count(*) AS n FROM k.calls', every: 24h, epsilon: 20}
  - {name: counts, sql: 'SELECT count(*) AS n FROM k.visits', every: 24h, epsilon: 20}
  - {name: costs, sql: SELECT sum(cost) AS s FROM k.visits, every: 24h, epsilon: 20}
tables:
  k.people:
    unit: row
    columns:
      age: {bounds: [0, 120]}
      pay: {bounds: [0, 100]}
      member: {}
      maybe: {}
      region: {values: [north, south, east]}
      place: {values: [a, b]}
  k.visits:
    unit: {person: person}
    max_rows_per_unit: 4
    columns:
      paid: {}
      late: {}
      room: {values: [x, y]}
      cost: {bounds: [0, 100]}
  k.calls:
    unit: {person: person}
    max_rows_per_unit: 4
    max_groups_per_unit: 1
    columns:
      paid: {}
      late: {}
      room: {values: [x, y]}
      cost: {bounds: [0, 100]}
"""


@pytest.fixture(scope="module")
def combining() -> Iterator[LiveProxy]:
    pair = servers()
    served = served_database(pair, DATABASE, _SCRIPT, _TABLES, "sum_over_count", most="100")
    proxy = start_proxy(pair, [served])
    release_and_show(proxy, DATABASE)
    yield proxy
    proxy.stop()


_P, _V = "FROM k.people", "FROM k.visits"
# What was shown, what is made of it, and how near it is at the sources' epsilon.
_FREE: tuple[tuple[Sequence[str], str, float], ...] = (
    ((f"SELECT sum(age), count(*) {_P}",), f"SELECT avg(age) {_P}", 1),
    ((f"SELECT sum(pay), count(pay) {_P}",), f"SELECT avg(pay) {_P}", 1),
    (
        (f"SELECT member, sum(age), count(age) {_P} GROUP BY 1",),
        f"SELECT member, avg(age) {_P} GROUP BY member ORDER BY 1",
        1,
    ),
    (
        (f"SELECT member, region, sum(age), count(*) {_P} GROUP BY 1, 2",),
        f"SELECT avg(age) {_P} WHERE region IN ('north', 'east')",
        1,
    ),
    ((f"SELECT sum(cost), count(*) {_V}",), f"SELECT avg(cost) {_V}", 1),
)
# Between two statements rows may have come and gone: nothing is made of two states (or of their quotient).
_TWO_STATES: tuple[tuple[Sequence[str], str], ...] = (
    ((f"SELECT sum(age) {_P}", f"SELECT count(*) {_P}"), f"SELECT avg(age) {_P}"),
    ((f"SELECT count(*) {_P}", f"SELECT sum(age) {_P}"), f"SELECT sum(age), count(*) {_P}"),
    (
        (f"SELECT count(*) {_P}", f"SELECT count(*) {_P} WHERE region = 'north'"),
        f"SELECT count(*) {_P} WHERE region <> 'north'",
    ),
    (
        (f"SELECT count(*), sum(age) {_P}", f"SELECT region, count(*), sum(age) {_P} GROUP BY 1"),
        f"SELECT avg(age), count(*) {_P} WHERE region NOT IN ('north', 'south')",
    ),
    (
        (f"SELECT count(*) {_P} WHERE member", f"SELECT count(*) {_P} WHERE member AND age > 40"),
        f"SELECT count(*) {_P} WHERE member AND NOT age > 40",
    ),
    (
        (f"SELECT count(*) {_V}", f"SELECT room, paid, count(*) {_V} GROUP BY 1, 2"),
        f"SELECT count(*) {_V} WHERE room <> 'x'",
    ),
)


@pytest.mark.every(3)
@pytest.mark.parametrize(("first", "text", "near"), _FREE)
def test_it_is_made_of_what_was_shown(
    combining: LiveProxy, first: Sequence[str], text: str, near: float
) -> None:
    """Twice the same, for nothing; what EXPLAIN says; and what PostgreSQL says of the rows."""
    analyst = combining.servers.new_analyst()
    answers_to(combining, analyst, *first, epsilon="100")
    paid = combining.when_settled(analyst)[1]
    plan, found, again = answers_to(combining, analyst, f"EXPLAIN {text}", text, text, epsilon="5")
    assert "Not read, at no cost: " in str(plan)
    assert found == again
    assert_near(found, exact_answer(combining, text), near)
    assert combining.when_settled(analyst)[1] == paid


# Of each a fresh answer would say something else, or more exactly.
_NOT_FREE: tuple[tuple[Sequence[str], str], ...] = (
    # NULLs: rows that are counted are not those that are added up.
    ((f"SELECT sum(pay) {_P}", f"SELECT count(*) {_P}"), f"SELECT avg(pay) {_P}"),
    ((f"SELECT sum(age) {_P}", f"SELECT count(pay) {_P}"), f"SELECT avg(age) {_P}"),
    ((f"SELECT sum(age) {_P} WHERE member", f"SELECT count(*) {_P}"), f"SELECT avg(age) {_P}"),
    ((f"SELECT sum(age) {_P}", f"SELECT count(*) {_P} WHERE member"), f"SELECT avg(age) {_P}"),
    # Other clamps: of an expression, of a narrower range.
    ((f"SELECT sum(age + 1), count(*) {_P}",), f"SELECT avg(age) {_P}"),
    ((f"SELECT sum(age), count(*) {_P}",), f"SELECT avg(least(age, 40)) {_P}"),
    # Rows of no group: region has others than are listed, maybe is NULL.
    (
        (f"SELECT region, sum(age), count(*) {_P} GROUP BY 1",),
        f"SELECT avg(age) {_P}",
    ),
    (
        (f"SELECT count(*) {_P}", f"SELECT count(*) {_P} WHERE maybe"),
        f"SELECT count(*) {_P} WHERE NOT maybe",
    ),
    (
        (f"SELECT count(*) {_P}", f"SELECT place, count(*) {_P} GROUP BY 1"),
        f"SELECT count(*) {_P} WHERE place <> 'a'",
    ),
    (
        (f"SELECT count(*) {_P}", f"SELECT region, count(*) {_P} GROUP BY 1"),
        f"SELECT count(*) {_P} WHERE region IN ('north', 'south', 'west')",
    ),
    (
        (f"SELECT count(*) {_P}", f"SELECT count(*) {_P} WHERE age > 30"),
        f"SELECT count(*) {_P} WHERE member AND NOT age > 30",
    ),
    (
        (f"SELECT count(*) {_P}", f"SELECT region, count(pay) {_P} GROUP BY 1"),
        f"SELECT count(*) {_P} WHERE region <> 'north'",
    ),
    # Values that are there twice are in both.
    (
        (
            f"SELECT count(DISTINCT age) {_P}",
            f"SELECT count(DISTINCT age) {_P} WHERE region = 'north'",
        ),
        f"SELECT count(DISTINCT age) {_P} WHERE region <> 'north'",
    ),
    # Rows of a unit are cut in each by itself; groups of a unit are cut.
    (
        (f"SELECT count(*) {_V}", f"SELECT count(*) {_V} WHERE room = 'x'"),
        f"SELECT count(*) {_V} WHERE room <> 'x'",
    ),
    (
        ("SELECT count(*) FROM k.calls", "SELECT room, count(*) FROM k.calls GROUP BY 1"),
        "SELECT count(*) FROM k.calls WHERE room <> 'x'",
    ),
)


@pytest.mark.every(4)
@pytest.mark.parametrize(("first", "text"), _NOT_FREE)
def test_what_says_something_else_is_paid(
    combining: LiveProxy, first: Sequence[str], text: str
) -> None:
    analyst = combining.servers.new_analyst()
    answers_to(combining, analyst, *first, epsilon="90")
    paid = combining.when_settled(analyst)[1]
    (found,) = answers_to(combining, analyst, text, epsilon="50", accept_error="100")
    assert combining.when_settled(analyst)[1] == pytest.approx(paid + 50)
    ((noisy,),), ((exact,),) = found, exact_answer(combining, text)
    assert abs(float(noisy) - float(exact)) < 30


@pytest.mark.every(2)
@pytest.mark.parametrize(("first", "text"), _TWO_STATES)
def test_of_two_states_nothing_is_made(
    combining: LiveProxy, first: Sequence[str], text: str
) -> None:
    analyst = combining.servers.new_analyst()
    answers_to(combining, analyst, *first, epsilon="9")
    paid = combining.when_settled(analyst)[1]
    answers_to(combining, analyst, text, epsilon="5", accept_error="100")
    assert combining.when_settled(analyst)[1] == pytest.approx(paid + 5)


def test_others_have_nothing_of_it(combining: LiveProxy) -> None:
    """Neither of what another was shown, nor for who asks for something fresh."""
    first, second = combining.servers.new_analyst(), combining.servers.new_analyst()
    texts = [f"SELECT sum(age) {_P} WHERE age > 20", f"SELECT count(*) {_P} WHERE age > 20"]
    text = f"SELECT avg(age) {_P} WHERE age > 20"
    answers_to(combining, first, *texts, epsilon="50")
    answers_to(combining, second, *texts[:1], epsilon="50")
    (plan,) = answers_to(combining, second, f"EXPLAIN {text}")
    assert "at no cost" not in str(plan)
    answers_to(combining, first, text, fresh="on")
    assert combining.when_settled(first)[1] == pytest.approx(101)


def test_of_what_is_published(combining: LiveProxy) -> None:
    """Of SUM and COUNT of one statement AVG is made; not of those of two."""
    analyst = combining.servers.new_analyst()
    calls, visits = "SELECT avg(cost) FROM k.calls", "SELECT avg(cost) FROM k.visits"
    plan, found = answers_to(combining, analyst, f"EXPLAIN {calls}", calls)
    assert "published.both of" in str(plan)
    assert_near(found, exact_answer(combining, calls), 2)
    assert combining.spent(analyst)[1] == 0
    answers_to(combining, analyst, visits)
    assert combining.when_settled(analyst)[1] == pytest.approx(1)
