"""Pages whose commands are run as they stand, one after the other, in a folder and a shell of their own.

```sh            is run, and has to end with 0; `export NAME="..."` stays
```sh serve      is started, and goes on
```diff          changes lines of a file that the page has made
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.servers_fixture import servers

_BLOCK = re.compile(r"^```(?P<kind>sh|diff|sh serve)\n(?P<text>.*?)^```$", re.M | re.S)
_PORTS = ("6432", "8432", "9464")


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def environment_of(folder: Path) -> Mapping[str, str]:
    """Of a shell whose psql finds the database server, with dpproxy as a command."""
    for program in ("psql", "curl"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}")
    reached = conninfo_to_dict(servers().protected.dsn())
    command = folder / "bin" / "dpproxy"
    command.parent.mkdir()
    program = "from proxy.cli.main import main; main()"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{program}" "$@"\n')
    command.chmod(0o700)
    return {
        **os.environ,
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PGHOST": str(reached["host"]),
        "PGPORT": str(reached["port"]),
        "PGUSER": str(reached["user"]),
        "PGPASSWORD": str(reached["password"]),
    }


@dataclass(slots=True)
class PageShell:
    """file: what ```diff changes; ports: by those of the page; answers: what commands printed, in order."""

    folder: Path
    environment: dict[str, str]
    file: str = ""
    ports: Mapping[str, int] = field(default_factory=lambda: {one: free_port() for one in _PORTS})
    answers: list[str] = field(default_factory=list)
    serving: subprocess.Popen[str] | None = None

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
        file = self.folder / self.file
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

    def start(self, text: str) -> None:
        out, err = self.folder / "out.txt", self.folder / "err.txt"
        with out.open("w") as printed, err.open("w") as logged:
            self.serving = subprocess.Popen(
                ["sh", "-c", f"exec {text}"],
                cwd=self.folder,
                env=self.environment,
                stdout=printed,
                stderr=logged,
                text=True,
            )
        deadline = time.monotonic() + 120
        while "HTTP:" not in out.read_text():
            assert self.serving.poll() is None, err.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.2)

    def follow(self, page: Path) -> None:
        text = page.read_text(encoding="utf-8")
        for written, taken in self.ports.items():
            text = text.replace(written, str(taken))
        for block in _BLOCK.finditer(text):
            match block["kind"]:
                case "diff":
                    self.edit(block["text"])
                case "sh serve":
                    self.start(block["text"])
                case _:
                    self.answers.append(self.run(block["text"]))

    def end(self) -> None:
        if self.serving is not None and self.serving.poll() is None:
            self.serving.kill()
            self.serving.wait(60)


@contextmanager
def page_shell(folder: Path, file: str = "") -> Iterator[PageShell]:
    shell = PageShell(folder, dict(environment_of(folder)), file)
    try:
        yield shell
    finally:
        shell.end()
