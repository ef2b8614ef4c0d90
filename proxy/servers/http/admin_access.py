"""Who comes in at the administrators' listener, and what its operations work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal, Protocol, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security.http import HTTPBase

from proxy.engine.policy_report import PrivacyReport
from proxy.servers.client_address import network_of
from proxy.servers.http.admin_models import AuditRun, PolicyReport, SessionList
from proxy.servers.http.guard import mark_refused, mark_under_way
from proxy.servers.http.http_problem import HttpProblem, not_let_in
from proxy.servers.http.json_models import StatusReport
from proxy.servers.http.request_reading import Presented, read_credentials
from proxy.servers.login_gate import LoginGate, log_login
from proxy.servers.metrics import Exposition

T = TypeVar("T")
_LOGIN_SECONDS = 10.0
_GATE_NAME = "(administrator)"
_MOST_LOGGED = 1000
# It declares the way to log in. AdminDoor.let_in reads the header.
_SCHEME = HTTPBase(
    scheme="bearer",
    scheme_name="administrator",
    description="A secret of the file of credentials.",
    auto_error=False,
)
Reload = Callable[[], Awaitable[Mapping[str, Any]]]
StuckSessions = Callable[[], "Sequence[ListedStuckSession]"]
Status = Callable[[], Awaitable[StatusReport]]


class ListedSession(Protocol):
    """As proxy.servers.wire.shared_server_state has it."""

    @property
    def number(self) -> int: ...
    @property
    def analyst(self) -> str: ...
    @property
    def database(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def since(self) -> Any: ...


class ListedStuckSession(Protocol):
    """As proxy.shadow.ending_sessions has it."""

    @property
    def analyst(self) -> str: ...
    @property
    def process(self) -> int: ...
    @property
    def seconds(self) -> float: ...


class Administrators(Protocol):
    def name_of(self, presented: str) -> str | None:
        """Whose secret this is. None: nobody's."""
        ...

    def key_of(self, name: str) -> bytes | None:
        """What the console's sessions of this name are signed with. None: nobody has the name."""
        ...


class ReportedPolicies(Protocol):
    @property
    def names(self) -> Sequence[str]: ...
    async def open_findings(self, database: str) -> Mapping[str, int]:
        """How many of each severity are open about the policy in force, by its last verdict. Names of people
        are looked up now."""
        ...

    async def report(self, database: str, text: str | None = None) -> PolicyReport:
        """text: instead of what the file says."""
        ...

    async def privacy_report(self, database: str) -> PrivacyReport:
        """As `dpproxy policy report` makes it, of the policy in force and the ledger."""
        ...

    async def note_report(self, database: str, by: str) -> None:
        """Note in the ledger that the policy in force was reported."""
        ...


class Audits(Protocol):
    async def start(self, database: str, *, rows: int, distance: int) -> int:
        """Begin one and give its number. Refuses  AuditRuns"""
        ...

    async def audits(self) -> Sequence[AuditRun]: ...


class OpenSessions(Protocol):
    @property
    def sessions(self) -> Sequence[ListedSession]: ...
    def end_session(self, number: int) -> bool: ...


class SessionsElsewhere(Protocol):
    """Sessions of the other workers."""

    async def sessions(self) -> SessionList: ...
    async def end_session(self, number: int) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalystAddresses:
    """Of this process. wire: host and port of the PostgreSQL listener; http: of the console and /v1."""

    wire: str
    http: str


