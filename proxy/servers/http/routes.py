"""What the HTTP listener serves. Every route under /v1 runs as the analyst who has logged in."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security.http import HTTPBase
from starlette.types import Receive, Scope, Send

from proxy.base.errors import Code, Refusal
from proxy.engine.ports import MOST_RECEIPTS
from proxy.engine.query_pipeline import EngineInForce
from proxy.engine.sessions import AnalystSession, AnalystSessions, PostgresError
from proxy.ledger.bearer_tokens import TokenGrant
from proxy.ledger.users import UserError
from proxy.servers.admission import Admission
from proxy.servers.engine_adapter import EngineAdapter
from proxy.servers.http.analyst_models import (
    BudgetResponse,
    CreatedToken,
    DatabaseList,
    ExplainResponse,
    HealthResponse,
    HistoryResponse,
    OwnTokenRequest,
    QueryRequest,
    QueryResponse,
    ReadinessResponse,
    SchemaResponse,
    TokenSpending,
)
from proxy.servers.http.documented_app import (
    DocumentedApp,
    Operation,
    problems,
)
from proxy.servers.http.guard import response_of
from proxy.servers.http.http_logins import Bearers, Caller, HttpLogins, no_database
from proxy.servers.http.http_problem import HttpProblem, not_let_in, problem_of, stopping
from proxy.servers.http.instead import Corrector
from proxy.servers.http.json_models import parameter_problem
from proxy.servers.http.libpq_driver import LibpqDriver
from proxy.servers.http.rendering import PRIVACY_HEADERS, privacy_headers, written
from proxy.servers.http.request_reading import Format, chosen_format
from proxy.servers.login_gate import LoginGate
from proxy.servers.metrics import CONTENT_TYPE, Exposition
from proxy.servers.statement_reports import Listener, StatementObserver, reporter_of
from proxy.turns.threads import Turn

# Tokens that analysts make for agents and conversations of theirs.

MOST_HOURS = 24


async def made_token(
    logins: HttpLogins,
    caller: Caller,
    turn: Turn,
    database: str,
    new: OwnTokenRequest,
    budget: str,
) -> CreatedToken:
    """Make a token of the caller's for one database.

    A token makes none: the new one would outlive it, and would not be charged to it.

    Args:
        logins: Where the token is presented later.
        caller: Who may query the database.
        turn: In which the ledger is asked.
        database: Which it is for.
        new: What was asked for.
        budget: The caller's, as /v1/budget tells it.

    Raises:
        HttpProblem: 400, 403 or 409.
    """
    if caller.token is not None:
        raise HttpProblem(
            HTTPStatus.FORBIDDEN,
            "a token makes no tokens",
            hint="Log in with your password, or with a token of the OpenID Connect provider.",
            sqlstate=Code.PROTECTED.sqlstate,
        )
    hours, epsilon = Decimal(new.hours or MOST_HOURS), Decimal(new.epsilon)
    if not 0 < hours <= MOST_HOURS:
        raise HttpProblem(
            HTTPStatus.BAD_REQUEST,
            f"a token that you make yourself is valid for {MOST_HOURS} hours at most",
            hint=OwnTokenRequest.hints["hours"],
            sqlstate=Code.SETTING.sqlstate,
        )
    left = _left(budget, caller.analyst)
    if left is not None and epsilon > left:
        raise HttpProblem(
            HTTPStatus.FORBIDDEN,
            f"your budget does not cover a token of epsilon {epsilon:f}: epsilon {left.normalize():f} is left",
            hint="Ask for a token with a smaller epsilon.",
            sqlstate=Code.OVER_BUDGET.sqlstate,
        )
    try:
        made = await logins.new_token(
            caller, turn, database, days=float(hours / 24), epsilon=epsilon, note=new.note or ""
        )
    except UserError as error:
        raise HttpProblem(HTTPStatus.CONFLICT, str(error)) from None
    return CreatedToken(number=made.number, token=made.text, expires_at=made.expires_at)


def _left(budget: str, analyst: str) -> Decimal | None:
    """Of the analyst's own line. None: it has no limit."""
    lines = json.loads(budget, parse_float=Decimal, parse_int=Decimal)
    left = next(one["epsilon_remaining"] for one in lines if one["analyst"] == analyst)
    return None if left is None else Decimal(left)


