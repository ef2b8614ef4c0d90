"""TLS of the wire's door."""

from __future__ import annotations

import contextlib
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from proxy.servers.certificate import server_context
from proxy.servers.wire.tls import ALPN
from tests.servers.wire.bare_connection import SSL_REQUEST, answer, dial, startup
from tests.servers.wire.conftest import Running, serve

COUNT = "SELECT count(*) FROM shop.orders"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    try:
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-keyout",
                str(key),
                "-out",
                str(certificate),
            ],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate")
    return certificate, key


@pytest.fixture
def encrypted(certificate: tuple[Path, Path]) -> Iterator[Running]:
    yield from serve(tls=server_context(*certificate, ALPN))


def test_tls(encrypted: Running, certificate: tuple[Path, Path]) -> None:
    conninfo = encrypted.conninfo(
        sslmode="verify-full", sslrootcert=str(certificate[0]), hostaddr="127.0.0.1"
    )
    conninfo = psycopg.conninfo.make_conninfo(conninfo, host="localhost")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute(COUNT).fetchone() == (42,)
        large = "SELECT repeat('x', 1000) FROM generate_series(1, 20000)"
        assert len(connection.execute(large).fetchall()) == 20_000
    with psycopg.connect(encrypted.conninfo(sslmode="disable")) as connection:
        assert connection.execute(COUNT).fetchone() == (42,)


def test_direct_tls_needs_alpn(encrypted: Running) -> None:
    if psycopg.pq.version() >= 170000:
        direct = encrypted.conninfo(sslmode="require", sslnegotiation="direct")
        with psycopg.connect(direct) as connection:
            assert connection.execute(COUNT).fetchone() == (42,)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        dial(encrypted) as plain,
        contextlib.suppress(ssl.SSLError, ConnectionResetError),
        context.wrap_socket(plain) as connection,
    ):
        connection.sendall(startup(user="alice", database="shop"))
        assert connection.recv(100) == b""


def test_bytes_stuffed_behind_the_tls_request(encrypted: Running) -> None:
    with dial(encrypted) as connection:
        connection.sendall(SSL_REQUEST + startup(user="alice", database="shop"))
        heard = answer(connection)
    assert heard[:1] != b"S"
    assert b"unencrypted" in heard
