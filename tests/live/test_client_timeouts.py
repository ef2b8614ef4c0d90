"""Timeouts that a client sets end nothing that is charged: a protected server that is slow for real, and
clients whose timeouts are over long before it answers."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg import errors

from proxy.base.limits import PROTECTED_SECONDS
from proxy.pgwire import held_timeouts
from proxy.pgwire.frame_driver import OUTLASTS_TIMEOUT
from proxy.pgwire.frames import SYNC, bind, decode_data_row, execute, parse, query
from proxy.pgwire.shadow_exchanges import run
from proxy.pgwire.startup import refused_setting
from proxy.protected.protected_database import ProtectedDatabase
from tests.live.test_psycopg import COUNT, near, slow
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD
from tests.waiting import until

SHORT = "1s"
WITH_PARAMETER = COUNT + " WHERE quantity > %s"
_ATTEMPTS = (
    8  # a machine that stalls may not come to the charge within a second: nothing is charged then
)

_TIMEOUTS = "SELECT name FROM pg_settings WHERE name ~ 'timeout' AND context = 'user' ORDER BY name"


@dataclass(frozen=True, slots=True)
class Told:
    """After the first statement, which is slow, and after one more."""

    answer: Any
    first: Sequence[str]
    second: Sequence[str]


Client = Callable[[LiveProxy, str], Told]


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


def timeouts(live: LiveProxy) -> list[str]:
    """All that an analyst can set, of this PostgreSQL."""
    with live.direct() as connection:
        return [name for (name,) in connection.execute(_TIMEOUTS)]


def waiting(live: LiveProxy) -> int:
    with psycopg.connect(live.servers.protected.dsn("shop"), autocommit=True) as superuser:
        row = superuser.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'shop.orders'::regclass"
        ).fetchone()
    assert row is not None
    return int(row[0])


def all_slowly(
    live: LiveProxy, clients: Sequence[Client], seconds: float
) -> list[tuple[str, Told]]:
    """Each with an analyst of its own; each waits for so long after its charge, all at once."""
    analysts = [live.servers.new_analyst() for _ in clients]
    with ThreadPoolExecutor(len(clients)) as pool:
        with slow(live):
            told = [
                pool.submit(kept_trying, client, live, analyst)
                for client, analyst in zip(clients, analysts, strict=True)
            ]
            until(lambda: waiting(live) == len(clients) or any(one.done() for one in told))
            assert not [one.result() for one in told if one.done()]
            time.sleep(seconds)
        return list(zip(analysts, [one.result(60) for one in told], strict=True))


def kept_trying(client: Client, live: LiveProxy, analyst: str) -> Told:
    for attempt in range(_ATTEMPTS):
        try:
            return client(live, analyst)
        except (psycopg.OperationalError, asyncpg.QueryCanceledError):
            assert live.spent(analyst)[0] == 0, "it was charged, and not answered"
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


def _asked(
    connection: psycopg.Connection, *before: str, parameter: bool = False, again: bool = True
) -> Told:
    notices: list[str] = []
    connection.add_notice_handler(lambda diag: notices.append(diag.message_primary or ""))
    text, values = (WITH_PARAMETER, (1,)) if parameter else (COUNT, None)
    for statement in before:
        connection.execute(statement.encode())
    answer = connection.execute(text, values).fetchall()[0][0]
    first = list(notices)
    if again:
        connection.execute(text, values)
    return Told(answer, first, list(notices[len(first) :]))


def in_options(live: LiveProxy, analyst: str) -> Told:
    options = f"-c statement_timeout={SHORT}"
    with live.connect(analyst=analyst, options=options) as connection:
        told = _asked(connection)
        assert connection.execute("SHOW statement_timeout").fetchone() == (SHORT,)
    return told


def as_startup_parameter(live: LiveProxy, analyst: str) -> Told:
    """asyncpg: a startup parameter, extended and binary, named statements."""

    async def talk() -> Told:
        connection = await asyncpg.connect(
            host="127.0.0.1",
            port=live.port,
            user=analyst,
            password=PASSWORD,
            database="shop",
            server_settings={"statement_timeout": "1000"},
        )
        notices: list[str] = []
        connection.add_log_listener(lambda _, message: notices.append(message.message))
        try:
            answer = await connection.fetchval(COUNT)
            first = list(notices)
            await connection.fetchval(COUNT)
            assert await connection.fetchval("SHOW statement_timeout") == SHORT
        finally:
            await connection.close()
        return Told(answer, first, list(notices[len(first) :]))

    return asyncio.run(talk())


def by_set(live: LiveProxy, analyst: str) -> Told:
    with live.connect(analyst=analyst) as connection:
        return _asked(connection, f"SET statement_timeout = '{SHORT}'", parameter=True)


def by_set_local(live: LiveProxy, analyst: str) -> Told:
    with live.connect(analyst=analyst) as connection:
        told = _asked(connection, "BEGIN", f"SET LOCAL statement_timeout = '{SHORT}'")
        assert connection.execute("SHOW statement_timeout").fetchone() == (SHORT,)
        connection.execute("COMMIT")
        assert connection.execute("SHOW statement_timeout").fetchone() == ("5min",)
    return told


def by_set_local_with_parameters(live: LiveProxy, analyst: str) -> Told:
    with live.connect(analyst=analyst) as connection:
        begun = ("BEGIN", f"SET LOCAL statement_timeout = '{SHORT}'", "SAVEPOINT here")
        told = _asked(connection, *begun, parameter=True)
        for _ in range(2):
            shown = connection.execute("SELECT current_setting(%s)", ("statement_timeout",))
            assert shown.fetchone() == (SHORT,)
            connection.execute("ROLLBACK TO here")
        # And it counts for what is not charged.
        with pytest.raises(errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(%s)", (30,))
    return told


def in_a_pipeline(live: LiveProxy, analyst: str) -> Told:
    """Raw: a statement behind the one that is charged, before any Sync, has the timeout again."""
    dsn = f"{live.dsn(analyst=analyst)} options='-c statement_timeout={SHORT}'"
    with RawClient(dsn) as client:
        asked = [parse(b"", COUNT.encode()), bind(b"", b"", ()), execute(b"")]
        shown = [parse(b"", b"SHOW statement_timeout"), bind(b"", b"", ()), execute(b"")]
        client.send(*asked, *shown, SYNC)
        frames = client.until_ready()
        client.send(query(COUNT.encode()))
        again = client.until_ready()
    errors_found = [payload for tag, payload in frames if tag == b"E"]
    if any(b"57014" in payload for payload in errors_found):
        raise errors.QueryCanceled("before the charge")
    (counted,), (timeout,) = (decode_data_row(payload) for tag, payload in frames if tag == b"D")
    assert timeout == SHORT.encode()
    return Told(int(counted or b""), _notices(frames), _notices(again))


def _notices(frames: Sequence[tuple[bytes, bytes]]) -> list[str]:
    fields = (payload.split(b"\0") for tag, payload in frames if tag == b"N")
    return [field[1:].decode() for notice in fields for field in notice if field[:1] == b"M"]


def through_an_argument(live: LiveProxy, analyst: str) -> Told:
    """What is evaluated on the shadow before the charge can set what was read before."""
    function = (
        "CREATE FUNCTION pg_temp.one() RETURNS integer STABLE LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM set_config('transaction_timeout', '1s', true),"
        f" set_config('statement_timeout', '{SHORT}', true); RETURN 1; END $$"
    )
    with live.connect(analyst=analyst) as connection:
        connection.execute(function.encode())
        connection.execute(f"PREPARE asked (integer) AS {COUNT} WHERE quantity > $1".encode())
        answer = connection.execute("EXECUTE asked (pg_temp.one())").fetchall()[0][0]
    return Told(answer, (), ())


def test_a_statement_timeout_ends_nothing_that_is_charged(live: LiveProxy) -> None:
    clients = [
        *(in_options, as_startup_parameter, by_set, by_set_local),
        *(by_set_local_with_parameters, in_a_pipeline),
    ]
    for analyst, told in all_slowly(live, clients, 1.5):
        assert near(told.answer, reach=40_000)
        assert (list(told.first), list(told.second)) == ([OUTLASTS_TIMEOUT], [])
        assert live.when_settled(analyst) == (2, 2.0, 0)


def test_no_timeout_of_postgresql_ends_what_is_charged(
    live: LiveProxy, listeners: BothListeners
) -> None:
    """Crosswise: every timeout that an analyst can set, by every way to set it."""
    names = timeouts(live)
    assert {"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} <= {*names}
    by_role, by_role_over_http = live.servers.new_analyst(), live.servers.new_analyst()
    with psycopg.connect(live.servers.shadow_server.dsn(), autocommit=True) as superuser:
        for name in names:
            for analyst in (by_role, by_role_over_http):
                superuser.execute(f"ALTER ROLE {analyst} SET {name} = '{SHORT}'".encode())

    def at_startup(live: LiveProxy, analyst: str) -> Told:
        taken = [name for name in names if refused_setting(name) is None]
        options = " ".join(f"-c {name}=1000" for name in taken)
        with live.connect(analyst=analyst, options=options) as connection:
            return _asked(connection, again=False)

    def set_one_by_one(live: LiveProxy, analyst: str) -> Told:
        text = "; ".join(f"SET {name} = '{SHORT}'" for name in names)
        with live.connect(analyst=analyst) as connection:
            return _asked(connection, text, parameter=True, again=False)

    def set_in_a_block(live: LiveProxy, analyst: str) -> Told:
        text = "; ".join(["BEGIN", *(f"SET LOCAL {name} = '{SHORT}'" for name in names)])
        with live.connect(analyst=analyst) as connection:
            return _asked(connection, text, parameter=True, again=False)

    def with_set_config(live: LiveProxy, analyst: str) -> Told:
        calls = ", ".join(f"set_config('{name}', '{SHORT}', true)" for name in names)
        with live.connect(analyst=analyst) as connection:
            return _asked(connection, f"BEGIN; SELECT {calls}", again=False)

    def of_the_role(live: LiveProxy, _: str) -> Told:
        with live.connect(analyst=by_role) as connection:
            return _asked(connection, again=False)

    def of_the_role_over_http(live: LiveProxy, _: str) -> Told:
        response = listeners.query(COUNT, analyst=by_role_over_http)
        if response.status_code != 200 and live.spent(by_role_over_http)[0] == 0:
            raise errors.QueryCanceled("before the charge")
        assert response.status_code == 200, response.text
        return Told(response.json()["rows"][0][0], (OUTLASTS_TIMEOUT,), ())

    clients = [
        *(at_startup, set_one_by_one, set_in_a_block, with_set_config),
        *(of_the_role, of_the_role_over_http),
    ]
    if "transaction_timeout" in names:
        clients.append(through_an_argument)
    for _, told in all_slowly(live, clients, 1.5):
        assert near(told.answer, reach=40_000)
        assert list(told.first) in ([OUTLASTS_TIMEOUT], []), told
    assert live.when_settled(by_role) == live.when_settled(by_role_over_http) == (1, 1.0, 0)


@pytest.mark.long
@pytest.mark.parametrize(("timeout", "seconds"), [("30s", 33.0), ("600s", 33.0)])
def test_longer_timeouts(live: LiveProxy, timeout: str, seconds: float) -> None:
    def by_set(live: LiveProxy, analyst: str) -> Told:
        with live.connect(analyst=analyst) as connection:
            return _asked(connection, f"SET statement_timeout = '{timeout}'")

    ((_, told),) = all_slowly(live, [by_set], seconds)
    assert near(told.answer)
    assert list(told.first) == ([OUTLASTS_TIMEOUT] if timeout == "30s" else [])
    assert not told.second


@pytest.mark.parametrize(
    ("value", "shown", "matters"),
    [
        *(("0", "0", False), ("5000", "5s", True), ("'4500ms'", "4500ms", True)),
        *(
            ("'30s'", "30s", True),
            ("'1min'", "1min", True),
            (f"'{PROTECTED_SECONDS}s'", "2min", False),
        ),
        *(("'600s'", "10min", False), ("'1d'", "1d", False), ("DEFAULT", "5min", False)),
    ],
)
def test_each_value_is_taken_and_told_of_where_it_matters(
    live: LiveProxy, analyst: str, value: str, shown: str, matters: bool
) -> None:
    with live.connect(analyst=analyst) as connection:
        notices: list[str | None] = []
        connection.add_notice_handler(lambda diag: notices.append(diag.message_primary))
        connection.execute(f"SET statement_timeout = {value}".encode())
        connection.execute("SELECT count(*) FROM shop.products")
        connection.execute("EXPLAIN " + COUNT)
        assert not notices  # nothing protected was read
        for _ in range(2):
            assert near(connection.execute(COUNT).fetchall()[0][0])
            assert connection.execute("SHOW statement_timeout").fetchone() == (shown,)
        assert notices == ([OUTLASTS_TIMEOUT] if matters else [])


@pytest.mark.every(2)
@pytest.mark.parametrize("parameter", [False, True])
def test_what_was_charged_runs_without_the_timeout(
    live: LiveProxy, analyst: str, parameter: bool
) -> None:
    """The statement around an answer may take longer than the timeout, too; the next one may not."""
    text = f"SELECT count(*), pg_sleep(1.5) FROM shop.orders{' WHERE quantity > %s' * parameter}"

    def within_the_timeout(live: LiveProxy, analyst: str) -> Told:
        with live.connect(analyst=analyst) as connection:
            connection.execute("BEGIN" if parameter else "SELECT 1")
            connection.execute(f"SET statement_timeout = '{SHORT}'".encode())
            rows = connection.execute(text.encode(), (1,) if parameter else None).fetchall()
            with pytest.raises(errors.QueryCanceled):
                connection.execute("SELECT pg_sleep(30)")
        return Told(rows, (), ())

    assert kept_trying(within_the_timeout, live, analyst).answer
    assert live.spent(analyst)[0] == 1


@pytest.mark.every(2)
@pytest.mark.parametrize("parameter", [False, True])
def test_an_old_transaction_is_refused_before_the_charge(
    live: LiveProxy, analyst: str, parameter: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The monitor of the shadow ends it at an age that the client knows: that would tell of a person's rows."""
    hold = held_timeouts.hold_sql(within_request=False)
    oldest = f"({held_timeouts.OLDEST_TRANSACTION_SECONDS},"
    assert oldest in hold
    sooner = run(hold.replace(oldest, "(0.5,").encode(), goes_on=True)
    monkeypatch.setattr(held_timeouts, "_HOLD", sooner)
    with live.connect(analyst=analyst) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT pg_sleep(0.6)")
        with pytest.raises(errors.InvalidTransactionState) as caught:
            text, values = (WITH_PARAMETER, (1,)) if parameter else (COUNT, None)
            connection.execute(text, values)
        assert "within the last hour" in str(caught.value)
        connection.execute("ROLLBACK")
        assert live.spent(analyst)[0] == 0


def test_the_servers_own_limit_ends_what_is_charged_with_one_text(
    live: LiveProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text says nothing of the reason, and no setting of the client's changes its time."""
    data = ProtectedDatabase(live.servers.source_dsns["shop"], timeout_ms=1500)
    engine = live.assembly.databases["shop"].engine
    live.do(data.open())
    monkeypatch.setattr(engine.drawer, "_data", data)
    seen: set[str] = set()
    try:
        for timeout in ("0", "1s"):
            analyst = live.servers.new_analyst()
            with live.connect(analyst=analyst) as connection, slow(live):
                connection.execute(f"SET statement_timeout = '{timeout}'".encode())
                started = time.monotonic()
                with pytest.raises(errors.SystemError) as caught:
                    connection.execute(COUNT)
                assert time.monotonic() - started > 1.4
                seen.add(re.sub(r"receipt \d+", "receipt N", str(caught.value)))
            assert live.when_settled(analyst)[0] == 1
    finally:
        monkeypatch.undo()
        live.do(data.close())
    assert seen == {
        "the statement could not be run\nHINT:  What it cost stays charged: receipt N. Try again later."
    }
