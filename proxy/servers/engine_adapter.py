"""One database's engine in the vocabulary of running a query (proxy.pgwire.calls), for both listeners."""

from __future__ import annotations

import copy
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import lru_cache, partial
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.accounting.amounts import charged_text
from proxy.base.errors import CHARGED_FAULT_HINT, FAULT_HINT, Fault
from proxy.base.limits import STATEMENT_BYTES
from proxy.base.shown_numbers import shown_number
from proxy.base.stages import Stage
from proxy.catalog.catalog_model import TableName
from proxy.drawing.statement_run import NotedCharges, Payer, StatementRun
from proxy.engine.answer_lines import AnswerLines, answer_lines
from proxy.engine.cached_answers import fingerprint
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.policy_statements import PolicyStatements, ProtectedQuery
from proxy.engine.query_pipeline import Engine, EngineInForce
from proxy.engine.rehearsal_queries import goes_to_the_server, rehearsal, rewritten_text, trial_of
from proxy.pgwire.calls import (
    ChargedAnswer,
    ConstantsWanted,
    Correct,
    DescribedColumn,
    ExecutePrepared,
    Inspect,
    PlanTrial,
    QueryAnswer,
    Read,
    Refuse,
    Rehearsal,
    RunQuery,
    Substitute,
    Trial,
    Verbatim,
)
from proxy.policy.policy_model import Policy
from proxy.query.corrections import CORRECTIONS
from proxy.query.syntax.parameters import settled
from proxy.query.syntax.prepared_statements import prepared_names, prepared_query
from proxy.query.syntax.statements import Execute, Statement, StatementKind, StoredQuery
from proxy.servers.error_boundary import refuses, refuses_later
from proxy.servers.statement_reports import (
    FINGERPRINT_DIGITS,
    AskedStatement,
    RunningStatement,
    StageTime,
    StatementReporter,
)
from proxy.turns.threads import Turn

_KEPT = 64

Correcting = Callable[[str, str, Correct], Awaitable[str | None]]  # by analyst and text

P = ParamSpec("P")
T = TypeVar("T")


class _Kept:
    """What the last questions became, as they were read under one policy."""

    def __init__(self, statements: PolicyStatements) -> None:
        self.begin(statements)

    def begin(self, statements: PolicyStatements) -> None:
        self.statements = statements
        self.substitute = lru_cache(maxsize=_KEPT)(_substitute)


