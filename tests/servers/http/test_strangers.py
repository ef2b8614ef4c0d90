"""What clients without a password, and one analyst, can do to the others over HTTP (F3, F4, F10, F11)."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from proxy.base.errors import Refusal
from proxy.pgwire.startup import refused_option
from proxy.servers.http.connections import ConnectionLimits
from proxy.servers.http.request_reading import NotStrict, chosen_format, read_credentials, read_json
from proxy.servers.login_gate import GateLimits
from proxy.shadow.analyst_sessions import SessionLimits
from tests.machine_speed import allowed_wait, allowed_work
from tests.servers.address_hop import AddressHop
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD
from tests.waiting import until


def _token(user: str, password: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{user}:{password}".encode())


def _post(
    body: bytes, user: str = "nobody", password: str = "wrong", length: int | None = None
) -> bytes:
    return (
        b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: "
        + _token(user, password)
        + b"\r\nContent-Length: "
        + str(len(body) if length is None else length).encode()
        + b"\r\n\r\n"
        + body
    )


def _dial(listeners: BothListeners, address: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(listeners.server.address, 60, source_address=(address, 0))


@contextlib.contextmanager
def _served(listeners: BothListeners, **more: object) -> Iterator[BothListeners]:
    http = open_http(listeners.proxy, **more)  # type: ignore[arg-type]
    try:
        yield http
    finally:
        http.close()


# F3: what is read of a stranger, and in what time.

_HOSTILE: dict[str, tuple[Callable[[int], object], Callable[[object], object]]] = {
    "json, unclosed string": (lambda n: b'"' + b'\\"' * n, lambda b: read_json(b)),  # type: ignore[arg-type]
    "json, strings": (lambda n: b'["\\""' * n, lambda b: read_json(b)),  # type: ignore[arg-type]
    "json, quotes": (lambda n: b'"' * (2 * n), lambda b: read_json(b)),  # type: ignore[arg-type]
    "json, backslashes": (lambda n: b'"' + b"\\" * (2 * n), lambda b: read_json(b)),  # type: ignore[arg-type]
    "json, brackets": (lambda n: b"[]" * n, lambda b: read_json(b)),  # type: ignore[arg-type]
    "json, digits": (lambda n: b"1" * (2 * n), lambda b: read_json(b)),  # type: ignore[arg-type]
    "json, keys": (
        lambda n: json.dumps({str(i): 1 for i in range(n // 4)}).encode(),
        lambda b: read_json(b),  # type: ignore[arg-type]
    ),
    "json, values": (lambda n: b"[" + b"1," * n + b"1]", lambda b: read_json(b)),  # type: ignore[arg-type]
    "options": (lambda n: "-c jit=off " * (n // 4), lambda o: refused_option(o)),  # type: ignore[arg-type]
    "options, backslashes": (lambda n: "\\ " * n, lambda o: refused_option(o)),  # type: ignore[arg-type]
    "accept": (lambda n: ", " * n + "application/json", lambda h: chosen_format(h)),  # type: ignore[arg-type]
    "base64": (
        lambda n: ("authorization", "Basic " + "QTpB" * n),
        lambda h: read_credentials(_request(h)),
    ),
    "not base64": (
        lambda n: ("authorization", "Basic " + "=" * n),
        lambda h: read_credentials(_request(h)),
    ),
    "query": (lambda n: "a&" * n, lambda q: _request(("x", "y"), q).query_params.get("database")),  # type: ignore[arg-type]
    "query, escapes": (lambda n: "a=%41%" * n, lambda q: _request(("x", "y"), q).query_params),  # type: ignore[arg-type]
}


def _request(header: Any, query: str = "") -> Request:
    name, value = header
    headers = [(name.encode(), value.encode())]
    return Request({"type": "http", "headers": headers, "query_string": query.encode()})


@pytest.mark.every(4)
@pytest.mark.timed
@pytest.mark.parametrize("kind", _HOSTILE)
def test_what_strangers_send_is_read_in_linear_time(kind: str) -> None:
    make, read = _HOSTILE[kind]
    took = []
    for size in (16_000, 32_000, 64_000, 128_000):
        given = make(size)
        best = float("inf")
        for _ in range(3):
            began = time.thread_time()
            with contextlib.suppress(NotStrict, Refusal, Exception):
                read(given)
            best = min(best, time.thread_time() - began)
        took.append(best)
    assert took[-1] < allowed_work(0.3), took
    assert took[-1] < 24 * max(took[0], 0.001), took  # 8 times the size; 64 times is quadratic


def test_a_strangers_body_is_not_read(listeners: BothListeners) -> None:
    with _dial(listeners) as client:
        client.sendall(_post(b"{", length=100_000))  # and the rest does not come
        assert client.recv(100).startswith(b"HTTP/1.1 401")
    wrong = {"Authorization": _token(listeners.analyst, "wrong").decode()}
    body = {"headers": {**wrong, "Content-Type": "text/plain"}, "content": b"\\"}
    assert listeners.client.post("/v1/query", **body).status_code == 401  # type: ignore[arg-type]


@pytest.mark.timed
def test_a_hostile_body_does_not_hold_up_others(listeners: BothListeners) -> None:
    body = b'"' + b'\\"' * 120_000
    for user, password, status in (("nobody", "x", b"401"), (listeners.analyst, PASSWORD, b"400")):
        with _dial(listeners) as client, listeners.proxy.connect() as bystander:
            answered = threading.Event()
            longest: list[float] = []

            def watch(bystander=bystander, answered=answered, longest=longest) -> None:  # type: ignore[no-untyped-def]
                while not answered.is_set():
                    began = time.monotonic()
                    bystander.execute("SELECT 1")
                    longest.append(time.monotonic() - began)

            watching = threading.Thread(target=watch)
            watching.start()
            client.sendall(_post(body, user, password))
            assert client.recv(100).startswith(b"HTTP/1.1 " + status)
            answered.set()
            watching.join()
        assert max(longest) < allowed_wait(0.5)


# F4: sockets.


@pytest.mark.long
@pytest.mark.timed
def test_idle_sockets_do_not_keep_others_out(listeners: BothListeners) -> None:
    limits = ConnectionLimits(at_once=300, each=256)
    with _served(listeners, connections=limits) as http, contextlib.ExitStack() as stack:
        for _ in range(257):
            stack.enter_context(_dial(http))
        hop = stack.enter_context(AddressHop(http.server.address[1], "127.0.0.2"))
        for port in (hop.port, http.server.address[1]):  # also from the very address
            began = time.monotonic()
            response = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=60)
            assert time.monotonic() - began < allowed_wait(1, below=9)  # a header may take 10
            assert response.status_code == 200
        for number in range(3, 6):
            for _ in range(100):
                stack.enter_context(_dial(http, f"127.0.0.{number}"))
        assert len(http.server._connections or ()) <= 300
        assert httpx.get(f"http://127.0.0.1:{hop.port}/healthz", timeout=60).status_code == 200


@pytest.mark.every(2)
@pytest.mark.timed
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: local",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + b"GET /hea",
        _post(b"{", length=1000),
    ],
)
def test_who_sends_nothing_more_is_ended(sent: bytes, listeners: BothListeners) -> None:
    limits = ConnectionLimits(header_seconds=0.5, rest_seconds=0.5)
    with _served(listeners, connections=limits) as http, _dial(http) as client:
        client.sendall(sent)
        began = time.monotonic()
        _until_closed(client)
        assert time.monotonic() - began < allowed_wait(3)


@pytest.mark.every(2)
@pytest.mark.timed
@pytest.mark.parametrize("head", [b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_a_header_byte_by_byte_is_ended(head: bytes, listeners: BothListeners) -> None:
    limits = ConnectionLimits(header_seconds=1, rest_seconds=1)
    with _served(listeners, connections=limits) as http, _dial(http) as client:
        client.sendall(head)
        began = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - began < 60:
                client.sendall(b"G")
                time.sleep(0.1)
        assert time.monotonic() - began < allowed_wait(4, below=50)


def test_who_does_not_read_is_ended(listeners: BothListeners) -> None:
    limits = ConnectionLimits(stalled_seconds=1, rest_seconds=1)
    body = {"database": "shop", "sql": "SELECT repeat('x', 1000) FROM generate_series(1, 20000)"}
    with _served(listeners, connections=limits) as http, _dial(http) as client:
        client.sendall(_post(json.dumps(body).encode(), listeners.analyst, PASSWORD))
        deadline = time.monotonic() + 60
        while len(http.server._connections or ()):
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.long
@pytest.mark.timed  # a client that a busy machine holds up reads too slowly, and is ended
def test_a_slow_reader_gets_all(listeners: BothListeners) -> None:
    """Who moves on: the whole takes longer than what may stand still, and no piece of it does."""
    limits = ConnectionLimits(stalled_seconds=2, stalled_bytes=64 * 1024)
    body = {"database": "shop", "sql": "SELECT repeat('x', 1000) FROM generate_series(1, 8000)"}
    with _served(listeners, connections=limits) as http, _dial(http) as client:
        head = _post(json.dumps(body).encode(), listeners.analyst, PASSWORD)
        client.sendall(head.replace(b"Host:", b"Connection: close\r\nHost:"))
        heard, began = 0, time.monotonic()
        while chunk := client.recv(256 * 1024):
            heard += len(chunk)
            time.sleep(len(chunk) / 3_000_000)
        assert time.monotonic() - began > 2
    assert heard > 8_000_000


def _until_closed(client: socket.socket) -> bytes:
    heard = b""
    while chunk := client.recv(1 << 16):
        heard += chunk
    return heard


# F10: places.


def _seconds(call: Callable[[], httpx.Response]) -> float:
    began = time.monotonic()
    assert call().status_code == 200
    return time.monotonic() - began


def _p95(http: BothListeners, analyst: str) -> float:
    took = sorted(_seconds(lambda: http.query("SELECT 1", analyst=analyst)) for _ in range(60))
    return took[56]


@pytest.mark.long
@pytest.mark.timed
def test_one_analyst_does_not_take_all_places(listeners: BothListeners) -> None:
    mallory, bob = listeners.proxy.servers.new_analyst(), listeners.proxy.servers.new_analyst()
    sleep = {"database": "shop", "sql": "SELECT pg_sleep(4)"}
    with _served(listeners, limits=SessionLimits(wait_seconds=1)) as http:
        alone = _p95(http, bob)

        def hold() -> httpx.Response:
            address = f"http://127.0.0.1:{http.server.address[1]}/v1/query"
            return httpx.post(
                address, json=sleep, auth=(mallory, PASSWORD), timeout=60, verify=False
            )

        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            held = [pool.submit(hold) for _ in range(63)]
            time.sleep(1)
            beside = _p95(http, bob)
            health = httpx.get(f"http://127.0.0.1:{http.server.address[1]}/healthz", timeout=60)
            assert health.status_code == 200
            responses = [one.result() for one in held]
    assert beside < 3 * alone or beside < allowed_wait(0.03, below=0.8)
    told = [response for response in responses if response.status_code != 200]
    assert len(told) > 40  # eight at once, for the seconds that the others wait
    assert {response.status_code for response in told} == {503}
    assert all(int(response.headers["retry-after"]) > 0 for response in told)


def test_health_answers_when_all_places_are_taken(listeners: BothListeners) -> None:
    limits = SessionLimits(at_once=1, each=1, wait_seconds=0.1)
    with _served(listeners, limits=limits) as http, contextlib.ExitStack() as stack:
        assert http.get("/v1/databases").status_code == 200
        sleep = json.dumps({"database": "shop", "sql": "SELECT pg_sleep(300)"}).encode()
        for _ in range(70):
            stack.enter_context(_dial(http)).sendall(_post(sleep, http.analyst, PASSWORD))
        until(lambda: http.sessions._places.used == 1)
        assert http.client.get("/healthz").json() == {"status": "ok"}
        assert http.get("/v1/databases").status_code == 503


def test_health_names_what_is_down(listeners: BothListeners) -> None:
    with _served(listeners) as http:
        assert http.client.get("/healthz").status_code == 200
        http.health["shadow"] = False
        response = http.client.get("/healthz")
        assert (response.status_code, response.json()["down"]) == (503, ["shadow"])


# F11: passwords.


@pytest.mark.long
@pytest.mark.timed
def test_guesses_are_few_a_second(listeners: BothListeners) -> None:
    analyst = listeners.proxy.servers.new_analyst()
    limits = GateLimits(longest_delay_seconds=4, guesses=10, guess_seconds=10)
    with _served(listeners, gate=limits) as http:
        address = f"http://127.0.0.1:{http.server.address[1]}/v1/databases"
        ends = time.monotonic() + 3

        def guess() -> int:
            tried = 0
            while time.monotonic() < ends:
                status = httpx.get(
                    address, auth=(analyst, "wrong"), timeout=60, verify=False
                ).status_code
                tried += status == 401
                if status == 503:
                    time.sleep(0.2)
            return tried

        with (
            AddressHop(http.server.address[1], "127.0.0.2") as hop,
            concurrent.futures.ThreadPoolExecutor(12) as pool,
        ):
            guessing = [pool.submit(guess) for _ in range(20)]
            time.sleep(2)
            elsewhere = address.replace(str(http.server.address[1]), str(hop.port))
            right = {"auth": (analyst, PASSWORD), "timeout": 30}
            assert _seconds(lambda: httpx.get(elsewhere, **right)) < allowed_wait(1, below=3.5)  # type: ignore[arg-type]
            tried = sum(one.result() for one in guessing)
    assert 0 < tried <= 10 + 12  # and what each thread had under way at the end


# What `test_fuzz_http.py` has found.


@pytest.mark.every(2)
@pytest.mark.parametrize("broken", [b"zz\r\n", b"5\r\nabc"])
def test_a_body_that_breaks_off_raises_nothing(
    broken: bytes,
    listeners: BothListeners,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Before the answer has begun, and after."""
    head = _post(b"", listeners.analyst, PASSWORD).replace(
        b"Content-Length: 0", b"Transfer-Encoding: chunked"
    )
    plain = b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for first in (head + broken, head + b"1\r\n{\r\n", plain + b"more" * 3_000):
        with _dial(listeners) as client:
            client.sendall(first)
            with contextlib.suppress(OSError):
                time.sleep(0.2)
                client.sendall(broken * 3)
                _until_closed(client)
    assert listeners.client.get("/healthz").status_code == 200
    out, err = capfd.readouterr()
    told = out + err + caplog.text
    assert "Traceback" not in told
    assert "unexpected_error" not in told
