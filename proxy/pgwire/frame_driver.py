"""Drives the sequence of a query with frames, on the client's own session of the shadow.

`perform` answers each step of `query_sequence.py`: those about the session by exchanges of our own
(`shadow_exchanges.py`, `argument_exchanges.py`), those about the engine at once where they are quick, and
else by handing them out of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from typing_extensions import assert_never

from proxy.base.limits import PROTECTED_SECONDS
from proxy.pgwire.argument_exchanges import (
    describe_constants,
    evaluate_constants,
    rehearse,
    run_trial,
)
from proxy.pgwire.calls import (
    Analyse,
    Analysis,
    Arguments,
    Correct,
    DescribeConstants,
    Evaluate,
    EvaluateConstants,
    LookPrepared,
    LookUpPrepared,
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
from proxy.pgwire.held_timeouts import TOO_OLD, send_restored
from proxy.pgwire.query_sequence import ExecuteSequence, ExecuteStep
from proxy.pgwire.session import FAILED, Failed, Session, Wait
from proxy.pgwire.shadow_exchanges import analyse, evaluate, look_up_prepared
from proxy.pgwire.statement_look import LOOKED_AT_AT_ONCE, NOT_UTF8, prepared_of
from proxy.pgwire.wording import POSTGRES_HINTS, Wording

T = TypeVar("T")
ArgumentsReading = Generator[Wait, Any, Arguments | Verbatim | Refuse | Failed]

# undefined_parameter: a simple Query has none. The extended protocol would take it for a parameter.
NO_PARAMETER = Refuse("42P02", "there is no parameter $1", POSTGRES_HINTS["42P02"], None)

OUTLASTS_TIMEOUT = (
    "statement_timeout does not end a statement on protected tables once it is charged: it is answered,"
    f" or ends by the server's own limit of {PROTECTED_SECONDS} s for each of its queries"
)

_AS_WRITTEN = Wording(names_hint=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The client's message that the sequence is run for: where its protocols differ.

    wording: of errors in the client's own text. arguments: how its values are read, where that is a step of the
    sequence. portal, result_formats: as its Bind has them. takes_parameters: False of a simple Query.
    """

    wording: Wording = _AS_WRITTEN
    arguments: Callable[[ReadArguments], ArgumentsReading] | None = None
    portal: bytes = b""
    result_formats: tuple[int, ...] = ()
    takes_parameters: bool = True


def perform(
    session: Session, sequence: ExecuteSequence[T], message: Message
) -> Generator[Wait, Any, T | Failed]:
    given: Any = None
    judged: Read | PlanTrial | RunQuery | None = None
    while True:
        try:
            step = sequence.send(given)
        except StopIteration as ended:
            result: T = ended.value
            _end_hold(session, result)
            if judged is not None and isinstance(result, Refuse):
                return cast("T", (yield from _corrected(session, judged, result)))
            return result
        if isinstance(step, Read | PlanTrial | RunQuery):
            judged = step
        given = yield from _answered(session, step, message)
        if isinstance(given, Failed):
            session.held.clear()  # with the transaction
            sequence.close()
            return FAILED


def _corrected(
    session: Session, judged: Read | PlanTrial | RunQuery, refuse: Refuse
) -> Generator[Wait, Any, Refuse]:
    """With what to ask instead in the hint, if anything is known."""
    if not session.reader.can_correct(refuse):
        return refuse
    instead: str | None = yield Correct(judged.handle, judged.settings, refuse)
    if not isinstance(instead, str):
        return refuse
    return replace(refuse, hint=f"{refuse.hint} Try: {instead}".lstrip())


def _end_hold(session: Session, result: object) -> None:
    session.has_old_transaction = False
    match result:
        case ShadowStatement():
            pass  # once it has run
        case Refuse():
            session.held.clear()  # the transaction fails by it
        case _:
            send_restored(session)


def _answered(session: Session, step: ExecuteStep, message: Message) -> Generator[Wait, Any, Any]:
    match step:
        case Analyse():
            return (yield from _analysed(session, step, message))
        case Read():
            return (yield step) if step.is_long else session.reader.read(step)
        case DescribeConstants():
            return (yield from describe_constants(session, step))
        case EvaluateConstants():
            return (yield from evaluate_constants(session, step))
        case ReadArguments():
            assert message.arguments is not None
            return (yield from message.arguments(step))
        case Rehearse():
            return (yield from rehearse(session, step, message.portal, message.result_formats))
        case PlanTrial():
            return (yield step)
        case RunTrial():
            return (yield from run_trial(session, step, message.result_formats))
        case RunQuery():
            return (yield from _run(session, step))
        case LookUpPrepared():
            return (yield from look_up_prepared(session, step.name))
        case LookPrepared():
            is_long = len(step.source) > LOOKED_AT_AT_ONCE
            return (yield step) if is_long else prepared_of(session.reader, step)
        case Evaluate():
            return (yield from evaluate(session, step))
        case _:
            assert_never(step)


def _run(session: Session, step: RunQuery) -> Generator[Wait, Any, QueryAnswer | Refuse]:
    if session.has_old_transaction:
        return TOO_OLD
    answered: QueryAnswer | Refuse = yield step
    if isinstance(answered, QueryAnswer):
        if answered.outlasts_timeout and not session.knows_of_timeout:
            session.knows_of_timeout = True
            session.notice(OUTLASTS_TIMEOUT)
        session.notice_later(answered.notice)
    return answered


def _analysed(
    session: Session, step: Analyse, message: Message
) -> Generator[Wait, Any, Analysis | Refuse | Failed]:
    encoding = session.answers.client_encoding
    wording = message.wording if step.is_placed else Wording(has_position=False)
    wording = replace(wording, column_hint=step.inspect.column_hint)
    analysis = yield from analyse(session, step, wording)
    if isinstance(analysis, Failed):
        return analysis
    if analysis.parameter_oids and not message.takes_parameters:
        return NO_PARAMETER
    if session.answers.client_encoding != encoding and not step.inspect.analyse.isascii():
        return NOT_UTF8  # it was read in the encoding before
    return analysis