class EngineAdapter:
    """Translates, and lets nothing be raised: errors are results (proxy.servers.error_boundary).

    The one place where statements on protected tables end, so it reports them (statement_reports.py).
    """

    def __init__(
        self,
        engine: EngineInForce,
        reporter: StatementReporter | None = None,
        correcting: Correcting | None = None,
    ) -> None:
        """correcting: finds what to ask instead of a refused statement; None: nothing is looked for."""
        self._engine = engine
        self._correcting = correcting
        self._kept = _Kept(engine.now.statements)
        self._reporter = reporter
        self._payer = Payer(analyst="", token=None)
        self._parent: str | None = None
        self._last_read: tuple[object, StageTime] | None = None
        self._asked = lru_cache(maxsize=_KEPT)(self._asked_by)

    @property
    def policy(self) -> Policy:
        """That is in force."""
        return self._engine.now.policy

    def of(self, analyst: str) -> EngineAdapter:
        """The same for one analyst's session, which comes through no token."""
        return self.paid_by(Payer(analyst=analyst, token=None))

    def paid_by(self, payer: Payer, parent: str | None = None) -> EngineAdapter:
        """The same for a session: it is charged, and what it refuses to read is reported as the payer's.

        Args:
            payer: Who is charged.
            parent: The `traceparent` of the request that its statements are part of.
        """
        theirs = copy.copy(self)
        theirs._payer, theirs._parent = payer, parent
        return theirs

    @property
    def _statements(self) -> PolicyStatements:
        return self._engine.now.statements

    async def in_turn(
        self, analyst: str, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        """Read in a thread, one statement of an analyst at a time."""
        return await self._engine.reading.run(analyst, function, *given, **named)

    def turn_of(self, analyst: str) -> Turn:
        """In which long jobs of answering the analyst run."""
        return Turn(analyst, self._engine.answering)

    def _run_of(self, analyst: str) -> StatementRun:
        """Refuses  Fault: a statement in the name of another analyst than the one whose session it is"""
        if analyst != self._payer.analyst:
            raise Fault("a statement in the name of another analyst")
        return StatementRun(payer=self._payer, turns=self._engine.answering)

    def is_protected(self, table: str) -> bool:
        return self._statements.is_protected(table)

    def unknown_table_hint(self, message: str) -> str | None:
        return self._statements.unknown_table_hint(message)

    @refuses("split")
    def split(self, text: str) -> tuple[tuple[int, str], ...]:
        return self._statements.split(text)

    @refuses("look")
    def look(self, text: str) -> Verbatim | Inspect | ExecutePrepared:
        found = self._statements.look(text)
        match found:
            case None:
                names = prepared_names(text)
                return Verbatim(prepares=names.names, deallocates=names.deallocated)
            case Execute():
                arguments = tuple(map(settled, found.arguments))
                return ExecutePrepared(found.name, arguments, found.inside)
            case StoredQuery():
                hint = partial(_column_hint, self._statements, found.statement)
                return Verbatim(hint, prepared_names(text).names)
            case Statement():
                hint = partial(_column_hint, self._statements, found)
                return Inspect(found.relations, found.analysed_text(), found, hint)

    @refuses("prepared")
    def prepared(self, source: str, name: str) -> str | None:
        return prepared_query(source, name)

    def read(self, read: Read) -> Verbatim | Substitute | ConstantsWanted | Refuse:
        begun = time.monotonic_ns()
        found = self._read(read)
        if isinstance(found, Refuse) and self._reporter is not None:
            statement, engine = read.handle, self._engine.now
            named = (engine.statements.relations.get(oid or 0) for oid in read.relation_oids)
            asked = _asked(statement, (), named, engine.known.naming_key)
            self._reporter.refused(self._payer.analyst, asked, found, begun, self._parent)
        if isinstance(found, Substitute):
            done = StageTime(stage=Stage.READ, begun=begun, ended=time.monotonic_ns())
            self._last_read = found.handle, done
        return found

    @refuses("read")
    def _read(self, read: Read) -> Verbatim | Substitute | ConstantsWanted:
        statement = read.handle
        assert isinstance(statement, Statement)
        relations, oids, settings = read.relation_oids, read.parameter_oids, read.settings
        with_errors, statements = read.with_errors, self._statements
        if read.constant_oids is None:
            wanted = statements.constants_needed(statement, relations, oids, settings, with_errors)
            if wanted:
                return ConstantsWanted(tuple(map(settled, wanted)))
        question = statements.read(
            statement, relations, oids, settings, with_errors, read.constant_oids
        )
        if question is None:
            return Verbatim()
        return self._substituted(statements, question, read.columns)

    def _substituted(
        self,
        statements: PolicyStatements,
        question: ProtectedQuery,
        columns: tuple[DescribedColumn, ...],
    ) -> Verbatim | Substitute:
        """It is kept, as a program asks the same again, while the policy is in force."""
        if len(question.statement.text) > STATEMENT_BYTES:
            return _substitute(question, columns)
        if self._kept.statements is not statements:
            self._kept.begin(statements)
        return self._kept.substitute(question, columns)

    def can_correct(self, refuse: Refuse) -> bool:
        if self._correcting is None or refuse.receipt is not None or refuse.code is None:
            return False
        return refuse.code.name in CORRECTIONS

    async def correct(self, analyst: str, wanted: Correct) -> str | None:
        if self._correcting is None:
            return None
        handle = wanted.handle
        statement = handle.statement if isinstance(handle, ProtectedQuery) else handle
        assert isinstance(statement, Statement)
        return await self._correcting(analyst, statement.text, wanted)

    async def trial(self, analyst: str, query: PlanTrial) -> Trial | Refuse | None:
        begun = time.monotonic_ns()
        found = await self._tried(analyst, query)
        if isinstance(found, Refuse) and self._reporter is not None:
            asked = self._asked(query.handle)
            self._reporter.refused(analyst, asked, found, begun, self._parent)
        return found

    @refuses_later("trial")
    async def _tried(self, analyst: str, query: PlanTrial) -> Trial | None:
        engine, question = self._in_force(query)
        settings = engine.settings_in_force(query.settings)
        day = await engine.day_of(question) if query.day is None else query.day
        relations = await engine.plausible_relations(
            question,
            query.arguments,
            settings,
            self.turn_of(analyst),
            is_first=query.is_first,
            day=day,
        )
        return trial_of(question, relations, day) if relations else None

    @refuses_later("run")
    async def run(self, analyst: str, query: RunQuery) -> QueryAnswer | Refuse:
        assert isinstance(query.handle, ProtectedQuery)
        run = self._run_of(analyst)
        if query.handle.statement.kind is StatementKind.EXPLAIN:
            return await self._explained(run, query)
        if query.handle.reads_nothing:
            return await self._answered(run, query)
        if self._reporter is None:
            return _with_receipt(await self._answered(run, query), run.charges)
        running = RunningStatement(
            reporter=self._reporter,
            run=run,
            asked=self._asked(query.handle),
            parent=self._parent,
        )
        run.stages = running.stages
        if self._last_read is not None and self._last_read[0] is query.handle:
            running.stages.times.append(self._last_read[1])
            self._last_read = None
        try:
            running.result = _with_receipt(await self._answered(run, query), run.charges)
            return running.result
        finally:
            running.end()

    def _asked_by(self, question: ProtectedQuery) -> AskedStatement:
        origin = question.origin
        kinds = (
            one.kind.value for block in question.reading.query.blocks for one in block.aggregates
        )
        named = () if origin is None else origin.resolved
        return _asked(question.statement, kinds, named, self._engine.now.known.naming_key)

    @refuses_later("explain", is_free=True)
    async def _explained(self, run: StatementRun, query: RunQuery) -> QueryAnswer:
        return await self._run(run, query)

    @refuses_later("run")
    async def _answered(self, run: StatementRun, query: RunQuery) -> QueryAnswer:
        return await self._run(run, query)

    async def _run(self, run: StatementRun, query: RunQuery) -> QueryAnswer:
        engine, question = self._in_force(query)
        settings = engine.settings_in_force(query.settings)
        answer = await engine.run(question, query.arguments, settings, run, query.day)
        inlined = None
        if question.statement.kind is StatementKind.COPY:
            inlined = settled(question.reading.inlined(answer.relation))
        return QueryAnswer(
            answer.relation,
            partial(_told, answer),
            inlined,
            answer,
            outlasts_timeout=answer.outlasts_timeout,
            charged=_charged(engine, answer),
        )

    @refuses_later("explain", is_free=True)
    async def explain(self, analyst: str, query: RunQuery) -> dict[str, object]:
        """The privacy plan. Reads and charges nothing."""
        engine, question = self._in_force(query)
        settings = engine.settings_in_force(query.settings)
        return await engine.explain(question, query.arguments, settings, self._run_of(analyst))

    def _in_force(self, query: RunQuery | PlanTrial) -> tuple[Engine, ProtectedQuery]:
        """The engine of this moment, and the question as its policy reads it: an engine plans no question
        that another policy has read."""
        engine = self._engine.now
        assert isinstance(query.handle, ProtectedQuery)
        return engine, engine.statements.in_force(query.handle)


def _with_receipt(result: QueryAnswer | Refuse, charges: NotedCharges) -> QueryAnswer | Refuse:
    """A failure after the charge names the receipt."""
    if not isinstance(result, Refuse) or not charges.made:
        return result
    receipt = str(charges.made[-1].receipt)
    hint = result.hint
    if hint == FAULT_HINT:
        hint = CHARGED_FAULT_HINT.format(receipt)
    return replace(result, hint=hint, receipt=receipt)


def _asked(
    statement: Statement, kinds: Iterable[str], named: Iterable[TableName | None], key: bytes
) -> AskedStatement:
    return AskedStatement(
        kinds=tuple(sorted(set(kinds))),
        tables=tuple(sorted({str(name) for name in named if name is not None})),
        fingerprint=fingerprint(statement.text, key)[:FINGERPRINT_DIGITS],
    )


def _substitute(
    question: ProtectedQuery, columns: tuple[DescribedColumn, ...]
) -> Verbatim | Substitute:
    """What stands for a statement that asks of protected tables."""
    statement, reading = question.statement, question.reading
    result = tuple((one.name, one.type_oid) for one in columns)
    question = replace(question, result_columns=result)
    constants = tuple(settled(one.sql) for one in question.constants)
    if statement.kind is StatementKind.EXPLAIN and not question.reads_nothing:
        return Substitute(
            settled(rewritten_text(question)),
            reading.relation_parameter,
            False,
            question,
            "EXPLAIN",
            constants=constants,
        )
    if goes_to_the_server(statement):
        return Verbatim()
    return Substitute(
        settled(reading.text),
        reading.relation_parameter,
        statement.kind is StatementKind.COPY,
        question,
        needs_block=statement.needs_transaction,
        rehearsal=_settled(rehearsal(statement, reading, columns)),
        constants=constants,
    )


def _charged(engine: Engine, answer: NoisyAnswer) -> ChargedAnswer | None:
    if not answer.is_charged:
        return None
    return ChargedAnswer(lambda: answer.charged_hint, partial(engine.keep_undelivered, answer))


def _settled(found: Rehearsal | None) -> Rehearsal | None:
    """Each of its texts is sent when something of the analyst's may have run."""
    if found is None:
        return None
    made = found.made
    return replace(
        found,
        plan=settled(found.plan),
        limits=None if found.limits is None else settled(found.limits),
        made=None
        if made is None
        else replace(made, head=settled(made.head), tail=settled(made.tail)),
        same_kind=tuple(map(settled, found.same_kind)),
        without_rows=None if found.without_rows is None else settled(found.without_rows),
    )


def _column_hint(statements: PolicyStatements, statement: Statement, message: str) -> str | None:
    """For the relay, in the midst of an error of PostgreSQL's: nothing is raised there either."""
    found = _unknown_column(statements, statement, message)
    return None if isinstance(found, Refuse) else found


@refuses("column hint")
def _unknown_column(statements: PolicyStatements, statement: Statement, message: str) -> str | None:
    return statements.unknown_name_hint(statement, message)


def _told(answer: NoisyAnswer) -> str | None:
    """For the relay, which asks for it later: nothing is raised there either."""
    found = _notices(answer)
    return found.message if isinstance(found, Refuse) else found


@refuses("notice")
def _notices(answer: NoisyAnswer) -> str | None:
    if not answer.notice:
        return "\n".join(answer.withheld) or None
    lines = answer_lines(answer)
    return "\n".join((_notice(answer, lines), *lines.withheld))


def _notice(answer: NoisyAnswer, lines: AnswerLines) -> str:
    """What the answer cost, what is left, and a line for each column that is a number: how far it is off."""
    spent = f"epsilon {charged_text(answer.loss.epsilon)}, delta {float(answer.loss.delta):.3g}"
    left = (
        ""
        if answer.remaining is None
        else f"; remaining: epsilon {shown_number(float(answer.remaining.epsilon))}"
    )
    receipt = "" if answer.receipt is None else f"; receipt {answer.receipt}"
    source = f"; from {', '.join(answer.published)}" if answer.published else ""
    if answer.is_repeated:
        source = "; its noise is that of earlier answers, SET dp.fresh = on draws anew"
    text = f"differential privacy: charged {spent}{left}{receipt}{source}"
    text = f"{text}; 95 % error:" if lines.errors else text
    return "\n".join((text, *(f"  {line}" for line in (*lines.errors, *lines.notes))))
