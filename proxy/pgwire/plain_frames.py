"""The common round trip in few steps: whole frames of which nothing but their order has to be known.

What is not so simple is left to the machines of relay.py and answers.py, which say the same of these frames
(tests/pgwire/test_plain_frames.py compares them).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from proxy.pgwire.expectations import Expectation, MessageKind
from proxy.pgwire.frames import HEAD, SMALLEST_LENGTH, SYNC, describe_portal, execute

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
# What drivers send behind the Bind of a prepared statement. To find it spares the reading of each frame.
_ENDINGS: Final = (
    (describe_portal(b"") + execute(b"") + SYNC, b"BDES"),
    (execute(b"") + SYNC, b"BES"),
)


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
    for ending, known in _ENDINGS:
        if data.endswith(ending) and head_at(data) == (_BIND, size - len(ending) - 1):
            return known
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
def passing_run(tags: bytes) -> PassingRun:
    """
    >>> passing_run(b"BE").leaves_bound, passing_run(b"BES").leaves_bound, passing_run(b"D").leaves_bound
    (True, False, None)
    """
    leaving = [tag for tag in tags if tag in (_BIND, _EXECUTE, _SYNC)]
    return PassingRun(
        expectations=tuple(_EXPECTED[tag] for tag in tags if tag in _EXPECTED),
        executes=_EXECUTE in tags,
        leaves_bound=leaving[-1] != _SYNC if leaving else None,
    )
