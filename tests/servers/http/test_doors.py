"""Every door serves a right credential within a second while its address guesses.

Doors: password on the wire, HTTP Basic, bearer token, administrator's secret. And guessing stays slow.
"""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.bearer_tokens import PresentedTokens, create_token
from proxy.ledger.users import PeopleReader
from proxy.servers.admission import Admission
from proxy.servers.http.admin_credentials import read_admin_credentials
from proxy.servers.http.admin_routes import AdminRoutes
from proxy.servers.http.connections import ADMIN_LIMITS, ConnectionLimits
from proxy.servers.http.http_logins import Bearers
from proxy.servers.http.http_server import HttpListener
from proxy.servers.login_gate import GateLimits, LoginGate
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import InnerLogins
from tests.machine_speed import allowed_wait
from tests.servers.flood import ANY_TOKEN, flooding, flooding_with_logins
from tests.servers.guessers import guessing, seconds_of
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers.wire.bare_connection import startup
from tests.servers_fixture import PASSWORD
from tests.waiting import until

_SECRET = "0123456789abcdef" * 4
_OTHER_SECRET = "fedcba9876543210" * 4
_THREADS = 32
_WATCHED_SECONDS = 1.5
# Twice as fast as in the product, so that no test waits for its guessers for 8 seconds.
_LIMITS = GateLimits(guesses=64, guess_seconds=8, longest_delay_seconds=4)
_SOON = allowed_wait(1, below=3.5)  # before a guess is answered
_NOT_LATE = allowed_wait(1, below=9)  # before a connection that says nothing is ended


@dataclass(slots=True, kw_only=True)
class Doors:
    """Listeners of one address, with gates of their own."""

    http: BothListeners
    wire: WireServer
    admin: HttpListener
    gate: LoginGate
    bob: str

    def on_the_wire(self, user: str, password: str = PASSWORD) -> str:
        dsn = self.http.proxy.servers.analyst_dsn("shop", user, self.wire.address[1])
        try:
            with psycopg.connect(dsn, password=password, connect_timeout=60) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError as error:
            return "refused" if "password authentication failed" in str(error) else "kept out"
        return "served"

    def over_http(self, user: str, password: str = PASSWORD) -> str:
        return self._databases(auth=(user, password))

    def by_token(self, token: str) -> str:
        return self._databases(headers={"Authorization": f"Bearer {token}"})

    def new_token(self) -> str:
        return create_token(self.http.proxy.servers.ledger_dsn, self.bob, days=1).text

    def as_administrator(self, secret: str = _SECRET) -> str:
        headers = {"Authorization": f"Bearer {secret}"}
        url = f"http://127.0.0.1:{self.admin.address[1]}/admin/v1/sessions"
        return _told(httpx.get(url, headers=headers, timeout=60, verify=False))

    def _databases(self, **more: object) -> str:
        url = f"http://127.0.0.1:{self.http.server.address[1]}/v1/databases"
        return _told(httpx.get(url, timeout=60, verify=False, **more))  # type: ignore[arg-type]


def _told(response: httpx.Response) -> str:
    return {200: "served", 401: "refused"}.get(response.status_code, "kept out")


@contextlib.contextmanager
def _doors(
    listeners: BothListeners, folder: Path, limits: GateLimits | None = None
) -> Iterator[Doors]:
    proxy = listeners.proxy
    pair = proxy.servers
    bob = pair.new_analyst()
    sources = proxy.assembly.sources
    reader = PeopleReader(pair.ledger_dsn, tuple(sources.values()))
    admission = Admission(sources, reader.read())
    reader.close()
    secrets = folder / "secrets"
    secrets.write_text(f"console {_SECRET}\nmallory {_OTHER_SECRET}\n")
    secrets.chmod(0o600)
    gate = LoginGate(limits or _LIMITS)
    with contextlib.ExitStack() as closing:
        tokens = PresentedTokens(pair.ledger_dsn)
        proxy.do(tokens.open())
        closing.callback(lambda: proxy.do(tokens.close()))
        http = open_http(
            proxy,
            gate=gate,
            inner=InnerLogins(pair.shadow_server.dsn()),
            bearers=Bearers(admission, tokens),
            admission=admission,
        )
        closing.callback(http.close)
        wire = proxy.assembly.wire_server(None, gate)
        proxy.do(wire.start("127.0.0.1", 0))
        closing.callback(lambda: proxy.do(wire.stop(0.5)))
        routes = AdminRoutes(
            pair.ledger_dsn, read_admin_credentials(secrets), wire, LoginGate(_LIMITS)
        )
        admin = HttpListener(routes.app, None, ADMIN_LIMITS)
        proxy.do(admin.start("127.0.0.1", 0))
        closing.callback(lambda: proxy.do(admin.stop(1)))
        yield Doors(http=http, wire=wire, admin=admin, gate=gate, bob=bob)


