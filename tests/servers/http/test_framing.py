"""Requests that another server could divide differently are refused, and nothing behind them is answered."""

from __future__ import annotations

import base64
import json
import re
import socket
import time
from collections.abc import Iterable

import pytest

from tests.machine_speed import allowed_wait
from tests.servers.http.both_listeners import BothListeners
from tests.servers_fixture import PASSWORD

_BODY = json.dumps({"database": "shop", "sql": "SELECT 7 AS seven"}).encode()
_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_BEHIND = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def _head(analyst: str, *, version: bytes = b"1.1") -> bytes:
    credentials = base64.b64encode(f"{analyst}:{PASSWORD}".encode())
    return (
        b"POST /v1/query HTTP/" + version + b"\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nAuthorization: Basic " + credentials + b"\r\n"
    )


def _chunked(size: bytes, end: bytes = b"\r\n0\r\n\r\n") -> bytes:
    return _CHUNKED + b"\r\n" + size + _BODY + end


def _length(value: bytes) -> bytes:
    return b"Content-Length: " + value + b"\r\n"


_NUMBER = str(len(_BODY)).encode()
_HEX = f"{len(_BODY):x}".encode()
_BROKEN = {
    "bare LF everywhere": (_length(_NUMBER) + b"\r\n" + _BODY, "\n"),
    "version 9.9": (_length(_NUMBER) + b"\r\n" + _BODY, "9.9"),
    "version 2.0": (_length(_NUMBER) + b"\r\n" + _BODY, "2.0"),
    "one bare LF": (_length(_NUMBER) + b"X: a\nY: b\r\n\r\n" + _BODY, ""),
    "bare LF ends the head": (_length(_NUMBER) + b"X: a\r\n\n" + _BODY, ""),
    "bare CR": (_length(_NUMBER) + b"X: a\rb\r\n\r\n" + _BODY, ""),
    "folded": (_length(_NUMBER) + b"X: a\r\n b\r\n\r\n" + _BODY, ""),
    "length folded in": (b"X: a\r\n\t" + _length(b"0") + _length(_NUMBER) + b"\r\n" + _BODY, ""),
    "two lengths": (_length(_NUMBER) * 2 + b"\r\n" + _BODY, ""),
    "two lengths, other case": (_length(_NUMBER) + _length(b"0").lower() + b"\r\n" + _BODY, ""),
    "list of lengths": (_length(_NUMBER + b", " + _NUMBER) + b"\r\n" + _BODY, ""),
    "signed length": (_length(b"+" + _NUMBER) + b"\r\n" + _BODY, ""),
    "blank before the colon": (b"Content-Length : " + _NUMBER + b"\r\n\r\n" + _BODY, ""),
    "length and chunks": (_length(_NUMBER) + _chunked(_HEX + b"\r\n"), ""),
    "chunks in 1.0": (_chunked(_HEX + b"\r\n"), "1.0"),
    "chunks twice": (_CHUNKED + _chunked(_HEX + b"\r\n"), ""),
    "another coding": (_chunked(_HEX + b"\r\n").replace(b"chunked", b"xchunked"), ""),
    "chunk with an extension": (_chunked(_HEX + b";a=b\r\n"), ""),
    "chunk with a long extension": (_chunked(_HEX + b";" + b"e" * 9_000 + b"\r\n"), ""),
    "chunk with a blank": (_chunked(_HEX + b" \r\n"), ""),
    "chunk with a tab": (_chunked(_HEX + b"\t\r\n"), ""),
    "chunk with a bare LF": (_chunked(_HEX + b"\n"), ""),
    "chunk of 0x": (_chunked(b"0x" + _HEX + b"\r\n"), ""),
    "chunk with a sign": (_chunked(b"+" + _HEX + b"\r\n"), ""),
    "chunk with many digits": (_chunked(b"0" * 30 + _HEX + b"\r\n"), ""),
    "chunk longer than said": (_chunked(b"3\r\n"), ""),
    "chunk ends in LF": (_chunked(_HEX + b"\r\n", b"\n0\r\n\r\n"), ""),
    "trailers": (_chunked(_HEX + b"\r\n", b"\r\n0\r\nX: a\r\n\r\n"), ""),
    "last chunk ends in LF": (_chunked(_HEX + b"\r\n", b"\r\n0\r\n\n"), ""),
}


def _said(listeners: BothListeners, pieces: Iterable[bytes]) -> tuple[list[int], float]:
    """Statuses, until the server has closed; and the seconds from the first to then."""
    heard, first = b"", 0.0
    with socket.create_connection(listeners.server.address, 60) as client:
        for piece in pieces:
            client.sendall(piece)
        while chunk := client.recv(1 << 16):
            first = first or time.monotonic()
            heard += chunk
    statuses = [int(one) for one in re.findall(rb"HTTP/1\.1 (\d+) ", heard)]
    return statuses, time.monotonic() - first


@pytest.mark.timed
@pytest.mark.parametrize("kind", _BROKEN)
def test_ambiguous_requests_are_refused_and_the_connection_is_closed(
    kind: str, listeners: BothListeners
) -> None:
    rest, how = _BROKEN[kind]
    version = how.encode() if how[:1].isdigit() else b"1.1"
    sent = _head(listeners.analyst, version=version) + rest
    if how == "\n":
        sent = sent.replace(b"\r\n", b"\n")
    statuses, seconds = _said(listeners, [sent + _BEHIND])
    assert len(statuses) == 1
    assert statuses[0] in (400, 501, 505)
    assert seconds < allowed_wait(1, below=1.9)  # what is left may take 2


@pytest.mark.parametrize("size", [1, 3, 7, 5_000])
def test_plain_requests_are_answered_in_any_pieces(size: int, listeners: BothListeners) -> None:
    head = _head(listeners.analyst)
    two_chunks = (
        b"5\r\n" + _BODY[:5] + b"\r\n%X\r\n" % (len(_BODY) - 5) + _BODY[5:] + b"\r\n0\r\n\r\n"
    )
    closing = _BEHIND.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    for sent in (
        head + _length(_NUMBER) + b"\r\n" + _BODY + closing,
        head + _CHUNKED + b"\r\n" + two_chunks + closing,
        head + _CHUNKED.replace(b"chunked", b" Chunked ") + b"\r\n" + two_chunks + closing,
    ):
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        assert _said(listeners, pieces)[0] == [200, 200]


def test_http_1_0_is_answered(listeners: BothListeners) -> None:
    sent = _head(listeners.analyst, version=b"1.0") + _length(_NUMBER) + b"\r\n" + _BODY
    assert _said(listeners, [sent])[0] == [200]


@pytest.mark.parametrize("path", ["/v1/budget/", "/v1/query/", "/docs/", "/healthz/"])
def test_nothing_is_redirected(path: str, listeners: BothListeners) -> None:
    for method in ("GET", "POST"):
        response = listeners.client.build_request(method, path, headers={"Host": "localhost"})
        answered = listeners.client.send(response, follow_redirects=False)
        assert (answered.status_code, answered.headers.get("location")) == (404, None)
