"""`dpproxy demo` as a process of its own: what it prints, whether it lives, how much memory it takes."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

_START_SECONDS = 180


class ServedProcess:
    def __init__(self, folder: Path) -> None:
        self.wire, self.http = _free_port(), _free_port()
        self._out, self._err = folder / "out", folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", "from proxy.cli.main import main; main()"),
                    *("demo", "--state", str(folder / "state")),
                    *("--listen", f"127.0.0.1:{self.wire}", "--http", f"127.0.0.1:{self.http}"),
                ],
                stdout=out,
                stderr=err,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        found = None
        deadline = time.monotonic() + _START_SECONDS
        while found is None:
            assert time.monotonic() < deadline, self._out.read_text() + self.errors()
            assert self.process.poll() is None, self.errors()
            time.sleep(0.1)
            found = re.search(r"Analyst (\w+), password (\w+)", self._out.read_text())
        self.analyst, self.password = found[1], found[2]

    def errors(self) -> str:
        return self._err.read_text(errors="replace")

    def peak_mebibytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def check_after(served: ServedProcess) -> None:
    """Alive, without a traceback, within its memory."""
    assert served.process.poll() is None, served.errors()[-2000:]
    errors = served.errors()
    for sign in (
        "Traceback",
        "Fatal error",
        "never retrieved",
        "unexpected_error",
    ):
        at = errors.find(sign)
        assert at < 0, errors[max(0, at - 500) : at + 3000]
    assert served.peak_mebibytes() < 512
    assert served.stop() in (0, 128 + signal.SIGTERM)
