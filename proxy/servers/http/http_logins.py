"""Who comes in over HTTP, by what, and to which databases."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from http import HTTPStatus
from typing import Protocol

from starlette.requests import Request

from proxy.base.errors import Fault
from proxy.drawing.statement_run import Payer
from proxy.engine.sessions import AnalystSession, AnalystSessions, WrongCredentials
from proxy.ledger.bearer_tokens import NewToken, TokenGrant, is_token
from proxy.servers.admission import Admission, no_access
from proxy.servers.client_address import network_of
from proxy.servers.http.guard import mark_refused, mark_under_way
from proxy.servers.http.http_problem import HttpProblem, not_let_in, unauthorized
from proxy.servers.http.request_reading import Presented, read_credentials
from proxy.servers.login_gate import LoginGate, log_login
from proxy.turns.fair_share import Busy
from proxy.turns.threads import Turn

# Who presents a bearer token: one that `dpproxy token` made, or one of the OpenID Connect provider.

_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """password None: the listener has let them in by itself. token: through which they come, if it is one of
    the ledger's. request: what they came with."""

    analyst: str
    password: str | None = None
    token: TokenGrant | None = None
    request: Request | None = None

    def __repr__(self) -> str:
        return f"Caller({self.analyst!r})"

    def payer(
        self, most_epsilon: Fraction | None = None, approved_epsilon: Fraction | None = None
    ) -> Payer:
        """Who is charged for a statement of theirs. most_epsilon, approved_epsilon: as of Payer."""
        return Payer(
            analyst=self.analyst,
            token=None if self.token is None else self.token.number,
            most_epsilon=most_epsilon,
            approved_epsilon=approved_epsilon,
        )

    @property
    def traceparent(self) -> str | None:
        """The span (W3C Trace Context) that their statements are part of. Of strangers none is taken up."""
        return None if self.request is None else self.request.headers.get("traceparent")


class LedgerTokens(Protocol):
    async def find(self, presented: str) -> TokenGrant | None:
        """Refuses  Fault"""
        ...

    async def create(
        self, turn: Turn, source: int, days: float, epsilon: Decimal, note: str
    ) -> NewToken:
        """Of the analyst's own making. Refuses  UserError, Fault"""
        ...


class ProviderTokens(Protocol):
    async def analyst_of(self, presented: str) -> str | None: ...


class Bearers:
    """
    Given    tokens, provider: either may be None, and lets nobody in then
    """

    def __init__(
        self,
        admission: Admission,
        tokens: LedgerTokens | None = None,
        provider: ProviderTokens | None = None,
    ) -> None:
        self._admission = admission
        self._tokens = tokens
        self._provider = provider
        self._secret = os.urandom(32)  # what tells two tokens apart is kept, not the tokens
        self._right: OrderedDict[bytes, None] = OrderedDict()

    def knows(self, presented: str) -> bool:
        """Whether it was right a while ago: who presents it is no stranger who guesses. It says no more."""
        return self._digest(presented) in self._right

    def label(self, presented: str) -> str:
        """Name a token without telling it."""
        return self._digest(presented).hex()

    async def caller(self, presented: str) -> Caller | None:
        """Asked anew each time. None: nobody that is let in. Refuses  Fault"""
        found = await self._caller(presented)
        digest = self._digest(presented)
        if found is None:
            self._right.pop(digest, None)
            return None
        self._right[digest] = None
        self._right.move_to_end(digest)
        if len(self._right) > _REMEMBERED:
            self._right.popitem(last=False)
        return found

    async def _caller(self, presented: str) -> Caller | None:
        if is_token(presented):
            token = None if self._tokens is None else await self._tokens.find(presented)
            return None if token is None else Caller(analyst=token.analyst, token=token)
        if self._provider is None:
            return None
        analyst = await self._provider.analyst_of(presented)
        if analyst is None or self._admission.number_of(analyst) is None:
            return None
        return Caller(analyst=analyst)

    async def new_token(
        self, turn: Turn, source: int, days: float, epsilon: Decimal, note: str
    ) -> NewToken:
        """Refuses  HttpProblem 404 where no token of the ledger lets in; UserError; Fault"""
        if self._tokens is None:
            raise HttpProblem(HTTPStatus.NOT_FOUND, "tokens let nobody in here")
        return await self._tokens.create(turn, source, days, epsilon, note)

    def _digest(self, presented: str) -> bytes:
        return hmac.new(self._secret, presented.encode(), hashlib.sha256).digest()


