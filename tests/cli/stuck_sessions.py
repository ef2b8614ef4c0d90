"""A served proxy with an analyst whose sessions hear no signal."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.cli.operator_at_work import Listening, Operator, query_over_the_wire

# PostgreSQL's lexer reads these characters again and again, for minutes, and looks at no signal meanwhile.
WEDGE = "DO $$ BEGIN EXECUTE 'SELECT 1 ' || repeat('/*', 400000); END $$"
READ = (
    "SELECT count(*) FROM shop.products"  # a public table: it is locked until the transaction ends
)


def with_public_table(folder: Path) -> Operator:
    operator = Operator(folder)
    text = operator.policy.read_text()
    operator.policy.write_text(text.replace("tables:\n", "tables:\n  shop.products: public\n"))
    return operator


def change_policy(operator: Operator) -> None:
    """Another column, so that the shadow is made anew; and have it read."""
    text = operator.policy.read_text()
    changed = text.replace(
        "{state: {values: [CA, TX]}}", "{state: {values: [CA, TX]}, signed_up: {}}"
    )
    assert changed != text
    operator.policy.write_text(changed)


def wedge(listening: Listening, name: str, *before: str) -> tuple[psycopg.Connection, int]:
    """Begin a transaction, run statements in it, and have its session hear nothing more.

    Returns:
        The connection, whose client still waits, and the process of the session on the shadow.
    """
    with contextlib.ExitStack() as failed:
        connection, process = _begun(listening, name, before)
        failed.callback(connection.close)
        connection.pgconn.send_query(WEDGE.encode())
        connection.pgconn.flush()
        end = time.monotonic() + 60
        while cpu_seconds(process) < 0.2:  # it has begun to lex
            assert time.monotonic() < end
            time.sleep(0.05)
        failed.pop_all()
        return connection, process


def stopped(listening: Listening, name: str, *before: str) -> tuple[psycopg.Connection, int]:
    """As `wedge`: a session that hears nothing since its process is stopped, which takes no processor time."""
    connection, process = _begun(listening, name, before)
    connection.pgconn.send_query(b"SELECT pg_sleep(600)")
    connection.pgconn.flush()
    os.kill(process, signal.SIGSTOP)
    return connection, process


def _begun(
    listening: Listening, name: str, statements: Sequence[str]
) -> tuple[psycopg.Connection, int]:
    with contextlib.ExitStack() as failed:
        connection = listening.connect(name)
        failed.callback(connection.close)
        for statement in ("SET client_connection_check_interval = 0", "BEGIN", *statements):
            connection.execute(statement.encode())
        failed.pop_all()
        return connection, connection.info.backend_pid


@contextlib.contextmanager
def coming_back(
    listening: Listening, name: str, statements: Sequence[str], *, sessions: int, apart: float = 0.0
) -> Iterator[None]:
    """Sessions that run these statements again and again, each begun some seconds after the one before. Whoever
    is ended logs in again at once."""
    stop, open_now = threading.Event(), dict[int, psycopg.Connection]()

    def come_back(number: int) -> None:
        stop.wait(number * apart)
        while not stop.is_set():
            with contextlib.suppress(psycopg.Error), listening.connect(name) as connection:
                open_now[number] = connection
                while not stop.is_set():
                    for statement in statements:
                        connection.execute(statement.encode())
            stop.wait(0.05)

    threads = [threading.Thread(target=come_back, args=(number,)) for number in range(sessions)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        while any(thread.is_alive() for thread in threads):
            for connection in open_now.values():
                hang_up_on(connection)
            threads[0].join(0.1)


def hang_up_on(connection: psycopg.Connection) -> None:
    """Also where another thread waits for its answer."""
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as end,
    ):
        end.shutdown(socket.SHUT_RDWR)


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_alive(process: int) -> bool:
    """A process that its parent has not waited for yet has ended, too."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def events(operator: Operator, name: str) -> list[dict[str, Any]]:
    lines = (operator.folder / "err.txt").read_text().splitlines()
    return [one for one in map(json.loads, lines) if one["event"] == name]


def hang_up(listening: Listening) -> None:
    listening.running.process.send_signal(signal.SIGHUP)


@dataclass(slots=True)
class Reader:
    """What another analyst sees: seconds of each turn, receipts, and how often a session was lost."""

    seconds: list[float] = field(default_factory=list)
    receipts: list[int] = field(default_factory=list)
    lost: int = 0


@contextlib.contextmanager
def reading(listening: Listening, name: str) -> Iterator[Reader]:
    """Read the public table and ask a question again and again, until the block ends. Each time the session is
    another."""
    reader, stop = Reader(), threading.Event()

    def read() -> None:
        while not stop.wait(0.1):
            begun = time.monotonic()
            try:
                with contextlib.closing(listening.connect(name)) as connection:
                    assert connection.execute(READ.encode()).fetchone() is not None
                    reader.receipts.append(query_over_the_wire(connection))
            except psycopg.OperationalError:
                reader.lost += 1
            reader.seconds.append(time.monotonic() - begun)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield reader
    finally:
        stop.set()
        thread.join(60)
