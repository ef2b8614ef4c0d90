"""From one statement of a client to what is sent in its place. Shared by both query protocols."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import assert_never

from proxy.base.errors import Code
from proxy.base.limits import COLUMNS_PER_RESULT, STATEMENT_BYTES
from proxy.pgwire.calls import (
    Answered,
    Ask,
    ExecutePrepared,
    Inspect,
    Look,
    LookPrepared,
    Read,
    Reader,
    Refuse,
    Substitute,
    Verbatim,
)
from proxy.pgwire.exchange import (
    JSONB_OID,
    Analysis,
    Prepared,
    analyse,
    evaluate,
    look_up_prepared,
)
from proxy.pgwire.rehearsing import Given, rehearse
from proxy.pgwire.session import Result, Session, Wait, json_in_ascii
from proxy.pgwire.wording import Wording

# Characters; a longer statement may take more than the other sessions should wait.
READ_AT_ONCE = 300
LOOKED_AT_AT_ONCE = 500

Looked = Verbatim | Inspect | ExecutePrepared | Refuse
Pieces = tuple[
    tuple[int, str, Looked], ...
]  # of a text: offset in characters, statement, what it is

TOO_LONG = Refuse(
    Code.TOO_COMPLEX.sqlstate,
    "statement about protected data is too long",
    f"A statement about protected data has at most {STATEMENT_BYTES} bytes.",
    None,
)
TOO_MANY_RELATIONS = Refuse(
    Code.TOO_COMPLEX.sqlstate,
    "statement names too many relations",
    "Ask about fewer relations at once.",
    None,
)
NOT_UTF8 = Refuse(
    Code.UNSUPPORTED.sqlstate,
    "a statement about protected data needs client_encoding UTF8",
    "SET client_encoding = 'UTF8', or write the statement in ASCII.",
    None,
)
# As PostgreSQL says it (no_active_sql_transaction), but before anything is charged: after an analysis it
# would take what follows for a part of a transaction, and drop the cursor with the answer.
NO_BLOCK = Refuse("25P01", "DECLARE CURSOR can only be used in transaction blocks", "", None)
NOT_INLINED = Refuse(
    Code.UNAVAILABLE.sqlstate, "the question could not be answered", "Ask the operator.", None
)


NO_RELATION = "{}"


class Failed:
    """An error was shown to the client, or the server is skipping: nothing is left to do."""


FAILED = Failed()


@dataclass(frozen=True, slots=True)
class Run:
    """A statement to run in the client's place, with its values in text format."""

    text: bytes
    parameter_oids: tuple[int, ...]
    values: tuple[bytes | None, ...]
    command_tag: bytes | None


def pieces_of(reader: Reader, asked: Look) -> Pieces:
    """Of a simple query string its statements; anything else is one."""
    text, is_exact = asked.text, asked.is_exact
    if not asked.is_query:
        return ((0, text, look(reader, text, is_exact)),)
    return tuple(
        (offset, piece, look(reader, piece, is_exact)) for offset, piece in reader.split(text)
    )


def prepared_of(reader: Reader, asked: LookPrepared) -> Looked:
    """Verbatim where nothing of that name is found."""
    body = reader.prepared(asked.source, asked.name)
    if body is None:
        return Verbatim()
    return body if isinstance(body, Refuse) else look(reader, body, is_exact=True)


def look(reader: Reader, text: str, is_exact: bool) -> Looked:
    """is_exact: whether `text` is what the client wrote (see `readable`)."""
    looked = reader.look(text)
    if isinstance(looked, Verbatim):
        return looked
    if not is_exact:
        return NOT_UTF8
    if len(text) > STATEMENT_BYTES or len(text.encode()) > STATEMENT_BYTES:
        return TOO_LONG
    # One column each in the probe, beside the settings.
    if isinstance(looked, Inspect) and len(looked.relations) > COLUMNS_PER_RESULT - 64:
        return TOO_MANY_RELATIONS
    return looked


def readable(session: Session, text: bytes) -> tuple[str, bool] | None:
    """(the text, whether it is exact), or None where it is not text: PostgreSQL says why (22021).

    In other encodings than UTF8 only ASCII is read; a second byte of a character that happens to be
    ASCII could deceive us, but only about what to relay, and what is relayed meets an empty
    database.
    """
    if text.isascii():
        return text.decode("ascii"), True
    if not session.speaks_utf8:
        return text.decode("ascii", "replace"), False
    try:
        return text.decode(), True
    except UnicodeDecodeError:
        return None


