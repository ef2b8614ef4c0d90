"""What the shadow is asked with each Bind of a statement about protected data: what its name holds, the
settings of the session, and the client's values, in JSON.

As the other exchanges (shadow_exchanges.py); it comes with all that is charged, so it takes few steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from proxy.pgwire.calls import (
    Arguments,
    DescribeConstants,
    EvaluateConstants,
    ReadArguments,
    Refuse,
    Rehearsal,
    Verbatim,
)
from proxy.pgwire.expectations import MessageKind, Messages, ShadowReply, messages
from proxy.pgwire.frames import (
    FLUSH,
    Bind,
    close_statement,
    decode_data_row,
    decode_row_description,
    describe_statement,
    described_parameters,
    parse,
)
from proxy.pgwire.held_timeouts import hold, send_hold
from proxy.pgwire.rehearsal import rehearsed, send_rehearsal
from proxy.pgwire.session import FAILED, Failed, ReadState, Session, Wait, succeeded
from proxy.pgwire.shadow_exchanges import (
    ARGUMENTS_TOO_LONG,
    INTERNAL,
    JSONB_OID,
    SETTINGS_SQL,
    TEXT_OID,
    decoded_json,
    fits,
    measured_sql,
    rows_of,
    run,
    search_path_of,
    settings_of,
)
from proxy.pgwire.statement_look import NOT_UTF8
from proxy.pgwire.wording import Wording

_REMEMBERED_BYTES = 1_000  # of a session's settings, which can be long texts
_DATA_ROW = b"D"[0]

_TAKEN_SQL = "EXISTS (SELECT FROM pg_catalog.pg_cursors c WHERE c.name OPERATOR(pg_catalog.=) $1)"
# Of the unnamed portal, which is replaced by each Bind, so it is never taken.
_STATE = run(b"SELECT false, " + SETTINGS_SQL.encode())


def _arguments_sql(count: int) -> bytes:
    if not count:
        return b"SELECT WHERE false"
    wanted = [f"pg_catalog.to_jsonb(${n})::pg_catalog.text" for n in range(1, count + 1)]
    return measured_sql(wanted).encode()


_OF_FEW = tuple(map(_arguments_sql, range(8)))  # values, as most statements have


def send_arguments(session: Session, message: Bind, oids: Sequence[int]) -> ShadowReply:
    """Has the shadow decode the client's arguments, in its own formats. Without a Flush."""
    state = _STATE
    if message.portal:
        state = run(f"SELECT {_TAKEN_SQL}, {SETTINGS_SQL}".encode(), [TEXT_OID], [message.portal])
    data = describe_statement(message.statement) + state.data
    ends = (MessageKind.DESCRIBE.value, *state.ends)
    # Nothing can be wrong with a Bind that gives nothing to a statement that takes nothing.
    if oids or message.values or message.formats:
        count = len(oids)
        text = _OF_FEW[count] if count < len(_OF_FEW) else _arguments_sql(count)
        bound = run(text, oids, message.values, message.formats, goes_on=True)
        data += bound.data
        ends += bound.ends
    renamed = (
        (b'"' + INTERNAL + b'"', b'"' + message.statement + b'"'),
        (b"portal " + INTERNAL, b"portal " + message.portal),
    )
    return session.send_all(
        Messages(data, ends), wording=Wording(has_position=False, renamed=renamed)
    )


def decoded_arguments(
    session: Session,
    message: Bind,
    oids: Sequence[int],
    reply: ShadowReply,
    needs_relation: bool | None = None,
    *,
    held: Sequence[int] | None = None,
) -> Arguments | Verbatim | Refuse | Failed:
    """Verbatim where nothing is to be charged: the statement of that name is not the one we made any more
    (SQL's DEALLOCATE reaches it too), and is then forgotten, or the portal's name is taken. Refuse: more than
    is fetched.

    Given    reply: to send_arguments; needs_relation: as of Arguments; held: types of the parameters of a
             statement that is not of our making
    """
    if not succeeded(reply):
        return FAILED
    (_, described), *frames = reply.frames  # Describe comes first
    if described != described_parameters((*oids, JSONB_OID) if held is None else held):
        session.statements.pop(message.statement, None)
        return Verbatim()
    (state, *values) = (payload for tag, payload in frames if tag == _DATA_ROW)
    read = _read_state(session, state)
    json: tuple[str | None, ...] | None = ()
    if oids:
        found = [decode_data_row(payload) for payload in values]
        if not fits(found, len(oids)):
            return ARGUMENTS_TOO_LONG
        json = decoded_json(session, [value for _, value, _ in found])
    if read.is_taken:
        return Verbatim()
    return Arguments(
        json,
        read.settings,
        message.values,
        message.formats,
        session.in_block(),
        needs_relation,
        read.search_path,
        session.speaks_utf8,
    )


