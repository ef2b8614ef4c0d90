"""Every line of the log is JSON, also a library's; and none quotes what a library was told."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

_LIBRARIES = """
import logging
from proxy.cli.running import log_to_stderr
log_to_stderr(logging.INFO)
log = logging.getLogger("psycopg")
log.warning("%s interrupted (%s)", "SELECT 4711", "OperationalError")
log.info("not of interest")
try:
    raise ValueError("4711")
except ValueError:
    logging.getLogger("asyncio").exception("4711 was raised")
"""


def test_a_library_writes_json_that_quotes_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIBRARIES], capture_output=True, text=True, check=True
    )
    assert "4711" not in done.stderr
    first, second = map(json.loads, done.stderr.splitlines())
    assert (first["event"], first["level"]) == ("library_log", "warning")
    assert (first["library"], first["text"]) == ("psycopg", "%s interrupted (%s)")
    assert (second["library"], second["kind"]) == ("asyncio", "ValueError")
    assert second["level"] == "error"


_LINES = """
import structlog
from proxy.cli.running import log_to_stderr
log_to_stderr()
for number in range(3):
    structlog.get_logger().info("said", number=number)
"""


def test_a_line_is_one_write() -> None:
    """Workers share a log. What one wrote in two pieces had a line of another one in between."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # keeps writes apart
    with ours, theirs:
        for unbuffered in ("", "1"):
            environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
            subprocess.run(
                [sys.executable, "-c", _LINES], stderr=theirs.fileno(), env=environment, check=True
            )
            for number in range(3):
                line = ours.recv(10_000).decode()
                assert line.endswith("\n") and json.loads(line)["number"] == number
