"""An analyst who has used much processor time of late goes behind those who have not (setpriority(2))."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress

from proxy.databases.analyst_usage import SessionUsage
from proxy.databases.postgres_settings import NICENESS

HALF_LIFE_SECONDS = 30.0
LAST = 19  # the least that there is: 1/22 of what a session with NICENESS gets, where both want it


class ProcessorShare:
    """
    Given    seconds of processor time that an analyst's sessions may use before they go last; what was used
             counts half after HALF_LIFE_SECONDS
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._used: dict[str, float] = {}
        self._at = time.monotonic()
        self._last: set[int] = set()

    def share(self, sessions: Iterable[SessionUsage]) -> None:
        """Only root may take a session forward again: else it stays last until it ends."""
        now = time.monotonic()
        kept = 0.5 ** ((now - self._at) / HALF_LIFE_SECONDS)
        self._at = now
        sessions = tuple(sessions)
        used = {name: seconds * kept for name, seconds in self._used.items() if seconds > 0.01}
        for session in sessions:
            used[session.analyst] = used.get(session.analyst, 0.0) + session.cpu_seconds
        self._used = used
        self._last &= {session.process for session in sessions}
        for session in sessions:
            goes_last = used[session.analyst] > self._seconds
            if goes_last != (session.process in self._last):
                with suppress(OSError):
                    niceness = LAST if goes_last else NICENESS
                    os.setpriority(os.PRIO_PROCESS, session.process, niceness)
                    (self._last.add if goes_last else self._last.discard)(session.process)
