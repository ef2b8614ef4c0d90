"""Code that runs in the shadow's place finds no file of the ledger, no connection string, no process to end."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest

from proxy.postgres import process_walls
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.postgres.postgres_binaries import environment, find_binaries
from proxy.postgres.postgres_data import NoAccount
from proxy.postgres.postgres_launcher import can_filter, landlock_version
from proxy.postgres.process_walls import ProcessLimits, Walls, server_walls

_SHELL = Path("/bin/bash")
_SECRET = "password=of-the-source"
pytestmark = [
    pytest.mark.skipif(landlock_version() < 1, reason="the kernel has no Landlock"),
    pytest.mark.skipif(
        not _SHELL.exists(), reason="bash connects and lists without another program"
    ),
]


@dataclass(slots=True)
class _State:
    """A state folder with both servers, as `dpproxy serve` has it."""

    folder: Path
    ledger: EmbeddedPostgres
    shadow: EmbeddedPostgres
    proxy: subprocess.Popen[bytes]

    def found_by_a_shell(self, walls: Walls | None) -> set[str]:
        """Run bash in the place of the shadow's postgres; gives what it could do."""
        limits = ProcessLimits(memory=64 << 20, walls=walls)
        command = self.shadow._account.command(
            signal.SIGKILL, _SHELL, "-c", self._script(), limits=limits
        )
        done = subprocess.run(
            command, capture_output=True, text=True, cwd="/", env=environment(), check=True
        )
        return set(done.stdout.split())

    @property
    def secrets(self) -> list[Path]:
        return [
            self.folder / "ledger" / "superuser.password",
            self.folder / "ledger" / "data" / "PG_VERSION",
            self.folder / "ledger.key",
            self.folder / "ledger.mark",
            self.folder / "shadow" / "superuser.password",
        ]

    def walls(self) -> Walls:
        sockets = self.shadow.home / "socket"
        walls = self.shadow._process_limits(sockets).walls
        assert walls is not None
        return replace(walls, runnable=(*walls.runnable, str(_SHELL.resolve())))

    def _script(self) -> str:
        lines = [f"(: < {self.shadow.home}/data/PG_VERSION) && echo own"]
        for number, path in enumerate(self.secrets):
            quoted = shlex.quote(str(path))
            lines.append(f"(: < {quoted}) && echo read-{number}")
            lines.append(f"(: >> {quoted}) && echo written-{number}")
        lines += [
            f"(: < /proc/{self.proxy.pid}/environ) && echo environ",
            f"kill -0 {self.proxy.pid} && echo signal",
            f'names=({shlex.quote(str(self.folder))}/*); [ -e "${{names[0]}}" ] && echo listed',
            f"(: > {shlex.quote(str(self.folder))}/new) && echo made",
            "/bin/true && echo program",
            f"(exec 3<>/dev/tcp/127.0.0.1/{self._port()}) && echo tcp",
            "true",
        ]
        return "\n".join(lines)

    def _port(self) -> int:
        host, port = self.ledger.address
        assert host == "127.0.0.1"
        return port


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_State]:
    folder = tmp_path_factory.mktemp("state")
    for name in ("ledger.key", "ledger.mark"):
        (folder / name).write_text("secret")
    ledger = EmbeddedPostgres(folder, "ledger")
    shadow = EmbeddedPostgres(folder, "shadow", disposable=True, tcp=False, for_analysts=True)
    proxy = subprocess.Popen(["sleep", "600"], env={"PATH": os.defpath, "DSN": _SECRET})
    try:
        ledger.start()
        shadow.start()
        yield _State(folder, ledger, shadow, proxy)
    finally:
        proxy.kill()
        proxy.wait()
        shadow.stop()
        ledger.stop()


def test_a_shell_in_its_place_finds_nothing(state: _State) -> None:
    open_to_all = state.found_by_a_shell(None)
    files = {f"{kind}-{n}" for kind in ("read", "written") for n in range(len(state.secrets))}
    assert open_to_all >= {
        "own",
        "listed",
        "made",
        "program",
        "tcp",
        *files,
    }  # the script finds what is there
    walls = state.walls()
    rest = {"own"}
    if walls.version < 6:
        rest.add("signal")  # what this kernel cannot keep
    if walls.version < 4:
        rest.add("tcp")
    assert state.found_by_a_shell(walls) <= rest
    assert "own" in state.found_by_a_shell(walls)


