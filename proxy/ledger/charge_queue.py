"""The connections to the ledger, and the charges that wait for one: they are committed together.

The first goes at once. What comes while it is under way goes next, together, in the order in which it came.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from proxy.base.errors import Fault

# Connections to the ledger's server: a server that is away is reported soon, a slow one is waited for.
#
# A busy machine or disk makes the ledger slow. That is no reason to refuse a statement.

# For a connection of a slow server, for the charges before one's own, and for one statement of the server.
PATIENCE_SECONDS = 60.0

C = TypeVar("C", bound="psycopg.AsyncConnection[Any]")


class LedgerPool(AsyncConnectionPool[C]):
    """A pool whose clients wait longer while the server takes connections."""

    def __init__(
        self,
        dsn: str,
        connection_class: type[C],
        *,
        most: int,
        options: str,
        name: str,
        away_seconds: float,
        reconnect_seconds: float = 300.0,
        check: Callable[[C], Awaitable[None]] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            options: of the session, beside its statement_timeout.
            away_seconds: How long a client waits for a server that takes no connection.
            check: Refuses a new connection with psycopg.Error.
            settings: More arguments of `connect`.
        """
        self._check_new = check
        self._refused = 0
        self._failures_before = 0  # the newest connection was made
        super().__init__(
            dsn,
            connection_class=connection_class,
            min_size=1,
            max_size=most,
            open=False,
            timeout=away_seconds,
            reconnect_timeout=reconnect_seconds,
            kwargs={
                "autocommit": True,
                "options": f"-c statement_timeout={PATIENCE_SECONDS:.0f}s {options}",
                **(settings or {}),
            },
            configure=self._admit,
            name=name,
        )

    async def getconn(self, timeout: float | None = None) -> C:
        """Take a connection.

        Raises:
            PoolTimeout: The server takes no connection, or all are in use for longer than the patience.
            PoolClosed: The lease is lost.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return await super().getconn(timeout)
            except PoolTimeout:
                if self._is_away or time.monotonic() >= until:
                    raise

    @property
    def _failures(self) -> int:
        return self._refused + self.get_stats().get("connections_errors", 0)

    @property
    def _is_away(self) -> bool:
        """Whether the last attempt to connect has failed."""
        return self._failures > self._failures_before

    async def _admit(self, connection: C) -> None:
        try:
            if self._check_new is not None:
                await self._check_new(connection)
        except BaseException:
            self._refused += 1
            raise
        self._failures_before = self._failures


# A connection that is kept for as long as the process serves.

# A peer that has vanished is noticed; what the connection string says stands above these.
_NETWORK = {
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}


def connect_lasting(dsn: str) -> psycopg.Connection[Any]:
    """Open a connection in autocommit mode that notices a vanished server within half a minute."""
    given = conninfo_to_dict(dsn)
    network = {name: value for name, value in _NETWORK.items() if name not in given}
    return psycopg.connect(make_conninfo(dsn, **network), autocommit=True)


T = TypeVar("T")
R = TypeVar("R")

# Whoever waits is sent with the next transaction but for those before them, so many at a time.
MOST_TOGETHER = 32
_WAIT_SECONDS = PATIENCE_SECONDS  # for those before
# Classes of errors that are of one charge's values, or of a deadlock, and not of the server's state
# (PostgreSQL 17 documentation, appendix A).
_OF_VALUES = ("21", "22", "23", "40", "P0")
_LATEST = 100


@dataclass(slots=True, kw_only=True)
class ChargeTimes:
    """Of the transactions that charge: seconds of the latest, and how many there were of each size."""

    latest: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST))
    sizes: Counter[int] = field(default_factory=Counter)

    def of_size(self, least: int, most: int) -> int:
        """How many transactions charged from `least` to `most` statements."""
        return sum(number for size, number in self.sizes.items() if least <= size <= most)

    @property
    def median(self) -> float | None:
        """In seconds. None: nothing was charged yet."""
        return statistics.median(self.latest) if self.latest else None


@dataclass(slots=True, kw_only=True)
class _Waiter(Generic[T, R]):
    one: T
    result: asyncio.Future[R]
    patience: asyncio.TimerHandle


class ChargeQueue(Generic[T, R]):
    """
    Given    together: charges several in one transaction, and gives what became of each, in their order;
             times: where it is noted how long each took
    """

    def __init__(
        self,
        together: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        most: int = MOST_TOGETHER,
        times: ChargeTimes | None = None,
    ) -> None:
        self._charge_together = together
        self._times = times or ChargeTimes()
        self._most = most
        self._waiting: deque[_Waiter[T, R]] = deque()
        self._is_sending = False
        self._first: asyncio.Task[Any] | None = None  # of who is sent alone
        self._rest: asyncio.Task[None] | None = None  # sends those that wait
        self._is_closed = False

    async def charged(self, one: T) -> R:
        """
        Gives    what became of it, once it is committed with all that it was sent with
        Refuses  `Fault` of who has waited too long, and was not sent; what `together` raises: the charge may
                 then stand. That of who is cancelled may stand too: it is not taken out of the midst of others
        """
        if not self._is_sending:
            return await self._single(one)
        loop = asyncio.get_running_loop()
        result: asyncio.Future[R] = loop.create_future()
        patience = loop.call_later(_WAIT_SECONDS, _fail, result, Fault("the ledger is busy"))
        self._waiting.append(_Waiter(one=one, result=result, patience=patience))
        try:
            return await result
        finally:
            patience.cancel()

    async def close(self) -> None:
        """Who still waits is told so; what was sent may stand."""
        self._is_closed = True
        if self._first is not None:
            self._first.cancel()
        if self._rest is not None:
            self._rest.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._rest
        self._report_closed(())

    async def _together(self, these: Sequence[T]) -> Sequence[R]:
        began = time.monotonic()
        given = await self._charge_together(these)
        self._times.latest.append(time.monotonic() - began)
        self._times.sizes[len(these)] += 1
        return given

    async def _single(self, one: T) -> R:
        """Nobody is before it, and it is sent by who asks."""
        self._is_sending = True
        self._first = asyncio.current_task()
        try:
            (given,) = await self._together((one,))
            return given
        except asyncio.CancelledError:
            if self._is_closed:
                raise Fault("the ledger is closed") from None
            raise
        finally:
            self._first = None
            self._is_sending = bool(self._waiting)
            if self._is_sending:
                self._rest = asyncio.create_task(self._send())

    async def _send(self) -> None:
        these: list[_Waiter[T, R]] = []
        try:
            while these := self._next():
                await self._charge(these)
        finally:
            self._rest = None
            self._is_sending = False
            self._report_closed(these)

    def _report_closed(self, these: Sequence[_Waiter[T, R]]) -> None:
        """Those that were sent and did not come back, and those that wait."""
        for waiter in (*these, *self._waiting):
            _fail(waiter.result, Fault("the ledger is closed"))
        self._waiting.clear()

    def _next(self) -> list[_Waiter[T, R]]:
        """Whoever was cancelled before is not charged."""
        found: list[_Waiter[T, R]] = []
        while self._waiting and len(found) < self._most:
            waiter = self._waiting.popleft()
            if not waiter.result.done():
                waiter.patience.cancel()
                found.append(waiter)
        return found

    async def _charge(self, these: Sequence[_Waiter[T, R]]) -> None:
        error = await self._try(these)
        if error is not None and len(these) > 1 and _is_undone(error):
            error = await self._charge_singly(these)
        for waiter in these:
            if error is not None:
                _fail(waiter.result, error)

    async def _charge_singly(self, these: Sequence[_Waiter[T, R]]) -> Exception | None:
        """One of them cannot be charged, and the others can. Gives what ends this for those after it, too."""
        for waiter in these:
            error = None if waiter.result.done() else await self._try((waiter,))
            if error is None:
                continue
            if not _is_undone(error):
                return error
            _fail(waiter.result, error)
        return None

    async def _try(self, these: Sequence[_Waiter[T, R]]) -> Exception | None:
        """What went wrong with all of them."""
        try:
            given = await self._together([waiter.one for waiter in these])
            for waiter, result in zip(these, given, strict=True):
                if not waiter.result.done():
                    waiter.result.set_result(result)
        except Exception as error:
            return error
        return None


def _fail(result: asyncio.Future[R], error: Exception) -> None:
    """Each with an error of its own, as each is raised somewhere else."""
    if result.done():
        return
    own = error
    if isinstance(error, Fault):
        own = Fault(error.message, is_logged=error.is_logged)
        own.__cause__ = error.__cause__
    result.set_exception(own)


def _is_undone(error: Exception) -> bool:
    """Whether nothing stands for certain, and each may go by itself: the server itself says that the
    transaction has failed, of values or of a deadlock."""
    cause = error.__cause__
    return (
        isinstance(cause, psycopg.Error)
        and cause.diag.severity_nonlocalized == "ERROR"
        and (cause.sqlstate or "").startswith(_OF_VALUES)
    )
