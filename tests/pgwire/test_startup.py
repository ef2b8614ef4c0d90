"""Before the shadow is there: every packet has one outcome, however it is cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.pgwire.frames import U32
from proxy.pgwire.startup import (
    Cancel,
    Connect,
    Opening,
    StartTls,
    Startup,
    StartupReply,
    refused_option,
    refused_setting,
    with_parameters,
)

SSL_REQUEST = U32.pack(8) + U32.pack(80877103)


def startup_packet(pairs: list[tuple[str, str]]) -> bytes:
    body = b"".join(f"{name}\0{value}\0".encode() for name, value in pairs) + b"\0"
    return U32.pack(len(body) + 8) + U32.pack(196608) + body


PACKET = startup_packet([("user", "alice"), ("database", "shop"), ("application_name", "psql")])


def feed(packet: bytes, cuts: list[int], has_tls: bool = False) -> Opening:
    machine = Startup({"shop"}, has_tls)
    edges = sorted({0, len(packet), *(cut % (len(packet) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        outcome = machine.from_client(packet[start:end])
        if outcome is not None:
            return outcome
    return None


@given(st.lists(st.integers(0, 200), max_size=5))
def test_a_startup_message_may_come_in_pieces(cuts: list[int]) -> None:
    assert feed(PACKET, cuts) == Connect("alice", "shop", PACKET, True)


@given(st.binary(max_size=80), st.booleans())
def test_random_bytes_never_raise(packet: bytes, has_tls: bool) -> None:
    outcome = feed(packet, [3, 17], has_tls)
    assert outcome is None or isinstance(outcome, StartupReply | StartTls | Cancel | Connect)


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=4))
def test_only_allowed_parameters_connect(pairs: list[tuple[str, str]]) -> None:
    packet = startup_packet([("user", "alice"), *pairs])
    outcome = feed(packet, [])
    if isinstance(outcome, Connect):
        assert outcome.user == "alice"
        read = [name for name, _ in pairs]
        if "" not in read and not any("\0" in name + value for name, value in pairs):
            assert all(refused_setting(name) is None for name in read)


def test_tls_requests() -> None:
    machine = Startup({"shop"}, has_tls=True)
    assert machine.from_client(SSL_REQUEST) == StartTls(b"S", direct=False)
    machine.encrypted()
    assert isinstance(machine.from_client(SSL_REQUEST), StartupReply)
    assert Startup({"shop"}, True).from_client(b"\x16") == StartTls(b"", direct=True)
    plain = Startup({"shop"}, has_tls=False)
    assert plain.from_client(SSL_REQUEST) == StartupReply(b"N", close=False)
    assert isinstance(plain.from_client(PACKET), Connect)


def test_an_unserved_database_is_noted_and_the_default_is_the_user() -> None:
    assert feed(startup_packet([("user", "shop")]), []) == Connect(
        "shop", "shop", startup_packet([("user", "shop")]), True
    )
    other = startup_packet([("user", "alice"), ("database", "other")])
    outcome = feed(other, [])
    assert isinstance(outcome, Connect)
    assert not outcome.database_is_served
    assert with_parameters(other, database="shop") == startup_packet(
        [("user", "alice"), ("database", "shop")]
    )


def test_a_parameter_given_twice_is_refused() -> None:
    outcome = feed(startup_packet([("user", "alice"), ("user", "admin")]), [])
    assert isinstance(outcome, StartupReply)
    assert outcome.close


@pytest.mark.parametrize(
    ("options", "is_fine"),
    [
        ("", True),
        ("-c search_path=a,b", True),
        ("-csearch_path=a --statement-timeout=5", True),
        (r"-c search_path=a\ -d", True),
        ("-c dp.epsilon=1", True),
        ("-c dp.secret=1", False),
        ("-c DP.Secret=1", False),
        ("-c dp.secret.more=1", False),
        ("--my.thing=1 -c my-own.thing=2 -c search-path=shop", True),
        (r"-c my.thing=a\ b\\\\c --other.thing='x'", True),
        ("--my.thing", False),
        ("-c", False),
        ("-c=", False),
        ("-c x", False),
        ("--role=postgres", False),
        ("-d 5", False),
        ("-i", False),
        ("-c session_preload_libraries=x", False),
        ("search_path=a", False),
    ],
)
def test_options(options: str, is_fine: bool) -> None:
    assert (refused_option(options) is None) is is_fine


@given(st.text(max_size=40))
def test_random_options_never_raise(options: str) -> None:
    refused_option(options)
