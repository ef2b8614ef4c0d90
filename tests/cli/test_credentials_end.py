"""Whoever is removed, gets another password or loses a token is out of everything that is open, at each worker.

A stricter policy holds for the next statement of open sessions. Of answers under way, what a portal or cursor
still holds is not given, what a client has not read is cut off, and a body over HTTP is sent to its end.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.pgwire import frames as f
from tests.cli.operator_at_work import PASSWORD, QUESTION
from tests.cli.test_workers import Office, served
from tests.raw_client import RawClient
from tests.waiting import until

_SECONDS = 30.0  # people are read each second; the rest is for a busy machine
_ENDS: dict[str, tuple[str, ...]] = {
    "removed": ("user", "remove", "bob"),
    "another password": ("user", "passwd", "bob", "--password-stdin"),
    "token revoked": ("token", "revoke"),
}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with served(tmp_path_factory.mktemp("credentials")) as found:
        yield found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clients:
    """Of the HTTP listener. A client says whether it is answered."""

    office: Office
    open: contextlib.ExitStack

    def _client(self, **more: Any) -> httpx.Client:
        client = httpx.Client(base_url=self.office.address("HTTP"), timeout=60, **more)
        return self.open.enter_context(client)

    def over_http(self, **more: Any) -> Iterator[Callable[[], bool]]:
        """Of one connection that is kept, and of a new one for each request."""
        body = {"database": "shop", "sql": QUESTION}
        for limits in (httpx.Limits(), httpx.Limits(max_keepalive_connections=0)):
            client = self._client(limits=limits, **more)
            yield partial(_is_answered, client, "POST", "/v1/query", json=body)

    def over_mcp(self, token: str) -> Callable[[], bool]:
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
        }
        arguments = {"database": "shop", "sql": QUESTION, "max_epsilon": 2}
        params = {"name": "query", "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return partial(_is_answered, self._client(headers=headers), "POST", "/mcp", json=call)

    def in_console(self) -> Callable[[], bool]:
        client = self._client()
        form = {"name": "bob", "password": PASSWORD}
        origin = {"Origin": self.office.address("HTTP")}
        assert client.post("/sign-in", data=form, headers=origin).status_code == 303
        return partial(_is_answered, client, "GET", "/db/shop/budget")


def _is_answered(client: httpx.Client, method: str, path: str, **more: Any) -> bool:
    return client.request(method, path, **more).status_code == 200


def _in_session(session: psycopg.Connection, statement: str) -> Callable[[], bool]:
    def asks() -> bool:
        with contextlib.suppress(psycopg.Error):
            return session.execute(statement.encode()).fetchone() is not None
        return False

    return asks


@pytest.mark.long
@pytest.mark.parametrize("end", _ENDS)
def test_nothing_that_is_open_goes_on(end: str, office: Office) -> None:
    operator, words = office.operator, _ENDS[end]
    created = operator.run("token", "create", "bob", "--days", "1")
    made, number = created.out.strip(), created.err.split()[1]
    with contextlib.ExitStack() as stack:
        clients = _Clients(office=office, open=stack)
        by_token = [*clients.over_http(headers={"Authorization": f"Bearer {made}"})]
        by_token.append(clients.over_mcp(made))
        by_password = [*clients.over_http(auth=("bob", PASSWORD)), clients.in_console()]
        with office.at_both("bob", each=3) as sessions:
            for place, session in enumerate(sessions):
                session.execute(f"PREPARE kept AS {QUESTION}".encode())
                if place % 3:
                    session.execute("BEGIN")
                    cursor = "DECLARE open CURSOR FOR SELECT generate_series(1, 1000000)"
                    session.execute(cursor.encode())
                ways = ("EXECUTE kept", "FETCH 1 FROM open", QUESTION)
                by_password.append(_in_session(session, ways[place % 3]))
            assert all(one() for one in (*by_token, *by_password))
            if end == "token revoked":
                operator.run(*words, number)
                ending, staying = by_token, by_password
            else:
                operator.run(*words, typed="another long password")
                ending = by_password if end == "another password" else [*by_token, *by_password]
                staying = by_token if end == "another password" else []
            begun = time.monotonic()
            while any(one() for one in ending):
                assert time.monotonic() < begun + _SECONDS
            charged = office.status()["ledger"]["last_receipt"]
            assert not any(one() for _ in range(3) for one in ending)
            assert office.status()["ledger"]["last_receipt"] == charged
            assert all(one() for one in staying)
        if end == "removed":
            operator.run("user", "add", "bob", "--password-stdin", typed=PASSWORD)
            until(lambda: office.lets_in("bob"))
            assert not any(one() for one in by_token), "a token of who was removed"
        elif end == "another password":
            operator.run("user", "passwd", "bob", "--password-stdin", typed=PASSWORD)
            until(lambda: office.lets_in("bob"))


# One paid number, in more rows than buffers hold.
_ROWS = 1_000_000
_LARGE = f"SELECT n, g FROM ({QUESTION.replace('count(*)', 'count(*) AS n')}) q, generate_series(1, {_ROWS}) g"
_MORE = f.execute(b"held", 10) + f.FLUSH, f.query(b"FETCH 10 FROM held")


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnderWay:
    """Large answers of bob that have begun. held: of a portal and a cursor, of which ten rows came; unread: of
    a query and a COPY, of which one row was read; bodies: over HTTP, of which the head was read."""

    held: list[RawClient]
    unread: list[RawClient]
    bodies: list[httpx.Response]

    def more(self) -> list[list[bytes]]:
        """What portal and cursor give of ten more rows, to the end of the connection at most."""
        found = []
        for client, more, last in zip(self.held, _MORE, (b"s", b"Z"), strict=True):
            with contextlib.suppress(ConnectionError):  # it has ended
                client.send(more)
            found.append(_tags(client, last))
        return found


def _tags(client: RawClient, last: bytes) -> list[bytes]:
    found: list[bytes] = []
    with contextlib.suppress(ConnectionError):
        while (frame := client.receive()) is not None:
            found.append(frame[0])
            if frame[0] == last:
                break
    return found


@contextlib.contextmanager
def _under_way(office: Office, token: str) -> Iterator[_UnderWay]:
    host, port = office.listening.wire
    dsn = make_conninfo(host=host, port=port, user="bob", password=PASSWORD, dbname="shop")
    bound = f.parse(b"", _LARGE.encode(), ()) + f.bind(b"held", b"", ())
    begun = f.query(b"BEGIN") + f.query(f"DECLARE held CURSOR FOR {_LARGE}".encode())
    with contextlib.ExitStack() as stack:
        portal, cursor, query, copy = (stack.enter_context(RawClient(dsn)) for _ in range(4))
        portal.send(bound, _MORE[0])
        assert _tags(portal, b"s").count(b"D") == 10
        cursor.send(begun, _MORE[1])
        assert sum(frame[0] == b"D" for frame in cursor.until_ready(3)) == 10
        for client, text, row in (
            (query, _LARGE, b"D"),
            (copy, f"COPY ({_LARGE}) TO STDOUT", b"d"),
        ):
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            client.send(f.query(text.encode()))
            assert _tags(client, row)[-1] == row
        bodies = []
        body = {"database": "shop", "sql": _LARGE.replace(str(_ROWS), "100000")}
        ways: tuple[dict[str, Any], ...] = (
            {"auth": ("bob", PASSWORD)},
            {"headers": {"Authorization": f"Bearer {token}"}},
        )
        for way in ways:
            sender = httpx.Client(base_url=office.address("HTTP"), timeout=60, **way)
            stack.enter_context(sender)
            for kind in ("application/x-ndjson", "application/vnd.apache.arrow.stream"):
                accepting = {"Accept": kind}
                asked = sender.stream("POST", "/v1/query", json=body, headers=accepting)
                bodies.append(stack.enter_context(asked))
                assert bodies[-1].status_code == 200
        yield _UnderWay(held=[portal, cursor], unread=[query, copy], bodies=bodies)


@pytest.mark.long
@pytest.mark.parametrize("end", [*_ENDS, "restricted"])
def test_an_answer_under_way(end: str, office: Office) -> None:
    operator = office.operator
    words = _ENDS.get(end, ("access", "restrict", "shop"))
    created = operator.run("token", "create", "bob", "--days", "1")
    with _under_way(office, created.out.strip()) as answers:
        before = office.status()["ledger"]["last_receipt"]
        if end == "token revoked":
            operator.run(*words, created.err.split()[1])
            assert [one.count(b"D") for one in answers.more()] == [10, 10]
        else:
            operator.run(*words, typed="another long password")
            until(lambda: not office.workers_of("bob"))
            assert not [one for tags in answers.more() for one in tags if one == b"D"]
            for client in answers.unread:
                tags = _tags(client, b"Z")
                assert b"C" not in tags and len(tags) < _ROWS / 2, len(tags)
        for body in answers.bodies:
            assert len(body.read()) == int(body.headers["content-length"])
        assert office.status()["ledger"]["last_receipt"] == before
    if end == "restricted":
        operator.run("access", "open", "shop")
    elif end == "removed":
        operator.run("user", "add", "bob", "--password-stdin", typed=PASSWORD)
    elif end == "another password":
        operator.run("user", "passwd", "bob", "--password-stdin", typed=PASSWORD)
    until(lambda: office.lets_in("bob"))


@pytest.mark.long
def test_a_stricter_policy_holds_for_what_is_open(office: Office) -> None:
    policy = office.operator.policy
    before = policy.read_text()
    with office.at_both("ann") as sessions:
        for session in sessions:
            session.execute("SET dp.epsilon = 2")
            session.execute(f"PREPARE kept AS {QUESTION}".encode())
            session.execute("BEGIN")
            assert session.execute("EXECUTE kept").fetchone()
        for stricter, told in (
            (before.replace("max_epsilon: 2", "max_epsilon: 1"), "limit of 1"),
            (before.replace("analysts: {", "analysts: {ann: {epsilon: 1, delta: 1e-4}"), "budget"),
        ):
            assert stricter != before
            policy.write_text(stricter)
            (one,) = office.administer("POST", "/policies/reload")["policies"]
            assert one["not_taken"] is None, one
            charged = office.status()["ledger"]["last_receipt"]
            for session in sessions:
                with pytest.raises(psycopg.Error, match=told), session.transaction():
                    session.execute("EXECUTE kept")
            assert office.status()["ledger"]["last_receipt"] == charged
        policy.write_text(before)
        office.administer("POST", "/policies/reload")
