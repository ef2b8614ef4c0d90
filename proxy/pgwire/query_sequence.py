"""The one sequence in which a statement about protected tables is decided and run. No I/O.

Its parts are generators: each yields what is to be done next (`calls.py`) and is resumed with the answer. Two
drivers answer: in the relay `frame_driver.py`, with frames on the client's own session; over HTTP
proxy.servers.http.libpq_driver, with libpq on a session that it holds for the request. Where PostgreSQL itself
refuses a step, that error is the client's answer, and the driver ends the sequence.

    decide         analyse on the shadow, read                         a Parse is this much
    answer         arguments, rehearse, evaluate, try, run (charged)   a Bind is this much
    run_statement  both, and what then runs on the shadow              a statement of a simple Query
    run_prepared   the same of what an EXECUTE of SQL names
    run_bound      the same of what a Bind names, and SQL has prepared

It stands in halves because the extended protocol has them: a statement is decided once, at Parse, when its
client has no values yet, and answered at each Bind, with the settings of that moment. HTTP is a Parse and a
Bind in one request; a statement of a simple Query has no parameters, and is decided when those before it have
run.

What stays apart, and where: the frames of Parse, Bind and Describe (`query_messages.py`: the rewritten
statement is prepared under the client's own name, and a cursor or portal is the shadow's own business); COPY,
which takes no parameters, so the relation stands in its text (`Substitute.as_literal`); strings of several
statements (`query_messages.py`, too); and what HTTP refuses since nothing outlives a request (COPY, cursors).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from proxy.base.errors import Code
from proxy.pgwire.calls import (
    NO_RELATION,
    Analyse,
    Analysis,
    Arguments,
    ConstantsWanted,
    DescribeConstants,
    DescribedColumn,
    Evaluate,
    EvaluateConstants,
    ExecutePrepared,
    Inspect,
    LookPrepared,
    LookUpPrepared,
    PlanTrial,
    Prepared,
    QueryAnswer,
    Read,
    ReadArguments,
    Refuse,
    Rehearse,
    RunQuery,
    RunTrial,
    ShadowStatement,
    Substitute,
    Trial,
    Verbatim,
)
from proxy.pgwire.statement_look import NOT_UTF8, Looked

# Characters; reading a longer statement may take more than the other sessions should wait.
READ_AT_ONCE = 300

# As PostgreSQL says it (no_active_sql_transaction), but before anything is charged: after an analysis it
# would take what follows for a part of a transaction, and drop the cursor with the answer.
NO_BLOCK = Refuse("25P01", "DECLARE CURSOR can only be used in transaction blocks", "", None)
NOT_INLINED = Refuse(
    Code.UNAVAILABLE.sqlstate, "the statement could not be run", "Ask the operator.", None
)

DecideStep = Analyse | Read | DescribeConstants
QueryStep = (
    DecideStep | ReadArguments | Rehearse | EvaluateConstants | PlanTrial | RunTrial | RunQuery
)
ExecuteStep = QueryStep | LookUpPrepared | LookPrepared | Evaluate

T = TypeVar("T")
Wanted = TypeVar("Wanted", ReadArguments, Evaluate)
Decision = TypeVar("Decision", bound=Verbatim | Refuse | ShadowStatement)
QuerySequence = Generator[QueryStep, Any, T]
ExecuteSequence = Generator[ExecuteStep, Any, T]


# As PostgreSQL says it of a plan that is made anew (plancache.c).
OTHER_RESULT = Refuse(
    Code.UNSUPPORTED.sqlstate, "cached plan must not change result type", "Prepare it again.", None
)
OTHER_TABLES = Refuse(
    Code.UNSUPPORTED.sqlstate,
    "the prepared statement names no protected table on this search_path",
    "Prepare it again.",
    None,
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A decided statement. parameter_oids: of the client's parameters; the others: of what was analysed."""

    substitute: Substitute
    parameter_oids: tuple[int, ...]
    settings: Mapping[str, str]
    inspect: Inspect
    columns: tuple[DescribedColumn, ...]
    search_path: str


