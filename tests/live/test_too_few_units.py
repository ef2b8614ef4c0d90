"""What is reported of too few rows, of a smoothed median and of private keys, through each interface."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

_FEW = (
    "SELECT avg(age), max(age), count(*) FROM census.adult WHERE age = 77 AND hours_per_week = 98"
)
_MANY = "SELECT avg(age), max(age) FROM census.adult"
_NO_GROUP = "SELECT uid, count(*) FROM kinds.things WHERE int < 3 GROUP BY uid"
_SOME_GROUPS = "SELECT upper(txt) AS letter, count(*) FROM kinds.things GROUP BY 1"
_BY_GROUP = "SELECT age < 0 AS never, avg(income) FROM census.adult GROUP BY 1"


_TRIES = 5  # by its noise an answer is shown now and then


def _analysts(live: LiveProxy) -> list[str]:
    """Each has draws of their own."""
    return [live.servers.new_analyst() for _ in range(_TRIES)]


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
    asked = {
        name: listeners.query(_FEW, database="census", analyst=name).json()
        for name in _analysts(live)
    }
    analyst, body = next(
        (name, one) for name, one in asked.items() if one["rows"][0][:2] == [None, None]
    )
    # The count of few people may be below its error, which is told then.
    told = [text.partition(":")[0] for text in body["notices"]]
    assert [text for text in told if text.endswith("NULL")] == ["avg is NULL", "max is NULL"]
    many = listeners.query(_MANY, database="census", analyst=analyst).json()["notices"]
    assert not any("NULL" in text for text in many)
    csv = listeners.query(_FEW, database="census", analyst=analyst, headers={"Accept": "text/csv"})
    assert csv.headers["DPProxy-Notice"].startswith("avg(age) is NULL: ")
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
    """24 keys of one unit each: delta of 10^-6 shows one of them once in 40,000 times."""
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
