"""Temporary folders of tests in memory, where the machine has enough of it.

Each start of an embedded ledger makes files durable (fsync), and hundreds of tests start one: on a disk
that is slow to confirm, all workers wait for it nearly all the time. Nothing that is tested needs the disk:
a process that is killed loses nothing that it wrote, and no test cuts the power. `TMPDIR=/folder make test`
takes that folder instead.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

_FOLDER = Path("/dev/shm")
_NEEDED = 4 * 1024**3  # a whole run keeps less than half of it at a time


def use() -> None:
    """For this process and all that it starts, unless TMPDIR names a folder."""
    if "TMPDIR" not in os.environ and _has_room():
        os.environ["TMPDIR"] = str(_FOLDER)
        tempfile.tempdir = None  # what was found before is looked for again


def _has_room() -> bool:
    try:
        places = os.statvfs(_FOLDER)
        told = re.search(r"^MemAvailable: *([0-9]+) kB$", Path("/proc/meminfo").read_text(), re.M)
    except OSError:
        return False
    available = int(told[1]) * 1024 if told else 0
    is_usable = os.access(_FOLDER, os.W_OK | os.X_OK) and not places.f_flag & os.ST_NOEXEC
    return is_usable and min(places.f_bavail * places.f_frsize, available) > _NEEDED
