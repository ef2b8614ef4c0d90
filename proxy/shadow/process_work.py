"""What processes of a server did since the last look: processor time and writing, of /proc (proc(5))."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """cpu_seconds; written_bytes: handed to write(2), None where the system does not say."""

    cpu_seconds: float = 0.0
    written_bytes: int | None = None


class WorkReader:
    def __init__(self) -> None:
        self._before: dict[int, Work] = {}

    def since_last(self, processes: Iterable[int]) -> Mapping[int, Work]:
        """Of a process that is new, since its start."""
        now = {
            process: Work(cpu_seconds=_cpu(process), written_bytes=_written(process))
            for process in processes
        }
        before, self._before = self._before, now
        return {
            process: _between(before.get(process, Work()), work) for process, work in now.items()
        }


def _between(before: Work, now: Work) -> Work:
    written = now.written_bytes
    if written is not None:
        written = max(0, written - (before.written_bytes or 0))
    return Work(cpu_seconds=max(0.0, now.cpu_seconds - before.cpu_seconds), written_bytes=written)


def _cpu(process: int) -> float:
    """Fields 14 and 15; the second, a name in parentheses, can hold anything."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


def _written(process: int) -> int | None:
    try:
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("wchar:")).split()[1])
    except (
        OSError,
        StopIteration,
        ValueError,
    ):  # another system, gone, or a right that root lacks in a container
        return None
