"""The data directory of a server, ready for its start: made once, or copied anew at every start."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from proxy.postgres.postgres_account import Account
from proxy.postgres.postgres_binaries import Binaries, environment
from proxy.postgres.postgres_error import EmbeddedPostgresError


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


# Make the data directory and the superuser's password; whole or not at all.


_OWN_DATABASE = "postgres"  # the database that connections of our own begin with


class InitdbFailed(EmbeddedPostgresError):
    """initdb said no; the text is its own."""


def make_data_directory(
    data: Path,
    password: Path,
    superuser: str,
    binaries: Binaries,
    account: Account,
    *,
    durable: bool,
    is_copied: bool,
) -> None:
    """
    Given    where the data directory and the password's file are to be; is_copied: at every start, so that it
             should be small
    Gives    both; the directory appears under its name only when initdb has finished
    """
    part = data.with_name(f"{data.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    password.unlink(missing_ok=True)
    password.touch(mode=0o600)
    password.write_text(os.urandom(24).hex())
    part.mkdir(mode=0o700)
    account.own(part, password)
    # Bytewise order everywhere; Unicode's character classes where the server brings them.
    locale = ["--locale=C"]
    if binaries.major >= 17:
        locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    command = account.command(
        signal.SIGKILL,
        binaries.initdb,
        *("-D", part, "-U", superuser, "-A", "scram-sha-256", "--pwfile", password),
        *("--encoding=UTF8", *locale, "--no-instructions"),
        *(() if durable else ("--no-sync",)),
        *(("--wal-segsize=1",) if is_copied else ()),
    )
    made = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, cwd="/", env=environment(), check=False
    )
    if made.returncode != 0:
        raise InitdbFailed(f"initdb failed: {made.stderr.strip() or made.stdout}")
    if is_copied:
        _drop_spare_template(part, binaries, account)
    part.rename(data)


def _drop_spare_template(data: Path, binaries: Binaries, account: Account) -> None:
    """A third of the files: template0 does as well.

    In single-user mode a statement is a line (PostgreSQL 17 documentation, postgres).
    """
    command = account.command(
        signal.SIGKILL, binaries.postgres, "--single", "-F", "-j", "-D", data, _OWN_DATABASE
    )
    statements = (
        "ALTER DATABASE template1 IS_TEMPLATE false;\n\n",
        "DROP DATABASE template1;\n\n",
    )
    done = subprocess.run(  # noqa: S603
        command,
        input="".join(statements),
        capture_output=True,
        text=True,
        cwd="/",
        env=environment(),
        check=False,
    )
    if done.returncode != 0 or "ERROR" in done.stderr:
        raise InitdbFailed(f"template1 could not be dropped: {done.stderr.strip()}")
