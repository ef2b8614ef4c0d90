"""The shadow's stream: which answer belongs to which message, and what of it the client sees.

The server answers in order, and each message has known last answers (PostgreSQL 17 documentation, section
55.2). So a queue of
expectations, one per message sent, tells whose answer every frame is. After an ErrorResponse to a
message of the extended protocol the server discards messages up to the next Sync; so does the
queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from proxy.pgwire.calls import ChargedAnswer, KnownTables
from proxy.pgwire.expectations import REPLY_BYTES, Expectation, Forwarded, MessageKind, ReplyOutcome
from proxy.pgwire.frames import (
    HEAD,
    SMALLEST_LENGTH,
    U32,
    ProtocolError,
    decode_parameter_description,
    frame,
    parameter_description,
)
from proxy.pgwire.plain_frames import DISCARDING, PassingRun
from proxy.pgwire.wording import reword, sqlstate_of, truncated

_ERROR, _NOTICE, _NOTIFICATION, _PARAMETER_STATUS = b"ENAS"
_STREAMED = frozenset(b"Dd")  # DataRow and CopyData
_READY, _COPY_IN, _COMPLETE, _PARAMETERS = b"ZGCt"
_DATA = frozenset(b"DTt")  # what an exchange of our own is there for
_QUIET = frozenset(b"123nt")  # completions that a simple Query never shows
_REPORTS = frozenset(b"EN")
_NO_MESSAGE = Expectation(MessageKind.COPY_END)
_PORTAL_CLOSED = Expectation(MessageKind.CLOSE, Forwarded.NOTHING)
# Of an error or a notice: an analyst's RAISE can be a gigabyte, and is held whole to be read.
REPORT_BYTES = 64 * 1024


class Answers:
    """Given the bytes of the shadow, gives the bytes for the client; notes what changes for the
    session."""

    def __init__(self, client_encoding: bytes, tables: KnownTables) -> None:
        self._tables = tables
        self.transaction_status = b"I"
        self.charged = ChargedStatements()
        self.has_executed = False  # something of the client's since the last ReadyForQuery
        self.has_bound = (
            False  # a portal of the client's since the last Sync or Query that was sent
        )
        self._has_queried = False  # a Query was sent, and no close_portal behind it
        # As of now; what is not reported when the server is ready was rolled back.
        self.client_encoding = self._reported_encoding = client_encoding
        self.skipping = False  # the server discards all until a Sync that was not sent yet
        self.failed_ours = False  # the last error was in a message of an exchange of our own
        self.copying_in = False  # the server waits for CopyData
        self.discarded_statements = False  # DISCARD ALL was seen; whoever reads it, resets it
        # A message of those not answered changes what the client's names mean, if the server does it.
        self.changes_names = False
        # And there is an end behind it. What comes next is not discarded with it, so its answer is waited for.
        self.awaits_ready = False
        self._queue: deque[Expectation] = deque()
        self._answered = 0  # messages of the first of them, where it is several
        self._buffer = bytearray()
        self._passing = 0  # bytes of a large row that are still to come and pass unread
        self._dropping = 0  # bytes of an error or notice that was cut, still to come

    @property
    def idle(self) -> bool:
        return not self._queue

    @property
    def is_amid_row(self) -> bool:
        """Whether the client has a part of a message. All other messages go to it whole."""
        return self._passing > 0

    @property
    def at_rest(self) -> bool:
        """Whether nothing is to come, and a whole round trip (plain_frames.ROUND) would leave all as it is but
        the transaction status."""
        is_amid = self._queue or self._buffer or self._passing or self._dropping
        is_noted = self.has_executed or self.has_bound or self.skipping or self.copying_in
        return not (is_amid or is_noted or self.charged.is_pending)

    @property
    def unanswered(self) -> int:
        """Messages whose answers are still to come."""
        return len(self._queue)

    @property
    def keeps_portal(self) -> bool:
        """Whether the server may still have the unnamed portal of a Query, which clients take for destroyed. A
        Query that fails in a block leaves it, of memory that is free: its Execute ends all sessions
        (seen in PostgreSQL 18.6)."""
        if self._has_queried and not self._queue:
            self._has_queried = self.transaction_status == b"E"
        return self._has_queried

    def expect_portal_closed(self) -> None:
        self.expect(_PORTAL_CLOSED)
        self._has_queried = False

    def expect(self, expectation: Expectation) -> None:
        if expectation.kind is MessageKind.COPY_END:
            self.copying_in = False
            if not self._queue:
                return
        self.has_executed |= (
            expectation.kind is MessageKind.EXECUTE
            and expectation.forwarded is not Forwarded.NOTHING
        )
        match expectation.kind:
            case MessageKind.SYNC | MessageKind.QUERY:
                self.has_bound = False
                is_query = expectation.kind is MessageKind.QUERY
                self._has_queried |= is_query
                self.changes_names |= is_query
                self.awaits_ready |= self.changes_names
            case MessageKind.BIND | MessageKind.EXECUTE:
                self.has_bound |= expectation.forwarded is not Forwarded.NOTHING
        self.changes_names |= expectation.undo is not None
        self._queue.append(expectation)

    def expect_all(self, passing: PassingRun, at_most: int) -> bool:
        """Gives  False where more than so many would be unanswered: then nothing has changed"""
        queue, expectations = self._queue, passing.expectations
        if len(queue) + len(expectations) > at_most:
            return False
        if passing.executes:
            self.has_executed = True
        if passing.leaves_bound is not None:
            self.has_bound = passing.leaves_bound
        queue.extend(expectations)
        return True

    def passes(self, data: bytes) -> bool:
        """Whether all of it passes as it is: then it has been taken note of. Else nothing has changed, and
        `feed` is to read it."""
        return self._plain(data, needs_all=True) == len(data)

    def feed(self, data: bytes) -> bytes:
        """Refuses (ProtocolError) what cannot be frames."""
        plain = self._plain(data, needs_all=False)
        return data[:plain] + self._feed(data[plain:]) if plain else self._feed(data)

    def _plain(self, data: bytes, *, needs_all: bool) -> int:
        """Takes note of the whole frames at the beginning that pass as they are, up to the first that may not;
        needs_all: or of none.

        Gives    their bytes
        """
        if self._buffer or self._passing or self._dropping:
            return 0
        queue, head_at = self._queue, HEAD.unpack_from
        coming = iter(queue)
        answers = next(coming, _NO_MESSAGE).plain_answers
        position, size, answered = 0, len(data), 0
        completes = False
        status: bytes | None = None
        while size - position >= 5:
            tag, length = head_at(data, position)
            is_last = answers.get(tag)
            end = position + 1 + length
            if is_last is None or end > size or length < SMALLEST_LENGTH:
                break
            if tag == _COMPLETE:
                if data[position + 5 : position + 7] in DISCARDING:
                    break
                completes = True
            elif tag == _READY:
                status = data[position + 5 : position + 6]
            if is_last:
                answered += 1
                answers = next(coming, _NO_MESSAGE).plain_answers
            position = end
        if needs_all and position < size:
            return 0
        if completes:
            self.copying_in = False
        if status is not None:
            self._ready(status)
        if answered == len(queue):
            queue.clear()
            self._all_answered()
        else:
            for _ in range(answered):
                self._complete()
        return position

    def _feed(self, data: bytes) -> bytes:
        if self._passing:
            taken = min(self._passing, len(data))
            self._passing -= taken
            return data[:taken] + (self._feed(data[taken:]) if taken < len(data) else b"")
        if self._dropping:
            taken = min(self._dropping, len(data))
            self._dropping -= taken
            return self._feed(data[taken:]) if taken < len(data) else b""
        buffer = self._buffer
        buffer += data
        size = len(buffer)
        position = run = 0
        out: list[bytes] = []
        queue, length_at = self._queue, U32.unpack_from
        while size - position >= 5:
            if queue and queue[0].kind is MessageKind.SEVERAL:
                heard = self._heard(position, size)
                if heard > position:
                    out.append(bytes(buffer[run:position]))
                    position = run = heard
                    continue
            tag = buffer[position]
            length = length_at(buffer, position + 1)[0]
            if length < SMALLEST_LENGTH:
                raise ProtocolError("the server sent a frame of impossible length")
            end = position + 1 + length
            if (
                tag in _REPORTS
                and length > REPORT_BYTES + 16
                and size - position > REPORT_BYTES + 5
            ):
                here = min(end, size)
                self._dropping = end - here
                text = bytes(buffer[position + 5 : position + 5 + REPORT_BYTES])
                buffer[position:here] = frame(bytes([tag]), truncated(text))
                size = len(buffer)
                continue
            streams = tag in _STREAMED and not (queue and queue[0].forwarded is Forwarded.NOTHING)
            if end > size:
                if length > REPLY_BYTES and queue and queue[0].forwarded is Forwarded.NOTHING:
                    raise ProtocolError("the reply to an exchange of our own is too large")
                # Rows stream through whatever their size, so memory stays bounded.
                if streams:
                    self._passing = end - size
                    position = size
                break
            if not streams:
                instead = self._frame(tag, position + 5, end)
                if instead is not None:
                    out.append(bytes(buffer[run:position]))
                    out.append(instead)
                    run = end
            position = end
        out.append(bytes(buffer[run:position]))
        del buffer[:position]
        return b"".join(out)

    def _frame(self, tag: int, start: int, end: int) -> bytes | None:
        """None: it passes as it is. Else the bytes in its place."""
        head = self._queue[0] if self._queue else None
        match tag:
            case 0x53:  # S, ParameterStatus
                self._parameter_status(bytes(self._buffer[start:end]))
                return None
            case 0x41:  # A, NotificationResponse
                return None
            case 0x4E:  # N, NoticeResponse: of an analysis, it would come twice
                return b"" if head is not None and head.forwarded is Forwarded.NOTHING else None
            case 0x45:  # E, ErrorResponse
                return self._error(head, bytes(self._buffer[start:end]))
        if head is None:
            if tag == _READY:
                # Of a Sync that a COPY would have ignored, had it not failed before it read any data.
                self.skipping = False
                self._ready(bytes(self._buffer[start : start + 1]))
            return None
        instead: bytes | None = None
        if head.forwarded is Forwarded.NOTHING:
            if head.reply is not None:
                head.reply.hear(tag, bytes(self._buffer[start:end]))
            instead = b""
        elif head.forwarded is Forwarded.RESULTS and tag in _QUIET:
            instead = b""
        elif tag == _PARAMETERS and head.hides_last_parameter:
            oids = decode_parameter_description(bytes(self._buffer[start:end]))
            instead = parameter_description(oids[:-1])
        elif tag == _COMPLETE:
            self.copying_in = False
            if head.command_tag is not None:
                instead = frame(b"C", head.command_tag + b"\0")
            elif end - start <= 16 and bytes(self._buffer[start : start + 2]) in DISCARDING:
                self._command_complete(bytes(self._buffer[start : end - 1]))
        elif tag == _READY:
            self._ready(bytes(self._buffer[start : start + 1]))
        elif tag == _COPY_IN:
            self._copy_in()
        if head.kind is not MessageKind.SEVERAL and tag in head.kind.value:
            self._complete()
        return instead

    def _heard(self, position: int, size: int) -> int:
        """Takes in the answers to an exchange, up to the first frame that is not whole, or neither data nor the
        completion that comes next: `_frame` knows what to do with that.

        Given    position: of a frame; size: of the buffer
        Gives    how far it has read
        """
        head, buffer, head_at = self._queue[0], self._buffer, HEAD.unpack_from
        ends, reply, answered = head.ends, head.reply, self._answered
        count, coming = len(ends), ends[answered]
        while size - position >= 5:
            tag, length = head_at(buffer, position)
            end = position + 1 + length
            is_last = tag in coming
            if end > size or length < SMALLEST_LENGTH or not (is_last or tag in _DATA):
                break
            if reply is not None and tag in _DATA:
                reply.hear(tag, bytes(buffer[position + 5 : end]))
            position = end
            if is_last:
                answered += 1
                if answered == count:
                    self._complete()
                    return position
                coming = ends[answered]
        self._answered = answered
        return position

    def _ready(self, transaction_status: bytes) -> None:
        self.transaction_status = transaction_status
        self.charged.ready(transaction_status)
        self.client_encoding = self._reported_encoding
        self.has_executed = False
        self.copying_in = False

    def _parameter_status(self, payload: bytes) -> None:
        name, _, value = payload[:-1].partition(b"\0")
        if name == b"client_encoding":
            self.client_encoding = self._reported_encoding = value

    def _command_complete(self, tag: bytes) -> None:
        # Only when nothing was sent after it: a later Parse may already have made a new statement.
        queue = self._queue
        is_last = len(queue) == 1 or (len(queue) == 2 and queue[1].kind is MessageKind.SYNC)
        if tag in (b"DISCARD ALL", b"DEALLOCATE ALL") and is_last:
            self.discarded_statements = True

    def _complete(self) -> None:
        self._answered = 0
        done = self._queue.popleft()
        if done.ends_reply and done.reply is not None:
            done.reply.outcome = ReplyOutcome.COMPLETE
        self._drop_marks()
        if not self._queue:
            self._all_answered()

    def _all_answered(self) -> None:
        self.changes_names = self.awaits_ready = False

    def _drop_marks(self) -> None:
        while self._queue and self._queue[0].kind is MessageKind.COPY_END:
            self._queue.popleft()

    def _copy_in(self) -> None:
        """CopyInResponse. The server ignores each Sync, and whatever a Flush holds, that it reads
        before CopyDone or CopyFail (PostgreSQL 17 documentation, section 55.2.6), so their ReadyForQuery
        never comes."""
        self.copying_in = True
        remaining: list[Expectation] = []
        for expectation in list(self._queue)[1:]:
            if expectation.kind is MessageKind.COPY_END:
                self.copying_in = False
            ignored = expectation.kind in (MessageKind.SYNC, MessageKind.MALFORMED)
            if not self.copying_in or not ignored:
                remaining.append(expectation)
        head = self._queue[0]
        self._queue.clear()
        self._queue.append(head)
        self._queue.extend(remaining)

    def _charged_hint(self, head: Expectation, payload: bytes) -> bytes | None:
        is_commit = head.kind is MessageKind.SYNC
        hint = self.charged.fail(sqlstate_of(payload), is_commit=is_commit)
        if hint is None:
            return None
        if self.client_encoding == b"UTF8":
            return hint.encode()
        return hint.encode("ascii", "backslashreplace")

    def _error(self, head: Expectation | None, payload: bytes) -> bytes | None:
        self.copying_in = False
        if head is None:
            return reword(payload, None, self._tables)
        hint = self._charged_hint(head, payload)
        if head.kind in (MessageKind.QUERY, MessageKind.SYNC):
            if head.undo is not None:
                head.undo()
            return reword(payload, head.wording, self._tables, hint)
        self.failed_ours = head.reply is not None
        self._answered = 0
        undone: list[Callable[[], None]] = []
        outcome = ReplyOutcome.FAILED
        while self._queue and self._queue[0].kind is not MessageKind.SYNC:
            failed = self._queue.popleft()
            if failed.undo is not None:
                undone.append(failed.undo)
            if failed.reply is not None and failed.reply.outcome is ReplyOutcome.PENDING:
                failed.reply.outcome = outcome
            outcome = ReplyOutcome.SKIPPED
        self.skipping = not self._queue
        for undo in reversed(undone):
            undo()
        if not self._queue:
            self._all_answered()
        return reword(payload, head.wording, self._tables, hint)


# The statements of a transaction that are charged, and what an error after the charge says of them.
#
# An error in a transaction undoes everything that was made from its answers. So each answer is kept, and the
# next statement with the same plan is not charged again.


_MOST = 8  # of a transaction; as many answers of an analyst are kept
# The class of constraints: those that are deferred are checked by COMMIT.
_CONSTRAINTS = b"23"


@dataclass(slots=True)
class ChargedStatements:
    """running: since the last ReadyForQuery or statement; earlier: of the same transaction."""

    _running: list[ChargedAnswer] = field(default_factory=list)
    _earlier: list[ChargedAnswer] = field(default_factory=list)

    def begin(self, charged: ChargedAnswer | None) -> None:
        """A statement is going to run."""
        self.end_statement()
        if charged is not None:
            self._running.append(charged)

    def end_statement(self) -> None:
        """Other statements of the transaction follow."""
        if self._running:
            self._earlier = [*self._earlier, *self._running][-_MOST:]
            self._running = []

    @property
    def is_pending(self) -> bool:
        """Whether an error of this transaction would have to be looked at."""
        return bool(self._running or self._earlier)

    def ready(self, transaction_status: bytes) -> None:
        """ReadyForQuery: the transaction goes on, or is over."""
        self.end_statement()
        if transaction_status == b"I":
            self._earlier = []

    def fail(self, sqlstate: bytes, *, is_commit: bool) -> str | None:
        """Keep the answers of a transaction that fails.

        Args:
            sqlstate: Of the error.
            is_commit: Whether it comes at the end of an implicit transaction.

        Returns:
            The hint about the charges, if the error may be about what was charged.
        """
        answers = [*self._earlier, *self._running]
        concerned = answers if is_commit or sqlstate.startswith(_CONSTRAINTS) else self._running
        for answer in answers:
            answer.keep()
        hints = list(dict.fromkeys(filter(None, (answer.hint() for answer in concerned))))
        self._running, self._earlier = [], []
        return " ".join(hints) or None
