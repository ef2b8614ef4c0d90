"""What one hostile client does until it is ended, in a process of its own:

    python -m tests.cli.hostile_client ATTACK WIRE_HOST WIRE_PORT HTTP_HOST HTTP_PORT NAME PASSWORD

Each is a finding of a security review, done again and again. It prints "begun" when it has begun and, on
SIGTERM, how often it was served and how often refused, and with which SQLSTATE or status.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import psycopg
from psycopg.conninfo import make_conninfo

# Strangers are counted by address; who is honest comes from another.
_ADDRESS = "127.0.0.2"
_PAUSE = 0.05  # after a refusal: the client's own processor time is not what is hostile


_AGAIN = 1.0  # after what was refused or closed: a flood of attempts is another attack than holding places

_DONE: Counter[str] = Counter()


@dataclass(frozen=True, slots=True)
class Target:
    wire: tuple[str, int]
    http: tuple[str, int]
    name: str
    password: str

    def connect(self) -> psycopg.Connection:
        host, port = self.wire
        given = make_conninfo(
            host=host, port=port, user=self.name, password=self.password, dbname="shop"
        )
        return psycopg.connect(given, autocommit=True, connect_timeout=60)

    def stranger(self, address: tuple[str, int]) -> socket.socket:
        return socket.create_connection(address, 60, source_address=(_ADDRESS, 0))


def idle_http_sockets(target: Target) -> None:
    """F4: 256 that never send a byte, opened anew when they are closed."""
    _hold(256, lambda: target.stranger(target.http))


def half_open_logins(target: Target) -> None:
    """F5: 260 that never answer the challenge."""
    said = b"user\0nobody\0database\0shop\0\0"
    startup = struct.pack("!II", len(said) + 8, 196608) + said

    def half_open() -> socket.socket:
        opened = target.stranger(target.wire)
        opened.sendall(startup)
        return opened

    _hold(260, half_open)


def _hold(count: int, opened: Callable[[], socket.socket]) -> None:
    held: list[socket.socket] = []
    while True:
        with contextlib.suppress(OSError):
            while len(held) < count:
                held.append(opened())
                _DONE["opened"] += 1
        time.sleep(_AGAIN)
        held = [one for one in held if _is_open(one)]


def _is_open(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        if one.recv(4096):
            return True
    except BlockingIOError:
        return True
    except OSError:
        pass
    _DONE["closed by the server"] += 1
    one.close()
    return False


def advisory_locks(target: Target) -> None:
    """F6: as many as the lock table takes, and held."""
    _again_and_again(
        target,
        "SELECT pg_advisory_lock(g) FROM generate_series(1, 20000) g",
        "SELECT pg_try_advisory_lock(1, g) FROM generate_series(1, 20000) g",
        "SELECT pg_advisory_lock_shared(g) FROM generate_series(100000, 120000) g",
    )


def raised_logs(target: Target) -> None:
    """F7a: 200 MB of log at a time."""
    flood = "DO $$ BEGIN FOR i IN 1..200 LOOP RAISE LOG '%', repeat('x', 1000000); END LOOP; END $$"
    _again_and_again(target, flood)


def temporary_tables(target: Target) -> None:
    """F7b: 2.5 GB of them at a time."""
    _again_and_again(
        target,
        "DROP TABLE IF EXISTS big",
        "CREATE TEMPORARY TABLE big (a text)",
        "ALTER TABLE big ALTER a SET STORAGE EXTERNAL",
        "INSERT INTO big SELECT repeat(md5(g::text), 250000) FROM generate_series(1, 320) g",
    )


def large_sorts(target: Target) -> None:
    """F7c: in memory, in four sessions."""
    sort = (
        "SELECT count(*) FROM (SELECT repeat(md5(g::text), 30) x FROM generate_series(1, 1200000) g"
        " ORDER BY 1 DESC OFFSET 0) s"
    )
    _in_threads(4, lambda: _again_and_again(target, "SET work_mem = '1500MB'", sort))


def long_questions(target: Target) -> None:
    """F8: eight at a time on the protected database, each a second or so, nearly for nothing."""
    pattern = "%abcdefgh" * 45
    long = " OR ".join([f"state ILIKE '{pattern}{n}'" for n in range(30)])
    question = f"SELECT count(*) FROM shop.customers WHERE {long}"
    _in_threads(8, lambda: _again_and_again(target, "SET dp.epsilon = 0.000001", question))


def large_arguments(target: Target) -> None:
    """F9: of EXECUTE."""
    _again_and_again(
        target,
        "PREPARE q(text) AS SELECT count(*) FROM shop.customers WHERE state = $1",
        "EXECUTE q(repeat('a', 250000000))",
        "DEALLOCATE ALL",
    )


def sleeps_over_http(target: Target) -> None:
    """F10: 64 at a time."""
    token = base64.b64encode(f"{target.name}:{target.password}".encode()).decode()
    body = json.dumps({"database": "shop", "sql": "SELECT pg_sleep(25)"})
    headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}

    def sleep() -> None:
        while True:
            is_refused = True
            connection = http.client.HTTPConnection(
                *target.http, timeout=60, source_address=(_ADDRESS, 0)
            )
            with (
                contextlib.suppress(OSError, http.client.HTTPException),
                contextlib.closing(connection),
            ):
                connection.request("POST", "/v1/query", body, headers)
                answer = connection.getresponse()
                answer.read()
                _DONE[f"status {answer.status}"] += 1
                is_refused = answer.status != 200
            time.sleep(_AGAIN if is_refused else 0)

    _in_threads(64, sleep)


ATTACKS: dict[str, Callable[[Target], None]] = {
    "F4": idle_http_sockets,
    "F5": half_open_logins,
    "F6": advisory_locks,
    "F7a": raised_logs,
    "F7b": temporary_tables,
    "F7c": large_sorts,
    "F8": long_questions,
    "F9": large_arguments,
    "F10": sleeps_over_http,
}


def _again_and_again(target: Target, *statements: str) -> None:
    while True:
        try:
            with target.connect() as connection:
                while not _said(connection, *statements):
                    pass
        except psycopg.Error:
            _DONE["login refused"] += 1
            time.sleep(_PAUSE)


def _said(connection: psycopg.Connection, *statements: str) -> bool:
    """Whether the session has ended."""
    for statement in statements:
        try:
            connection.execute(statement.encode())
            _DONE["served"] += 1
        except psycopg.Error as error:
            _DONE[f"refused {error.sqlstate}"] += 1
            time.sleep(_PAUSE)
    return connection.closed


def _in_threads(count: int, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _tell(*_: object) -> None:
    print(json.dumps(_DONE), flush=True)
    os._exit(0)


def main() -> None:
    attack, wire_host, wire_port, http_host, http_port, name, password = sys.argv[1:]
    os.nice(19)  # it would run on another machine
    target = Target((wire_host, int(wire_port)), (http_host, int(http_port)), name, password)
    signal.signal(signal.SIGTERM, _tell)
    print("begun", flush=True)
    ATTACKS[attack](target)


if __name__ == "__main__":
    main()
