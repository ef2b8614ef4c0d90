"""`dpproxy` in a process of its own that has its modules already: a fork of one that has imported them and done
nothing else. Importing takes a second of processor time, and the tests run some two hundred commands.

Only what ends by itself is run like this; what serves starts as a user's does (`tests/cli/commands.py`).
"""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_DESCRIPTORS = 3
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    out: str
    err: str


class Forking:
    """One process that forks on demand; it ends when its socket is closed, with this process at the latest."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._busy = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parents[2],
            )

    def run(
        self, arguments: list[str], typed: str, environment: Mapping[str, str], seconds: float
    ) -> Finished | None:
        """None while another thread's command runs.

        Refuses  subprocess.TimeoutExpired
        """
        if not self._busy.acquire(blocking=False):
            return None
        try:
            return self._run(arguments, typed, environment, seconds)
        finally:
            self._busy.release()

    def _run(
        self, arguments: list[str], typed: str, environment: Mapping[str, str], seconds: float
    ) -> Finished:
        with (
            tempfile.TemporaryFile("w+") as given,
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
        ):
            given.write(typed)
            given.seek(0)
            request = {
                "arguments": arguments,
                "environment": dict(environment),
                "cwd": str(Path.cwd()),
            }
            files = [given.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(self._socket, [json.dumps(request).encode()], files)
            self._socket.settimeout(seconds)
            pid = int(self._socket.recv(100))
            try:
                code = int(self._socket.recv(100))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._socket.recv(100)
                raise subprocess.TimeoutExpired(arguments, seconds) from None
            out.seek(0)
            err.seek(0)
            return Finished(code, out.read(), err.read())


@functools.cache
def forking() -> Forking:
    return Forking()


def _forked(requests: socket.socket) -> list[str]:
    """Serves until the other end is closed; returns in each child, as the command that it is to be."""
    while True:
        message, files, _, _ = socket.recv_fds(requests, _LONGEST, _DESCRIPTORS)
        if not message:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            requests.close()
            request = json.loads(message)
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            os.environ.clear()
            os.environ.update(request["environment"])
            os.chdir(request["cwd"])
            return list(request["arguments"])
        for file in files:
            os.close(file)
        requests.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        requests.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    import proxy.cli.listeners
    import proxy.cli.main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()  # a collection in a child would copy all pages
    sys.argv[1:] = _forked(socket.socket(fileno=int(sys.argv[1])))
    sys.argv[0] = "-c"
    proxy.cli.main.main()
