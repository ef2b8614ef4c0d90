"""Signals to processes of a server. A process may be gone by then, and its number another's."""

from __future__ import annotations

import os
from pathlib import Path


def signal_session(process: int, server: int, number: int) -> bool:
    """Send a signal to a child of a server.

    Args:
        process: The child.
        server: The postmaster.
        number: Of the signal.

    Returns:
        Whether it was sent. It is not sent to a process that is no child of the server, as far as the system
        says whose child a process is.
    """
    parent = parent_of(process)
    if parent is not None and parent != server:
        return False
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True


def parent_of(process: int) -> int | None:
    """proc(5), stat; 0 where it is gone, None where the system does not say."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0 if Path("/proc/self/stat").exists() else None
    return int(text.rpartition(")")[2].split()[1])
