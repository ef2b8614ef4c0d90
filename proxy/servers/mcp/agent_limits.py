"""What an agent may do by itself: so many calls a minute, and only what a person allows it to spend.

The agent's client asks its user, never the agent itself, and comes back with the same call and the answer. No
state is kept: the question's key names the statement and the price that it was about, and the charge is refused
where it costs more.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from mcp_types import (
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from proxy.base.shown_numbers import shown_number

_SINCE = "2026-07-28"  # protocol versions before need a stream to ask in, and there is none
CALLS_A_MINUTE = 60
_SECONDS = 60.0
_REMEMBERED = 4096  # tokens: the one that has not called for longest is forgotten first
_DIGITS = Context(prec=6, rounding=ROUND_UP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """What the client of a call can ask its user, and what the user has answered.

    Attributes:
        can_ask: Whether it shows a question to its user.
        answers: By the key of the question.
    """

    can_ask: bool = False
    answers: Mapping[str, Any] = field(default_factory=dict)

    def approved(self, database: str, sql: str) -> Fraction | None:
        """The price of this statement that was approved. None: none was."""
        prefix = _prefix(database, sql)
        for key, answer in self.answers.items():
            price = key.removeprefix(prefix)
            is_price = price != key and price.replace(".", "", 1).isdecimal() and price.isascii()
            if is_price and isinstance(answer, ElicitResult) and answer.action == "accept":
                return Fraction(price)
        return None

    @property
    def was_asked(self) -> bool:
        return bool(self.answers)


def asker_of(
    version: str | None, capabilities: ClientCapabilities | None, answers: Mapping[str, Any] | None
) -> Asker:
    """
    Args:
        version: Of the protocol, which both speak.
        capabilities: Of the client.
        answers: Those that came with the call.
    """
    asking = None if capabilities is None else capabilities.elicitation
    can_ask = (
        asking is not None
        and (asking.form is not None or asking.url is None)
        and version is not None
        and version >= _SINCE
    )
    return Asker(can_ask=can_ask, answers=answers or {})


def question(database: str, sql: str, epsilon: float, left: float | None) -> InputRequiredResult:
    """Ask whether a statement may be run at this price."""
    price = f"{_DIGITS.create_decimal(Decimal(repr(epsilon))).normalize():f}"
    of_left = "" if left is None else f" of {shown_number(left)} that is left"
    asked = ElicitRequestFormParams(
        message=f"This statement costs epsilon {price}{of_left} in {database}, or nothing if you were shown its"
        f" answer before. Run it?\n\n{sql}",
        requested_schema={"type": "object", "properties": {}},
    )
    key = f"{_prefix(database, sql)}{price}"
    return InputRequiredResult(input_requests={key: ElicitRequest(params=asked)})


def _prefix(database: str, sql: str) -> str:
    digest = hashlib.sha256(f"{database}\0{sql}".encode()).hexdigest()
    return f"approve {digest[:32]} epsilon "


class CallRate:
    """How often one token calls tools, so that a model in a loop keeps no others waiting. Of this process: with
    several workers a token has so many calls at each.

    >>> now = [0.0]
    >>> rate = CallRate(2, clock=lambda: now[0])
    >>> rate.wait("a"), rate.wait("a"), rate.wait("a"), rate.wait("b")
    (None, None, 60, None)
    >>> now[0] = 60.5
    >>> rate.wait("a")
    """

    def __init__(
        self, most: int = CALLS_A_MINUTE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._clock = clock
        self._calls: OrderedDict[object, deque[float]] = OrderedDict()

    def wait(self, who: object) -> int | None:
        """Count a call. Gives the seconds to wait where there were too many; those are not counted."""
        now = self._clock()
        calls = self._calls.setdefault(who, deque())
        self._calls.move_to_end(who)
        if len(self._calls) > _REMEMBERED:
            self._calls.popitem(last=False)
        while calls and calls[0] <= now - _SECONDS:
            calls.popleft()
        if len(calls) >= self._most:
            return math.ceil(calls[0] + _SECONDS - now)
        calls.append(now)
        return None
