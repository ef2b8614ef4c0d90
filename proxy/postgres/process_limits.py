"""What the launcher of a server limits its processes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """What a process reaches of the machine (process_walls.py, which makes them).

    version: of Landlock; readable, writable: folders and files; runnable: programs, and folders of the loader;
    listens: whether it may open ports; filters: whether seccomp refuses what Landlock does not see, too.
    """

    version: int
    readable: tuple[str, ...]
    runnable: tuple[str, ...]
    writable: tuple[str, ...]
    listens: bool
    filters: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Limits of a server and of each of its child processes; 0: none.

    memory: bytes of private writable memory (RLIMIT_DATA); nice: added to the niceness; oom_score: how early
    the kernel ends the process when memory runs out, up to 1000 (oom_score_adj, proc(5)); walls: None: the
    process reaches what its user reaches.
    """

    memory: int = 0
    nice: int = 0
    oom_score: int = 0
    walls: Walls | None = None


UNLIMITED = ProcessLimits()
