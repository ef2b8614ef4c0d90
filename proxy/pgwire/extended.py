"""Parse and Bind of a statement that is not simply relayed (manual 55.2.3).

At Parse the original is analysed, then the substituted text goes under the client's own name with
one more parameter. At Bind the relation is asked for and appended. Portals are the shadow's own
business.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from typing_extensions import assert_never

from proxy.base.errors import Code
from proxy.base.limits import ARGUMENTS_BYTES
from proxy.pgwire.answers import Expectation, Kind, Shown
from proxy.pgwire.calls import ExecutePrepared, Inspect, Refuse, Substitute, Verbatim
from proxy.pgwire.deciding import (
    NOT_INLINED,
    Failed,
    Looked,
    Run,
    answer,
    decide,
    decide_execute,
    run_of,
)
from proxy.pgwire.exchange import (
    ARGUMENTS_TOO_LONG,
    INTERNAL,
    JSONB_OID,
    Arguments,
    decode_arguments,
    raise_refusal,
    session_settings,
)
from proxy.pgwire.frames import Bind, Parse, bind, close_statement, parse
from proxy.pgwire.rehearsing import Given
from proxy.pgwire.session import (
    Conversation,
    Executed,
    Session,
    Statement,
    Substituted,
    Wait,
    json_in_ascii,
)
from proxy.pgwire.wording import Wording

STATEMENTS_KEPT = 1_000

TOO_MANY_STATEMENTS = Refuse(
    Code.TOO_COMPLEX.sqlstate,
    "too many prepared statements about protected data",
    f"A session keeps at most {STATEMENTS_KEPT}; close some.",
    None,
)
# undefined_parameter: COPY takes none, which PostgreSQL would only say of the whole statement.
NO_PARAMETER_IN_COPY = Refuse("42P02", "there is no parameter $1", "", None)


def parse_message(
    session: Session, message: Parse, looked: Looked | None
) -> Expectation | Conversation:
    """
    Given    looked: None where it is no text
    Gives    the expectation if the Parse goes on as it is
    """
    if looked is None or isinstance(looked, Verbatim):
        return session.remember(message.name, None)
    if len(session.statements) >= STATEMENTS_KEPT and message.name not in session.statements:
        return refused(session, TOO_MANY_STATEMENTS)
    match looked:
        case ExecutePrepared():
            return session.remember(message.name, Executed(looked))
        case Refuse():
            return session.remember(message.name, looked)
        case Inspect():
            return _parse(session, message, looked)
        case _:
            assert_never(looked)


def refused(session: Session, refuse: Refuse) -> Conversation:
    yield raise_refusal(session, refuse)


def _parse(session: Session, message: Parse, inspect: Inspect) -> Conversation:
    wording = Wording(names_hint=True)
    decided = yield from decide(session, inspect, message.parameter_oids, wording)
    if isinstance(decided, Failed):
        return
    read, analysis = decided
    text, oids = message.text, message.parameter_oids
    kept: Statement | None
    match read:
        case Verbatim():
            kept = None
        case Refuse():
            # The original is parsed, so that Describe answers as PostgreSQL would; Bind refuses.
            kept = read
        case Substitute(as_literal=True) if analysis.parameter_oids:
            kept = NO_PARAMETER_IN_COPY
        case Substitute(as_literal=True):
            kept = Substituted(read, analysis.parameter_oids)
        case Substitute():
            if read.relation_parameter != len(analysis.parameter_oids) + 1:
                kept = NOT_INLINED
            else:
                kept = Substituted(read, analysis.parameter_oids)
                text = read.text.encode()
                oids = (*analysis.parameter_oids, JSONB_OID)
        case _:
            assert_never(read)
    expectation = session.remember(message.name, kept)
    if text is not message.text:
        expectation.wording = Wording(has_position=False)
    session.send(parse(message.name, text, oids), expectation)


def bind_message(session: Session, message: Bind, statement: Statement) -> Conversation:
    match statement:
        case Refuse():
            yield raise_refusal(session, statement)
        case Executed():
            yield from _bind_executed(session, message, statement)
        case Substituted() if statement.substitute.as_literal:
            yield from _bind_literal(session, message, statement)
        case Substituted():
            yield from _bind_substituted(session, message, statement)
        case _:
            assert_never(statement)


def _bind_substituted(
    session: Session, message: Bind, statement: Substituted
) -> Generator[Wait, Any, None]:
    if sum(len(value) for value in message.values if value) > ARGUMENTS_BYTES:
        yield raise_refusal(session, ARGUMENTS_TOO_LONG)
        return
    arguments = yield from decode_arguments(
        session,
        message.statement,
        message.portal,
        statement.parameter_oids,
        message.values,
        message.formats,
    )
    if arguments is None:
        return
    if isinstance(arguments, Refuse):
        yield raise_refusal(session, arguments)
        return
    if not isinstance(arguments, Arguments):
        # Another statement bears the name by now (DEALLOCATE, PREPARE): not ours any more.
        session.statements.pop(message.statement, None)
        relayed = bind(
            message.portal,
            message.statement,
            message.values,
            message.formats,
            message.result_formats,
        )
        session.send(relayed, Expectation(Kind.BIND))
        return
    if arguments.portal_is_taken:
        # PostgreSQL's own error (42P03), before anything is charged.
        session.send(message.with_appended(None), Expectation(Kind.BIND))
        return
    given = Given(statement.parameter_oids, message.values, message.formats)
    result = yield from answer(
        session, statement.substitute, arguments.json, arguments.settings, given
    )
    if isinstance(result, Failed):
        return
    if isinstance(result, Refuse):
        yield raise_refusal(session, result)
        return
    _tag(session, message, statement.substitute.command_tag)
    session.send(message.with_appended(json_in_ascii(result.relation)), Expectation(Kind.BIND))


def _bind_literal(
    session: Session, message: Bind, statement: Substituted
) -> Generator[Wait, Any, None]:
    settings = yield from session_settings(session)
    if settings is None:
        return
    given = Given(portal=message.portal)
    result = yield from answer(session, statement.substitute, (), settings, given)
    if isinstance(result, Failed):
        return
    if isinstance(result, Refuse):
        yield raise_refusal(session, result)
        return
    _bind_run(session, message, run_of(statement.substitute, result))


def _bind_executed(
    session: Session, message: Bind, statement: Executed
) -> Generator[Wait, Any, None]:
    decided = yield from decide_execute(session, statement.execute, message.portal)
    match decided:
        case Failed():
            return
        case Refuse():
            yield raise_refusal(session, decided)
        case Verbatim():
            relayed = bind(
                message.portal,
                message.statement,
                message.values,
                message.formats,
                message.result_formats,
            )
            session.send(relayed, Expectation(Kind.BIND))
        case Run():
            _bind_run(session, message, decided)
        case _:
            assert_never(decided)


def _bind_run(session: Session, message: Bind, run: Run) -> None:
    """Another statement under the client's portal. A portal outlives the statement it was bound to:
    PostgreSQL keeps the plan (plancache.c counts references)."""
    wording = Wording(has_position=False)
    _tag(session, message, None if run.command_tag is None else run.command_tag.decode())
    for sent, kind, shown in (
        (close_statement(INTERNAL), Kind.CLOSE, Shown.NOTHING),
        (parse(INTERNAL, run.text, run.parameter_oids), Kind.PARSE, Shown.NOTHING),
        (
            bind(message.portal, INTERNAL, run.values, (), message.result_formats),
            Kind.BIND,
            Shown.ALL,
        ),
        (close_statement(INTERNAL), Kind.CLOSE, Shown.NOTHING),
    ):
        session.send(sent, Expectation(kind, shown, wording=wording))


def _tag(session: Session, message: Bind, command_tag: str | None) -> None:
    if command_tag is None:
        session.command_tags.pop(message.portal, None)
    else:
        session.command_tags[message.portal] = command_tag.encode()


def function_call(session: Session) -> Conversation:
    """FunctionCall would run any function by OID, unseen by whoever reads statements (manual
    55.2.4: obsolete). It ends with ReadyForQuery, like a Query."""
    refuse = Refuse(
        Code.UNSUPPORTED.sqlstate,
        "the function call sub-protocol is not supported",
        "Call the function in a SELECT.",
        None,
    )
    yield raise_refusal(session, refuse)
    if not session.answers.skipping or session.answers.failed_ours:
        session.send_sync()
