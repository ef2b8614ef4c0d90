"""What passes in few steps comes out as it would without them: two machines hear the same, one slowly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxy.pgwire import frames, plain_frames
from proxy.pgwire.answers import Answers
from proxy.pgwire.calls import Refuse
from proxy.pgwire.expectations import (
    REPLY_BYTES,
    REPLY_FRAMES,
    Expectation,
    Forwarded,
    MessageKind,
    ShadowReply,
)
from proxy.pgwire.frames import ProtocolError
from proxy.pgwire.plain_frames import (
    BOUND,
    DESCRIBED,
    DESCRIBED_ROUND,
    EXECUTED,
    SYNCED,
    passing_run,
    plain_client_tags,
    round_status,
)
from proxy.pgwire.relay import UNANSWERED, Effects, QuickRelay, Relay
from tests.pgwire.server_frames import ONE_OF_EACH, READY, ROW
from tests.scripted_engine import ScriptedEngine

# Whether by the client; its frames, else the server's.
_Said = tuple[bool, list[bytes], list[bytes]]

_ROUND = (
    frames.bind(b"", b"s") + frames.describe_portal(b"") + frames.execute(b"") + frames.SYNC,
    frames.frame(b"2")
    + frames.frame(b"T", b"\0\0")
    + ROW
    + frames.frame(b"C", b"SELECT 1\0")
    + READY,
)
_WITHOUT_ROWS = _ROUND[1].replace(frames.frame(b"T", b"\0\0"), frames.frame(b"n"))
_HELD = b"SELECT count(*) FROM shop.orders"
_ENDING = frames.execute(b"") + frames.SYNC
_NAMED = {
    ord("B"): frames.bind(b"", b"s"),
    ord("D"): frames.describe_portal(b""),
    ord("E"): frames.execute(b""),
    ord("S"): frames.SYNC,
}
_CLIENT = st.sampled_from(
    [
        _ROUND[0],
        frames.bind(b"p", b"s", [b"1", None]),
        frames.describe_statement(b"s"),
        frames.execute(b"p", 5),
        frames.close_portal(b"p"),
        frames.close_statement(b"s"),
        frames.SYNC,
        frames.FLUSH,
        frames.frame(b"H", b"x"),
        frames.frame(b"S", b"x"),
        frames.frame(b"B", b"no bind"),
        frames.frame(b"d", b"data"),
        frames.frame(b"c"),
        frames.frame(b"f", b"\0"),
        b"S\0\0\0\3",
        b"!\0\0\0\4",
        frames.parse(b"s", b"SELECT 1"),
        frames.query(b"SELECT 1"),
        # What is ours, and is waited for.
        frames.parse(b"s", _HELD),
        frames.query(_HELD),
        # As a driver's round trip ends, behind what is no Bind of that length.
        *(b"B" + frames.U32.pack(length) + b"\0s\0" + _ENDING for length in (*range(9), 30)),
        frames.describe_portal(b"") + _ENDING,
        _ENDING,
        frames.bind(b"", b"s", [_ENDING]),
    ]
)
_SERVER = st.sampled_from(
    [
        _ROUND[1],
        _WITHOUT_ROWS,
        *ONE_OF_EACH,
        *(frames.frame(b"C", tag) for tag in (b"SELECT 1\0", b"DELETE 3\0")),
        frames.frame(b"E", frames.encode_report([(b"S", b"ERROR"), (b"C", b"42601")])),
        frames.frame(b"Z", b"T"),
        b"Z\0\0\0\3",
        b"Z\0\0\0\4",
    ]
)
_DISCARDED = frames.frame(b"2") + frames.frame(b"n") + frames.frame(b"C", b"DISCARD ALL\0")
# The server ignores a Sync while it waits for CopyData.
_COPYING = [
    (True, [frames.execute(b"")], []),
    (False, [], [frames.frame(b"G", b"\0\0\0")]),
    (True, [frames.SYNC], []),
]
# CopyDone marks the stream, and has no answer.
_COPY_ENDED = [
    (True, [frames.execute(b"") + frames.frame(b"c") + frames.SYNC], []),
    (False, [], [frames.frame(b"C", b"COPY 1\0") + READY]),
]
_ERROR = frames.frame(b"E", frames.encode_report([(b"S", b"ERROR"), (b"M", b"m" * 70_000)]))
# At rest, where a round trip is noted later, or not at all.
_RESTING = [(True, [frames.SYNC], []), (False, [], [READY])]
_TRIP = [(True, [_ROUND[0]], []), (False, [], [_ROUND[1]])]
_IN_BLOCK: _Said = (False, [], [_ROUND[1][:-1] + b"T"])
# Each needs a state to be seen: skipping, frames that are not whole yet, on either side.
_AMID = [
    # While an answer to a round trip is still to come.
    [(True, [_ROUND[0]], []), (True, [frames.describe_statement(b"s"), frames.SYNC], [])],
    [(True, [_ROUND[0]], []), (True, [_ROUND[0]], []), (False, [], [_ROUND[1]] * 2)],
    [(True, [_ROUND[0]], []), (True, [frames.parse(b"s", _HELD)], []), (False, [], [_ROUND[1]])],
    [(True, [_ROUND[0]], []), (False, [], [frames.frame(b"A", b"\0\0\0\1c\0p\0")])],
    [(True, [_ROUND[0]], []), _IN_BLOCK, (True, [_ROUND[0]], []), _IN_BLOCK],
    # While something else is.
    [(True, [frames.SYNC] * 2, []), (False, [], [READY]), (True, [_ROUND[0]], [])],
    [(True, [frames.SYNC], []), (True, [b"d\0\0\0\x64x"], []), (False, [], [READY]), *_TRIP],
    [(True, [frames.execute(b"")], []), (False, [], [_ERROR]), (True, [_ROUND[0]], [])],
    [(True, [b"S\0\0"], []), (True, [_ROUND[0]], [])],
    [(True, [b"d\0\0\0\x64x"], []), (True, [_ROUND[0]], [])],
    [(True, [b"d\0\0\0\x64x"], []), (True, [_ENDING], [])],
    [*_COPYING[:2], (True, [_ENDING], [])],
    [(True, [_ROUND[0]], []), (False, [], [b"2\0\0"]), (False, [], [_ROUND[1]])],
    [(True, [frames.execute(b"")], []), (False, [], [b"D\0\0\0\x64x"]), (False, [], [_ROUND[1]])],
    [(True, [frames.SYNC] * 2, []), (False, [], [_ERROR[:-9]]), (False, [], [READY])],
    [(True, [frames.SYNC], []), (False, [], [b"Z\0\0\0\3"])],
    [*_COPYING[:2], (False, [], [frames.frame(b"C", b"COPY 1\0")]), (True, [frames.SYNC], [])],
]
_HEARD = st.lists(
    st.one_of(
        st.tuples(st.booleans(), st.lists(_CLIENT, max_size=5), st.lists(_SERVER, max_size=5)).map(
            lambda one: [one]
        ),
        st.sampled_from([_RESTING, _TRIP, _TRIP[:1]]),
    ),
    max_size=12,
).map(lambda found: [one for some in found for one in some])


class _Thorough:
    """Without a first look."""

    def __init__(self) -> None:
        self.machine = Relay(ScriptedEngine(1))

    def hear(self, piece: bytes, *, is_client: bool) -> Effects:
        return (self.machine.from_client if is_client else self.machine.from_shadow)(piece)


class _Quick(_Thorough):
    """As a connection asks: first whether it passes."""

    def __init__(self) -> None:
        self.machine: QuickRelay = QuickRelay(ScriptedEngine(1))

    def hear(self, piece: bytes, *, is_client: bool) -> Effects:
        machine = self.machine
        before = _state(machine)
        if (machine.passes if is_client else machine.answer_passes)(piece):
            return Effects(to_shadow=piece) if is_client else Effects(to_client=piece)
        assert _state(machine) == before
        return (machine.from_client if is_client else machine.from_shadow)(piece)


class _Mixed(_Quick):
    """Asks three times of four."""

    def __init__(self) -> None:
        super().__init__()
        self._heard = 0

    def hear(self, piece: bytes, *, is_client: bool) -> Effects:
        self._heard += 1
        return (_Quick if self._heard % 4 else _Thorough).hear(self, piece, is_client=is_client)


class _Noting(_Quick):
    """Nothing is left to be noted later."""

    def hear(self, piece: bytes, *, is_client: bool) -> Effects:
        self.machine._settle()
        return super().hear(piece, is_client=is_client)


class _Walking(_Thorough):
    """Nor is the end of a round trip known as a whole."""

    def hear(self, piece: bytes, *, is_client: bool) -> Effects:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Relay, "_passes_ending", lambda self: False)
            return super().hear(piece, is_client=is_client)


class _Slow(_Thorough):
    """Nor do answers pass in few steps."""

    def hear(self, piece: bytes, *, is_client: bool) -> Effects:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Answers, "_plain", lambda self, data, needs_all: 0)
            return super().hear(piece, is_client=is_client)


def _said(listener: _Thorough, heard: list[_Said], cuts: list[int]) -> list[Any]:
    said: list[Any] = []
    for number, (is_client, of_client, of_server) in enumerate(heard):
        data = b"".join(of_client if is_client else of_server)
        cut = cuts[number % len(cuts)] if cuts else 0
        for piece in filter(None, (data[:cut], data[cut:])):
            try:
                effects = listener.hear(piece, is_client=is_client)
            except ProtocolError as error:
                return [*said, str(error)]
            said.append((_parts(effects), _state(listener.machine)))
            if effects.close:
                return said
    return said


def _parts(effects: Effects) -> tuple[Any, ...]:
    return effects.to_client, effects.to_shadow, effects.wanted, effects.close, effects.more


def _state(machine: Relay) -> tuple[Any, ...]:
    """A round trip that is still to be noted counts as noted."""
    answers = machine._session.answers
    run = machine._round if isinstance(machine, QuickRelay) else None
    if run is not None:
        assert answers.at_rest
    expected = (*answers._queue, *(run.expectations if run is not None else ()))
    return (
        machine.transaction_status,
        machine.waiting_bytes,
        machine.is_running,
        machine.idle,
        len(expected),
        answers.has_bound,
        answers.has_executed or run is not None,
        answers.skipping,
        answers.copying_in,
        answers.client_encoding,
        answers.discarded_statements,
        [expectation.kind for expectation in expected],
    )


@settings(max_examples=75)
@given(_HEARD, st.lists(st.integers(0, 40), max_size=4))
@example(_RESTING + _TRIP, [0])
@example(_RESTING + _TRIP, [9])
@example(_COPYING, [0])
@example(_COPY_ENDED, [0])
@example([*_RESTING, _TRIP[0], (False, [], [_DISCARDED])], [0])
@example([*_RESTING, (True, [frames.parse(b"s", _HELD)], []), *_TRIP], [0])
def test_as_without_the_short_way(heard: list[_Said], cuts: list[int]) -> None:
    _assert_alike(heard, cuts)


@pytest.mark.parametrize("heard", _AMID)
def test_as_without_the_short_way_amid(heard: list[_Said]) -> None:
    _assert_alike(heard, [0])
    _assert_alike([*_RESTING, *heard, *_RESTING, *_TRIP], [0])


def _assert_alike(heard: list[_Said], cuts: list[int]) -> None:
    quick, *others = (
        _said(kind(), heard, cuts) for kind in (_Quick, _Noting, _Mixed, _Thorough, _Walking, _Slow)
    )
    assert all(other == quick for other in others)


def test_a_round_trip_passes() -> None:
    """That is what makes it quick."""
    machine = QuickRelay(ScriptedEngine(1))
    for number in range(3):
        assert machine.passes(_ROUND[0])
        assert (machine.is_running, machine.idle) == (True, False)
        assert (machine._round is not None) is (number > 0)
        assert machine.answer_passes(_ROUND[1])
        assert (machine.is_running, machine.idle) == (False, True)


def test_a_statement_of_ours_does_not_pass() -> None:
    """A Bind names what is held under that name: nothing passes unread while a name is."""
    machine = QuickRelay(ScriptedEngine(1))
    machine._session.statements[b"s"] = Refuse("42501", "no", "", None)
    assert not machine.passes(_ROUND[0])
    del machine._session.statements[b"s"]
    machine._session.executions[b""] = Expectation(MessageKind.EXECUTE, command_tag=b"EXPLAIN")
    assert not machine.passes(_ROUND[0])


@pytest.mark.parametrize("name", [b"s", b""])
def test_a_statement_of_ours_is_held_from_its_parse_on(name: bytes) -> None:
    machine = QuickRelay(ScriptedEngine(1))
    for _ in range(2):
        assert machine.passes(_ROUND[0])
        assert machine.answer_passes(_ROUND[1])
    assert not machine.passes(frames.parse(name, _HELD) + frames.SYNC)
    machine.from_client(frames.parse(name, _HELD) + frames.SYNC)
    assert not machine.passes(_ROUND[0])


@pytest.mark.parametrize("ending", [_ENDING, frames.describe_portal(b"") + _ENDING])
def test_an_end_of_a_round_trip_is_known_as_a_whole(ending: bytes) -> None:
    """Behind a Bind of ours, unless its answer is to be changed, or the server skips it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Relay, "_frame", lambda *_: pytest.fail("a frame was read"))
        machine = Relay(ScriptedEngine(1))
        machine._session.statements[b"s"] = Refuse("42501", "no", "", None)
        assert machine.from_client(ending).to_shadow == ending
        assert machine._session.answers.unanswered == len(plain_client_tags(ending) or b"")
    tagged, failed = Relay(ScriptedEngine(1)), Relay(ScriptedEngine(1))
    tagged._session.executions[b""] = Expectation(MessageKind.EXECUTE, command_tag=b"EXPLAIN")
    tagged.from_client(ending)
    assert any(one.command_tag == b"EXPLAIN" for one in tagged._session.answers._queue)
    failed._session.answers.skipping = True
    failed.from_client(ending)
    assert [one.kind for one in failed._session.answers._queue] == [MessageKind.SYNC]


