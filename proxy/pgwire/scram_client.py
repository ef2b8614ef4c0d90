"""The client's side of SCRAM-SHA-256 (RFC 5802, 7677), for logins of dpproxy's own at the shadow. No I/O."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from proxy.pgwire.frames import U32, ProtocolError, frame

_MECHANISM = b"SCRAM-SHA-256"
_SASL, _CONTINUE, _FINAL = (number.to_bytes(4, "big") for number in (10, 11, 12))
_CHALLENGE = re.compile(rb"r=([!-+\--~]+),s=([A-Za-z0-9+/=]+),i=([1-9][0-9]{0,4})")
_BARE = b"n=,r="  # PostgreSQL takes the name from the startup packet


class ScramClient:
    """
    Given    the password; nonce: printable, random, without a comma
    Gives    `answer`: the message to send to each authentication request but the last
    """

    def __init__(self, password: str, nonce: str) -> None:
        self._password = password.encode()
        self._nonce = nonce.encode()
        self._expected: bytes | None = None
        self.is_complete = False

    def __repr__(self) -> str:
        return "ScramClient()"

    def answer(self, request: bytes) -> bytes:
        """
        Given    the payload of an authentication request
        Refuses  ProtocolError: another method, or a server that does not know the password's verifier
        """
        kind, body = request[:4], request[4:]
        if kind == _SASL and self._expected is None:
            if _MECHANISM not in body.split(b"\0"):
                raise ProtocolError("the server does not offer SCRAM")
            first = b"n,," + _BARE + self._nonce
            return frame(b"p", _MECHANISM + b"\0" + U32.pack(len(first)) + first)
        if kind == _CONTINUE and self._expected is None:
            return frame(b"p", self._final(body))
        if kind == _FINAL and self._expected is not None:
            if not hmac.compare_digest(body, b"v=" + self._expected):
                raise ProtocolError("the server does not know the password")
            self.is_complete = True
            return b""
        raise ProtocolError("the server asks for something else than SCRAM")

    def _final(self, challenge: bytes) -> bytes:
        found = _CHALLENGE.fullmatch(challenge)
        if found is None or not found[1].startswith(self._nonce) or found[1] == self._nonce:
            raise ProtocolError("the server's challenge is none of SCRAM")
        salted = hashlib.pbkdf2_hmac(
            "sha256", self._password, base64.b64decode(found[2]), int(found[3])
        )
        without_proof = b"c=biws,r=" + found[1]  # "n,,": no channel binding on a local socket
        message = b",".join((_BARE + self._nonce, challenge, without_proof))
        key = _mac(salted, b"Client Key")
        signature = _mac(hashlib.sha256(key).digest(), message)
        proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
        self._expected = base64.b64encode(_mac(_mac(salted, b"Server Key"), message))
        return without_proof + b",p=" + base64.b64encode(proof)


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()
