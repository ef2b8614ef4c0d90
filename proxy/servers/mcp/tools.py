"""The six tools: what /v1 does, in the shape that a language model asks for it.

A refusal is a result, never an error of the protocol: so the model reads it, with what to ask instead.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from mcp_types import CallToolResult, InputRequiredResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ValidationError

from proxy.base.errors import Code
from proxy.base.shown_numbers import shown_number
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable, PublicTable, RowUnit
from proxy.servers.console.tables import ShownTable, examples, shown_tables
from proxy.servers.engine_adapter import EngineAdapter
from proxy.servers.error_boundary import log_failure
from proxy.servers.http.analyst_models import QueryRequest
from proxy.servers.http.http_logins import Caller
from proxy.servers.http.http_problem import HttpProblem, problem_of
from proxy.servers.http.libpq_driver import LibpqDriver, QueryResult
from proxy.servers.http.rendering import as_json
from proxy.servers.http.request_reading import JsonNumber
from proxy.servers.http.routes import Routes, while_connected
from proxy.servers.mcp import tool_models as models
from proxy.servers.mcp import tool_texts as texts
from proxy.servers.mcp.agent_limits import CALLS_A_MINUTE, Asker, CallRate, question
from proxy.servers.mcp.tool_models import answer_of, price_of, published_entry
from proxy.turns.threads import Turn

G = TypeVar("G", bound=models.DatabaseArguments)

# Classes of errors that say for certain that a statement was not charged, unless they come with a receipt.
_UNCHARGED = ("0A", "22", "28", "2B", "3D", "42", "53300", "53400")
_PUBLISHED = """\
SELECT c.relname, coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''),
       (SELECT pg_catalog.json_agg(a.attname ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text
FROM pg_catalog.pg_class c
WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'published')
  AND c.relkind IN ('r', 'p', 'v') ORDER BY 1"""
_EXAMPLES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    """A tool as clients are shown it."""

    does: str
    takes: type[models.DatabaseArguments]
    gives: type[BaseModel]
    is_idempotent: bool = True

    def shown(self, name: str) -> Tool:
        hints = ToolAnnotations(
            read_only_hint=True, idempotent_hint=self.is_idempotent, open_world_hint=False
        )
        return Tool(
            name=name,
            description=self.does,
            input_schema=self.takes.model_json_schema(),
            output_schema=self.gives.model_json_schema(),
            annotations=hints,
        )


TOOLS: Mapping[str, _Described] = {
    "list_tables": _Described(
        does="The tables that you can ask about, whose privacy each protects, and their columns.",
        takes=models.DatabaseArguments,
        gives=models.TableList,
    ),
    "describe_table": _Described(
        does="Columns of a table: types, the values that count, what each can be used for; two examples.",
        takes=models.TableArguments,
        gives=models.TableDetails,
    ),
    "explain": _Described(
        does="Price and expected error of a statement. Reads nothing, charges nothing.",
        takes=models.ExplainArguments,
        gives=models.AgentPrice,
    ),
    "query": _Described(
        does="Run a statement and charge its price to your privacy budget. Gives each value with its 95 %"
        " error. Call explain first.",
        takes=models.QueryArguments,
        gives=models.AgentAnswer,
        is_idempotent=False,
    ),
    "budget": _Described(
        does="What is left of your privacy budget, and when it renews.",
        takes=models.DatabaseArguments,
        gives=models.BudgetLines,
    ),
    "published": _Described(
        does="Published tables, or the rows of one. They cost nothing.",
        takes=models.PublishedArguments,
        gives=models.PublishedList,
    ),
}


class _ApprovalNeeded(Exception):
    """A person is asked first."""

    def __init__(self, question: InputRequiredResult) -> None:
        super().__init__()
        self.question = question


class AgentTools:
    """
    Args:
        routes: Of /v1, whose logins, engines and rights are used.
        adapters: Of each database, which report statements as those of agents.
        calls_a_minute: Of each token.
    """

    def __init__(
        self,
        routes: Routes,
        adapters: Mapping[str, EngineAdapter],
        calls_a_minute: int = CALLS_A_MINUTE,
    ) -> None:
        self._routes, self._adapters = routes, adapters
        self._rate = CallRate(calls_a_minute)
        self._run: Mapping[str, Callable[[Caller, Any], Awaitable[tuple[BaseModel, str]]]] = {
            "list_tables": self._list_tables,
            "describe_table": self._describe_table,
            "explain": self._explain,
            "budget": self._budget,
            "published": self._published,
        }

    async def call(
        self, caller: Caller, name: str, given: Mapping[str, object] | None, asker: Asker
    ) -> CallToolResult | InputRequiredResult:
        """Run a tool for whoever has presented their token. Whatever goes wrong is a result."""
        try:
            self.refuse_too_many(caller)
            described = TOOLS.get(name)
            if described is None:
                raise HttpProblem(
                    404, "there is no such tool", hint=f"The tools are {', '.join(TOOLS)}."
                )
            taken = _validated(described.takes, given or {})
            database = self._routes.logins.database_of(caller, taken.database)
            self._refuse_no_database(caller, database)
            taken = taken.model_copy(update={"database": database})
            if isinstance(taken, models.QueryArguments):
                found, text = await self._query(caller, taken, asker)
            else:
                found, text = await self._run[name](caller, taken)
        except _ApprovalNeeded as needed:
            return needed.question
        except Exception as error:
            return _refused(error)
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=found.model_dump(mode="json"),
            is_error=False,
        )

    def refuse_too_many(self, caller: Caller) -> None:
        """Count a call of whoever comes. Refuses  HttpProblem 429"""
        who = caller.analyst if caller.token is None else caller.token.number
        seconds = self._rate.wait(who)
        if seconds is not None:
            raise HttpProblem(
                429,
                "this token calls tools too often",
                hint="Think before the next call: a refusal says what to ask instead.",
                sqlstate="53300",
                headers={"Retry-After": str(seconds)},
            )

    def _refuse_no_database(self, caller: Caller, database: str) -> None:
        """Refuses  HttpProblem 404: none is named, or one that the caller may not query"""
        mine = [one for one in sorted(self._adapters) if self._routes.logins.may_query(caller, one)]
        if database not in mine:
            message = "name a database"
            if database:
                message = f"there is no database {database}, or you may not query it"
            listed = ", ".join(mine)
            hint = f"Yours: {listed}. Give one as database." if mine else "You may query none."
            raise HttpProblem(404, message, hint=hint, sqlstate="3D000")

    async def _list_tables(
        self, caller: Caller, given: models.DatabaseArguments
    ) -> tuple[BaseModel, str]:
        shown = await self._tables(caller, given.database)
        published = await self.published_tables(caller, given.database)
        found = models.TableList(
            database=given.database,
            tables=[
                models.TableEntry(
                    name=one.name,
                    protects=self._protects(given.database, one.name),
                    columns=[column.name for column in one.columns],
                    published=False,
                )
                for one in shown
            ]
            + [
                models.TableEntry(
                    name=f"published.{one.name}",
                    protects="public",
                    columns=one.columns,
                    published=True,
                )
                for one in published
            ],
        )
        return found, texts.tables_text(found)

    async def _describe_table(
        self, caller: Caller, given: models.TableArguments
    ) -> tuple[BaseModel, str]:
        document = await self._schema(caller, given.database)
        named = [
            one for one in document if given.table in (one["name"], one["name"].rpartition(".")[2])
        ]
        if len(named) != 1:
            raise HttpProblem(
                404,
                "there is no such table, or you may not query it",
                hint="list_tables lists them, with their schemas.",
                sqlstate="42P01",
            )
        (shown,) = shown_tables(named)
        run = await self._examples(caller, given.database, shown)
        found = self._details(given.database, named[0], run)
        return found, texts.table_text(found)

    async def _explain(
        self, caller: Caller, given: models.ExplainArguments
    ) -> tuple[BaseModel, str]:
        price = await self._price(caller, given)
        return price, texts.price_text(price)

    async def _query(
        self, caller: Caller, given: models.QueryArguments, asker: Asker
    ) -> tuple[BaseModel, str]:
        query = _request_of(given, max_epsilon=given.max_epsilon)
        unasked = self._routes.engines[given.database].now.policy.approve_above
        approved = asker.approved(given.database, given.sql)
        most = unasked if unasked is None or approved is None else max(unasked, approved)
        if given.max_error is not None:
            _refuse_inexact(await self._price(caller, given), given.max_error)
        try:
            work = self._run_statement(caller, given.database, query, most)
            answered = await self._statement(caller, given.database, query, work)
        except HttpProblem as problem:
            if problem.code is not Code.TOO_DEAR:
                raise
            if unasked is not None and asker.can_ask and (approved or not asker.was_asked):
                await self._ask_first(caller, given, unasked)
            if asker.was_asked:
                problem.message = f"{problem.message}, and nobody has approved it"
            await self._add_cheaper(caller, given, problem)
            raise
        found = await self._answer(caller, given.database, answered)
        return found, texts.answer_text(found)

    async def _ask_first(
        self, caller: Caller, given: models.QueryArguments, unasked: Fraction
    ) -> None:
        """Ask the client's user, unless the statement costs more than the agent itself would pay."""
        plan = await self._plan(caller, given)
        assert plan is not None, "what is not about protected tables costs nothing"
        most, left = plan["privacy"]["epsilon"], plan["remaining"]
        if unasked < most <= given.max_epsilon:
            of = None if left is None else left["epsilon"]
            raise _ApprovalNeeded(question(given.database, given.sql, most, of))

    async def _budget(
        self, caller: Caller, given: models.DatabaseArguments
    ) -> tuple[BaseModel, str]:
        async with self._routes.logins.session(given.database, caller) as session:
            document = await self._routes.engines[given.database].now.budget(session.analyst)
        token = caller.token
        found = models.BudgetLines(
            lines=[
                models.AgentBudgetLine(
                    name="yours" if one["analyst"] == caller.analyst else one["analyst"],
                    limit=one["epsilon_limit"],
                    spent=one["epsilon_spent"],
                    left=one["epsilon_remaining"],
                    renews_at=one["renews_at"],
                )
                for one in json.loads(document)
            ],
            token=None
            if token is None
            else models.TokenLine(
                limit=None if token.epsilon is None else float(token.epsilon),
                spent=float(token.spent),
                per=token.per,
                renews_at=None if token.renews_at is None else token.renews_at.isoformat(),
                expires_at=token.expires_at.isoformat(),
            ),
        )
        return found, texts.budget_text(found)

    async def _published(
        self, caller: Caller, given: models.PublishedArguments
    ) -> tuple[BaseModel, str]:
        if given.name is None:
            tables = await self.published_tables(caller, given.database)
            found = models.PublishedList(tables=tables, answer=None)
            return found, texts.published_text(found)
        answer = await self._answer(
            caller, given.database, await self.published_rows(caller, given.database, given.name)
        )
        found = models.PublishedList(tables=[], answer=answer)
        return found, texts.published_text(found)

    async def _schema(self, caller: Caller, database: str) -> list[dict[str, Any]]:
        async with self._routes.logins.session(database, caller) as session:
            found: list[dict[str, Any]] = json.loads(await session.schema())
        return found

    async def _tables(self, caller: Caller, database: str) -> Sequence[ShownTable]:
        return shown_tables(await self._schema(caller, database))

    async def published_rows(self, caller: Caller, database: str, name: str) -> QueryResult:
        """Refuses  HttpProblem 404"""
        self._refuse_no_database(caller, database)
        if name not in {one.name for one in await self.published_tables(caller, database)}:
            raise HttpProblem(
                404,
                "nothing of that name is published",
                hint="Call published without a name.",
                sqlstate="42P01",
            )
        quoted = name.replace('"', '""')
        query = QueryRequest.validated({"sql": f'SELECT * FROM published."{quoted}"'})  # noqa: S608
        work = self._run_statement(caller, database, query)
        found: QueryResult = await self._statement(caller, database, query, work)
        return found

    async def published_tables(self, caller: Caller, database: str) -> list[models.PublishedEntry]:
        async with self._routes.logins.session(database, caller) as session:
            rows = (await session.run(_PUBLISHED, ())).values
        publications = {one.name: one for one in self._routes.engines[database].now.policy.publish}
        return [
            published_entry(name.decode(), (about or b"").decode(), columns, publications)
            for name, about, columns in rows
            if name is not None
        ]

    def _protects(self, database: str, table: str) -> str:
        """Whose privacy a table protects, in words."""
        policy = self._routes.engines[database].now.policy
        for name, one in policy.tables.items():
            if table not in (f"{name.schema}.{name.name}", str(name)):
                continue
            match one:
                case PublicTable():
                    return "public"
                case ProtectedTable(unit=RowUnit(rows=1)):
                    return "each row"
                case ProtectedTable(unit=RowUnit(rows=rows)):
                    return f"any {rows} rows"
                case ProtectedTable(unit=IdentifierUnit() as unit):
                    return f"a {unit.identifier} with {unit.their_rows}"
        return "public"

    async def described(self, caller: Caller, database: str) -> list[str]:
        """Of each table what `describe_table` says, without examples."""
        self._refuse_no_database(caller, database)
        document = await self._schema(caller, database)
        return [texts.table_text(self._details(database, one, examples=())) for one in document]

    def _details(
        self, database: str, table: Mapping[str, Any], examples: Sequence[models.ExampleStatement]
    ) -> models.TableDetails:
        """table: of /v1/schema."""
        (shown,) = shown_tables([table])
        columns = [
            models.ColumnEntry(
                name=one["name"],
                type=one["type"],
                counts=column.counts,
                use=column.use,
                low=one["low"],
                high=one["high"],
                values=one["values"],
            )
            for one, column in zip(table["columns"], shown.columns, strict=True)
        ]
        return models.TableDetails(
            name=shown.name,
            protects=self._protects(database, shown.name),
            columns=columns,
            examples=list(examples),
        )

    async def _examples(
        self, caller: Caller, database: str, table: ShownTable
    ) -> list[models.ExampleStatement]:
        """Statements that run on this table, with their price."""
        found: list[models.ExampleStatement] = []
        for one in examples([table]):
            sql = " ".join(one.sql.split())
            try:
                price = await self._price(
                    caller, models.ExplainArguments(database=database, sql=sql)
                )
            except HttpProblem:
                continue
            found.append(
                models.ExampleStatement(sql=sql, epsilon=price.epsilon, errors=price.outputs)
            )
        return found[:_EXAMPLES]

    async def _price(self, caller: Caller, given: models.ExplainArguments) -> models.AgentPrice:
        return price_of(await self._plan(caller, given))

    async def _plan(
        self, caller: Caller, given: models.ExplainArguments
    ) -> Mapping[str, Any] | None:
        """Of EXPLAIN. None: nothing protected is asked."""
        database, query = given.database, _request_of(given)

        async def planned() -> Mapping[str, Any] | None:
            async with self._routes.logins.session(database, caller, query.settings) as session:
                adapter = self._adapter(database)
                return await LibpqDriver(adapter, session, query, caller.payer()).explain()

        found: Mapping[str, Any] | None = await self._statement(caller, database, query, planned())
        return found

    async def _run_statement(
        self,
        caller: Caller,
        database: str,
        query: QueryRequest,
        approved_epsilon: Fraction | None = None,
    ) -> QueryResult:
        payer = caller.payer(query.most_epsilon, approved_epsilon)
        async with self._routes.logins.session(database, caller, query.settings) as session:
            adapter = self._adapter(database)
            driver = LibpqDriver(adapter, session, query, payer, with_errors=True)
            return await driver.run()

    async def _statement(
        self, caller: Caller, database: str, query: QueryRequest, work: Any
    ) -> Any:
        """Until it ends, or the token does. A refusal says what to ask instead."""
        with self._routes.logins.under_way(caller, database) as ended:
            corrected = self._routes.corrected(caller, database, query, work)
            return await while_connected(None, ended, corrected, self._routes.is_draining)

    async def _answer(
        self, caller: Caller, database: str, answered: QueryResult
    ) -> models.AgentAnswer:
        budget: str | None = None
        if answered.privacy is not None and answered.privacy.remaining is not None:
            budget = await self._routes.engines[database].now.budget(caller.analyst)
        turn = self.turn_of(caller, database)
        body = await as_json(answered, turn)
        return await turn.in_thread(answer_of, body, budget, caller.analyst)

    async def _add_cheaper(
        self, caller: Caller, given: models.QueryArguments, problem: HttpProblem
    ) -> None:
        """To a refusal for its price, the error that the price would give."""
        unasked = self._routes.engines[given.database].now.policy.approve_above
        most = given.max_epsilon if unasked is None else min(given.max_epsilon, float(unasked))
        try:
            price = await self._price(caller, given.model_copy(update={"epsilon": most}))
        except HttpProblem:
            return
        errors = "; ".join(f"{one.name}: {texts.error_text(one)}" for one in price.outputs)
        problem.hint = f"{problem.hint} With epsilon {shown_number(most)} {errors}."

    def turn_of(self, caller: Caller, database: str) -> Turn:
        """As EngineAdapter.turn_of, for the caller."""
        return self._adapter(database).turn_of(caller.analyst)

    def _adapter(self, database: str) -> EngineAdapter:
        return self._adapters[database]


def _validated(model: type[G], given: Mapping[str, object]) -> G:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the arguments"
        raise HttpProblem(
            400,
            f"{field}: {first['msg']}",
            hint=f"The arguments are {', '.join(model.model_fields)}.",
            sqlstate=Code.SETTING.sqlstate,
        ) from None


def _request_of(given: models.ExplainArguments, max_epsilon: float | None = None) -> QueryRequest:
    body: dict[str, object] = {"sql": given.sql}
    for name, value in (("epsilon", given.epsilon), ("max_epsilon", max_epsilon)):
        if value is not None:
            body[name] = JsonNumber(f"{Decimal(repr(value)):f}")
    return QueryRequest.validated(body)


def _refuse_inexact(price: models.AgentPrice, most: float) -> None:
    """Refuses  HttpProblem: an aggregate is expected to be less exact, or it is not known how exact"""
    for one in price.outputs:
        if one.error_95 is not None and one.error_95 <= most:
            continue
        hint = (
            "Leave max_error out: how exact it is depends on the data, and is told with the answer."
        )
        if one.error_95 is not None:
            hint = (
                "Ask with a larger epsilon, for fewer aggregates or groups, or leave max_error out."
            )
        raise HttpProblem(
            403,
            f"{one.name}: {texts.error_text(one)}, which is not within max_error {shown_number(most)}",
            hint=hint,
            sqlstate=Code.INFEASIBLE.sqlstate,
        )


def _refused(error: Exception) -> CallToolResult:
    problem = problem_of(error)
    if problem is None:
        log_failure(error, "agent")
        problem = HttpProblem(500, "the tool could not be run", sqlstate=Code.UNAVAILABLE.sqlstate)
    retry = problem.headers.get("Retry-After", "")
    is_free = problem.receipt is None and (
        problem.sqlstate is None or problem.sqlstate.startswith(_UNCHARGED)
    )
    found = models.ToolProblem(
        sqlstate=problem.sqlstate,
        code=None if problem.code is None else problem.code.name,
        detail=problem.message,
        hint=texts.hint_for_a_model(problem.sqlstate, problem.hint),
        instead=problem.instead,
        position=problem.position,
        charged=models.RefusedCharge(epsilon=0) if is_free else None,
        receipt=problem.receipt,
        retry_after=int(retry) if retry.isdecimal() else None,
    )
    return CallToolResult(
        content=[TextContent(type="text", text=texts.refusal_text(found))],
        structured_content=found.model_dump(mode="json"),
        is_error=True,
    )
