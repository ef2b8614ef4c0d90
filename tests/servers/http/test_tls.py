"""HTTP with a certificate: https only, and no socket that hangs in its handshake."""

from __future__ import annotations

import socket
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from proxy.servers.http.connections import ConnectionLimits
from tests.machine_speed import allowed_wait
from tests.servers.http.both_listeners import BothListeners, open_http


@pytest.fixture
def encrypted(listeners: BothListeners, certificate: tuple[Path, Path]) -> Iterator[BothListeners]:
    http = open_http(listeners.proxy, tls=certificate, connections=ConnectionLimits(each=20))
    yield http
    http.close()


@pytest.fixture
def impatient(listeners: BothListeners, certificate: tuple[Path, Path]) -> Iterator[BothListeners]:
    """For those that stall: an honest handshake is quicker than four seconds."""
    limits = ConnectionLimits(header_seconds=4, rest_seconds=4, stalled_seconds=10, each=20)
    http = open_http(listeners.proxy, tls=certificate, connections=limits)
    yield http
    http.close()


@pytest.mark.long
def test_https_only(encrypted: BothListeners) -> None:
    large = "SELECT repeat('x', 1000) FROM generate_series(1, 20000)"
    response = encrypted.query(large)
    assert response.status_code == 200
    assert len(response.json()["rows"]) == 20_000
    address = f"http://127.0.0.1:{encrypted.server.address[1]}/healthz"
    with pytest.raises(httpx.TransportError):
        httpx.get(address, timeout=60)
    assert encrypted.client.get("/healthz").status_code == 200


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x40\x00"])
def test_a_stalled_handshake_is_ended_and_keeps_nobody_out(
    sent: bytes, impatient: BothListeners
) -> None:
    stalled = [socket.create_connection(impatient.server.address, 60) for _ in range(30)]
    for client in stalled:
        client.sendall(sent)
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        address = f"https://127.0.0.1:{impatient.server.address[1]}/healthz"
        assert httpx.get(address, timeout=60, verify=False).status_code == 200
    assert time.monotonic() - began < allowed_wait(1, below=3.5)
    for client in stalled:
        with client:
            try:
                while client.recv(1 << 12):
                    pass
            except ConnectionResetError:
                pass
    assert time.monotonic() - began < allowed_wait(8, below=50)
