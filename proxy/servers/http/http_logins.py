"""Who comes in over HTTP, by what, and to which databases."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from http import HTTPStatus

from starlette.requests import Request

from proxy.engine.fair_share import Busy
from proxy.engine.sessions import AnalystSession, AnalystSessions, WrongCredentials
from proxy.servers.admission import Admission, no_access
from proxy.servers.client_address import network_of
from proxy.servers.http.bearers import Bearers, Caller
from proxy.servers.http.http_problem import HttpProblem, not_let_in, unauthorized
from proxy.servers.http.request_reading import Presented, read_credentials
from proxy.servers.login_gate import LoginGate

_LOGIN_SECONDS = 10.0
_BEARER_NAME = "(bearer token)"  # for the gate, which counts by name, too
_LOGINS_EACH = 16  # requests of one address that wait for their password to be checked


class HttpLogins:
    def __init__(
        self,
        databases: Sequence[str],
        sessions: AnalystSessions,
        gate: LoginGate,
        bearers: Bearers | None,
        admission: Admission | None,
    ) -> None:
        """bearers, admission: as of Routes."""
        self._databases = databases
        self._sessions = sessions
        self._gate = gate
        self._bearers = bearers
        self._admission = admission
        self._logging_in: Counter[str] = Counter()
        self._under_way: dict[asyncio.Event, tuple[Caller, str]] = {}

    @asynccontextmanager
    async def logged_in(self, request: Request) -> AsyncIterator[Caller]:
        """
        Whoever has the password, or a bearer token, in a place of theirs. The body comes after.

        Refuses  WrongCredentials, later the more often; Busy
        """
        given = read_credentials(request)
        address = network_of(None if request.client is None else request.client.host)
        if isinstance(given, Presented):
            caller = await self._bearer(address, given.text)
        else:
            caller = Caller(analyst=given.user, password=given.password)
            if not self._sessions.knows(given.user, given.password):
                with self._one_of(address):
                    await self._log_in(address, given.user, given.password)
        async with self._sessions.place(caller.analyst):
            yield caller

    @contextmanager
    def under_way(self, caller: Caller, database: str) -> Iterator[asyncio.Event]:
        """While a statement runs; the event is set when it is to be ended."""
        ended = asyncio.Event()
        self._under_way[ended] = caller, database
        try:
            yield ended
        finally:
            del self._under_way[ended]

    @property
    def tokens_under_way(self) -> frozenset[int]:
        """Numbers of the tokens through which statements run."""
        callers = (caller for caller, _ in self._under_way.values())
        return frozenset(one.token.number for one in callers if one.token is not None)

    def end_not_admitted(self, invalid: Collection[int]) -> int:
        """Statements through tokens that are not valid any more, and of who may not query their database."""
        found = 0
        for ended, (caller, database) in self._under_way.items():
            is_valid = caller.token is None or caller.token.number not in invalid
            if not (
                is_valid and (database not in self._databases or self.may_query(caller, database))
            ):
                ended.set()
                found += 1
        return found

    @contextmanager
    def _one_of(self, address: str) -> Iterator[None]:
        """Of those of an address that wait for their password to be checked. Refuses  Busy"""
        if self._logging_in[address] >= _LOGINS_EACH:
            raise Busy
        self._logging_in[address] += 1
        try:
            yield
        finally:
            self._logging_in[address] -= 1
            if not self._logging_in[address]:
                del self._logging_in[address]

    async def _log_in(self, address: str, user: str, password: str) -> None:
        attempt = await self._gate.enter(address, user, _LOGIN_SECONDS)
        try:
            await self._sessions.log_in(user, password)
            attempt.succeeded()
        except WrongCredentials:
            await asyncio.sleep(attempt.failed())
            raise
        finally:
            attempt.abandoned()  # unless it has ended in another way

    async def _bearer(self, address: str, presented: str) -> Caller:
        """Refuses  HttpProblem, late, as a wrong password; Busy; Fault"""
        bearers = self._bearers
        if bearers is None:
            raise unauthorized("this needs a user name and a password", "28000")
        if bearers.knows(presented) and (known := await bearers.caller(presented)) is not None:
            return known
        with self._one_of(address):
            attempt = await self._gate.enter(address, _BEARER_NAME, _LOGIN_SECONDS)
            try:
                caller = await bearers.caller(presented)
                if caller is None:
                    await asyncio.sleep(attempt.failed())
                    raise not_let_in()
                attempt.succeeded(caller.analyst)
                return caller
            finally:
                attempt.abandoned()  # unless it has ended in another way

    def session(
        self, database: str, caller: Caller, settings: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[AnalystSession]:
        if database not in self._databases:
            return _Refusing(self.any_session(caller), no_database(database))
        if not self.may_query(caller, database):
            return _Refusing(self.any_session(caller), _no_access(caller, database))
        return self._open(database, caller, settings or {})

    def any_session(self, caller: Caller) -> AbstractAsyncContextManager[AnalystSession]:
        """Any shadow can tell whether a password is right."""
        return self._open(self._databases[0], caller, {})

    def _open(
        self, database: str, caller: Caller, settings: Mapping[str, str]
    ) -> AbstractAsyncContextManager[AnalystSession]:
        if caller.password is None:
            return self._sessions.inner_session(database, caller.analyst, settings)
        return self._sessions.session(database, caller.analyst, caller.password, settings)

    def may_query(self, caller: Caller, database: str) -> bool:
        token, admission = caller.token, self._admission
        if admission is None:  # then there are no tokens, either
            return token is None
        is_for_it = token is None or token.source in (None, admission.sources.get(database))
        return is_for_it and admission.may_query(caller.analyst, database)


class _Refusing(AbstractAsyncContextManager[AnalystSession]):
    """Only who has logged in learns that a database is not there, or that they may not query it."""

    def __init__(
        self, session: AbstractAsyncContextManager[AnalystSession], problem: HttpProblem
    ) -> None:
        self._session = session
        self._problem = problem

    async def __aenter__(self) -> AnalystSession:
        async with self._session:
            raise self._problem

    async def __aexit__(self, *_: object) -> None:
        return None


def no_database(database: str) -> HttpProblem:
    message = f'database "{database}" does not exist'
    hint = "GET /v1/databases lists them."
    if not database:
        message, hint = "no database is named", f"Add ?database=NAME. {hint}"
    return HttpProblem(HTTPStatus.NOT_FOUND, message, hint=hint, sqlstate="3D000")


def _no_access(caller: Caller, database: str) -> HttpProblem:
    sqlstate, message, hint = no_access(database)
    if caller.token is not None and caller.token.source is not None:
        hint = "GET /v1/databases lists those that this token may query."
    return HttpProblem(HTTPStatus.FORBIDDEN, message, hint=hint, sqlstate=sqlstate)
