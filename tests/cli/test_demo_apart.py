"""The demo and a production never share a folder or a ledger, whichever came first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.cli.cli_error import CliError
from proxy.cli.proxy_servers import servers_being_prepared
from proxy.cli.state import claim_demo_folder
from proxy.ledger.demo_ledger import DemoLedger, claim_for_demo, is_of_demo
from proxy.ledger.ledger_home import given_ledger
from proxy.ledger.users import add_analyst
from tests.cli.commands import Done, dpproxy, serving
from tests.samples import SHOP_POLICY as _SHOP
from tests.servers_fixture import servers

_PASSWORD = "of production"


def _operator(*arguments: str | Path, typed: str = "") -> Done:
    return dpproxy(*arguments, typed=typed, environment={"SHOP_DSN": servers().source_dsns["shop"]})


def _files(folder: Path) -> set[Path]:
    return {file.relative_to(folder) for file in folder.iterdir()}


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state = tmp_path_factory.mktemp("production") / "state"
    own = ("--state", state)
    assert _operator("ledger", "adopt", "--new", "--policy", _SHOP, *own).code == 0
    added = _operator("user", "add", "analyst", "--password-stdin", *own, typed=_PASSWORD)
    assert (added.code, added.err) == (0, "")
    return state


@pytest.mark.long
@pytest.mark.every(2)
@pytest.mark.parametrize("check", [(), ("--check",)])
def test_the_demo_leaves_a_production_as_it_is(production: Path, check: tuple[str, ...]) -> None:
    """N5: it bound its data to the production's source, wrote its budgets, exchanged the password."""
    before = _operator("ledger", "show", "--state", production).out
    files = _files(production)
    free = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
    done = dpproxy("demo", "--state", production, *free, *check)
    assert done.code == 1
    assert "was not made by the demo" in done.err and "--state" in done.err
    assert _files(production) == files
    assert _operator("ledger", "show", "--state", production).out == before


@pytest.mark.long
def test_a_mark_in_a_productions_folder_does_not_give_its_ledger(
    production: Path, tmp_path: Path
) -> None:
    """A ledger that was moved into a demo's folder."""
    state = tmp_path / "state"
    claim_demo_folder(state)
    (production / "ledger").rename(state / "ledger")
    try:
        with (
            pytest.raises(CliError, match="not the demo's"),
            servers_being_prepared(state, None, for_demo=True) as prepared,
        ):
            prepared.launch()
            prepared.check_ledger()
    finally:
        (state / "ledger").rename(production / "ledger")
    assert "shop" in _operator("ledger", "show", "--state", production).out


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A demo that ran and ended."""
    folder = tmp_path_factory.mktemp("demo")
    free = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
    for _ in range(2):  # it knows its own folder again
        with serving(folder, ["demo", "--state", folder / "state", *free], "Ctrl-C") as running:
            assert running.stop(signal.SIGINT) == 0
    yield folder / "state"


@pytest.mark.long
@pytest.mark.parametrize("is_marked", [True, False])
def test_nothing_about_people_comes_into_a_demo(
    demo: Path, tmp_path: Path, is_marked: bool
) -> None:
    """By the folder's mark, and without it by the ledger's own."""
    mark = demo / "dpproxy-demo"
    if not is_marked:
        mark.rename(demo.parent / "put away")
    try:
        for command in (
            ("serve", "--policy", _SHOP, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"),
            ("ledger", "adopt", "--policy", _SHOP, "--new", "--name", "real"),
            ("ledger", "adopt", "--policy", _SHOP, "--as", "shop"),
            ("ledger", "restore", tmp_path / "any"),
        ):
            done = _operator(*command, "--state", demo)
            assert done.code == 1, command
            assert "is the demo's" in done.err, (command, done.err)
    finally:
        if not is_marked:
            (demo.parent / "put away").rename(mark)
    shared = ("--ledger", "host=127.0.0.1 port=1")
    done = _operator("ledger", "adopt", "--policy", _SHOP, "--new", "--state", demo, *shared)
    assert done.code == 1 and "is the demo's folder" in done.err


@pytest.mark.long
def test_users_of_a_demo_are_reported_to_be(demo: Path) -> None:
    own = ("--state", demo)
    added = _operator("user", "add", "carol", "--password-stdin", *own, typed="pass word")
    assert added.code == 0 and "is the demo's folder" in added.err
    removed = _operator("user", "remove", "carol", *own)
    assert removed.code == 0 and "is the demo's folder" in removed.err


@pytest.mark.long
def test_a_copy_of_a_demos_ledger_is_restored_nowhere(demo: Path, tmp_path: Path) -> None:
    copy, state = tmp_path / "copy", tmp_path / "state"
    assert _operator("ledger", "backup", copy, "--state", demo).code == 0
    done = _operator("ledger", "restore", copy, "--state", state)
    assert done.code == 1 and "of a demo's ledger" in done.err
    assert "shop" not in _operator("ledger", "show", "--state", state).out


def test_a_ledger_is_claimed_empty_and_for_good() -> None:
    shared = servers().ledger_dsn
    with psycopg.connect(shared, autocommit=True) as server:
        for name in ("demo_ledger", "other_ledger"):
            server.execute(f"CREATE DATABASE {name}".encode())
        try:
            own = given_ledger(make_conninfo(shared, dbname="demo_ledger"))
            claim_for_demo(own)
            add_analyst(own, "analyst", "printed")
            claim_for_demo(own)
            with psycopg.connect(own) as connection:
                assert is_of_demo(connection)
            other = given_ledger(make_conninfo(shared, dbname="other_ledger"))
            add_analyst(other, "analyst", _PASSWORD)
            with pytest.raises(DemoLedger, match="not the demo's"):
                claim_for_demo(other)
        finally:
            for name in ("demo_ledger", "other_ledger"):
                server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
