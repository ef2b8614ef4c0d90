"""Responses of both consoles: their headers, their two files, and the cookie of a session."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from proxy.servers.console.templates import KINDS, address, asset, rendered
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import read_bounded

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}


def html(template: str, status: int = HTTPStatus.OK, **values: Any) -> HTMLResponse:
    return HTMLResponse(rendered(template, **values), status, HEADERS)


def problem_page(problem: HttpProblem) -> HTMLResponse:
    body = rendered("problem", problem=problem)
    return HTMLResponse(body, problem.status, {**HEADERS, **problem.headers})


def to(place: str) -> RedirectResponse:
    return RedirectResponse(place, HTTPStatus.SEE_OTHER, HEADERS)


async def static(request: Request, digest: str, name: str) -> Response:
    if name not in KINDS or address(name) != f"/static/{digest}/{name}":
        raise HttpProblem(HTTPStatus.NOT_FOUND, "there is no such file")
    return Response(asset(name), media_type=KINDS[name], headers=_KEPT)


class SessionCookie:
    """A cookie that only our own pages send, over TLS alone where the request came so.

    Whether it came so is told by the listener's certificate, or by a proxy that the operator trusts (Guard).

    Args:
        name: Of the cookie. Ports of one host share cookies, so each console has a name of its own.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def of(self, request: Request) -> str:
        return request.cookies.get(self._called(request), "")

    def set(self, request: Request, response: Response, value: str) -> None:
        response.set_cookie(
            self._called(request),
            value,
            httponly=True,
            samesite="strict",
            secure=_is_secure(request),
            path="/",
        )

    def delete(self, request: Request, response: Response) -> None:
        """And what pages have kept in the browser."""
        response.delete_cookie(
            self._called(request),
            httponly=True,
            samesite="strict",
            secure=_is_secure(request),
            path="/",
        )
        response.headers["Clear-Site-Data"] = '"storage"'

    def _called(self, request: Request) -> str:
        return f"__Host-{self._name}" if _is_secure(request) else self._name


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"


# What comes in from the console's pages: forms, from our own pages alone.

_FIELDS = 10
_SIGN_IN_BYTES = 8 * 1024
_FORM_BYTES = 256 * 1024
_KIND = "application/x-www-form-urlencoded"


async def read_form(request: Request, *, is_stranger: bool = False) -> Mapping[str, str]:
    """Read a form that one of our own pages has sent.

    Args:
        request: The request, whose body has not been read.
        is_stranger: Whether nobody is signed in: then a form is short.

    Raises:
        HttpProblem: 403 of another site's form; 400, 408, 413 or 415 of one that cannot be read.
    """
    refuse_other_sites(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise HttpProblem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the form must be URL-encoded")
    body = await read_bounded(request, _SIGN_IN_BYTES if is_stranger else _FORM_BYTES)
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS
        )
    except ValueError:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the form cannot be read") from None
    if len({name for name, _ in fields}) < len(fields):
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "the form has a field twice")
    return {name: value.replace("\r\n", "\n") for name, value in fields}


def refuse_other_sites(request: Request) -> None:
    """Refuse a form of another site. Browsers say whose page has sent it; a form without that word is refused.

    Raises:
        HttpProblem: 403.
    """
    sent = request.headers.get("sec-fetch-site")
    if sent is not None:
        is_own = sent == "same-origin"
    else:
        origin = request.headers.get("origin", "")
        is_own = origin == f"{request.url.scheme}://{request.headers.get('host', '')}"
    if not is_own:
        raise HttpProblem(
            HTTPStatus.FORBIDDEN,
            "a form of another site is not taken",
            hint="Programs use /v1, with a password or a token of their own.",
        )
