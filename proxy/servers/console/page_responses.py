"""Responses of both consoles: their headers, their two files, and the cookie of a session."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from proxy.servers.console.templates import KINDS, address, asset, rendered
from proxy.servers.http.http_problem import HttpProblem

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
