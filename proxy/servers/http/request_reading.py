"""From a request's header and body to what it asks; unknown anything is refused."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import ClientDisconnect, Request

from proxy.base.errors import Code
from proxy.servers.http.http_problem import HttpProblem, unauthorized
from proxy.servers.http.strict_json import JsonNumber, NotStrict, read_json

BODY_BYTES = 256 * 1024  # a statement about protected data has 16 KiB, its parameters 64 KiB
_READ_AT_ONCE_BYTES = 16 * 1024  # a larger body is read in a thread, so that others go on meanwhile
PARAMETERS = 2_100  # a list of base.limits.LIST_ELEMENTS, and some beside it
_BODY_SECONDS = 10.0
_CREDENTIALS_LENGTH = 4096
_BEARER = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}")
_LENGTH_DIGITS = 20
_KEYS = ("database", "sql", "params", "epsilon", "delta")


@dataclass(frozen=True, slots=True)
class Credentials:
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.user!r})"


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """parameters: of $1, $2, ... as text, None for NULL. settings: dp.* of this statement."""

    database: str
    sql: str
    parameters: tuple[str | None, ...]
    settings: Mapping[str, str]


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


async def read_query_request(request: Request) -> QueryRequest:
    """
    Given    a request of somebody who has logged in: no stranger's body is read
    Refuses  415, 413, 408, and 400 for whatever is not a question
    """
    return _query_request(await read_body(request))


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
    try:
        body = await asyncio.wait_for(_body(request), _BODY_SECONDS)
    except asyncio.TimeoutError:
        raise HttpProblem(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time") from None
    try:
        if len(body) <= _READ_AT_ONCE_BYTES:
            return read_json(body)
        return await asyncio.to_thread(read_json, body)
    except NotStrict as error:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, str(error)) from None


async def _body(request: Request) -> bytes:
    parts: list[bytes] = []
    announced = request.headers.get("content-length", "0")
    size = int(announced) if len(announced) < _LENGTH_DIGITS and announced.isdecimal() else 0
    _check_size(size)
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            _check_size(size)
            parts.append(part)
    except ClientDisconnect:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the client went away") from None
    return b"".join(parts)


def _check_size(size: int) -> None:
    if size > BODY_BYTES:
        raise HttpProblem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body has more than {BODY_BYTES} bytes",
            headers={"Connection": "close"},
        )


def _query_request(body: object) -> QueryRequest:
    if not isinstance(body, dict):
        raise _bad("the body must be an object", f"Its keys are {', '.join(_KEYS)}.")
    for key in body:
        if key not in _KEYS:
            raise _bad("the body has an unknown key", f"The keys are {', '.join(_KEYS)}.")
    parameters = [] if body.get("params") is None else body["params"]
    if not isinstance(parameters, list) or len(parameters) > PARAMETERS:
        raise _bad("params must be a list", f"Of at most {PARAMETERS} values, for $1, $2, ...")
    settings = {}
    for name in ("epsilon", "delta"):
        if body.get(name) is not None:
            if not isinstance(body[name], JsonNumber):
                raise _bad(f"{name} must be a number", "Leave it out for the policy's value.")
            settings[f"dp.{name}"] = str(body[name])
    return QueryRequest(
        _string(body, "database"),
        _string(body, "sql"),
        tuple(_parameter(value) for value in parameters),
        settings,
    )


def _string(body: Mapping[str, object], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or isinstance(value, JsonNumber):
        raise _bad(
            f"{key} must be a string", 'For example {"database": "shop", "sql": "SELECT 1"}.'
        )
    return _storable(value)


def _parameter(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return _storable(value)
        case _:
            raise _bad(
                "a parameter must be a string, a number, true, false or null",
                "Send arrays and JSON as text: PostgreSQL reads it as the parameter's type.",
            )


def _storable(value: str) -> str:
    """PostgreSQL's text holds neither NUL nor half a surrogate pair."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        value = "\0"
    if "\0" in value:
        raise HttpProblem(
            HTTPStatus.BAD_REQUEST,
            "a text holds a character that UTF-8 text of PostgreSQL cannot hold",
            sqlstate="22021",
        )
    return value


def _bad(message: str, hint: str) -> HttpProblem:
    return HttpProblem(HTTPStatus.BAD_REQUEST, message, hint=hint, sqlstate=Code.SETTING.sqlstate)
