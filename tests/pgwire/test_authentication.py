"""The shadow's authentication as it passes: who is let in, and what the client sees before."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.pgwire.authentication import Authentication
from proxy.pgwire.frames import ProtocolError, frame
from proxy.pgwire.startup import Connect
from tests.pgwire.test_startup import startup_packet

_SASL = frame(b"R", b"\0\0\0\x0aSCRAM-SHA-256\0\0")
_OK = frame(b"R", b"\0\0\0\0")
_LOGIN = _OK + (
    frame(b"S", b"client_encoding\0LATIN1\0") + frame(b"K", b"12345678") + frame(b"Z", b"I")
)


def _checked(value: bytes | None) -> bytes:
    """What the shadow says of the role."""
    row = frame(b"D", b"\0\1\0\0\0\1" + value) if value else b""
    return frame(b"T", b"described") + row + frame(b"C", b"SELECT 1\0") + frame(b"Z", b"I")


def _machine(user: str = "alice") -> Authentication:
    packet = startup_packet([("user", user), ("database", "shop")])
    return Authentication(Connect(user, "shop", packet, True), "shop")


_WHOLE = _SASL + _LOGIN + _checked(b"t") + b"left over"


@given(st.lists(st.integers(0, len(_WHOLE)), max_size=6))
def test_a_login_may_come_in_pieces(cuts: list[int]) -> None:
    machine = _machine()
    edges = sorted({0, len(_WHOLE), *cuts})
    passed, is_ready, after, asked = b"", False, b"", b""
    for start, end in itertools.pairwise(edges):
        if is_ready:
            after += _WHOLE[start:end]
            continue
        step = machine.from_shadow(_WHOLE[start:end])
        passed += step.to_client
        asked += step.to_shadow
        is_ready = step.ready
    assert is_ready
    assert passed == _SASL + _LOGIN
    assert asked.count(b"dp_analyst") == 1
    assert machine.left_over()[1] + after == b"left over"
    assert (machine.cancel_key, machine.client_encoding) == (b"12345678", b"LATIN1")


@pytest.mark.parametrize("said", [b"f", None])
def test_who_is_no_analyst_is_refused_as_with_a_wrong_password(said: bytes | None) -> None:
    machine = _machine()
    assert machine.from_shadow(_SASL + _LOGIN).to_client == _SASL  # nothing of the session yet
    step = machine.from_shadow(_checked(said))
    assert (step.wrong_password, step.ready) == (True, False)
    assert b'password authentication failed for user "alice"' in step.to_client
    assert b"12345678" not in step.to_client


_TIMED_OUT = frame(
    b"E", b"SERROR\0VERROR\0C57014\0Mcanceling statement due to statement timeout\0\0"
) + frame(b"Z", b"I")


def test_a_check_that_the_clients_own_timeout_has_ended_is_made_again() -> None:
    machine = _machine()
    machine.from_shadow(_SASL + _LOGIN)
    for _ in range(3):
        step = machine.from_shadow(_TIMED_OUT)
        assert (step.to_client, step.ready, step.close) == (b"", False, False)
        assert b"dp_analyst" in step.to_shadow
    step = machine.from_shadow(_checked(b"t"))
    assert (step.to_client, step.ready) == (_LOGIN, True)


def test_a_check_that_never_ends_lets_nobody_in() -> None:
    machine = _machine()
    machine.from_shadow(_SASL + _LOGIN)
    for _ in range(1000):
        step = machine.from_shadow(_TIMED_OUT)
        if step.close:
            break
    assert step.close and not step.ready
    assert b"SFATAL" in step.to_client
    assert b"12345678" not in step.to_client, "nothing of the session"


def test_an_error_of_the_check_is_no_session() -> None:
    machine = _machine()
    machine.from_shadow(_SASL + _LOGIN)
    error = frame(b"E", b"SFATAL\0VFATAL\0C57P05\0Mterminating connection\0\0")
    step = machine.from_shadow(error)
    assert (step.to_client, step.close, step.ready) == (error, True, False)


@pytest.mark.parametrize("name", ["postgres", "pg_monitor", "eve\nforged", "x\u2028y"])
def test_names_of_nobody_are_not_tried(name: str) -> None:
    machine = _machine(name)
    assert name.encode() not in machine.startup_packet

    error = b'SFATAL\0C28P01\0Mpassword authentication failed for user "%s"\0\0'
    user = next(
        value
        for key, value in itertools.pairwise(machine.startup_packet[8:].split(b"\0"))
        if key == b"user"
    )
    step = machine.from_shadow(frame(b"E", error % user))
    assert step.wrong_password
    assert step.to_client == frame(b"E", error % name.encode())
    assert _machine(name).startup_packet == machine.startup_packet  # or its salt would tell
    with pytest.raises(ProtocolError):
        _machine(name).from_shadow(_OK)


@given(st.binary(max_size=40))
def test_random_bytes_during_authentication(data: bytes) -> None:
    machine = _machine()
    step = machine.from_client(data)
    assert data.startswith(step.to_shadow)
    with contextlib.suppress(ProtocolError):  # no other error
        machine.from_shadow(data)
