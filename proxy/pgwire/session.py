"""What the machine knows of one client's session, and how a conversation sends and waits.

A conversation is a generator: it sends frames, yields what it waits for, and is resumed with the
result (the style of psycopg's generators.py). While one waits, nothing more of the client is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.pgwire.answers import Answers
from proxy.pgwire.calls import (
    Correct,
    ExecutePrepared,
    LookPrepared,
    PlanTrial,
    Read,
    Refuse,
    RunQuery,
    ShadowStatement,
    StatementReader,
)
from proxy.pgwire.expectations import (
    Expectation,
    Forwarded,
    MessageKind,
    Messages,
    ReplyOutcome,
    ShadowReply,
)
from proxy.pgwire.frames import SYNC, ProtocolError, report
from proxy.pgwire.plain_frames import PassingRun, passing_run
from proxy.pgwire.query_sequence import Rewritten
from proxy.pgwire.wording import Wording

Wait = ShadowReply | RunQuery | PlanTrial | Read | LookPrepared | Correct
Conversation = Generator[Wait, Any, None]

# What Python calls the encodings in which a relayed value may have to be read.
_CODECS = {b"UTF8": "utf-8", b"LATIN1": "iso8859-1", b"LATIN9": "iso8859-15", b"WIN1252": "cp1252"}


@dataclass(frozen=True, slots=True)
class Substituted:
    """The client's statement that the shadow holds with one more parameter."""

    rewritten: Rewritten


@dataclass(frozen=True, slots=True)
class Executed:
    """The client's statement is an EXECUTE of SQL."""

    execute: ExecutePrepared


@dataclass(frozen=True, slots=True)
class Stored:
    """The client's statement is relayed, and its errors are worded: PREPARE of SQL and CREATE VIEW hold a query
    for later, and others are too long to be looked into."""

    wording: Wording


Statement = Substituted | Executed | Stored | Refuse

# A hint holds the words of its statement, about a megabyte. The shadow keeps as many statements as it is given.
STORED_STATEMENTS = 32
_PORTALS, _PORTAL_BYTES = 32, 256
_SHARED_NAMES = 1_000


class Failed:
    """An error was shown to the client, or the server is skipping: nothing is left to do."""


FAILED = Failed()


@dataclass(frozen=True, slots=True)
class ReadState:
    """What a row of the session's settings, as the shadow gives it with a Bind's arguments, says."""

    payload: bytes
    is_taken: bool  # the portal's name
    settings: Mapping[str, str]
    search_path: str
    client_encoding: bytes