_GUESSED: dict[str, Callable[[Doors, int], str]] = {
    "wire, his name": lambda doors, n: doors.on_the_wire(doors.bob, f"wrong {n}"),
    "wire, other names": lambda doors, n: doors.on_the_wire(f"nobody{n}", "wrong"),
    "HTTP, his name": lambda doors, n: doors.over_http(doors.bob, f"wrong {n}"),
    "HTTP, other names": lambda doors, n: doors.over_http(f"nobody{n}", "wrong"),
    "tokens": lambda doors, n: doors.by_token(f"dpp_{n:0>43}"),
    "secrets": lambda doors, n: doors.as_administrator(f"{n:0>64}"),
}


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("guessed", _GUESSED)
def test_right_credentials_are_served_while_their_address_guesses(
    guessed: str, listeners: BothListeners, tmp_path: Path
) -> None:
    with _doors(listeners, tmp_path) as doors:
        stranger = doors.http.proxy.servers.new_analyst()  # has never logged in from here
        doors.on_the_wire(doors.bob)
        with guessing(_THREADS, lambda n: _GUESSED[guessed](doors, n)) as guesses:
            until(lambda: guesses.answers.get("refused", 0) > 0)
            _watch_all_doors(doors)
            assert seconds_of(lambda: _served(doors.over_http(stranger))) < _SOON
            assert seconds_of(lambda: _served(doors.on_the_wire(stranger))) < _SOON
    assert "served" not in guesses.answers


def test_patient_guessers_do_not_use_up_a_lane() -> None:
    limits = GateLimits()
    per_second = limits.guesses / limits.guess_seconds
    assert per_second * limits.longest_delay_seconds >= _THREADS
    assert per_second == 4  # what a name's password has to stand


def _check_all_doors(doors: Doors) -> None:
    fresh = doors.new_token()
    for enter in (
        lambda: doors.on_the_wire(doors.bob),
        lambda: doors.over_http(doors.bob),
        lambda: doors.by_token(fresh),
        doors.as_administrator,
    ):
        assert seconds_of(lambda enter=enter: _served(enter())) < _SOON  # type: ignore[misc]


def _served(told: str) -> None:
    assert told == "served"


def _checked(doors: Doors) -> int:
    """Wrong passwords that count at the moment, in all lanes."""
    return doors.gate._guesses.used


_SLOW = GateLimits(guesses=20, guess_seconds=900, longest_delay_seconds=0.5)


@pytest.mark.every(2)
@pytest.mark.timed
@pytest.mark.parametrize("door", ["HTTP", "wire"])
def test_guesses_are_few_however_impatient(
    door: str, listeners: BothListeners, tmp_path: Path
) -> None:
    """Clients that leave at once and come again make no more guesses, and learn nothing by it."""
    with _doors(listeners, tmp_path, _SLOW) as doors:
        doors.over_http(doors.bob)
        _served(doors.on_the_wire(doors.bob))

        def guess(number: int) -> str:
            if door == "wire":
                dsn = doors.http.proxy.servers.analyst_dsn("shop", doors.bob, doors.wire.address[1])
                with psycopg.connect(dsn, password=f"wrong {number}", connect_timeout=2):
                    return "served"
            url = f"http://127.0.0.1:{doors.http.server.address[1]}/v1/databases"
            return _told(
                httpx.get(url, auth=(doors.bob, f"wrong {number}"), timeout=0.3, verify=False)
            )

        with guessing(_THREADS, guess) as guesses:
            until(
                lambda: sum(guesses.answers.values()) > 100 and _checked(doors) == 20, seconds=300
            )
        assert "served" not in guesses.answers
        time.sleep(2 * _SLOW.longest_delay_seconds)
        until(lambda: _checked(doors) == 20)  # each counts for longer than its answer took
        # Neither is a right password told from a wrong one: it waits, too, although it is remembered.
        url = f"http://127.0.0.1:{doors.http.server.address[1]}/v1/databases"
        with contextlib.suppress(httpx.TimeoutException):
            answered = httpx.get(url, auth=(doors.bob, PASSWORD), timeout=1.5, verify=False)
            assert _told(answered) == "kept out"
        _served(doors.over_http(doors.http.proxy.servers.new_analyst()))
        _served(doors.by_token(doors.new_token()))