T = TypeVar("T")
# Of each database, whether each part of it answers.
Readiness = Callable[[], Awaitable[Mapping[str, Mapping[str, bool]]]]
Health = Callable[
    [], Mapping[str, bool]
]  # whether each server that runs beside this process is alive

_READY_SECONDS = 1.0  # anybody may ask: the databases are not asked more often than this
_NOTHING: dict[str, object] = {
    "privacy": {"epsilon": 0, "delta": 0},
    "charge": {"epsilon": 0, "delta": 0},
    "remaining": None,
    "odds": None,
    "blocks": [],
    "aggregates": [],
}
_DESCRIPTION = """\
Questions to protected PostgreSQL databases, answered with differential privacy.

Log in with the name and password of your PostgreSQL role, or with a bearer token. A request is one statement in
a transaction of its own; nothing outlives it. Errors are `application/problem+json` with the `sqlstate`,
`detail`, `hint` and `position` that a PostgreSQL client gets."""
_DATABASE = (403, 404)
_STATEMENT = (*_DATABASE, 409, 429)
_FORMATS = {
    "content": {
        Format.CSV.media_type: {"schema": {"type": "string"}},
        Format.LINES.media_type: {"schema": {"type": "string"}},
        Format.ARROW.media_type: {"schema": {"type": "string", "format": "binary"}},
    },
    "description": "The result. As CSV, JSON lines or an Arrow stream, which `Accept` chooses, its rows alone,"
    " the rest in headers.",
    "headers": {
        name: {"schema": {"type": "string"}, "description": text}
        for name, text in PRIVACY_HEADERS.items()
    },
}


class Routes:
    """State of the analysts' listener. Its operations are the functions of this module."""

    def __init__(
        self,
        engines: Mapping[str, EngineInForce],
        sessions: AnalystSessions,
        readiness: Readiness,
        health: Health,
        gate: LoginGate,
        bearers: Bearers | None = None,
        admission: Admission | None = None,
        policies_taken: Callable[[], bool] = lambda: True,
        stuck_sessions: Callable[[], int] = lambda: 0,
        is_draining: Callable[[], bool] = lambda: False,
        observers: Sequence[StatementObserver] = (),
    ) -> None:
        """bearers: None where a password alone lets in; admission: None where every analyst may query every
        database; policies_taken: whether each policy in force is the one in its file; stuck_sessions: how many
        of the shadow do not end; is_draining: whether this process is about to end; observers: take the reports
        of statements."""
        self.logins = HttpLogins(tuple(engines), sessions, gate, bearers, admission)
        self.engines = engines
        self.adapters = {
            name: EngineAdapter(engine, reporter_of(name, Listener.HTTP, observers))
            for name, engine in engines.items()
        }
        self.correctors = {
            name: Corrector(logins=self.logins, database=name, adapter=EngineAdapter(engine))
            for name, engine in engines.items()
        }
        self.health = health
        self._readiness = readiness
        self.policies_taken = policies_taken
        self.stuck_sessions = stuck_sessions
        self.is_draining = is_draining
        self._checks: Mapping[str, Mapping[str, bool]] = {}
        self._checked_at = float("-inf")
        self._checking = asyncio.Lock()

    def app(self, *more: APIRouter) -> FastAPI:
        """more: routes of others on this listener."""
        app = DocumentedApp(
            title="dpproxy",
            description=_DESCRIPTION,
            routers=[router, health_router, *more],
            hint="GET /docs lists what there is.",
            handlers={RequestValidationError: _wrong_parameter},
        )
        app.state.routes = self
        return app

    async def corrected(
        self, caller: Caller, database: str, query: QueryRequest, work: Coroutine[Any, Any, T]
    ) -> T:
        """Do the work of a statement. What refuses it says what to ask instead, if anything is known."""
        try:
            return await work
        except (HttpProblem, PostgresError, Refusal) as error:
            problem = problem_of(error)
            assert problem is not None
            corrector = self.correctors.get(database)
            if corrector is not None:
                await corrector.correct(caller, query, problem)
            raise problem from None

    async def checks(self) -> Mapping[str, Mapping[str, bool]]:
        """Of each database whether its parts answer, as of a second ago at most.

        At the end of the process as of the last time: a balancer learns of it at once, however slow they are.
        """
        if self.is_draining():
            return self._checks
        async with self._checking:
            if time.monotonic() - self._checked_at > _READY_SECONDS:
                self._checks = await self._readiness()
                self._checked_at = time.monotonic()
        return self._checks


