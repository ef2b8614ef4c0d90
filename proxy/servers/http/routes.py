"""What the HTTP listener serves. Every route under /v1 runs as the analyst who has logged in."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from proxy.base.errors import Fault, Refusal
from proxy.engine.charged_token import charging
from proxy.engine.engine_in_force import EngineInForce
from proxy.engine.fair_share import Busy
from proxy.engine.query_pipeline import Engine
from proxy.engine.sessions import (
    AnalystSession,
    AnalystSessions,
    PostgresError,
    WrongCredentials,
)
from proxy.ledger.presented_tokens import TokenGrant
from proxy.servers.admission import Admission
from proxy.servers.engine_adapter import EngineAdapter
from proxy.servers.http.bearers import Bearers, Caller
from proxy.servers.http.docs_page import docs_page
from proxy.servers.http.guard import response_of
from proxy.servers.http.http_logins import HttpLogins
from proxy.servers.http.http_problem import HttpProblem, not_let_in, problem_of
from proxy.servers.http.in_pieces import ResponseInPieces
from proxy.servers.http.libpq_driver import LibpqDriver
from proxy.servers.http.openapi import Operation, openapi_document
from proxy.servers.http.rendering import as_csv, as_json, privacy_headers
from proxy.servers.http.request_reading import (
    QueryRequest,
    read_query_request,
)
from proxy.servers.login_gate import LoginGate

T = TypeVar("T")
Readiness = Callable[[], Awaitable[Mapping[str, bool]]]
Health = Callable[
    [], Mapping[str, bool]
]  # whether each server that runs beside this process is alive

_READY_SECONDS = 1.0  # anybody may ask: the databases are not asked more often than this
_NOTHING: dict[str, object] = {
    "privacy": {"epsilon": 0, "delta": 0},
    "remaining": None,
    "blocks": [],
    "aggregates": [],
}


class Routes:
    def __init__(
        self,
        engines: Mapping[str, EngineInForce],
        sessions: AnalystSessions,
        readiness: Readiness,
        health: Health,
        gate: LoginGate,
        bearers: Bearers | None = None,
        admission: Admission | None = None,
    ) -> None:
        """bearers: None where a password alone lets in; admission: None where every analyst may query every
        database."""
        self.logins = HttpLogins(tuple(engines), sessions, gate, bearers, admission)
        self._engines = engines
        self._adapters = {name: EngineAdapter(engine) for name, engine in engines.items()}
        self._readiness = readiness
        self._health = health
        self._checks: Mapping[str, bool] = {}
        self._checked_at = float("-inf")
        self._checking = asyncio.Lock()
        self._openapi: dict[str, Any] = {}
        self._docs = ""

    def app(self) -> Starlette:
        has_query = partial(Operation, method="POST", has_query=True)
        described: dict[Operation, Callable[[Request], Awaitable[Response]]] = {
            has_query(
                path="/v1/query", summary="Run a statement and charge its cost", is_answered=True
            ): self.query,
            has_query(
                path="/v1/explain",
                summary="The cost and accuracy of a statement, without running it",
            ): self.explain,
        }
        for path, handler, summary, by_name in (
            ("/v1/databases", self.databases, "The databases", True),
            (
                "/v1/schema",
                self.schema,
                "Tables and columns of a database that can be queried",
                True,
            ),
            ("/v1/budget", self.budget, "The remaining privacy budget", True),
            ("/v1/history", self.history, "Your receipts, the latest first", True),
            ("/healthz", self.healthz, "Whether the process runs", False),
            ("/readyz", self.readyz, "Whether the databases answer", False),
        ):
            operation = Operation(method="GET", path=path, summary=summary, by_name=by_name)
            described[operation] = handler
        document = openapi_document(tuple(described))
        self._openapi, self._docs = document, docs_page(document)
        routes = [Route(one.path, to, methods=[one.method]) for one, to in described.items()]
        routes += [Route("/docs", self.docs), Route("/openapi.json", self.openapi)]
        detail = (HttpProblem, Refusal, Fault, PostgresError, WrongCredentials, Busy)
        return Starlette(
            routes=routes,
            exception_handlers={**dict.fromkeys(detail, _reported), HTTPException: _unknown_route},
        )

    async def query(self, request: Request) -> Response:
        async with self.logins.logged_in(request) as caller:
            query = await read_query_request(request)
            with self.logins.under_way(caller, query.database) as ended:
                work = self._answered(request, caller, query)
                return await _while_connected(request, ended, work)

    async def _answered(self, request: Request, caller: Caller, query: QueryRequest) -> Response:
        async with self.logins.session(query.database, caller, query.settings) as session:
            wants_csv = _wants_csv(request)
            driver = LibpqDriver(
                self._adapters[query.database], session, query, with_errors=not wants_csv
            )
            with charging(None if caller.token is None else caller.token.number):
                answered = await driver.run()
        if not wants_csv:
            return ResponseInPieces(await as_json(answered), media_type="application/json")
        headers = privacy_headers(answered.privacy)
        body = await as_csv(answered.rows)
        return ResponseInPieces(body, headers=headers, media_type="text/csv")

    async def explain(self, request: Request) -> Response:
        async with self.logins.logged_in(request) as caller:
            query = await read_query_request(request)
            with self.logins.under_way(caller, query.database) as ended:
                return await _while_connected(request, ended, self._explained(caller, query))

    async def _explained(self, caller: Caller, query: QueryRequest) -> Response:
        async with self.logins.session(query.database, caller, query.settings) as session:
            plan = await LibpqDriver(self._adapters[query.database], session, query).explain()
        return JSONResponse(_NOTHING if plan is None else plan)

    async def databases(self, request: Request) -> Response:
        async with (
            self.logins.logged_in(request) as caller,
            self.logins.any_session(caller),
        ):
            may = [name for name in sorted(self._engines) if self.logins.may_query(caller, name)]
            return JSONResponse({"databases": may})

    async def schema(self, request: Request) -> Response:
        return await self._document(request, "tables", lambda _, session: session.schema())

    async def budget(self, request: Request) -> Response:
        return await self._document(
            request, "budget", lambda engine, session: engine.budget(session.analyst)
        )

    async def history(self, request: Request) -> Response:
        return await self._document(
            request, "history", lambda engine, session: engine.history(session.analyst)
        )

    async def healthz(self, _: Request) -> Response:
        """Asks nobody who could keep it waiting."""
        down = sorted(name for name, is_alive in self._health().items() if not is_alive)
        if not down:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "not ok", "down": down}, HTTPStatus.SERVICE_UNAVAILABLE)

    async def readyz(self, _: Request) -> Response:
        async with self._checking:
            if time.monotonic() - self._checked_at > _READY_SECONDS:
                self._checks = await self._readiness()
                self._checked_at = time.monotonic()
        ready = all(self._checks.values())
        return JSONResponse(
            {"status": "ready" if ready else "not ready", "checks": dict(self._checks)},
            HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE,
        )

    async def docs(self, _: Request) -> Response:
        return HTMLResponse(self._docs)

    async def openapi(self, _: Request) -> Response:
        return JSONResponse(self._openapi)

    async def _document(
        self,
        request: Request,
        name: str,
        read: Callable[[Engine, AnalystSession], Coroutine[Any, Any, str]],
    ) -> Response:
        database = request.query_params.get("database", "")
        async with (
            self.logins.logged_in(request) as caller,
            self.logins.session(database, caller) as session,
        ):
            document = await read(self._engines[database].now, session)
        more = "" if caller.token is None else f',"token":{_token_json(caller.token)}'
        body = f'{{"database":{json.dumps(database)},"{name}":{document}{more}}}'
        return Response(body, media_type="application/json")


def _token_json(token: TokenGrant) -> str:
    return json.dumps(
        {"number": token.number, "epsilon_limit": token.epsilon, "epsilon_spent": token.spent}
    )


async def _while_connected(
    request: Request, ended: asyncio.Event, work: Coroutine[Any, Any, T]
) -> T:
    """Stops the work when the client goes away, or may not be here any more. What was charged stays charged."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    ending = asyncio.ensure_future(ended.wait())
    try:
        await asyncio.wait({working, leaving, ending}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if ending.done():
            raise not_let_in()
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the client went away")
    finally:
        for task in (leaving, ending, working):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _reported(_: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem is None:
        raise error
    return response_of(problem)


async def _unknown_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    hint = "GET /docs lists what there is."
    return response_of(
        HttpProblem(
            error.status_code,
            HTTPStatus(error.status_code).description or str(error.detail),
            hint=hint,
            headers=error.headers,
        )
    )


def _wants_csv(request: Request) -> bool:
    """The first of the two that Accept names; JSON where it names neither."""
    for entry in request.headers.get("accept", "").lower().split(","):
        kind = entry.partition(";")[0].strip()
        if kind in ("text/csv", "application/json"):
            return kind == "text/csv"
    return False
