"""`dpproxy` in a process of its own that has its modules already: a fork of one that has imported them and
started nothing. Importing takes a second of processor time, and the tests run some two hundred commands.

What measures its start, its memory or its files starts as a user's does (`tests/cli/commands.py`).
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import proxy
from proxy.postgres.postgres_binaries import BinariesNotFound, find_binaries
from proxy.postgres.postgres_data import NoAccount, choose_account

_DESCRIPTORS = 4
_START_SECONDS = 60
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    out: str
    err: str


class Started:
    """What tests need of a `subprocess.Popen`, of a process that is another one's child."""

    def __init__(self, pid: int, heard: int) -> None:
        self.pid = pid
        self._heard = heard  # its status comes here
        self._status: int | None = None

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self._status

    def wait(self, timeout: float) -> int:
        """Refuses  subprocess.TimeoutExpired"""
        if self._status is None:
            ready, _, _ = select.select([self._heard], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            self._status = int(os.read(self._heard, 100))
            os.close(self._heard)
        return self._status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


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

    def start(
        self, arguments: list[str], environment: Mapping[str, str], out: int, err: int
    ) -> Started:
        """A command that goes on: this process does not wait for it."""
        request = {
            "arguments": arguments,
            "environment": dict(environment),
            "cwd": str(Path.cwd()),
        }
        heard, tells = os.pipe()
        with Path(os.devnull).open("rb") as nothing:
            try:
                with self._busy:
                    files = [nothing.fileno(), out, err, tells]
                    socket.send_fds(self._socket, [json.dumps(request).encode()], files)
                    self._socket.settimeout(_START_SECONDS)
                    return Started(int(self._socket.recv(100)), heard)
            finally:
                os.close(tells)

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
        own, tells = files[:3], files[3:]
        with contextlib.suppress(ChildProcessError):  # there is none
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        # What goes on has a process of its own that waits for it.
        if tells and os.fork():
            for file in files:
                os.close(file)
            continue
        pid = os.fork()
        if pid == 0:
            requests.close()
            request = json.loads(message)
            for number, file in enumerate(own):
                os.dup2(file, number)
            for file in files:
                os.close(file)
            os.environ.clear()
            os.environ.update(request["environment"])
            os.chdir(request["cwd"])
            return list(request["arguments"])
        for file in own:
            os.close(file)
        requests.send(str(pid).encode())
        if tells:
            requests.close()
        _, status = os.waitpid(pid, 0)
        code = str(os.waitstatus_to_exitcode(status)).encode()
        if tells:
            os.write(tells[0], code)
            os._exit(0)
        requests.send(code)


def _import_all() -> None:
    """What commands import when they run, or some time later."""
    for module in pkgutil.walk_packages(proxy.__path__, "proxy."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("typer._adapters", "uvloop", "uvicorn.lifespan.on", "encodings.idna"):
        with contextlib.suppress(ImportError):  # of this version; it is imported later then
            importlib.import_module(name)


def _choose_account() -> None:
    """Whether PostgreSQL runs under the account that root's would have is tried once for all commands."""
    with contextlib.suppress(BinariesNotFound, NoAccount), tempfile.TemporaryDirectory() as folder:
        choose_account(find_binaries(), Path(folder))


def _leave(code: object) -> None:
    """As the interpreter ends, but for taking all modules apart, which copies their pages into this process."""
    if code is None or isinstance(code, int):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)


if __name__ == "__main__":
    import proxy.cli.main

    _import_all()
    _choose_account()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()  # a collection in a child would copy all pages
    sys.argv[1:] = _forked(socket.socket(fileno=int(sys.argv[1])))
    sys.argv[0] = "-c"
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        proxy.cli.main.main()
    except SystemExit as end:
        _leave(end.code)
        raise