def test_nothing_passes_behind_the_end() -> None:
    machine = QuickRelay(ScriptedEngine(1))
    assert machine.passes(frames.SYNC)
    assert machine.from_client(frames.frame(b"X")).close
    assert machine.answer_passes(READY)
    assert not machine.passes(_ROUND[0])


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        *((name, b"2") for name in ("_buffer", "_queue")),
        *((name, 1) for name in ("_passing", "_dropping")),
        *((name, True) for name in ("has_executed", "has_bound", "skipping", "copying_in")),
    ],
)
def test_at_rest_is_nothing_under_way(attribute: str, value: object) -> None:
    answers = Answers(b"UTF8", ScriptedEngine(1))
    assert answers.at_rest
    setattr(answers, attribute, value)
    assert not answers.at_rest


@pytest.mark.parametrize("attribute", ["statements", "executions"])
def test_what_is_ours_is_seen_at_rest(attribute: str) -> None:
    machine = QuickRelay(ScriptedEngine(1))
    getattr(machine._session, attribute)[b"s"] = object()
    machine._answers.expect(SYNCED)
    assert machine.answer_passes(READY)
    assert not machine.passes(_ROUND[0])


def test_nothing_passes_while_something_waits() -> None:
    held, full = QuickRelay(ScriptedEngine(1)), QuickRelay(ScriptedEngine(1))
    assert held.from_client(frames.SYNC + frames.query(_HELD)).to_shadow
    assert not held.answer_passes(READY)
    while full.passes(_ROUND[0]):
        assert full._session.answers.unanswered <= UNANSWERED
    full.from_client(frames.SYNC * UNANSWERED)
    assert full.waiting_bytes
    assert not full.answer_passes(_ROUND[1])


