"""Where the embedded servers keep their files."""

from __future__ import annotations

import os
from pathlib import Path

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
