"""As many open files as the limits on sockets can take: raised at the start, or said."""

from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.cli.open_files import needed_files

_DPPROXY = "from proxy.cli.main import main; main()"
_RAISE = """
import resource
from proxy.cli.open_files import raise_open_files
print(raise_open_files(1), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def _under(soft: int, hard: int, program: str, *arguments: str | Path) -> tuple[int, str, str]:
    """A process of its own with these limits, as a shell sets them."""
    limits = f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"'
    command = ["sh", "-c", limits, "sh", sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ)
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def _enough() -> None:
    if 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[1] < needed_files(2):
        pytest.skip("the hard limit of this machine is too low to lower it")


@pytest.mark.long
def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    hard = needed_files(1) + 7
    assert _under(256, hard, _RAISE) == (0, f"None {hard} {hard}\n", "")


def test_one_file_too_few_is_said() -> None:
    hard = needed_files(1) - 1
    code, out, _ = _under(256, hard, _RAISE)
    assert code == 0
    assert out.startswith(f"dpproxy can need {hard + 1} open files")
    assert out.endswith(f" {hard} {hard}\n")


@pytest.mark.long
def test_serve_refuses_before_it_starts_anything(tmp_path: Path) -> None:
    state = tmp_path / "state"
    arguments = ("serve", "--policy", tmp_path / "none.yaml", "--state", state)
    code, _, err = _under(256, 1024, _DPPROXY, *arguments)
    assert code != 0
    said = re.sub(r"\s+", " ", err)
    assert "the system allows it 1024" in said
    assert f"LimitNOFILE={needed_files(1)}" in said
    assert not state.exists()
    # With enough, the policy that is not there is what it stops at.
    code, _, err = _under(256, needed_files(1), _DPPROXY, *arguments)
    assert code != 0
    assert "open files" not in err
    assert "none.yaml" in re.sub(r"[\s│]+", "", err), err  # in a box, which may cut a word


@pytest.mark.long
def test_the_demo_says_it_and_goes_on(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        arguments = ("demo", "--state", tmp_path / "state", "--listen", where)
        code, _, err = _under(256, 1024, _DPPROXY, *arguments)
    assert code != 0
    said = re.sub(r"\s+", " ", err)
    assert "the system allows it 1024" in said
    assert "cannot listen on" in said


def test_every_limit_counts() -> None:
    """Of two sockets for each wire session, one is the shadow's."""
    assert needed_files(1) > 500 + 2 * 150 + 512 + 64 + 32
    assert needed_files(3) - needed_files(2) == needed_files(2) - needed_files(1) > 16
