"""From a client's first byte to its StartupMessage, a balancer's header before it included. No I/O.

TLS requests, cancel requests, the StartupMessage with its allow-list (PostgreSQL 17 documentation, section
55.2.1). The protocol's version
is negotiated by the shadow.
"""

from __future__ import annotations

import ipaddress
import struct
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from proxy.base.errors import Code
from proxy.base.limits import IDENTIFIER_BYTES
from proxy.pgwire.frames import U32, Cursor, ProtocolError, fatal

STARTUP_BYTES = 10_000  # MAX_STARTUP_PACKET_LENGTH of PostgreSQL

_SSL_REQUEST, _GSSENC_REQUEST, _CANCEL_REQUEST = 80877103, 80877104, 80877102
_TLS_HANDSHAKE = 0x16
_CANCEL_KEY_BYTES = 256  # protocol 3.2 allows long keys; 3.0 has 4


@dataclass(frozen=True, slots=True)
class StartTls:
    """Answer with `to_client` (nothing, if the client began by itself), then a TLS handshake."""

    to_client: bytes
    direct: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    key: bytes  # process and secret
    packet: bytes


@dataclass(frozen=True, slots=True)
class Connect:
    """Open the shadow's connection and send it `packet`."""

    user: str
    database: str
    packet: bytes
    database_is_served: bool


@dataclass(frozen=True, slots=True)
class StartupReply:
    to_client: bytes
    close: bool


Opening = StartTls | Cancel | Connect | StartupReply | None


class Startup:
    """Before the shadow is there. After a Connect or Cancel it has done its work."""

    def __init__(
        self,
        databases: Collection[str],
        has_tls: bool,
        *,
        requires_tls: bool = False,
        host: str = "",
    ) -> None:
        """requires_tls: sessions in plain text are refused. host: the client's, for the message."""
        self._databases = databases
        self._has_tls = has_tls
        self._requires_tls = requires_tls
        self._host = host
        self._is_encrypted = False
        self._requested: set[int] = set()
        self._buffer = bytearray()

    def encrypted(self) -> None:
        self._is_encrypted = True

    def from_client(self, data: bytes) -> Opening:
        """One step; None where more bytes are needed. Requests are never pipelined: a client waits
        for each answer, and whatever came along unencrypted is an attack (CVE-2021-23214)."""
        buffer = self._buffer
        buffer += data
        if (
            buffer[:1] == bytes([_TLS_HANDSHAKE])
            and self._has_tls
            and not self._is_encrypted
            and not self._requested
        ):
            buffer.clear()
            return StartTls(b"", direct=True)
        if len(buffer) < 8:
            # PostgreSQL, too, closes without a word on what is no start-up packet.
            hopeless = len(buffer) >= 4 and not 8 <= U32.unpack_from(buffer)[0] <= STARTUP_BYTES
            return StartupReply(b"", close=True) if hopeless else None
        length, code = U32.unpack_from(buffer)[0], U32.unpack_from(buffer, 4)[0]
        if not 8 <= length <= STARTUP_BYTES:
            return StartupReply(b"", close=True)
        if len(buffer) < length:
            return None
        packet, stuffed = bytes(buffer[:length]), len(buffer) > length
        buffer.clear()
        if stuffed:
            return StartupReply(
                fatal("08P01", "received unencrypted data after request"), close=True
            )
        match code:
            case 80877103 | 80877104:  # SSLRequest, GSSENCRequest
                return self._encryption(code, length)
            case 80877102:
                if not 12 < length <= 12 + _CANCEL_KEY_BYTES:
                    return StartupReply(b"", close=True)
                return Cancel(packet[8:], packet)
        return self._startup(packet, code)

    def _encryption(self, code: int, length: int) -> Opening:
        if length != 8 or self._is_encrypted or code in self._requested:
            return StartupReply(
                fatal("08P01", f"unsupported frontend protocol {code >> 16}.{code & 0xFFFF}"), True
            )
        self._requested.add(code)
        if code == _SSL_REQUEST and self._has_tls:
            return StartTls(b"S", direct=False)
        return StartupReply(b"N", close=False)

    def _startup(self, packet: bytes, code: int) -> Opening:
        if code >> 16 != 3:
            version = f"{code >> 16}.{code & 0xFFFF}"
            text = f"unsupported frontend protocol {version}: server supports 3.0"
            return StartupReply(fatal("0A000", text), close=True)
        try:
            parameters = _parameters(packet)
        except (ProtocolError, UnicodeDecodeError):
            return _refuse(
                "08P01", "invalid startup packet layout: expected terminator as last byte"
            )
        user = parameters.get("user", "")
        if not user:
            return _refuse("28000", "no PostgreSQL user name specified in startup packet")
        if len(user.encode()) > IDENTIFIER_BYTES:
            # PostgreSQL would cut the name and let the shorter one in; the ledger goes by this one.
            return _refuse("28000", "the user name is too long")
        if "replication" in parameters:
            return _refuse(Code.UNSUPPORTED.sqlstate, "replication connections are not supported")
        for name in parameters:
            if (trouble := refused_setting(name)) is not None:
                return _refuse(*trouble)
        if (trouble := refused_option(parameters.get("options", ""))) is not None:
            return _refuse(*trouble)
        # As in PostgreSQL, the database's name defaults to the user's.
        database = parameters.get("database") or user
        if self._requires_tls and not self._is_encrypted:
            # As PostgreSQL's hostssl; libpq's sslmode=allow then tries again with TLS.
            text = (
                f'no pg_hba.conf entry for host "{self._host}", user "{user}",'
                f' database "{database}", no encryption'
            )
            return _refuse("28000", text)
        return Connect(user, database, packet, database in self._databases)


