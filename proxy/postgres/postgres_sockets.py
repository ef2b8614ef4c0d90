"""The directory of a server's Unix socket, ours alone, and a free TCP port on loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import tempfile
from collections.abc import Collection
from pathlib import Path

LOOPBACK = "127.0.0.1"
_LONGEST_PATH = 100  # sun_path holds 108 bytes on Linux, 104 on macOS, with the closing NUL


def socket_directory(home: Path, last: Path | None, uids: Collection[int]) -> Path:
    """
    Given    the server's folder; the socket directory of its last start; who may own that
    Gives    an empty directory of mode 0700: in the folder, or where that makes too long a path for
             a socket, under /tmp
    """
    wanted = home / "socket"
    if not _fits(wanted):
        known = last is not None and _is_ours(last, uids)
        wanted = last if last and known else Path(tempfile.mkdtemp(prefix="dpproxy-", dir="/tmp"))
    wanted.mkdir(mode=0o700, exist_ok=True)
    wanted.chmod(0o700)
    for leftover in wanted.glob(".s.PGSQL.*"):  # whoever holds owner.lock knows: nobody serves here
        leftover.unlink()
    return wanted


def _fits(directory: Path) -> bool:
    return len(os.fsencode(directory / ".s.PGSQL.65535.lock")) <= _LONGEST_PATH


def _is_ours(directory: Path, uids: Collection[int]) -> bool:
    """Still what we made: others may write to /tmp."""
    with contextlib.suppress(OSError):
        now = directory.lstat()
        return (
            stat.S_ISDIR(now.st_mode)
            and now.st_uid in uids
            and stat.S_IMODE(now.st_mode) == 0o700
            and _fits(directory)
        )
    return False


def free_port() -> int:
    """Free at this moment: whoever uses it must be ready to try again."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
