"""`dpproxy` as a user runs it: a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cli.forked_commands import Started, forking

COMMAND = (sys.executable, "-c", "from proxy.cli.main import main; main()")
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


def dpproxy(
    *arguments: str | Path, typed: str = "", environment: Mapping[str, str] | None = None
) -> Done:
    given = {**os.environ, **(environment or {})}
    forked = forking().run([*map(str, arguments)], typed, given, _SECONDS)
    if forked is not None:
        return Done(forked.code, forked.out, forked.err)
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=typed,
        env=given,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@dataclass(slots=True)
class Serving:
    process: subprocess.Popen[str] | Started
    out: Path
    ready_seconds: float

    @property
    def printed(self) -> str:
        return self.out.read_text()

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@contextlib.contextmanager
def serving(
    folder: Path,
    arguments: Sequence[str | Path],
    until: str,
    environment: Mapping[str, str] | None = None,
    is_cold: bool = False,
) -> Iterator[Serving]:
    """
    Given    until: what it prints when it serves; is_cold: with Python's own start and all imports
    """
    out, err = folder / "out.txt", folder / "err.txt"
    given = {**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})}
    texts = [*map(str, arguments)]
    process: subprocess.Popen[str] | Started
    forks = None if is_cold else forking()
    began = time.monotonic()
    with out.open("w") as to_out, err.open("w") as to_err:
        if forks is None:
            process = subprocess.Popen(
                [*COMMAND, *texts],
                stdin=subprocess.DEVNULL,
                stdout=to_out,
                stderr=to_err,
                text=True,
                env=given,
            )
        else:
            process = forks.start(texts, given, to_out.fileno(), to_err.fileno())
    try:
        while until not in out.read_text():
            assert process.poll() is None, err.read_text()
            assert time.monotonic() < began + _SECONDS, "it does not serve"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        yield Serving(process, out, time.monotonic() - began)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(60)
