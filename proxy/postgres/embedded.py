"""An embedded PostgreSQL: made, started, stopped by us, private to one folder.

The folder STATE/NAME, mode 0700:

    data/                what initdb made; `data.part` until initdb has finished
    pristine/            of a disposable server: what initdb made, copied to data/ at every start
    pristine.version     of the PostgreSQL that made it; another minor release makes it anew
    superuser.password   random, mode 0600
    endpoint.json        the TCP port and the socket directory of the last start
    owner.lock           locked (flock) by the process that started the server, as long as it lives
    server.log

The superuser comes in through the socket directory (0700) only; pg_hba.conf rejects it over TCP.
Whoever holds owner.lock may remove what a crash left behind; nobody else touches anything.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from psycopg.conninfo import make_conninfo

from proxy.postgres.postgres_binaries import environment, find_binaries
from proxy.postgres.postgres_data import choose_account, prepare_data, runs
from proxy.postgres.postgres_error import EmbeddedPostgresError, InUse
from proxy.postgres.postgres_settings import (
    LIMITS_FOR_ANALYSTS,
    access_rules,
    settings_file,
    settings_for_analysts,
)
from proxy.postgres.process_walls import UNLIMITED, ProcessLimits, Walls, server_walls

LOOPBACK = "127.0.0.1"
_LONGEST_PATH = 100  # sun_path holds 108 bytes on Linux, 104 on macOS, with the closing NUL


def socket_directory(home: Path, last: Path | None, uids: Collection[int]) -> Path:
    """
    Given    the server's folder; the socket directory of its last start; who may own that
    Gives    an empty directory of mode 0700: in the folder, or where that makes too long a path for
             a socket, under /tmp
    """
    wanted = home / "socket"
    if not _fits(wanted):
        known = last is not None and _is_ours(last, uids)
        wanted = last if last and known else Path(tempfile.mkdtemp(prefix="dpproxy-", dir="/tmp"))
    wanted.mkdir(mode=0o700, exist_ok=True)
    wanted.chmod(0o700)
    for leftover in wanted.glob(".s.PGSQL.*"):  # whoever holds owner.lock knows: nobody serves here
        leftover.unlink()
    return wanted


def _fits(directory: Path) -> bool:
    return len(os.fsencode(directory / ".s.PGSQL.65535.lock")) <= _LONGEST_PATH


def _is_ours(directory: Path, uids: Collection[int]) -> bool:
    """Still what we made: others may write to /tmp."""
    with contextlib.suppress(OSError):
        now = directory.lstat()
        return (
            stat.S_ISDIR(now.st_mode)
            and now.st_uid in uids
            and stat.S_IMODE(now.st_mode) == 0o700
            and _fits(directory)
        )
    return False


def free_port() -> int:
    """Free at this moment: whoever uses it must be ready to try again."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


SUPERUSER = "postgres"
_SOCKET_ONLY_PORT = 5432  # without TCP the port is only part of the socket's name
_START_SECONDS = 60.0
_STOP = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 30.0), (signal.SIGKILL, 30.0))
# The postmaster kills what has not ended 5 s after SIGQUIT.
_DISPOSABLE_STOP = ((signal.SIGQUIT, 7.0), (signal.SIGKILL, 5.0))
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Endpoint:
    """port: of TCP on loopback, or (tcp False) only a part of the socket's name."""

    port: int
    socket_directory: str
    tcp: bool


