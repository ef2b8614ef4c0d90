"""One request on its way: the steps of the wire's extended protocol (proxy.pgwire), on one session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.base.errors import Code, Refusal
from proxy.base.limits import COLUMNS_PER_RESULT, STATEMENT_BYTES
from proxy.engine.answering import Answer
from proxy.engine.asking import Engine
from proxy.engine.questions import Question
from proxy.engine.rehearsing import rehearsal
from proxy.engine.residual import residual_text
from proxy.engine.sessions import AnalystSession, PostgresError, Resolved, Rows
from proxy.pgwire.calls import Column
from proxy.pgwire.deciding import NO_RELATION, TOO_LONG, TOO_MANY_RELATIONS
from proxy.pgwire.exchange import JSONB_OID
from proxy.query.syntax.statements import Execute, Kind, Statement
from proxy.servers.http.problem import Problem, problem_of, refused
from proxy.servers.http.request_reading import Asked

P = ParamSpec("P")
T = TypeVar("T")

_READ_AT_ONCE = 500  # characters; longer ones may take more than some milliseconds


@dataclass(frozen=True, slots=True)
class Answered:
    """privacy: None where nothing protected was asked for."""

    rows: Rows
    privacy: Answer | None


@dataclass(frozen=True, slots=True)
class _Private:
    question: Question
    resolved: Resolved
    columns: tuple[Column, ...]


async def answer(engine: Engine, session: AnalystSession, asked: Asked) -> Answered:
    """
    Refuses  what the engine refuses, PostgreSQL's own errors; with the receipt if it was charged
    """
    private = await _private(engine, session, asked)
    if private is None:
        return Answered(await session.run(asked.sql, asked.parameters), None)
    question = private.question
    if question.statement.kind not in (Kind.QUERY, Kind.EXPLAIN):
        raise Refusal(
            Code.UNSUPPORTED,
            "over HTTP a question is a SELECT: nothing outlives a request",
            "Send the SELECT itself, or connect with a PostgreSQL client.",
        )
    arguments = await _arguments(session, question, asked)
    text, oids = residual_text(question), question.parameter_oids
    rehearsed = rehearsal(question.statement, question.reading, private.columns)
    if rehearsed is not None and not await session.rehearse(rehearsed, asked.parameters, oids):
        await session.prepare(text, (*oids, JSONB_OID))
        return Answered(await session.run_prepared((*asked.parameters, NO_RELATION)), None)
    await session.prepare(text, (*oids, JSONB_OID))
    given = await engine.ask(question, arguments, private.resolved.settings, session.analyst)
    try:
        rows = await session.run_prepared((*asked.parameters, given.relation))
    except Exception as error:
        # The charge stands: PostgreSQL failed on noised values, e.g. in a division by zero.
        problem = problem_of(error)
        if problem is None:
            raise
        problem.receipt = given.receipt
        raise problem from None
    return Answered(rows, None if question.reads_nothing else given)


async def explain(
    engine: Engine, session: AnalystSession, asked: Asked
) -> dict[str, object] | None:
    """The privacy plan. None: the statement asks for nothing protected. Reads and charges nothing."""
    private = await _private(engine, session, asked)
    if private is None:
        await session.analyse(asked.sql, names_hint=True)
        return None
    if private.question.reads_nothing:
        return None
    arguments = await _arguments(session, private.question, asked)
    return await engine.explain(
        private.question, arguments, private.resolved.settings, session.analyst
    )


async def _private(engine: Engine, session: AnalystSession, asked: Asked) -> _Private | None:
    """PostgreSQL's own error comes before a refusal of ours, as over the wire."""
    try:
        found = await _beside(asked.sql, engine.look, asked.sql)
    except Refusal as refusal:
        await session.analyse(asked.sql, names_hint=False)
        raise (refused(TOO_LONG) if _is_too_long(asked.sql) else refusal) from None
    if found is None or isinstance(found, Execute):
        return None
    too_large = _too_large(found)
    if too_large is not None:
        await session.analyse(asked.sql, names_hint=False)
        raise too_large
    analysed = await session.analyse(found.analysed_text(), names_hint=True)
    resolved = await session.resolve(found.relations)
    try:
        question = await engine.read_beside(
            found, resolved.relation_oids, analysed.parameter_oids, resolved.settings
        )
    except Refusal:
        if found.kind is not Kind.QUERY:
            await session.analyse(asked.sql, names_hint=False)
        raise
    return None if question is None else _Private(question, resolved, analysed.columns)


async def _beside(text: str, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """A long statement is read in a thread, so that other sessions go on meanwhile."""
    if len(text) <= _READ_AT_ONCE:
        return function(*given, **named)
    return await asyncio.to_thread(function, *given, **named)


def _too_large(statement: Statement) -> Problem | None:
    if _is_too_long(statement.text):
        return refused(TOO_LONG)
    if len(statement.relations) > COLUMNS_PER_RESULT - 64:
        return refused(TOO_MANY_RELATIONS)
    return None


def _is_too_long(text: str) -> bool:
    return len(text.encode()) > STATEMENT_BYTES


async def _arguments(
    session: AnalystSession, question: Question, asked: Asked
) -> tuple[str | None, ...]:
    oids = question.parameter_oids
    if len(asked.parameters) != len(oids):
        await session.analyse(question.statement.analysed_text(), names_hint=True)
        await session.run_prepared(asked.parameters)
        raise PostgresError("08P01", "the number of params is not that of the statement")
    return await session.arguments(asked.parameters, oids)
