"""What --state may name, and that nothing is made where it is wrong. Commands in processes of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.postgres.postgres_binaries import BinariesNotFound
from proxy.postgres.postgres_data import InitdbFailed, NoAccount
from proxy.postgres.postgres_error import EmbeddedPostgresError, InUse
from tests.cli.commands import Done, dpproxy
from tests.samples import SHOP_POLICY as _SHOP
from tests.servers_fixture import servers

_ANY = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
_SERVE = ("serve", "--policy", _SHOP, *_ANY)
_ADOPT = ("ledger", "adopt", "--new", "--policy", _SHOP)
_DPPROXY = "from proxy.cli.main import main; main()"


def _run(*arguments: str | Path) -> Done:
    return dpproxy(*arguments, environment={"SHOP_DSN": servers().source_dsns["shop"]})


def _refused(done: Done, told: str) -> None:
    assert done.code == 1
    assert told in done.err
    assert "Traceback" not in done.err


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "command",
    [
        _SERVE,
        ("demo", *_ANY),
        _ADOPT,
        ("ledger", "show"),
        ("ledger", "restore", "x"),
        ("user", "list"),
    ],
    ids=lambda command: " ".join(map(str, command[:2])),
)
def test_a_file_and_a_place_where_nothing_can_be(
    command: tuple[str | Path, ...], tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for state in (file, file / "below"):
        done = _run(*command, "--state", state)
        _refused(done, f"--state {state}: not a directory")
    _refused(_run(*command, "--state", "/proc/x"), "/proc/x")


def test_a_folder_of_somebody_else_and_one_inside_ours(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "ledger").mkdir()
    state = tmp_path / "state"
    assert _run(*_ADOPT, "--state", state).code == 0
    _refused(_run(*_ADOPT, "--state", checkout), "holds nothing of dpproxy")
    for command, name in ((_ADOPT, "ledger"), (("ledger", "show"), "more"), (("demo", *_ANY), "x")):
        _refused(_run(*command, "--state", state / name), f"inside the state folder {state}")
    assert sorted(p.name for p in checkout.iterdir()) == [".git", "ledger"]
    assert {p.name for p in state.iterdir()} == {"ledger"}


def test_a_refused_serve_makes_nothing_and_without_state_the_path_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    default = tmp_path / ".state" / "serve"
    _refused(_run(*_SERVE), f"there is no ledger in {default}: wrong --state?")
    _refused(_run("ledger", "show"), f"there is no ledger in {default}")
    _refused(_run(*_SERVE, "--state", "st2"), f"there is no ledger in {tmp_path / 'st2'}")
    assert list(tmp_path.iterdir()) == []
    assert _run(*_ADOPT).code == 0
    shown = _run("ledger", "show")
    assert str(default) in shown.out.splitlines()[0]
    assert str(default) in _run("user", "list").err
    assert ".state/serve" in _run("ledger", "show", "--help").out


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "command",
    [_ADOPT, _SERVE, ("ledger", "show")],
    ids=lambda command: " ".join(map(str, command[:2])),
)
def test_a_state_of_0_1_is_refused_with_what_brings_it_over(
    command: tuple[str | Path, ...], tmp_path: Path
) -> None:
    """Its shadow holds what was spent: a new ledger would forget it."""
    data = tmp_path / "shadow" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("15\n")
    _refused(
        _run(*command, "--state", tmp_path), "serve it once with the version of commit 3398627f"
    )
    assert not (tmp_path / "ledger").exists()


def test_a_password_without_a_terminal(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _DPPROXY, "user", "add", "ann", "--state", str(tmp_path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # which leaves the terminal behind
        env=dict(os.environ),
    )
    assert done.returncode == 1
    assert "--password-stdin" in done.stderr
    assert "Warning" not in done.stderr


def test_what_is_wrong_with_a_policy_is_reported_before_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = ("--listen", f"127.0.0.1:{taken.getsockname()[1]}", "--http", "127.0.0.1:0")
        _refused(_run("serve", "--policy", tmp_path / "none", *listen), "none: No such file")
        _refused(_run("serve", "--policy", _SHOP, *listen), "cannot listen on")
    out = ("--listen", "127.0.0.1:65536", "--http", "127.0.0.1:0")
    _refused(_run("serve", "--policy", _SHOP, *out), "a port is a number from 0 to 65535")


def test_no_postgresql_is_reported_in_a_line(tmp_path: Path) -> None:
    """Also what keeps initdb, the copy or the account from working: one family of errors, no traceback."""
    done = dpproxy(
        *("ledger", "adopt", "--policy", _SHOP, "--new"),
        *("--state", tmp_path / "state"),
        environment={"SHOP_DSN": servers().source_dsns["shop"], "DPPROXY_PG_BIN": str(tmp_path)},
    )
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("dpproxy: ") and "no program named postgres" in done.err
    assert "Traceback" not in done.err
    for error in (InitdbFailed, NoAccount, BinariesNotFound, InUse):
        assert issubclass(error, EmbeddedPostgresError)
