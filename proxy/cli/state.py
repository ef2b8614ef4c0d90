"""Where the embedded servers keep their files."""

from __future__ import annotations

import os
from pathlib import Path

from proxy.cli.cli_error import CliError

# Folders in a state directory. The shadow's is made anew at every start; the ledger's is what to back up.
LEDGER, SHADOW, PROTECTED = "ledger", "shadow", "protected"
SERVE_STATE = Path(".state") / "serve"


def demo_state() -> Path:
    """./.state/demo; in the home directory where nothing may be written here."""
    here = Path.cwd()
    if os.access(here, os.W_OK):
        return here / ".state" / "demo"
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "dpproxy" / "demo"


# Whose a state folder is: the demo takes none but its own, and nothing else serves from the demo's.

DEMO_MARK = "dpproxy-demo"
_TEXT = (
    "Made by `dpproxy demo`: invented data, a password that is printed. Not for anything else.\n"
)


def is_demo_folder(state: Path) -> bool:
    return (state / DEMO_MARK).exists()


def claim_demo_folder(state: Path) -> None:
    """
    Gives    the folder, made if it is not there, marked as the demo's before anything else is in it
    Refuses  Stopped where something is in it that the demo did not make
    """
    if is_demo_folder(state):
        return
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(state.iterdir()):
            raise CliError(
                f"{state} was not made by the demo, which would add its budgets, and an analyst whose password "
                f"it prints, to the ledger there: use another --state"
            )
        (state / DEMO_MARK).write_text(_TEXT, encoding="utf-8")
    except OSError as error:
        raise CliError(f"{state}: {error.strerror}") from None


def refuse_demo_folder(state: Path) -> None:
    """Refuses  Stopped where the folder is the demo's"""
    if is_demo_folder(state):
        raise CliError(
            f"{state} is the demo's folder, whose analyst's password is printed and whose budgets are the"
            " samples': give data about people another --state"
        )
