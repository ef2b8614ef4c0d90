"""What was charged is answered: an error that no row and no noise decides comes before the charge.

The outer query is tried with made-up answers first. Charges are receipts in the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from tests.fetching import fetched
from tests.live.certain_error_cases import CERTAIN_ERRORS, POSSIBLE, CertainError
from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

_GROUPS = "FROM shop.orders GROUP BY status"

Way = Callable[[psycopg.Connection, CertainError], PGresult]


def simple(connection: psycopg.Connection, case: CertainError) -> PGresult:
    text = case.statement
    for number, value in enumerate(case.parameters, start=1):
        text = text.replace(f"${number}", f"'{value}'")
    return connection.pgconn.exec_(text.encode())


def extended(connection: psycopg.Connection, case: CertainError) -> PGresult:
    return connection.pgconn.exec_params(
        case.statement.encode(), _values(case), result_format=int(case.is_binary)
    )


def prepared(connection: psycopg.Connection, case: CertainError) -> PGresult:
    result = connection.pgconn.prepare(b"named", case.statement.encode())
    if result.status == ExecStatus.FATAL_ERROR:
        return result
    return connection.pgconn.exec_prepared(
        b"named", _values(case), result_format=int(case.is_binary)
    )


def _values(case: CertainError) -> list[bytes]:
    return [value.encode() for value in case.parameters]


def _state(connection: psycopg.Connection, result: PGresult) -> str | None:
    while result.status == ExecStatus.COPY_OUT:
        while connection.pgconn.get_copy_data(0)[0] > 0:
            pass
        result = fetched(connection) or result
    while connection.pgconn.get_result() is not None:
        pass
    if result.status != ExecStatus.FATAL_ERROR:
        return None
    assert b"try_answer" not in (result.error_field(DiagnosticField.CONTEXT) or b"")
    return (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()


@pytest.mark.every(22)
@pytest.mark.parametrize("way", [simple, extended, prepared])
@pytest.mark.parametrize("case", CERTAIN_ERRORS, ids=lambda case: case.name)
def test_a_certain_error_costs_nothing(
    live: LiveProxy, analyst: str, case: CertainError, way: Way
) -> None:
    if case.is_binary and way is simple:
        pytest.skip("a simple query has its results as text")
    with live.connect(analyst=analyst) as connection:
        for statement in case.before:
            connection.pgconn.exec_(statement.encode())
        assert _state(connection, way(connection, case)) == case.sqlstate
    assert live.spent(analyst)[0] == 0


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


@pytest.mark.every(7)
@pytest.mark.parametrize(
    "case", [case for case in CERTAIN_ERRORS if case.is_for_http], ids=lambda case: case.name
)
def test_a_certain_error_costs_nothing_over_http(
    listeners: BothListeners, analyst: str, case: CertainError
) -> None:
    body = listeners.query(case.statement, *case.parameters, analyst=analyst).json()
    assert (body.get("sqlstate"), body.get("receipt")) == (case.sqlstate, None)
    assert listeners.proxy.spent(analyst)[0] == 0


@pytest.mark.every(8)
@pytest.mark.parametrize("text", POSSIBLE)
def test_what_may_succeed_is_charged(
    live: LiveProxy, listeners: BothListeners, analyst: str, text: str
) -> None:
    """By the noise it may fail all the same, after the charge."""
    with live.connect(analyst=analyst) as connection:
        connection.pgconn.exec_(text.encode())
    assert live.when_settled(analyst)[0] == 1
    listeners.query(text, analyst=analyst)
    assert live.when_settled(analyst)[0] in (1, 2)


def test_plain_labels_are_answered_in_another_encoding(live: LiveProxy, analyst: str) -> None:
    """This statement computes nothing, and is tried for its encoding alone."""
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET client_encoding = LATIN1")
        rows = connection.execute(f"SELECT status, count(*) {_GROUPS}".encode()).fetchall()
        assert len(rows) > 1
        assert live.when_settled(analyst)[0] == 1
        with pytest.raises(errors.UntranslatableCharacter):
            connection.execute(f"SELECT status, U&'\\4e2d' AS sign, count(*) {_GROUPS}".encode())
    assert live.when_settled(analyst)[0] == 1


_BY_NOISE = "SELECT count(*)::smallint FROM shop.orders"  # there are more orders


@pytest.mark.parametrize("way", [simple, extended, prepared])
def test_an_error_after_the_charge_tells_the_receipt(
    live: LiveProxy, analyst: str, way: Way
) -> None:
    with live.connect(analyst=analyst) as connection:
        result = way(connection, CertainError("by_noise", _BY_NOISE, "22003"))
        hint = (result.error_field(DiagnosticField.MESSAGE_HINT) or b"").decode()
        assert live.when_settled(analyst)[0] == 1
        assert f"(receipt {_receipt(connection)})" in hint
        message = result.error_field(DiagnosticField.MESSAGE_PRIMARY)
        assert message == b"smallint out of range"
        # An error of something else does not.
        failed = way(connection, CertainError("free", "SELECT 1 / 0", "22012"))
        assert failed.error_field(DiagnosticField.MESSAGE_HINT) is None
        assert "kept for an hour" in hint  # this policy has no reuse


def test_an_error_after_the_charge_tells_the_receipt_over_http(
    listeners: BothListeners, analyst: str
) -> None:
    body = listeners.query(_BY_NOISE, analyst=analyst).json()
    assert body["sqlstate"] == "22003"
    assert f"(receipt {body['receipt']})" in body["hint"]


def _receipt(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT max(receipt) FROM dp.history").fetchone()
    assert row is not None
    return int(row[0])
