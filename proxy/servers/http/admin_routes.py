"""What administrators do over HTTP, on a listener of its own: the commands' own functions, each in a thread.

Whoever comes in has a secret of the file of credentials, and nothing that an analyst has. What they do is noted
in the ledger under their name, in the transaction that does it.
"""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Path, Request, Response
from fastapi.responses import JSONResponse
from starlette.convertors import IntegerConvertor, register_url_convertor

from proxy.ledger import adjustments, admin_log, bearer_tokens, ledger_reports, users
from proxy.servers.http.admin_access import AdminDoor, LetIn, State, let_in
from proxy.servers.http.admin_models import (
    AccessList,
    AdjustmentList,
    AdminLog,
    BudgetEntry,
    BudgetList,
    DatabaseAccess,
    Done,
    GroupList,
    ListedUser,
    LogEntry,
    NewTokenRequest,
    NewUserRequest,
    PasswordRequest,
    PoliciesInForce,
    SessionList,
    TokenEntry,
    TokenList,
    UserList,
    WaitingAdjustment,
)
from proxy.servers.http.admin_report_routes import report_router
from proxy.servers.http.analyst_models import CreatedToken, HealthResponse
from proxy.servers.http.documented_app import DocumentedApp, Operation, problems
from proxy.servers.http.guard import response_of
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.json_models import StatusReport, Text
from proxy.servers.http.routes import metrics_router


class _RowNumberConvertor(IntegerConvertor):
    """Digits that Python turns into a number: it refuses more than 4,300 of them."""

    regex = "[0-9]{1,100}"


register_url_convertor("row_number", _RowNumberConvertor())

_SPENDING = (
    *("source", "budget", "per", "epsilon", "epsilon_limit", "delta", "delta_limit"),
    *("rho", "rho_limit", "used", "receipts"),
)
# What the ledger does not do, with a text that says why.
REFUSALS = (users.UserError, adjustments.AdjustmentError)
_DESCRIPTION = """\
Users, groups, access, tokens, sessions and policies of a running dpproxy.

Log in with a secret of the file of credentials as a bearer token. Each change is noted in the ledger under the
name of the secret."""


class AdminRoutes(AdminDoor):
    """The administrators' listener. Its operations are the functions of this module."""

    def app(self, *more: APIRouter) -> FastAPI:
        """more: routes of others on this listener."""
        app = DocumentedApp(
            title="Administration of dpproxy",
            description=_DESCRIPTION,
            routers=[
                *(reports, report_router, changes, health_router),
                *((metrics,) if self._metrics else ()),
                *more,
            ],
            hint="GET /docs lists what there is, below /admin/v1.",
            handlers=dict.fromkeys(REFUSALS, _refused),
        )
        app.state.routes, app.state.metrics = self, self._metrics
        return app


NewUserBody = Annotated[NewUserRequest, Depends(NewUserRequest.read)]
PasswordBody = Annotated[PasswordRequest, Depends(PasswordRequest.read)]
NewTokenBody = Annotated[NewTokenRequest, Depends(NewTokenRequest.read)]
Name = Annotated[Text, Path(description="An analyst.")]
Group = Annotated[Text, Path(description="A group of analysts.")]
DatabaseInPath = Annotated[Text, Path(description="A database, as the ledger names it.")]

# Each operation below /admin/v1 needs the login, before anything else of its request is read.
reports = APIRouter(prefix="/admin/v1", route_class=Operation, dependencies=[Depends(let_in)])
# What the ledger refuses, such as an unknown name, is 409.
changes = APIRouter(
    prefix="/admin/v1",
    route_class=Operation,
    dependencies=[Depends(let_in)],
    responses=problems(409),
)
health_router = APIRouter(route_class=Operation)
metrics = APIRouter(dependencies=[Depends(let_in)], include_in_schema=False)
metrics.include_router(metrics_router)


@reports.get("/users", summary="The analysts and their groups", tags=["users"])
async def list_users(administrator: LetIn) -> UserList:
    names = await administrator.read(users.list_analysts)
    grouped = await administrator.read(users.groups)
    return UserList(
        users=[
            ListedUser(name=one, groups=[group for group, held in grouped.items() if one in held])
            for one in names
        ]
    )


