"""The machine alone, driven by bytes against a real PostgreSQL over a plain socket: no server."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import select
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.pgwire import frames
from proxy.pgwire.answers import Answers
from proxy.pgwire.calls import (
    ExecutePrepared,
    Inspect,
    Look,
    LookPrepared,
    Read,
    Refuse,
    RunQuery,
    Verbatim,
)
from proxy.pgwire.expectations import Expectation, MessageKind
from proxy.pgwire.frames import ProtocolError
from proxy.pgwire.relay import Effects, Relay, Result, Wanted
from proxy.pgwire.statement_look import pieces_of, prepared_of
from tests.raw_client import RawClient
from tests.scripted_engine import ScriptedEngine
from tests.wire_shadow import wire_shadow

pytestmark = pytest.mark.postgres

COUNT = b"SELECT count(*) FROM shop.orders"


class Link:
    """A machine between our bytes and a real connection."""

    def __init__(self) -> None:
        self.engine = ScriptedEngine(wire_shadow().orders_oid)
        self.shadow = RawClient(wire_shadow().conninfo())
        self.reset()

    def reset(self) -> None:
        self.machine = Relay(self.engine)
        self.heard = b""
        self.asked = 0

    def say(self, data: bytes) -> None:
        self._perform(self.machine.from_client(data))

    def _perform(self, effects: Effects) -> None:
        self.heard += effects.to_client
        if effects.to_shadow:
            self.shadow.socket.sendall(effects.to_shadow)
        if effects.wanted is not None:
            self.asked += 1
            self._perform(self.machine.answered(self._answer(effects.wanted)))
        elif effects.more:
            self._perform(self.machine.go_on())

    def _answer(self, request: Wanted) -> Result:
        if isinstance(request, Look):
            return pieces_of(self.engine, request)
        if isinstance(request, LookPrepared):
            return prepared_of(self.engine, request)
        if isinstance(request, Read):
            return self.engine.read(request)
        assert isinstance(request, RunQuery), "nothing is rehearsed"
        return asyncio.run(self.engine.run("alice", request))

    def listen(self, ready: int, piece: int = 1 << 16) -> bytes:
        """Until so many ReadyForQuery have come, reading the shadow in pieces of that size."""
        while self._ready() < ready:
            readable, _, _ = select.select([self.shadow.socket], [], [], 10)
            assert readable, f"nothing more came after {self.heard!r}"
            self._perform(self.machine.from_shadow(self.shadow.socket.recv(piece)))
        return self.heard

    def _ready(self) -> int:
        return len(_frames(self.heard, b"Z"))


def _frames(data: bytes, tag: bytes) -> list[bytes]:
    found, at = [], 0
    while at + 5 <= len(data):
        end = at + 1 + frames.U32.unpack_from(data, at + 1)[0]
        if data[at : at + 1] == tag and end <= len(data):
            found.append(data[at + 5 : end])
        at = end
    return found


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    link = Link()
    yield link
    link.shadow.__exit__(None, None, None)


_TALK = b"".join(
    [
        frames.query(b"SELECT 1; " + COUNT + b"; SELECT repeat('x', 300)"),
        frames.parse(b"s", COUNT + b" WHERE amount > $1"),
        frames.describe_statement(b"s"),
        frames.bind(b"", b"s", [b"20"]),
        frames.describe_portal(b""),
        frames.execute(b""),
        frames.SYNC,
        frames.query(b"CREATE TEMP TABLE IF NOT EXISTS t (n int); SELECT * FROM shop.orders"),
        frames.query(b"BEGIN; CREATE TEMP TABLE cut (n int)"),
        frames.query(b"COPY cut FROM STDIN"),
        frames.frame(b"d", b"1\n2\n"),
        frames.frame(b"d", b"3\n"),
        frames.frame(b"c"),
        frames.query(b"SELECT sum(n) FROM cut; " + COUNT),
        frames.query(b"ROLLBACK"),
        frames.bind(b"", b"s", [b"x"]),
        frames.execute(b""),
        frames.SYNC,
        frames.close_statement(b"s"),
        frames.SYNC,
    ]
)
_READY = 9


@given(
    st.lists(st.integers(0, len(_TALK)), max_size=8), st.sampled_from([1 << 16, 1, 2, 7, 64, 333])
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_truncated_of_the_bytes_gives_the_same(link: Link, cuts: list[int], piece: int) -> None:
    link.reset()
    link.say(_TALK)
    whole, asked = link.listen(_READY), link.asked
    assert asked == 3
    link.reset()
    edges = sorted({0, len(_TALK), *cuts})
    for start, end in itertools.pairwise(edges):
        link.say(_TALK[start:end])
    assert link.listen(_READY, piece) == whole
    assert link.asked == asked
    assert link.machine.idle


@given(st.lists(st.sampled_from(range(12)), min_size=1, max_size=14))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_order_of_messages_ends_ready(link: Link, order: list[int]) -> None:
    """Parse, Bind, Describe, Execute, Close, Flush, Query in every order: after a last Sync there is
    one ReadyForQuery for each Query and Sync that was not skipped, and the machine is idle."""
    messages = [
        frames.parse(b"", COUNT),
        frames.parse(b"a", COUNT + b" WHERE amount > $1", [23]),
        frames.bind(b"", b""),
        frames.bind(b"p", b"a", [b"1"]),
        frames.describe_statement(b"a"),
        frames.describe_portal(b"p"),
        frames.execute(b"p"),
        frames.execute(b""),
        frames.close_statement(b"a"),
        frames.FLUSH,
        frames.parse(b"", b"SELECT 1"),
        frames.query(b"SELECT 2; " + COUNT),
    ]
    link.reset()
    link.say(frames.query(b"DEALLOCATE ALL"))
    link.listen(1)
    for number in order:
        link.say(messages[number])
    link.say(frames.SYNC)
    link.say(frames.query(b"SELECT 'the end'"))
    while b"the end" not in link.heard or not link.machine.idle:
        link.listen(link._ready() + 1)
    assert link.heard.endswith(frames.frame(b"Z", b"I"))
    assert not _frames(link.heard, b"E") or b"_dpproxy" not in b"".join(_frames(link.heard, b"E"))


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_random_bytes_from_the_client_never_raise(pieces: list[bytes]) -> None:
    machine = Relay(ScriptedEngine(0))
    for piece in pieces:
        effects = machine.from_client(piece)
        if effects.close:
            break
    assert machine.waiting_bytes <= sum(map(len, pieces))


@given(
    st.binary(max_size=60),
    st.sampled_from([MessageKind.QUERY, MessageKind.EXECUTE, MessageKind.DESCRIBE]),
)
def test_random_bytes_from_the_shadow(data: bytes, kind: MessageKind) -> None:
    answers = Answers(b"UTF8", ScriptedEngine(1))
    answers.expect(Expectation(kind))
    with contextlib.suppress(ProtocolError):  # no other error
        answers.feed(data)


def test_rows_stream_through_before_they_are_whole() -> None:
    answers = Answers(b"UTF8", ScriptedEngine(1))
    answers.expect(Expectation(MessageKind.QUERY))
    row = frames.frame(b"D", b"\0\1" + frames.U32.pack(100_000) + b"x" * 100_000)
    heard = b""
    for start in range(0, len(row), 1_000):
        heard += answers.feed(row[start : start + 1_000])
        assert len(answers._buffer) < 10
        assert answers.is_amid_row is (0 < len(heard) < len(row)), "no other message fits in"
    assert heard == row


def test_a_client_frame_has_a_limit() -> None:
    machine = Relay(ScriptedEngine(0))
    effects = machine.from_client(b"Q" + frames.U32.pack(65 * 1024 * 1024))
    assert effects.close
    assert b"too long" in effects.to_client


@pytest.mark.parametrize("is_lost", [False, True])
def test_the_notice_goes_out_with_the_answer(link: Link, is_lost: bool) -> None:
    """is_lost: the shadow is, and what was kept back is still to be told"""
    link.reset()
    link.say(frames.query(b"SET dp.notice = 'on'"))
    link.listen(1)
    machine, answered = link.machine, link.machine.answered
    told = []

    def noted(result: Result) -> Effects:
        told.append(answered(result))
        return told[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "answered", noted)
        link.say(frames.query(COUNT))
        while not told:
            link._perform(machine.from_shadow(link.shadow.socket.recv(1 << 16)))
    assert told[-1].to_shadow and not told[-1].to_client
    kept = machine.kept_back() if is_lost else b""
    assert (b"charged: 1" in kept) == is_lost
    link.listen(2)
    assert (b"charged: 1" in link.heard) == (not is_lost)
    if not is_lost:
        assert link.heard.index(b"charged: 1") < link.heard.index(b"count\0")
    link.say(frames.query(b"RESET dp.notice"))
    link.listen(3)


class _Hinting(ScriptedEngine):
    """Each PREPARE holds a query, of which a hint is kept."""

    def look(self, text: str) -> Verbatim | Inspect | ExecutePrepared | Refuse:
        if text.startswith("PREPARE"):
            return Verbatim(lambda message: f"of {text}: {message}")
        return super().look(text)


def test_what_is_kept_of_a_session_does_not_grow_with_what_it_sends(link: Link) -> None:
    """PostgreSQL drops portals without a word, and keeps any number of statements of its own."""
    link.reset()
    link.machine = Relay(_Hinting(link.engine.orders_oid))
    link.say(frames.query(b"DEALLOCATE ALL"))
    link.listen(1)
    kept = set[int]()
    for number in range(200):
        name = b"n%d" % number
        link.say(frames.parse(name, b"PREPARE p%d AS SELECT 1" % number))
        link.say(frames.bind(name, name) + frames.execute(name) + frames.SYNC)
        link.listen(2 * number + 2)
        link.say(frames.parse(b"long", b"PREPARE q%d AS SELECT 1" % number))
        link.say(
            frames.bind(b"x" * 9_000 + name, b"long")
            + frames.close_statement(b"long")
            + frames.SYNC
        )
        link.listen(2 * number + 3)
        kept.add(len(link.machine._session.executions))
    session = link.machine._session
    assert len(session.statements) == max(kept) == 32
    assert sum(map(len, session.executions)) < 9_000
    assert len(_frames(link.heard, b"1")) == 400
    assert len(_frames(link.heard, b"C")) == 201
    assert not _frames(link.heard, b"E")
    link.reset()
