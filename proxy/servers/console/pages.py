"""The console: pages for analysts who have no other tool. Each page is a GET, each statement a POST.

The console keeps no password. Who is signed in has sessions as a bearer token has (ADR 0071), so rights,
budgets, places and ends of statements are those of /v1. /v1 reads no cookie, the console no Authorization.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial, wraps
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from proxy.base.errors import Fault
from proxy.engine.sessions import AnalystSession, WrongCredentials
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import Policy, StatementTexts
from proxy.servers.admission import Admission
from proxy.servers.console.answer_pages import shown_answer, shown_rows
from proxy.servers.console.page_responses import (
    HEADERS,
    SessionCookie,
    html,
    problem_page,
    read_form,
    static,
    to,
)
from proxy.servers.console.prices import (
    PriceColumn,
    ShownBudget,
    ShownPrice,
    budget_lines,
    burn_down,
    history_lines,
    price_column,
    price_of,
    respelled,
    unmet_reasons,
)
from proxy.servers.console.signed_in import Identity, SignedIn, SignedInAnalysts, new_form
from proxy.servers.console.tables import ShownTable, examples, known_words, shown_tables
from proxy.servers.console.templates import rendered
from proxy.servers.http.analyst_models import QueryRequest
from proxy.servers.http.http_logins import Caller
from proxy.servers.http.http_problem import HttpProblem, problem_of
from proxy.servers.http.libpq_driver import LibpqDriver, QueryResult
from proxy.servers.http.rendering import as_json
from proxy.servers.http.request_reading import JsonNumber
from proxy.servers.http.routes import Routes, while_connected
from proxy.turns.fair_share import Busy

_COOKIE = SessionCookie("dp")
_WRONG = "Name or password is wrong. After several wrong ones an answer takes some seconds."
_BUSY = "Too many attempts from your network. Try again in a few seconds."
_AWAY = "Nobody can sign in at the moment. Try again in a few seconds."
_NOTHING = "You may query no database here. Ask the operator, who can `dpproxy access allow` you."
_HISTORY = 50  # receipts on a page
_WAY = 300  # characters of the page to come back to
_OWN_PAGE = re.compile(r"/db/[A-Za-z0-9_.~%+-]+/(query|tables|budget|published)")
_EXPLAIN = re.compile(
    r"\s*EXPLAIN\s+(?=SELECT\b|WITH\b)", re.IGNORECASE
)  # Price and error says more
_EPSILON = re.compile(r"\d{1,9}(\.\d{1,18})?")
# Classes of errors that say for certain that a statement was not charged, unless they come with a receipt.
_UNCHARGED = ("0A", "22", "28", "2B", "3D", "42", "53400")
_PUBLISHED = (
    "SELECT c.relname, coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''),"
    " pg_catalog.format('SELECT * FROM published.%I', c.relname) FROM pg_catalog.pg_class c"
    " WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'published')"
    " AND c.relkind IN ('r', 'p', 'v') ORDER BY 1"
)


class _SignInFirst(Exception):
    """Nobody is signed in, or the session has ended."""


Page = Callable[..., Any]
T = TypeVar("T")


def signed_in_analysts(admission: Admission | None) -> SignedInAnalysts:
    """admission: Whom the ledger has; None: its people are not read, and sessions end by time alone."""
    return SignedInAnalysts(_nobody_changes if admission is None else admission.identity_of)


def console(
    admission: Admission | None, people: SignedInAnalysts | None = None
) -> Callable[[Routes], APIRouter]:
    """The console before the routes of /v1.

    Args:
        admission: As of `signed_in_analysts`.
        people: Who is signed in. None: nobody is yet.
    """
    people = signed_in_analysts(admission) if people is None else people
    return lambda routes: Console(routes, people).router


def _nobody_changes(analyst: str) -> Identity:
    return 0, b""


class Console:
    """The console's routes, on the listener of analysts.

    Args:
        routes: Of /v1, whose logins, engines and rights are used.
        people: Who is signed in.
    """

    def __init__(self, routes: Routes, people: SignedInAnalysts) -> None:
        self._routes, self._people = routes, people

    @property
    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        get = {"methods": ["GET", "HEAD"]}
        for path, page, options in (
            ("/", self.start, get),
            ("/sign-in", self.sign_in_page, get),
            ("/sign-in", self.sign_in, {"methods": ["POST"]}),
            ("/sign-out", self.sign_out, {"methods": ["POST"]}),
            ("/help", self.help_page, get),
            ("/db/{database:path}/query", self.query_page, get),
            ("/db/{database:path}/query", self.query, {"methods": ["POST"]}),
            ("/db/{database:path}/tables", self.tables_page, get),
            ("/db/{database:path}/budget", self.budget_page, get),
            ("/db/{database:path}/published", self.published_page, get),
            ("/static/{digest}/{name}", static, get),
        ):
            router.add_api_route(path, _page(page), **options)  # type: ignore[arg-type]
        return router

    async def start(self, request: Request) -> Response:
        session = self._signed_in(request)
        databases = self._databases(_caller(request, session))
        if not databases:
            return html("sign_in", status=HTTPStatus.FORBIDDEN, wrong=_NOTHING, name="", to="")
        return to(f"/db/{quote(databases[0], safe='')}/query")

    async def sign_in_page(self, request: Request) -> Response:
        return html("sign_in", wrong="", name="", to=request.query_params.get("to", "")[:_WAY])

    async def help_page(self, request: Request) -> Response:
        return html("help")

    async def sign_in(self, request: Request) -> Response:
        form = await read_form(request, is_stranger=True)
        name, password = form.get("name", ""), form.get("password", "")
        again = partial(html, "sign_in", name=name, to=form.get("to", "")[:_WAY])
        try:
            await self._routes.logins.sign_in(request, name, password)
        except WrongCredentials:
            return again(status=HTTPStatus.UNAUTHORIZED, wrong=_WRONG)
        except Busy:
            return again(status=HTTPStatus.SERVICE_UNAVAILABLE, wrong=_BUSY)
        except Fault:
            return again(status=HTTPStatus.SERVICE_UNAVAILABLE, wrong=_AWAY)
        begun = self._people.begin(name)
        if begun is None:  # added or removed within the last second
            return again(status=HTTPStatus.SERVICE_UNAVAILABLE, wrong=_AWAY)
        cookie, _ = begun
        response = to(own_page(form.get("to", "")))
        _COOKIE.set(request, response, cookie)
        return response

    async def sign_out(self, request: Request) -> Response:
        session = self._signed_in(request)
        form = await read_form(request)
        _check_token(session, form)
        self._people.end(_COOKIE.of(request))
        response = to(sign_in_for(form.get("to", "")))
        _COOKIE.delete(request, response)
        return response

    async def query_page(self, request: Request, database: str) -> Response:
        caller = self._caller(request, self._signed_in(request), database)
        frame = await self._query_frame(request, caller, database)
        frame |= {"kind": "start", "sql": "", "bad": None, "form": new_form()}
        return await self._html(caller, "query", frame)

    async def query(self, request: Request, database: str) -> Response:
        session = self._signed_in(request)
        form = await read_form(request)
        _check_token(session, form)
        sql, epsilon = form.get("sql", ""), form.get("epsilon", "").strip()
        explained = _EXPLAIN.match(sql)
        caller = self._caller(request, session, database)
        is_fragment = request.headers.get("x-fragment") == "1"
        # All that could fail is asked before a statement is charged: then its answer is shown.
        frame = {} if is_fragment else await self._query_frame(request, caller, database)
        # Whatever else a form says costs nothing.
        is_run = form.get("act") == "run" and explained is None
        if is_run and await self._people.is_sent_again(session, form.get("form", "")):
            shown: dict[str, Any] = {"kind": "again"}
        else:
            asked = sql if explained is None else sql[explained.end() :]
            is_sure = form.get("sure") == "1"
            given = request, caller, database, asked, epsilon
            shown = await self._result(*given, is_run=is_run, is_sure=is_sure)
        problem = shown.get("problem")
        if explained is not None and problem is not None and problem.position:
            problem.position += explained.end()
        left, next_form = await self._left(caller, database), new_form()
        values = {**frame, **shown, "database": database, "token": session.token, "form": next_form}
        values |= {"sql": sql, "epsilon": epsilon or frame.get("usual", "")}
        if is_fragment:
            told = {"X-Form": next_form, "X-Left": "" if left is None else left.told}
            values |= {"examples": (), "has_published": self._has_published(database)}
            return await self._html(caller, "result", values, **told)
        values["bad"] = None if problem is None else problem.position
        values["left"] = values["left"] if left is None else left
        return await self._html(caller, "query", values)

    async def tables_page(self, request: Request, database: str) -> Response:
        caller = self._caller(request, self._signed_in(request), database)
        wanted = request.query_params.get("q", "")[:200]
        async with self._routes.logins.session(database, caller) as session:
            schema = await session.schema()
            shared = await self._shared(request, caller, database, "Tables", "tables")
        tables = await self._in_thread(caller, database, _shown_schema, schema, wanted)
        return await self._html(caller, "tables", {**shared, "tables": tables, "q": wanted})

    async def budget_page(self, request: Request, database: str) -> Response:
        caller = self._caller(request, self._signed_in(request), database)
        before = _number(request.query_params.get("before", "")) or None
        async with self._routes.logins.session(database, caller) as session:
            engine = self._routes.engines[database].now
            budget = await engine.budget(session.analyst)
            turn = self._routes.adapters[database].turn_of(session.analyst)
            page = await engine.history(turn, before, _HISTORY + 1)
            spent = "" if before else await engine.history(turn)
            shared = await self._shared(request, caller, database, "Budget", "budget")
        # What was left is drawn beside the latest receipts only: it needs all of them.
        privacy = engine.policy.privacy
        given = budget, page, None if before else spent, caller.analyst, privacy.epsilon
        shown = await self._in_thread(caller, database, _shown_budget, *given)
        shown |= {
            "form": new_form(),
            "keeps_texts": engine.policy.statements is StatementTexts.ENCRYPTED,
        }
        return await self._html(caller, "budget", {**shared, **shown})

    async def published_page(self, request: Request, database: str) -> Response:
        caller = self._caller(request, self._signed_in(request), database)
        async with self._routes.logins.session(database, caller) as session:
            found = await session.run(_PUBLISHED, ())
            shared = await self._shared(request, caller, database, "Published", "published")
        published = [
            dict(zip(("name", "about", "sql"), (_text(value) for value in row), strict=True))
            for row in found.values
        ]
        shared |= {"published": published, "form": new_form()}
        return await self._html(caller, "published", shared)

    async def _query_frame(self, request: Request, caller: Caller, database: str) -> dict[str, Any]:
        """All of the query page but the statement and what became of it."""
        async with self._routes.logins.session(database, caller) as session:
            schema = await session.schema()
            usual = await _usual_epsilon(session)
            shared = await self._shared(request, caller, database, "Query", "query")
        tables = await self._in_thread(caller, database, _shown_schema, schema, "")
        return {
            **shared,
            "tables": tables,
            "known": known_words(tables),
            "examples": examples(tables),
            "epsilon": usual,
            "usual": usual,
            "most_epsilon": decimal(self._policy(database).privacy.max_epsilon),
        }

    async def _in_thread(
        self, caller: Caller, database: str, function: Callable[..., T], *given: object
    ) -> T:
        """What takes long, one job of an analyst at a time."""
        turn = self._routes.adapters[database].turn_of(caller.analyst)
        return await turn.in_thread(function, *given)

    async def _html(
        self, caller: Caller, template: str, values: Mapping[str, Any], **told: str
    ) -> Response:
        """told: further headers."""
        work = partial(rendered, template, **values)
        body = await self._in_thread(caller, values["database"], work)
        return HTMLResponse(body, headers={**HEADERS, **told})

    async def _result(
        self,
        request: Request,
        caller: Caller,
        database: str,
        sql: str,
        epsilon: str,
        *,
        is_run: bool,
        is_sure: bool,
    ) -> dict[str, Any]:
        """The answer, the price or the refusal of a statement, as values of the template.

        Args:
            is_sure: It is run though no value in the policy meets its conditions.
        """
        try:
            asked = _request_of(sql, epsilon)
        except HttpProblem as wrong:
            return refusal(wrong, is_run=False)
        try:
            with self._routes.logins.under_way(caller, database) as ended:
                work = (
                    self._answer(caller, database, sql, epsilon, is_sure=is_sure)
                    if is_run
                    else self._price(caller, database, sql, epsilon)
                )
                work = self._routes.corrected(caller, database, asked, work)
                return await while_connected(request, ended, work, self._routes.is_draining)
        except (WrongCredentials, _SignInFirst):
            raise _SignInFirst from None
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            return refusal(problem, is_run=is_run)

    async def _answer(
        self, caller: Caller, database: str, sql: str, epsilon: str, *, is_sure: bool
    ) -> dict[str, Any]:
        query, adapter = _request_of(sql, epsilon), self._routes.adapters[database]
        reasons = () if is_sure else await self._unmet(caller, database, query)
        if reasons:
            instead = respelled(sql, reasons)
            return {"kind": "unmet", "reasons": reasons, "instead": instead}
        async with self._routes.logins.session(database, caller, query.settings) as session:
            driver = LibpqDriver(adapter, session, query, caller.payer(), with_errors=True)
            answered = await driver.run()
        count, most = len(answered.rows.values), shown_rows(len(answered.rows.columns))
        turn = adapter.turn_of(caller.analyst)
        body = await as_json(_first(answered, most), turn)
        shown = await turn.in_thread(shown_answer, body, count, database)
        return {"kind": "answer", "answer": shown}

    async def _unmet(self, caller: Caller, database: str, query: QueryRequest) -> Sequence[str]:
        """Why no value in the policy meets what a run would be charged for; empty where one does."""
        try:
            async with self._routes.logins.session(database, caller, query.settings) as session:
                adapter = self._routes.adapters[database]
                plan = await LibpqDriver(adapter, session, query, caller.payer()).explain()
        except Exception as error:
            if problem_of(error) is None:
                raise
            return ()  # the run says it better
        return () if plan is None else unmet_reasons(plan)

    async def _price(self, caller: Caller, database: str, sql: str, epsilon: str) -> dict[str, Any]:
        """With half, once and twice the epsilon."""
        async with self._routes.logins.session(database, caller) as session:
            usual = epsilon or await _usual_epsilon(session)
        _check_epsilon(usual)
        columns: list[PriceColumn] = []
        usual_plan: Mapping[str, Any] | None = None
        for factor in ("0.5", "1", "2"):
            each = _product(usual, factor)
            query = _request_of(sql, each)
            try:
                async with self._routes.logins.session(database, caller, query.settings) as session:
                    adapter = self._routes.adapters[database]
                    driver = LibpqDriver(adapter, session, query, caller.payer())
                    plan = await driver.explain()
            except Exception as error:
                problem = problem_of(error)
                if problem is None or factor == "1":
                    raise
                columns.append(PriceColumn(epsilon=each, errors={}, left="", refused="not allowed"))
                continue
            if plan is None:
                return {"kind": "price", "price": ShownPrice(is_free=True)}
            columns.append(price_column(each, plan))
            usual_plan = plan if factor == "1" else usual_plan
        assert usual_plan is not None
        return {"kind": "price", "price": price_of(columns, usual_plan, _product(usual, "1"))}

    async def _shared(
        self, request: Request, caller: Caller, database: str, title: str, page: str
    ) -> dict[str, Any]:
        """What the frame of each page shows."""
        return {
            "title": title,
            "page": page,
            "database": database,
            "databases": self._databases(caller),
            "analyst": caller.analyst,
            "token": self._signed_in(request).token,
            "left": await self._left(caller, database),
            "has_published": self._has_published(database),
            "version": version("dpproxy"),
        }

    async def _left(self, caller: Caller, database: str) -> ShownBudget | None:
        """Of the analyst's own budget. None: it is not known at the moment."""
        try:
            budget = _document(await self._routes.engines[database].now.budget(caller.analyst))
        except Fault:
            return None
        lines = budget_lines(budget, caller.analyst, self._policy(database).privacy.epsilon)
        return next((one for one in lines if one.is_own), None)

    def _policy(self, database: str) -> Policy:
        return self._routes.engines[database].now.policy

    def _has_published(self, database: str) -> bool:
        return bool(self._policy(database).publish)

    def _signed_in(self, request: Request) -> SignedIn:
        session = self._people.of(_COOKIE.of(request))
        if session is None:
            raise _SignInFirst
        return session

    def _databases(self, caller: Caller) -> Sequence[str]:
        logins = self._routes.logins
        return [name for name in sorted(self._routes.engines) if logins.may_query(caller, name)]

    def _caller(self, request: Request, session: SignedIn, database: str) -> Caller:
        """Refuses  404 alike for a database that is not there and one that is not for this analyst"""
        caller = _caller(request, session)
        if database not in self._databases(caller):
            raise HttpProblem(
                HTTPStatus.NOT_FOUND,
                "there is no such database, or you may not query it",
                hint="The operator can `dpproxy access allow` you.",
            )
        return caller


