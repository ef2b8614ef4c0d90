"""One request of an administrator: who makes it, and what its path and body say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from http import HTTPStatus
from typing import Any

from starlette.requests import Request

from proxy.ledger.users import LEAST_CHARACTERS
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import read_body
from proxy.servers.http.strict_json import JsonNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class Administering:
    """One request of somebody who was let in. by: who, for the log."""

    request: Request
    by: str

    def path(self, name: str) -> str:
        """Refuses  400: what PostgreSQL's text cannot hold"""
        return text_of(self.request.path_params, name)

    async def fields(self, *known: str) -> Mapping[str, Any]:
        """Of the body. Refuses  400, and as read_body"""
        body = await read_body(self.request)
        if not isinstance(body, dict) or not set(body) <= set(known):
            raise bad_request(f"the body is an object with the keys {', '.join(known)}")
        return body


def printable_json(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case Decimal():
            return f"{value.normalize():f}"
        case Mapping():
            return dict(value)
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return str(value)


def text_of(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or isinstance(value, JsonNumber) or "\0" in value:
        raise bad_request(f"{key} must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise bad_request(f"{key} must be a string of UTF-8") from None
    return value


def password_of(fields: Mapping[str, Any]) -> str:
    password = text_of(fields, "password")
    if len(password) < LEAST_CHARACTERS:
        raise bad_request(f"the password is shorter than {LEAST_CHARACTERS} characters")
    return password


def number_of(fields: Mapping[str, Any], key: str) -> Decimal | None:
    value = fields.get(key)
    if value is None:
        return None
    try:
        if not isinstance(value, JsonNumber):
            raise InvalidOperation
        return Decimal(value)
    except InvalidOperation:
        raise bad_request(f"{key} must be a number") from None


def bad_request(message: str) -> HttpProblem:
    return HttpProblem(HTTPStatus.BAD_REQUEST, message, sqlstate="22023")
