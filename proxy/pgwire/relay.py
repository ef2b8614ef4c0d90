"""The relay's state machine, from the first ReadyForQuery on. No I/O: bytes in, effects out.

Client frames are scanned by header; runs of frames that pass are handed on as one piece. What
cannot simply pass becomes a conversation (session.py); until it ends, the client's further bytes
wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proxy.base.limits import LOOKED_AT_BYTES
from proxy.base.operator_runs import RunSearch, long_run
from proxy.pgwire.calls import (
    ConstantsWanted,
    Correct,
    Look,
    LookPrepared,
    PlanTrial,
    QueryAnswer,
    Read,
    Refuse,
    RunQuery,
    StatementReader,
    Substitute,
    Trial,
    Verbatim,
)
from proxy.pgwire.expectations import Expectation, MessageKind, ReplyOutcome, ShadowReply
from proxy.pgwire.frames import (
    FLUSH,
    U32,
    Parse,
    ProtocolError,
    close_portal,
    piece_of,
    trouble_of,
)
from proxy.pgwire.held_timeouts import send_restored
from proxy.pgwire.plain_frames import (
    BOUND,
    CLOSED,
    DESCRIBED,
    EXECUTED,
    SYNCED,
    PassingRun,
    ending_of,
    round_of,
    round_status,
)
from proxy.pgwire.query_messages import (
    bind_frame,
    function_call,
    named_frame,
    parse_message,
    refused,
    simple_query,
)
from proxy.pgwire.session import Conversation, Session, Stored, Wait
from proxy.pgwire.statement_look import LOOKED_AT_AT_ONCE, Looked, Pieces, pieces_of
from proxy.pgwire.wording import Wording

# What is done in one turn before other sessions get theirs, about 5 us each: a frame counts one. A short text
# is looked at where it stands, twice, at 6 us a byte or more; a long one ends the turn: a thread looks at it.
TURN_WORK = 4_000
_LOOK_WORK = 8
# Messages that the server has not answered yet; more wait. It holds back at most 8 KiB of answers (pqcomm.c,
# PQ_SEND_BUFFER_SIZE), which are fewer, so that this always goes on.
UNANSWERED = 8_000

_SYNC, _COPY_DATA, _TERMINATE, _EXECUTE = b"SdXE"
_OF_A_ROUND = frozenset(b"DEH")  # behind a Bind
_QUERY = b"Q"[0]
_TEXTS = frozenset(b"QP")
_EXTENDED = frozenset(b"PBDEC")
_PORTAL_CLOSING = close_portal(b"")
_COPY_TAGS = frozenset(b"dcf")

_QUERIED = Expectation(MessageKind.QUERY)
_OF_UNREAD = Wording(is_unread=True)
_UNREAD = Expectation(MessageKind.QUERY, wording=_OF_UNREAD)
_MALFORMED = Expectation(MessageKind.MALFORMED)
_COPY_ENDED = Expectation(MessageKind.COPY_END)


class Relay:
    def __init__(self, reader: StatementReader, client_encoding: bytes = b"UTF8") -> None:
        self._session = Session(reader, client_encoding)
        self._client = bytearray()
        self._passing = 0  # bytes of CopyData still to come, which pass unread
        self._conversation: Conversation | None = None
        self._waits_for: Wait | None = None
        self._wanted: Wanted | None = None
        # The text of the frame that comes next: asked for, and what it holds.
        self._looking: Look | None = None
        self._pieces: Pieces | None = None
        self._looked_at_in = b""  # client_encoding
        self._runs = RunSearch()  # in that text
        self._more = False
        self._copy_has_ended = False
        self._close = False

    @property
    def transaction_status(self) -> bytes:
        return self._session.answers.transaction_status

    @property
    def waiting_bytes(self) -> int:
        """Bytes of the client that wait for a conversation: the server should stop reading."""
        if not self._client:
            return 0
        answers = self._session.answers
        waits = answers.unanswered >= UNANSWERED or self._looking is not None
        waits |= answers.awaits_ready and not answers.copying_in
        return len(self._client) if waits or self._conversation is not None or self._more else 0

    @property
    def is_running(self) -> bool:
        """Whether an answer of the shadow is still to come."""
        under_way = self._conversation is not None or self._looking is not None
        return under_way or not self._session.answers.idle

    @property
    def is_amid_row(self) -> bool:
        """Whether the client has a part of a message, behind which no other can stand."""
        return self._session.answers.is_amid_row

    @property
    def idle(self) -> bool:
        """Between transactions, and nothing under way."""
        return (
            self._conversation is None
            and self._session.answers.idle
            and self.transaction_status == b"I"
            and not self._client
        )

    def from_client(self, data: bytes) -> Effects:
        self._client += data
        return self._turn()

    def from_shadow(self, data: bytes) -> Effects:
        """Refuses (ProtocolError) what cannot be PostgreSQL's; the connection is then beyond
        repair."""
        session = self._session
        session.to_client.append(session.answers.feed(data))
        if session.answers.discarded_statements:
            session.answers.discarded_statements = False
            session.forget_named()
        while (
            isinstance(self._waits_for, ShadowReply)
            and self._waits_for.outcome is not ReplyOutcome.PENDING
        ):
            self._resume(None)
        return self._turn()

    def answered(self, result: Result) -> Effects:
        if self._looking is not None:
            assert isinstance(result, tuple)
            self._looking, self._pieces = None, result
        else:
            assert not isinstance(self._waits_for, ShadowReply | None)
            self._resume(result)
        return self._turn(may_keep_back=True)

    def go_on(self) -> Effects:
        """With what was left, after Effects.more."""
        return self._turn()

    def kept_back(self) -> bytes:
        """Take what the client would get with the shadow's next answer, where none is to come."""
        return self._session.taken_for_client()

    def make_kept(self) -> None:
        """Make what is kept back, while the shadow is busy."""
        self._session.make_kept()

    def _turn(self, *, may_keep_back: bool = False) -> Effects:
        """may_keep_back: a notice before an answer that the shadow is asked for now goes out with it."""
        self._more = False
        if self._client and not self._close and self._looking is None:
            self._read_client()
        session = self._session
        keeps = may_keep_back and session.to_shadow and self._wanted is None and not self._close
        effects = Effects(
            b"" if keeps else self.kept_back(),
            b"".join(session.to_shadow),
            self._wanted,
            self._close,
            self._more,
        )
        session.to_shadow.clear()
        self._wanted = None
        return effects

    def _resume(self, value: Any) -> None:
        assert self._conversation is not None
        try:
            wait = self._conversation.send(value)
        except StopIteration:
            self._conversation = self._waits_for = None
            return
        self._waits_for = wait
        if not isinstance(wait, ShadowReply):
            self._wanted = wait

    def _read_client(self) -> None:
        buffer = self._client
        session = self._session
        size = len(buffer)
        position = run = 0
        if self._conversation is None:
            if self._passes_ending():
                return
        elif not (self._passing or session.answers.copying_in):
            return  # until it ends
        if self._passing:
            position = min(self._passing, size)
            self._passing -= position
        work = 0
        answers = session.answers
        while size - position >= 5 and not self._close and work < TURN_WORK:
            if answers.unanswered >= UNANSWERED and not answers.copying_in:
                break
            tag = buffer[position]
            if self._conversation is not None and not (
                tag in _COPY_TAGS and session.answers.copying_in
            ):
                break
            if answers.awaits_ready and not answers.copying_in and tag != _TERMINATE:
                break
            length = U32.unpack_from(buffer, position + 1)[0]
            end = position + 1 + length
            if trouble := trouble_of(tag, length):
                session.to_client.append(trouble)
                self._close = True
                break
            if end > size:
                if tag == _COPY_DATA:
                    self._passing = end - size
                    position = size
                elif tag in _TEXTS:
                    self._has_long_run(position + 5, size)
                break
            pieces, self._pieces = self._pieces, None
            if session.answers.skipping and tag not in (_SYNC, _TERMINATE):
                # The server would discard it.
                session.to_shadow.append(piece_of(buffer, run, position))
                work += 1
                position = run = end
                self._runs = RunSearch()
                continue
            is_new = tag in _TEXTS and pieces is None
            work += 1 + (length * _LOOK_WORK if is_new and length <= LOOKED_AT_BYTES else 0)
            if session.held and self._ends_hold(tag):
                session.to_shadow.append(piece_of(buffer, run, position))
                run = position
                send_restored(session)
            if tag in _EXTENDED and answers.keeps_portal and not answers.copying_in:
                session.to_shadow += (piece_of(buffer, run, position), _PORTAL_CLOSING)
                run = position
                answers.expect_portal_closed()
            started = self._frame(tag, position + 5, end, pieces)
            if self._looking is not None:
                break  # the frame stays, until it is known what it holds
            if started is not None:
                session.to_shadow.append(piece_of(buffer, run, position))
                run = end
                self._conversation = started
                self._resume(None)
            position = end
            if tag in _TEXTS:
                self._runs = RunSearch()
            if session.held and tag == _EXECUTE and session.is_held_in_block:
                session.to_shadow.append(piece_of(buffer, run, position))
                run = position
                send_restored(session)
        session.to_shadow.append(piece_of(buffer, run, position))
        self._more = work >= TURN_WORK
        if self._copy_has_ended:
            # A conversation waits for the COPY's end; the server has read the Flush that was sent
            # with the Execute amid the data, where it is ignored.
            self._copy_has_ended = False
            session.to_shadow.append(FLUSH)
        del buffer[:position]

    def _ends_hold(self, tag: int) -> bool:
        """Whether what was off for a statement is back before this frame: it is not of that statement's round
        trip. The end of a transaction brings it back by itself."""
        session = self._session
        if tag == _SYNC and (session.answers.skipping or not session.is_held_in_block):
            session.held.clear()
        return tag not in _OF_A_ROUND

    def _passes_ending(self) -> bool:
        """Whether all that has come is the end of a round trip, and none of it is ours: then it has passed."""
        session, answers = self._session, self._session.answers
        if session.held and session.is_held_in_block:
            return False
        if self._passing or session.executions or answers.skipping or answers.copying_in:
            return False
        if answers.keeps_portal or answers.changes_names:
            return False
        ending = ending_of(self._client)
        if ending is None or not answers.expect_all(ending, UNANSWERED):
            return False
        session.to_shadow.append(bytes(self._client))
        session.held.clear()
        self._client.clear()
        return True

    def _frame(self, tag: int, start: int, end: int, pieces: Pieces | None) -> Conversation | None:
        """None: it passes, and its answer is expected; or its text is to be looked at first. Malformed ones
        pass too: PostgreSQL knows the right answer. pieces: what its text holds, where that is known."""
        session = self._session
        answers = session.answers
        match tag:
            case 0x51 | 0x50 if self._has_long_run(start, end):
                return self._kept_from_shadow(tag)
            case 0x51 | 0x50 if end - start > LOOKED_AT_BYTES:
                self._unread(tag, start, end)
            case 0x51:  # Q, Query
                return self._query(piece_of(self._client, start, end), pieces)
            case 0x50:  # P, Parse
                return self._parse(piece_of(self._client, start, end), pieces)
            case 0x42:  # B, Bind
                return self._bind(start, end)
            case 0x44 | 0x45 | 0x43 if (
                session.statements or session.executions or session.sql_names
            ):
                named = named_frame(session, tag, piece_of(self._client, start, end))
                if not isinstance(named, Expectation):
                    return named
                answers.expect(named)
            case 0x44:  # D, Describe
                answers.expect(DESCRIBED)
            case 0x45:  # E, Execute
                answers.expect(EXECUTED)
            case 0x43:  # C, Close
                answers.expect(CLOSED)
            case 0x53:  # S, Sync
                answers.skipping = False
                if not answers.copying_in:  # else the server ignores it (answers.py)
                    answers.expect(SYNCED)
            case 0x48 if end > start and not answers.copying_in:  # H, Flush, which holds nothing
                answers.expect(_MALFORMED)
            case 0x63 | 0x66:  # c CopyDone, f CopyFail
                answers.expect(_COPY_ENDED)
                self._copy_has_ended = self._conversation is not None
            case 0x58:  # X, Terminate
                self._close = True
            case 0x46:  # F, FunctionCall
                return function_call(session)
        return None

    def _has_long_run(self, start: int, end: int) -> bool:
        """In the text of the frame that comes next, as far as it is here: a turn looks at what is new."""
        with memoryview(self._client) as view:
            return self._runs.finds_in(view[start:end])

    def _kept_from_shadow(self, tag: int) -> Conversation:
        """Of a Query or Parse that the shadow would not come to an end of."""
        session, refusal = self._session, long_run()
        refuse = Refuse(refusal.code.sqlstate, refusal.message, refusal.hint, None)
        if tag == _QUERY:
            return simple_query(session, b"", ((0, "", refuse),))
        return refused(session, refuse)

    def _unread(self, tag: int, start: int, end: int) -> None:
        """A Query or Parse too long to be looked into: whatever it names, the shadow's own rights and
        guard say what becomes of it."""
        session = self._session
        if tag == _QUERY:
            session.answers.expect(session.ending_unnamed(_UNREAD))
            return
        name = self._client.find(b"\0", start, end)
        known = b"" if name < 0 else piece_of(self._client, start, name)
        statement = Stored(_OF_UNREAD) if session.keeps_stored(known) else None
        session.answers.expect(session.remember(known, statement, wording=_OF_UNREAD))

    def _look(self, text: bytes, pieces: Pieces | None, is_query: bool) -> Pieces | None:
        """What a text holds: nothing where it is no text. None: it is being looked at."""
        session = self._session
        if pieces is not None and self._looked_at_in == session.answers.client_encoding:
            return pieces
        read = None if b"\0" in text else session.readable(text)
        if read is None:
            return ()
        wanted = Look(*read, is_query)
        if len(wanted.text) <= LOOKED_AT_AT_ONCE:
            return pieces_of(session.reader, wanted)
        self._looked_at_in = session.answers.client_encoding
        self._looking = self._wanted = wanted
        return None

    def _query(self, payload: bytes, known: Pieces | None) -> Conversation | None:
        session = self._session
        text = payload[:-1]
        pieces = self._look(text, known, is_query=True)
        if pieces is None:
            return None
        for _, _, looked in pieces:
            if isinstance(looked, Verbatim):
                session.note_sql_names(looked.prepares)
        if any(not isinstance(looked, Verbatim) for _, _, looked in pieces):
            return simple_query(session, text, pieces)
        name = _deallocated(session, pieces)
        session.answers.expect(session.ending_unnamed(_relayed(pieces), name))
        return None

    def _parse(self, payload: bytes, known: Pieces | None) -> Conversation | None:
        session = self._session
        try:
            message = Parse.decode(payload)
        except ProtocolError:
            session.answers.expect(Expectation(MessageKind.PARSE))
            return None
        pieces = self._look(message.text, known, is_query=False)
        if pieces is None:
            return None
        outcome = parse_message(session, message, pieces[0][2] if pieces else None)
        if pieces and isinstance(looked := pieces[0][2], Verbatim):
            session.note_sql_names(looked.prepares)
        if isinstance(outcome, Expectation):
            session.answers.expect(outcome)
            return None
        return outcome

    def _bind(self, start: int, end: int) -> Conversation | None:
        """Only the names are looked at, unless the statement is one of ours."""
        session = self._session
        session.answers.charged.end_statement()  # that of the Bind before
        if session.statements or session.executions or session.sql_names:
            portal = self._client.find(b"\0", start, end)
            name = self._client.find(b"\0", portal + 1, end)
            if portal < 0 or name < 0:
                session.answers.expect(BOUND)
                return None
            bound = piece_of(self._client, portal + 1, name)
            statement = session.statements.get(bound)
            if statement is not None or bound in session.sql_names:
                outcome = bind_frame(session, piece_of(self._client, start, end), statement)
                if not isinstance(outcome, Expectation):
                    return outcome
                session.answers.expect(outcome)
                return None
            session.executions.pop(piece_of(self._client, start, portal), None)
        session.answers.expect(BOUND)
        return None