def decide(
    inspect: Inspect, parameter_oids: tuple[int, ...] = (), *, is_placed: bool = True
) -> QuerySequence[Verbatim | Refuse | Rewritten]:
    """
    Given    parameter_oids: what the client has said of its parameters' types; is_placed: as of Analyse
    Gives    Verbatim: the statement means nothing protected; it is relayed as it is
    """
    analysis: Analysis | Refuse = yield Analyse(inspect, parameter_oids, is_placed)
    if isinstance(analysis, Refuse):
        return analysis
    oids = analysis.parameter_oids
    wanted = Read(
        inspect.handle,
        analysis.relation_oids,
        oids,
        analysis.columns,
        analysis.settings,
        is_long=len(inspect.analyse) > READ_AT_ONCE,
    )
    read: Verbatim | Substitute | ConstantsWanted | Refuse = yield wanted
    if isinstance(read, ConstantsWanted):
        kinds: tuple[int, ...] = yield DescribeConstants(read.expressions, oids)
        read = yield replace(wanted, constant_oids=kinds)
        if isinstance(read, ConstantsWanted):
            return NOT_INLINED
    if not isinstance(read, Substitute):
        return read
    if not read.as_literal and read.relation_parameter != len(oids) + 1:
        return NOT_INLINED
    return Rewritten(read, oids, analysis.settings, inspect, analysis.columns, analysis.search_path)


def _decide_again(rewritten: Rewritten) -> QuerySequence[Rewritten | Refuse]:
    """What a statement that was prepared means on another search_path, as PostgreSQL makes its plan anew."""
    again = yield from decide(rewritten.inspect, rewritten.parameter_oids, is_placed=False)
    if isinstance(again, Rewritten):
        return again if again.columns == rewritten.columns else OTHER_RESULT
    return OTHER_TABLES if isinstance(again, Verbatim) else _unplaced(again)


def answer(
    rewritten: Rewritten, wanted: Wanted
) -> Generator[QueryStep | Wanted, Any, Verbatim | Refuse | ShadowStatement]:
    """What runs on the shadow in the statement's place, with the noisy relation, once PostgreSQL has no
    objection of its own; a statement that does not read the relation gets an empty one, and is not charged.

    Given    wanted: the step by which the driver learns the client's values
    Gives    Verbatim: the statement is not the one that was decided any more
    """
    arguments: Arguments | Refuse | Verbatim = yield wanted
    if not isinstance(arguments, Arguments):
        return arguments
    if arguments.search_path not in (None, rewritten.search_path):
        again = yield from _decide_again(rewritten)
        if isinstance(again, Refuse):
            return again
        rewritten, arguments = again, replace(arguments, needs_relation=None)
    substitute = rewritten.substitute
    if substitute.needs_block and not arguments.in_block:
        return NO_BLOCK
    if substitute.rehearsal is not None:
        is_needed = arguments.needs_relation
        if is_needed is None:
            is_needed = yield Rehearse(substitute.rehearsal, rewritten.parameter_oids, arguments)
        if not is_needed:
            unread = QueryAnswer(NO_RELATION, lambda: None, substitute.rehearsal.without_rows)
            return _run_of(rewritten, unread, arguments)
    if arguments.json is None:
        return NOT_UTF8
    given: tuple[str | None, ...] = arguments.json
    if substitute.constants:
        oids = rewritten.parameter_oids
        evaluated: tuple[str | None, ...] | Refuse
        evaluated = yield EvaluateConstants(substitute.constants, oids, arguments)
        if isinstance(evaluated, Refuse):
            return evaluated
        given = given + evaluated
    day: int | None = None
    if _needs_trial(substitute, arguments):
        tried = yield from _tried(rewritten, given, arguments)
        if isinstance(tried, Refuse):
            return tried
        day = tried
    run = RunQuery(substitute.handle, given, arguments.settings, day)
    answered: QueryAnswer | Refuse = yield run
    if isinstance(answered, Refuse):
        return answered
    if substitute.as_literal and answered.inlined_text is None:
        return NOT_INLINED
    return _run_of(rewritten, answered, arguments)


def _needs_trial(substitute: Substitute, arguments: Arguments) -> bool:
    rehearsal = substitute.rehearsal
    if rehearsal is None:
        return False
    return rehearsal.is_computed or rehearsal.encoding is not None or not arguments.is_utf8


