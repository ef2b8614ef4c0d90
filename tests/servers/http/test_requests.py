"""Who may ask, and what a request may look like."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time

import psycopg
import pytest
from psycopg import sql as composed

from proxy.ledger.users import remove_analyst, set_password
from proxy.shadow.analyst_sessions import SessionLimits
from tests.ledger_of_before import add_analyst_of_any_name
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD

_BODY = {"database": "shop", "sql": "SELECT 1"}


def _token(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_wrong_credentials_read_alike(listeners: BothListeners) -> None:
    told = set()
    for user, password in (
        (listeners.analyst, "wrong"),
        ("nobody", PASSWORD),
        ("postgres", PASSWORD),
        (listeners.analyst, ""),
        ("", ""),
        ("x\0y", "x"),
        ("x' dbname=postgres", "x"),
        ("a" * 5000, "x"),
    ):
        header = {"Authorization": _token(user, password)}
        for database in ("shop", "nothing"):
            response = listeners.client.post(
                "/v1/query", json={**_BODY, "database": database}, headers=header
            )
            assert response.status_code == 401
            assert response.headers["www-authenticate"].startswith("Basic")
            if len(user) < 1000:
                told.add(response.text)
    assert len(told) == 1


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"nocolon").decode(),
        "Bearer x",
        "Basic " + base64.b64encode(b"\xff:\xfe").decode(),
        "Negotiate x",
    ],
)
def test_no_credentials(listeners: BothListeners, header: str) -> None:
    response = listeners.client.post("/v1/query", json=_BODY, headers={"Authorization": header})
    assert (response.status_code, response.json()["sqlstate"]) == (401, "28000")


def test_the_body_is_not_read_before_the_credentials_are_there(listeners: BothListeners) -> None:
    with socket.create_connection(listeners.server.address, timeout=60) as client:
        client.sendall(
            b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000000\r\n\r\n"
        )
        assert client.recv(100).startswith(b"HTTP/1.1 401")


def test_names_and_passwords_of_any_characters(listeners: BothListeners) -> None:
    servers = listeners.proxy.servers
    name, password = "o'Brien \\ \"é", "p:w'd \\ €"
    add_analyst_of_any_name(servers.ledger_dsn, name, password)
    servers.match_roles()
    try:
        response = listeners.client.post(
            "/v1/query",
            json={**_BODY, "sql": "SELECT session_user"},
            headers={"Authorization": _token(name, password)},
        )
        assert response.json()["rows"] == [[name]]
    finally:
        remove_analyst(servers.ledger_dsn, name)
        servers.match_roles()


def test_a_long_name_has_the_budget_of_the_role(listeners: BothListeners) -> None:
    """PostgreSQL cuts names at 63 bytes: what is longer is not another analyst."""
    name = "n" * 63
    servers = listeners.proxy.servers
    servers.add_analyst(name, PASSWORD)
    try:
        response = listeners.query("SELECT count(*) FROM shop.orders", analyst=name + "x")
        if response.status_code == 200:
            assert listeners.proxy.spent(name)[0] == 1
        assert listeners.proxy.spent(name + "x")[0] == 0
    finally:
        remove_analyst(servers.ledger_dsn, name)
        servers.match_roles()


def test_sessions_are_kept_and_end(listeners: BothListeners) -> None:
    limits = SessionLimits(age_seconds=4.0)  # in which three queries fit
    short = open_http(listeners.proxy, limits)
    name = listeners.proxy.servers.new_analyst()
    try:
        processes = {
            short.query("SELECT pg_backend_pid()", analyst=name).json()["rows"][0][0]
            for _ in range(3)
        }
        assert len(processes) == 1  # one login
        assert short.sessions.idle <= 2  # of the database where the password was checked, too
        set_password(listeners.proxy.servers.ledger_dsn, name, "another")
        listeners.proxy.servers.match_roles()
        deadline = time.monotonic() + 60
        while short.query("SELECT 1", analyst=name).status_code == 200:
            assert time.monotonic() < deadline, "the old password goes on"
        while short.sessions.idle:
            assert time.monotonic() < deadline, "a session outlives its time"
            short.proxy.do(asyncio.sleep(0.05))
    finally:
        short.close()


def test_a_removed_analyst_is_out_at_once(listeners: BothListeners) -> None:
    name = listeners.proxy.servers.new_analyst()
    assert listeners.query("SELECT 1", analyst=name).status_code == 200
    remove_analyst(listeners.proxy.servers.ledger_dsn, name)
    listeners.proxy.servers.match_roles()
    assert listeners.query("SELECT 1", analyst=name).status_code == 401


def test_a_session_that_the_server_ended_is_replaced(listeners: BothListeners) -> None:
    name = listeners.proxy.servers.new_analyst()
    (first,) = listeners.query("SELECT pg_backend_pid()", analyst=name).json()["rows"][0]
    with psycopg.connect(
        listeners.proxy.servers.shadow_server.dsn(), autocommit=True
    ) as connection:
        connection.execute(composed.SQL("SELECT pg_terminate_backend({}, 5000)").format(first))
    (second,) = listeners.query("SELECT pg_backend_pid()", analyst=name).json()["rows"][0]
    assert first != second


def test_sessions_are_not_shared(listeners: BothListeners) -> None:
    names = [listeners.proxy.servers.new_analyst() for _ in range(3)]
    for _ in range(2):
        for name in names:
            told = listeners.query("SELECT session_user", analyst=name).json()
            assert told["rows"] == [[name]]
        wrong = listeners.client.post("/v1/query", json=_BODY, auth=(names[0], PASSWORD + "x"))
        assert wrong.status_code == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"nothing", 400),
        (b"[]", 400),
        (b'{"database": "shop"}', 400),
        (b'{"database": "shop", "sql": 1}', 400),
        (b'{"database": "shop", "sql": "SELECT 1", "sql": "SELECT 2"}', 400),
        (b'{"database": "shop", "sql": "SELECT 1", "more": 1}', 400),
        (b'{"database": "shop", "sql": "SELECT 1", "epsilon": NaN}', 400),
        (b'{"database": "shop", "sql": "SELECT 1", "epsilon": "1"}', 400),
        (b'{"database": "shop", "sql": "SELECT 1", "params": {}}', 400),
        (b'{"database": "shop", "sql": "SELECT 1", "params": [[1]]}', 400),
        (b'{"database": "shop", "sql": "SELECT $1::int", "params": [9007199254740993]}', 400),
        (b'{"database": "shop", "sql": "SELECT 1", "params": ' + b"[" * 50_000, 400),
        (b'{"database": "shop", "sql": "SELECT \\u0000"}', 400),
        (b'{"database": "shop", "sql": "SELECT \'\\ud800\'"}', 400),
        (b'{"database": "shop", "sql": "\xff"}', 400),
        (b'{"database": "shop", "sql": "' + b"x" * 2**20 + b'"}', 413),
        (b'{"database": "shop", "sql": "SELECT 1", "params": null, "epsilon": null}', 200),
    ],
)
def test_bodies(listeners: BothListeners, body: bytes, status: int) -> None:
    response = listeners.client.post(
        "/v1/query",
        content=body,
        headers={"Content-Type": "application/json"},
        auth=(listeners.analyst, PASSWORD),
    )
    assert response.status_code == status, response.text
    if status != 200:
        assert response.json()["status"] == status


def test_a_body_in_pieces_has_the_same_limit(listeners: BothListeners) -> None:
    response = listeners.client.post(
        "/v1/query",
        content=iter([b" " * 2**19] * 3),
        headers={"Content-Type": "application/json"},
        auth=(listeners.analyst, PASSWORD),
    )
    assert response.status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
        ({"Content-Type": "application/json", "Host": "evil.example:8432"}, 421),
        ({"Content-Type": "application/json", "Host": "127.0.0.1.evil.example"}, 421),
        ({"Content-Type": "application/json", "Host": "localhost:1"}, 200),
        ({"Content-Type": "application/json; charset=utf-8", "Host": "[::1]:1"}, 200),
    ],
)
def test_headers(listeners: BothListeners, headers: dict[str, str], status: int) -> None:
    response = listeners.client.post(
        "/v1/query", content=json.dumps(_BODY), headers=headers, auth=(listeners.analyst, PASSWORD)
    )
    assert response.status_code == status
    assert "set-cookie" not in response.headers
    assert not any(name.startswith("access-control") for name in response.headers)
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("sql", "position"),
    [
        ("SELECT count(*) FROM shop.orders; SELECT 'é'", 35),
        ("SELECT 'é€𝄞' ;;\n SELECT count(*) FROM shop.orders;", 18),
    ],
)
def test_two_statements_are_told_where_the_second_begins(
    listeners: BothListeners, sql: str, position: int
) -> None:
    problem = listeners.query(sql).json()
    assert problem["sqlstate"] == "42601" and problem["position"] == position
    assert problem["hint"] == "Send one statement, with none behind it."


@pytest.mark.parametrize(
    "head",
    [
        b"Host: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked",
        b"Host: localhost\r\nHost: localhost\r\nContent-Length: 2",
        b"Content-Length: 2",
        b"Host: localhost\r\nContent-Length: -1",
        b"Host: localhost\r\nContent-Length: 2\r\nContent-Length: 3",
    ],
)
def test_ambiguous_requests(listeners: BothListeners, head: bytes) -> None:
    with socket.create_connection(listeners.server.address, timeout=60) as client:
        client.sendall(
            b"POST /v1/query HTTP/1.1\r\nContent-Type: application/json\r\n" + head + b"\r\n\r\n{}"
        )
        assert client.recv(100).startswith(b"HTTP/1.1 400")


def test_other_methods_and_routes(listeners: BothListeners) -> None:
    auth = (listeners.analyst, PASSWORD)
    assert listeners.client.get("/v1/query", auth=auth).status_code == 405
    assert listeners.client.options("/v1/query").status_code == 405
    for path in ("/nothing", "/v1/query/..%2f", "/v1/../etc/passwd", "/docs/x"):
        response = listeners.client.get(path, auth=auth)
        assert (response.status_code, response.json()["status"]) == (404, 404)


def test_a_client_that_goes_away_stops_its_statement(listeners: BothListeners) -> None:
    name = listeners.proxy.servers.new_analyst()
    with listeners.leaving("/v1/query", {"database": "shop", "sql": "SELECT pg_sleep(300)"}, name):
        assert _sleeping(listeners, name, 1)
    assert _sleeping(listeners, name, 0)


def _sleeping(listeners: BothListeners, name: str, wanted: int) -> bool:
    """Whether so many of the analyst's statements sleep, within a minute."""
    deadline = time.monotonic() + 60
    with psycopg.connect(
        listeners.proxy.servers.shadow_server.dsn(), autocommit=True
    ) as connection:
        while time.monotonic() < deadline:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE usename = %s AND wait_event = 'PgSleep'",
                (name,),
            ).fetchone()
            if row == (wanted,):
                return True
            connection.execute("SELECT pg_sleep(0.02)")
    return False


