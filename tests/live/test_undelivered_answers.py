"""What was charged is answered: an answer whose statement failed serves the next statement with the same plan.

The policy of these databases has no reuse. Charges are receipts in the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from proxy.ledger.users import remove_analyst
from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD
from tests.waiting import cancelled_each_second

# There are more orders than a smallint can be, and fewer than some made-up answer.
_FAILS = "SELECT count(*)::smallint FROM shop.orders"
_CORRECTED = "SELECT count(*) FROM shop.orders"

Run = Callable[[psycopg.Connection, str], PGresult]


def simple(connection: psycopg.Connection, text: str) -> PGresult:
    return connection.pgconn.exec_(text.encode())


def extended(connection: psycopg.Connection, text: str) -> PGresult:
    return connection.pgconn.exec_params(text.encode(), [])


def prepared(connection: psycopg.Connection, text: str) -> PGresult:
    result = connection.pgconn.prepare(b"named", text.encode())
    if result.status == ExecStatus.FATAL_ERROR:
        return result
    result = connection.pgconn.exec_prepared(b"named", [])
    connection.execute("DEALLOCATE named")
    return result


_WAYS = [simple, extended, prepared]


def _value(result: PGresult) -> int:
    assert result.status == ExecStatus.TUPLES_OK, result.error_message
    return int(result.get_value(0, 0) or b"")


def _hint(result: PGresult) -> str:
    assert result.status == ExecStatus.FATAL_ERROR
    return (result.error_field(DiagnosticField.MESSAGE_HINT) or b"").decode()


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


@pytest.mark.parametrize("way", _WAYS)
def test_the_corrected_statement_has_the_answer_that_was_charged(
    live: LiveProxy, analyst: str, way: Run
) -> None:
    with live.connect(analyst=analyst) as connection:
        hint = _hint(way(connection, _FAILS))
        assert "(receipt " in hint and "costs nothing" in hint
        assert _hint(way(connection, _FAILS)) == hint  # of the same receipt
        first = _value(way(connection, _CORRECTED))
        assert live.when_settled(analyst)[0] == 1
        # It is delivered. The policy has no reuse, so the next one is another draw.
        drawn = {_value(way(connection, _CORRECTED)) for _ in range(6)}
        assert live.when_settled(analyst)[0] == 7
        assert drawn != {first}


@pytest.mark.every(3)
@pytest.mark.parametrize("way", _WAYS)
def test_a_statement_over_the_wire_is_corrected_over_http(
    live: LiveProxy, listeners: BothListeners, analyst: str, way: Run
) -> None:
    with live.connect(analyst=analyst) as connection:
        _hint(way(connection, _FAILS))
    answered = listeners.query(_CORRECTED, analyst=analyst).json()
    assert answered["rows"] and answered["privacy"]["receipt"] is None
    assert live.when_settled(analyst)[0] == 1


@pytest.mark.every(3)
@pytest.mark.parametrize("way", _WAYS)
def test_a_statement_over_http_is_corrected_over_the_wire(
    live: LiveProxy, listeners: BothListeners, analyst: str, way: Run
) -> None:
    failed = listeners.query(_FAILS, analyst=analyst).json()
    again = listeners.query(_FAILS, analyst=analyst).json()
    assert failed["receipt"] == again["receipt"] and failed["hint"] == again["hint"]
    with live.connect(analyst=analyst) as connection:
        _value(way(connection, _CORRECTED))
    assert live.when_settled(analyst)[0] == 1


def test_it_is_the_value_that_was_drawn(live: LiveProxy, analyst: str) -> None:
    """The error of the first statement shows it."""
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET dp.trial = off")
        with pytest.raises(errors.InvalidTextRepresentation) as caught:
            connection.execute("SELECT (count(*) || 'x')::int FROM shop.orders")
        row = connection.execute(_CORRECTED.encode()).fetchone()
        assert row is not None and f'"{row[0]}x"' in str(caught.value)


# Other statements of other plans, or of others.
@pytest.mark.parametrize(
    ("before", "statement"),
    [
        ("SET dp.epsilon = 0.5", _CORRECTED),
        ("", f"{_CORRECTED} WHERE total > 10"),
        ("", "SELECT status, count(*) FROM shop.orders GROUP BY status"),
        ("", "SELECT count(*), sum(quantity) FROM shop.orders"),
        ("", "SELECT (SELECT count(*) FROM shop.orders) + (SELECT sum(quantity) FROM shop.orders)"),
    ],
)
def test_other_statements_are_charged(
    live: LiveProxy, analyst: str, before: str, statement: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        _hint(simple(connection, _FAILS))
        connection.execute(before.encode())
        connection.execute(statement.encode())
    assert live.when_settled(analyst)[0] == 2


def test_another_analyst_is_charged(live: LiveProxy, analyst: str) -> None:
    other = live.servers.new_analyst()
    with live.connect(analyst=analyst) as connection:
        _hint(simple(connection, _FAILS))
    with live.connect(analyst=other) as connection:
        _value(simple(connection, _CORRECTED))
    assert live.when_settled(other)[0] == 1


def test_another_person_of_the_same_name_is_charged(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        _hint(simple(connection, _FAILS))
    remove_analyst(live.servers.ledger_dsn, analyst)
    live.servers.add_analyst(analyst, PASSWORD)
    with live.connect(analyst=analyst) as connection:
        _value(simple(connection, _CORRECTED))
        assert live.when_settled(analyst)[0] == 2
        _hint(simple(connection, _FAILS))
        _value(simple(connection, _CORRECTED))
    assert live.when_settled(analyst)[0] == 3


def test_it_is_answered_though_nothing_is_left_to_spend(live: LiveProxy, analyst: str) -> None:
    live.set_limit("shop", analyst, "1", "0.1")
    with live.connect(analyst=analyst) as connection:
        _hint(simple(connection, _FAILS))
        with pytest.raises(psycopg.Error, match="budget"):
            connection.execute(b"SELECT sum(quantity) FROM shop.orders")
        _value(simple(connection, _CORRECTED))


# Errors that no trial run finds: behind 10,000 rows, and beside what could have an effect twice.
_UNSEEN = [
    "SELECT mod(1, i - 10500), n FROM generate_series(1, 20000) i, (SELECT count(*) AS n FROM shop.orders) q",
    "SELECT random(), width_bucket(count(*), 1, 1, 0) FROM shop.orders",
    f"SELECT x, mod(1, n - n) FROM pg_temp.v, ({_CORRECTED}) q(n)",
    "SELECT query_to_xml('SELECT 1', true, true, ''), width_bucket(count(*), 1, 1, 0) FROM shop.orders",
]


@pytest.mark.parametrize("text", _UNSEEN)
@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.every(4)
def test_an_error_that_no_trial_finds_is_charged_once(
    live: LiveProxy, analyst: str, way: Run, text: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP VIEW v AS SELECT 1 AS x")
        for _ in range(3):
            hint = _hint(way(connection, text))
            assert "(receipt " in hint
        _value(way(connection, _CORRECTED))
    assert live.when_settled(analyst)[0] == 1


def test_a_cancelled_statement_is_answered_the_next_time(live: LiveProxy, analyst: str) -> None:
    slow = "(SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b)"
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET dp.trial = off")
        with (
            cancelled_each_second(connection, lambda: live.spent(analyst) == (1, 1.0, 0)),
            pytest.raises(errors.QueryCanceled) as caught,
        ):
            connection.execute(f"SELECT n + {slow} FROM ({_CORRECTED}) q(n)".encode())
        assert "(receipt " in (caught.value.diag.message_hint or "")
        _value(simple(connection, _CORRECTED))
    assert live.when_settled(analyst)[0] == 1


# A deferred constraint is checked when the transaction ends.
_TABLE = "CREATE TEMP TABLE k (a bigint PRIMARY KEY DEFERRABLE INITIALLY DEFERRED); INSERT INTO k VALUES (5)"
_INSERT = "INSERT INTO k SELECT 5 + 0 * count(*) FROM shop.orders"


@pytest.mark.parametrize("way", _WAYS)
def test_an_error_of_commit_tells_the_receipt(live: LiveProxy, analyst: str, way: Run) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(_TABLE.encode())
        simple(connection, "BEGIN")
        assert way(connection, _INSERT).status == ExecStatus.COMMAND_OK
        failed = way(connection, "COMMIT")
        assert "(receipt " in _hint(failed)
        assert failed.error_field(DiagnosticField.SQLSTATE) == b"23505"
        assert "(receipt" not in _hint(way(connection, "INSERT INTO k VALUES (5)"))
        _value(way(connection, _CORRECTED))
    assert live.when_settled(analyst)[0] == 1


@pytest.mark.parametrize("trial", ["on", "off"])
@pytest.mark.parametrize("rest", ["", "; SELECT 1"])
def test_an_error_at_the_end_of_a_string_tells_the_receipt(
    live: LiveProxy, analyst: str, trial: str, rest: str
) -> None:
    """Of several statements, no trial can know what the others do."""
    with live.connect(analyst=analyst) as connection:
        connection.execute(_TABLE.encode())
        connection.execute(f"SET dp.trial = {trial}".encode())
        hint = _hint(simple(connection, _INSERT + rest))
        is_charged = trial == "off" or rest != ""
        assert ("(receipt " in hint) == is_charged
        assert live.when_settled(analyst)[0] == is_charged
        _value(simple(connection, _CORRECTED))
    assert live.when_settled(analyst)[0] == 1


@pytest.mark.every(3)
@pytest.mark.parametrize("way", _WAYS)
def test_a_deferred_constraint_is_left_to_the_rest_of_the_transaction(
    live: LiveProxy, analyst: str, way: Run
) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(_TABLE.encode())
        simple(connection, "BEGIN")
        way(connection, _INSERT)
        simple(connection, "DELETE FROM k WHERE ctid = (SELECT min(ctid) FROM k)")
        assert way(connection, "COMMIT").status == ExecStatus.COMMAND_OK
    assert live.when_settled(analyst)[0] == 1


def test_what_a_failed_transaction_made_is_made_again_for_nothing(
    live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        for _ in range(3):
            connection.execute("BEGIN")
            connection.execute(f"CREATE TEMP TABLE made AS {_CORRECTED}".encode())
            with pytest.raises(errors.DivisionByZero) as caught:
                connection.execute("SELECT 1 / 0")
            assert caught.value.diag.message_hint is None  # this is no error of what was charged
            connection.execute("ROLLBACK")
    assert live.when_settled(analyst)[0] == 1
