"""Asks the shadow what it would say of a statement, before its relation is asked for and charged.

One round trip. Errors are PostgreSQL's own and are shown; notices are not, they come with the statement itself.
Nothing of the statement is executed (proxy.engine.rehearsal_queries says what is done instead).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.base.result_columns import NOISY_RELATION
from proxy.pgwire.calls import (
    NO_RELATION,
    MadeOfNulls,
    Rehearsal,
    Rehearse,
    RunTrial,
    Trial,
    TrialResult,
)
from proxy.pgwire.expectations import MessageKind, Messages, ShadowReply, messages
from proxy.pgwire.frames import (
    BINARY_FORMAT,
    FLUSH,
    TEXT_FORMAT,
    bind,
    close_portal,
    close_statement,
    parse,
)
from proxy.pgwire.held_timeouts import hold, send_hold, send_restored
from proxy.pgwire.session import FAILED, Failed, Session, Wait, succeeded
from proxy.pgwire.shadow_exchanges import INTERNAL, JSONB_OID, Row, rows_of, run
from proxy.pgwire.wording import Wording

MAKE = "SELECT dp.rehearse($1, $2, $3, $4, $5, $6)"
MAKE_OIDS = (25, 1009, 1028, 1007, 25, 16)  # text, text[], oid[], integer[], text, boolean
# How the noisy relation is called wherever a plan reads it.
_SCANNED = NOISY_RELATION.encode()
# Formats that nothing can be wrong with.
_TEXTS = ((), (TEXT_FORMAT,))
_NOT_PLACED = Wording(has_position=False)


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
