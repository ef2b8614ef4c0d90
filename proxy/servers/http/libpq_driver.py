"""Drives the sequence of a query (proxy.pgwire.query_sequence) with libpq, on a session held for one request.

It is what the extended protocol does with a Parse, a Bind and an Execute of the unnamed statement. Nothing
outlives the request: COPY and cursors are refused here, and an EXECUTE finds nothing prepared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from typing_extensions import ParamSpec, assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.limits import LOOKED_AT_BYTES
from proxy.drawing.statement_run import Payer
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.sessions import Analysed, AnalystSession, PostgresError, ResultRows
from proxy.pgwire.calls import (
    Analyse,
    Analysis,
    Arguments,
    ColumnHint,
    DescribeConstants,
    EvaluateConstants,
    ExecutePrepared,
    Inspect,
    Look,
    PlanTrial,
    QueryAnswer,
    Read,
    ReadArguments,
    Refuse,
    Rehearse,
    RunQuery,
    RunTrial,
    ShadowStatement,
    Verbatim,
)
from proxy.pgwire.held_timeouts import TOO_OLD
from proxy.pgwire.query_sequence import QuerySequence, QueryStep, Rewritten, answer, decide
from proxy.pgwire.shadow_exchanges import JSONB_OID
from proxy.pgwire.statement_look import LOOKED_AT_AT_ONCE, pieces_of
from proxy.pgwire.wording import UNKNOWN_NAMES, reword_table_error
from proxy.query.syntax.explain_options import judging
from proxy.query.syntax.statements import StatementKind
from proxy.servers.engine_adapter import EngineAdapter
from proxy.servers.http.analyst_models import QueryRequest
from proxy.servers.http.http_problem import problem_of, refused

_ROWS_AT_ONCE = 5_000  # are taken apart in some milliseconds

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QueryResult:
    """privacy: None where nothing protected was queried; errors: of each row, None where rows have none
    of their own."""

    rows: ResultRows
    privacy: NoisyAnswer | None
    errors: RowErrors | None = None


@dataclass(frozen=True, slots=True)
class RowErrors:
    """places: of the columns that have an error, from 1; values: row by row, as PostgreSQL prints them."""

    places: tuple[int, ...]
    values: Sequence[tuple[bytes | None, ...]]


class LibpqDriver:
    """One request, to be run or explained once."""

    def __init__(
        self,
        engine: EngineAdapter,
        session: AnalystSession,
        request: QueryRequest,
        payer: Payer,
        *,
        parent: str | None = None,
        with_errors: bool = False,
    ) -> None:
        """
        Args:
            engine: Of the database.
            session: Of the analyst.
            request: What is asked.
            payer: Who is charged, if it is run.
            parent: As of EngineAdapter.paid_by.
            with_errors: The result is wanted with the error of each value.
        """
        self._with_errors = with_errors
        self._engine = engine.paid_by(payer, parent)
        self._session = session
        self._request = request
        self._prepared: str | None = None  # the text that the session holds prepared
        self._answer: NoisyAnswer | None = None

    async def run(self) -> QueryResult:
        """
        Refuses  what the engine refuses, PostgreSQL's own errors; with the receipt if it was charged
        """
        with self._naming_tables():
            return await self._run_request()

    async def _run_request(self) -> QueryResult:
        request, session = self._request, self._session
        decided = await self._decided()
        if isinstance(decided, Verbatim):
            with _naming_columns(decided.column_hint):
                return QueryResult(await session.run(request.sql, request.params), None)
        question = _selecting(decided)
        run = await self._performed(answer(decided, _wanted(decided)), decided)
        match run:
            case Refuse():
                raise refused(run)
            case ShadowStatement():
                rows = await self._run(decided, run)
                places = question.reading.error_columns
                is_long = len(rows.values) > _ROWS_AT_ONCE
                rows, errors = await self._apart(is_long, rows, places)
                return QueryResult(rows, None if question.reads_nothing else self._answer, errors)
            case Verbatim():
                raise AssertionError("a statement of this request is nobody else's")
            case _:
                assert_never(run)

    async def _apart(
        self, is_long: bool, rows: ResultRows, places: tuple[int, ...]
    ) -> tuple[ResultRows, RowErrors | None]:
        if not is_long:
            return _apart(rows, places)
        turn = self._engine.turn_of(self._session.analyst)
        return await turn.in_thread(_apart, rows, places)

    @contextmanager
    def _naming_tables(self) -> Iterator[None]:
        """An error about a table that may not be read or written has the hint that it has over the wire."""
        try:
            yield
        except PostgresError as error:
            told = {b"C": error.sqlstate.encode(), b"M": error.message.encode()}
            if error.hint is not None:
                told[b"H"] = error.hint.encode()
            is_unread = len(self._request.sql) > LOOKED_AT_BYTES
            if reword_table_error(told, self._engine, is_unread=is_unread):
                error.sqlstate, error.message = told[b"C"].decode(), told[b"M"].decode()
                error.hint = told[b"H"].decode()
            if error.sqlstate == Code.SYNTAX.sqlstate and error.position is None:
                parts = self._engine.split(self._request.sql)
                if not isinstance(parts, Refuse) and len(parts) > 1:
                    error.hint = "Send one statement, with none behind it."
                    start, second = parts[1]
                    error.position = start + len(second) - len(second.lstrip()) + 1
            raise

    async def explain(self) -> dict[str, object] | None:
        """The privacy plan. None: the statement asks for nothing protected. Reads and charges nothing."""
        with self._naming_tables():
            return await self._explained()

    async def _explained(self) -> dict[str, object] | None:
        decided = await self._decided()
        if isinstance(decided, Verbatim):
            await self._session.analyse(self._request.sql, names_hint=True)
            judged = judging(self._request.sql)
            if judged is not None:  # what /v1/query would refuse is no plan that costs nothing
                await self._session.run(judged, self._request.params)
            return None
        reads_nothing = _selecting(decided).reads_nothing
        arguments = await self._arguments(_wanted(decided), decided)
        rehearsal = decided.substitute.rehearsal
        if rehearsal is not None:
            step = Rehearse(rehearsal, decided.parameter_oids, arguments)
            reads_nothing |= not await self._answered(step, decided)
        if reads_nothing:
            return None
        assert arguments.json is not None
        given, constants = arguments.json, decided.substitute.constants
        if constants:
            oids = decided.parameter_oids
            given += await self._session.constants(constants, self._request.params, oids)
        query = RunQuery(decided.substitute.handle, given, arguments.settings)
        plan = await self._engine.explain(self._session.analyst, query)
        if isinstance(plan, Refuse):
            raise refused(plan)
        return plan

    async def _in_turn(
        self, is_long: bool, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        """What is long is read in a thread, one statement of an analyst at a time."""
        if is_long:
            return await self._engine.in_turn(self._session.analyst, function, *given, **named)
        return function(*given, **named)

    async def _decided(self) -> Verbatim | Rewritten:
        """PostgreSQL's own error comes before a refusal of ours, as over the wire."""
        sql = self._request.sql
        wanted = Look(sql, is_exact=True, is_query=False)
        is_long = len(sql) > LOOKED_AT_AT_ONCE
        ((_, _, looked),) = await self._in_turn(is_long, pieces_of, self._engine, wanted)
        decided: Verbatim | Refuse | Rewritten
        match looked:
            case Verbatim():
                return looked
            case ExecutePrepared():
                return Verbatim()
            case Refuse():
                decided = looked
            case Inspect():
                decided = await self._performed(decide(looked), None)
            case _:
                assert_never(looked)
        if isinstance(decided, Refuse):
            is_analysed = isinstance(looked, Inspect) and looked.analyse == sql
            if not is_analysed and not decided.is_kept_from_shadow:
                await self._session.analyse(sql, names_hint=False)
            raise refused(decided)
        return decided

    async def _performed(self, sequence: QuerySequence[T], decided: Rewritten | None) -> T:
        """decided: what is being answered, if it is decided already."""
        given: Any = None
        while True:
            try:
                step = sequence.send(given)
            except StopIteration as ended:
                result: T = ended.value
                return result
            given = await self._answered(step, decided)

    async def _answered(self, step: QueryStep, decided: Rewritten | None) -> object:
        session = self._session
        match step:
            case Analyse():
                analysed = await self._analysed(step)
                resolved = await session.resolve(step.inspect.relations)
                return Analysis(
                    resolved.relation_oids,
                    analysed.parameter_oids,
                    analysed.columns,
                    resolved.settings,
                )
            case Read():
                wanted = replace(step, with_errors=self._with_errors)
                return await self._in_turn(step.is_long, self._engine.read, wanted)
            case ReadArguments():
                assert decided is not None
                return await self._arguments(step, decided)
            case DescribeConstants():
                return await session.types_of(step.expressions, step.parameter_oids)
            case EvaluateConstants():
                values = self._request.params
                return await session.constants(step.constants, values, step.parameter_oids)
            case Rehearse():
                values = self._request.params
                return await session.rehearse(step.rehearsal, values, step.parameter_oids)
            case PlanTrial():
                return await self._engine.trial(session.analyst, step)
            case RunTrial():
                values = self._request.params
                return await session.run_trial(step.trial, values, step.parameter_oids)
            case RunQuery():
                assert decided is not None
                if await session.hold():
                    return TOO_OLD
                await self._prepare(decided)  # an error of PostgreSQL's comes before the charge
                answered = await self._engine.run(session.analyst, step)
                if isinstance(answered, QueryAnswer):
                    self._answer = answered.handle
                return answered
            case _:
                assert_never(step)

    async def _analysed(self, step: Analyse) -> Analysed:
        inspect = step.inspect
        with _naming_columns(inspect.column_hint):
            return await self._session.analyse(inspect.analyse, names_hint=True)

    async def _arguments(self, step: ReadArguments, decided: Rewritten) -> Arguments:
        given, oids = self._request.params, step.parameter_oids
        if len(given) != len(oids):
            text = _question(decided).statement.analysed_text()
            await self._session.analyse(text, names_hint=True)
            await self._session.run_prepared(given)
            raise PostgresError(
                "08P01", "the number of params differs from the statement's parameters"
            )
        return Arguments(await self._session.arguments(given, oids), step.settings)

    async def _prepare(self, decided: Rewritten) -> None:
        text = decided.substitute.text
        if self._prepared != text:
            await self._session.prepare(text, (*decided.parameter_oids, JSONB_OID))
            self._prepared = text

    async def _run(self, decided: Rewritten, run: ShadowStatement) -> ResultRows:
        await self._prepare(decided)
        try:
            return await self._session.run_prepared((*self._request.params, run.relation))
        except Exception as error:
            # The charge stands: PostgreSQL failed on noisy values, e.g. in a division by zero.
            if run.charged is not None:
                run.charged.keep()
            if self._answer is None or (problem := problem_of(error)) is None:
                raise
            problem.receipt = self._answer.charged_receipt
            hints = (problem.hint, self._answer.charged_hint)
            problem.hint = " ".join(hint for hint in hints if hint is not None) or None
            raise problem from None


