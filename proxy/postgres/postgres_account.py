"""Under which account the embedded PostgreSQL runs: it refuses to run as root.

Root is common (containers). Nothing outside the state directory is changed for it: no useradd, no
chmod of parent directories.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from proxy.postgres import postgres_launcher
from proxy.postgres.postgres_binaries import WHEEL, Binaries, environment
from proxy.postgres.postgres_error import EmbeddedPostgresError
from proxy.postgres.process_walls import UNLIMITED, ProcessLimits, Walls

_TRYING = threading.Lock()
_TRIED: dict[tuple[Account, Binaries, Walls | None], bool] = {}


class NoAccount(EmbeddedPostgresError):
    """PostgreSQL cannot be run from this account."""


@dataclass(frozen=True, slots=True)
class Account:
    """kind: SAME, USER_NAMESPACE or OTHER_USER of postgres_launcher; uid: whom PostgreSQL sees."""

    kind: str
    uid: int

    def command(
        self,
        death_signal: signal.Signals,
        *program: str | Path,
        limits: ProcessLimits = UNLIMITED,
    ) -> list[str]:
        """The command line that runs `program` as this account, tied to this process."""
        return [
            sys.executable,
            "-I",
            "-S",
            str(Path(postgres_launcher.__file__).resolve()),
            self.kind,
            str(self.uid),
            str(os.getpid()),
            str(int(death_signal)),
            json.dumps(asdict(limits)),
            *map(str, program),
        ]

    def own(self, *paths: Path) -> None:
        """Make the paths the account's own, where that is another user."""
        if self.kind == postgres_launcher.OTHER_USER:
            for path in paths:
                os.chown(path, self.uid, self.uid)


def choose_account(
    binaries: Binaries, folder: Path, kind: str | None = None, user: str | None = None
) -> tuple[Account, Binaries]:
    """The account, and the programs it can read.

    Given    programs, the (existing) folder of the server's files; a kind to insist on; the name of another
             user to run as
    Gives    that user, else this user; as root a user namespace; where that is forbidden, `nobody`, with a
             copy of the programs if it may not read them
    Refuses  root where none of these works
    """
    if user is not None:
        return _as_other_user(_uid_of(user), binaries, folder)
    if os.geteuid() != 0:
        return Account(postgres_launcher.SAME, os.geteuid()), binaries
    uid = _unprivileged_uid()
    namespace = Account(postgres_launcher.USER_NAMESPACE, uid)
    if kind != postgres_launcher.OTHER_USER and runs(namespace, binaries):
        return namespace, binaries
    if kind == postgres_launcher.USER_NAMESPACE:
        raise NoAccount("user namespaces are not available here")
    return _as_other_user(uid, binaries, folder)


def _uid_of(user: str) -> int:
    if os.geteuid() != 0:
        raise NoAccount(f"only root can run a server as user {user}: start dpproxy as root")
    try:
        uid = pwd.getpwnam(user).pw_uid
    except KeyError:
        raise NoAccount(f"there is no user {user}") from None
    if uid == 0:
        raise NoAccount("PostgreSQL does not run as root: name another user")
    return uid


def _as_other_user(uid: int, binaries: Binaries, folder: Path) -> tuple[Account, Binaries]:
    """With a copy of the programs if the user may not read them."""
    closed = [parent for parent in folder.resolve().parents if not parent.stat().st_mode & 0o001]
    if closed:
        raise NoAccount(
            f"PostgreSQL does not run as root, and user {uid} may not enter {closed[-1]}: run "
            "dpproxy as an ordinary user, or choose a state directory that every user can reach"
        )
    other = Account(postgres_launcher.OTHER_USER, uid)
    other.own(folder)
    readable = binaries if runs(other, binaries) else _copy(binaries, folder)
    if runs(other, readable):
        return other, readable
    raise NoAccount(f"PostgreSQL runs neither as root nor as user {uid}")


def _unprivileged_uid() -> int:
    """`nobody`, or any user but root: initdb looks the name up."""
    entries = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid != 0}
    return entries.get("nobody") or next(iter(entries.values()), 65534)


def runs(account: Account, binaries: Binaries, walls: Walls | None = None) -> bool:
    """Whether the account can run the programs, within the walls if there are any.

    Tried once for all servers of this process: a try is two programs, and users wait.
    """
    with _TRYING:
        if (account, binaries, walls) not in _TRIED:
            _TRIED[account, binaries, walls] = _tried(account, binaries, walls)
        return _TRIED[account, binaries, walls]


def _tried(account: Account, binaries: Binaries, walls: Walls | None) -> bool:
    limits = ProcessLimits(walls=walls)
    command = account.command(signal.SIGKILL, binaries.postgres, "--version", limits=limits)
    return (
        subprocess.run(  # noqa: S603
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environment(),
            check=False,
        ).returncode
        == 0
    )


def _copy(binaries: Binaries, folder: Path) -> Binaries:
    """PREFIX/bin, lib, share; and the wheel's own libraries, which it finds beside its package."""
    prefix = binaries.folder.parent
    package = prefix.parent
    if package.name != WHEEL:
        raise NoAccount(f"an ordinary user cannot run the programs in {binaries.folder}")
    programs = folder / "programs"
    copy = programs / package.name / prefix.name
    if not (copy / "bin").exists():  # copied last: its presence tells that the copy is whole
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, programs / libraries.name, dirs_exist_ok=True)
        for part in ("lib", "share"):
            shutil.copytree(prefix / part, copy / part, symlinks=True, dirs_exist_ok=True)
        for directory in (programs, *programs.rglob("*")):
            if directory.is_dir():
                directory.chmod(0o755)
        shutil.copytree(prefix / "bin", copy / "bin.part", dirs_exist_ok=True)
        (copy / "bin.part").rename(copy / "bin")
    return replace(binaries, folder=copy / "bin")