def _refuse(sqlstate: str, message: str, hint: str = "") -> StartupReply:
    return StartupReply(fatal(sqlstate, message, hint), close=True)


def _parameters(packet: bytes) -> dict[str, str]:
    at = Cursor(packet)
    at.take(8)
    parameters: dict[str, str] = {}
    while name := at.string().decode():
        if name in parameters:
            # Which one counts, differs between readers; nobody sends two.
            raise ProtocolError("a startup parameter is given twice")
        parameters[name] = at.string().decode()
    at.end()
    return parameters


def with_parameters(packet: bytes, **changed: str) -> bytes:
    """The StartupMessage with another database or user in it."""
    parameters = _parameters(packet) | changed
    body = b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items()) + b"\0"
    return U32.pack(len(body) + 8) + packet[4:8] + body


# Which settings a StartupMessage may bring: an allow-list of names (PostgreSQL manual, chapter 20).
#
# What is on it, a session could SET anyway. It keeps out what acts on the connection or on the server's
# process (replication, command-line switches of `postgres`), and names that nobody sends. A name with a dot
# is a setting of the client's own (section 20.16, "Customized Options"): the shadow says what is wrong with
# it. Only those of dpproxy itself, dp.*, are on the list.


_CONNECTION = frozenset({"user", "database", "options"})

SETTINGS = frozenset(
    {
        "application_name",
        "bytea_output",
        "client_encoding",
        "client_min_messages",
        "cursor_tuple_fraction",
        "datestyle",
        "default_transaction_deferrable",
        "default_transaction_isolation",
        "default_transaction_read_only",
        "enable_seqscan",
        "extra_float_digits",
        "from_collapse_limit",
        "geqo",
        "idle_in_transaction_session_timeout",
        "idle_session_timeout",
        "intervalstyle",
        "jit",
        "join_collapse_limit",
        "lc_monetary",
        "lc_numeric",
        "lc_time",
        "lock_timeout",
        "plan_cache_mode",
        "search_path",
        "standard_conforming_strings",
        "statement_timeout",
        "tcp_keepalives_count",
        "tcp_keepalives_idle",
        "tcp_keepalives_interval",
        "tcp_user_timeout",
        "timezone",
        "transaction_isolation",
        "transaction_read_only",
        "work_mem",
        "dp.delta",
        "dp.epsilon",
        "dp.fresh",
        "dp.published",
        "dp.notice",
        "dp.round",
        "dp.trial",
        "dp.mechanism",
        "dp.accept_error",
        "dp.previews",
    }
)

Trouble = tuple[str, str] | tuple[str, str, str]  # SQLSTATE, message and perhaps a hint

_OWN = "dp."
_LATER = "A session begins with few settings. Others are changed once it is connected."


def refused_setting(name: str) -> Trouble | None:
    """
    >>> refused_setting("DateStyle")
    >>> refused_setting("my.thing")
    >>> refused_setting("dp.secret")
    ('42704', 'unrecognized configuration parameter "dp.secret"')
    """
    # _pq_. names are options of the protocol itself, negotiated by the server (PostgreSQL 17 documentation,
    # section 55.2.1).
    return None if name in _CONNECTION or name.startswith("_pq_.") else _unknown(name)


def _unknown(name: str) -> Trouble | None:
    folded = name.lower()
    is_own = folded.startswith(_OWN)
    if folded in SETTINGS or ("." in name and not is_own):
        return None
    trouble = "42704", f'unrecognized configuration parameter "{name}"'
    return trouble if is_own else (*trouble, _LATER)