def test_readiness(listeners: BothListeners) -> None:
    slow = open_http(listeners.proxy)
    try:
        assert slow.client.get("/readyz").json()["status"] == "ready"
        slow.readiness["ledger"] = False
        slow.proxy.do(asyncio.sleep(1.1))  # what was found holds for a second
        response = slow.client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["checks"] == {"protected": True, "ledger": False}
        assert response.json()["away"] == {"shop": ["ledger"]}, (
            "it says which, and of which database"
        )
    finally:
        slow.close()


def test_a_slow_database_keeps_nobody_from_learning_of_the_end(listeners: BothListeners) -> None:
    async def silent() -> dict[str, dict[str, bool]]:
        await asyncio.sleep(60)
        return {}

    slow = open_http(listeners.proxy)
    try:
        slow.server.routes._readiness = silent
        slow.server.routes.is_draining = lambda: True
        response = slow.client.get("/readyz", timeout=30)
        assert (response.status_code, response.json()["status"]) == (503, "draining")
    finally:
        slow.close()


def test_logs_hold_nothing_of_a_request(
    listeners: BothListeners, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    mark = "marked7c1f"
    listeners.query(f"SELECT count(*) FROM shop.orders WHERE status = '{mark}'")
    listeners.query(f"SELECT {mark} FROM shop.orders")
    listeners.query(f"SELECT '{mark}'::int")
    listeners.query("SELECT $1::int", mark)
    listeners.get("/v1/schema", database=mark)
    listeners.client.get(f"/{mark}?x={mark}", headers={"Authorization": _token(mark, mark)})
    listeners.client.post(
        "/v1/query", json=_BODY, headers={"Authorization": _token("nobody", mark)}
    )
    listeners.client.post("/v1/query", content=mark, headers={"X-Mark": mark})
    out, err = capfd.readouterr()
    assert "request" in out + err  # it did log
    assert mark not in out + err + caplog.text


def test_a_request_without_a_database(listeners: BothListeners) -> None:
    response = listeners.client.get("/v1/schema", auth=(listeners.analyst, PASSWORD))
    told = response.json()
    assert (response.status_code, told["detail"]) == (404, "no database is named")
    assert "?database=NAME" in told["hint"]
