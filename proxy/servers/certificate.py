"""The certificate of both listeners."""

from __future__ import annotations

import ssl
from pathlib import Path


def server_context(certificate: Path, key: Path, alpn: str) -> ssl.SSLContext:
    """
    Given    certificate and key in PEM; alpn: the protocol that is spoken inside
    Refuses  OSError and ssl.SSLError for files that are not there, or no certificate with its key
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols([alpn])
    return context