def refused_option(options: str) -> Trouble | None:
    r"""`options`: switches of a postgres command line, of which -c NAME=VALUE and --NAME=VALUE pass.

    >>> refused_option("-c search_path=shop -cjit=off --dp.epsilon=0.5 --my.thing=1")
    >>> refused_option("-d 5")
    ('42601', 'invalid command-line argument for server process: -d')
    >>> refused_option("--my.thing")
    ('42601', '--my.thing requires a value')
    """
    words = deque(_words(options))
    while words:
        word = words.popleft()
        if word == "-c" and words:
            switch, assignment = "-c ", words.popleft()
        elif word.startswith("--"):
            switch, assignment = "--", word[2:]
        elif word.startswith("-c"):
            switch, assignment = "-c ", word[2:]
        else:
            return "42601", f"invalid command-line argument for server process: {word}"
        name, equals, _ = assignment.partition("=")
        if not equals or not name:
            return "42601", f"{switch}{assignment} requires a value"
        # PostgreSQL reads dashes in a name as underscores (ParseLongOption).
        if (trouble := _unknown(name.replace("-", "_"))) is not None:
            return trouble
    return None


def _words(options: str) -> list[str]:
    """As pg_split_opts does: white space separates, a backslash keeps the next character."""
    words: list[str] = []
    word: list[str] = []
    in_word = False
    characters = iter(options)
    for character in characters:
        if character.isspace():
            if in_word:
                words.append("".join(word))
                word, in_word = [], False
            continue
        in_word = True
        word.append(next(characters, "") if character == "\\" else character)
    if in_word:
        words.append("".join(word))
    return words


# The header by which a balancer says whose connection it passes on: the PROXY protocol, version 2, before the
# first byte of the client.
#
# Source: https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.2. Stricter than that: what names no
# TCP address is refused, but for LOCAL, by which the balancer speaks for itself.

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
MOST_BYTES = 4096  # of a header with all that follows its addresses
_START = struct.Struct("!12sBBH")
_LOCAL, _PROXY = 0x20, 0x21  # version 2, and the command
_ADDRESS_BYTES = {0x11: 4, 0x21: 16}  # TCP over IPv4 and over IPv6
_PORTS = 4


class HeaderRefused(Exception):
    """It is none, or names no client. The text has nothing of what came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyHeader:
    """client: the address that it names. None: the balancer's own connection. octets: how long it is."""

    client: str | None
    octets: int


def read_header(data: bytes) -> ProxyHeader | None:
    """
    >>> start = SIGNATURE + bytes([0x21, 0x11, 0, 12])
    >>> read_header(start + bytes([192, 0, 2, 7, 10, 0, 0, 1, 0x9C, 0x40, 0x19, 0x20]) + b"more")
    ProxyHeader(client='192.0.2.7', octets=28)

    Gives    None where more bytes are needed
    Refuses  HeaderRefused, as soon as no more bytes could make it one
    """
    if not SIGNATURE.startswith(data[: len(SIGNATURE)]):
        is_first_version = data.startswith(b"PROXY"[: len(data)])
        raise HeaderRefused("it is of version 1" if is_first_version else "there is none")
    if len(data) < _START.size:
        return None
    _, command, family, length = _START.unpack_from(data)
    if command not in (_LOCAL, _PROXY):
        raise HeaderRefused("its version or command is unknown")
    octets = _START.size + length
    if octets > MOST_BYTES:
        raise HeaderRefused("it is too long")
    if command == _LOCAL:  # "must discard the protocol block including the family"
        return None if len(data) < octets else ProxyHeader(client=None, octets=octets)
    width = _ADDRESS_BYTES.get(family)
    if width is None:
        raise HeaderRefused("it is not of TCP over IPv4 or IPv6")
    if length < 2 * width + _PORTS:
        raise HeaderRefused("it is too short for its addresses")
    if len(data) < octets:
        return None
    _check_rest(data[_START.size + 2 * width + _PORTS : octets])
    client = ipaddress.ip_address(data[_START.size : _START.size + width])
    if client.is_unspecified or client.is_multicast:
        raise HeaderRefused("it names no address of a client")
    return ProxyHeader(client=str(client), octets=octets)


def _check_rest(rest: bytes) -> None:
    """Vectors of type, length, value, which nothing here needs. They have to end where the header does."""
    while rest:
        if len(rest) < 3:
            raise HeaderRefused("what follows its addresses is malformed")
        length = int.from_bytes(rest[1:3], "big")
        if len(rest) < 3 + length:
            raise HeaderRefused("what follows its addresses is malformed")
        rest = rest[3 + length :]
