"""dpproxy's own login at the shadow: SCRAM from the client's side, and that nothing of it reaches a client."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from proxy.pgwire.authentication import Authentication, InnerLogin, ScramClient
from proxy.pgwire.frames import ProtocolError, frame
from proxy.pgwire.startup import Connect
from proxy.shadow.analyst_sessions import InnerLogins
from tests.pgwire.test_startup import startup_packet

_SASL = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"
_CONTINUE, _FINAL, _OK = b"\0\0\0\x0b", b"\0\0\0\x0c", b"\0\0\0\0"
_NONCE, _SALT = "fyko+d2lbbFgONRv9qkxdawL", b"0123456789abcdef"
_CHALLENGE = b"r=" + _NONCE.encode() + b"server,s=" + base64.b64encode(_SALT) + b",i=7"


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


class Server:
    """As RFC 5802, section 3, says it, from the verifier alone."""

    def __init__(self, verifier: str) -> None:
        _, parameters, keys = verifier.split("$")
        self.iterations, self.salt = parameters.split(":")
        self.stored, self.server = (base64.b64decode(key) for key in keys.split(":"))
        self.first = b""

    def challenge(self, answer: bytes) -> bytes:
        self.first = answer.partition(b"n,,")[2]
        nonce = self.first.partition(b"r=")[2].decode()
        self.challenged = f"r={nonce}more,s={self.salt},i={self.iterations}".encode()
        return _CONTINUE + self.challenged

    def final(self, answer: bytes) -> bytes:
        without, _, proof = answer[5:].partition(b",p=")
        message = b",".join((self.first, self.challenged, without))
        signature = _mac(self.stored, message)
        key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        assert hashlib.sha256(key).digest() == self.stored, "not this password"
        return _FINAL + b"v=" + base64.b64encode(_mac(self.server, message))


def test_a_login_by_the_verifier_that_is_made_for_it() -> None:
    logins = InnerLogins("")
    assert logins.verifier("ann") == logins.verifier("ann") != logins.verifier("bob")
    assert logins.password("ann") not in repr(logins) + logins.verifier("ann")
    server, client = Server(logins.verifier("ann")), ScramClient(logins.password("ann"), _NONCE)
    first = client.answer(_SASL)
    assert first.startswith(b"p") and b"SCRAM-SHA-256\0" in first
    final = server.final(client.answer(server.challenge(first)))
    assert (client.answer(final), client.is_complete) == (b"", True)
    assert InnerLogins("").password("ann") != logins.password("ann"), "of this process"


@pytest.mark.parametrize(
    "challenge",
    [
        b"",
        b"r=another,s=AAAA,i=7",
        b"r=" + _NONCE.encode() + b",s=AAAA,i=7",
        _CHALLENGE.replace(b"i=7", b"i=0"),
        _CHALLENGE.replace(b"i=7", b"i=100000"),
        _CHALLENGE + b",x=1",
        b"m=1," + _CHALLENGE,
    ],
)
def test_challenges_that_are_none(challenge: bytes) -> None:
    client = ScramClient("secret", _NONCE)
    client.answer(_SASL)
    with pytest.raises(ProtocolError):
        client.answer(_CONTINUE + challenge)


@pytest.mark.parametrize(
    "requests",
    [
        [b"\0\0\0\3"],  # in clear text
        [b"\0\0\0\5salt"],  # MD5
        [b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0"],
        [_FINAL + b"v=AAAA"],
        [_SASL, _CONTINUE + _CHALLENGE, _FINAL + b"v=" + base64.b64encode(b"\0" * 32)],
        [_SASL, _CONTINUE + _CHALLENGE, _FINAL + b"e=other-error"],
        [_SASL, _CONTINUE + _CHALLENGE, _CONTINUE + _CHALLENGE],
        [_SASL, _CONTINUE + _CHALLENGE, _SASL],
    ],
)
def test_a_server_that_is_not_the_one(requests: list[bytes]) -> None:
    client = ScramClient("secret", _NONCE)
    for request in requests[:-1]:
        client.answer(request)
    with pytest.raises(ProtocolError):
        client.answer(requests[-1])
    assert not client.is_complete


def _machine(user: str = "ann", role: str = "dp_inner_1") -> Authentication:
    packet = startup_packet([("user", user), ("database", "shop")])
    inner = InnerLogin(role, "secret", _NONCE)
    assert "secret" not in repr(inner)
    return Authentication(Connect(user, "shop", packet, True), "shop", inner)


def test_what_the_client_sends_meanwhile_waits_and_it_is_asked_nothing() -> None:
    machine = _machine()
    assert b"dp_inner_1" in machine.startup_packet and b"ann" not in machine.startup_packet
    assert machine.from_client(frame(b"p", b"a password\0")).to_shadow == b""
    step = machine.from_shadow(frame(b"R", _SASL) + frame(b"R", _CONTINUE + _CHALLENGE))
    assert step.to_client == b"" and step.to_shadow.count(b"p=") == 1
    assert not step.awaits_client and b"secret" not in step.to_shadow
    assert machine.left_over()[0].startswith(b"p")


@pytest.mark.parametrize("before", [b"", frame(b"R", _SASL)])
def test_a_server_that_lets_in_without_proof_is_not_believed(before: bytes) -> None:
    with pytest.raises(ProtocolError, match="has not shown"):
        _machine().from_shadow(before + frame(b"R", _OK))


def test_a_refusal_names_the_client_and_not_the_role() -> None:
    text = b'SFATAL\0C28P01\0Mpassword authentication failed for user "dp_inner_1"\0\0'
    step = _machine().from_shadow(frame(b"R", _SASL) + frame(b"E", text))
    assert step.wrong_password
    assert b'user "ann"' in step.to_client and b"dp_inner_1" not in step.to_client


def test_a_name_that_is_no_analysts_is_let_in_by_nothing() -> None:
    machine = _machine(user="dp_inner_1")
    assert b"no role" in machine.startup_packet and b"dp_inner_1" not in machine.startup_packet
