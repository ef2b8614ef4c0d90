"""Who may try a password now. One for both listeners: a stranger has no more tries with two of them.

An attempt holds two things. Its backend of the shadow, few in all, from before it is opened until the password
has been checked. Its lane, few per address, until the client has been answered: a wrong password is answered
late (login_delay.py), and the lane stays taken for that time even where the client leaves. So however many
connections an address opens, it has at most `each_address` guesses per delay.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from proxy.engine.fair_share import FairShare
from proxy.servers.login_delay import LONGEST_SECONDS, LoginDelay

_log = structlog.get_logger("dpproxy.login")

_LOGGED_CHARACTERS = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """abandoned_seconds: how long a lane stays taken by a client that opened a backend and left."""

    backends: int = 32
    each_address: int = 8
    each_known: int = 2
    abandoned_seconds: float = 0.25
    longest_delay_seconds: float = LONGEST_SECONDS


class LoginGate:
    def __init__(
        self, limits: GateLimits | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits = limits or GateLimits()
        self._delay = LoginDelay(clock, self.limits.longest_delay_seconds)
        self._backends = FairShare(self.limits.backends, self.limits.each_address)
        self._lanes = FairShare(sys.maxsize, self.limits.each_address)
        self._known_lanes = FairShare(sys.maxsize, self.limits.each_known)

    @property
    def backends(self) -> int:
        return self._backends.used

    async def enter(self, address: str, name: str, seconds: float | None = None) -> Attempt:
        """
        Waits for a turn: addresses in turn, names of one address in turn. A name that has logged in from this
        address before does not wait behind the address's other names.

        Refuses  Busy, after `seconds`
        """
        lanes, lane = self._lanes, address
        if self._delay.is_known(address, name):
            lanes, lane = self._known_lanes, f"{address}\0{name}"
        began = time.monotonic()
        await lanes.take(lane, seconds, name)
        try:
            left = None if seconds is None else max(0.0, began + seconds - time.monotonic())
            await self._backends.take(lane, left, name)
        except BaseException:
            lanes.give_back(lane)
            raise
        return Attempt(self, address, name, lanes, lane)

    def _is_awaited(self, lanes: FairShare, lane: str) -> bool:
        return lanes.is_awaited(lane) or self._backends.is_awaited(lane)


class Attempt:
    """Ends by one of `succeeded`, `failed`, `abandoned`; the first counts."""

    def __init__(
        self, gate: LoginGate, address: str, name: str, lanes: FairShare, lane: str
    ) -> None:
        self._gate = gate
        self._address = address
        self._name = name
        self._lanes = lanes
        self._lane = lane
        self._has_ended = False

    @property
    def is_awaited(self) -> bool:
        """Whether others wait for what it holds."""
        return not self._has_ended and self._gate._is_awaited(self._lanes, self._lane)

    def succeeded(self, analyst: str | None = None) -> None:
        """analyst: who it turned out to be, where the name says how they came."""
        if self._ends(0):
            self._gate._delay.succeeded(self._address, self._name)
            more = {} if analyst is None else {"by": self._name}
            name = printable(self._name if analyst is None else analyst)
            _log.info("login", address=self._address, analyst=name, **more)

    def failed(self) -> float:
        """Seconds for which the answer is to be kept back."""
        if self._has_ended:
            return 0.0
        delay = self._gate._delay.failed(self._address, self._name)
        self._ends(delay)
        _log.warning(
            "login_failed", address=self._address, name=printable(self._name), delay=round(delay, 1)
        )
        return delay

    def abandoned(self) -> None:
        """No password was checked: the client left, or the shadow said no for another reason."""
        self._ends(self._gate.limits.abandoned_seconds)

    def _ends(self, seconds: float) -> bool:
        if self._has_ended:
            return False
        self._has_ended = True
        self._gate._backends.give_back(self._lane)
        if seconds:
            loop = asyncio.get_running_loop()
            loop.call_later(seconds, self._lanes.give_back, self._lane)
        else:
            self._lanes.give_back(self._lane)
        return True


def printable(name: str) -> str:
    """A name from a stranger, fit for a line of a log: cut, and nothing in it can begin another line.

    >>> printable("eve\\n{forged}")
    'eve\\\\n{forged}'
    """
    return name[:_LOGGED_CHARACTERS].encode("unicode_escape").decode("ascii")