_LOGIN_SECONDS = 10.0
_LISTENER = "http"
_BEARER_NAME = "(bearer token)"  # for the gate, which counts by name, too
_LOGINS_EACH = 64  # requests with one token, or of one lane of the gate, that wait for their check
_LOGINS_EACH_NAME = 32  # of one name among those of a lane
_REQUESTS_EACH = 64  # requests of one analyst, those that wait for a place among them


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
        self.bearer_gate = LoginGate(gate.limits, outcomes=gate.outcomes)
        self._bearers = bearers
        self._admission = admission
        self._logging_in: Counter[str] = Counter()
        self._of_analysts: Counter[str] = Counter()
        self._under_way: dict[asyncio.Event, tuple[Caller, str]] = {}

    async def logged_in(self, request: Request) -> Caller:
        """Check the credentials. The body comes after, and then a place to run (`session`).

        Raises:
            WrongCredentials: Late, the later the more often.
            Busy: Too many of the address wait for the check.
        """
        given = read_credentials(request)
        address = network_of(None if request.client is None else request.client.host)
        if isinstance(given, Presented):
            return replace(await self._bearer(address, given.text, request), request=request)
        await self._password(address, given.user, given.password, request)
        return Caller(analyst=given.user, password=given.password, request=request)

    async def sign_in(self, request: Request, user: str, password: str) -> None:
        """Check a password that did not come in a header. As `logged_in`."""
        address = network_of(None if request.client is None else request.client.host)
        await self._password(address, user, password, request)

    @contextmanager
    def under_way(self, caller: Caller, database: str) -> Iterator[asyncio.Event]:
        """While a statement runs; the event is set when it is to be ended."""
        ended = asyncio.Event()
        self._under_way[ended] = caller, database
        try:
            yield ended
        finally:
            del self._under_way[ended]

    def end_all(self) -> None:
        """End the statements that run."""
        for ended in self._under_way:
            ended.set()

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
    def _one_of(self, lane: str, most: int = _LOGINS_EACH) -> Iterator[None]:
        """Of those of a lane, or with a token, that wait for their credentials to be checked. Refuses  Busy"""
        if self._logging_in[lane] >= most:
            raise Busy
        self._logging_in[lane] += 1
        try:
            yield
        finally:
            self._logging_in[lane] -= 1
            if not self._logging_in[lane]:
                del self._logging_in[lane]

    async def _password(self, address: str, user: str, password: str, request: Request) -> None:
        """A password that was right a moment ago does not wait behind others that are checked.

        The comparison takes a guess of the gate, as any check does: else it would be a way to guess quickly.
        """
        self._sessions.refuse_unless_ready()
        attempt = self._gate.enter_now(address, user, _LISTENER)
        try:
            if attempt is not None and self._sessions.knows(user, password):
                attempt.recognised()
                return
            lane = self._gate.lane(address, user)
            with self._one_of(f"name {address}\0{user}", _LOGINS_EACH_NAME), self._one_of(lane):
                attempt = attempt or await self._gate.enter(
                    address, user, _LOGIN_SECONDS, _LISTENER
                )
                await attempt.take_backend(_LOGIN_SECONDS)
                await self._sessions.log_in(user, password)
                attempt.succeeded()
        except WrongCredentials:
            assert attempt is not None
            mark_refused(request)
            await asyncio.sleep(attempt.failed())
            raise
        except Fault:
            if attempt is not None:
                attempt.abandoned()  # PostgreSQL has compared nothing
            raise
        finally:
            if attempt is not None:
                attempt.abandoned(was_compared=True)  # unless it has ended in another way

    async def _bearer(self, address: str, presented: str, request: Request) -> Caller:
        """Refuses  HttpProblem, late, as a wrong password; Busy; Fault"""
        bearers = self._bearers
        if bearers is None:
            raise unauthorized("this needs a user name and a password", "28000")
        is_known = bearers.knows(presented)
        # Checked before the gate: nobody guesses 256 random bits, however fast.
        with self._one_of(bearers.label(presented)):
            caller = await bearers.caller(presented)
        if caller is not None:
            if not is_known:
                log_login(address, caller.analyst, by=_BEARER_NAME)
                self._gate.outcomes[_LISTENER, "ok"] += 1
            return caller
        mark_refused(request)
        attempt = await self.bearer_gate.enter(address, _BEARER_NAME, _LOGIN_SECONDS, _LISTENER)
        await asyncio.sleep(attempt.failed())
        raise not_let_in()

    async def new_token(
        self,
        caller: Caller,
        turn: Turn,
        database: str,
        *,
        days: float,
        epsilon: Decimal,
        note: str,
    ) -> NewToken:
        """Make a token of the caller's for one database. Refuses  UserError, HttpProblem"""
        if self._bearers is None or self._admission is None:
            raise HttpProblem(HTTPStatus.NOT_FOUND, "tokens let nobody in here")
        source = self._admission.sources[database]
        return await self._bearers.new_token(turn, source, days, epsilon, note)

    def session(
        self, database: str, caller: Caller, settings: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[AnalystSession]:
        if database not in self._databases:
            return _Refusing(self.any_session(caller), no_database(database))
        if not self.may_query(caller, database):
            return _Refusing(self.any_session(caller), _no_access(caller, database))
        return self._open(database, caller, settings or {})

    def database_of(self, caller: Caller, database: str) -> str:
        """The database that a request is about: the only one of its caller's where it names none, or ""."""
        if database:
            return database
        found = [name for name in self._databases if self.may_query(caller, name)]
        return found[0] if len(found) == 1 else ""

    def any_session(self, caller: Caller) -> AbstractAsyncContextManager[AnalystSession]:
        """Any shadow can tell whether a password is right."""
        return self._open(self._databases[0], caller, {})

    @asynccontextmanager
    async def _open(
        self, database: str, caller: Caller, settings: Mapping[str, str]
    ) -> AsyncIterator[AnalystSession]:
        """A place of the caller's, and a session in it. Refuses  Busy, WrongCredentials, Fault"""
        with self._one_request(caller.analyst):
            async with self._sessions.place(caller.analyst):
                if caller.request is not None:
                    mark_under_way(caller.request)
                async with self._session(database, caller, settings) as session:
                    yield session

    @contextmanager
    def _one_request(self, analyst: str) -> Iterator[None]:
        """Refuses  Busy"""
        if self._of_analysts[analyst] >= _REQUESTS_EACH:
            raise Busy
        self._of_analysts[analyst] += 1
        try:
            yield
        finally:
            self._of_analysts[analyst] -= 1
            if not self._of_analysts[analyst]:
                del self._of_analysts[analyst]

    def _session(
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
        message = "no database is named"
        hint = f'Add ?database=NAME, or "database" to the body. {hint}'
    return HttpProblem(HTTPStatus.NOT_FOUND, message, hint=hint, sqlstate="3D000")


def _no_access(caller: Caller, database: str) -> HttpProblem:
    sqlstate, message, hint = no_access(database)
    if caller.token is not None and caller.token.source is not None:
        hint = "GET /v1/databases lists those that this token may query."
    return HttpProblem(HTTPStatus.FORBIDDEN, message, hint=hint, sqlstate=sqlstate)
