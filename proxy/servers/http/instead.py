"""The statement to send in the place of a refused one: made of its words, and planned before it is offered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from proxy.base.errors import Fault
from proxy.engine.sessions import PostgresError, WrongCredentials
from proxy.query.corrections import CORRECTIONS, OF_NAMES, corrections
from proxy.query.refused_parts import RefusedStatement, UsableColumn, UsableTables
from proxy.servers.engine_adapter import EngineAdapter
from proxy.servers.error_boundary import log_failure
from proxy.servers.http.analyst_models import QueryRequest
from proxy.servers.http.bearers import Caller
from proxy.servers.http.http_logins import HttpLogins
from proxy.servers.http.http_problem import HttpProblem, problem_of
from proxy.servers.http.libpq_driver import LibpqDriver
from proxy.turns.fair_share import Busy

_PLANNED = 10  # statements for one refusal
_NUMBERS = ("smallint", "integer", "bigint", "numeric", "real", "double precision")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrector:
    """Finds what an analyst can ask instead.

    adapter: of the database. It reports nothing: what is planned here was asked by nobody.
    """

    logins: HttpLogins
    database: str
    adapter: EngineAdapter

    async def correct(self, caller: Caller, query: QueryRequest, problem: HttpProblem) -> None:
        """Put the first candidate that is planned without a refusal into `problem.instead`, if there is one.

        Nothing is read or charged. What goes wrong here leaves the problem as it is.
        """
        if problem.receipt is not None or _reason(problem) not in CORRECTIONS:
            return
        try:
            async with self.logins.session(self.database, caller) as session:
                tables = _usable(json.loads(await session.schema()))
            problem.instead = await self._found(caller, query, problem, tables)
        except (HttpProblem, Fault, Busy, PostgresError, WrongCredentials):
            return
        except Exception as error:
            log_failure(error, "correct")

    async def _found(
        self, caller: Caller, query: QueryRequest, problem: HttpProblem, tables: UsableTables
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
                    objection = await self._objection(caller, query, candidate)
                    if objection is None:
                        return candidate
                    failed.append((candidate, objection))
            if _reason(problem) not in OF_NAMES:
                break
            refused = failed[:2]
        return None

    async def _objection(self, caller: Caller, query: QueryRequest, sql: str) -> HttpProblem | None:
        wanted = query.model_copy(update={"sql": sql})
        try:
            async with self.logins.session(self.database, caller, query.settings) as session:
                plan = await LibpqDriver(self.adapter, session, wanted).explain()
        except Busy:
            raise
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            return problem
        return _NO_PLAN if plan is None else None


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


def _usable(document: list[dict[str, Any]]) -> UsableTables:
    return {
        table["name"]: [
            UsableColumn(
                name=one["name"],
                is_listed=one["values"] is not None,
                is_number=one["low"] is not None and one["type"].startswith(_NUMBERS),
            )
            for one in table["columns"]
        ]
        for table in document
    }
