"""Sessions of analysts that were told to end, until they have ended. One that has not after seconds is stuck.

PostgreSQL's lexer and some of its loops hear no signal but SIGKILL until they are through, which can take
hours. To kill one process ends all sessions of the server, which starts itself again in less than a second.
So a stuck session is killed only where it harms others more than that.

Source  docs/adr/why-people.md (ADR 0093)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from time import monotonic

from proxy.postgres.analyst_limits import SESSIONS_PER_ANALYST

STUCK_SECONDS = 5.0
# So many use up the places of one analyst, and more than the listeners leave free of the server's.
MANY = SESSIONS_PER_ANALYST
# Between two kills for what analysts can bring about: it would be a way to end the sessions of all others.
PAUSE_SECONDS = 600.0
_TOLERANCE_SECONDS = 0.5  # between two clocks


class Harm(IntEnum):
    """What a session does as long as it does not end.

    OTHERS: it takes from others what the server has once. OPERATOR: it keeps from taking effect what the
    operator has decided, such as a policy or the removal of its analyst.
    """

    NONE = 0
    OTHERS = 1
    OPERATOR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckSession:
    """seconds: since it was told to end."""

    analyst: str
    process: int
    seconds: float


@dataclass(slots=True, kw_only=True)
class _Told:
    analyst: str
    at: float
    harm: Harm
    is_reported: bool = False


class EndingSessions:
    """Threads tell sessions to end, one looks at them.

    Args:
        clock: In seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._told: dict[int, _Told] = {}
        self._lock = threading.Lock()
        self._paused_until = float("-inf")
        self.stuck: tuple[StuckSession, ...] = ()  # as of the last look

    def tell(self, process: int, analyst: str, harm: Harm) -> bool:
        """Note that a session was told to end.

        Args:
            process: Of the session.
            analyst: Whose session it is.
            harm: What it does as long as it does not end. The worst that was told counts.

        Returns:
            Whether it was told for the first time.
        """
        with self._lock:
            told = self._told.get(process)
            if told is None:
                self._told[process] = _Told(analyst=analyst, at=self._clock(), harm=harm)
                return True
            told.harm = max(told.harm, harm)
            return False

    @property
    def processes(self) -> tuple[int, ...]:
        with self._lock:
            return tuple(self._told)

    def look(self, ages: Mapping[int, float]) -> None:
        """Find the stuck sessions among those that live.

        Args:
            ages: Seconds since the start of the process, of each of `processes` that lives.
        """
        with self._lock:
            now = self._clock()
            for process, told in tuple(self._told.items()):
                age = ages.get(process)
                # A process that is younger has the number of one that has ended.
                if age is None or age + _TOLERANCE_SECONDS < now - told.at:
                    del self._told[process]
            self.stuck = tuple(
                StuckSession(analyst=told.analyst, process=process, seconds=now - told.at)
                for process, told in self._told.items()
                if now - told.at >= STUCK_SECONDS
            )

    def unreported(self) -> tuple[StuckSession, ...]:
        """Return the stuck sessions that no earlier call has returned."""
        with self._lock:
            found = tuple(one for one in self.stuck if not self._told[one.process].is_reported)
            for one in found:
                self._told[one.process].is_reported = True
            return found

    def to_kill(self) -> StuckSession | None:
        """Return a stuck session that is to be killed now. All others end with it."""
        with self._lock:
            worst = max(self.stuck, key=lambda one: self._told[one.process].harm, default=None)
            if worst is None:
                return None
            harm = self._told[worst.process].harm
            if harm is Harm.OPERATOR:
                return worst
            is_harmful = harm is Harm.OTHERS or len(self.stuck) >= MANY
            now = self._clock()
            if not is_harmful or now < self._paused_until:
                return None
            self._paused_until = now + PAUSE_SECONDS
            return worst