class EmbeddedPostgres:
    """One server. Start it from the main thread: its life is tied to the starting thread's."""

    def __init__(
        self,
        state_dir: Path,
        name: str,
        *,
        pg_bin: Path | None = None,
        tcp: bool = True,
        durable: bool = True,
        disposable: bool = False,
        settings: Mapping[str, str] | None = None,
        account: str | None = None,
        for_analysts: bool = False,
        user: str | None = None,
    ) -> None:
        """
        Given    durable=False: fsync off, for data that can be made again (never for a ledger);
                 disposable=True: empty at every start, whatever was in it before, and not durable;
                 settings: more lines of postgresql.conf; account: a kind of postgres_launcher;
                 for_analysts: a shadow's server, with the limits that others than us need;
                 user: of the operating system, to run as (root only)
        """
        self.home = (state_dir / name).resolve()  # one folder, however it is written
        self.name = name
        self._pg_bin = pg_bin
        self._tcp = tcp
        self._durable = durable and not disposable
        self._disposable = disposable
        self._settings = dict(settings or {})
        self._account_kind = account
        self.user = user
        self._for_analysts = for_analysts
        self._endpoint: Endpoint | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: int | None = None

    def __repr__(self) -> str:
        return f"EmbeddedPostgres({self.home})"

    # What callers ask

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    @property
    def address(self) -> tuple[str, int]:
        """Host and TCP port, or without TCP the socket's directory and its number, as libpq takes them."""
        endpoint = self._reached()
        return (LOOPBACK if endpoint.tcp else endpoint.socket_directory), endpoint.port

    @property
    def process_id(self) -> int | None:
        """Of the running postmaster, ours or another process's."""
        return running_postmaster(self._data)

    def dsn(self, database: str = "postgres") -> str:
        """The superuser's way in. Holds a password: never log it."""
        endpoint = self._reached()
        return make_conninfo(
            host=endpoint.socket_directory,
            port=endpoint.port,
            user=SUPERUSER,
            password=self._password.read_text(),
            dbname=database,
        )

    @property
    def version(self) -> str:
        """Of PostgreSQL, of a server that was started."""
        return self._binaries.version

    @property
    def has_filter(self) -> bool:
        """Whether its processes can connect to no other, either."""
        return self._walls is not None and self._walls.filters

    @property
    def has_walls(self) -> bool:
        """Whether its processes are kept from the files of others (process_walls), of a server that was
        started."""
        return self._walls is not None

    # Life

    def start(self) -> None:
        """
        Gives    the server running and owned by this process; made first if it is not there yet;
                 whatever a crash left over is cleared away
        Refuses  `InUse` if another living process owns it
        """
        start_together([self])

    def attach(self) -> bool:
        """Use the server that another process runs. False if none does."""
        if self.process_id is None:
            return False
        self._endpoint = self._recorded()
        return self._endpoint is not None

    def stop(self) -> None:
        """Fast shutdown (PostgreSQL 17 documentation, section 18.5), immediate if that takes too long. A
        disposable server is stopped at once: its sessions may hear nothing else. Nothing if not ours."""
        if self._process is not None:
            for way, seconds in _DISPOSABLE_STOP if self._disposable else _STOP:
                if self._process.poll() is None:
                    self._process.send_signal(way)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(seconds)
                    break
            if self._disposable:
                stop_leftover(self._data, is_disposable=True)
            self._process = None
            atexit.unregister(self._stop_at_exit)
        self._release()
        self._endpoint = None

    def is_running(self) -> bool:
        """Whether the server that this process started is alive."""
        return self._process is not None and self._process.poll() is None

    def prepare_again(self) -> None:
        """Prepare the next start of a server of ours that has ended by itself. Takes seconds; any thread."""
        self._prepare()

    def launch_again(self) -> None:
        """Start it, at the addresses that it had. From the main thread, as `start`."""
        self._launch()

    def await_again(self) -> None:
        """Wait until it takes connections. Any thread. Refuses  EmbeddedPostgresError"""
        if not self._becomes_ready():
            raise EmbeddedPostgresError(f"{self} did not start again: see its server.log")

    @property
    def _data(self) -> Path:
        return self.home / "data"

    @property
    def _password(self) -> Path:
        return self.home / "superuser.password"

    def _reached(self) -> Endpoint:
        if self._endpoint is None:
            raise EmbeddedPostgresError(f"{self} is neither started nor attached to")
        return self._endpoint

    def _recorded(self) -> Endpoint | None:
        """Of the last start; None where there is none, or a crash left half a file."""
        try:
            return Endpoint(**json.loads((self.home / "endpoint.json").read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def _acquire(self) -> None:
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.home.chmod(0o700)
            lock = os.open(self.home / "owner.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EmbeddedPostgresError(f"{self.home}: {error.strerror or error}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise InUse(f"{self} is run by another process") from None
        self._lock = lock

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _prepare(self) -> None:
        """What takes long, and may run beside another server's: leftovers, programs, initdb."""
        stop_leftover(self._data, is_disposable=self._disposable)
        self._account, self._binaries = choose_account(
            find_binaries(self._pg_bin), self.home, self._account_kind, self.user
        )
        self._account.own(self.home)
        self._walls = self._possible_walls(self.home)
        prepare_data(
            self._data,
            self._password,
            SUPERUSER,
            self._binaries,
            self._account,
            durable=self._durable,
            disposable=self._disposable,
        )

    def _limits(self) -> Mapping[str, str]:
        return settings_for_analysts(self._binaries.major) if self._for_analysts else {}

    def _possible_walls(self, *own: Path) -> Walls | None:
        """None for a server that analysts do not reach, and if the kernel or the programs allow none."""
        if not self._for_analysts:
            return None
        walls = server_walls(self._binaries, own, listens=self._tcp)
        if walls is None:
            return None
        tried = (walls, replace(walls, filters=False)) if walls.filters else (walls,)
        return next((one for one in tried if runs(self._account, self._binaries, one)), None)

    def _process_limits(self, sockets: Path) -> ProcessLimits:
        if not self._for_analysts:
            return UNLIMITED
        walls = None
        if self._walls is not None:
            walls = server_walls(self._binaries, (self._data, sockets), listens=self._tcp)
            if walls is not None:
                walls = replace(walls, filters=self._walls.filters)
        return replace(LIMITS_FOR_ANALYSTS, walls=walls)

    def _launch(self) -> None:
        last = self._recorded()
        sockets = socket_directory(
            self.home,
            Path(last.socket_directory) if last else None,
            (os.geteuid(), self._account.uid),
        )
        self._account.own(sockets)
        before = self._endpoint  # of a start that is repeated
        endpoint = Endpoint(
            port=before.port if before else free_port() if self._tcp else _SOCKET_ONLY_PORT,
            socket_directory=str(sockets),
            tcp=self._tcp,
        )
        files = {
            self._data / "postgresql.conf": settings_file(
                endpoint.port,
                LOOPBACK if self._tcp else "",
                endpoint.socket_directory,
                durable=self._durable,
                extra={**self._limits(), **self._settings},
            ),
            self._data / "pg_hba.conf": access_rules(SUPERUSER),
        }
        for path, text in files.items():
            path.write_text(text)
            path.chmod(0o600)
            self._account.own(path)
        (self.home / "endpoint.json").write_text(json.dumps(asdict(endpoint)))
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(  # noqa: S603
                self._account.command(
                    # When this process dies. Sessions of a disposable server may hear nothing else.
                    signal.SIGQUIT if self._disposable else signal.SIGINT,
                    self._binaries.postgres,
                    "-D",
                    self._data,
                    limits=self._process_limits(sockets),
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=environment(),
                start_new_session=True,  # the terminal's Ctrl-C is for us, not for the server
            )
        self._endpoint = endpoint
        self._starter = os.getpid()
        atexit.register(self._stop_at_exit)

    def _await_ready(self) -> None:
        """A port taken in between, or a dying server's last memory: try again, then give up."""
        for attempt in range(_ATTEMPTS):
            if self._becomes_ready():
                return
            output = self.log.read_bytes()[self._log_start :].decode(errors="replace")
            again = any(
                sign in output
                for sign in ("could not create any TCP/IP sockets", "shared memory block")
            )
            if not again or attempt == _ATTEMPTS - 1:
                raise EmbeddedPostgresError(f"{self} did not start:\n{output[-2000:]}")
            time.sleep(0.2)
            self._endpoint = None
            self._launch()

    def _becomes_ready(self) -> bool:
        """postmaster.pid's eighth line says so (PostgreSQL's src/include/utils/pidfile.h)."""
        process = self._process
        if process is None:
            return False
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                lines = (self._data / "postmaster.pid").read_text().split("\n")
                if len(lines) > 7 and lines[7].strip() == "ready":
                    return True
            time.sleep(0.01)
        return False

    def _stop_at_exit(self) -> None:
        if os.getpid() == self._starter:  # not in a forked child
            self.stop()


def start_together(servers: Sequence[EmbeddedPostgres]) -> None:
    """Start several; what takes long runs side by side. If one fails, none runs."""
    with preparing(servers) as launch:
        launch()


@contextlib.contextmanager
def preparing(servers: Sequence[EmbeddedPostgres]) -> Iterator[Callable[[], None]]:
    """
    Given    servers that do not run
    Gives    what launches them all, each as soon as it is prepared, and waits until they are ready; what takes
             long before that is under way, beside the caller's own work
    Refuses  as `start`. If one fails, or the caller does before the end, none runs
    """
    if threading.current_thread() is not threading.main_thread():
        # PR_SET_PDEATHSIG fires when the starting *thread* ends (prctl(2)).
        raise EmbeddedPostgresError(
            "an embedded PostgreSQL can only be started from the main thread"
        )
    try:
        for server in servers:
            if server.is_running():
                raise EmbeddedPostgresError(f"{server} is running already")
            if server._lock is None:
                server._acquire()
        with ThreadPoolExecutor(max_workers=max(1, len(servers))) as pool:
            under_way = {pool.submit(server._prepare): server for server in servers}

            def launch() -> None:
                for done in as_completed(under_way):
                    done.result()
                    under_way[done]._launch()
                for server in servers:
                    server._await_ready()

            yield launch
    except BaseException:
        for server in servers:
            server.stop()
        raise


# What a crash leaves of an embedded PostgreSQL: a running postmaster, orphans, a stale pid file.
#
# Only for whoever holds the folder's owner.lock.


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