def refusal(problem: HttpProblem, *, is_run: bool = True) -> dict[str, Any]:
    """What the template shows of an error. Not of each one of a run is it known that nothing was charged."""
    is_early = not is_run or (problem.sqlstate or "").startswith(_UNCHARGED)
    is_uncharged = problem.receipt is None and is_early
    return {"kind": "refusal", "problem": problem, "is_uncharged": is_uncharged}


def _page(page: Page) -> Page:
    """A page that sends who is not signed in to do so first, and shows any other problem as a page."""

    @wraps(page)
    async def answered(request: Request, **given: str) -> Response:
        try:
            found: Response = await page(request, **given)
            return found
        except (_SignInFirst, WrongCredentials):
            return to(sign_in_for(str(request.url.path) if request.method == "GET" else ""))
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            return problem_page(problem)

    return answered


def own_page(place: str) -> str:
    """Give a page of this console, or the first one.

    >>> own_page("/db/shop/budget"), own_page("//example.org"), own_page("/db/a/../query")
    ('/db/shop/budget', '/', '/')
    """
    return place if _OWN_PAGE.fullmatch(place[:_WAY]) else "/"


def sign_in_for(place: str) -> str:
    """Where to sign in, to come to a page then."""
    found = own_page(place)
    return "/sign-in" if found == "/" else f"/sign-in?to={quote(found, safe='/')}"