# They declare the ways to log in. HttpLogins reads the header.
_BASIC = HTTPBase(
    scheme="basic",
    scheme_name="postgres",
    description="Name and password of your PostgreSQL role.",
    auto_error=False,
)
_BEARER = HTTPBase(
    scheme="bearer",
    scheme_name="token",
    description="A token of `dpproxy token create`, or of the OpenID Connect provider.",
    auto_error=False,
)


async def _routes(request: Request) -> Routes:
    routes = request.app.state.routes
    assert isinstance(routes, Routes)
    return routes


State = Annotated[Routes, Depends(_routes)]


async def _logged_in(
    request: Request,
    routes: State,
    _basic: Annotated[object, Security(_BASIC)],
    _bearer: Annotated[object, Security(_BEARER)],
) -> Caller:
    return await routes.logins.logged_in(request)


_LOGIN = Depends(_logged_in)
LoggedIn = Annotated[Caller, _LOGIN]
# Read after the login: no stranger's body is read.
QueryBody = Annotated[QueryRequest, Depends(QueryRequest.read)]
OwnTokenBody = Annotated[OwnTokenRequest, Depends(OwnTokenRequest.read)]
_NAME = "One of `GET /v1/databases`. It may be left out if there is only one."


async def _named_database(
    routes: State,
    caller: LoggedIn,
    database: Annotated[str, Query(description=_NAME, examples=["shop"])] = "",
) -> str:
    return routes.logins.database_of(caller, database)


DatabaseName = Annotated[str, Depends(_named_database)]


async def _open_session(
    routes: State, caller: LoggedIn, database: DatabaseName
) -> AsyncIterator[AnalystSession]:
    async with routes.logins.session(database, caller) as session:
        yield session


# The caller's place is free again before the response is sent.
OpenSession = Annotated[AnalystSession, Depends(_open_session, scope="function")]

_BEFORE = "The number of a receipt: those before it. The last of a page gives the next page."
Before = Annotated[int | None, Query(description=_BEFORE, ge=1, le=2**63 - 1)]
Limit = Annotated[int, Query(description="At most so many.", ge=1, le=MOST_RECEIPTS)]

# Each operation below /v1 needs the login, before anything else of its request is read.
router = APIRouter(prefix="/v1", route_class=Operation, dependencies=[_LOGIN])
health_router = APIRouter(route_class=Operation)


@router.post(
    "/query",
    summary="Run a statement and charge its cost",
    tags=["queries"],
    response_model=QueryResponse,
    responses={200: _FORMATS, **problems(*_STATEMENT, 406)},
)
async def run_query(
    request: Request, routes: State, caller: LoggedIn, query: QueryBody
) -> Response:
    database = routes.logins.database_of(caller, query.database)
    with routes.logins.under_way(caller, database) as ended:
        wanted = chosen_format(request.headers.get("accept"))
        work = _answered(routes, caller, database, query, wanted)
        work = routes.corrected(caller, database, query, work)
        return await while_connected(request, ended, work, routes.is_draining)