class Session:
    """Buffers of one turn, and what outlives it: the statements that are not simply relayed."""

    def __init__(self, reader: StatementReader, client_encoding: bytes) -> None:
        self.reader = reader
        self.answers = Answers(client_encoding, reader)
        self.statements: dict[bytes, Statement] = {}
        # Names that PREPARE or DEALLOCATE of SQL has named last, not a Parse: the oldest make room.
        self.sql_names: dict[bytes, None] = {}
        # portal -> what is expected of its Execute, where that is not the answer as it comes
        self.executions: dict[bytes, Expectation] = {}
        self.read_state: ReadState | None = None  # of the last Bind that was answered
        self.held: dict[
            str, bytes
        ] = {}  # timeouts that are off, and what they were (held_timeouts.py)
        self.is_held_in_block = False
        self.has_old_transaction = False
        self.knows_of_timeout = False  # that it ends no statement that is charged
        self.to_client: list[bytes | Callable[[], bytes]] = []
        self.to_shadow: list[bytes] = []

    @property
    def _has_own(self) -> bool:
        """Whether a name may be of a statement or portal that is not simply relayed."""
        names = self.statements or self.executions or self.held or self.sql_names
        return bool(names) or self.answers.keeps_portal

    @property
    def at_rest(self) -> bool:
        """Whether a whole round trip may pass, whatever it names, and leaves nothing but its status."""
        return self.answers.at_rest and not self._has_own

    def passing(self, data: bytes) -> PassingRun | None:
        """Gives  what a client has sent, where all of it passes, whatever it names"""
        if self._has_own:
            return None
        answers = self.answers
        if answers.skipping or answers.copying_in or answers.changes_names:
            return None
        return passing_run(data)

    def note_execution(self, portal: bytes, expectation: Expectation) -> None:
        """What is expected of a portal's Execute. Portals end without a word of their client, so the oldest
        make room: their answers then come as PostgreSQL has them."""
        self.executions.pop(portal, None)
        if len(portal) <= _PORTAL_BYTES:
            self.executions[portal] = expectation
        while len(self.executions) > _PORTALS:
            del self.executions[next(iter(self.executions))]

    def note_sql_names(self, names: Sequence[str]) -> None:
        """Each is looked up when it is bound: the shadow knows whose it is by then."""
        for name in names:
            self.sql_names[name.encode()] = None
        while len(self.sql_names) > _SHARED_NAMES:
            del self.sql_names[next(iter(self.sql_names))]

    def keeps_stored(self, name: bytes) -> bool:
        """Whether there is room for the hint of one more statement that is relayed."""
        others = (one for known, one in self.statements.items() if known != name)
        return sum(isinstance(one, Stored) for one in others) < STORED_STATEMENTS

    def send(self, frame: bytes, expectation: Expectation) -> None:
        self.to_shadow.append(frame)
        self.answers.expect(expectation)

    def send_sync(self, forwarded: Forwarded = Forwarded.ALL) -> None:
        self.answers.skipping = False
        self.send(SYNC, Expectation(MessageKind.SYNC, forwarded))

    def send_all(
        self,
        messages: Messages,
        wording: Wording | None = None,
        reply: ShadowReply | None = None,
    ) -> ShadowReply:
        """One exchange of our own; the last message ends the reply."""
        reply = reply or ShadowReply()
        expectation = Expectation(
            MessageKind.SEVERAL, Forwarded.NOTHING, reply, True, wording, ends=messages.ends
        )
        self.send(messages.data, expectation)
        return reply

    def note_charge(self, run: ShadowStatement) -> None:
        """An error of the run tells that it is charged, and its answer is kept."""
        self.answers.charged.begin(run.charged)

    def notice(self, text: str) -> None:
        self.to_client.append(self._notice(text))

    def notice_later(self, make: Callable[[], str | None]) -> None:
        """One that is made when it is sent, or before that by `make_kept`."""
        self.to_client.append(lambda: self._notice(make()))

    def _notice(self, text: str | None) -> bytes:
        return b"" if text is None else report(b"N", b"NOTICE", "00000", self.encode(text))

    def make_kept(self) -> None:
        """Make what is to be sent."""
        self.to_client = [one if isinstance(one, bytes) else one() for one in self.to_client]

    def taken_for_client(self) -> bytes:
        """All that is to be sent, once."""
        if not self.to_client:
            return b""
        kept = b"".join(one if isinstance(one, bytes) else one() for one in self.to_client)
        self.to_client.clear()
        return kept

    @property
    def speaks_utf8(self) -> bool:
        return self.answers.client_encoding == b"UTF8"

    def in_block(self, is_part: bool = False) -> bool:
        """Whether a transaction block is open, by BEGIN or implicit. is_part: of a string of several."""
        return is_part or self.answers.transaction_status != b"I" or self.answers.has_executed

    def has_nothing_open(self) -> bool:
        """Whether a Sync of ours ends nothing of the client's: no block, no portal. Right where all that was
        sent before has been answered."""
        return self.answers.transaction_status == b"I" and not self.answers.has_bound

    def readable(self, text: bytes) -> tuple[str, bool] | None:
        """(the text, whether it is exact), or None where it is not text: PostgreSQL says why (22021).

        In other encodings than UTF8 only ASCII is read; a second byte of a character that happens to be
        ASCII could deceive us, but only about what to relay, and what is relayed meets an empty
        database.
        """
        if text.isascii():
            return text.decode("ascii"), True
        if not self.speaks_utf8:
            return text.decode("ascii", "replace"), False
        try:
            return text.decode(), True
        except UnicodeDecodeError:
            return None

    def encode(self, text: str) -> bytes:
        """Text of ours for the shadow or the client, in a form that any client_encoding reads."""
        return text.encode() if self.speaks_utf8 else text.encode("ascii", "backslashreplace")

    def decode(self, value: bytes) -> str | None:
        """A value in the session's client_encoding; None where that cannot be read here."""
        if value.isascii():
            return value.decode("ascii")
        codec = _CODECS.get(self.answers.client_encoding)
        try:
            return None if codec is None else value.decode(codec)
        except UnicodeDecodeError:
            return None

    def plain(self, value: bytes) -> bytes:
        """The text in which PostgreSQL reads a scalar that it has printed in JSON.

        Refuses (ProtocolError) what it cannot have printed
        """
        text = self.decode(value)
        try:
            found = json.loads(text or "", parse_float=str, parse_int=str)
        except ValueError:
            raise ProtocolError("the server sent no JSON") from None
        if isinstance(found, bool):
            return b"true" if found else b"false"
        codec = _CODECS.get(self.answers.client_encoding, "ascii")
        return str(found).encode(codec)

    def remember(
        self,
        name: bytes,
        statement: Statement | None,
        kind: MessageKind = MessageKind.PARSE,
        wording: Wording | None = None,
    ) -> Expectation:
        """The expectation of a Parse (or Close, or DEALLOCATE) under the client's `name`, which holds
        `statement` from now on (the client need not wait for ParseComplete); if it fails, what was there is
        back."""
        before, was_named_by_sql = self.statements.get(name), name in self.sql_names
        self.sql_names.pop(name, None)
        if statement is None:
            self.statements.pop(name, None)
        else:
            self.statements[name] = statement
        if before is None and statement is None and not was_named_by_sql:
            return Expectation(kind, wording=wording)

        def undo() -> None:
            if was_named_by_sql:
                self.sql_names[name] = None
            if before is None:
                self.statements.pop(name, None)
            else:
                self.statements[name] = before

        return Expectation(kind, wording=wording, undo=undo)

    def ending_unnamed(self, sent: Expectation, deallocated: bytes | None = None) -> Expectation:
        """Forget what a Query ends: the unnamed statement (PostgreSQL 17 documentation, section 55.2.3), and
        the one that it deallocates.

        The server discards a Query behind an error, and runs no malformed one. So an error brings both back.
        If the Query had ended them before its error, the server says so at the next Bind.
        """
        before = {
            name: self.statements.pop(name)
            for name in (b"", deallocated)
            if name is not None and name in self.statements
        }
        return replace(sent, undo=lambda: self.statements.update(before)) if before else sent

    def forget_named(self) -> None:
        """DISCARD ALL and DEALLOCATE ALL leave the unnamed statement (prepare.c, DropAllPreparedStatements)."""
        unnamed = self.statements.get(b"")
        self.statements.clear()
        if unnamed is not None:
            self.statements[b""] = unnamed


def succeeded(reply: ShadowReply) -> bool:
    return reply.outcome is ReplyOutcome.COMPLETE


_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def json_in_ascii(text: str) -> bytes:
    r"""JSON text that every client_encoding reads. Outside strings JSON is ASCII already, so each
    other character may become its \u escape (RFC 8259, section 7).

    >>> json_in_ascii('["é"]')
    b'["\\u00e9"]'
    """
    if text.isascii():
        return text.encode("ascii")
    # The json module's own escapes, without the quotes around them.
    return _BEYOND_ASCII.sub(lambda run: json.dumps(run[0])[1:-1], text).encode("ascii")