@changes.post("/users", summary="Add an analyst", tags=["users"], status_code=HTTPStatus.CREATED)
async def add_user(administrator: LetIn, user: NewUserBody) -> Done:
    await administrator.change(users.add_analyst, name=user.name, password=user.password)
    return Done()


@changes.delete("/users/{name}", summary="Remove an analyst", tags=["users"])
async def remove_user(administrator: LetIn, name: Name) -> Done:
    await administrator.change(users.remove_analyst, name=name)
    return Done()


@changes.put("/users/{name}/password", summary="Set an analyst's password", tags=["users"])
async def set_password(administrator: LetIn, name: Name, new: PasswordBody) -> Done:
    await administrator.change(users.set_password, name=name, password=new.password)
    return Done()


@reports.get("/groups", summary="The groups and their members", tags=["groups"])
async def list_groups(administrator: LetIn) -> GroupList:
    found = await administrator.read(users.groups)
    return GroupList(groups={group: list(names) for group, names in found.items()})


@changes.put("/groups/{group}/{name}", summary="Add an analyst to a group", tags=["groups"])
async def add_to_group(administrator: LetIn, group: Group, name: Name) -> Done:
    await administrator.change(users.add_to_group, group=group, name=name)
    return Done()


@changes.delete("/groups/{group}/{name}", summary="Take an analyst from a group", tags=["groups"])
async def remove_from_group(administrator: LetIn, group: Group, name: Name) -> Done:
    await administrator.change(users.remove_from_group, group=group, name=name)
    return Done()


@reports.get("/access", summary="Who may query each database", tags=["access"])
async def list_access(administrator: LetIn) -> AccessList:
    found = await administrator.read(users.data_access)
    return AccessList(databases=[DatabaseAccess.of(one) for one in found])


@changes.put("/access/{database}", summary="Restrict a database", tags=["access"])
async def restrict_database(administrator: LetIn, database: DatabaseInPath) -> Done:
    await administrator.change(users.restrict, source=database)
    return Done()


@changes.delete("/access/{database}", summary="Open a database to every analyst", tags=["access"])
async def open_database(administrator: LetIn, database: DatabaseInPath) -> Done:
    await administrator.change(users.open_to_all, source=database)
    return Done()


@changes.put(
    "/access/{database}/users/{name}", summary="Let an analyst query a database", tags=["access"]
)
async def allow_user(administrator: LetIn, database: DatabaseInPath, name: Name) -> Done:
    await administrator.change(users.allow, source=database, analyst=name)
    return Done()


@changes.delete(
    "/access/{database}/users/{name}", summary="Take an analyst's access away", tags=["access"]
)
async def withdraw_user(administrator: LetIn, database: DatabaseInPath, name: Name) -> Done:
    await administrator.change(users.withdraw, source=database, analyst=name)
    return Done()


@changes.put(
    "/access/{database}/groups/{group}", summary="Let a group query a database", tags=["access"]
)
async def allow_group(administrator: LetIn, database: DatabaseInPath, group: Group) -> Done:
    await administrator.change(users.allow, source=database, group=group)
    return Done()


@changes.delete(
    "/access/{database}/groups/{group}", summary="Take a group's access away", tags=["access"]
)
async def withdraw_group(administrator: LetIn, database: DatabaseInPath, group: Group) -> Done:
    await administrator.change(users.withdraw, source=database, group=group)
    return Done()


@reports.get("/tokens", summary="The tokens, without their texts", tags=["tokens"])
async def list_tokens(administrator: LetIn) -> TokenList:
    found = await administrator.read(bearer_tokens.list_tokens)
    return TokenList(tokens=[TokenEntry.of(one) for one in found])


@changes.post("/tokens", summary="Create a token", tags=["tokens"], status_code=HTTPStatus.CREATED)
async def create_token(administrator: LetIn, new: NewTokenBody) -> CreatedToken:
    made = await administrator.change(
        bearer_tokens.create_token,
        name=new.name,
        days=float(new.days),
        source=new.database,
        epsilon=None if new.epsilon is None else Decimal(new.epsilon),
        per=new.per,
        note=new.note or "",
    )
    return CreatedToken(number=made.number, token=made.text, expires_at=made.expires_at)


