"""What is reported of too few rows, of a smoothed median and of private keys, through each interface; of units
beyond their bound."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.live.served_database import served_database
from tests.live.session_answers import answers_to
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers

_FEW = (
    "SELECT avg(age), max(age), count(*) FROM census.adult WHERE age = 77 AND hours_per_week = 98"
)
_MANY = "SELECT avg(age), max(age) FROM census.adult"
_NO_GROUP = "SELECT uid, count(*) FROM kinds.things WHERE int = 3 AND small = 4 GROUP BY uid"
_SOME_GROUPS = "SELECT upper(txt) AS letter, count(*) FROM kinds.things GROUP BY 1"
_BY_GROUP = "SELECT age < 0 AS never, avg(income) FROM census.adult GROUP BY 1"


_TRIES = 20  # by its noise an answer is shown now and then


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


def _told(
    live: LiveProxy, sql: str, database: str = "census"
) -> tuple[list[tuple[object, ...]], list[str]]:
    heard: list[str] = []
    with live.connect(database, analyst=live.servers.new_analyst()) as connection:
        connection.execute("SET dp.notice = off")
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        rows = connection.execute(sql.encode()).fetchall()
    return rows, heard


def test_over_the_wire(live: LiveProxy) -> None:
    draws = (_told(live, _FEW) for _ in range(_TRIES))
    rows, heard = next(one for one in draws if one[0][0][:2] == (None, None))
    ((_, _, count),) = rows
    assert isinstance(count, int)
    (text,) = heard
    for line, name in zip(text.splitlines(), ("avg(age)", "max(age)"), strict=True):
        assert line.startswith(f"{name} is NULL: it takes about ")
        assert "`mechanism: best`" in line


@pytest.mark.parametrize(
    ("database", "aggregate", "condition"),
    [
        ("census", "max(income)", "age = 77 AND hours_per_week = 98"),
        ("census", "max(age)", "age = 77 AND hours_per_week = 98"),  # a smoothed median
        ("census", "percentile_cont(0.5) WITHIN GROUP (ORDER BY income)", "age = 77 AND sex = 'x'"),
        ("census", "avg(income)", "age = 77 AND sex = 'x'"),
        ("shop", "max(total)", "created_at = '2024-05-01'"),
        ("shop", "avg(total)", "created_at = '2024-05-01'"),
    ],
)
def test_of_a_column_that_is_null_no_error_is_told(
    live: LiveProxy, database: str, aggregate: str, condition: str
) -> None:
    """Nothing is "at least" NULL, nor has NULL an interval."""
    table = {"census": "census.adult", "shop": "shop.orders"}[database]
    for _ in range(_TRIES):
        heard: list[str] = []
        with live.connect(database, analyst=live.servers.new_analyst()) as connection:
            connection.execute("SET dp.notice = on")
            connection.add_notice_handler(lambda one: heard.append(str(one.message_primary)))  # noqa: B023
            sql = f"SELECT {aggregate} AS x FROM {table} WHERE {condition}"
            ((value,),) = connection.execute(sql.encode()).fetchall()
        if value is None:
            (line,) = (one.strip() for one in heard[0].splitlines() if one.startswith("  x: "))
            assert line == "x: NULL"
            return
    pytest.fail("an answer each time")


def test_many_rows_have_an_answer_and_no_notice(live: LiveProxy) -> None:
    rows, heard = _told(live, _MANY)
    assert None not in rows[0]
    assert heard == []


def test_a_group_without_rows(live: LiveProxy) -> None:
    rows, (text,) = _told(live, _BY_GROUP)
    answers = {group: answer for group, answer in rows}  # noqa: C416
    assert answers[True] is None
    assert answers[False] is not None
    assert text.startswith("avg(income) is NULL in 1 of 2 groups: ")


def test_over_http(live: LiveProxy, listeners: BothListeners) -> None:
    analysts = (live.servers.new_analyst() for _ in range(_TRIES))  # each has draws of their own
    asked = (
        (name, listeners.query(_FEW, database="census", analyst=name).json()) for name in analysts
    )
    analyst, body = next(one for one in asked if one[1]["rows"][0][:2] == [None, None])
    # The count of few people may be below its error, which is told then.
    told = [text.partition(":")[0] for text in body["notices"]]
    assert [text for text in told if text.endswith("NULL")] == ["avg is NULL", "max is NULL"]
    many = listeners.query(_MANY, database="census", analyst=analyst).json()["notices"]
    assert not any("NULL" in text for text in many)
    csv = listeners.query(_FEW, database="census", analyst=analyst, headers={"Accept": "text/csv"})
    header = csv.headers["DPProxy-Notice"]
    assert "avg(age) is NULL: " in header and "max(age) is NULL: " in header
    assert csv.text.splitlines()[1].startswith(",,")


def test_what_compares_with_it_has_no_rows_and_is_told(live: LiveProxy) -> None:
    """x > NULL is true of no row: the count is of none, and noise."""
    rows, heard = _told(
        live,
        "SELECT count(*) FROM census.adult WHERE income >"
        " (SELECT avg(income) FROM census.adult WHERE age = 77 AND hours_per_week = 98)",
    )
    ((count,),) = rows
    assert isinstance(count, int)
    assert abs(count) < 60  # at epsilon 1/2: above it once in 10^13 times
    assert any("avg(income) is NULL" in text for text in heard)


def test_private_keys_of_which_none_appears(live: LiveProxy, listeners: BothListeners) -> None:
    """None of no rows, whatever is drawn."""
    rows, heard = _told(live, _NO_GROUP, "kinds")
    assert rows == []
    (text,) = heard
    assert re.match(
        r"GROUP BY gives no group: its keys are private, and a key needs \d+ units to appear half of the time, "
        r"\d+ to appear in 95 of 100 answers\. ",
        text,
    )
    ask = {"database": "kinds", "analyst": live.servers.new_analyst()}
    body = listeners.query(_NO_GROUP, **ask).json()
    assert (body["rows"], body["notices"][:1]) == ([], heard)
    csv = listeners.query(_NO_GROUP, headers={"Accept": "text/csv"}, **ask)
    assert csv.headers["DPProxy-Notice"] == " ".join(body["notices"])
    units = re.findall(r"\d+(?= units| to appear in)", text)
    planned = _told(live, f"EXPLAIN {_NO_GROUP}", "kinds")[0]
    lines = " ".join(" ".join(str(line) for (line,) in planned).split())
    assert f"half of those with {units[0]}, 95 % of those with {units[1]}" in lines


def test_groups_that_appear_have_no_notice_of_their_number(live: LiveProxy) -> None:
    rows, heard = _told(live, _SOME_GROUPS, "kinds")
    assert {letter for letter, _ in rows} == {"A", "B", "C"}
    assert heard == ["Rows whose txt is null are in no group."]


_MECHANISMS = ("sum_over_count", "auto", "clipped_mean")
# Each of 500 people has 40 visits, of which 4 count, at costs of 0 to 9 within bounds of 20.
_SCRIPT = """\
CREATE SCHEMA k;
CREATE TABLE k.visits (id int PRIMARY KEY, person int NOT NULL, cost int NOT NULL, paid int,
    kind text NOT NULL);