def test_a_right_password_takes_no_guess(listeners: BothListeners, tmp_path: Path) -> None:
    with _doors(listeners, tmp_path, GateLimits(guesses=2, guess_seconds=60)) as doors:
        for _ in range(5):
            _served(doors.on_the_wire(doors.bob))
            _served(doors.over_http(doors.bob))
        assert _checked(doors) == 0


def test_a_changed_password_is_not_remembered(listeners: BothListeners, tmp_path: Path) -> None:
    pair = listeners.proxy.servers
    with _doors(listeners, tmp_path, GateLimits(longest_delay_seconds=0.05)) as doors:
        _served(doors.over_http(doors.bob))
        doors.http.proxy.do(_close_idle(doors))
        with psycopg.connect(pair.shadow_server.dsn(), autocommit=True) as shadow:
            shadow.execute(f"ALTER ROLE {doors.bob} PASSWORD 'another password'")
        assert doors.over_http(doors.bob) == "refused"
        assert not doors.http.sessions._right


async def _close_idle(doors: Doors) -> None:
    doors.http.sessions.close()
    doors.http.sessions._is_closed = False


@pytest.mark.timed
def test_bodies_that_do_not_come_take_no_place(listeners: BothListeners, tmp_path: Path) -> None:
    """Of one analyst, from bob's address, on more connections than an address may have."""
    with _doors(listeners, tmp_path) as doors, contextlib.ExitStack() as closing:
        mallory = doors.http.proxy.servers.new_analyst()
        assert doors.over_http(mallory) == "served"
        head = _head(mallory)
        for _ in range(ConnectionLimits().each + 40):
            connection = socket.create_connection(doors.http.server.address, 60)
            closing.enter_context(connection)
            connection.sendall(head)
        for _ in range(20):
            assert seconds_of(lambda: _served(doors.over_http(doors.bob))) < _NOT_LATE
        # Nor does it take a place of her own.
        assert seconds_of(lambda: _served(doors.over_http(mallory))) < _NOT_LATE


