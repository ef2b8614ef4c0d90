"""Random and mutated requests to a real served proxy: it answers or closes, and goes on."""

from __future__ import annotations

import base64
import json
import os
import socket
import time
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, and the seed is printed

import httpx
import pytest

from tests.servers.served_process import ServedProcess, check_after

SECONDS = float(os.environ.get("DPPROXY_FUZZ_SECONDS", "1200"))
_ANSWER_SECONDS = 40.0  # a header's 10, a login's 10, a body's 10, a delay of 5

_PATHS = (
    "/v1/query",
    "/v1/explain",
    "/v1/schema?database=shop",
    "/v1/budget",
    "/v1/history",
    "/docs",
)
_MORE_PATHS = (
    "/healthz",
    "/readyz",
    "/openapi.json",
    "/v1/databases",
    "/%00",
    "*",
    "http://x/y",
    "//",
)
_TEXTS = (
    "SELECT 1",
    "SELECT count(*) FROM shop.orders",
    "SELECT count(*) FROM shop.orders WHERE quantity > $1",
    "SELECT status, sum(total) FROM shop.orders GROUP BY status",
    "SELECT * FROM shop.orders",
    "EXPLAIN SELECT avg(total) FROM shop.orders",
    "SELECT 1/0",
    "COPY (SELECT 1) TO STDOUT",
    "BEGIN",
    "COMMIT",
    "",
    ";",
    "SELECT pg_sleep(0.05)",
    "SELECT pg_terminate_backend(pg_backend_pid())",
    "SELECT generate_series(1, 20000)",
    "SELECT repeat('x', 2000000)",
    "SET dp.epsilon = 'x'",
    "SELECT dp.refuse('42501', 'x', null)",
)


class _Requests:
    def __init__(self, dice: Random, served: ServedProcess) -> None:
        self._dice = dice
        self._right = base64.b64encode(f"{served.analyst}:{served.password}".encode())

    def some(self) -> bytes:
        dice = self._dice
        request = b"".join(self._one() for _ in range(dice.choice((1, 1, 1, 2, 5))))
        for _ in range(dice.choice((0, 0, 1, 3, 20))):
            at = dice.randrange(max(1, len(request)))
            match dice.randrange(4):
                case 0:
                    request = request[:at] + dice.randbytes(1) + request[at + 1 :]
                case 1:
                    request = request[:at] + request[at + dice.randrange(20) :]
                case 2:
                    request = request[:at] + dice.randbytes(dice.randrange(8)) + request[at:]
                case _:
                    request = request[:at] + request[max(0, at - 30) :]
        return request if dice.random() < 0.97 else dice.randbytes(dice.randrange(5_000))

    def _one(self) -> bytes:
        dice = self._dice
        body = self._body()
        method = dice.choice(("POST", "POST", "POST", "GET", "HEAD", "OPTIONS", "PUT", "X"))
        lines = [f"{method} {dice.choice(_PATHS + _MORE_PATHS)} HTTP/1.{dice.choice('1110')}"]
        lines.append(
            "Host: " + dice.choice(("localhost", "localhost", "127.0.0.1:1", "evil.example"))
        )
        if dice.random() < 0.9:
            lines.append(
                "Content-Type: " + dice.choice(("application/json",) * 4 + ("text/plain",))
            )
        token = self._right if dice.random() < 0.97 else base64.b64encode(dice.randbytes(9))
        if dice.random() < 0.95:
            lines.append("Authorization: Basic " + token.decode())
        lines.append("Accept: " + dice.choice(("*/*", "text/csv", "text/csv;q=0," * 9)))
        for _ in range(dice.choice((0, 0, 0, 3, 90))):
            lines.append(f"X-{dice.randrange(99)}: {'y' * dice.randrange(200)}")
        chunked = dice.random() < 0.2
        if chunked:
            lines.append("Transfer-Encoding: chunked")
            body = self._chunks(body)
        else:
            off = dice.choice((0, 0, 0, 0, -1, 1, 10**6))
            lines.append(f"Content-Length: {max(0, len(body) + off)}")
        if dice.random() < 0.1:
            lines.append("Expect: 100-continue")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    def _chunks(self, body: bytes) -> bytes:
        size = self._dice.choice((1, 7, 1000))
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        return b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in pieces) + b"0\r\n\r\n"

    def _body(self) -> bytes:
        dice = self._dice
        if dice.random() < 0.15:
            return dice.choice((b'"', b"[", b"{", b'\\"', b"1", b'{"a":')) * dice.choice(
                (1, 50, 3_000, 90_000)
            )
        asked: dict[str, object] = {
            "database": dice.choice(("shop", "shop", "census", "nothing", "\ud800", 5)),
            "sql": dice.choice(_TEXTS),
        }
        if dice.random() < 0.4:
            asked["params"] = [
                dice.choice((1, "1", None, True, 1e400, 2**60, "x" * 1000, [], "\0"))
                for _ in range(dice.choice((1, 1, 2, 900)))
            ]
        if dice.random() < 0.8:
            asked["epsilon"] = dice.choice((1e-6, 1e-6, 0, -1, "x", 10**30, float("nan")))
        return json.dumps(asked).encode()


@pytest.mark.long
def test_random_requests(tmp_path: Path) -> None:
    seed = int(os.environ.get("DPPROXY_FUZZ_SEED", time.time_ns() % 10**9))
    print(f"seed {seed}")
    dice = Random(seed)
    served = ServedProcess(tmp_path)
    requests = _Requests(dice, served)
    ends = time.monotonic() + SECONDS
    sessions = answered = 0
    while time.monotonic() < ends:
        sent = requests.some()
        sessions += 1
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", served.http), 60) as client:
            client.settimeout(_ANSWER_SECONDS)
            try:
                client.sendall(sent)
                if dice.random() < 0.9:
                    client.shutdown(socket.SHUT_WR)
                    heard = b""
                    while chunk := client.recv(1 << 16):
                        heard += chunk
                    answered += heard.startswith(b"HTTP/1.1 ")
            except TimeoutError:
                raise AssertionError(
                    f"seed {seed}, session {sessions}: a hang: {sent[:2000]!r}"
                ) from None
            except OSError:
                pass  # closed on what was no request
        assert time.monotonic() - began < _ANSWER_SECONDS
        if sessions % 50 == 0:
            health = httpx.get(f"http://127.0.0.1:{served.http}/healthz", timeout=60, verify=False)
            assert health.status_code == 200
    print(f"{sessions} sessions, {answered} answered, peak {served.peak_mebibytes():.0f} MiB")
    assert answered > sessions / 4
    check_after(served)