async def _answered(
    routes: Routes, caller: Caller, database: str, query: QueryRequest, wanted: Format
) -> Response:
    async with routes.logins.session(database, caller, query.settings) as session:
        adapter = routes.adapters[database]
        with_errors = wanted is Format.JSON or bool(query.error_columns)
        driver = LibpqDriver(
            adapter,
            session,
            query,
            caller.payer(query.most_epsilon),
            parent=caller.traceparent,
            with_errors=with_errors,
        )
        answered = await driver.run()
    turn, large_as_text = adapter.turn_of(caller.analyst), bool(query.large_as_text)
    body = await written(answered, wanted, turn, large_as_text=large_as_text)
    # Of JSON the body has it all.
    headers = {} if wanted is Format.JSON else privacy_headers(answered.privacy)
    return ResponseInPieces(
        body, headers={**headers, "Vary": "Accept"}, media_type=wanted.media_type
    )


@router.post(
    "/explain",
    summary="The cost and accuracy of a statement, without running it",
    tags=["queries"],
    response_model=ExplainResponse,
    responses=problems(*_STATEMENT),
)
async def explain_query(
    request: Request, routes: State, caller: LoggedIn, query: QueryBody
) -> Response:
    database = routes.logins.database_of(caller, query.database)
    with routes.logins.under_way(caller, database) as ended:
        work = routes.corrected(
            caller, database, query, _explained(routes, caller, database, query)
        )
        return await while_connected(request, ended, work, routes.is_draining)


async def _explained(
    routes: Routes, caller: Caller, database: str, query: QueryRequest
) -> Response:
    async with routes.logins.session(database, caller, query.settings) as session:
        adapter, parent = routes.adapters[database], caller.traceparent
        driver = LibpqDriver(adapter, session, query, caller.payer(), parent=parent)
        plan = await driver.explain()
    return JSONResponse(_NOTHING if plan is None else plan)


@router.get(
    "/databases",
    summary="The databases that you can query",
    tags=["databases"],
)
async def list_databases(routes: State, caller: LoggedIn) -> DatabaseList:
    async with routes.logins.any_session(caller):
        names = sorted(routes.engines)
    return DatabaseList(databases=[name for name in names if routes.logins.may_query(caller, name)])


@router.get(
    "/schema",
    summary="Tables and columns of a database that can be queried",
    tags=["databases"],
    response_model=SchemaResponse,
    responses=problems(*_DATABASE),
)
async def show_schema(caller: LoggedIn, database: DatabaseName, session: OpenSession) -> Response:
    return _document(database, caller, "tables", await session.schema())


@router.get(
    "/budget",
    summary="The remaining privacy budget",
    tags=["databases"],
    response_model=BudgetResponse,
    responses=problems(*_DATABASE),
)
async def show_budget(
    routes: State, caller: LoggedIn, database: DatabaseName, session: OpenSession
) -> Response:
    budget = await routes.engines[database].now.budget(session.analyst)
    return _document(database, caller, "budget", budget)


@router.get(
    "/history",
    summary="Your receipts, the latest first",
    tags=["databases"],
    response_model=HistoryResponse,
    responses=problems(*_DATABASE),
)
async def show_history(
    routes: State,
    caller: LoggedIn,
    database: DatabaseName,
    session: OpenSession,
    before: Before = None,
    limit: Limit = MOST_RECEIPTS,
) -> Response:
    turn = routes.adapters[database].turn_of(session.analyst)
    history = await routes.engines[database].now.history(turn, before, limit)
    return _document(database, caller, "history", history)


@router.post(
    "/tokens",
    summary="Create a token of yours with a smaller budget",
    tags=["tokens"],
    status_code=HTTPStatus.CREATED,
    responses=problems(*_DATABASE, 409),
)
async def create_own_token(routes: State, caller: LoggedIn, new: OwnTokenBody) -> CreatedToken:
    """For one agent or conversation. What is spent through it is charged to your budget and to the token's."""
    database = routes.logins.database_of(caller, new.database)
    async with routes.logins.session(database, caller):
        budget = await routes.engines[database].now.budget(caller.analyst)
    turn = routes.adapters[database].turn_of(caller.analyst)
    return await made_token(routes.logins, caller, turn, database, new, budget)


