"""JSON from a URL of the operator's: https but on loopback, so many bytes and seconds, no redirects."""

from __future__ import annotations

import http.client
import ssl
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from proxy.servers.http.guard import is_loopback
from proxy.servers.http.strict_json import NotStrict, read_json

BYTES = 256 * 1024
_SECONDS = 5.0
_PIECE_BYTES = 16 * 1024


class FetchError(RuntimeError):
    """The text is for the operator's log, and holds nothing of what was fetched."""


def check_url(url: str) -> None:
    """Refuses  FetchError: what would be fetched in plain text from another machine"""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise FetchError(f"{url} is no URL") from None
    if parts.username is not None or parts.fragment or not host:
        raise FetchError(f"{url} is no URL of a document")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise FetchError(f"{url} must be https: what it says decides who is let in")


def fetched_json(url: str, authority: Path | None = None) -> Any:
    """
    Given    authority: certificates to trust instead of the system's, in PEM
    Refuses  FetchError
    """
    check_url(url)
    parts = urlsplit(url)
    until = time.monotonic() + _SECONDS
    connection = _connection(parts.scheme, parts.hostname or "", parts.port, authority)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise FetchError(f"status {response.status}")
        body = b""
        while piece := response.read1(_PIECE_BYTES):
            body += piece
            if len(body) > BYTES:
                raise FetchError(f"more than {BYTES} bytes")
            if time.monotonic() > until:
                raise FetchError(f"more than {_SECONDS} seconds")
        return read_json(body)
    except (OSError, http.client.HTTPException, NotStrict) as error:
        raise FetchError(type(error).__name__) from None
    finally:
        connection.close()


def _connection(
    scheme: str, host: str, port: int | None, authority: Path | None
) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        context = ssl.create_default_context(cafile=authority)
    except (OSError, ssl.SSLError):
        raise FetchError("the file of certificates to trust cannot be read") from None
    return http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=context)
