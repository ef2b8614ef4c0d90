"""The statement to send in the place of a refused one: made of its words, and planned before it is offered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from proxy.base.errors import Fault
from proxy.base.session_settings import ANSWERED_SETTINGS, DP_SETTINGS
from proxy.engine.query_pipeline import EngineInForce
from proxy.engine.sessions import (
    AnalystSession,
    AnalystSessions,
    PostgresError,
    WrongCredentials,
)
from proxy.pgwire.calls import Correct
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable
from proxy.query.corrections import CORRECTIONS, OF_NAMES, corrections
from proxy.query.refused_parts import RefusedStatement, UsableColumn, UsableTables
from proxy.servers.engine_adapter import Correcting, EngineAdapter
from proxy.servers.error_boundary import log_failure
from proxy.servers.http.analyst_models import QueryRequest
from proxy.servers.http.http_logins import Caller
from proxy.servers.http.http_problem import HttpProblem, problem_of, refused
from proxy.servers.http.libpq_driver import LibpqDriver
from proxy.turns.fair_share import Busy

_SECONDS = 5.0  # a client of the wire waits no longer for it
_PLANNED_BY = (*DP_SETTINGS, *ANSWERED_SETTINGS)
_PLANNED = 10  # statements for one refusal
_NUMBERS = ("smallint", "integer", "bigint", "numeric", "real", "double precision")


class OpensSessions(Protocol):
    def session(
        self, database: str, caller: Caller, settings: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[AnalystSession]: ...


@dataclass(frozen=True, slots=True)
class InnerSessions:
    """Of analysts that another listener has let in."""

    sessions: AnalystSessions

    @asynccontextmanager
    async def session(
        self, database: str, caller: Caller, settings: Mapping[str, str] | None = None
    ) -> AsyncIterator[AnalystSession]:
        async with self.sessions.place(caller.analyst):
            opened = self.sessions.inner_session(database, caller.analyst, settings or {})
            async with opened as session:
                yield session


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrector:
    """Finds what an analyst can ask instead.

    adapter: of the database. It reports nothing: what is planned here was asked by nobody.
    """

    logins: OpensSessions
    database: str
    adapter: EngineAdapter

    async def correct(self, caller: Caller, query: QueryRequest, problem: HttpProblem) -> None:
        """Put the first candidate that is planned without a refusal into `problem.instead`, if there is one.

        Nothing is read or charged. What goes wrong here leaves the problem as it is.
        """
        problem.instead = await self._instead(caller, query, problem, query.settings)

    async def of_wire(self, analyst: str, text: str, wanted: Correct) -> str | None:
        """As `correct`, of a statement of the other listener, within some seconds.

        Args:
            analyst: Whose session it is.
            text: Of the statement, without values of parameters.
            wanted: Why it was refused, and by which settings.
        """
        settings = {name: value for name, value in wanted.settings.items() if name in _PLANNED_BY}
        caller = Caller(analyst=analyst, password=None)
        query = QueryRequest.validated({"sql": text})
        finding = self._instead(caller, query, refused(wanted.refuse), settings)
        try:
            return await asyncio.wait_for(finding, _SECONDS)
        except asyncio.TimeoutError:
            return None

    async def _instead(
        self, caller: Caller, query: QueryRequest, problem: HttpProblem, settings: Mapping[str, str]
    ) -> str | None:
        if problem.receipt is not None or _reason(problem) not in CORRECTIONS:
            return None
        try:
            async with self.logins.session(self.database, caller) as session:
                tables = _usable(json.loads(await session.schema()), self.adapter.policy)
            return await self._found(caller, query, problem, tables, settings)
        except (HttpProblem, Fault, Busy, PostgresError, WrongCredentials):
            return None
        except Exception as error:
            log_failure(error, "correct")
            return None

    async def _found(
        self,
        caller: Caller,
        query: QueryRequest,
        problem: HttpProblem,
        tables: UsableTables,
        settings: Mapping[str, str],
    ) -> str | None:
        left = _PLANNED
        refused = [(query.sql, problem)]
        seen = {query.sql}
        for _ in range(2):
            failed: list[tuple[str, HttpProblem]] = []
            for sql, reason in refused:
                for candidate in _candidates(sql, reason, tables):
                    if candidate in seen or not left:
                        continue
                    seen.add(candidate)
                    left -= 1
                    objection = await self._objection(caller, query, candidate, settings)
                    if objection is None:
                        return candidate
                    failed.append((candidate, objection))
            if _reason(problem) not in OF_NAMES:
                break
            refused = failed[:2]
        return None

    async def _objection(
        self, caller: Caller, query: QueryRequest, sql: str, settings: Mapping[str, str]
    ) -> HttpProblem | None:
        wanted = query.model_copy(update={"sql": sql})
        try:
            async with self.logins.session(self.database, caller, settings) as session:
                plan = await LibpqDriver(self.adapter, session, wanted, caller.payer()).explain()
        except Busy:
            raise
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            return problem
        return _NO_PLAN if plan is None or _says_nothing(plan) else None


def _says_nothing(plan: Mapping[str, Any]) -> bool:
    """Whether an answer of it would be NULL, of however many rows."""
    examples = [one["expected"]["examples"] for one in plan["aggregates"]]
    return any(of and all(one["error_95"] is None for one in of) for of in examples)


def correcting_of(
    engines: Mapping[str, EngineInForce], sessions: AnalystSessions
) -> dict[str, Correcting]:
    """Of each database, for the wire."""
    return {
        name: Corrector(
            logins=InnerSessions(sessions), database=name, adapter=EngineAdapter(engine)
        ).of_wire
        for name, engine in engines.items()
    }


_NO_PLAN = HttpProblem(400, "nothing protected is asked")


def _reason(problem: HttpProblem) -> str:
    return problem.sqlstate or "" if problem.code is None else problem.code.name


def _candidates(sql: str, problem: HttpProblem, tables: UsableTables) -> Iterator[str]:
    refused = RefusedStatement(
        text=sql,
        reason=_reason(problem),
        hint=problem.hint or "",
        position=problem.position,
        tables=tables,
    )
    return corrections(refused)


def _usable(document: list[dict[str, Any]], policy: Policy) -> UsableTables:
    units = {
        str(name): table.unit
        for name, table in policy.tables.items()
        if isinstance(table, ProtectedTable)
        and isinstance(table.unit, IdentifierUnit)
        and table.unit.path is None
    }

    columns = {
        str(name): table.columns
        for name, table in policy.tables.items()
        if isinstance(table, ProtectedTable)
    }

    def usable(table: str, one: dict[str, Any]) -> UsableColumn:
        unit = units.get(table)
        is_unit = unit is not None and unit.column == one["name"]
        joins = [
            (name, other.column)
            for name, other in units.items()
            if is_unit and name != table and other.identifier == units[table].identifier
        ]
        column = columns.get(table, {}).get(one["name"])
        if column is not None and column.references is not None:
            joins.append((str(column.references[0]), column.references[1]))
        return UsableColumn(
            name=one["name"],
            is_listed=one["values"] is not None,
            is_number=one["low"] is not None and one["type"].startswith(_NUMBERS),
            is_unit=is_unit,
            joins=tuple(joins),
        )

    return {
        table["name"]: [usable(table["name"], one) for one in table["columns"]]
        for table in document
    }
