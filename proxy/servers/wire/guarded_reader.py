"""Between the machine and the brain: whatever goes wrong in the brain becomes a refusal.

Fail closed, and with a neutral text: an unexpected error may have met anything. The log gets the kind
of error and where it arose, never its text, which may quote a statement.
"""

from __future__ import annotations

import traceback

import structlog

from proxy.base.errors import FAULT_HINT, Code, Fault, Refusal
from proxy.pgwire.calls import (
    Answered,
    Ask,
    ExecutePrepared,
    Inspect,
    Read,
    Refuse,
    Substitute,
    Verbatim,
)
from proxy.servers.wire.brain import Brain

_log = structlog.get_logger("dpproxy.wire")

CANCELLED = Refuse(Code.CANCELLED.sqlstate, "canceling statement due to user request", "", None)


def failure(error: Exception, where: str) -> Refuse:
    """What the client is told of an error of the brain."""
    match error:
        case Refusal():
            return Refuse(error.code.sqlstate, error.message, error.hint, error.position)
        case Fault():
            _log.error("fault", where=where, kind=type(error).__name__)
            return Refuse(error.code.sqlstate, error.message, FAULT_HINT, None)
        case _:
            last = traceback.extract_tb(error.__traceback__)[-1]
            _log.error(
                "unexpected_error",
                where=where,
                kind=type(error).__name__,
                raised_in=f"{last.name}:{last.lineno}",
            )
            neutral = Fault()
            return Refuse(neutral.code.sqlstate, neutral.message, FAULT_HINT, None)


class GuardedReader:
    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    def split(self, text: str) -> tuple[tuple[int, str], ...]:
        try:
            return self._brain.split(text)
        except Exception as error:
            failure(error, "split")
            # As one statement; `look` at it will fail in its turn, and refuse.
            return ((0, text),)

    def look(self, text: str) -> Verbatim | Inspect | ExecutePrepared | Refuse:
        try:
            return self._brain.look(text)
        except Exception as error:
            return failure(error, "look")

    def prepared(self, source: str, name: str) -> str | Refuse | None:
        try:
            return self._brain.prepared(source, name)
        except Exception as error:
            failure(error, "prepared")
            return None

    def read(self, read: Read) -> Verbatim | Substitute | Refuse:
        try:
            return self._brain.read(read)
        except Exception as error:
            return failure(error, "read")


async def guarded_ask(brain: Brain, analyst: str, ask: Ask) -> Answered | Refuse:
    try:
        return await brain.ask(analyst, ask)
    except Exception as error:
        return failure(error, "ask")
