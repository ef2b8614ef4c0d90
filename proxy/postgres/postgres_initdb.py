"""Make the data directory and the superuser's password; whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from proxy.postgres.postgres_account import Account
from proxy.postgres.postgres_binaries import Binaries


class InitdbFailed(RuntimeError):
    """initdb said no; the text is its own."""


def make_data_directory(
    data: Path,
    password: Path,
    superuser: str,
    binaries: Binaries,
    account: Account,
    *,
    durable: bool,
) -> None:
    """
    Given    where the data directory and the password's file are to be
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
        # A disposable one is copied at every start, and is small: so are the files of its log.
        *(() if durable else ("--no-sync", "--wal-segsize=1")),
    )
    made = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, cwd="/", env=environment(), check=False
    )
    if made.returncode != 0:
        raise InitdbFailed(f"initdb failed: {made.stderr.strip() or made.stdout}")
    part.rename(data)


def environment() -> dict[str, str]:
    """Nothing of the caller's PG* or LC_* settings reaches the server."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