def decide(
    session: Session, inspect: Inspect, oids: Sequence[int], wording: Wording
) -> Generator[Wait, Any, tuple[Verbatim | Substitute | Refuse, Analysis] | Failed]:
    encoding = session.answers.client_encoding
    analysis = yield from analyse(session, inspect, oids, wording)
    if analysis is None:
        return FAILED
    if session.answers.client_encoding != encoding and not inspect.analyse.isascii():
        return NOT_UTF8, analysis  # it was read in the encoding before
    asked = Read(
        inspect.handle,
        analysis.relation_oids,
        analysis.parameter_oids,
        analysis.columns,
        analysis.settings,
    )
    if len(inspect.analyse) <= READ_AT_ONCE:
        return session.reader.read(asked), analysis
    read: Verbatim | Substitute | Refuse = yield asked
    return read, analysis


def answer(
    session: Session,
    substitute: Substitute,
    json: Sequence[bytes | None],
    settings: dict[str, str],
    given: Given,
    is_part: bool = False,
) -> Generator[Wait, Any, Result | Failed]:
    """Ask for the noised relation, once PostgreSQL has no objection of its own; a statement that does
    not read it gets an empty one. Everything sent before has succeeded: the caller has seen to it."""
    outside = session.answers.transaction_status == b"I" and not session.answers.has_executed
    if substitute.needs_block and outside and not is_part:
        return NO_BLOCK
    if substitute.rehearsal is not None:
        is_needed = yield from rehearse(session, substitute.rehearsal, given)
        if is_needed is None:
            return FAILED
        if not is_needed:
            return Answered(NO_RELATION, None, substitute.rehearsal.without_rows)
    arguments = []
    for value in json:
        text = None if value is None else session.decode(value)
        if value is not None and text is None:
            return NOT_UTF8
        arguments.append(text)
    result: Result = yield Ask(substitute.handle, tuple(arguments), settings)
    if isinstance(result, Answered):
        if substitute.as_literal and result.inlined_text is None:
            return NOT_INLINED
        if result.notice is not None:
            session.notice(result.notice)
    return result


def run_of(
    substitute: Substitute,
    answered: Answered,
    parameter_oids: tuple[int, ...] = (),
    values: tuple[bytes | None, ...] = (),
) -> Run:
    tag = None if substitute.command_tag is None else substitute.command_tag.encode()
    if substitute.as_literal and answered.inlined_text is not None:
        return Run(answered.inlined_text.encode(), (), (), tag)
    return Run(
        substitute.text.encode(),
        (*parameter_oids, JSONB_OID),
        (*values, json_in_ascii(answered.relation)),
        tag,
    )


def decide_execute(
    session: Session, execute: ExecutePrepared, portal: bytes = b""
) -> Generator[Wait, Any, Verbatim | Refuse | Run | Failed]:
    """EXECUTE of SQL. Verbatim wherever PostgreSQL has its own answer, or the statement is none of
    ours."""
    prepared = yield from look_up_prepared(session, execute.name)
    if not isinstance(prepared, Prepared):
        return Verbatim() if prepared else FAILED
    asked = LookPrepared(prepared.source, execute.name)
    looked: Looked
    if len(prepared.source) <= LOOKED_AT_AT_ONCE:
        looked = prepared_of(session.reader, asked)
    else:
        looked = yield asked
    if isinstance(looked, Refuse):
        return unplaced(looked)
    if not isinstance(looked, Inspect) or len(execute.arguments) != len(prepared.types):
        return Verbatim()
    oids = tuple(oid for oid, _ in prepared.types)
    decided = yield from decide(session, looked, oids, Wording(has_position=False))
    if isinstance(decided, Failed):
        return decided
    read, analysis = decided
    if isinstance(read, Refuse):
        return unplaced(read)
    if isinstance(read, Verbatim):
        return read
    arguments = yield from evaluate(session, execute.arguments, prepared.types)
    if arguments is None:
        return FAILED
    if isinstance(arguments, Refuse):
        return arguments
    values = arguments.values
    result = yield from answer(
        session, read, arguments.json, analysis.settings, Given(oids, values, (), portal)
    )
    match result:
        case Failed():
            return result
        case Refuse():
            return unplaced(result)
        case Answered():
            return run_of(read, result, oids, values)
        case _:
            assert_never(result)


def unplaced(refuse: Refuse) -> Refuse:
    """Without the position, which is one in the text of the PREPARE."""
    return Refuse(refuse.sqlstate, refuse.message, refuse.hint, None)