class AdminDoor:
    """State of the administrators' listener, and who comes in.

    Args:
        ledger_dsn: The ledger's connection string.
        credentials: Who may come in.
        open_sessions: The sessions of the PostgreSQL listener.
        gate: The login gate of this listener alone.
        reload: Reads the policies again, if this process can.
        stuck_sessions: Give the sessions of the shadow that do not end.
        metrics: Of this process. None: there are none.
        status: How this process is, if it can tell.
        elsewhere: The sessions of other workers.
        policies: What policies say and change, if this process watches their files.
        audits: Neighbour audits of these policies, if this process can run them.
        addresses: Where analysts come in, if this process tells it.
    """

    def __init__(
        self,
        ledger_dsn: str,
        credentials: Administrators,
        open_sessions: OpenSessions,
        gate: LoginGate,
        reload: Reload | None = None,
        stuck_sessions: StuckSessions = tuple,
        metrics: Exposition | None = None,
        status: Status | None = None,
        elsewhere: SessionsElsewhere | None = None,
        policies: ReportedPolicies | None = None,
        audits: Audits | None = None,
        addresses: AnalystAddresses | None = None,
    ) -> None:
        self.addresses = addresses
        self.policies, self.audits = policies, audits
        self.status = status
        self.elsewhere = elsewhere
        self.stuck_sessions = stuck_sessions
        self.open_sessions = open_sessions
        self.reload = reload
        self._ledger_dsn = ledger_dsn
        self.credentials = credentials
        self._gate = gate
        self._metrics = metrics
        self._logged: set[tuple[str, str]] = set()

    async def let_in(self, request: Request) -> Administrator:
        """Refuses  HttpProblem, late, as a wrong password; Busy"""
        try:
            given = read_credentials(request)
        except HttpProblem:
            given = None
        secret = given.text if isinstance(given, Presented) else None
        name = await self._recognised(request, secret)
        self._log_once(_address_of(request), name)
        mark_under_way(request)
        return self.administrator(request, name)

    async def signed_in(self, request: Request, secret: str) -> str:
        """Give the name of whoever signs in to the console. Each time is logged. Refuses  as `let_in`"""
        name = await self._recognised(request, secret)
        log_login(_address_of(request), name, by=_GATE_NAME)
        return name

    async def _recognised(self, request: Request, secret: str | None) -> str:
        """Give the name of whose secret it is, at once; any other is refused late.

        Raises:
            HttpProblem: 401, the later the more often.
            Busy: Too many of the address wait.
        """
        # Compared before the gate: a secret has 32 characters or more, so nobody guesses it, however fast.
        name = None if secret is None else self.credentials.name_of(secret)
        if name is None:
            mark_refused(request)
            attempt = await self._gate.enter(_address_of(request), _GATE_NAME, _LOGIN_SECONDS)
            await asyncio.sleep(attempt.failed())
            raise not_let_in()
        return name

    def _log_once(self, address: str, name: str) -> None:
        """A program presents its secret with every request: the log has it once from each address."""
        if (address, name) in self._logged:
            return
        if len(self._logged) >= _MOST_LOGGED:
            self._logged.clear()
        self._logged.add((address, name))
        log_login(address, name, by=_GATE_NAME)

    def administrator(
        self, request: Request, name: str, door: Literal["API", "console"] = "API"
    ) -> Administrator:
        """Of a name that was recognised."""
        by = f"admin {door}: {name} from {_address_of(request)}"
        return Administrator(ledger_dsn=self._ledger_dsn, by=by)


def _address_of(request: Request) -> str:
    return network_of(None if request.client is None else request.client.host)


@dataclass(frozen=True, slots=True, kw_only=True)
class Administrator:
    """Somebody who was let in. `by`: what the ledger's log calls them."""

    ledger_dsn: str = field(repr=False)
    by: str

    async def read(self, report: Callable[[str], T]) -> T:
        return await asyncio.to_thread(report, self.ledger_dsn)

    async def change(self, act: Callable[..., T], **given: Any) -> T:
        """Change the ledger, and note it there under their name."""
        return await asyncio.to_thread(partial(act, self.ledger_dsn, by=self.by, **given))


async def _routes(request: Request) -> AdminDoor:
    routes = request.app.state.routes
    assert isinstance(routes, AdminDoor)
    return routes


State = Annotated[AdminDoor, Depends(_routes)]


async def let_in(
    request: Request, routes: State, _scheme: Annotated[object, Security(_SCHEME)]
) -> Administrator:
    return await routes.let_in(request)


LetIn = Annotated[Administrator, Depends(let_in)]
