"""Kills parts of a served proxy, and waits until it serves again."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import psycopg

from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.operator_at_work import QUESTION, Listening, Operator
from tests.waiting import until


def postmaster(operator: Operator, server: str) -> int:
    return int((operator.state / server / "data" / "postmaster.pid").read_text().split()[0])


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


def recovers(listening: Listening, name: str) -> float:
    """Wait until both listeners answer an analyst and the proxy is ready; return the seconds that it took."""
    began = time.monotonic()
    until(lambda: _is_answered(listening, name), seconds=60)
    took = time.monotonic() - began
    until(lambda: readiness(listening)[0] == 200)
    assert listening.running.process.poll() is None, "the process goes on"
    return took
