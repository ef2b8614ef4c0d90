"""Statements that are not simply relayed, as Parse and Bind or as Query (PostgreSQL 17 docs, section 55.2.3).

At Parse the sequence decides, then the rewritten text goes under the client's own name with one more parameter.
At Bind it answers, and the relation is appended. The two are apart because a client parses once, binds often,
and describes in between what it has parsed. Portals are the shadow's own business.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import assert_never

from proxy.base.errors import Code
from proxy.base.limits import ARGUMENTS_BYTES, PARAMETERS
from proxy.pgwire.argument_exchanges import rehearsed_arguments
from proxy.pgwire.calls import (
    Arguments,
    ExecutePrepared,
    Inspect,
    ReadArguments,
    Refuse,
    ShadowStatement,
    Verbatim,
)
from proxy.pgwire.expectations import Expectation, Forwarded, MessageKind, ReplyOutcome, ShadowReply
from proxy.pgwire.frame_driver import NO_PARAMETER, ArgumentsReading, Message, perform
from proxy.pgwire.frames import (
    FLUSH,
    Bind,
    Parse,
    ProtocolError,
    bind,
    close_statement,
    decode_execute,
    decode_target,
    describe_portal,
    describe_statement,
    execute,
    parse,
    query,
)
from proxy.pgwire.held_timeouts import send_restored
from proxy.pgwire.plain_frames import BOUND, CLOSED, DESCRIBED, EXECUTED
from proxy.pgwire.query_sequence import (
    QuerySequence,
    Rewritten,
    answer,
    decide,
    run_bound,
    run_prepared,
    run_statement,
)
from proxy.pgwire.session import (
    Conversation,
    Executed,
    Failed,
    Session,
    Statement,
    Stored,
    Substituted,
    Wait,
)
from proxy.pgwire.shadow_exchanges import (
    ARGUMENTS_TOO_LONG,
    INTERNAL,
    JSONB_OID,
    bind_values,
    look_up_prepared,
    parse_of,
    raise_refusal,
    session_settings,
)
from proxy.pgwire.statement_look import NOT_UTF8, Looked
from proxy.pgwire.wording import Wording

CACHED_STATEMENTS = 1_000
# PostgreSQL cuts longer names (prepare.c, NAMEDATALEN), and reads others in the client_encoding of the moment:
# one statement would have several.
NAME_BYTES = 62
# Names and values of a Bind to a statement of ours: beside the values' bytes, their lengths and formats.
_BIND_BYTES = ARGUMENTS_BYTES + 8 * PARAMETERS

TOO_MANY_STATEMENTS = Refuse(
    Code.TOO_COMPLEX.sqlstate,
    "too many prepared statements about protected data",
    f"A session keeps at most {CACHED_STATEMENTS}; close some.",
    None,
)
OTHER_NAME = Refuse(
    Code.UNSUPPORTED.sqlstate,
    "a prepared statement about protected data has a name that PostgreSQL may read as another one",
    f"Name it with at most {NAME_BYTES} ASCII characters.",
    None,
)


def parse_message(
    session: Session, message: Parse, looked: Looked | None
) -> Expectation | Conversation:
    """
    Given    looked: None where it is no text
    Gives    the expectation if the Parse goes on as it is
    """
    if looked is None or isinstance(looked, Verbatim):
        hint = None if looked is None else looked.column_hint
        if hint is None or not session.keeps_stored(message.name):
            return session.remember(message.name, None)
        wording = Wording(column_hint=hint)  # of what PostgreSQL analyses at its Parse
        return session.remember(message.name, Stored(wording), wording=wording)
    if len(session.statements) >= CACHED_STATEMENTS and message.name not in session.statements:
        return refused(session, TOO_MANY_STATEMENTS)
    if not message.name.isascii() or len(message.name) > NAME_BYTES:
        return refused(session, OTHER_NAME)
    match looked:
        case ExecutePrepared():
            return session.remember(message.name, Executed(looked))
        case Refuse() if looked.is_kept_from_shadow:
            return refused(session, looked)
        case Refuse():
            return session.remember(message.name, looked)
        case Inspect():
            return _parse(session, message, looked)
        case _:
            assert_never(looked)


def refused(session: Session, refuse: Refuse) -> Conversation:
    yield raise_refusal(session, refuse)


def _parse(session: Session, message: Parse, inspect: Inspect) -> Conversation:
    decided = yield from perform(session, decide(inspect, message.parameter_oids), Message())
    if not isinstance(decided, Failed) and session.has_nothing_open():
        # A Parse alone leaves no transaction behind, whatever the client sends next; our analysis did.
        session.send_sync(Forwarded.NOTHING)
    text, oids = message.text, message.parameter_oids
    statement: Statement | None
    match decided:
        case Failed():
            return
        case Verbatim():
            statement = None
        case Refuse():
            # The original is parsed, so that Describe answers as PostgreSQL would; Bind refuses.
            statement = decided
        case Rewritten() if decided.substitute.as_literal:
            # COPY takes no parameters, which PostgreSQL would only say of the whole statement.
            statement = NO_PARAMETER if decided.parameter_oids else Substituted(decided)
        case Rewritten():
            statement = Substituted(decided)
            text = _held_text(decided.substitute.text, message.text)
            oids = (*decided.parameter_oids, JSONB_OID)
        case _:
            assert_never(decided)
    wording = Wording(has_position=False) if text is not message.text else None
    expectation = session.remember(message.name, statement, wording=wording)
    session.send(parse(message.name, text, oids), expectation)


def _held_text(rewritten: str, written: bytes) -> bytes:
    """What the shadow holds, with what the client wrote behind it: pg_prepared_statements shows that
    (shadow_catalogue.sql)."""
    return b"%s\n/*dp:%s*/" % (rewritten.encode(), b64encode(written))


def bind_message(session: Session, message: Bind, statement: Statement | None) -> Conversation:
    if message.statement in session.sql_names:
        return _bind_shared(session, message)
    assert statement is not None
    return _bind_own(session, message, statement)


def _bind_shared(session: Session, message: Bind) -> Conversation:
    """Of a name that SQL may have prepared or deallocated."""
    name = message.statement.decode()
    prepared = yield from look_up_prepared(session, name)
    if isinstance(prepared, Failed):
        return
    statement = session.statements.get(message.statement)
    if statement is not None:
        yield from _bind_own(session, message, statement)
    elif prepared is None:
        _relay_bind(session, message)  # PostgreSQL's own error, if it is gone (26000)
    else:
        oids = tuple(oid for oid, _ in prepared.types)
        of = Message(
            arguments=lambda step: rehearsed_arguments(session, message, step, held=oids),
            portal=message.portal,
            result_formats=message.result_formats,
        )
        decided = yield from perform(session, run_bound(prepared, name), of)
        if isinstance(decided, ShadowStatement) and decided.relation is not None:
            again = replace(message, statement=INTERNAL)
            _bind_run(session, message, decided, again.with_appended(bind_values(decided)[-1]))
        else:
            yield from _bind_decided(session, message, decided)


def _bind_own(session: Session, message: Bind, statement: Statement) -> Conversation:
    if isinstance(statement, Substituted) and not statement.rewritten.substitute.as_literal:
        return _bind_substituted(session, message, statement)
    return _bind_other(session, message, statement)


def _bind_other(session: Session, message: Bind, statement: Statement) -> Conversation:
    match statement:
        case Refuse():
            yield raise_refusal(session, statement)
        case Stored():
            _relay_bind(session, message, statement.wording)
            expectation = Expectation(MessageKind.EXECUTE, wording=statement.wording)
            session.note_execution(message.portal, expectation)
        case Executed() | Substituted() if _gives_values_to_none(message):
            _relay_bind(session, message)  # PostgreSQL's own error (08P01)
        case Executed():
            of = Message(portal=message.portal, result_formats=message.result_formats)
            decided = yield from perform(session, run_prepared(statement.execute), of)
            yield from _bind_decided(session, message, decided)
        case Substituted():
            of = Message(
                arguments=lambda step: _settings_only(session, step), portal=message.portal
            )
            decided = yield from perform(session, _answer(statement), of)
            yield from _bind_decided(session, message, decided)
        case _:
            assert_never(statement)


def _gives_values_to_none(message: Bind) -> bool:
    """Whether a Bind has parameters for a statement that takes none; the shadow has it as it was written."""
    return bool(message.values) or len(message.formats) > 1


def _answer(statement: Substituted) -> QuerySequence[Verbatim | Refuse | ShadowStatement]:
    rewritten = statement.rewritten
    rehearsal = rewritten.substitute.rehearsal
    wanted = ReadArguments(rewritten.parameter_oids, rewritten.settings, rehearsal)
    return answer(rewritten, wanted)


def _settings_only(session: Session, _: ReadArguments) -> ArgumentsReading:
    """Of a statement without parameters, with the settings as of its Bind."""
    return (yield from session_settings(session))


def _bind_substituted(
    session: Session, message: Bind, statement: Substituted
) -> Generator[Wait, Any, None]:
    if message.size > ARGUMENTS_BYTES:
        yield raise_refusal(session, ARGUMENTS_TOO_LONG)
        return
    of = Message(
        arguments=lambda step: rehearsed_arguments(session, message, step),
        result_formats=message.result_formats,
    )
    run = yield from perform(session, _answer(statement), of)
    match run:
        case Failed():
            return
        case Refuse():
            yield raise_refusal(session, run)
        case Verbatim() if message.statement in session.statements:
            # PostgreSQL's own error (42P03: the portal's name is taken), before anything is charged.
            session.send(message.with_appended(None), BOUND)
        case Verbatim():
            # Another statement bears the name by now (DEALLOCATE, PREPARE): not ours any more.
            yield from _bind_shared(session, message)
        case ShadowStatement() if run.text != statement.rewritten.substitute.text:
            again = replace(message, statement=INTERNAL)  # decided anew
            _bind_run(session, message, run, again.with_appended(bind_values(run)[-1]))
        case ShadowStatement():
            _note_run(session, message, run)
            session.send(message.with_appended(bind_values(run)[-1]), BOUND)
        case _:
            assert_never(run)


def _bind_decided(
    session: Session, message: Bind, decided: Verbatim | Refuse | ShadowStatement | Failed
) -> Generator[Wait, Any, None]:
    match decided:
        case Failed():
            return
        case Refuse():
            yield raise_refusal(session, decided)
        case Verbatim():
            _relay_bind(session, message)
        case ShadowStatement():
            _bind_run(session, message, decided)
        case _:
            assert_never(decided)


def _relay_bind(session: Session, message: Bind, wording: Wording | None = None) -> None:
    relayed = bind(
        message.portal,
        message.statement,
        message.values,
        message.formats,
        message.result_formats,
    )
    session.send(
        relayed, BOUND if wording is None else Expectation(MessageKind.BIND, wording=wording)
    )


def _bind_run(
    session: Session, message: Bind, run: ShadowStatement, bound: bytes | None = None
) -> None:
    """Another statement under the client's portal. A portal outlives the statement it was bound to:
    PostgreSQL keeps the plan (plancache.c counts references)."""
    wording = Wording(has_position=False)
    if bound is None:
        bound = bind(message.portal, INTERNAL, bind_values(run), (), message.result_formats)
    _note_run(session, message, run)
    for sent, kind, forwarded in (
        (close_statement(INTERNAL), MessageKind.CLOSE, Forwarded.NOTHING),
        (parse_of(INTERNAL, run), MessageKind.PARSE, Forwarded.NOTHING),
        (bound, MessageKind.BIND, Forwarded.ALL),
        (close_statement(INTERNAL), MessageKind.CLOSE, Forwarded.NOTHING),
    ):
        session.send(sent, Expectation(kind, forwarded, wording=wording))


def _note_run(session: Session, message: Bind, run: ShadowStatement) -> None:
    session.note_charge(run)
    if run.command_tag is None:
        session.executions.pop(message.portal, None)
    else:
        tag = run.command_tag.encode()
        expectation = Expectation(MessageKind.EXECUTE, command_tag=tag)
        session.note_execution(message.portal, expectation)


def bind_frame(
    session: Session, payload: bytes, statement: Statement | None
) -> Expectation | Conversation:
    """
    Given    statement: None of a name that SQL has prepared or deallocated
    Gives    the expectation if the Bind passes as it is: PostgreSQL says what is wrong with it
    """
    if len(payload) > _BIND_BYTES:
        return refused(session, ARGUMENTS_TOO_LONG)
    try:
        message = Bind.decode(payload)
    except ProtocolError:
        return BOUND
    return bind_message(session, message, statement)


def named_frame(session: Session, tag: int, payload: bytes) -> Expectation | Conversation:
    """Of a Describe, Execute or Close, which may name a statement or portal of ours. Malformed ones pass."""
    match tag:
        case 0x44:  # D, Describe
            return _described(session, payload)
        case 0x45:  # E, Execute
            return _executed(session, payload)
        case _:  # C, Close
            return _closed(session, payload)


def _described(session: Session, payload: bytes) -> Expectation | Conversation:
    target = _target(payload)
    if target is None or target[0] != b"S":
        return DESCRIBED
    if target[1] in session.sql_names and target[1] in session.statements:
        return _describe_shared(session, target[1])
    return _description(session, target[1])


def _describe_shared(session: Session, name: bytes) -> Conversation:
    """Of a name that SQL may have prepared or deallocated."""
    prepared = yield from look_up_prepared(session, name.decode())
    if not isinstance(prepared, Failed):
        session.send(describe_statement(name), _description(session, name))


def _description(session: Session, name: bytes) -> Expectation:
    statement = session.statements.get(name)
    if isinstance(statement, Substituted) and not statement.rewritten.substitute.as_literal:
        return Expectation(MessageKind.DESCRIBE, hides_last_parameter=True)
    return DESCRIBED


def _executed(session: Session, payload: bytes) -> Expectation:
    try:
        portal = decode_execute(payload)
    except ProtocolError:
        return EXECUTED
    return session.executions.get(portal, EXECUTED)


def _closed(session: Session, payload: bytes) -> Expectation:
    target = _target(payload)
    if target is None:
        return CLOSED
    kind, name = target
    if kind == b"P":
        session.executions.pop(name, None)
        return CLOSED
    return session.remember(name, None, MessageKind.CLOSE)


def _target(payload: bytes) -> tuple[bytes, bytes] | None:
    try:
        return decode_target(payload)
    except ProtocolError:
        return None


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


# A simple Query that holds a statement to be inspected.
#
# It is run statement by statement through the extended protocol without a Sync until its end. So the
# whole string is one implicit transaction as in PostgreSQL (PostgreSQL 17 documentation, section 55.2.2.1),
# while between two statements the next one can be analysed in the state that the first has left.
# Completions that a simple Query does not show are swallowed, and positions are shifted to the client's
# whole string.
#
# Splitting it into several Query messages would commit between them; one Query with all substitutions
# would have to analyse `SELECT ... FROM t` before the `CREATE TEMP TABLE t` before it has run. What
# this way costs: without BEGIN, a PostgreSQL whose implicit blocks are of simple Query only (before 18) refuses
# DECLARE CURSOR WITHOUT HOLD in such a mixed string, before anything is charged.


def simple_query(
    session: Session, text: bytes, pieces: Sequence[tuple[int, str, Looked]]
) -> Conversation:
    """pieces: each statement's offset in characters, its text, and what `look` said of it."""
    encoding = session.answers.client_encoding
    closed = Expectation(MessageKind.CLOSE, Forwarded.NOTHING, ShadowReply())
    session.send(close_statement(b""), session.ending_unnamed(closed))
    for offset, statement, looked in pieces:
        session.answers.charged.end_statement()
        decided = yield from _decide(session, looked, offset, len(pieces) > 1)
        match decided:
            case Failed():
                break
            case Verbatim():
                if len(pieces) == 1:
                    # End our analysis, then it may run as the Query that it is.
                    session.send_sync(Forwarded.NOTHING)
                    session.send(query(text), Expectation(MessageKind.QUERY))
                    return
                if offset and not statement.isascii():
                    # It was read in the encoding that the whole string came in.
                    settings = yield from session_settings(session)
                    if isinstance(settings, Failed):
                        break
                    if session.answers.client_encoding != encoding:
                        reply = raise_refusal(session, NOT_UTF8)
                        yield reply
                        break
                wording = Wording(shift=offset, column_hint=decided.column_hint)
                outcome = yield from _run(session, ShadowStatement(statement), wording)
            case ShadowStatement():
                session.note_charge(decided)
                goes_on = session.in_block(len(pieces) > 1)  # asked before it runs
                outcome = yield from _run(session, decided, Wording(has_position=False))
                _end_hold(session, outcome, goes_on)
            case Refuse():
                reply = raise_refusal(session, decided, offset)
                yield reply
                outcome = reply.outcome
            case _:
                assert_never(decided)
        if outcome is not ReplyOutcome.COMPLETE:
            break
    if not session.answers.skipping:
        session.send(close_statement(INTERNAL), Expectation(MessageKind.CLOSE, Forwarded.NOTHING))
        session.send_sync()
    elif session.answers.failed_ours:
        # Else an earlier, unsynced message failed, and the server has skipped the Query, too.
        session.send_sync()


