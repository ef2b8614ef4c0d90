"""The certificate of both listeners."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from pathlib import Path


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
