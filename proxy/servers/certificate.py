"""The certificate of both listeners."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def server_context(certificate: Path, key: Path, alpn: str) -> ssl.SSLContext:
    """
    Given    certificate and key in PEM; alpn: the protocol that is spoken inside, if it has a name
    Refuses  OSError and ssl.SSLError for files that are not there, or no certificate with its key
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    if alpn:
        context.set_alpn_protocols([alpn])
    return context


def renew_certificate(contexts: Iterable[ssl.SSLContext], certificate: Path, key: Path) -> None:
    """Who connects from now on is shown this one.

    Refuses  as server_context; then all stay as they were
    """
    server_context(certificate, key, "")  # they fit each other
    for context in contexts:
        context.load_cert_chain(certificate, key)


def request_certificates(context: ssl.SSLContext, authority: Path) -> None:
    """
    Given    a server's context; authority: certificates, in PEM
    Gives    a client may show a certificate; one that none of these has signed, or that is not valid now, ends
             the handshake. No session is resumed: a certificate would not be looked at again

    Refuses  OSError and ssl.SSLError for a file that is not there, or holds none
    """
    context.load_verify_locations(authority)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0


# TLS on bytes, without a socket: the same for SSLRequest and for a client that begins with it.
#
# asyncio's own upgrade (start_tls) cannot be given the bytes of a direct handshake that were read
# already; ssl.MemoryBIO can.

# must be negotiated on a direct connection (PostgreSQL 17 documentation, section 55.2.11, ALPACA attack)
ALPN = "postgresql"


class TlsError(Exception):
    """The handshake or a record failed. alert: what tells the client why, e.g. of its certificate."""

    def __init__(self, reason: str, alert: bytes = b"") -> None:
        super().__init__(reason)
        self.alert = alert


class TlsLayer:
    def __init__(self, context: ssl.SSLContext, needs_alpn: bool) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._needs_alpn = needs_alpn
        self.is_established = False

    def received(self, data: bytes) -> tuple[bytes, bytes]:
        """(plain bytes of the client, bytes to send to it). Refuses (TlsError) a broken stream."""
        self._incoming.write(data)
        plain: list[bytes] = []
        try:
            if not self.is_established:
                self._tls.do_handshake()
                self.is_established = True
                if self._needs_alpn and self._tls.selected_alpn_protocol() != ALPN:
                    raise TlsError("direct TLS without ALPN")
            while chunk := self._tls.read(256 * 1024):
                plain.append(chunk)
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass  # more is to come; or close_notify, and the end of the connection follows
        except ssl.SSLError as error:
            raise TlsError(error.reason or "TLS failure", self._outgoing.read()) from None
        return b"".join(plain), self._outgoing.read()

    @property
    def peer(self) -> Mapping[str, Any] | None:
        """What the client's certificate says, if it has shown one; verified, or there were no session."""
        return self._tls.getpeercert() if self.is_established else None

    def sent(self, plain: bytes) -> bytes:
        """The bytes that carry `plain`. Only after the handshake."""
        self._tls.write(plain)
        return self._outgoing.read()

    def closed(self) -> bytes:
        """The close_notify, so that the client can tell an end from a cut."""
        if not self.is_established:
            return b""
        with contextlib.suppress(ssl.SSLError):  # it waits for the client's, which need not come
            self._tls.unwrap()
        return self._outgoing.read()
