"""An analyst who has used much processor time of late goes behind those who have not (setpriority(2))."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from proxy.postgres.postgres_settings import LIMITS_FOR_ANALYSTS
from proxy.shadow.analyst_usage import SessionUsage

HALF_LIFE_SECONDS = 30.0
LAST = 19  # the least that there is: 1/22 of what a session has that begins, where both want it


class ProcessorShare:
    """
    Given    seconds of processor time that an analyst's sessions may use before they go last; what was used
             counts half after HALF_LIFE_SECONDS
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._used: dict[str, float] = {}
        self._at = time.monotonic()
        self._niceness: dict[int, int] = {}

    def share(self, sessions: Iterable[SessionUsage]) -> None:
        """To be called every second or so."""
        now = time.monotonic()
        decay = 0.5 ** ((now - self._at) / HALF_LIFE_SECONDS)
        self._at = now
        sessions = tuple(sessions)
        used = {name: seconds * decay for name, seconds in self._used.items() if seconds > 0.01}
        for session in sessions:
            used[session.analyst] = used.get(session.analyst, 0.0) + session.cpu_seconds
        self._used = used
        self._niceness = {s.process: self._niceness.get(s.process, 0) for s in sessions}
        for session in sessions:
            wanted = LAST if used[session.analyst] > self._seconds else LIMITS_FOR_ANALYSTS.nice
            if wanted != self._niceness[session.process] and _put(session.process, wanted):
                self._niceness[session.process] = wanted


def _put(process: int, niceness: int) -> bool:
    """Each backend is a group of its own where the system groups processes (sched(7), autogroup),
    which niceness says nothing about: the group has its own. False: to be tried again."""
    with suppress(OSError):  # gone, or forward again and not root
        os.setpriority(os.PRIO_PROCESS, process, niceness)
    group = Path(f"/proc/{process}/autogroup")
    try:
        group.write_text(str(niceness))
    except OSError as error:
        return error.errno != errno.EAGAIN  # ten in a second are taken, but root's
    return True