def test_the_server_itself_reads_none(state: _State) -> None:
    """As its superuser, who may read whatever the server's processes may."""
    with psycopg.connect(state.shadow.dsn(), autocommit=True) as superuser:
        for path in (*state.secrets, Path(f"/proc/{state.proxy.pid}/environ")):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="Permission denied"):
                superuser.execute("SELECT pg_read_binary_file(%s)", (str(path),))
        with pytest.raises(psycopg.Error, match="could not"):
            superuser.execute("COPY (SELECT 1) TO PROGRAM 'true'")
    assert state.shadow.has_walls and not state.ledger.has_walls


def test_it_does_all_that_a_server_does(state: _State) -> None:
    with psycopg.connect(state.shadow.dsn(), autocommit=True) as superuser:
        for statement in (
            "CREATE DATABASE more TEMPLATE template0",
            "CREATE TABLE big AS SELECT g, md5(g::text) AS x FROM generate_series(1, 50000) g",
            "CREATE INDEX ON big (x)",
            "VACUUM ANALYZE big",
            "SET work_mem = '64kB'",
            "CREATE TABLE sorted AS SELECT * FROM big ORDER BY x",
            "CHECKPOINT",
            "SELECT pg_switch_wal()",
            "SELECT now() AT TIME ZONE 'Pacific/Auckland'",
            "SELECT to_tsvector('english', 'cats')",
            "LISTEN l",
            "NOTIFY l",
            "DROP DATABASE more",
        ):
            superuser.execute(statement.encode())


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """Walls are put up after the tie to the parent, and must not cut it."""
    program = (
        "import os, pathlib, signal, sys\n"
        "from proxy.postgres.embedded import EmbeddedPostgres\n"
        "server = EmbeddedPostgres(pathlib.Path(sys.argv[1]), 's', tcp=False, durable=False,"
        " disposable=True, for_analysts=True)\n"
        "server.start()\n"
        "print(server.process_id, server.has_walls, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    pid, has_walls = done.stdout.split()
    assert has_walls == "True"
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return
        except OSError:
            return
        signal.sigtimedwait([], 0.05)
    pytest.fail("the shadow outlives its parent")


def test_a_folder_below_an_open_one_has_no_walls() -> None:
    """Nothing is said to be closed that is not."""
    binaries = find_binaries()
    assert server_walls(binaries, (Path("/usr/lib/dpproxy/state"),), listens=False) is None
    beside = binaries.postgres.resolve().parents[1] / "state"
    assert server_walls(binaries, (beside,), listens=False) is None


def test_walls_that_cannot_be_put_up_end_the_start(state: _State) -> None:
    walls = replace(state.walls(), readable=("/no/such/folder",))
    limits = ProcessLimits(walls=walls)
    command = state.shadow._account.command(signal.SIGKILL, "/bin/true", limits=limits)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "/no/such/folder" in done.stderr


_TRIES = """
import ctypes, errno, mmap, os, platform, signal, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
number = dict(zip(("unshare", "ptrace", "read", "fd", "ring", "clone", "clone3"), map(int, sys.argv[2:])))

def call(name, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number[name], *map(ctypes.c_long, arguments))
    if name == "clone" and result == 0:
        os._exit(0)
    print(name, "done" if result >= 0 else errno.errorcode[ctypes.get_errno()])

def attempt(name, what):
    try:
        what()
    except OSError as error:
        print(name, errno.errorcode[error.errno])
    else:
        print(name, "done")

def to_nobody():
    first, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    first.sendto(b"x", sys.argv[1] + ".datagram")

attempt("connect", lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[1]))
attempt("datagram", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("pair", to_nobody)
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("stream", lambda: socket.socket(socket.AF_UNIX))
call("ring", 1, ctypes.addressof(ctypes.create_string_buffer(200)))
call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
call("clone3", 0, 0)
call("unshare", 0x10000000)
call("read", os.getpid(), 0, 0, 0, 0, 0)
call("fd", -1, 0, 0)
call("ptrace", 1, 0x3FFFFFFF, 0, 0)
if platform.machine() == "x86_64":
    number["x32"] = 0x40000000 + 39
    call("x32")
    if os.fork() == 0:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes.fromhex("b814000000cd80c3"))  # getpid of 32 bits
        at = ctypes.addressof(ctypes.c_char.from_buffer(code))
        os._exit(7 if ctypes.CFUNCTYPE(ctypes.c_int)(at)() == -errno.EPERM else 0)
    print("bits32", "EPERM" if os.waitstatus_to_exitcode(os.wait()[1]) == 7 else "done")
"""
_NUMBERS = {
    "x86_64": (272, 101, 310, 438, 425, 56, 435),
    "aarch64": (97, 117, 270, 438, 425, 220, 435),
}


def _tried(state: _State, walls: Walls, path: Path) -> dict[str, str]:
    """Run Python in the place of the shadow's postgres; gives how each try ended."""
    program = Path(sys.executable).resolve()
    walls = replace(
        walls,
        readable=(*walls.readable, sys.base_prefix),
        runnable=(*walls.runnable, str(program)),
    )
    command = state.shadow._account.command(
        signal.SIGKILL,
        *(program, "-I", "-S", "-c", _TRIES, path),
        *map(str, _NUMBERS[os.uname().machine]),
        limits=ProcessLimits(walls=walls),
    )
    done = subprocess.run(
        command, capture_output=True, text=True, cwd="/", env=environment(), check=True, timeout=60
    )
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.mark.skipif(not can_filter(), reason="the kernel has no seccomp filters")
def test_a_program_in_its_place_connects_to_nothing(state: _State) -> None:
    """Not even to a socket that its user may connect to: a server there would take it for dpproxy."""
    assert state.shadow.has_filter
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        path = Path(folder) / "s"
        listening.bind(str(path))
        listening.listen()
        without = _tried(state, replace(state.walls(), filters=False), path)
        within = _tried(state, state.walls(), path)
    possible = {"connect", "datagram", "udp", "netlink", "stream", "clone", "read"}
    assert {name for name, end in without.items() if end == "done"} >= possible
    assert without["pair"] == "ENOENT" and (without["fd"], without["ptrace"]) == ("EBADF", "ESRCH")
    assert within.pop("stream") == "done" and within.pop("clone3") == "ENOSYS"
    assert within == dict.fromkeys(without.keys() - {"stream", "clone3"}, "EPERM")


@pytest.mark.every(2)
@pytest.mark.parametrize("folder", [None, *sorted(Path("/usr/lib/postgresql").glob("*/bin"))])
def test_every_server_starts_and_restarts_within_them(tmp_path: Path, folder: Path | None) -> None:
    server = EmbeddedPostgres(
        tmp_path, "s", pg_bin=folder, tcp=False, disposable=True, for_analysts=True
    )
    try:
        for _ in range(2):
            server.start()
            assert server.has_walls and server.has_filter == can_filter()
            with psycopg.connect(server.dsn(), autocommit=True) as superuser:
                superuser.execute("SELECT g FROM generate_series(1, 1000) g")
            status = Path(f"/proc/{server.process_id}/status").read_text()
            assert ("\nSeccomp:\t2\n" in status) or not can_filter()
            server.stop()
    finally:
        server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.usefixtures("real_initdb")
def test_another_user_is_a_wall_without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_walls, "landlock_version", lambda: 0)
    folder = Path(tempfile.mkdtemp(prefix="dpproxy-user-", dir="/tmp"))
    folder.chmod(0o711)
    ledger = EmbeddedPostgres(folder, "ledger", tcp=False, durable=False)
    shadow = EmbeddedPostgres(
        folder, "shadow", tcp=False, disposable=True, for_analysts=True, user="nobody"
    )
    try:
        ledger.start()
        shadow.start()
        assert not shadow.has_walls
        assert Path(f"/proc/{shadow.process_id}").stat().st_uid == pwd.getpwnam("nobody").pw_uid
        with psycopg.connect(shadow.dsn(), autocommit=True) as superuser:
            for path in ("superuser.password", "data/PG_VERSION", "data/base"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    superuser.execute("SELECT pg_stat_file(%s)", (str(ledger.home / path),))
    finally:
        shadow.stop()
        ledger.stop()
        shutil.rmtree(folder)


@pytest.mark.parametrize(("user", "refused"), [("no-such-user", "no user"), ("root", "as root")])
def test_users_that_cannot_run_it_are_refused(tmp_path: Path, user: str, refused: str) -> None:
    server = EmbeddedPostgres(tmp_path, "s", tcp=False, disposable=True, user=user)
    with pytest.raises(NoAccount, match=refused):
        server.start()
