"""The shadow's authentication, relayed (PostgreSQL 17 documentation, section 55.2.1), and who comes out of
it. No I/O."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass

from proxy.base.role_names import stand_in
from proxy.pgwire.frames import SMALLEST_LENGTH, U32, ProtocolError, fatal, frame, query
from proxy.pgwire.startup import Connect, with_parameters

PASSWORD_BYTES = 10_000  # a SCRAM message has at most 1,024 (PG_MAX_SASL_MESSAGE_LENGTH)

_AUTHENTICATION, _BACKEND_KEY, _STATUS, _READY, _ERROR, _ROW, _NOTICE = b"RKSZEDN"
_OK, _SASL_FINAL = b"\0\0\0\0", b"\0\0\0\x0c"
_INVALID_AUTHORIZATION = b"28"  # class of SQLSTATE
_TRUE = b"\0\1\0\0\0\1t"  # of a DataRow

_TIMED_OUT = b"57014"
# The check runs under the client's own statement_timeout, which may be a millisecond. What it has read of the
# catalogue the backend keeps, so the next one is faster: about 0.2 ms.
_CHECKS_MAX = 100

# PostgreSQL lets in whoever has a password, also a role that an operator has made for another purpose.
_IS_ANALYST = query(
    b"SELECT NOT r.rolsuper AND pg_catalog.pg_has_role(r.oid, g.oid, 'MEMBER')"
    b" FROM pg_catalog.pg_roles r, pg_catalog.pg_roles g"
    b" WHERE r.rolname OPERATOR(pg_catalog.=) session_user"
    b" AND g.rolname OPERATOR(pg_catalog.=) 'dp_analyst'"
)


@dataclass(frozen=True, slots=True)
class InnerLogin:
    """Of a client whom dpproxy has let in itself: the role and password with which it logs in for them; nonce:
    random, for SCRAM."""

    role: str
    password: str
    nonce: str

    def __repr__(self) -> str:
        return f"InnerLogin({self.role})"


@dataclass(slots=True)
class Step:
    """
    awaits_client: it is the client's turn to say something
    wrong_password: `to_client` is the refusal, and is to be kept back for a while
    close: after the bytes were sent
    ready: the first ReadyForQuery has passed: the Relay takes over
    """

    to_client: bytes = b""
    to_shadow: bytes = b""
    awaits_client: bool = False
    wrong_password: bool = False
    close: bool = False
    ready: bool = False


class Authentication:
    """
    The shadow authenticates; the proxy watches. What it sends from AuthenticationOk on is held back until the
    shadow has said that the role is an analyst: any other is refused as with a wrong password.

    A database that is not served is refused after authentication, as PostgreSQL does, so that nobody
    learns without a password which databases there are.

    A client whom dpproxy has let in itself is asked for nothing: it answers the shadow in their place.
    """

    def __init__(
        self, connect: Connect, any_database: str, inner: InnerLogin | None = None
    ) -> None:
        """any_database: one that is served. Any shadow can tell whether the password is right."""
        self._connect = connect
        self._stand_in = stand_in(connect.user)
        self._inner = None if inner is None else ScramClient(inner.password, inner.nonce)
        changed = {} if connect.database_is_served else {"database": any_database}
        self._role = self._stand_in if self._stand_in or inner is None else inner.role
        if self._role is not None:
            changed["user"] = self._role
        self.startup_packet = (
            with_parameters(connect.packet, **changed) if changed else connect.packet
        )
        self._client = bytearray()
        self._shadow = bytearray()
        self._held = bytearray()
        self._checks = 0
        self._has_timed_out = False
        self._is_analyst = False
        self.is_authenticated = False
        self.cancel_key: bytes | None = None
        self.client_encoding = b"UTF8"

    def from_client(self, data: bytes) -> Step:
        """Only password messages; what comes after AuthenticationOk waits for the Relay."""
        buffer = self._client
        buffer += data
        if len(buffer) > PASSWORD_BYTES + 5:
            return Step(fatal("08P01", "message during authentication is too long"), close=True)
        passed = 0
        # Nobody is asked where dpproxy answers: what comes is the Relay's.
        while self._inner is None and not self.is_authenticated and len(buffer) - passed >= 5:
            length = U32.unpack_from(buffer, passed + 1)[0]
            if buffer[passed : passed + 1] != b"p" or not (
                SMALLEST_LENGTH <= length <= PASSWORD_BYTES
            ):
                text = f"expected password response, got message type {buffer[passed]}"
                return Step(fatal("08P01", text), close=True)
            if passed + 1 + length > len(buffer):
                break
            passed += 1 + length
        step = Step(to_shadow=bytes(buffer[:passed]))
        del buffer[:passed]
        return step

    def from_shadow(self, data: bytes) -> Step:
        """Refuses (ProtocolError) what cannot be PostgreSQL's."""
        buffer = self._shadow
        buffer += data
        step = Step()
        to_client: list[bytes] = []
        passed = 0
        while not (step.ready or step.close) and len(buffer) - passed >= 5:
            tag = buffer[passed]
            length = U32.unpack_from(buffer, passed + 1)[0]
            if not SMALLEST_LENGTH <= length <= 1 << 20:
                raise ProtocolError("the server sent a frame of impossible length")
            end = passed + 1 + length
            if end > len(buffer):
                break
            whole = bytes(buffer[passed:end])
            passed = end
            to_client.append(self._frame(tag, whole, step))
        del buffer[:passed]
        step.to_client = b"".join(to_client)
        return step

    def _frame(self, tag: int, whole: bytes, step: Step) -> bytes:
        """What the client gets now."""
        payload = whole[5:]
        if not self.is_authenticated:
            if tag == _AUTHENTICATION and payload == _OK:
                if self._stand_in is not None:
                    raise ProtocolError("a role that cannot exist has logged in")
                if self._inner is not None and not self._inner.is_complete:
                    raise ProtocolError("the server has not shown that it knows the password")
                self.is_authenticated = True
                self._held += whole
                if not self._connect.database_is_served:
                    step.close = True
                    text = f'database "{self._connect.database}" does not exist'
                    return whole + fatal("3D000", text)
                return b""
            if tag == _ERROR:
                step.wrong_password = _sqlstate(payload).startswith(_INVALID_AUTHORIZATION)
                return self._in_own_name(whole)
            if tag == _AUTHENTICATION and self._inner is not None:
                step.to_shadow += self._inner.answer(payload)
                return b""
            step.awaits_client = tag == _AUTHENTICATION and payload[:4] != _SASL_FINAL
            return whole
        match tag:
            case 0x4B:  # K, BackendKeyData
                self.cancel_key = payload
            case 0x53:  # S, ParameterStatus
                name, _, value = payload[:-1].partition(b"\0")
                if name == b"client_encoding":
                    self.client_encoding = value
                elif name == b"session_authorization" and self._inner is not None:
                    whole = frame(b"S", name + b"\0" + self._connect.user.encode() + b"\0")
            case 0x45 if self._checks and _sqlstate(payload) == _TIMED_OUT:  # E, ErrorResponse
                self._has_timed_out = True
            case 0x45:
                # Before it is known who that is, nobody gets a session, nor the look of one.
                step.close = True
                return whole if self._checks else bytes(self._held) + whole
            case 0x5A if self._has_timed_out and self._checks == _CHECKS_MAX:  # Z, ReadyForQuery
                step.close = True
                return fatal("57014", "canceling authentication due to statement timeout")
            case 0x5A if not self._checks or self._has_timed_out:
                if not self._checks:
                    self._held += whole
                self._checks += 1
                self._has_timed_out = False
                step.to_shadow += _IS_ANALYST
                return b""
            case 0x5A if self._is_analyst:
                step.ready = True
                return bytes(self._held)
            case 0x5A:
                step.wrong_password = True
                text = f'password authentication failed for user "{self._connect.user}"'
                return fatal("28P01", text)
        if self._checks:
            self._is_analyst |= tag == _ROW and payload == _TRUE
        else:
            self._held += whole
        return b""

    def _in_own_name(self, error: bytes) -> bytes:
        if self._role is None:
            return error
        name = self._connect.user.encode()
        return frame(error[:1], error[5:].replace(self._role.encode(), name))

    def left_over(self) -> tuple[bytes, bytes]:
        """Bytes of the client and of the shadow that already belong to the Relay."""
        return bytes(self._client), bytes(self._shadow)


def _sqlstate(payload: bytes) -> bytes:
    """Of an ErrorResponse."""
    for field in payload.split(b"\0"):
        if field[:1] == b"C":
            return field[1:]
    return b""


# The client's side of SCRAM-SHA-256 (RFC 5802, 7677), for logins of dpproxy's own at the shadow. No I/O.


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
