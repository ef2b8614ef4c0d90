"""The data directory of a server, ready for its start: made once, or copied anew at every start."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from proxy.postgres.postgres_account import Account
from proxy.postgres.postgres_binaries import Binaries
from proxy.postgres.postgres_environment import environment
from proxy.postgres.postgres_error import EmbeddedPostgresError
from proxy.postgres.postgres_initdb import make_data_directory


def prepare_data(
    data: Path,
    password: Path,
    superuser: str,
    binaries: Binaries,
    account: Account,
    *,
    durable: bool,
    disposable: bool,
) -> None:
    """
    Given    where the data directory and the superuser's password are to be, or are; disposable: `data` is
             a fresh copy of the directory `pristine` beside it, whatever was there
    Refuses  EmbeddedPostgresError: InitdbFailed, or a copy that cannot be made
    """

    def make(directory: Path) -> None:
        make_data_directory(
            directory,
            password,
            superuser,
            binaries,
            account,
            durable=durable,
            is_copied=disposable,
        )

    if not disposable:
        if not data.exists():
            make(data)
        return
    pristine = data.with_name("pristine")
    version = data.with_name("pristine.version")
    if not pristine.is_dir() or _content(version) != binaries.version:
        shutil.rmtree(pristine, ignore_errors=True)
        make(pristine)
        version.write_text(binaries.version)
    _copy(pristine, data)
    if data.stat().st_uid != account.uid:
        account.own(data, *data.rglob("*"))


def _content(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def _copy(pristine: Path, data: Path) -> None:
    """By the system's programs: a thousand files in Python keep imports beside it waiting."""
    for command in (["rm", "-rf", "--"], ["cp", "-Rp", "--", str(pristine)]):
        done = subprocess.run(  # noqa: S603 - two words and paths of our own
            [*command, str(data)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(),
            check=False,
        )
        if done.returncode != 0:
            message = done.stderr.decode(errors="replace")[-500:]
            raise EmbeddedPostgresError(f"{data} cannot be made: {message}")
