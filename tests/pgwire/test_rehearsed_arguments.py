"""The rehearsal goes with the arguments where nothing but time differs by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.base.session_settings import SESSION_SETTINGS
from proxy.pgwire.argument_exchanges import rehearse, rehearsed_arguments
from proxy.pgwire.calls import Arguments, MadeOfNulls, ReadArguments, Rehearsal, Rehearse, Verbatim
from proxy.pgwire.expectations import ShadowReply
from proxy.pgwire.frames import (
    FLUSH,
    U32,
    Bind,
    close_portal,
    close_statement,
    describe_statement,
    execute,
    frame,
    parameter_description,
)
from proxy.pgwire.session import Session
from proxy.pgwire.shadow_exchanges import INTERNAL
from tests.scripted_engine import ScriptedEngine

_PLAIN = Rehearsal("EXPLAIN (COSTS OFF) SELECT $1, $2")
_BIND = Bind(b"", b"s", (), (b"7",), ())
_MADE = MadeOfNulls("CREATE TABLE x AS SELECT", (), " WHERE false", if_not_exists=False, tag=None)


def _sent(
    rehearsal: Rehearsal | None, message: Bind, oids: tuple[int, ...] = (23,)
) -> tuple[bytes, ShadowReply]:
    """What is sent at once, and what is waited for."""
    session = Session(ScriptedEngine(0), b"UTF8")
    reading = rehearsed_arguments(session, message, ReadArguments(oids, {}, rehearsal))
    waits = next(reading)
    assert isinstance(waits, ShadowReply)
    return b"".join(session.to_shadow), waits


def test_one_round_trip() -> None:
    sent, _ = _sent(_PLAIN, _BIND)
    assert sent.count(b"EXPLAIN") == 1
    assert sent.index(b"to_jsonb") < sent.index(b"EXPLAIN")
    assert sent.count(FLUSH) == 1
    assert sent.endswith(FLUSH)


@pytest.mark.parametrize(
    ("rehearsal", "message"),
    [
        (None, _BIND),
        (replace(_PLAIN, made=_MADE), _BIND),
        (replace(_PLAIN, same_kind=("DECLARE c CURSOR FOR SELECT",)), _BIND),
        (_PLAIN, replace(_BIND, portal=b"p")),
        (_PLAIN, replace(_BIND, values=(b"7" * 1_001,))),
    ],
)
def test_what_is_looked_at_first(rehearsal: Rehearsal | None, message: Bind) -> None:
    sent, _ = _sent(rehearsal, message)
    assert b"EXPLAIN" not in sent
    assert sent.count(FLUSH) == 1


@pytest.mark.parametrize(
    ("message", "runs"),
    [
        (replace(_BIND, values=()), 3),
        # It gives what the statement does not take: PostgreSQL says so.
        (_BIND, 4),
        (replace(_BIND, values=(), formats=(1,)), 4),
        (replace(_BIND, values=(), formats=(0, 0)), 4),
    ],
)
def test_nothing_is_measured_of_no_arguments(message: Bind, runs: int) -> None:
    """Then: what the name holds, the settings, the rehearsal, the timeouts."""
    sent, _ = _sent(_PLAIN, message, ())
    assert sent.count(execute(INTERNAL)) == runs
    assert (b"SELECT WHERE false" in sent) is (runs == 4)


def test_the_name_is_freed_first_and_after_each_run() -> None:
    """First, since an exchange that was cut off may have left it behind; between two runs it is free."""
    sent, _ = _sent(_PLAIN, _BIND)
    freed = close_statement(INTERNAL)
    assert sent.startswith(describe_statement(b"s") + freed + b"P")
    assert sent.count(freed) == 1 + sent.count(execute(INTERNAL)) == 5
    assert sent.count(close_portal(INTERNAL)) == 4
    alone, _ = _alone(_PLAIN)
    assert alone.startswith(freed + b"P")
    assert alone.count(freed) == 1 + alone.count(execute(INTERNAL)) == 3


def _alone(rehearsal: Rehearsal) -> tuple[bytes, object]:
    session = Session(ScriptedEngine(0), b"UTF8")
    waits = next(rehearse(session, Rehearse(rehearsal, (), Arguments((), {}))))
    return b"".join(session.to_shadow), waits


_SETTINGS = (*(None for _ in SESSION_SETTINGS), b"public", b"UTF8")


def _row(values: Sequence[bytes | None]) -> bytes:
    lengths = (b"\xff" * 4 if one is None else U32.pack(len(one)) + one for one in values)
    return frame(b"D", len(values).to_bytes(2, "big") + b"".join(lengths))


def _heard(session: Session, state: bytes) -> Arguments | None:
    """Of a Bind without arguments."""
    reading = rehearsed_arguments(session, replace(_BIND, values=()), ReadArguments((), {}))
    next(reading)
    described = parameter_description((3802,)) + frame(b"T", b"\0\0")
    free, ended = frame(b"3"), frame(b"C", b"SELECT 1\0") + frame(b"3") * 2
    session.answers.feed(described + free + frame(b"1") + frame(b"2") + state + ended)
    try:
        reading.send(None)
    except StopIteration as done:
        assert isinstance(done.value, Arguments | Verbatim)
        return done.value if isinstance(done.value, Arguments) else None
    raise AssertionError


def test_settings_are_of_this_bind() -> None:
    """A row that has come before is not read again; any other is."""
    session = Session(ScriptedEngine(0), b"UTF8")
    of = len(SESSION_SETTINGS)
    before = _row((b"f", *_SETTINGS))
    for state, settings, path, encoding in (
        (before, {}, "public", b"UTF8"),
        (before, {}, "public", b"UTF8"),
        (_row((b"f", b"2", *_SETTINGS[1:])), {"dp.epsilon": "2"}, "public", b"UTF8"),
        (
            _row((b"f", b"2" * 2_000, *_SETTINGS[1:])),
            {"dp.epsilon": "2" * 2_000},
            "public",
            b"UTF8",
        ),
        (before, {}, "public", b"UTF8"),
        (_row((b"f", *_SETTINGS[:of], b"a, b", b"LATIN1")), {}, "a, b", b"LATIN1"),
        (
            _row((b"f", b"\xe4", *_SETTINGS[1:of], b"a", b"LATIN1")),
            {"dp.epsilon": "ä"},
            "a",
            b"LATIN1",
        ),
        (_row((b"f", b"\xe4", *_SETTINGS[1:of], b"a", b"UTF8")), {"dp.epsilon": "?"}, "a", b"UTF8"),
    ):
        read = _heard(session, state)
        assert read is not None
        assert (read.settings, read.search_path) == (settings, path)
        assert session.answers.client_encoding == encoding
        assert (session.read_state is None) is (len(state) > 1_100)  # long ones are not held
    # It is noted anew although the row is known: something else may have been heard meanwhile.
    session.answers.client_encoding = b"LATIN1"
    assert _heard(session, _row((b"f", b"\xe4", *_SETTINGS[1:of], b"a", b"UTF8"))) is not None
    assert session.answers.client_encoding == b"UTF8"
    assert _heard(session, _row((b"t", *_SETTINGS))) is None
    assert _heard(session, before) is not None
