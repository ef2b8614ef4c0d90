"""A statement that made-up answers refuse may succeed with the real one: the refusal names the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from proxy.base.session_settings import how_to_set
from tests.live.test_undelivered_answers import extended, prepared, simple
from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

Run = Callable[[psycopg.Connection, str], PGresult]

# Defined near the real number of orders alone, {n}.
_NARROW = [
    "SELECT count(*), sqrt(1000000 - (count(*) - {n}) * (count(*) - {n})) FROM shop.orders",
    "SELECT acos((count(*) - {n}) / 1000.0) FROM shop.orders",
    "SELECT CASE WHEN count(*) BETWEEN {n} - 999 AND {n} + 999 THEN count(*) ELSE sqrt(-1 - abs(count(*))) END"
    " FROM shop.orders",
    "SELECT make_date(2026, ((count(*) - {n} + 1000) / 200)::int, 1) FROM shop.orders",
]
_SHOWS_ANSWER = "SELECT (count(*) || 'x')::int FROM shop.orders"
_NO_NUMBER = "SELECT width_bucket(count(*), 1, 1, 0) FROM shop.orders"


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


@pytest.fixture(scope="module")
def number(live: LiveProxy) -> int:
    """About how many orders there are."""
    with live.connect() as connection:
        row = connection.execute("SELECT count(*) FROM shop.orders").fetchone()
    assert row is not None
    return int(row[0])


def _field(result: PGresult, field: DiagnosticField) -> str:
    assert result.status == ExecStatus.FATAL_ERROR
    return (result.error_field(field) or b"").decode()


def _command(hint: str) -> str:
    found = re.search(r"SET dp\.trial = off", hint)
    assert found is not None, hint
    return found[0]


@pytest.mark.parametrize("way", [simple, extended, prepared])
@pytest.mark.parametrize("shape", range(len(_NARROW)))
@pytest.mark.every(5)
def test_the_setting_of_the_hint_answers(
    live: LiveProxy, analyst: str, number: int, shape: int, way: Run
) -> None:
    text = _NARROW[shape].format(n=number)
    with live.connect(analyst=analyst) as connection:
        hint = _field(way(connection, text), DiagnosticField.MESSAGE_HINT)
        assert live.spent(analyst)[0] == 0
        assert how_to_set("dp.trial", "off") in hint
        connection.execute(_command(hint).encode())
        assert way(connection, text).status == ExecStatus.TUPLES_OK
        assert live.when_settled(analyst)[0] == 1
        connection.execute("RESET dp.trial")
        _field(way(connection, text), DiagnosticField.MESSAGE_HINT)
        assert live.when_settled(analyst)[0] == 1


@pytest.mark.every(2)
@pytest.mark.parametrize("shape", range(len(_NARROW)))
def test_the_member_of_the_hint_answers_over_http(
    listeners: BothListeners, analyst: str, number: int, shape: int
) -> None:
    text = _NARROW[shape].format(n=number)
    refused = listeners.query(text, analyst=analyst).json()
    assert listeners.proxy.spent(analyst)[0] == 0
    inside = re.search(r'over HTTP "(\w+)": (true|false)\)', refused["hint"])
    assert inside is not None, refused["hint"]
    more: dict[str, Any] = {inside[1]: inside[2] == "true"}
    answered = listeners.query(text, analyst=analyst, **more)
    assert answered.status_code == 200, answered.text
    assert listeners.proxy.when_settled(analyst)[0] == 1


def test_a_session_begins_with_the_setting(live: LiveProxy, analyst: str, number: int) -> None:
    text = _NARROW[0].format(n=number)
    with live.connect(analyst=analyst, options="-c dp.trial=off") as connection:
        assert connection.execute(text.encode()).fetchall()


@pytest.mark.parametrize("value", ["perhaps", "0", ""])
def test_another_value_is_refused(live: LiveProxy, analyst: str, value: str) -> None:
    with live.connect(analyst=analyst) as connection:
        result = simple(
            connection, f"SELECT set_config('dp.trial', '{value}', false); {_NO_NUMBER}"
        )
        hint = _field(result, DiagnosticField.MESSAGE_HINT)
        assert "SET dp.trial" in hint
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("value", ["off", 0, "false", [False]])
def test_another_member_is_refused_over_http(
    listeners: BothListeners, analyst: str, value: object
) -> None:
    refused = listeners.query(_NO_NUMBER, analyst=analyst, trial=value)
    assert refused.status_code == 400
    assert refused.json()["detail"] == "trial must be true or false"


@pytest.mark.parametrize("way", [simple, extended, prepared])
def test_a_made_up_answer_is_not_taken_for_an_answer(
    live: LiveProxy, analyst: str, way: Run
) -> None:
    with live.connect(analyst=analyst) as connection:
        shows = way(connection, _SHOWS_ANSWER)
        message = _field(shows, DiagnosticField.MESSAGE_PRIMARY)
        assert re.fullmatch(r"invalid input syntax .*\"-?\d+x\" \(a made-up answer\)", message)
        for result in (shows, way(connection, _NO_NUMBER)):
            detail = _field(result, DiagnosticField.MESSAGE_DETAIL)
            assert "made-up answers" in detail and "Nothing was charged" in detail
        plain = _field(result, DiagnosticField.MESSAGE_PRIMARY)
        assert plain == "count must be greater than zero"
        for absent in (DiagnosticField.TABLE_NAME, DiagnosticField.CONTEXT):
            assert result.error_field(absent) is None
    assert live.spent(analyst)[0] == 0


def test_a_made_up_answer_is_not_taken_for_an_answer_over_http(
    listeners: BothListeners, analyst: str
) -> None:
    refused = listeners.query(_SHOWS_ANSWER, analyst=analyst).json()
    assert refused["detail"].endswith("(a made-up answer)")
    assert "Nothing was charged" in refused["postgres_detail"]


def test_what_a_constraint_names_is_named(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE k (a bigint CONSTRAINT less CHECK (a < 0))")
        result = simple(connection, "INSERT INTO k SELECT 1 + abs(count(*)) FROM shop.orders")
        assert _field(result, DiagnosticField.CONSTRAINT_NAME) == "less"
        assert _field(result, DiagnosticField.TABLE_NAME) == "k"
        detail = _field(result, DiagnosticField.MESSAGE_DETAIL)
        assert detail.startswith("Failing row contains") and "made up" in detail
