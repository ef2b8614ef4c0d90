"""The common round trip in few steps: whole frames of which nothing but their order has to be known.

What is not so simple is left to the machines of relay.py and answers.py, which say the same of these frames
(tests/pgwire/test_plain_frames.py compares them).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from proxy.pgwire.expectations import Expectation, MessageKind
from proxy.pgwire.frames import HEAD, SMALLEST_LENGTH, SYNC, describe_portal, execute, frame

DESCRIBED: Final = Expectation(MessageKind.DESCRIBE)
BOUND: Final = Expectation(MessageKind.BIND)
EXECUTED: Final = Expectation(MessageKind.EXECUTE)
CLOSED: Final = Expectation(MessageKind.CLOSE)
SYNCED: Final = Expectation(MessageKind.SYNC)

_BIND, _EXECUTE, _SYNC = b"BES"
_EXPECTED: Final = {
    _BIND: BOUND,
    ord("D"): DESCRIBED,
    _EXECUTE: EXECUTED,
    ord("C"): CLOSED,
    _SYNC: SYNCED,
}
_EMPTY: Final = frozenset(b"HS")
_PLAIN: Final = frozenset(_EXPECTED) | _EMPTY
_AT_MOST: Final = 200  # what is read in a turn is bounded (relay.py, TURN_WORK)
# What is expected of a prepared statement's Bind, [Describe,] Execute and Sync, if nothing else is.
_DESCRIBED_ROUND: Final = deque((BOUND, DESCRIBED, EXECUTED, SYNCED))
_ROUND: Final = deque((BOUND, EXECUTED, SYNCED))
_SHORT: Final = (
    1024  # bytes; of a longer answer the rows are what takes time, and they are looked at once
)
_ROWS, _ROW, _COMPLETE = b"TDC"
_BIND_COMPLETE: Final = frame(b"2")
_READY_FOR_QUERY: Final = frame(b"Z", b"I")[:-1]
_READY_BYTES: Final = len(_READY_FOR_QUERY) + 1
# The beginnings of the tags of DISCARD ALL and DEALLOCATE ALL, and of DELETE.
DISCARDING: Final = (b"DI", b"DE")


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingRun:
    """Messages of a client that pass, none of them of a COPY.

    leaves_bound: whether a portal is left after them; None where they do not say
    """

    expectations: tuple[Expectation, ...]
    executes: bool
    leaves_bound: bool | None


def plain_client_tags(data: bytes) -> bytes | None:
    """
    Given    what a client has sent
    Gives    the tags of its frames, where these are all whole, and each Bind, Describe, Execute, Close, Flush
             or Sync; else None

    >>> plain_client_tags(b"E\\0\\0\\0\\x09\\0\\0\\0\\0\\0S\\0\\0\\0\\4")
    b'ES'
    >>> plain_client_tags(b"S\\0\\0\\0\\4Q") is None
    True
    """
    position, size, head_at = 0, len(data), HEAD.unpack_from
    tags = bytearray()
    while size - position >= 5:
        tag, length = head_at(data, position)
        is_odd = length < SMALLEST_LENGTH or (length > SMALLEST_LENGTH and tag in _EMPTY)
        if tag not in _PLAIN or is_odd or len(tags) == _AT_MOST:
            return None
        tags.append(tag)
        position += 1 + length
    return bytes(tags) if position == size else None


@lru_cache(maxsize=256)
def _run_of(tags: bytes) -> PassingRun:
    """
    >>> _run_of(b"BE").leaves_bound, _run_of(b"BES").leaves_bound, _run_of(b"D").leaves_bound
    (True, False, None)
    """
    leaving = [tag for tag in tags if tag in (_BIND, _EXECUTE, _SYNC)]
    return PassingRun(
        expectations=tuple(_EXPECTED[tag] for tag in tags if tag in _EXPECTED),
        executes=_EXECUTE in tags,
        leaves_bound=leaving[-1] != _SYNC if leaving else None,
    )


def _ending(tags: bytes, ending: bytes) -> tuple[bytes, int, PassingRun]:
    return ending, len(ending) + 1, _run_of(tags)


# What drivers send behind the Bind of a prepared statement. To find it spares the reading of each frame.
_ENDINGS: Final = (
    _ending(b"BDES", describe_portal(b"") + execute(b"") + SYNC),
    _ending(b"BES", execute(b"") + SYNC),
)


def passing_run(data: bytes) -> PassingRun | None:
    """
    Given    what a client has sent
    Gives    what is to be noted of it, where it is whole frames that pass (plain_client_tags); else None
    """
    for ending, rest, run in _ENDINGS:
        if data.endswith(ending) and HEAD.unpack_from(data) == (_BIND, len(data) - rest):
            return run
    tags = plain_client_tags(data)
    return None if tags is None else _run_of(tags)


def round_status(data: bytes, expected: deque[Expectation]) -> bytes | None:
    """
    Given    a piece of the server's, at the beginning of a frame; what is expected of it
    Gives    the transaction status at its end, where it is short and the whole answer to Bind, perhaps
             Describe, Execute and Sync, and nothing else is to be noted of it; else None, whatever it is

    >>> from proxy.pgwire.frames import frame
    >>> answer = frame(b"2") + frame(b"D", b"\\0\\0") + frame(b"C", b"SELECT 1\\0") + frame(b"Z", b"I")
    >>> round_status(answer, deque((BOUND, EXECUTED, SYNCED))), round_status(answer, deque((BOUND, SYNCED)))
    (b'I', None)
    """
    end = len(data) - _READY_BYTES
    position = len(_BIND_COMPLETE)
    if not position < end <= _SHORT or not data.startswith(_READY_FOR_QUERY, end):
        return None
    if not data.startswith(_BIND_COMPLETE):
        return None
    head_at = HEAD.unpack_from
    if expected == _DESCRIBED_ROUND:
        tag, length = head_at(data, position)
        if tag != _ROWS or length < SMALLEST_LENGTH:
            return None
        position += 1 + length
    elif expected != _ROUND:
        return None
    while position < end:
        tag, length = head_at(data, position)
        if length < SMALLEST_LENGTH:
            return None
        after = position + 1 + length
        if tag == _COMPLETE:
            is_noted = data[position + 5 : position + 7] in DISCARDING
            return None if is_noted or after != end else data[-1:]
        if tag != _ROW:
            return None
        position = after
    return None
