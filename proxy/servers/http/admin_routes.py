"""What administrators do over HTTP, on a listener of its own: the commands' own functions, each in a thread.

Whoever comes in has a secret of the file of credentials, and nothing that an analyst has. What they do is noted
in the ledger under their name, in the transaction that does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from proxy.base.errors import Fault
from proxy.engine.fair_share import Busy
from proxy.ledger.admin_log import admin_events, append_event
from proxy.ledger.bearer_tokens import create_token, list_tokens, revoke_token
from proxy.ledger.data_access import allow, data_access, open_to_all, restrict, withdraw
from proxy.ledger.groups import add_to_group, groups, remove_from_group
from proxy.ledger.ledger_reports import spending
from proxy.ledger.users import (
    UserError,
    add_analyst,
    list_analysts,
    remove_analyst,
    set_password,
)
from proxy.servers.client_address import network_of
from proxy.servers.http.admin_credentials import AdminCredentials
from proxy.servers.http.admin_requests import (
    Administering,
    bad_request,
    number_of,
    password_of,
    printable_json,
    text_of,
)
from proxy.servers.http.guard import response_of
from proxy.servers.http.http_problem import HttpProblem, not_let_in, problem_of
from proxy.servers.http.request_reading import Presented, read_credentials
from proxy.servers.login_gate import LoginGate

_LOGIN_SECONDS = 10.0
_SESSION = ("number", "analyst", "database", "address", "since")
_GATE_NAME = "(administrator)"
_SPENDING = (
    *("source", "budget", "per", "epsilon", "epsilon_limit", "delta", "delta_limit"),
    *("rho", "rho_limit", "used", "receipts"),
)
Reload = Callable[[], Awaitable[Mapping[str, Any]]]
_Act = Callable[[Administering], Awaitable[Response]]


class ListedSession(Protocol):
    """As proxy.servers.wire.wire_sessions has it."""

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


class OpenSessions(Protocol):
    @property
    def sessions(self) -> Sequence[ListedSession]: ...
    def end_session(self, number: int) -> bool: ...


class AdminRoutes:
    """
    Given    the ledger's connection string; who may come in; gate: of this listener; open_sessions: of the
             wire; reload: what reads the policies again, if this process can
    """

    def __init__(
        self,
        ledger_dsn: str,
        credentials: AdminCredentials,
        open_sessions: OpenSessions,
        gate: LoginGate,
        reload: Reload | None = None,
    ) -> None:
        self._ledger_dsn = ledger_dsn
        self._credentials = credentials
        self._open_sessions = open_sessions
        self._gate = gate
        self._reload = reload

    def app(self) -> Starlette:
        acts: Sequence[tuple[str, str, _Act]] = (
            ("GET", "/users", self.users),
            ("POST", "/users", self.add_user),
            ("DELETE", "/users/{name}", self.remove_user),
            ("PUT", "/users/{name}/password", self.set_password),
            ("GET", "/groups", self.groups),
            ("PUT", "/groups/{group}/{name}", partial(self.change_group, add_to_group)),
            ("DELETE", "/groups/{group}/{name}", partial(self.change_group, remove_from_group)),
            ("GET", "/access", self.access),
            ("PUT", "/access/{database}", partial(self.change_whole, restrict)),
            ("DELETE", "/access/{database}", partial(self.change_whole, open_to_all)),
            ("PUT", "/access/{database}/users/{name}", partial(self.change_access, allow)),
            ("DELETE", "/access/{database}/users/{name}", partial(self.change_access, withdraw)),
            ("PUT", "/access/{database}/groups/{group}", partial(self.change_access, allow)),
            ("DELETE", "/access/{database}/groups/{group}", partial(self.change_access, withdraw)),
            ("GET", "/tokens", self.tokens),
            ("POST", "/tokens", self.create_token),
            ("DELETE", "/tokens/{number:int}", self.revoke_token),
            ("GET", "/budgets", self.budgets),
            ("GET", "/sessions", self.list_sessions),
            ("DELETE", "/sessions/{number:int}", self.end_session),
            ("GET", "/log", self.log),
            ("POST", "/policies/reload", self.reload_policies),
        )
        routes = [
            Route(f"/admin/v1{path}", partial(self._let_in, act), methods=[method])
            for method, path, act in acts
        ]
        routes.append(Route("/healthz", _healthz))
        handlers = dict.fromkeys((HttpProblem, Fault, Busy), _reported)
        return Starlette(
            routes=routes,
            exception_handlers={**handlers, UserError: _refused, HTTPException: _unknown_route},
        )

    async def users(self, _: Administering) -> Response:
        names = await self._ledger(list_analysts)
        grouped = await self._ledger(groups)
        found = [
            {"name": one, "groups": [group for group, held in grouped.items() if one in held]}
            for one in names
        ]
        return JSONResponse({"users": found})

    async def add_user(self, given: Administering) -> Response:
        fields = await given.fields("name", "password")
        password = None if fields.get("password") is None else password_of(fields)
        name = text_of(fields, "name")
        await self._ledger(partial(add_analyst, name=name, password=password, by=given.by))
        return _done(HTTPStatus.CREATED)

    async def remove_user(self, given: Administering) -> Response:
        await self._ledger(partial(remove_analyst, name=given.path("name"), by=given.by))
        return _done()

    async def set_password(self, given: Administering) -> Response:
        password = password_of(await given.fields("password"))
        name = given.path("name")
        await self._ledger(partial(set_password, name=name, password=password, by=given.by))
        return _done()

    async def groups(self, _: Administering) -> Response:
        return JSONResponse({"groups": await self._ledger(groups)})

    async def change_group(self, act: Callable[..., None], given: Administering) -> Response:
        group, name = given.path("group"), given.path("name")
        await self._ledger(partial(act, group=group, name=name, by=given.by))
        return _done()

    async def access(self, _: Administering) -> Response:
        return JSONResponse({"databases": [asdict(one) for one in await self._ledger(data_access)]})

    async def change_whole(self, act: Callable[..., None], given: Administering) -> Response:
        await self._ledger(partial(act, source=given.path("database"), by=given.by))
        return _done()

    async def change_access(self, act: Callable[..., None], given: Administering) -> Response:
        is_group = "group" in given.request.path_params
        whom = {"group": given.path("group")} if is_group else {"analyst": given.path("name")}
        await self._ledger(partial(act, source=given.path("database"), by=given.by, **whom))
        return _done()

    async def tokens(self, _: Administering) -> Response:
        found = await self._ledger(list_tokens)
        printed = [
            {name: printable_json(one) for name, one in asdict(token).items()} for token in found
        ]
        return JSONResponse({"tokens": printed})

    async def create_token(self, given: Administering) -> Response:
        fields = await given.fields("name", "days", "database", "epsilon", "note")
        days, epsilon = number_of(fields, "days"), number_of(fields, "epsilon")
        if days is None:
            raise bad_request("days must be a number: how long the token is valid")
        made = await self._ledger(
            partial(
                create_token,
                name=text_of(fields, "name"),
                days=float(days),
                source=None if fields.get("database") is None else text_of(fields, "database"),
                epsilon=epsilon,
                note="" if fields.get("note") is None else text_of(fields, "note"),
                by=given.by,
            )
        )
        created = {
            "number": made.number,
            "token": made.text,
            "expires_at": printable_json(made.expires_at),
        }
        return JSONResponse(created, HTTPStatus.CREATED)

    async def revoke_token(self, given: Administering) -> Response:
        number = given.request.path_params["number"]
        await self._ledger(partial(revoke_token, number=number, by=given.by))
        return _done()

    async def budgets(self, _: Administering) -> Response:
        lines = await self._ledger(lambda dsn: list(spending(dsn)))
        return JSONResponse(
            {"budgets": [dict(zip(_SPENDING, line, strict=True)) for line in lines]}
        )

    async def list_sessions(self, _: Administering) -> Response:
        found = [
            {name: printable_json(getattr(one, name)) for name in _SESSION}
            for one in self._open_sessions.sessions
        ]
        return JSONResponse({"sessions": found})

    async def end_session(self, given: Administering) -> Response:
        number = given.request.path_params["number"]
        found = [one for one in self._open_sessions.sessions if one.number == number]
        if not found:
            raise UserError(f"there is no session {number}")
        detail = {"session": number, "name": found[0].analyst, "database": found[0].database}
        await self._ledger(partial(append_event, by=given.by, what="session end", detail=detail))
        self._open_sessions.end_session(number)
        return _done()

    async def log(self, _: Administering) -> Response:
        events = await self._ledger(lambda dsn: list(admin_events(dsn)))
        printed = [
            {name: printable_json(one) for name, one in asdict(event).items()} for event in events
        ]
        return JSONResponse({"events": printed})

    async def reload_policies(self, given: Administering) -> Response:
        if self._reload is None:
            message = "this dpproxy reads its policies at the start only"
            raise HttpProblem(HTTPStatus.NOT_IMPLEMENTED, message, hint="Start it again.")
        await self._ledger(partial(append_event, by=given.by, what="policy reload", detail={}))
        return JSONResponse(dict(await self._reload()))

    async def _let_in(self, act: _Act, request: Request) -> Response:
        """Refuses  HttpProblem, late, as a wrong password; Busy"""
        address = network_of(None if request.client is None else request.client.host)
        attempt = await self._gate.enter(address, _GATE_NAME, _LOGIN_SECONDS)
        try:
            try:
                given = read_credentials(request)
            except HttpProblem:
                raise not_let_in() from None
            is_bearer = isinstance(given, Presented)
            name = self._credentials.name_of(given.text) if isinstance(given, Presented) else None
            if name is None or not is_bearer:
                await asyncio.sleep(attempt.failed())
                raise not_let_in()
            attempt.succeeded(name)
        finally:
            attempt.abandoned()
        return await act(Administering(request=request, by=f"admin API: {name} from {address}"))

    async def _ledger(self, act: Callable[[str], Any]) -> Any:
        return await asyncio.to_thread(act, self._ledger_dsn)


async def _healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _done(status: int = HTTPStatus.OK) -> Response:
    return JSONResponse({"done": True}, status)


async def _reported(_: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem is None:
        raise error
    return response_of(problem)


async def _refused(_: Request, error: Exception) -> Response:
    return response_of(HttpProblem(HTTPStatus.CONFLICT, str(error)))


async def _unknown_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = HTTPStatus(error.status_code).description or str(error.detail)
    hint = "The routes are those of the documentation, below /admin/v1."
    return response_of(HttpProblem(error.status_code, message, hint=hint, headers=error.headers))
