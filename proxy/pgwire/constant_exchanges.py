"""Has the shadow say of which types constant expressions are, and what they are; each is one round trip.

The expressions are the client's own, on its own session: in its settings, in its transaction (whose now() is
that of the statement), before anything is charged. An error is PostgreSQL's own answer to the client.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from proxy.pgwire.calls import DescribeConstants, EvaluateConstants, Refuse
from proxy.pgwire.expectations import MessageKind, ShadowReply, messages
from proxy.pgwire.frames import (
    FLUSH,
    close_statement,
    decode_row_description,
    describe_statement,
    parse,
)
from proxy.pgwire.held_timeouts import hold, send_hold
from proxy.pgwire.session import FAILED, Failed, Session, Wait, succeeded
from proxy.pgwire.shadow_exchanges import (
    ARGUMENTS_TOO_LONG,
    INTERNAL,
    fits,
    measured_sql,
    rows_of,
    run,
)
from proxy.pgwire.statement_look import NOT_UTF8
from proxy.pgwire.wording import Wording

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
