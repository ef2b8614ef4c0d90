"""Errors and notices of any length are cut: none is held whole, and what follows is read as it is."""

from __future__ import annotations

import pytest

from proxy.pgwire.answers import REPORT_BYTES, Answers
from proxy.pgwire.expectations import Expectation, MessageKind
from proxy.pgwire.frames import U32, decode_report, frame
from tests.scripted_engine import ScriptedEngine


@pytest.mark.parametrize("tag", [b"E", b"N"])
@pytest.mark.parametrize("piece", [1 << 16, 1 << 20, 65_537])
@pytest.mark.parametrize("letter", ["x", "ä", "\U0001f600"])
def test_a_long_report_is_truncated(tag: bytes, piece: int, letter: str) -> None:
    text = letter.encode() * (3 * 1024 * 1024 // len(letter.encode()))
    fields = b"SERROR\0VERROR\0CP0001\0M" + text + b"\0Hhint\0\0"
    ready = frame(b"Z", b"I")
    stream = frame(tag, fields) + ready
    answers = Answers(b"UTF8", ScriptedEngine(1))
    answers.expect(Expectation(MessageKind.QUERY))
    largest = 0
    out = b""
    for start in range(0, len(stream), piece):
        out += answers.feed(stream[start : start + piece])
        largest = max(largest, len(answers._buffer))
    assert largest <= REPORT_BYTES + piece + 5
    assert out.endswith(ready)
    length = U32.unpack_from(out, 1)[0]
    assert len(out) == 1 + length + len(ready)
    report = dict(decode_report(out[5 : 1 + length]))
    assert report[b"C"] == b"P0001"
    assert report[b"M"].decode() == letter * len(report[b"M"].decode())
    assert REPORT_BYTES - 64 < len(report[b"M"]) < REPORT_BYTES
    assert answers.idle


def test_a_report_of_usual_length_passes_as_it_is() -> None:
    report = frame(b"N", b"SNOTICE\0C00000\0M" + b"y" * (REPORT_BYTES - 100) + b"\0\0")
    answers = Answers(b"UTF8", ScriptedEngine(1))
    answers.expect(Expectation(MessageKind.QUERY))
    assert answers.feed(report) == report