INSERT INTO k.visits SELECT n, 1 + n % 500, n / 500 % 10, nullif(n / 500 % 10, 3), (ARRAY['a', 'b'])[1 + n % 2]
FROM generate_series(1, 20000) n;
"""
_TABLES = """\
reuse: 24h
tables:
  k.visits:
    unit: {person: person}
    max_rows_per_unit: 4
    columns:
      cost: {bounds: [0, 20]}
      paid: {bounds: [-20, 20]}
      kind: {values: [a, b]}
"""
_STATEMENTS = (
    "SELECT avg(cost) FROM k.visits",
    "SELECT avg(cost), sum(cost), count(*) FROM k.visits",
    "SELECT avg(paid), sum(paid), count(paid) FROM k.visits",
    "SELECT avg(cost + 1), count(*) FROM k.visits WHERE kind = 'a'",
    "SELECT avg(cost) FROM k.visits GROUP BY kind",
    "SELECT avg(cost) FILTER (WHERE cost > 4), count(*) FROM k.visits GROUP BY kind",
)


@pytest.fixture(scope="module")
def beyond() -> Iterator[LiveProxy]:
    pair = servers()
    found = [
        served_database(pair, f"beyond_{name}", _SCRIPT, _TABLES, name, most="100")
        for name in _MECHANISMS
    ]
    proxy = start_proxy(pair, found)
    yield proxy
    proxy.stop()


@pytest.mark.every(3)
@pytest.mark.parametrize("text", _STATEMENTS)
@pytest.mark.parametrize("mechanism", _MECHANISMS)
def test_a_mean_is_of_values_that_are_there(beyond: LiveProxy, mechanism: str, text: str) -> None:
    """In none of them is 10, which a sum of all rows over a number of some would exceed."""
    analyst = beyond.servers.new_analyst()
    (rows,) = answers_to(beyond, analyst, text, database=f"beyond_{mechanism}", epsilon="100")
    assert rows and all(3 < float(mean) < 10 for mean, *_ in rows), rows


@pytest.mark.parametrize("mechanism", ["sum_over_count", "auto"])
def test_columns_of_one_statement_agree(beyond: LiveProxy, mechanism: str) -> None:
    analyst, text = (
        beyond.servers.new_analyst(),
        "SELECT sum(cost), count(*), avg(cost) FROM k.visits",
    )
    (((total, rows, mean),),) = answers_to(
        beyond, analyst, text, database=f"beyond_{mechanism}", epsilon="100"
    )
    assert float(total) / rows == pytest.approx(float(mean), abs=0.1)


def test_a_mean_made_of_a_sum_and_a_count_is_a_fresh_one(beyond: LiveProxy) -> None:
    """It is free, and says what is said where it is drawn."""
    analyst, database = beyond.servers.new_analyst(), "beyond_sum_over_count"
    texts = ("SELECT sum(cost), count(*) FROM k.visits", "EXPLAIN SELECT avg(cost) FROM k.visits")
    _, plan = answers_to(beyond, analyst, *texts, database=database, epsilon="50")
    assert "at no cost" in str(plan)
    asked = "SELECT avg(cost) FROM k.visits"
    (((made,),),) = answers_to(beyond, analyst, asked, database=database)
    (((drawn,),),) = answers_to(beyond, analyst, asked, database=database, fresh="on", epsilon="50")
    assert float(made) == pytest.approx(float(drawn), abs=0.2)
