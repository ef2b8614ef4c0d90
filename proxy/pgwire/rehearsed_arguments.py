"""The client's arguments and the rehearsal with them, in one round trip where only time differs by that.

Both are asked of the shadow in the order in which they would be asked one by one, and it does nothing more
after an error. So errors come as they would, and the rehearsal is of this very moment: what somebody has
renamed, revoked or set since the last one is found. One case differs: where SQL has put another statement
under the name, what the rehearsal of the old one says is shown once, and the next Bind finds the other.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from proxy.pgwire.argument_exchanges import decoded_arguments, send_arguments
from proxy.pgwire.calls import Arguments, ReadArguments, Refuse, Rehearsal, Verbatim
from proxy.pgwire.frames import FLUSH, Bind
from proxy.pgwire.rehearsal import rehearsed, send_rehearsal
from proxy.pgwire.session import Failed, Session, Wait

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
