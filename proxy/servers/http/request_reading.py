"""Reads credentials from a header, and JSON from a body, within limits of size and time."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any

from starlette.requests import ClientDisconnect, Request

from proxy.servers.http.http_problem import HttpProblem, unauthorized

# JSON without its traps: duplicate keys, NaN, deep nesting and numbers that lose digits are refused.

_DEPTH = 8
_SAFE_INTEGER = 2**53  # beyond, clients that read numbers as doubles change them silently
_NUMBER_LENGTH = 400
# Strings and brackets. A string that is not closed matches to the end of the body: a match that could fail
# there would be tried again from each of its quotes, in quadratic time.
_TOKENS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


class NotStrict(ValueError):
    """Its text is fit for whoever sent the JSON, and quotes nothing of it."""


class JsonNumber(str):
    """A number as it was written."""

    __slots__ = ()


def read_json(body: bytes) -> Any:
    """
    >>> read_json(b'{"epsilon": 0.10}')
    {'epsilon': '0.10'}

    Gives    numbers as JsonNumber
    Refuses  NotStrict
    """
    _check_depth(body)
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_without_duplicates,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError:
        raise NotStrict("the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotStrict(f"the body is not JSON: {error.msg} at character {error.pos + 1}") from None


def _check_depth(body: bytes) -> None:
    depth = 0
    for token in _TOKENS.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
        if depth > _DEPTH:
            raise NotStrict(f"the body is nested more than {_DEPTH} deep")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrict("a key occurs twice in the body")
    return found


def _integer(text: str) -> JsonNumber:
    if len(text) > len(str(-_SAFE_INTEGER)) or abs(int(text)) > _SAFE_INTEGER:
        raise NotStrict("an integer is above 2^53: send it as a string")
    return JsonNumber(text)


def _number(text: str) -> JsonNumber:
    if len(text) > _NUMBER_LENGTH:
        raise NotStrict("a number has too many digits: send it as a string")
    return JsonNumber(text)


def _no_constant(_: str) -> None:
    raise NotStrict("NaN and Infinity are not JSON")


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


# In which format an answer is sent: the one that Accept likes best (RFC 9110, section 12.5.1).

_QUALITY = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_RANGES = 64  # of a header: no client has so many
_PARTS = 8  # parameters of a range


class Format(Enum):
    """The media type first, then others by which it is known. Of what is liked alike the first is sent."""

    JSON = ("application/json",)
    CSV = ("text/csv",)
    LINES = ("application/x-ndjson", "application/jsonl", "application/ndjson")
    ARROW = ("application/vnd.apache.arrow.stream",)

    @property
    def media_type(self) -> str:
        return str(self.value[0])

    @property
    def is_there(self) -> bool:
        """Whether what writes it is installed."""
        return self is not Format.ARROW or find_spec("nanoarrow") is not None


def chosen_format(accept: str | None) -> Format:
    """
    >>> chosen_format("text/csv;q=0.5, application/x-ndjson").name, chosen_format(None).name
    ('LINES', 'JSON')
    >>> chosen_format("text/*, application/json;q=0.9").name, chosen_format("text/csv;q=0, */*").name
    ('CSV', 'JSON')

    Raises:
        HttpProblem: 406.
    """
    if accept is None or not accept.strip():
        return Format.JSON
    ranges = list(_ranges(accept))
    liked = [
        (-quality, place, number, one)
        for number, one in enumerate(Format)
        if one.is_there
        for quality, place in (_liking(one, ranges),)
        if quality > 0
    ]
    if not liked:
        names = ", ".join(one.media_type for one in Format if one.is_there)
        more = "" if Format.ARROW.is_there else " Arrow needs dpproxy[arrow] on the server."
        raise HttpProblem(
            HTTPStatus.NOT_ACCEPTABLE,
            "no format that Accept names is there",
            hint=f"There are {names}.{more}",
        )
    return min(liked, key=lambda one: one[:3])[-1]


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    for entry in accept.lower().split(",", _RANGES)[:_RANGES]:
        kind, *parameters = (part.strip() for part in entry.split(";", _PARTS))
        given = [one.removeprefix("q=") for one in parameters if one.startswith("q=")]
        if kind and all(map(_QUALITY.fullmatch, given)):
            yield kind, float(given[0]) if given else 1.0


def _liking(one: Format, ranges: list[tuple[str, float]]) -> tuple[float, int]:
    """The quality that its most specific range gives it, and the place of that."""
    for kinds in (one.value, (f"{one.media_type.partition('/')[0]}/*",), ("*/*",)):
        for place, (kind, quality) in enumerate(ranges):
            if kind in kinds:
                return quality, place
    return 0.0, 0