def _tried(
    rewritten: Rewritten, given: tuple[str | None, ...], arguments: Arguments
) -> QuerySequence[Refuse | int | None]:
    """Runs the statement with made-up answers before the charge. One run is enough where it succeeds. An error
    is the client's answer only where it comes with each of several relations.

    Gives    the day of the present that the statement was planned with, as of RunQuery
    """
    day: int | None = None
    for is_first in (True, False):
        trial: Trial | Refuse | None
        trial = yield PlanTrial(
            rewritten.substitute.handle, given, arguments.settings, is_first=is_first, day=day
        )
        if not isinstance(trial, Trial):
            return day if trial is None else trial
        day = trial.day
        may_succeed: bool = yield RunTrial(trial, rewritten.parameter_oids, arguments)
        if may_succeed:
            break
    return day


def run_statement(inspect: Inspect) -> QuerySequence[Verbatim | Refuse | ShadowStatement]:
    decided = yield from decide(inspect)
    if not isinstance(decided, Rewritten):
        return decided
    wanted = ReadArguments(decided.parameter_oids, decided.settings)
    return (yield from answer(decided, wanted))


def run_prepared(execute: ExecutePrepared) -> ExecuteSequence[Verbatim | Refuse | ShadowStatement]:
    """EXECUTE of SQL. Verbatim wherever PostgreSQL has its own answer, or the statement is none of
    ours."""
    prepared: Prepared | None = yield LookUpPrepared(execute.name)
    if prepared is None:
        return Verbatim()
    looked: Looked | None = prepared.looked
    if looked is None:
        looked = yield LookPrepared(prepared.source, execute.name)
    given, wants = len(execute.arguments), len(prepared.types)
    if isinstance(looked, Refuse):
        return _unplaced(looked)
    if given != wants and prepared.looked is not None:
        return Refuse(
            "42601",
            f'wrong number of parameters for prepared statement "{execute.name}"',
            f"Expected {wants} parameters but got {given}.",
            None,
        )
    if not isinstance(looked, Inspect) or given != wants:
        return Verbatim()
    if execute.inside:
        return Refuse(
            Code.UNSUPPORTED.sqlstate,
            f"{execute.inside} is not available with EXECUTE of a query on protected tables",
            f"Write the query out: {execute.inside} SELECT ...; EXECUTE by itself runs it.",
            None,
        )
    oids = tuple(oid for oid, _ in prepared.types)
    decided = yield from decide(looked, oids, is_placed=False)
    if not isinstance(decided, Rewritten):
        return _unplaced(decided)
    wanted = Evaluate(execute.arguments, prepared.types, decided.settings)
    return _unplaced((yield from answer(decided, wanted)))


def run_bound(
    prepared: Prepared, name: str
) -> ExecuteSequence[Verbatim | Refuse | ShadowStatement]:
    """A Bind of what an SQL-level PREPARE has named. Verbatim: it is none of ours."""
    looked: Looked = yield LookPrepared(prepared.source, name)
    if isinstance(looked, Refuse):
        return _unplaced(looked)
    if not isinstance(looked, Inspect):
        return Verbatim()
    oids = tuple(oid for oid, _ in prepared.types)
    decided = yield from decide(looked, oids, is_placed=False)
    if not isinstance(decided, Rewritten):
        return _unplaced(decided)
    wanted = ReadArguments(oids, decided.settings, decided.substitute.rehearsal)
    return _unplaced((yield from answer(decided, wanted)))


def _run_of(rewritten: Rewritten, answered: QueryAnswer, arguments: Arguments) -> ShadowStatement:
    substitute = rewritten.substitute
    if substitute.as_literal and answered.inlined_text is not None:
        return ShadowStatement(
            answered.inlined_text,
            command_tag=substitute.command_tag,
            charged=answered.charged,
        )
    return ShadowStatement(
        substitute.text,
        rewritten.parameter_oids,
        arguments.values,
        answered.relation,
        substitute.command_tag,
        answered.charged,
    )


def _unplaced(outcome: Decision) -> Decision | Refuse:
    """A refusal without the position, which is one in the text of the PREPARE."""
    return replace(outcome, position=None) if isinstance(outcome, Refuse) else outcome
