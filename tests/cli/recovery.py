"""Kills parts of a served proxy, and waits until it serves again."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.operator_at_work import PASSWORD, QUESTION, Listening, Operator
from tests.waiting import until


def postmaster(operator: Operator, server: str) -> int:
    return int((operator.state / server / "data" / "postmaster.pid").read_text().split()[0])


def sleeping(state: Path, *shadows: str) -> int:
    """How many statements sleep on the shadow of a served proxy, or on those that are named."""
    count = 0
    for name in shadows or ("shadow",):
        server = EmbeddedPostgres((state / name).parent, "shadow")
        assert server.attach()
        with psycopg.connect(server.dsn(), autocommit=True) as superuser:
            row = superuser.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            ).fetchone()
        count += row[0] if row else 0
    return count


def was_started_again(operator: Operator, server: str, before: int) -> bool:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return postmaster(operator, server) != before
    return False


def kill_with_children(first: int) -> None:
    """A server with all its processes: none has time to say anything."""
    os.kill(first, signal.SIGSTOP)
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    for process in (*map(int, children), first):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def kill_server(server: EmbeddedPostgres) -> None:
    """One that the tests run."""
    process = server.process_id
    assert process is not None
    kill_with_children(process)
    until(lambda: not server.is_running())
    server.prepare_again()


def start_server(server: EmbeddedPostgres) -> None:
    """After `kill_server`, at the same address."""
    server.launch_again()
    server.await_again()


def readiness(listening: Listening) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(*listening.http, timeout=30)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def _is_answered(listening: Listening, name: str) -> bool:
    with contextlib.suppress(psycopg.Error, OSError, http.client.HTTPException, KeyError):
        listening.over_http(name, QUESTION)
        with listening.connect(name) as connection:
            return connection.execute(QUESTION).fetchone() is not None
    return False


@dataclass(frozen=True, slots=True)
class LoginAnswers:
    """What an analyst's logins were told: statuses and SQLSTATEs, or the kind of a lost connection."""

    right: Counter[str] = field(default_factory=Counter)


@contextlib.contextmanager
def logging_in(listening: Listening, name: str) -> Iterator[LoginAnswers]:
    """Log in with the right password over both listeners, as fast as it is answered, until the block ends."""
    answers, stop = LoginAnswers(), threading.Event()

    def go_on(log_in: Callable[[Listening, str, str], str]) -> None:
        while not stop.is_set():
            answers.right[log_in(listening, name, PASSWORD)] += 1

    ways = (login_over_http, login_over_the_wire) * 2
    running = [threading.Thread(target=go_on, args=(way,)) for way in ways]
    for one in running:
        one.start()
    try:
        yield answers
    finally:
        stop.set()
        for one in running:
            one.join(60)


def login_over_http(listening: Listening, name: str, password: str) -> str:
    token = base64.b64encode(f"{name}:{password}".encode()).decode()
    connection = http.client.HTTPConnection(*listening.http, timeout=30)
    try:
        connection.request("GET", "/v1/databases", headers={"Authorization": f"Basic {token}"})
        return str(connection.getresponse().status)
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def login_over_the_wire(listening: Listening, name: str, password: str) -> str:
    host, port = listening.wire
    try:
        psycopg.connect(
            host=host, port=port, user=name, password=password, dbname="shop", connect_timeout=60
        ).close()
    except psycopg.OperationalError as error:
        # libpq has no SQLSTATE of a failed login.
        for text, told in (
            ("password authentication failed", "28P01"),
            ("the database system is not available", "57P03"),
        ):
            if text in str(error):
                return told
        return str(error)
    return "in"


def recovers(listening: Listening, name: str) -> float:
    """Wait until both listeners answer an analyst and the proxy is ready; return the seconds that it took."""
    began = time.monotonic()
    until(lambda: _is_answered(listening, name), seconds=60)
    took = time.monotonic() - began
    until(lambda: readiness(listening)[0] == 200)
    assert listening.running.process.poll() is None, "the process goes on"
    return took
