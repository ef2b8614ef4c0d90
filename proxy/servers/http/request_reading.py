"""Reads credentials from a header, and JSON from a body, within limits of size and time."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import ClientDisconnect, Request

from proxy.servers.http.http_problem import HttpProblem, unauthorized
from proxy.servers.http.strict_json import NotStrict, read_json

BODY_BYTES = 256 * 1024  # a statement about protected data has 16 KiB, its parameters 64 KiB
_READ_AT_ONCE_BYTES = 16 * 1024  # a larger body is read in a thread, so that others go on meanwhile
_BODY_SECONDS = 10.0
_CREDENTIALS_LENGTH = 4096
_BEARER = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}")
_LENGTH_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Credentials:
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.user!r})"


@dataclass(frozen=True, slots=True)
class Presented:
    """A bearer token (RFC 6750)."""

    text: str

    def __repr__(self) -> str:
        return "Presented()"


def read_credentials(request: Request) -> Credentials | Presented:
    """Of the Authorization header (RFC 7617). Refuses  401"""
    headers = request.headers.getlist("authorization")
    scheme, _, encoded = (headers[0] if len(headers) == 1 else "").partition(" ")
    if scheme.lower() == "bearer" and _BEARER.fullmatch(encoded.strip()):
        return Presented(encoded.strip())
    try:
        if scheme.lower() != "basic" or len(encoded) > _CREDENTIALS_LENGTH:
            raise ValueError
        decoded = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
        user, colon, password = decoded.partition(":")
        if not colon:
            raise ValueError
    except (ValueError, binascii.Error):
        raise unauthorized("this needs a user name and a password", "28000") from None
    return Credentials(user, password)


async def read_body(request: Request) -> object:
    """Its JSON, of somebody who has logged in. Refuses  415, 413, 408, 400"""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Also what keeps other sites' forms out: browsers ask first before they send this type.
        raise HttpProblem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "the body must be JSON",
            hint="Send the header Content-Type: application/json.",
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise HttpProblem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "compressed bodies are not accepted")
    body = await read_bounded(request, BODY_BYTES)
    try:
        if len(body) <= _READ_AT_ONCE_BYTES:
            return read_json(body)
        return await asyncio.to_thread(read_json, body)
    except NotStrict as error:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, str(error)) from None


async def read_bounded(request: Request, most: int) -> bytes:
    """A body of at most so many bytes. Refuses  413, 408, 400"""
    try:
        return await asyncio.wait_for(_body(request, most), _BODY_SECONDS)
    except asyncio.TimeoutError:
        raise HttpProblem(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time") from None


async def _body(request: Request, most: int) -> bytes:
    parts: list[bytes] = []
    announced = request.headers.get("content-length", "0")
    size = int(announced) if len(announced) < _LENGTH_DIGITS and announced.isdecimal() else 0
    _check_size(size, most)
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            _check_size(size, most)
            parts.append(part)
    except ClientDisconnect:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the client went away") from None
    return b"".join(parts)


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise HttpProblem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body has more than {most} bytes",
            headers={"Connection": "close"},
        )
