"""Limit password checks. The PostgreSQL and HTTP listeners share one gate.

Each check takes two things:

- A guess of its lane. A right password gives it back at once. A wrong one keeps it for `guess_seconds`, even if
  the client leaves. So a lane checks at most `guesses` wrong passwords at once, and `guesses / guess_seconds`
  per second after that, whatever the number of connections.
- A backend of the shadow, until PostgreSQL has checked the password.

A lane is a name that has logged in from an address before, or all other names of that address. One of these
others takes a part of the lane's guesses, so that it keeps none of the others out. Clients that
wait for their answer do not use up a lane: a wrong password is answered late (login_gate.py), and 30 such
clients make fewer guesses than a lane gets back. So a right password is checked at once while others guess.

Several workers count together: each gate tells the others how a check ended (`share`), and they take it for one
of their own (`take`). Checks that run at this moment are counted where they run.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

import structlog

from proxy.turns.fair_share import Busy, FairShare

# How long the answer to a wrong password waits. Numbers only: who waits, waits elsewhere (login_gate.py).
#
# Failures of one address count together, whatever names it tries; those of a name count together, whatever
# address they come from. They delay failures only. A name that has logged in from an address before is known
# there: its failures are counted by themselves, so that a neighbour behind the address cannot slow it down.

LONGEST_SECONDS = 8.0
_FIRST_SECONDS = 0.2
_FORGOTTEN_EVERY_SECONDS = 30.0  # one failure
_MOST_FAILURES = 12.0
_ENTRIES = 10_000
_KNOWN_NAMES_PER_ADDRESS = 1_000  # a proxy or a NAT is the address of everybody behind it


class LoginDelay:
    """
    Given    clock: seconds that only grow
    Gives    `failed` tells the delay of this answer. Memory is bounded: the oldest entries are forgotten
    """

    def __init__(
        self, clock: Callable[[], float], longest_seconds: float = LONGEST_SECONDS
    ) -> None:
        self._longest_seconds = longest_seconds
        self._of_addresses = _Failures(clock)
        self._of_names = _Failures(clock)
        self._of_known = _Failures(clock)
        self._known: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()

    def is_known(self, address: str, name: str) -> bool:
        """Whether this name has logged in from this address."""
        return name in self._known.get(address, ())

    def failed(self, address: str, name: str, ago: float = 0.0) -> float:
        """ago: seconds since, where another process has seen it"""
        if self.is_known(address, name):
            failures = self._of_known.add((address, name), ago)
        else:
            failures = max(self._of_addresses.add(address, ago), self._of_names.add(name, ago))
        return float(min(self._longest_seconds, _FIRST_SECONDS * 2.0 ** (failures - 1)))

    def succeeded(self, address: str, name: str) -> None:
        self._of_known.forget((address, name))
        names = self._known.setdefault(address, OrderedDict())
        _remember(self._known, address, names, _ENTRIES)
        _remember(names, name, None, _KNOWN_NAMES_PER_ADDRESS)


class _Failures:
    """A number per key, which falls by one every half a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counted: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def add(self, key: object, ago: float = 0.0) -> float:
        now = self._clock() - ago
        number, since = self._counted.get(key, (0.0, now))
        now = max(now, since)
        number = max(0.0, number - (now - since) / _FORGOTTEN_EVERY_SECONDS)
        number = min(_MOST_FAILURES, number + 1)
        _remember(self._counted, key, (number, now), _ENTRIES)
        return number

    def forget(self, key: object) -> None:
        self._counted.pop(key, None)


def _remember(entries: OrderedDict, key: object, value: object, most: int) -> None:  # type: ignore[type-arg]
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > most:
        entries.popitem(last=False)


_log = structlog.get_logger("dpproxy.login")

_LOGGED_CHARACTERS = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """Limits of one gate.

    Args:
        backends: Backends of the shadow that check passwords, in all.
        each_address: Those of one lane.
        guesses: Wrong passwords of a lane that are checked without waiting; of one of its names four fifths.
        guess_seconds: How long a wrong password counts. A lane has `guesses / guess_seconds` per second: 4.
        abandoned_seconds: The same for a client that opened a backend and left.
        longest_delay_seconds: The latest answer to a wrong password.
    """

    backends: int = 32
    each_address: int = 8
    guesses: int = 300
    guess_seconds: float = 75.0
    abandoned_seconds: float = 0.25
    longest_delay_seconds: float = LONGEST_SECONDS


