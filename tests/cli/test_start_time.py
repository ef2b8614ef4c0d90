"""What `serve` imports before it has something to wait for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from proxy.cli.main import COMMANDS, command_line

_HEAVY = ("proxy.planner.planning", "proxy.cli.listeners")


def _loaded(code: str) -> list[str]:
    """Of the heavy ones, and of the library of agents."""
    watched = (*_HEAVY, "mcp")
    shown = f"{code}; import sys; print(*(m for m in {watched} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.long
def test_what_is_heavy_is_not_imported_before_the_servers_start() -> None:
    reading = "proxy.cli.main, proxy.cli.loading, proxy.cli.listen_addresses"
    starting = "proxy.cli.serving_commands, proxy.cli.demo.demo_databases"
    assert _loaded(f"import {reading}, {starting}") == []
    loaded = _loaded("import proxy.cli.main, proxy.cli.listeners")
    assert loaded == [*_HEAVY], "the library of agents is imported for them alone"


@pytest.mark.long
def test_what_takes_long_is_under_way_at_once(tmp_path: Path) -> None:
    """Servers are being prepared while the policies are read, and imports go on while servers start."""
    code = f"""
import contextlib, pathlib, sys, threading
import proxy.cli.loading, proxy.cli.serving_commands as commands
from proxy.cli.proxy_servers import ServersBeingPrepared
@contextlib.contextmanager
def preparing(*_, **__):
    print("prepared")
    yield ServersBeingPrepared(launch=start, check_ledger=None)
def start():
    others = set(threading.enumerate()) - {{threading.main_thread()}}
    print(len(others))
    for other in others: other.join()
    print(*(m for m in {_HEAVY} if m in sys.modules))
    sys.exit()
proxy.cli.loading.load_policies = lambda *_, **__: print("policies") or []
commands.servers_being_prepared = preparing
commands.serve([], "127.0.0.1:0", "127.0.0.1:0", pathlib.Path({str(tmp_path)!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["prepared", "policies", "1", " ".join(_HEAVY)]


def test_help_imports_no_command() -> None:
    """Nor what they need: it prints within half a second (docs/reference/performance.md)."""
    code = "import sys; sys.argv = ['dpproxy', '--help']; from proxy.cli.main import main"
    code += "\ntry: main()\nexcept SystemExit: pass"
    shown = f"{code}\nprint(*(m for m in ('psycopg', 'structlog', 'yaml', 'starlette') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("word", COMMANDS)
def test_what_help_says_of_a_command_is_what_the_command_says(word: str) -> None:
    root: Any = typer.main.get_command(command_line())
    whole = root.commands[word]
    assert COMMANDS[word].about == " ".join(whole.help.split("\n\n")[0].split())
    assert hasattr(whole, "commands") == COMMANDS[word].is_group
