"""What a crash leaves of an embedded PostgreSQL: a running postmaster, orphans, a stale pid file.

Only for whoever holds the folder's owner.lock.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from proxy.postgres.postgres_environment import environment

_STOP_SECONDS = 20.0
_QUICK_SECONDS = 2.0  # of a clean stop: what was committed is safe without, and users wait
_PROCESSES = Path("/proc")


def running_postmaster(data: Path) -> int | None:
    """The process id in postmaster.pid, if that process really is this folder's postmaster."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if pid > 0 and _serves(pid, data) else None


def stop_leftover(data: Path, *, is_disposable: bool = False) -> None:
    """Afterwards nothing serves the folder, and nothing in it keeps the next start from working.

    Given    is_disposable: whether the folder is made anew now, so that no stop has to be a clean one

    The process id may be somebody else's by now (a restarted container): PostgreSQL would then take
    the stale file for a living server and refuse to start.
    """
    pid = running_postmaster(data)
    if pid is not None:
        ways = [
            (signal.SIGINT, _QUICK_SECONDS),
            (signal.SIGQUIT, _QUICK_SECONDS),
            (signal.SIGKILL, _STOP_SECONDS),
        ]
        for way, seconds in ways[is_disposable:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, way)
            if _gone(pid, data, seconds):
                break
    deadline = time.monotonic() + _STOP_SECONDS
    while (orphans := _orphans(data)) and time.monotonic() < deadline:
        for orphan in orphans:  # backends of a killed postmaster hold its shared memory
            with contextlib.suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)
        time.sleep(0.01)
    if running_postmaster(data) is None:
        (data / "postmaster.pid").unlink(missing_ok=True)


def _gone(pid: int, data: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not _serves(pid, data):
            return True
        time.sleep(0.02)
    return False


def _serves(pid: int, data: Path) -> bool:
    """By its command line, `postgres -D DATA`, which any user may read."""
    if _PROCESSES.is_dir():
        try:
            words = (_PROCESSES / str(pid) / "cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return os.fsencode(data) in words and words[0].endswith(b"postgres")
    displayed = subprocess.run(  # noqa: S603 - the system's ps, a number
        ["/bin/ps", "-o", "command=", "-p", str(pid)],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    return f"postgres -D {data}" in displayed.stdout


def _orphans(data: Path) -> list[int]:
    """Server processes still at work in the folder: all of them have it as working directory."""
    found = []
    for process in _PROCESSES.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name = (process / "comm").read_text().strip()
            if name.startswith("postgres") and (process / "cwd").readlink() == data.resolve():
                found.append(int(process.name))
    return found