@pytest.mark.parametrize(
    "expectation",
    [
        Expectation(MessageKind.DESCRIBE, hides_last_parameter=True),
        Expectation(MessageKind.EXECUTE, command_tag=b"EXPLAIN"),
        Expectation(MessageKind.EXECUTE, Forwarded.RESULTS),
        Expectation(MessageKind.EXECUTE, Forwarded.NOTHING),
        Expectation(MessageKind.EXECUTE, reply=ShadowReply()),
    ],
)
def test_what_is_waited_for_or_changed_does_not_pass(expectation: Expectation) -> None:
    answers = Answers(b"UTF8", ScriptedEngine(1))
    answers.expect(expectation)
    assert not any(answers.passes(frames.frame(tag)) for tag in (b"t", b"T", b"C", b"D", b"s"))


@given(st.lists(_CLIENT, max_size=4).map(b"".join), st.integers(0, 3), st.integers(0, 3))
def test_endings_are_as_the_frames_say(data: bytes, front: int, back: int) -> None:
    data = data[front : len(data) - back]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plain_frames, "_ENDINGS", {})
        walked = passing_run(data)
    assert passing_run(data) == walked


# Of an answer to a prepared statement, with what an answer can hold beside; lengths that are none.
_ANSWERED = st.sampled_from(
    [
        *(frames.frame(tag) for tag in (b"1", b"2", b"n", b"T", b"D", b"t", b"A")),
        ROW,
        *(
            frames.frame(b"C", tag + b"\0")
            for tag in (b"SELECT 1", b"DELETE 3", b"DISCARD ALL", b"DEALLOCATE ALL", b"")
        ),
        *(tag + b"\0\0\0\3" for tag in (b"2", b"T", b"D", b"C", b"Z")),
        b"C\0\0\0\x0a",
        *(frames.frame(b"Z", status) for status in (b"I", b"T", b"", b"II")),
    ]
)
_WHOLE = st.sampled_from([_ROUND[1], _WITHOUT_ROWS])