def _end_hold(session: Session, outcome: ReplyOutcome, goes_on: bool) -> None:
    """goes_on: whether the transaction does, behind the statement."""
    if outcome is ReplyOutcome.COMPLETE and goes_on:
        send_restored(session)
    session.held.clear()  # the transaction's end brings them back


def _decide(
    session: Session, looked: Looked, offset: int, is_part: bool
) -> Generator[Wait, Any, Verbatim | ShadowStatement | Refuse | Failed]:
    match looked:
        case Verbatim() | Refuse():
            return looked
        case ExecutePrepared():
            return (yield from perform(session, run_prepared(looked), Message()))
        case Inspect():
            of = Message(
                wording=Wording(shift=offset, names_hint=True),
                arguments=lambda step: _no_arguments(session, step, is_part),
                takes_parameters=False,
            )
            return (yield from perform(session, run_statement(looked), of))
        case _:
            assert_never(looked)


def _no_arguments(session: Session, step: ReadArguments, is_part: bool) -> ArgumentsReading:
    """A simple Query has none; the settings are those of the analysis, a moment ago."""
    yield from ()
    return Arguments(
        (), step.settings, in_block=session.in_block(is_part), is_utf8=session.speaks_utf8
    )


def _run(
    session: Session, run: ShadowStatement, wording: Wording
) -> Generator[Wait, Any, ReplyOutcome]:
    """Wait for its end: it may be a COPY FROM STDIN, in whose data nothing may be sent between."""
    reply = ShadowReply()
    command_tag = None if run.command_tag is None else run.command_tag.encode()
    for frame, kind in (
        (close_statement(INTERNAL), MessageKind.CLOSE),
        (parse_of(INTERNAL, run), MessageKind.PARSE),
        (bind(b"", INTERNAL, bind_values(run)), MessageKind.BIND),
        (describe_portal(b""), MessageKind.DESCRIBE),
        (execute(b""), MessageKind.EXECUTE),
    ):
        tag = command_tag if kind is MessageKind.EXECUTE else None
        ends = kind is MessageKind.EXECUTE
        expectation = Expectation(
            kind, Forwarded.RESULTS, reply, ends_reply=ends, wording=wording, command_tag=tag
        )
        session.send(frame, expectation)
    session.to_shadow.append(FLUSH)
    yield reply
    return reply.outcome
