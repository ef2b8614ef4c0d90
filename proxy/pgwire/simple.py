"""A simple Query that holds a statement to be inspected.

It is run statement by statement through the extended protocol without a Sync until its end. So the
whole string is one implicit transaction as in PostgreSQL (PostgreSQL 17 documentation, section 55.2.2.1),
while between two
statements the next one can be analysed in the state that the first has left. Completions that a
simple Query does not show are swallowed, and positions are shifted to the client's whole string.

Splitting it into several Query messages would commit between them; one Query with all substitutions
would have to analyse `SELECT ... FROM t` before the `CREATE TEMP TABLE t` before it has run. What
this way costs: without BEGIN, a PostgreSQL whose implicit blocks are of simple Query only (before 18) refuses
DECLARE CURSOR WITHOUT HOLD in such a mixed string, before anything is charged.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from typing_extensions import assert_never

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
from proxy.pgwire.frame_driver import ArgumentsReading, Message, perform
from proxy.pgwire.frames import (
    FLUSH,
    bind,
    close_statement,
    describe_portal,
    execute,
    query,
)
from proxy.pgwire.held_timeouts import send_restored
from proxy.pgwire.query_sequence import run_prepared, run_statement
from proxy.pgwire.session import Conversation, Failed, Session, Wait
from proxy.pgwire.shadow_exchanges import (
    INTERNAL,
    bind_values,
    parse_of,
    raise_refusal,
    session_settings,
)
from proxy.pgwire.statement_look import NOT_UTF8, Looked
from proxy.pgwire.wording import Wording


def simple_query(
    session: Session, text: bytes, pieces: Sequence[tuple[int, str, Looked]]
) -> Conversation:
    """pieces: each statement's offset in characters, its text, and what `look` said of it."""
    encoding = session.answers.client_encoding
    # A simple Query destroys the unnamed statement (PostgreSQL 17 documentation, section 55.2.3).
    session.send(
        close_statement(b""), Expectation(MessageKind.CLOSE, Forwarded.NOTHING, ShadowReply())
    )
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