_BARE = frames.frame(b"2") + frames.frame(b"C", b"SELECT 0\0") + READY


@given(
    st.sampled_from([b"BDES", b"BES", b"BDE", b"BDESS", b"BDESBDES", b""]),
    st.one_of(
        _WHOLE,
        st.lists(_ANSWERED, max_size=7).map(b"".join),
        # Nearly whole ones: something beside, or left out.
        st.tuples(
            st.sampled_from([frames.frame(b"2"), b""]),
            st.sampled_from([frames.frame(b"T", b"\0\0"), b""]),
            st.lists(_ANSWERED, max_size=2).map(b"".join),
            st.sampled_from([frames.frame(b"C", b"SELECT 1\0"), b""]),
            st.sampled_from([READY, b""]),
        ).map(b"".join),
    ),
    st.integers(0, 2),
)
@example(b"BDES", frames.frame(b"2") + frames.frame(b"T", b"\0\0") + b"C\0\0\0\3" + READY, 0)
@example(b"BES", frames.frame(b"2") + frames.frame(b"C", b"DISCARD ALL\0") + READY, 0)
@example(b"BES", _BARE, 0)
@example(b"BDES", _BARE, 0)
@example(b"BDE", _BARE, 0)
@example(b"", _BARE, 0)
@example(b"BES", _BARE[:5] + frames.frame(b"T", b"\0\0") + _BARE[5:], 0)
@example(b"BES", _BARE[:-6] + frames.frame(b"n") + READY, 0)
@example(b"BES", _BARE[:5] + frames.frame(b"A") + _BARE[5:], 0)
@example(b"BES", _BARE[:-6] + frames.frame(b"s") + b"x", 0)
@example(b"BES", frames.frame(b"1") + _BARE[5:], 0)
@example(b"BDES", _BARE[:5] + frames.frame(b"D", b"\0\0") + _BARE[5:], 0)
@example(b"BES", _BARE[:-6] + frames.frame(b"A") + READY, 0)
def test_a_round_is_as_its_frames_say(tags: bytes, data: bytes, back: int) -> None:
    data = data[: len(data) - back]
    if not data:
        return
    piece = b"".join(_NAMED[tag] for tag in tags)
    quick, walked = QuickRelay(ScriptedEngine(1)), QuickRelay(ScriptedEngine(1))
    for machine in (quick, walked):
        assert machine.passes(frames.SYNC)
        assert machine.answer_passes(READY)
        assert machine.passes(piece)
    assert quick._round is not None or tags not in (b"BDES", b"BES")
    walked._settle()
    passes = walked.answer_passes(data)
    assert quick.answer_passes(data) == passes
    assert _state(quick) == _state(walked)
    assert quick._is_at_rest == walked._is_at_rest
    quick._settle()
    known = {"_tables": None}  # of two engines
    assert vars(quick._answers) | known == vars(walked._answers) | known