class CheckEnd(str, Enum):
    """How a check ended, as far as it changes others."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"  # after the password was compared


Share = Callable[[CheckEnd, str, str], None]  # by whom: address and name


class LoginGate:
    def __init__(
        self,
        limits: GateLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
        outcomes: Counter[tuple[str, str]] | None = None,
    ) -> None:
        """outcomes: where ended logins are counted, by listener and outcome: ok, wrong, busy, not_admitted."""
        self.outcomes: Counter[tuple[str, str]] = Counter() if outcomes is None else outcomes
        self.limits = limits or GateLimits()
        self.share: Share = lambda ended, address, name: None
        self._delay = LoginDelay(clock, self.limits.longest_delay_seconds)
        self._backends = FairShare(self.limits.backends, self.limits.each_address)
        self._guesses = FairShare(sys.maxsize, self.limits.guesses)
        self._of_names = FairShare(sys.maxsize, self.limits.guesses - self.limits.guesses // 5)

    @property
    def backends(self) -> int:
        return self._backends.used

    def enter_now(self, address: str, name: str, listener: str = "wire") -> Attempt | None:
        """Take a guess if the lane has one. Returns None if it has to be waited for."""
        lane = self.lane(address, name)
        line = _line(address, name, lane)
        if line is not None and not self._of_names.take_now(line):
            return None
        if self._guesses.take_now(lane):
            return Attempt(self, address, name, lane, listener)
        if line is not None:
            self._of_names.give_back(line)
        return None

    async def enter(
        self, address: str, name: str, seconds: float | None = None, listener: str = "wire"
    ) -> Attempt:
        """Wait for a guess of the lane. Names of one lane take turns.

        Raises:
            Busy: After `seconds`, or twice that.
        """
        lane = self.lane(address, name)
        line = _line(address, name, lane)
        with self._counting_busy(listener):
            if line is not None:
                await self._of_names.take(line, seconds)
            try:
                await self._guesses.take(lane, seconds, name)
            except BaseException:
                if line is not None:
                    self._of_names.give_back(line)
                raise
        return Attempt(self, address, name, lane, listener)

    @contextmanager
    def _counting_busy(self, listener: str) -> Iterator[None]:
        try:
            yield
        except Busy:
            self.outcomes[listener, "busy"] += 1
            raise

    def _give_back(self, lane: str, line: str | None) -> None:
        self._guesses.give_back(lane)
        if line is not None:
            self._of_names.give_back(line)

    def take(self, ended: CheckEnd, address: str, name: str, ago: float) -> None:
        """Count a check of another process as one of this gate.

        Args:
            ended: How.
            address: By whom, with the name.
            name: As given.
            ago: Seconds since.
        """
        if ended is CheckEnd.SUCCEEDED:
            self._delay.succeeded(address, name)
            return
        lane = self.lane(address, name)
        line = _line(address, name, lane)
        if ended is CheckEnd.FAILED:
            self._delay.failed(address, name, ago)
        left = self.limits.guess_seconds - ago
        if left > 0:
            self._guesses.hold(lane)
            if line is not None:
                self._of_names.hold(line)
            asyncio.get_running_loop().call_later(left, self._give_back, lane, line)

    def lane(self, address: str, name: str) -> str:
        """Whose guesses a name's are: its own where it has logged in from the address, else the address's."""
        return f"{address}\0{name}" if self._delay.is_known(address, name) else address


class Attempt:
    """One check. Ends by one of `succeeded`, `failed`, `abandoned`; the first counts."""

    def __init__(self, gate: LoginGate, address: str, name: str, lane: str, listener: str) -> None:
        self._listener = listener
        self._gate = gate
        self._address = address
        self._name = name
        self._lane = lane
        self._line = _line(address, name, lane)
        self._has_backend = False
        self._has_ended = False

    async def take_backend(self, seconds: float | None = None) -> None:
        """Wait for a backend of the shadow. Addresses take turns, and names of one lane.

        Raises:
            Busy: After `seconds`.
        """
        with self._gate._counting_busy(self._listener):
            await self._gate._backends.take(self._lane, seconds, self._name)
        self._has_backend = True

    @property
    def is_awaited(self) -> bool:
        """Whether others wait for what it holds."""
        gate = self._gate
        return not self._has_ended and (
            gate._guesses.is_awaited(self._lane)
            or gate._backends.is_awaited(self._lane)
            or (self._line is not None and gate._of_names.is_awaited(self._line))
        )

    def succeeded(self, analyst: str | None = None, outcome: str = "ok") -> None:
        """analyst: who it turned out to be, where the name says how they came; outcome: as it is counted."""
        if self._ends(0):
            self._gate.outcomes[self._listener, outcome] += 1
            self._gate._delay.succeeded(self._address, self._name)
            self._gate.share(CheckEnd.SUCCEEDED, self._address, self._name)
            more = {} if analyst is None else {"by": self._name}
            log_login(self._address, self._name if analyst is None else analyst, **more)

    def recognised(self) -> None:
        """End it for a client that has logged in a moment ago. Nothing is logged again."""
        self._ends(0)

    def failed(self) -> float:
        """Seconds for which the answer is to be kept back."""
        if self._has_ended:
            return 0.0
        delay = self._gate._delay.failed(self._address, self._name)
        self._gate.outcomes[self._listener, "wrong"] += 1
        self._ends(self._gate.limits.guess_seconds)
        self._gate.share(CheckEnd.FAILED, self._address, self._name)
        _log.warning(
            "login_failed", address=self._address, name=printable(self._name), delay=round(delay, 1)
        )
        return delay

    def abandoned(self, *, was_compared: bool = False) -> None:
        """End it without an answer. was_compared: whether the password was compared with one that is right."""
        limits = self._gate.limits
        seconds = limits.guess_seconds if was_compared else limits.abandoned_seconds
        if self._ends(seconds) and was_compared:
            self._gate.share(CheckEnd.ABANDONED, self._address, self._name)

    def _ends(self, seconds: float) -> bool:
        if self._has_ended:
            return False
        self._has_ended = True
        if self._has_backend:
            self._gate._backends.give_back(self._lane)
        if seconds:
            loop = asyncio.get_running_loop()
            loop.call_later(seconds, self._gate._give_back, self._lane, self._line)
        else:
            self._gate._give_back(self._lane, self._line)
        return True


def _line(address: str, name: str, lane: str) -> str | None:
    """A name among those of a lane; None where the lane is its own."""
    return f"{address}\0{name}" if lane == address else None


def log_login(address: str, analyst: str, **more: str) -> None:
    _log.info("login", address=address, analyst=printable(analyst), **more)


def printable(name: str) -> str:
    """A name from a stranger, fit for a line of a log: cut, and nothing in it can begin another line.

    >>> printable("eve\\n{forged}")
    'eve\\\\n{forged}'
    """
    return name[:_LOGGED_CHARACTERS].encode("unicode_escape").decode("ascii")
