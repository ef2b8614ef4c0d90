"""A process that misuses one credential from many threads. The proxy under test shares no lock with it."""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg

THREADS = 150  # more than an address may have connections
_PATIENCE_SECONDS = 4.0
ANY_TOKEN = b"ANY" * 14 + b"_"  # in its place each request has other characters
_ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def flooding(address: tuple[str, int], request: bytes) -> Iterator[None]:
    """Send a request, or its beginning, and read to the end, again and again."""
    with _running("raw", *map(str, address), base64.b64encode(request).decode()):
        yield


@contextlib.contextmanager
def flooding_with_logins(dsn: str) -> Iterator[None]:
    """Log in on the wire, and leave."""
    with _running("logins", dsn):
        yield


@contextlib.contextmanager
def _running(*arguments: str) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.servers.flood", *arguments]
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        try:
            assert process.stdout.readline() == "all have come\n"
            yield
            process.stdin.write("stop\n")
            process.stdin.flush()
            answers = json.loads(process.stdout.readline())
        finally:
            process.kill()
    print(answers)
    assert sum(answers.values()) > THREADS and "200" not in answers


def _raw(host: str, port: str, encoded: str) -> str:
    """The status of the answer; "closed" if there is none."""
    with socket.create_connection((host, int(port)), _PATIENCE_SECONDS) as connection:
        another = secrets.token_urlsafe(32).encode()
        connection.sendall(base64.b64decode(encoded).replace(ANY_TOKEN, another))
        return connection.recv(16)[9:12].decode() or "closed"


def _log_in(dsn: str) -> str:
    with psycopg.connect(dsn, connect_timeout=60):
        return "in"


def _main(what: str, *arguments: str) -> None:
    answers: Counter[str] = Counter()

    def go_on() -> None:
        while True:
            try:
                answer = (_raw if what == "raw" else _log_in)(*arguments)
            except (OSError, psycopg.Error) as error:
                answer = type(error).__name__
            answers[answer] += 1

    for _ in range(THREADS):
        threading.Thread(target=go_on, daemon=True).start()
    while answers.total() <= THREADS:
        time.sleep(0.01)
    print("all have come", flush=True)
    sys.stdin.readline()
    print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