@changes.delete("/tokens/{number:row_number}", summary="Revoke a token", tags=["tokens"])
async def revoke_token(administrator: LetIn, number: int) -> Done:
    await administrator.change(bearer_tokens.revoke_token, number=number)
    return Done()


@reports.get("/budgets", summary="What each budget has spent", tags=["budgets"])
async def list_budgets(administrator: LetIn) -> BudgetList:
    return await budgets_of(administrator)


async def budgets_of(administrator: LetIn, *, uncharged: bool = False) -> BudgetList:
    """uncharged: also what analysts have before their first charge."""
    lines = await administrator.read(
        lambda dsn: list(ledger_reports.spending(dsn, uncharged=uncharged))
    )
    return BudgetList(
        budgets=[
            BudgetEntry.model_validate(dict(zip(_SPENDING, line, strict=True))) for line in lines
        ]
    )


@reports.get("/adjustments", summary="Budget that waits to be given back", tags=["budgets"])
async def list_adjustments(administrator: LetIn) -> AdjustmentList:
    found = await administrator.read(adjustments.waiting_requests)
    return AdjustmentList(
        waiting=[
            WaitingAdjustment.model_validate({**asdict(one), "kind": one.kind.value})
            for one in found
        ]
    )


@changes.post(
    "/adjustments/{number:row_number}/confirm",
    summary="Give budget back that another administrator asks for",
    tags=["budgets"],
)
async def confirm_adjustment(administrator: LetIn, number: int) -> Done:
    await administrator.change(adjustments.confirm, number=number)
    return Done()


@reports.get("/sessions", summary="The open PostgreSQL sessions", tags=["sessions"])
async def list_sessions(routes: State, administrator: LetIn) -> SessionList:
    return await _every_session(routes)


@changes.delete("/sessions/{number:row_number}", summary="End a session", tags=["sessions"])
async def end_session(routes: State, administrator: LetIn, number: int) -> Done:
    found = [one for one in (await _every_session(routes)).sessions if one.number == number]
    if not found:
        raise users.UserError(f"there is no session {number}")
    detail = {"session": number, "name": found[0].analyst, "database": found[0].database}
    await administrator.change(admin_log.append_event, what="session end", detail=detail)
    if not routes.open_sessions.end_session(number) and routes.elsewhere is not None:
        await routes.elsewhere.end_session(number)
    return Done()


async def _every_session(routes: AdminDoor) -> SessionList:
    own = SessionList.listing(routes.open_sessions.sessions, routes.stuck_sessions())
    if routes.elsewhere is None:
        return own
    return SessionList.joined([own, await routes.elsewhere.sessions()])


@reports.get("/status", summary="How this process is", tags=["status"], responses=problems(501))
async def show_status(routes: State) -> StatusReport:
    if routes.status is None:
        message = "this dpproxy does not tell its status"
        raise HttpProblem(
            HTTPStatus.NOT_IMPLEMENTED, message, hint="GET /readyz tells whether it is ready."
        )
    return await routes.status()


@reports.get("/log", summary="What administrators did", tags=["log"])
async def show_log(administrator: LetIn) -> AdminLog:
    events = await administrator.read(lambda dsn: list(admin_log.admin_events(dsn)))
    return AdminLog(events=[LogEntry.of(one) for one in events])


@reports.post(
    "/policies/reload",
    summary="Read the policies again",
    tags=["policies"],
    response_model=PoliciesInForce,
    responses=problems(501),
)
async def reload_policies(routes: State, administrator: LetIn) -> Response:
    if routes.reload is None:
        message = "this dpproxy reads its policies at the start only"
        raise HttpProblem(HTTPStatus.NOT_IMPLEMENTED, message, hint="Start it again.")
    await administrator.change(admin_log.append_event, what="policy reload", detail={})
    return JSONResponse(dict(await routes.reload()))


@health_router.get(
    "/healthz",
    summary="Whether the process runs",
    tags=["health"],
    response_model_exclude_none=True,
)
async def check_health() -> HealthResponse:
    return HealthResponse(status="ok")


async def _refused(_: Request, error: Exception) -> Response:
    return response_of(HttpProblem(HTTPStatus.CONFLICT, str(error)))