def _read_state(session: Session, payload: bytes) -> ReadState:
    """Most often the row of the last Bind has come again."""
    read = session.read_state
    if read is None or read.payload != payload:
        row = decode_data_row(payload)
        settings, path = settings_of(session, row), search_path_of(session, row)
        read = ReadState(payload, row[0] == b"t", settings, path, session.answers.client_encoding)
        session.read_state = read if row[-1] and len(payload) <= _REMEMBERED_BYTES else None
    session.answers.client_encoding = read.client_encoding
    return read


# The client's arguments and the rehearsal with them, in one round trip where only time differs by that.
#
# Both are asked of the shadow in the order in which they would be asked one by one, and it does nothing more
# after an error. So errors come as they would, and the rehearsal is of this very moment: what somebody has
# renamed, revoked or set since the last one is found. One case differs: where SQL has put another statement
# under the name, what the rehearsal of the old one says is shown once, and the next Bind finds the other.


# Of all values. Those of long ones are measured first, and a plan shows each value where it is used.
_SHORT = 1_000


def rehearsed_arguments(
    session: Session, message: Bind, step: ReadArguments, held: Sequence[int] | None = None
) -> Generator[Wait, Any, Arguments | Verbatim | Refuse | Failed]:
    """held: as of decoded_arguments."""
    oids = step.parameter_oids
    reply, sent = send_arguments(session, message, oids), None
    if step.rehearsal is not None and _goes_along(message, step.rehearsal):
        given = (oids, message.values, message.formats)
        formats = message.result_formats
        sent = send_rehearsal(session, step.rehearsal, *given, b"", formats, goes_on=True)
    session.to_shadow.append(FLUSH)
    yield reply if sent is None else sent.last
    if sent is None:
        return decoded_arguments(session, message, oids, reply, held=held)
    needed = rehearsed(session, sent)
    if isinstance(needed, Failed):
        decoded_arguments(
            session, message, oids, reply, held=held
        )  # forgets a statement that is not ours any more
        return needed  # whatever else is wrong: the server skips until the client's Sync
    return decoded_arguments(session, message, oids, reply, needed, held=held)


def _goes_along(message: Bind, rehearsal: Rehearsal) -> bool:
    """Not where something is made, or a block is needed, or the portal's name may be taken: then it is looked
    first whether there is anything to rehearse."""
    is_plain = rehearsal.made is None and not rehearsal.same_kind and not message.portal
    return is_plain and message.size <= _SHORT


# Has the shadow say of which types constant expressions are, and what they are; each is one round trip.
#
# The expressions are the client's own, on its own session: in its settings, in its transaction (whose now()
# is that of the statement), before anything is charged. An error is PostgreSQL's own answer to the client.


_ROW_DESCRIPTION = ord("T")
_COLUMNS_AT_ONCE = 1_000  # fewer than a result may have
_NOT_PLACED = Wording(has_position=False)


def describing(expressions: Sequence[str]) -> Iterator[str]:
    """Queries of which each column is an expression."""
    for start in range(0, len(expressions), _COLUMNS_AT_ONCE):
        listed = ", ".join(f"({text})" for text in expressions[start : start + _COLUMNS_AT_ONCE])
        yield f"SELECT {listed}"


def describe_constants(
    session: Session, step: DescribeConstants
) -> Generator[Wait, Any, tuple[int, ...] | Failed]:
    reply = ShadowReply()
    for text in describing(step.expressions):
        reply = session.send_all(
            messages(
                (close_statement(INTERNAL), MessageKind.CLOSE),
                (parse(INTERNAL, text.encode(), step.parameter_oids), MessageKind.PARSE),
                (describe_statement(INTERNAL), MessageKind.DESCRIBE),
                (close_statement(INTERNAL), MessageKind.CLOSE),
            ),
            wording=_NOT_PLACED,
            reply=ShadowReply(frames=reply.frames),
        )
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return FAILED
    described = (
        decode_row_description(payload) for tag, payload in reply.frames if tag == _ROW_DESCRIPTION
    )
    return tuple(field.type_oid for fields in described for field in fields)


def evaluate_constants(
    session: Session, step: EvaluateConstants
) -> Generator[Wait, Any, tuple[str | None, ...] | Refuse | Failed]:
    given = step.arguments
    text = measured_sql(step.constants)
    if not text.isascii() and not session.speaks_utf8:
        return NOT_UTF8  # it was read in another encoding
    reply = session.send_all(
        run(text.encode(), step.parameter_oids, given.values, given.formats), wording=_NOT_PLACED
    )
    last = send_hold(session)  # again: an expression may have set what was held
    session.to_shadow.append(FLUSH)
    yield last
    if not succeeded(last):
        return FAILED
    hold(session, last)
    found = rows_of(reply)
    if not fits(found, len(step.constants)):
        return ARGUMENTS_TOO_LONG
    values = [value for _, value, _ in found]
    texts = tuple(None if value is None else session.decode(value) for value in values)
    unread = (text is None and value is not None for text, value in zip(texts, values, strict=True))
    return NOT_UTF8 if any(unread) else texts
