"""Whose connection it is, behind a balancer that says so, and that nobody else can say it."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
import struct
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from proxy.pgwire.startup import MOST_BYTES, SIGNATURE, HeaderRefused, read_header
from proxy.servers.certificate import ALPN, server_context
from proxy.servers.wire.shared_server_state import Limits
from tests.servers.address_hop import AddressHop
from tests.servers.wire.bare_connection import SSL_REQUEST, answer, startup
from tests.servers.wire.conftest import Running, serve
from tests.waiting import until

_BALANCERS = (ipaddress.ip_network("127.0.0.1"),)
_OTHER = "127.0.0.2"
_VECTORS = b"\x02" + struct.pack("!H", 7) + b"db.test" + b"\x04" + struct.pack("!H", 0)


def _header(
    client: str = "192.0.2.7", more: bytes = b"", *, command: int = 0x21, family: int | None = None
) -> bytes:
    source = ipaddress.ip_address(client)
    addresses = source.packed + source.packed + struct.pack("!HH", 40000, 6432) + more
    of = {4: 0x11, 6: 0x21}[source.version] if family is None else family
    return SIGNATURE + struct.pack("!BBH", command, of, len(addresses)) + addresses


_LOCAL = SIGNATURE + bytes([0x20, 0, 0, 0])
_GOOD = {
    "IPv4": (_header(), "192.0.2.7"),
    "IPv6": (_header("2001:db8::1:2:3:4"), "2001:db8::/64"),
    "IPv4 in IPv6": (_header("::ffff:192.0.2.7"), "192.0.2.7"),
    "with more behind its addresses": (_header(more=_VECTORS), "192.0.2.7"),
    "of the balancer itself": (_LOCAL, "127.0.0.1"),
    "of the balancer itself, with addresses": (_header(command=0x20), "127.0.0.1"),
}
_BAD = {
    "version 1": b"PROXY TCP4 192.0.2.7 192.0.2.8 40000 6432\r\n",
    "none": startup(user="bob", database="shop"),
    "TLS": b"\x16\x03\x01\x02\x00\x01",
    "a request for TLS before it": SSL_REQUEST + _header(),
    "half a signature": SIGNATURE[:8] + b"....",
    "version 3": _header(command=0x31),
    "version 1 in binary": _header(command=0x11),
    "an unknown command": _header(command=0x22),
    "no family": _header(family=0x00),
    "datagrams": _header(family=0x12),
    "a Unix socket": SIGNATURE + struct.pack("!BBH", 0x21, 0x31, 216) + bytes(216),
    "addresses of the other family": _header(family=0x21),
    "no addresses": SIGNATURE + struct.pack("!BBH", 0x21, 0x11, 0),
    "too long": SIGNATURE + struct.pack("!BBH", 0x21, 0x11, MOST_BYTES),
    "a vector that is cut": _header(more=_VECTORS[:-1]),
    "a vector longer than the header": _header(more=b"\x02\xff\xff"),
    "no address of a client": _header("0.0.0.0"),
    "many clients": _header("224.0.0.1"),
}


@pytest.fixture(scope="module")
def behind() -> Iterator[Running]:
    """A server that knows 127.0.0.1 as a balancer."""
    yield from serve(balancers=_BALANCERS)


def _session(relay: Running, port: int, address: str) -> None:
    with psycopg.connect(relay.shadow.conninfo(port), user="bob") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert [one.address for one in relay.server.sessions] == [address]
    until(lambda: not relay.server.connections)


@pytest.mark.parametrize("name", _GOOD)
def test_the_client_is_whom_the_header_names(name: str, behind: Running) -> None:
    header, address = _GOOD[name]
    with AddressHop(behind.port, "127.0.0.1", first=header) as hop:
        _session(behind, hop.port, address)


@pytest.mark.parametrize("name", ["IPv4", "IPv6", "of the balancer itself"])
def test_a_header_in_pieces_is_waited_for(name: str, behind: Running) -> None:
    header, address = _GOOD[name]
    whole = header + startup(user="bob", database="shop")
    with socket.create_connection(("127.0.0.1", behind.port), 60) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(whole)):
            client.sendall(whole[at : at + 1])
        assert client.recv(1) == b"R", "it is asked for its password"
        (connection,) = behind.server._connections
        assert connection._address == address
    until(lambda: not behind.server.connections)


@pytest.mark.parametrize("name", _BAD)
def test_what_is_no_such_header_is_refused(name: str, behind: Running) -> None:
    with (
        capture_logs() as told,
        socket.create_connection(("127.0.0.1", behind.port), 60) as client,
    ):
        client.sendall(_BAD[name])
        heard = answer(client)
    assert b"08P01" in heard and b"PROXY protocol" in heard and heard.count(b"SFATAL") == 1
    assert [one["event"] for one in told] == ["proxy_header_refused"]
    assert "192.0.2" not in str(told), "nothing of it is believed"


@pytest.mark.parametrize("name", ["IPv4", "IPv6", "of the balancer itself"])
def test_nobody_else_says_it(name: str, behind: Running) -> None:
    with (
        capture_logs() as told,
        socket.create_connection(
            ("127.0.0.1", behind.port), 60, source_address=(_OTHER, 0)
        ) as client,
    ):
        client.sendall(_GOOD[name][0] + startup(user="bob", database="shop"))
        assert answer(client) == b"", "as to whoever sends no start-up packet"
    assert [one["event"] for one in told] == ["proxy_header_not_expected"]
    assert told[0]["address"] == _OTHER
    with AddressHop(behind.port, _OTHER) as hop:
        _session(behind, hop.port, _OTHER)


def test_without_balancers_there_are_no_headers(relay: Running) -> None:
    with socket.create_connection(("127.0.0.1", relay.port), 60) as client:
        client.sendall(_header() + startup(user="bob", database="shop"))
        assert answer(client) == b""


def test_a_second_header_is_none(behind: Running) -> None:
    with socket.create_connection(("127.0.0.1", behind.port), 60) as client:
        client.sendall(_header() + _header("198.51.100.1"))
        assert answer(client) == b""


def test_wrong_passwords_count_for_the_client(behind: Running) -> None:
    with (
        capture_logs() as told,
        AddressHop(behind.port, "127.0.0.1", first=_header("192.0.2.9")) as hop,
        pytest.raises(psycopg.OperationalError, match="authentication failed"),
    ):
        psycopg.connect(behind.shadow.conninfo(hop.port), user="bob", password="wrong")
    assert [one["address"] for one in told if one["event"] == "login_failed"] == ["192.0.2.9"]


def test_limits_of_strangers_are_of_the_client() -> None:
    limits = Limits(unauthenticated_per_address=2, authentication_seconds=30)
    with contextlib.ExitStack() as closing:
        relay = closing.enter_context(
            contextlib.contextmanager(serve)(limits, balancers=_BALANCERS)
        )

        def stranger(address: str) -> socket.socket:
            before = relay.server.connections
            client = closing.enter_context(socket.create_connection(("127.0.0.1", relay.port), 60))
            client.sendall(_header(address))
            until(lambda: relay.server.connections in (before + 1, 2 * 2))
            until(lambda: any(one._address == address for one in relay.server._connections))
            return client

        first = stranger("192.0.2.1")
        for address in ("192.0.2.1", "192.0.2.2", "192.0.2.2"):
            stranger(address)
        until(lambda: relay.server.connections == 4)
        stranger("192.0.2.1")
        assert answer(first) == b"", "the oldest of its address makes room"
        until(lambda: relay.server.connections == 4)


@pytest.fixture
def encrypted(certificate: tuple[Path, Path]) -> Iterator[Running]:
    tls = server_context(*certificate, ALPN)
    yield from serve(tls=tls, requires_tls=True, balancers=_BALANCERS)


def test_tls_begins_behind_the_header(encrypted: Running) -> None:
    options = [{"sslmode": "require"}]
    if psycopg.pq.version() >= 170000:
        options.append({"sslmode": "require", "sslnegotiation": "direct"})
    for one in options:
        with (
            AddressHop(encrypted.port, "127.0.0.1", first=_header()) as hop,
            psycopg.connect(encrypted.shadow.conninfo(hop.port, **one), user="bob") as client,
        ):
            assert client.pgconn.ssl_in_use
            assert {one.address for one in encrypted.server.sessions} == {"192.0.2.7"}


def test_a_header_after_the_request_for_tls_is_none(encrypted: Running) -> None:
    with (
        capture_logs() as told,
        socket.create_connection(("127.0.0.1", encrypted.port), 60) as client,
    ):
        client.sendall(_header() + SSL_REQUEST)
        assert client.recv(1) == b"S"
        client.sendall(_header("198.51.100.1"))
        assert answer(client)[:1] in (b"", b"\x15"), "nothing, or an alert of TLS"
    assert [one["event"] for one in told] == ["tls_failed"]
    unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", encrypted.port), 60) as client:
        client.sendall(_header() + SSL_REQUEST)
        assert client.recv(1) == b"S"
        with unchecked.wrap_socket(client) as inside:
            inside.sendall(_header("198.51.100.1") + startup(user="bob", database="shop"))
            assert inside.recv(1000) == b"", "closed, as on no start-up packet"


def test_what_comes_along_with_a_request_for_tls_is_refused(encrypted: Running) -> None:
    """As without a balancer (CVE-2021-23214)."""
    with socket.create_connection(("127.0.0.1", encrypted.port), 60) as client:
        client.sendall(_header() + SSL_REQUEST + startup(user="bob", database="shop"))
        assert b"unencrypted data after request" in answer(client)


_ANY_HEADER = st.one_of(
    st.binary(max_size=80),
    st.builds(lambda rest: SIGNATURE + rest, st.binary(max_size=80)),
    st.builds(
        lambda command, family, length, rest: (
            SIGNATURE + struct.pack("!BBH", command, family, length) + rest
        ),
        st.sampled_from([0x20, 0x21, 0x22]),
        st.sampled_from([0x11, 0x21, 0x00, 0x31]),
        st.integers(0, 80),
        st.binary(max_size=100),
    ),
)


@given(_ANY_HEADER, st.integers(0, 100))
def test_what_is_said_of_a_part_holds_of_the_whole(data: bytes, cut: int) -> None:
    """No part is taken for a whole, nor refused where the whole is taken; and a whole has its own length."""

    def told(of: bytes) -> object:
        try:
            return read_header(of)
        except HeaderRefused:
            return "refused"

    whole, part = told(data), told(data[:cut])
    if part is not None:
        assert part == whole
    if whole is not None and whole != "refused":
        assert whole.octets <= len(data)  # type: ignore[attr-defined]
        assert told(data[: whole.octets - 1]) is None  # type: ignore[attr-defined]