@health_router.get(
    "/healthz",
    summary="Whether the process runs",
    tags=["health"],
    response_model=HealthResponse,
    responses={503: {"model": HealthResponse}},
)
async def check_health(routes: State) -> Response:
    """Asks nobody who could keep it waiting."""
    down = sorted(name for name, is_alive in routes.health().items() if not is_alive)
    if not down:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "not ok", "down": down}, HTTPStatus.SERVICE_UNAVAILABLE)


@health_router.get(
    "/readyz",
    summary="Whether the databases answer",
    tags=["health"],
    response_model=ReadinessResponse,
    responses={503: {"model": ReadinessResponse}},
)
async def check_readiness(routes: State) -> Response:
    databases = await routes.checks()
    checks: dict[str, bool] = {}
    away: dict[str, list[str]] = {}
    for name, parts in sorted(databases.items()):
        for part, answers in parts.items():
            checks[part] = checks.get(part, True) and answers
            if not answers:
                away.setdefault(name, []).append(part)
    ready = not away and not routes.is_draining()
    status = "draining" if routes.is_draining() else "ready" if ready else "not ready"
    return JSONResponse(
        {
            "status": status,
            "checks": checks,
            "away": away,
            "stuck_sessions": routes.stuck_sessions(),
            "policies": "in force" if routes.policies_taken() else "not taken",
        },
        HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE,
    )


def _document(database: str, caller: Caller, name: str, document: str) -> Response:
    """document: JSON of a database, whose numbers keep their digits."""
    more = "" if caller.token is None else f',"token":{_token_json(caller.token)}'
    body = f'{{"database":{json.dumps(database)},"{name}":{document}{more}}}'
    return Response(body, media_type="application/json")


async def _wrong_parameter(_: Request, error: Exception) -> Response:
    """Any text of a database can be read."""
    assert isinstance(error, RequestValidationError)
    details = list(error.errors())
    is_of_page = details[0]["loc"][-1] in ("before", "limit")
    return response_of(parameter_problem(details) if is_of_page else no_database(""))


def _token_json(token: TokenGrant) -> str:
    spending = TokenSpending(
        number=token.number,
        epsilon_limit=token.epsilon,
        epsilon_spent=token.spent,
        per=token.per,
        renews_at=token.renews_at,
        expires_at=token.expires_at,
    )
    return spending.model_dump_json()


async def while_connected(
    request: Request | None,
    ended: asyncio.Event,
    work: Coroutine[Any, Any, T],
    stops: Callable[[], bool],
) -> T:
    """Stops the work when the client goes away, or may not be here any more. What was charged stays charged.

    Given    request: None where somebody else watches the client
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(asyncio.Event().wait() if request is None else _gone(request))
    ending = asyncio.ensure_future(ended.wait())
    try:
        await asyncio.wait({working, leaving, ending}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if ending.done():
            raise stopping() if stops() else not_let_in()
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the client went away")
    finally:
        for task in (leaving, ending, working):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _gone(request: Request) -> bool:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return True


_PIECE_BYTES = 128 * 1024


class ResponseInPieces(Response):
    """Given    a body, whose length is told beforehand as with any Response"""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        body = memoryview(self.body)
        for at in range(0, max(1, len(body)), _PIECE_BYTES):
            piece = bytes(body[at : at + _PIECE_BYTES])
            more = at + _PIECE_BYTES < len(body)
            await send({"type": "http.response.body", "body": piece, "more_body": more})


# `GET /metrics`: on a listener of its own with the routes of health, and behind the administrators' login.

# No operation of an API: what it gives is described by Prometheus ("Exposition formats").
metrics_router = APIRouter(include_in_schema=False)


@metrics_router.get("/metrics")
async def show_metrics(request: Request) -> Response:
    metrics = request.app.state.metrics
    assert metrics is not None
    return Response(await metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})


def metrics_app(metrics: Exposition, routes: Routes) -> FastAPI:
    """The application of a listener without a login. routes: of the analysts, for their health."""
    app = DocumentedApp(
        title="Metrics of dpproxy",
        description="",
        routers=[metrics_router, health_router],
        hint="There are /metrics, /healthz and /readyz.",
        handlers={},
        has_docs=False,
    )
    app.state.routes, app.state.metrics = routes, metrics
    return app
