"""The common round trip in few steps: whole frames of which nothing but their order has to be known.

What is not so simple is left to the machines of relay.py and answers.py, which say the same of these frames
(tests/pgwire/test_plain_frames.py compares them).
"""

from __future__ import annotations

import struct
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
_HEAD_BYTES: Final = HEAD.size
_EMPTY: Final = frozenset(b"HS")
_PLAIN: Final = frozenset(_EXPECTED) | _EMPTY
_AT_MOST: Final = 200  # what is read in a turn is bounded (relay.py, TURN_WORK)
_SHORT: Final = (
    1024  # bytes; of a longer answer the rows are what takes time, and they are looked at once
)
_ROWS, _ROW, _COMPLETE = b"TDC"
_BIND_COMPLETE: Final = frame(b"2")
_BOUND_BYTES: Final = len(_BIND_COMPLETE)
_READY_BYTES: Final = len(frame(b"Z", b"I"))
_STATUS_OF: Final = {frame(b"Z", status): status for status in (b"I", b"T", b"E")}  # ReadyForQuery
_OPENING: Final = struct.Struct("!5sBI")  # BindComplete, and the head of what follows
_OPENING_BYTES: Final = _OPENING.size
_opening_at, _head_at = _OPENING.unpack_from, HEAD.unpack_from
# The beginnings of the tags of DISCARD ALL and DEALLOCATE ALL, and of DELETE.
DISCARDING: Final = (b"DI", b"DE")
_NOTED: Final = b"D"[0]  # of all of them


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


DESCRIBED_ROUND: Final = _run_of(b"BDES")
ROUND: Final = _run_of(b"BES")
# What drivers send behind the Bind of a prepared statement. To find it spares the reading of each frame.
_DESCRIBED_ENDING: Final = describe_portal(b"") + execute(b"") + SYNC
_ENDING: Final = execute(b"") + SYNC
_ENDINGS: Final = {_DESCRIBED_ENDING: DESCRIBED_ROUND, _ENDING: ROUND}
ROUND_ENDINGS: Final = {_DESCRIBED_ENDING: _run_of(b"DES"), _ENDING: _run_of(b"ES")}
_ENDING_BYTES: Final = len(_DESCRIBED_ENDING)  # of the longer one


def round_of(data: bytes) -> PassingRun | None:
    """
    Given    what a client has sent
    Gives    ROUND or DESCRIBED_ROUND, where it is such and as drivers send it; else None, whatever it is
    """
    if len(data) < _HEAD_BYTES:
        return None
    tag, length = _head_at(data)
    # No ending begins within a head: behind a length that is none, there is none.
    return _ENDINGS.get(data[1 + length :]) if tag == _BIND else None


def ending_of(data: bytes | bytearray) -> PassingRun | None:
    """
    Given    what a client has sent behind a Bind
    Gives    what is to be noted of it, where it is the end of a round trip as drivers send it: it names no
             statement, and the unnamed portal; else None, whatever it is
    """
    return ROUND_ENDINGS.get(bytes(data)) if len(data) <= _ENDING_BYTES else None


def passing_run(data: bytes) -> PassingRun | None:
    """
    Given    what a client has sent
    Gives    what is to be noted of it, where it is whole frames that pass (plain_client_tags); else None
    """
    found = round_of(data)
    if found is None:
        tags = plain_client_tags(data)
        found = None if tags is None else _run_of(tags)
    return found


def round_status(data: bytes, run: PassingRun) -> bytes | None:
    """
    Given    a piece of the server's, at the beginning of a frame; run: all that it has to answer, ROUND or
             DESCRIBED_ROUND
    Gives    the transaction status at its end, where the piece is short and the whole answer, of which nothing
             else is to be noted; else None, whatever it is

    >>> answer = frame(b"2") + frame(b"D", b"\\0\\0") + frame(b"C", b"SELECT 1\\0") + frame(b"Z", b"I")
    >>> round_status(answer, ROUND), round_status(answer, DESCRIBED_ROUND)
    (b'I', None)
    """
    end = len(data) - _READY_BYTES
    if not _OPENING_BYTES <= end <= _SHORT:
        return None
    bound, tag, length = _opening_at(data)
    if bound != _BIND_COMPLETE or length < SMALLEST_LENGTH:
        return None
    position = _BOUND_BYTES
    if run is DESCRIBED_ROUND:
        if tag != _ROWS:
            return None
        position += 1 + length
    while position < end:
        tag, length = _head_at(data, position)
        if length < SMALLEST_LENGTH:
            return None
        after = position + 1 + length
        if tag == _COMPLETE:
            is_noted = data[position + 5] == _NOTED
            return None if is_noted or after != end else _STATUS_OF.get(data[end:])
        if tag != _ROW:
            return None
        position = after
    return None
