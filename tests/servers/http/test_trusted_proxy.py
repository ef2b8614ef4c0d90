"""Whose request it is, behind a proxy that the operator names, and that nobody else can say it."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI, Request
from hypothesis import given
from hypothesis import strategies as st

from proxy.servers.client_address import Networks, forwarded_client, is_within
from proxy.servers.http.connections import ConnectionLimits
from proxy.servers.http.http_server import HttpListener
from tests.waiting import until

_PROXIES: Networks = (ipaddress.ip_network("127.0.0.1"), ipaddress.ip_network("10.0.0.0/8"))


def _app() -> FastAPI:
    app = FastAPI()

    @app.get("/who")
    async def who(request: Request) -> str:
        assert request.client is not None
        return request.client.host

    return app


@contextlib.contextmanager
def _listening(
    proxies: Networks, limits: ConnectionLimits | None = None, host: str = "127.0.0.1"
) -> Iterator[HttpListener]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listener = HttpListener(_app, limits=limits, proxies=proxies)

    def do(work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(60)  # type: ignore[arg-type]

    do(listener.start(host, 0))
    try:
        yield listener
    finally:
        do(listener.stop(0.1))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


@pytest.fixture(scope="module")
def behind() -> Iterator[HttpListener]:
    with _listening(_PROXIES) as listener:
        yield listener


def _who(listener: HttpListener, *forwarded: str, source: str = "127.0.0.1") -> httpx.Response:
    url = f"http://127.0.0.1:{listener.address[1]}/who"
    headers = [("X-Forwarded-For", one) for one in forwarded]
    with httpx.Client(transport=httpx.HTTPTransport(local_address=source)) as client:
        return client.get(url, headers=headers, timeout=60)


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        (["192.0.2.7"], "192.0.2.7"),
        (["2001:db8::7"], "2001:db8::7"),
        (["192.0.2.7:51234"], "192.0.2.7"),
        (["[2001:db8::7]:51234"], "2001:db8::7"),
        (["::ffff:192.0.2.7"], "192.0.2.7"),
        # What stands left of it was written by the client.
        (["198.51.100.1, 192.0.2.7"], "192.0.2.7"),
        (["10.0.0.1, 198.51.100.1,192.0.2.7"], "192.0.2.7"),
        (["<script>, , unknown, 192.0.2.7"], "192.0.2.7"),
        (["198.51.100.1", "192.0.2.7"], "192.0.2.7"),
        # Proxies behind proxies.
        (["192.0.2.7, 10.1.2.3"], "192.0.2.7"),
        (["192.0.2.7, 10.1.2.3", "127.0.0.1 , ::ffff:10.1.2.4"], "192.0.2.7"),
        (["10.1.2.3, 10.1.2.4"], "10.1.2.3"),
        ([], "127.0.0.1"),
    ],
)
def test_it_is_the_right_most_address_that_is_no_proxys(
    forwarded: list[str], client: str, behind: HttpListener
) -> None:
    told = _who(behind, *forwarded)
    assert (told.status_code, told.json()) == (200, client)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "forwarded",
    [
        [""],
        ["unknown"],
        ["192.0.2.7,"],
        ["192.0.2.7, , 10.0.0.1"],
        ["192.0.2.7", ""],
        ["192.0.2.7, _hidden"],
        ["192.0.2.7, 10.0.0.1, 300.1.2.3"],
        ["unknown, 10.0.0.1"],
        ["192.0.2.7:port"],
        ["[2001:db8::7"],
        ["[2001:db8::7]x"],
        ["0x7f.1"],
        ["127.1"],
        ["192.0.2.7/24"],
        ["1" * 5000],
    ],
)
def test_what_is_no_address_is_refused(forwarded: list[str], behind: HttpListener) -> None:
    told = _who(behind, *forwarded)
    assert told.status_code == 400 and "X-Forwarded-For" in told.json()["detail"]


def test_nobody_else_is_believed(behind: HttpListener) -> None:
    for forwarded in (["192.0.2.7"], ["unknown"], []):
        assert _who(behind, *forwarded, source="127.0.0.2").json() == "127.0.0.2"
    with _listening(()) as listener:
        assert _who(listener, "192.0.2.7").json() == "127.0.0.1"


def _has_ipv6() -> bool:
    """Of the machine: Python's may be without an address."""
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_proxy_may_have_more_connections_than_a_client(host: str) -> None:
    """Each of IPv6 too, where limits go by a network of addresses."""
    if host == "::1" and not _has_ipv6():
        pytest.skip("no IPv6 here")
    for proxies, most in (((), 2), ((ipaddress.ip_network(host),), 5)):
        with (
            _listening(proxies, ConnectionLimits(at_once=8, each=2), host) as listener,
            contextlib.ExitStack() as closing,
        ):
            for _ in range(5):
                closing.enter_context(socket.create_connection(listener.address, 60))
            connections = listener._connections
            assert connections is not None
            until(lambda connections=connections, most=most: len(connections) == most)  # type: ignore[misc]


_HOP = st.one_of(
    st.ip_addresses().map(str),
    st.sampled_from(["10.0.0.1", "127.0.0.1", "", "x", "1.2.3.4:5", "[::1]:2"]),
)


@given(
    st.lists(_HOP, max_size=5),
    st.ip_addresses().filter(lambda one: not is_within(str(one), _PROXIES)),
)
def test_nothing_that_a_client_writes_changes_what_the_proxy_says(
    written: list[str], client: ipaddress.IPv4Address
) -> None:
    told = forwarded_client([*written, f"{client}, 10.0.0.9"], _PROXIES)
    assert told == forwarded_client([f"{client}, 10.0.0.9"], _PROXIES) is not None