def _caller(request: Request, session: SignedIn) -> Caller:
    return Caller(analyst=session.analyst, request=request)


def _check_token(session: SignedIn, form: Mapping[str, str]) -> None:
    if not session.has_token(form.get("token", "")):
        raise HttpProblem(
            HTTPStatus.FORBIDDEN, "the form is not of this session", hint="Reload the page."
        )


def _request_of(sql: str, epsilon: str) -> QueryRequest:
    """The request of /v1 that a form stands for. Refuses  HttpProblem 400"""
    body: dict[str, object] = {"sql": sql}
    if epsilon:
        _check_epsilon(epsilon)
        body["epsilon"] = JsonNumber(epsilon)
    return QueryRequest.validated(body)


def _check_epsilon(text: str) -> None:
    if _EPSILON.fullmatch(text) is None:
        raise HttpProblem(
            HTTPStatus.BAD_REQUEST, "ε is a number above 0", hint="Write it as 0.1, with a point."
        )


def _product(number: str, factor: str) -> str:
    """
    >>> _product("0.1", "0.5"), _product("0.5", "2")
    ('0.05', '1')
    """
    text = f"{Decimal(number) * Decimal(factor):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _first(answered: QueryResult, most: int) -> QueryResult:
    """The first rows of an answer, with their errors."""
    rows, errors = answered.rows, answered.errors
    if errors is not None:
        errors = replace(errors, values=errors.values[:most])
    return replace(answered, rows=replace(rows, values=rows.values[:most]), errors=errors)


def _shown_schema(schema: str, wanted: str) -> list[ShownTable]:
    return shown_tables(_document(schema), wanted)


def _shown_budget(
    budget: str, page: str, spent: str | None, analyst: str, usual: Fraction
) -> dict[str, Any]:
    """The page of a budget.

    Args:
        page: Receipts, with one more if there are older ones.
        spent: All receipts, for the burn-down. None: it is not drawn.
    """
    lines, receipts = _document(budget), _document(page)
    shown = receipts[:_HISTORY]
    burn = (
        Markup("")
        if spent is None
        else burn_down(lines, _document(spent), analyst, datetime.now(timezone.utc))
    )
    return {
        "lines": budget_lines(lines, analyst, usual),
        "burn": burn,
        "history": history_lines(shown),
        "older": shown[-1]["receipt"] if len(receipts) > _HISTORY else 0,
        "is_first": spent is not None,
    }


async def _usual_epsilon(session: AnalystSession) -> str:
    """What a statement costs in this session if it says nothing."""
    found = await session.run("SELECT pg_catalog.current_setting('dp.epsilon', true)", ())
    ((value,),) = found.values
    return _text(value)


def _document(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode()


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
