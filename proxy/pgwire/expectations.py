"""What is expected of the server for each message that it was sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from proxy.base.limits import PARAMETERS
from proxy.pgwire.frames import ProtocolError
from proxy.pgwire.wording import Wording

# A row for each argument is the most that is asked for, of ARGUMENTS_JSON_BYTES together; plans are shorter.
REPLY_FRAMES = PARAMETERS + 10_000
REPLY_BYTES = 8 * 1024 * 1024


class MessageKind(Enum):
    """The message that was sent -> the tags that end its answer."""

    PARSE = b"1"
    BIND = b"2"
    CLOSE = b"3"
    DESCRIBE = b"Tn"
    EXECUTE = b"CsI"
    SYNC = b"Z"
    QUERY = b"Z "  # the blank keeps it from being an alias of SYNC
    MALFORMED = b"!"  # the server answers with an error, and skips to the next Sync
    SEVERAL = b" "  # Expectation.ends has the tags of each
    COPY_END = b""  # CopyDone and CopyFail have no answer of their own; they mark the stream


# Completions and rows, which pass unless somebody waits for them or has them changed.
_PLAIN: Final = b"123nTDCIsZ"
_PLAIN_ANSWERS: Final = {kind: {tag: tag in kind.value for tag in _PLAIN} for kind in MessageKind}
_NO_ANSWERS: Final[Mapping[int, bool]] = {}


class Forwarded(Enum):
    """What of an answer reaches the client; errors and ParameterStatus always do."""

    ALL = 0
    RESULTS = 1  # all but the completions, as if it were a simple Query
    NOTHING = 2


class ReplyOutcome(Enum):
    PENDING = 0
    COMPLETE = 1
    FAILED = 2  # one of its own messages failed; the client has seen the error
    SKIPPED = 3  # the server discarded it because of an earlier error


@dataclass(slots=True, eq=False)
class ShadowReply:
    """What came back for an exchange of our own. frames: (tag, payload) of what was not shown; size: theirs."""

    frames: list[tuple[int, bytes]] = field(default_factory=list)
    outcome: ReplyOutcome = ReplyOutcome.PENDING
    size: int = 0

    def hear(self, tag: int, payload: bytes) -> None:
        """Refuses (ProtocolError) more than any exchange of ours asks for: loop and memory are everybody's."""
        self.frames.append((tag, payload))
        self.size += len(payload)
        if len(self.frames) > REPLY_FRAMES or self.size > REPLY_BYTES:
            raise ProtocolError("the reply to an exchange of our own is too large")


class Messages(NamedTuple):
    """Of an exchange of our own, as they are sent at once. ends: as of Expectation."""

    data: bytes
    ends: tuple[bytes, ...]


def messages(*sent: tuple[bytes, MessageKind]) -> Messages:
    return Messages(b"".join(data for data, _ in sent), tuple(kind.value for _, kind in sent))


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """One message sent to the shadow, or SEVERAL of our own. undo: what to do if it fails or is discarded.

    ends: of SEVERAL, for each message the tags that end its answer
    """

    kind: MessageKind
    forwarded: Forwarded = Forwarded.ALL
    reply: ShadowReply | None = None
    ends_reply: bool = False
    wording: Wording | None = None
    undo: Callable[[], None] | None = None
    command_tag: bytes | None = None
    hides_last_parameter: bool = False
    ends: tuple[bytes, ...] = ()
    plain_answers: Mapping[int, bool] = field(init=False)

    def __post_init__(self) -> None:
        """plain_answers: tags that pass unchanged while nobody waits for them -> whether it ends the answer."""
        passes = (
            self.forwarded is Forwarded.ALL
            and self.reply is None
            and self.command_tag is None
            and not self.hides_last_parameter
            and self.kind not in (MessageKind.COPY_END, MessageKind.SEVERAL)
        )
        object.__setattr__(
            self, "plain_answers", _PLAIN_ANSWERS[self.kind] if passes else _NO_ANSWERS
        )
