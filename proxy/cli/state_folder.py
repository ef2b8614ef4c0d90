"""Which folder --state names: what is wrong with it is told before anything is made in it.

A mistyped folder would be a new ledger, in which nobody has spent anything. So `ledger adopt --new` makes
one, and `ledger restore`, and nothing else does.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from proxy.cli.cli_error import CliError
from proxy.cli.state import DEMO_MARK, LEDGER, PROTECTED, SERVE_STATE, SHADOW
from proxy.ledger.ledger_mark import MARK_FILE
from proxy.ledger.ledger_schema import OLDEST_COMMIT
from proxy.ledger.text_keys import KEY_FILE

_OF_A_VOLUME = {"lost+found"}  # what a file system of its own has from the start


def state_folder(state: Path | None) -> Path:
    """
    Given    what --state says; None: the default
    Gives    its absolute path: a state folder of ours, an empty folder, or none yet. Nothing is made
    Refuses  Stopped where it is a file, or of somebody else, or inside a state folder
    """
    home = (state or SERVE_STATE).absolute()
    try:
        _refuse_inside(home)
        if not _is_ours(home) and {entry.name for entry in home.iterdir()} - _OF_A_VOLUME:
            raise CliError(
                f"--state {home}: the folder is not empty, and holds nothing of dpproxy: wrong --state?"
            )
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _cannot(home, error) from None
    return home


def made_state_folder(home: Path) -> None:
    """Refuses  Stopped"""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(home, error) from None


def _refuse_inside(home: Path) -> None:
    """Refuses  Stopped where the folder is a part of a state folder"""
    for above in home.resolve().parents:
        if _is_ours(above):
            raise CliError(
                f"--state {home}: that is inside the state folder {above}: wrong --state?"
            )


def has_ledger(home: Path) -> bool:
    """Whether a ledger stands in a state folder.

    Raises:
        CliError: The shadow holds what was spent, as in version 0.1: a new ledger would forget it.
    """
    try:
        shadow = home / SHADOW
        # The shadow of later versions is copied from `pristine` at each start.
        if (shadow / "data" / "PG_VERSION").exists() and not (shadow / "pristine").exists():
            raise CliError(
                f"{home} is of dpproxy 0.1, whose budgets stand in its shadow: serve it once with the"
                f" version of commit {OLDEST_COMMIT}, which brings them into a ledger, then with this one"
            )
        return (home / LEDGER / "data" / "PG_VERSION").exists()
    except OSError as error:
        raise _cannot(home, error) from None


def no_ledger(home: Path, policies: Sequence[Path]) -> CliError:
    """Given  policies: that were to be served"""
    lines = [
        f"  dpproxy ledger adopt --policy {shlex.quote(str(file))} --state {shlex.quote(str(home))} --new"
        for file in policies
    ]
    return CliError(
        f"there is no ledger in {home}: wrong --state?\n"
        "To make a new one (no query has been run about these people before):\n" + "\n".join(lines)
    )


def _cannot(home: Path, error: OSError) -> CliError:
    reason = error.strerror or str(error)
    return CliError(f"--state {home}: {reason[:1].lower()}{reason[1:]}")


def _is_ours(folder: Path) -> bool:
    servers = (folder / name for name in (LEDGER, SHADOW, PROTECTED))
    return any(
        _there(home / "owner.lock") or _there(home / "data" / "PG_VERSION") for home in servers
    ) or any(_there(folder / name) for name in (MARK_FILE, KEY_FILE, DEMO_MARK))


def _there(path: Path) -> bool:
    """What may not be looked at is not ours."""
    try:
        return path.exists()
    except OSError:
        return False
