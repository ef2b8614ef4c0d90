"""What takes long is told on a terminal, and nowhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from proxy.policy_file.policy_yaml import read_policy
from tests.cli.commands import dpproxy
from tests.samples import SHOP_POLICY
from tests.servers_fixture import servers

pty = pytest.importorskip("pty")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
_COMMAND = "from proxy.cli.main import main; main()"


def _on_a_terminal(
    code: str, arguments: Sequence[str | Path] = (), term: str = "xterm"
) -> tuple[str, str]:
    """Standard output through a pipe, and what the terminal that is standard error has shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, **_sources(), "TERM": term},
    )
    os.close(theirs)
    displayed = b""
    while True:
        try:
            got = os.read(ours, 4096)
        except OSError:  # EIO: the other end is closed
            break
        if not got:
            break
        displayed += got
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, displayed
    return out.decode(), displayed.decode()


def _sources() -> dict[str, str]:
    return {"SHOP_DSN": servers().source_dsns["shop"]}


@pytest.mark.long
def test_a_policy_that_is_checked_says_how_far_it_is_on_a_terminal_alone() -> None:
    out, displayed = _on_a_terminal(_COMMAND, ["policy", "check", SHOP_POLICY])
    piped = dpproxy("policy", "check", SHOP_POLICY, environment=_sources())
    assert piped.code == 0
    assert piped.err == ""
    assert out == piped.out
    assert "looking at the database" in displayed
    text = Path(SHOP_POLICY).read_text(encoding="utf-8")
    of = len(read_policy(text, str(SHOP_POLICY), _sources()).protected())
    assert f"{of}/{of}" in _ESCAPES.sub("", displayed)


_WORKS = """
import sys, time
from proxy.cli.progress import counted, working
with working("copying rows", lambda: ": 12 MB"):
    time.sleep(0.8)
print([one * 2 for one in counted(iter([1, 2, 3]), "counting [red] things")])
"""


def test_what_goes_on_is_told_and_taken_away_again() -> None:
    out, displayed = _on_a_terminal(_WORKS)
    assert out == "[2, 4, 6]\n"
    plain = _ESCAPES.sub("", displayed)
    assert "copying rows: 12 MB" in plain
    assert "counting [red] things" in plain and "3/3" in plain
    assert displayed.rstrip().endswith("\x1b[2K")  # the line is erased


@pytest.mark.long
def test_a_terminal_that_cannot_is_told_nothing() -> None:
    out, displayed = _on_a_terminal(_WORKS, term="dumb")
    assert (out, displayed) == ("[2, 4, 6]\n", "")


def test_a_pipe_is_told_nothing_and_nothing_is_imported_for_it() -> None:
    code = f"{_WORKS}\nassert 'rich.progress' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[2, 4, 6]\n", "")
