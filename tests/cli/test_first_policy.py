"""docs/first-policy.md, as it stands: from a bare database to the first answer, and a policy that changes."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.servers_fixture import servers

pytestmark = [pytest.mark.long, pytest.mark.postgres]

_PAGE = Path(__file__).parents[2] / "docs" / "first-policy.md"
_BLOCK = re.compile(r"^```(?P<kind>sh|diff|sh serve)\n(?P<text>.*?)^```$", re.M | re.S)
_CLUB = """\
CREATE SCHEMA club;
CREATE TABLE club.sports (code text PRIMARY KEY, title text NOT NULL);
INSERT INTO club.sports VALUES ('row', 'Rowing'), ('run', 'Running'), ('swim', 'Swimming');
CREATE TABLE club.members (id integer PRIMARY KEY, name text NOT NULL, email text, born date NOT NULL,
    sex text NOT NULL CHECK (sex IN ('f', 'm', 'x')), joined date NOT NULL,
    fee numeric(6, 2) NOT NULL CHECK (fee BETWEEN 0 AND 500));
INSERT INTO club.members SELECT i, 'Member ' || i, 'm' || i, '1960-01-01'::date + i, 'f', '2020-01-01', 120
    FROM generate_series(1, 3000) i;
CREATE TABLE club.visits (id bigint PRIMARY KEY, member_id integer NOT NULL REFERENCES club.members,
    sport text NOT NULL REFERENCES club.sports, day date NOT NULL,
    minutes integer NOT NULL CHECK (minutes BETWEEN 1 AND 600));
INSERT INTO club.visits SELECT i, 1 + i % 3000, (ARRAY['row', 'run', 'swim'])[1 + i % 3], '2026-01-01', 60
    FROM generate_series(1, 30000) i;
ANALYZE;
"""


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Of a shell whose psql finds the database server, with dpproxy as a command."""
    if shutil.which("psql") is None:
        pytest.skip("there is no psql")
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as outer:
        outer.execute("CREATE DATABASE club TEMPLATE template0 ENCODING 'UTF8'")
        with psycopg.connect(server.dsn("club"), autocommit=True) as connection:
            connection.execute(_CLUB.encode())
        reached = conninfo_to_dict(server.dsn("club"))
        command = tmp_path / "bin" / "dpproxy"
        command.parent.mkdir()
        python = shlex.quote(sys.executable)
        program = "from proxy.cli.main import main; main()"
        command.write_text(f'#!/bin/sh\nexec {python} -c "{program}" "$@"\n')
        command.chmod(0o700)
        try:
            yield {
                **os.environ,
                "PATH": f"{command.parent}:{os.environ['PATH']}",
                "PGHOST": str(reached["host"]),
                "PGPORT": str(reached["port"]),
                "PGUSER": str(reached["user"]),
                "PGPASSWORD": str(reached["password"]),
            }
        finally:
            outer.execute("DROP DATABASE club WITH (FORCE)")
            outer.execute("DROP ROLE IF EXISTS club_reader")


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


class _Shell:
    """A folder in which the page's commands run, one after the other, with what they export."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, dict(environment)

    def run(self, text: str) -> str:
        for exported in re.findall(r'^export (\w+)="(.*)"$', text, re.M):
            self.environment[exported[0]] = exported[1]
        done = subprocess.run(
            ["sh", "-ec", text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, (text, done.stdout, done.stderr)
        return done.stdout

    def edit(self, changes: str) -> None:
        """Each line with - becomes the next one with +, wherever it stands alone."""
        file = self.folder / "club.yaml"
        lines = file.read_text().split("\n")
        removed = [line[1:] for line in changes.splitlines() if line.startswith("-")]
        added = [line[1:] for line in changes.splitlines() if line.startswith("+")]
        for old, new in zip(removed, added, strict=True):
            assert lines.count(old) == 1, old
            lines[lines.index(old)] = new
        file.write_text("\n".join(lines))

    def until(self, what: str, answered: str) -> None:
        deadline = time.monotonic() + 60
        while answered not in self.run(what):
            assert time.monotonic() < deadline, what
            time.sleep(0.5)


def test_the_page_as_it_stands(tmp_path: Path, environment: Mapping[str, str]) -> None:
    wire, http = _free_port(), _free_port()
    page = _PAGE.read_text(encoding="utf-8").replace("6432", str(wire)).replace("8432", str(http))
    shell = _Shell(tmp_path, environment)
    answers: list[str] = []
    serving: subprocess.Popen[str] | None = None
    try:
        for block in _BLOCK.finditer(page):
            match block["kind"]:
                case "diff":
                    shell.edit(block["text"])
                case "sh serve":
                    out = tmp_path / "out.txt"
                    with out.open("w") as printed, (tmp_path / "err.txt").open("w") as logged:
                        serving = subprocess.Popen(
                            ["sh", "-c", f"exec {block['text']}"],
                            cwd=tmp_path,
                            env=shell.environment,
                            stdout=printed,
                            stderr=logged,
                            text=True,
                        )
                    deadline = time.monotonic() + 120
                    while "HTTP:" not in out.read_text():
                        assert serving.poll() is None, (tmp_path / "err.txt").read_text()
                        assert time.monotonic() < deadline
                        time.sleep(0.2)
                case _:
                    answers.append(shell.run(block["text"]))
        assert serving is not None
        (first,) = (text for text in answers if "(3 rows)" in text)
        counts = [
            int(line.split("|")[1])
            for line in first.splitlines()
            if line.count("|") == 2 and "avg" not in line
        ]
        assert len(counts) == 3 and all(9_000 < count < 11_000 for count in counts)
        (told,) = (text for text in answers if "analysts gain" in text)
        assert "+ tables.club.members.columns.born: can be used" in told
        ask = f"psql -h 127.0.0.1 -p {wire} -U alice club -qAtc "
        shell.until(ask + shlex.quote("SHOW dp.epsilon"), "0.5")
        shell.run(ask + shlex.quote("SELECT min(born) FROM club.members"))
        digests = shell.run(ask + shlex.quote("SELECT policy FROM dp.history")).split()
        assert len(set(digests)) == 2
        with (tmp_path / "club.yaml").open("a") as file:
            file.write("tables: [\n")
        serving.send_signal(signal.SIGHUP)
        standing = "SELECT digest, not_taken_since IS NOT NULL FROM dp.policy"
        shell.until(ask + shlex.quote(standing), f"{digests[-1]}|t")
        assert "policy_not_taken" in (tmp_path / "err.txt").read_text()
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(60) in (0, 143)
    finally:
        if serving is not None and serving.poll() is None:
            serving.kill()
            serving.wait(30)
