"""What the shadow is asked with each Bind of a statement about protected data: what its name holds, the
settings of the session, and the client's values, in JSON.

As the other exchanges (shadow_exchanges.py); it comes with all that is charged, so it takes few steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.base.result_columns import NOISY_RELATION
from proxy.pgwire.calls import (
    NO_RELATION,
    Arguments,
    DescribeConstants,
    EvaluateConstants,
    MadeOfNulls,
    ReadArguments,
    Refuse,
    Rehearsal,
    Rehearse,
    RunTrial,
    Trial,
    TrialResult,
    Verbatim,
)
from proxy.pgwire.expectations import MessageKind, Messages, ShadowReply, messages
from proxy.pgwire.frames import (
    BINARY_FORMAT,
    FLUSH,
    TEXT_FORMAT,
    Bind,
    bind,
    close_portal,
    close_statement,
    decode_data_row,
    decode_row_description,
    describe_statement,
    described_parameters,
    parse,
)
from proxy.pgwire.held_timeouts import hold, send_hold, send_restored
from proxy.pgwire.session import FAILED, Failed, ReadState, Session, Wait, succeeded
from proxy.pgwire.shadow_exchanges import (
    ARGUMENTS_TOO_LONG,
    INTERNAL,
    JSONB_OID,
    SETTINGS_SQL,
    TEXT_OID,
    Row,
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

# Asks the shadow what it would say of a statement, before its relation is asked for and charged.
#
# One round trip. Errors are PostgreSQL's own and are shown; notices are not, they come with the statement
# itself. Nothing of the statement is executed (proxy.engine.rehearsal_queries says what is done instead).

MAKE = "SELECT dp.rehearse($1, $2, $3, $4, $5, $6)"
MAKE_OIDS = (25, 1009, 1028, 1007, 25, 16)  # text, text[], oid[], integer[], text, boolean
# How the noisy relation is called wherever a plan reads it.
_SCANNED = NOISY_RELATION.encode()
# Formats that nothing can be wrong with.
_TEXTS = ((), (TEXT_FORMAT,))


def rehearse(
    session: Session, step: Rehearse, portal: bytes = b"", result_formats: Sequence[int] = ()
) -> Generator[Wait, Any, bool | Failed]:
    """Whether the statement needs its relation. portal, result_formats: as its Bind has them."""
    arguments = step.arguments
    given = (step.parameter_oids, arguments.values, arguments.formats)
    sent = send_rehearsal(session, step.rehearsal, *given, portal, result_formats)
    session.to_shadow.append(FLUSH)
    yield sent.last
    return rehearsed(session, sent)


@dataclass(frozen=True, slots=True)
class SentRehearsal:
    """last: the reply that ends it, of held_timeouts.py; the others have come by then."""

    rehearsal: Rehearsal
    planned: ShadowReply
    limited: ShadowReply | None
    made: ShadowReply | None
    last: ShadowReply


def send_rehearsal(
    session: Session,
    rehearsal: Rehearsal,
    parameter_oids: tuple[int, ...],
    values: tuple[bytes | None, ...],
    formats: tuple[int, ...],
    portal: bytes = b"",
    result_formats: Sequence[int] = (),
    *,
    goes_on: bool = False,
) -> SentRehearsal:
    """Without a Flush. goes_on: as of `run`."""
    oids = (*parameter_oids, JSONB_OID)
    formats = formats * len(values) if len(formats) == 1 else formats
    formats = (*formats, TEXT_FORMAT) if formats else ()
    values = (*values, NO_RELATION.encode())
    wording = _NOT_PLACED
    planned = session.send_all(
        run(rehearsal.plan.encode(), oids, values, formats, goes_on=goes_on), wording=wording
    )
    limited = made = None
    if rehearsal.limits is not None:
        limited = session.send_all(
            run(rehearsal.limits.encode(), oids, values, formats, goes_on=True), wording=wording
        )
    if rehearsal.made is not None:
        made = session.send_all(_make(session, rehearsal.made), wording=_named(rehearsal.made))
    for statement in rehearsal.same_kind:
        session.send_all(run(statement.encode(), goes_on=True), wording=wording)
    if portal:
        session.send_all(_take_portal(portal), wording=wording)
    if rehearsal.result_oids and tuple(result_formats) not in _TEXTS:
        session.send_all(_one_row(rehearsal.result_oids, result_formats), wording=wording)
    last = send_hold(session)
    return SentRehearsal(rehearsal, planned, limited, made, last)


def rehearsed(session: Session, sent: SentRehearsal) -> bool | Failed:
    """Whether the statement needs its relation."""
    if not succeeded(sent.last):
        return FAILED
    hold(session, sent.last)
    limited, made = sent.limited, sent.made
    return needs_relation(
        sent.rehearsal,
        [row[0] for row in rows_of(sent.planned)],
        None if limited is None else rows_of(limited)[0],
        None if made is None else rows_of(made)[0][0],
    )


def needs_relation(
    rehearsal: Rehearsal,
    plan: Sequence[bytes | None],
    let_through: Row | None,
    is_made: bytes | None,
) -> bool:
    """Whether an answer can depend on the noisy relation. If not, it is not asked for, and nothing is charged.

    Given    plan: its lines; let_through: the row of rehearsal.limits; is_made: what dp.rehearse gave
    """
    if not any(_SCANNED in (line or b"") for line in plan):
        return False
    if let_through is not None and any(
        let_through[number] == b"0" for number in rehearsal.lets_nothing_through
    ):
        return False
    return is_made != b"f"


def _make(session: Session, made: MadeOfNulls) -> Messages:
    """Raises where it cannot be made."""
    values = [session.encode(value) for value in make_values(made)]
    return run(MAKE.encode(), MAKE_OIDS, values, goes_on=True)


def _named(made: MadeOfNulls) -> Wording:
    renamed = () if made.tag is None else ((b"CREATE TABLE AS", made.tag.encode()),)
    return Wording(has_position=False, renamed=renamed)


def _take_portal(name: bytes) -> Messages:
    """A name that is taken is PostgreSQL's own error (42P03); one that is not is free again."""
    return messages(
        (parse(INTERNAL, b"SELECT"), MessageKind.PARSE),
        (bind(name, INTERNAL, ()), MessageKind.BIND),
        (close_portal(name), MessageKind.CLOSE),
        (close_statement(INTERNAL), MessageKind.CLOSE),
    )


