"""The data directory of a server, ready for its start: made once, or copied anew at every start."""

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

# Under which account the embedded PostgreSQL runs: it refuses to run as root.
#
# Root is common (containers). Nothing outside the state directory is changed for it: no useradd, no
# chmod of parent directories.

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
    readable = binaries if runs(other, binaries) else _copied_programs(binaries, folder)
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


def _copied_programs(binaries: Binaries, folder: Path) -> Binaries:
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