def _deallocated(session: Session, pieces: Pieces) -> bytes | None:
    """The name of a DEALLOCATE by itself, of a statement that is not simply relayed."""
    looked = pieces[0][2] if len(pieces) == 1 else None
    if not isinstance(looked, Verbatim) or not looked.deallocates:
        return None
    name = looked.deallocates.encode()
    return name if name in session.statements else None


def _relayed(pieces: Pieces) -> Expectation:
    """Of a simple query string that passes as it is: an error may be about a column of any query in it."""
    hints = [
        looked.column_hint
        for _, _, looked in pieces
        if isinstance(looked, Verbatim) and looked.column_hint is not None
    ]
    if not hints:
        return _QUERIED

    def column_hint(message: str) -> str | None:
        return next(filter(None, (hint(message) for hint in hints)), None)

    return Expectation(MessageKind.QUERY, wording=Wording(column_hint=column_hint))


# What the machine of the relay hands out: bytes for both sides, and what it waits for.


Wanted = RunQuery | PlanTrial | Read | Look | LookPrepared | Correct
Result = (
    QueryAnswer
    | Trial
    | None
    | Verbatim
    | Substitute
    | ConstantsWanted
    | Refuse
    | Looked
    | Pieces
    | str
)


@dataclass(slots=True)
class Effects:
    """What to do now. wanted: answer it by `answered`; Read, Look and LookPrepared take long, and are for a
    thread. close: after the bytes were sent."""

    to_client: bytes = b""
    to_shadow: bytes = b""
    wanted: Wanted | None = None
    close: bool = False
    more: bool = False  # frames are left for another turn: call `go_on`


