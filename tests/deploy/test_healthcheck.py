"""deploy/healthcheck.py against real sockets: healthy is 200, in plain text and in TLS, and nothing else."""

from __future__ import annotations

import contextlib
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY


class _Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@contextlib.contextmanager
def _serving(tls: tuple[Path, Path] | None = None) -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), _Healthy) as server:
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def _checked(url: str) -> tuple[int, str]:
    command = [sys.executable, "-I", str(DEPLOY / "healthcheck.py"), url]
    # A proxy in the environment is for other machines.
    environment = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.strip()


def test_healthy_is_200() -> None:
    with _serving() as port:
        assert _checked(f"http://127.0.0.1:{port}/healthz") == (0, "")
        code, told = _checked(f"http://127.0.0.1:{port}/other")
    assert (code, "503" in told) == (1, True)
    assert _checked(f"http://127.0.0.1:{port}/healthz")[0] == 1, "nobody listens there any more"


def test_a_certificate_need_not_name_this_machine(certificate: tuple[Path, Path]) -> None:
    with _serving(certificate) as port:
        assert _checked(f"https://127.0.0.1:{port}/healthz") == (0, "")
        assert _checked(f"http://127.0.0.1:{port}/healthz")[0] == 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("certificate")
    file, key = folder / "tls.crt", folder / "tls.key"
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate")
    how = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    name = ("-days", "2", "-subj", "/CN=dpproxy.example.org")
    subprocess.run(
        ["openssl", *how, *name, "-keyout", key, "-out", file], check=True, capture_output=True
    )
    return file, key