@pytest.mark.long
def test_whole_requests_stay_where_bodies_do_not_come(
    listeners: BothListeners, tmp_path: Path
) -> None:
    """Wrong passwords are answered late: meanwhile others take all connections of the address."""
    limits = replace(_LIMITS, longest_delay_seconds=2)
    with _doors(listeners, tmp_path, limits) as doors, contextlib.ExitStack() as closing:
        head = _head(doors.http.proxy.servers.new_analyst())
        pool = closing.enter_context(concurrent.futures.ThreadPoolExecutor(_THREADS))
        told = [pool.submit(doors.over_http, doors.bob, f"wrong {n}") for n in range(_THREADS)]
        until(lambda: len(doors.http.server._connections or ()) >= _THREADS // 2)
        for _ in range(ConnectionLimits().each + 40):
            connection = socket.create_connection(doors.http.server.address, 60)
            closing.enter_context(connection)
            connection.sendall(head)
        assert {one.result() for one in told} == {"refused"}


def _head(user: str) -> bytes:
    """Of a request whose body is announced."""
    credentials = base64.b64encode(f"{user}:{PASSWORD}".encode())
    return _head_with(b"Basic " + credentials)


def _head_with(authorization: bytes, path: bytes = b"/v1/query") -> bytes:
    return (
        b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: " + authorization + b"\r\nContent-Length: 100\r\n\r\n{"
    )


_REQUESTS: dict[str, Callable[[bytes], bytes]] = {
    "bodies that do not come": lambda credential: _head_with(credential),
    "heads that do not come": lambda credential: _head_with(credential)[:-20],
    "whole requests": lambda credential: _head_with(credential) + b" " * 98 + b"}",
}
_MISUSED = ("token", "wrong token", "password", "wrong password", "secret", "wrong secret")


def _credential(doors: Doors, misused: str) -> bytes:
    """Of an analyst who is not bob, or of another administrator."""
    pair = doors.http.proxy.servers
    mallory = pair.new_analyst()
    match misused:
        case "token":
            return b"Bearer " + create_token(pair.ledger_dsn, mallory, days=1).text.encode()
        case "wrong token":
            return b"Bearer dpp_" + b"x" * 43
        case "password":
            return b"Basic " + base64.b64encode(f"{mallory}:{PASSWORD}".encode())
        case "wrong password":
            return b"Basic " + base64.b64encode(f"{mallory}:wrong".encode())
        case "secret":
            return b"Bearer " + _OTHER_SECRET.encode()
        case _:
            return b"Bearer " + b"0" * 64


@pytest.mark.long
@pytest.mark.every(18)
@pytest.mark.timed
@pytest.mark.parametrize("misused", _MISUSED)
@pytest.mark.parametrize("requests", _REQUESTS)
def test_one_credential_keeps_nobody_else_out(
    requests: str, misused: str, listeners: BothListeners, tmp_path: Path
) -> None:
    """Its checks wait for each other, and nobody else's for them."""
    with _doors(listeners, tmp_path) as doors:
        request = _REQUESTS[requests](_credential(doors, misused))
        address = doors.http.server.address
        if "secret" in misused:
            request = request.replace(b"/v1/query", b"/admin/v1/users")
            address = doors.admin.address
        with flooding(address, request):
            _watch_all_doors(doors)


@pytest.mark.long
@pytest.mark.every(2)
@pytest.mark.timed
@pytest.mark.parametrize("flood", ["tokens of nobody", "slow statements"])
def test_whole_requests_keep_nobody_else_out(
    flood: str, listeners: BothListeners, tmp_path: Path
) -> None:
    """Each with another token; or each waits for a place of its analyst."""
    with _doors(listeners, tmp_path) as doors:
        if flood == "slow statements":
            credential, sql = _credential(doors, "token"), b"SELECT pg_sleep(60)"
        else:
            credential, sql = b"Bearer dpp_" + ANY_TOKEN, b"SELECT 1"
        body = b'{"database": "shop", "sql": "' + sql + b'"}'
        head = _head_with(credential).replace(b"Length: 100", b"Length: " + str(len(body)).encode())
        with flooding(doors.http.server.address, head[:-1] + body):
            _watch_all_doors(doors)


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.timed
@pytest.mark.parametrize("misused", ["right", "wrong", "stalled"])
def test_one_name_on_the_wire_keeps_nobody_else_out(
    misused: str, listeners: BothListeners, tmp_path: Path
) -> None:
    with _doors(listeners, tmp_path) as doors:
        pair, port = doors.http.proxy.servers, doors.wire.address[1]
        mallory = pair.new_analyst()
        password = PASSWORD if misused == "right" else "wrong"
        dsn = make_conninfo(pair.analyst_dsn("shop", mallory, port), password=password)
        half = startup(user=mallory, database="shop")[:-5]
        stalled = misused == "stalled"
        with flooding(doors.wire.address, half) if stalled else flooding_with_logins(dsn):
            _watch_all_doors(doors)


def _watch_all_doors(doors: Doors) -> None:
    ends = time.monotonic() + _WATCHED_SECONDS
    while time.monotonic() < ends:
        _check_all_doors(doors)


def test_a_connection_that_has_served_is_closed_last(
    listeners: BothListeners, tmp_path: Path
) -> None:
    with _doors(listeners, tmp_path) as doors, contextlib.ExitStack() as closing:
        url = f"http://127.0.0.1:{doors.http.server.address[1]}"
        with httpx.Client(base_url=url, auth=(doors.bob, PASSWORD)) as kept:
            _served(_told(kept.get("/v1/databases")))
            for _ in range(ConnectionLimits().each + 40):
                closing.enter_context(socket.create_connection(doors.http.server.address, 60))
            until(lambda: len(doors.http.server._connections or ()) == ConnectionLimits().each)
            _served(_told(kept.get("/v1/databases")))
            assert len(kept._transport._pool.connections) == 1  # type: ignore[attr-defined]