# The relay, asked first whether a piece passes as it is: most do, and need no more than that (ADR 0061).


class QuickRelay(Relay):
    """Says what a Relay says.

    A whole round trip that begins where nothing is under way leaves nothing but its transaction status. So what
    it expects is noted only where anything else is said or asked before its answer (`_settle`).
    """

    def __init__(self, reader: StatementReader, client_encoding: bytes = b"UTF8") -> None:
        super().__init__(reader, client_encoding)
        self._answers = self._session.answers
        self._is_at_rest = False
        self._round: PassingRun | None = None  # passed at rest; its answer is all that is to come

    def passes(self, data: bytes) -> bool:
        """Whether all that a client has sent goes to the shadow as it is: then its answers are expected, and
        nothing else is to be done. Else nothing has changed, and `from_client` is to read it."""
        if self._is_at_rest:
            run = round_of(data)
            if run is not None:
                self._is_at_rest = False
                self._round = run
                return True
        self._settle()
        if self._client or self._conversation is not None or self._passing or self._close:
            return False
        run = self._session.passing(data)
        return run is not None and self._answers.expect_all(run, UNANSWERED)

    def answer_passes(self, data: bytes) -> bool:
        """Whether all that the shadow has sent goes to the client as it is, behind what was kept back, and
        nothing else is to be done. Else nothing has changed, and `from_shadow` is to read it."""
        run = self._round
        if run is not None:
            status = round_status(data, run)
            if status is not None:
                self._answers.transaction_status = status
                self._round = None
                self._is_at_rest = True
                return True
        self._settle()
        is_waited_for = self._conversation is not None or self._client
        passes = not is_waited_for and self._answers.passes(data)
        self._is_at_rest = passes and not (self._passing or self._close) and self._session.at_rest
        return passes

    @property
    def is_running(self) -> bool:
        return self._round is not None or super().is_running

    @property
    def idle(self) -> bool:
        return self._round is None and super().idle

    def from_client(self, data: bytes) -> Effects:
        self._settle()
        return super().from_client(data)

    def from_shadow(self, data: bytes) -> Effects:
        self._settle()
        return super().from_shadow(data)

    def answered(self, result: Result) -> Effects:
        self._settle()
        return super().answered(result)

    def go_on(self) -> Effects:
        self._settle()
        return super().go_on()

    def _settle(self) -> None:
        self._is_at_rest = False
        if self._round is not None:
            self._answers.expect_all(self._round, UNANSWERED)
            self._round = None
