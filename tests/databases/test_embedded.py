"""The embedded PostgreSQL's life: made, started, crashed in every way, started again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from proxy.postgres.embedded import EmbeddedPostgres
from proxy.postgres.postgres_binaries import BinariesNotFound, find_binaries
from proxy.postgres.postgres_data import choose_account
from proxy.postgres.postgres_error import EmbeddedPostgresError, InUse
from tests.waiting import until

SYSTEM = Path("/usr/lib/postgresql/15/bin")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("real_initdb")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(None, id="wheel"),
        pytest.param(
            SYSTEM,
            id="system-15",
            marks=pytest.mark.skipif(not SYSTEM.is_dir(), reason="no system PostgreSQL 15"),
        ),
    ],
)
def state(request: pytest.FixtureRequest) -> Iterator[tuple[Path, Path | None]]:
    """A state directory in which the server `db` was made, and its programs."""
    folder = Path(tempfile.mkdtemp(prefix="dpproxy-life-"))
    server = EmbeddedPostgres(folder, "db", pg_bin=request.param)
    server.start()
    with psycopg.connect(server.dsn()) as connection:
        connection.execute("CREATE TABLE kept (number integer)")
        connection.execute("INSERT INTO kept VALUES (42)")
    server.stop()
    yield folder, request.param
    shutil.rmtree(folder)


@pytest.fixture
def server(state: tuple[Path, Path | None]) -> Iterator[EmbeddedPostgres]:
    folder, pg_bin = state
    server = EmbeddedPostgres(folder, "db", pg_bin=pg_bin)
    yield server
    server.stop()


def answers(server: EmbeddedPostgres) -> bool:
    with psycopg.connect(server.dsn()) as connection:
        row = connection.execute("SELECT number FROM kept").fetchone()
        return row == (42,)


def alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


@pytest.mark.every(2)
def test_what_is_made_is_private(server: EmbeddedPostgres) -> None:
    server.start()
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (server.home, server.home / "socket", server.home / "superuser.password")
    }
    assert modes == {"db": 0o700, "socket": 0o700, "superuser.password": 0o600}
    assert answers(server)


@pytest.mark.every(2)
def test_superuser_comes_through_the_socket_only(server: EmbeddedPostgres) -> None:
    server.start()
    host, port = server.address
    with pytest.raises(psycopg.OperationalError, match="rejects connection"):
        psycopg.connect(psycopg.conninfo.make_conninfo(server.dsn(), host=host, port=port))
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(psycopg.conninfo.make_conninfo(server.dsn(), password="guess"))


@pytest.mark.every(2)
def test_listens_on_loopback_only_or_not_at_all(
    server: EmbeddedPostgres, state: tuple[Path, Path | None]
) -> None:
    server.start()
    with psycopg.connect(server.dsn()) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("127.0.0.1",)
    server.stop()
    quiet = EmbeddedPostgres(state[0], "db", pg_bin=state[1], tcp=False)
    quiet.start()
    try:
        with psycopg.connect(quiet.dsn()) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        host, number = quiet.address
        assert (Path(host) / f".s.PGSQL.{number}").is_socket()
    finally:
        quiet.stop()


@pytest.mark.every(2)
def test_a_commit_is_durable_and_the_log_holds_no_value(server: EmbeddedPostgres) -> None:
    server.start()
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            assert connection.execute(f"SHOW {setting}".encode()).fetchone() == ("on",)
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT 'SECRET-4242'::integer")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT %s::text::integer", ("SECRET-4243",))
    server.stop()
    assert "SECRET" not in server.log.read_text()


def test_restart_keeps_the_data(server: EmbeddedPostgres) -> None:
    server.start()
    first = server.process_id
    server.stop()
    server.start()
    assert server.process_id != first
    assert answers(server)


@pytest.mark.every(2)
def test_one_owner_others_attach(server: EmbeddedPostgres, state: tuple[Path, Path | None]) -> None:
    other = EmbeddedPostgres(state[0], "db", pg_bin=state[1])
    assert not other.attach()
    server.start()
    with pytest.raises(InUse):
        other.start()
    assert other.attach()
    assert answers(other)
    other.stop()
    assert server.is_running(), "only its owner stops it"


@pytest.mark.every(2)
def test_a_folder_written_another_way(
    server: EmbeddedPostgres, state: tuple[Path, Path | None], tmp_path: Path
) -> None:
    """`--state ../state` of the one and `--state state` of the other; a symbolic link."""
    server.start()
    link = tmp_path / "link"
    link.symlink_to(state[0])
    for folder in (tmp_path / ".." / tmp_path.name / link.name, link):
        other = EmbeddedPostgres(folder, "db", pg_bin=state[1])
        assert other.attach()
        assert answers(other)


@pytest.mark.every(2)
def test_kill_9_of_the_parent_ends_the_server(
    server: EmbeddedPostgres, state: tuple[Path, Path | None]
) -> None:
    program = (
        "import pathlib, time\n"
        "from proxy.postgres.embedded import EmbeddedPostgres\n"
        f"server = EmbeddedPostgres(pathlib.Path({str(state[0])!r}), 'db',"
        f" pg_bin={str(state[1])!r} != 'None' and pathlib.Path({str(state[1])!r}) or None)\n"
        "server.start()\n"
        "print(server.process_id, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        postmaster = int(parent.stdout.readline())
        assert alive(postmaster)
        parent.kill()
    server.start()  # at once: the old one may be on its way down
    assert answers(server)
    assert server.process_id != postmaster
    until(lambda: not alive(postmaster))


@pytest.mark.every(2)
def test_a_leftover_server_is_stopped(server: EmbeddedPostgres) -> None:
    """As after a crash where the parent-death signal does not exist."""
    server.start()
    server.stop()
    account, binaries = choose_account(find_binaries(server._pg_bin), server.home)
    command = account.command(signal.SIGINT, binaries.postgres, "-D", server.home / "data")
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as leftover:
        until(lambda: server.process_id == leftover.pid)
        server.start()
        assert leftover.wait(60) == 0
    assert answers(server)


@pytest.mark.every(2)
def test_kill_9_of_the_postmaster_with_a_query_running(server: EmbeddedPostgres) -> None:
    server.start()
    postmaster = server.process_id
    assert postmaster is not None
    busy = psycopg.connect(server.dsn(), autocommit=True)
    backend = busy.info.backend_pid
    busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 1000000000)")
    os.kill(postmaster, signal.SIGKILL)
    until(lambda: not server.is_running())
    assert alive(backend), "an orphan still holds the shared memory"
    server.stop()
    server.start()
    assert not alive(backend)
    assert answers(server)
    busy.close()


@pytest.mark.every(2)
@pytest.mark.parametrize("stale", ["this process", "nobody", "not a number"])
def test_stale_files_do_not_block(server: EmbeddedPostgres, stale: str) -> None:
    pid = {"this process": str(os.getpid()), "nobody": "4194303", "not a number": "x"}[stale]
    data = server.home / "data"
    (data / "postmaster.pid").write_text(f"{pid}\n{data}\n0\n5432\n\n\n 1 1\nready   \n")
    (server.home / "socket").mkdir(exist_ok=True)
    for name in (".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
        (server.home / "socket" / name).write_text(f"{pid}\n")
    (server.home / "endpoint.json").write_text('{"port": 54')
    assert not server.attach()
    server.start()
    assert answers(server)


@pytest.mark.long
def test_a_broken_initdb_is_made_again(tmp_path: Path) -> None:
    home = tmp_path / "db"
    (home / "data.part").mkdir(parents=True)
    (home / "data.part" / "PG_VERSION").write_text("18\n")
    (home / "superuser.password").write_text("half")
    server = EmbeddedPostgres(tmp_path, "db", durable=False)
    try:
        server.start()
        with psycopg.connect(server.dsn()) as connection:
            assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
    finally:
        server.stop()


@pytest.mark.long
def test_a_long_path_has_its_socket_elsewhere(tmp_path: Path) -> None:
    deep = tmp_path / ("a, \"long' path " * 8)
    server = EmbeddedPostgres(deep, "db", durable=False)
    try:
        server.start()
        first = psycopg.conninfo.conninfo_to_dict(server.dsn())["host"]
        assert str(first).startswith("/tmp/dpproxy-")
        assert stat.S_IMODE(Path(str(first)).stat().st_mode) == 0o700
        server.stop()
        server.start()
        assert psycopg.conninfo.conninfo_to_dict(server.dsn())["host"] == first
        Path(str(first)).chmod(0o755)  # no longer what we made: another one is taken
        server.stop()
        server.start()
        second = psycopg.conninfo.conninfo_to_dict(server.dsn())["host"]
        assert second != first
    finally:
        server.stop()
    for directory in (first, second):
        shutil.rmtree(str(directory))


def test_not_from_a_thread_that_may_end(tmp_path: Path) -> None:
    caught: list[Exception] = []

    def start() -> None:
        try:
            EmbeddedPostgres(tmp_path, "db").start()
        except EmbeddedPostgresError as error:
            caught.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert "main thread" in str(caught[0])


def test_programs_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BinariesNotFound, match="no program named postgres"):
        find_binaries(tmp_path)
    monkeypatch.setenv("DPPROXY_PG_BIN", str(tmp_path))
    with pytest.raises(BinariesNotFound, match="no program named postgres"):
        find_binaries()
    for name in ("postgres", "initdb"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 13.9'\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(BinariesNotFound, match="too old"):
        find_binaries()