@contextmanager
def _naming_columns(hint: ColumnHint | None) -> Iterator[None]:
    """An error about an unknown name has the hint that it has over the wire."""
    try:
        yield
    except PostgresError as error:
        if error.sqlstate.encode() in UNKNOWN_NAMES and hint is not None:
            error.hint = hint(error.message) or error.hint
        raise


def _apart(rows: ResultRows, places: tuple[int, ...]) -> tuple[ResultRows, RowErrors | None]:
    """The result's own columns, and those of errors behind them."""
    if not places:
        return rows, None
    own = len(rows.columns) - len(places)
    errors = RowErrors(places, [row[own:] for row in rows.values])
    return ResultRows(rows.columns[:own], [row[:own] for row in rows.values]), errors


def _question(decided: Rewritten) -> ProtectedQuery:
    question = decided.substitute.handle
    assert isinstance(question, ProtectedQuery)
    return question


def _selecting(decided: Rewritten) -> ProtectedQuery:
    """Refuses  what makes something that a request cannot leave behind"""
    question = _question(decided)
    if question.statement.kind not in (StatementKind.QUERY, StatementKind.EXPLAIN):
        raise Refusal(
            Code.UNSUPPORTED,
            "over HTTP a question is a SELECT: nothing outlives a request",
            "Send the SELECT itself, or connect with a PostgreSQL client.",
        )
    return question


def _wanted(decided: Rewritten) -> ReadArguments:
    return ReadArguments(decided.parameter_oids, decided.settings)