def test_a_round_is_seen() -> None:
    assert round_status(_ROUND[1], DESCRIBED_ROUND) == b"I"


@pytest.mark.parametrize(
    "heard",
    [
        [(True, frames.execute(b"") + frames.FLUSH), (False, frames.frame(b"C", b"SELECT 1\0"))],
        [(True, frames.bind(b"", b"s") + frames.FLUSH), (False, frames.frame(b"2"))],
        [(True, frames.execute(b"") + frames.SYNC), (False, frames.frame(b"C", b"SELECT 1\0"))],
    ],
    ids=["something was executed", "a portal is open", "more is to come"],
)
def test_not_at_rest_amid(heard: list[tuple[bool, bytes]]) -> None:
    """A round trip would leave more than its status; or its answer is not the next."""
    machine = QuickRelay(ScriptedEngine(1))
    for is_client, piece in heard:
        assert (machine.passes if is_client else machine.answer_passes)(piece)
    assert machine.passes(_ROUND[0])
    assert machine._round is None


@pytest.mark.parametrize(
    "data",
    [
        b"S\0\0\0",
        frames.SYNC + b"S",
        frames.query(b"SELECT 1"),
        frames.parse(b"", b""),
        frames.parse(b"", _HELD) + _ENDING,
        frames.query(_HELD) + _ENDING,
        frames.query(_HELD) + frames.describe_portal(b"") + _ENDING,
        b"X\0\0\0\4",
    ],
)
def test_all_else_is_read(data: bytes) -> None:
    assert plain_client_tags(data) is None
    assert passing_run(data) is None


def test_discarding_is_seen() -> None:
    answers = Answers(b"UTF8", ScriptedEngine(1))
    for expectation in (BOUND, DESCRIBED, EXECUTED, SYNCED):
        answers.expect(expectation)
    answers.feed(_DISCARDED + READY)
    assert answers.discarded_statements


@pytest.mark.parametrize(
    "reply",
    [
        ROW * (REPLY_FRAMES + 1),
        frames.frame(b"D", b"x" * 60_000) * (REPLY_BYTES // 60_000 + 1),
        b"D" + frames.U32.pack(REPLY_BYTES + 5),  # before its bytes have come
    ],
    ids=["rows", "bytes", "one row"],
)
def test_a_reply_to_our_own_exchange_is_bounded(reply: bytes) -> None:
    answers = Answers(b"UTF8", ScriptedEngine(1))
    answers.expect(Expectation(MessageKind.EXECUTE, Forwarded.NOTHING, ShadowReply()))
    with pytest.raises(ProtocolError):
        answers.feed(reply)