def _one_row(oids: Sequence[int], formats: Sequence[int]) -> Messages:
    """A row of the same types in the client's formats: one that does not exist (22023) or that a type does not
    have (42883), or a wrong number of them (08P01), is refused."""
    nulls = ", ".join(f"${number}" for number in range(1, len(oids) + 1))
    return run(b"SELECT " + nulls.encode(), oids, [None] * len(oids), (), formats, goes_on=True)


def make_values(made: MadeOfNulls) -> tuple[str, ...]:
    """The arguments of MAKE, in text format."""
    columns = made.columns
    return (
        made.head,
        array_text([column.name for column in columns]),
        array_text([str(column.type_oid) for column in columns]),
        array_text([str(column.type_modifier) for column in columns]),
        made.tail,
        "t" if made.if_not_exists else "f",
    )


def array_text(elements: Sequence[str]) -> str:
    """An array of PostgreSQL's in text format."""
    return "{" + ",".join(map(_element, elements)) + "}"


def _element(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Runs a statement with made-up answers on the shadow, in a subtransaction that is undone, before the charge.
#
# One round trip, with the session's timeouts on. Errors are PostgreSQL's own and are shown; notices are not.
# The shadow's function dp.try_answer decides what can be run twice without effect.


# text[], integer[], oid[], name[], name[], text[], text, text, boolean, text
_OWN_OIDS = (1009, 1007, 1028, 1003, 1003, 1009, 25, 25, 16, 25)


def run_trial(
    session: Session, step: RunTrial, result_formats: Sequence[int]
) -> Generator[Wait, Any, bool | Failed]:
    """
    Given    result_formats: of the client's Bind. Types of single columns are looked at by the rehearsal
    """
    trial, ends_transaction = step.trial, not step.arguments.in_block
    if trial.result is TrialResult.TEXT and set(result_formats) == {BINARY_FORMAT}:
        trial = replace(trial, result=TrialResult.BINARY)
    send_restored(session)
    values, formats = step.arguments.values, step.arguments.formats
    formats = formats * len(values) if len(formats) == 1 else formats
    own_texts = trial_values(trial, step.parameter_oids, ends_transaction=ends_transaction)
    own = [text.encode() for text in own_texts]
    asked = run(
        trial_sql(len(step.parameter_oids)).encode(),
        trial_oids(step.parameter_oids),
        (*values, *own),
        (*formats, *(TEXT_FORMAT for _ in own)) if formats else (),
    )
    reply = session.send_all(asked, wording=_NOT_PLACED)
    last = send_hold(session)
    session.to_shadow.append(FLUSH)
    yield last
    if not succeeded(last):
        return FAILED
    hold(session, last)
    return rows_of(reply)[0][0] == b"t"


def trial_oids(parameter_oids: Sequence[int]) -> tuple[int, ...]:
    return (*parameter_oids, *_OWN_OIDS)


def trial_sql(count: int) -> str:
    """
    Given    count: of the statement's parameters without the relation; they come first

    >>> trial_sql(1)[:78]
    'SELECT dp.try_answer($2, $3, ARRAY[$1::pg_catalog.text]::pg_catalog.text[], $4'
    """
    given = ", ".join(f"${number}::pg_catalog.text" for number in range(1, count + 1))
    own = [f"${number}" for number in range(count + 1, count + 1 + len(_OWN_OIDS))]
    values = f"ARRAY[{given}]::pg_catalog.text[]"
    return f"SELECT dp.try_answer({', '.join((*own[:2], values, *own[2:]))})"


def trial_values(
    trial: Trial, parameter_oids: Sequence[int], *, ends_transaction: bool
) -> tuple[str, ...]:
    """The arguments behind the statement's own, in text format."""
    return (
        array_text(trial.pieces),
        "{" + ",".join(map(str, trial.numbers)) + "}",
        "{" + ",".join(map(str, parameter_oids)) + "}",
        array_text(trial.called),
        array_text(trial.words),
        array_text(trial.relations),
        trial.result.value,
        trial.encoding,
        "t" if ends_transaction else "f",
        trial.hint,
    )


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
