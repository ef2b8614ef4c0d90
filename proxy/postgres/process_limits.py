"""What the launcher of a server limits its processes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Limits of a server and of each of its child processes; 0: none.

    memory: bytes of private writable memory (RLIMIT_DATA); nice: added to the niceness; oom_score: how early
    the kernel ends the process when memory runs out, up to 1000 (oom_score_adj, proc(5)).
    """

    memory: int = 0
    nice: int = 0
    oom_score: int = 0


UNLIMITED = ProcessLimits()
