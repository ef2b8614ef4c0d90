"""The PostgreSQL of this machine beside the embedded one, for what must hold on each major in use."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from proxy.postgres.postgres_binaries import Binaries, BinariesNotFound, find_binaries

_DEBIAN = Path("/usr/lib/postgresql")  # MAJOR/bin below it


def other_binaries() -> Binaries | None:
    """Of another major than the embedded one; None where there is none."""
    embedded = find_binaries().major
    for folder in _folders():
        try:
            found = find_binaries(folder)
        except BinariesNotFound:
            continue
        if found.major != embedded:
            return found
    return None


def all_other_binaries() -> list[Binaries]:
    """One of each other major that can be had: the machine's own, those beside it where Debian's packages put
    them, folders in DPPROXY_OTHER_PG_BINS (as PATH separates them), and the wheel `pgserver`, if installed."""
    return [binaries for binaries in by_major().values() if binaries != find_binaries()]


def by_major() -> dict[int, Binaries]:
    """All that can be had, the embedded one first."""
    embedded = find_binaries()
    found = {embedded.major: embedded}
    for folder in (*_folders(), *_offered(), *sorted(_DEBIAN.glob("*/bin"))):
        try:
            binaries = find_binaries(folder)
        except BinariesNotFound:
            continue
        found.setdefault(binaries.major, binaries)
    return found


def _offered() -> Iterator[Path]:
    for folder in os.environ.get("DPPROXY_OTHER_PG_BINS", "").split(os.pathsep):
        if folder:
            yield Path(folder)
    wheel = importlib.util.find_spec("pgserver")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "pginstall" / "bin"


def extension_folder(binaries: Binaries) -> Path | None:
    """Where the control files of its extensions are."""
    asked = _answer(str(binaries.folder / "pg_config"), "--sharedir")
    return Path(asked) / "extension" if asked else None


def _folders() -> Iterator[Path]:
    program = shutil.which("postgres")
    if program is not None:
        yield Path(program).resolve().parent
    asked = _answer("pg_config", "--bindir")
    if asked is not None:
        yield Path(asked)


def _answer(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
