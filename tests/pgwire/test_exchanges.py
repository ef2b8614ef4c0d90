"""An exchange that one expectation stands for is heard as its messages would be, one expectation each."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from proxy.pgwire import frames
from proxy.pgwire.answers import Answers
from proxy.pgwire.expectations import Expectation, Forwarded, MessageKind, ShadowReply
from proxy.pgwire.frames import ProtocolError
from proxy.pgwire.wording import Wording
from tests.pgwire.server_frames import NOTICE, ONE_OF_EACH, READY, ROW
from tests.scripted_engine import ScriptedEngine

_ERROR = frames.frame(
    b"E", frames.encode_report([(b"S", b"ERROR"), (b"C", b"42601"), (b"M", b"no"), (b"P", b"7")])
)
_TAGS = {
    MessageKind.CLOSE: frames.frame(b"3"),
    MessageKind.PARSE: frames.frame(b"1"),
    MessageKind.BIND: frames.frame(b"2"),
    MessageKind.DESCRIBE: frames.frame(b"t", b"\0\0") + frames.frame(b"T", b"\0\0"),
    MessageKind.EXECUTE: ROW + frames.frame(b"C", b"SELECT 1\0"),
}
_STRAY = st.sampled_from([_ERROR, *ONE_OF_EACH, b"D\0\0\0\3", b"1\0\0\0\3"])
_KINDS = st.lists(st.sampled_from(list(_TAGS)), min_size=1, max_size=7)
# Two exchanges of one round trip, and what the client's own messages leave behind them.
_EXCHANGES = st.lists(_KINDS, min_size=1, max_size=3)


@st.composite
def _answers(draw: st.DrawFn, exchanges: list[list[MessageKind]]) -> bytes:
    """As the server answers; something beside, or cut off."""
    pieces = [_TAGS[kind] for kinds in exchanges for kind in kinds]
    for _ in range(draw(st.integers(0, 2))):
        pieces.insert(draw(st.integers(0, len(pieces))), draw(_STRAY))
    del pieces[draw(st.sampled_from([draw(st.integers(0, len(pieces))), len(pieces)])) :]
    return b"".join([*pieces, *draw(st.lists(_STRAY, max_size=2))])


class _Listener:
    def __init__(self, exchanges: list[list[MessageKind]], ends: bytes, *, is_one: bool) -> None:
        self.answers = Answers(b"UTF8", ScriptedEngine(1))
        self.replies = [ShadowReply() for _ in exchanges]
        for number, (kinds, reply) in enumerate(zip(exchanges, self.replies, strict=True)):
            wording = Wording(has_position=number % 2 == 0)
            self._expect(kinds, reply, wording, is_one)
        for tag in ends:
            kind = MessageKind.SYNC if tag == ord("S") else MessageKind.EXECUTE
            self.answers.expect(Expectation(kind))

    def _expect(
        self, kinds: list[MessageKind], reply: ShadowReply, wording: Wording, is_one: bool
    ) -> None:
        if is_one:
            ends = tuple(kind.value for kind in kinds)
            one = Expectation(
                MessageKind.SEVERAL, Forwarded.NOTHING, reply, True, wording, ends=ends
            )
            self.answers.expect(one)
            return
        for number, kind in enumerate(kinds, start=1):
            is_last = number == len(kinds)
            self.answers.expect(Expectation(kind, Forwarded.NOTHING, reply, is_last, wording))

    def hear(self, data: bytes, cuts: list[int]) -> list[Any]:
        heard: list[Any] = []
        edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
        for start, end in itertools.pairwise(edges):
            try:
                heard.append(self.answers.feed(data[start:end]))
            except ProtocolError as error:
                return [*heard, str(error)]
            heard.append(self._state())
        return heard

    def _state(self) -> tuple[Any, ...]:
        answers = self.answers
        data = [
            [(tag, payload) for tag, payload in reply.frames if tag in b"DTt"]
            for reply in self.replies
        ]
        return (
            data,
            [reply.outcome for reply in self.replies],
            answers.idle,
            answers.at_rest,
            answers.skipping,
            answers.failed_ours,
            answers.copying_in,
            answers.has_executed,
            answers.transaction_status,
            answers.client_encoding,
            answers.discarded_statements,
            bytes(answers._buffer),
        )


@given(st.data(), _EXCHANGES, st.sampled_from([b"", b"S", b"ES"]), st.lists(st.integers(0, 150)))
def test_as_one_by_one(
    data: st.DataObject, exchanges: list[list[MessageKind]], ends: bytes, cuts: list[int]
) -> None:
    said = data.draw(_answers(exchanges))
    _assert_alike(exchanges, ends, said, cuts)


def _assert_alike(
    exchanges: list[list[MessageKind]], ends: bytes, said: bytes, cuts: list[int]
) -> None:
    one = _Listener(exchanges, ends, is_one=True).hear(said, cuts)
    each = _Listener(exchanges, ends, is_one=False).hear(said, cuts)
    assert one == each


_RUN = [MessageKind.PARSE, MessageKind.BIND, MessageKind.EXECUTE, MessageKind.CLOSE]


@given(st.integers(0, 60), st.sampled_from([_ERROR, NOTICE, frames.frame(b"Z", b"E")]))
@example(0, _ERROR)
def test_an_error_amid_two_exchanges(cut: int, amid: bytes) -> None:
    """Of either, at each of its messages: worded as that exchange, and the rest is skipped."""
    whole = [_TAGS[kind] for kind in _RUN * 2]
    for place in range(len(whole) + 1):
        said = b"".join([*whole[:place], amid, READY])
        _assert_alike([_RUN, _RUN], b"S", said, [cut])


def test_what_nobody_reads_is_not_held() -> None:
    """Completions; but what comes in their place counts, so that no server can send without end."""
    listener = _Listener([_RUN], b"", is_one=True)
    listener.hear(frames.frame(b"1") + frames.frame(b"2") + ROW + frames.frame(b"s"), [])
    assert [tag for tag, _ in listener.replies[0].frames] == [ord("D")]
    listener.hear(frames.frame(b"1"), [])
    assert [tag for tag, _ in listener.replies[0].frames] == [ord("D"), ord("1")]
