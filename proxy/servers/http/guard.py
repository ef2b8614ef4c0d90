"""The outermost layer: which requests come in at all, and what is logged of them.

Logged are method, route, status and the request's id: never a query string, a body, another header or a path
that is not one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from urllib.parse import unquote_to_bytes
from uuid import uuid4

import structlog
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proxy.base.errors import Code
from proxy.servers.client_address import Networks, forwarded_client, is_loopback, is_within
from proxy.servers.error_boundary import log_failure
from proxy.servers.http.http_problem import CONTENT_TYPE, HttpProblem
from proxy.servers.http.rendering import PRIVACY_HEADERS

_LOG = structlog.get_logger("dpproxy.http")

_VERSIONS = ("1.0", "1.1")
_SCHEMES = ("http", "https")
_POLICY = b"content-security-policy"
_REQUEST_ID = re.compile("[A-Za-z0-9-]{1,64}")
_SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
]


class Guard:
    """
    Given    hosts_are_local: whether the server listens on loopback only. A page of another site can then
             have its name resolve to 127.0.0.1 (DNS rebinding); its Host header gives it away; is_draining:
             whether clients are to connect anew; proxies: whose X-Forwarded-For is believed
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts_are_local: bool,
        is_draining: Callable[[], bool] = lambda: False,
        proxies: Networks = (),
    ) -> None:
        self._proxies = proxies
        self._is_draining = is_draining
        self._app = app
        self._hosts_are_local = hosts_are_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = False
        request_id = _request_id(Headers(scope=scope))
        structlog.contextvars.bind_contextvars(request_id=request_id)  # each request has a task
        has_body = _has_body(Headers(scope=scope))

        async def counted() -> Message:
            nonlocal has_body
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body", False):
                has_body = False
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = list(message.get("headers", []))
                given = {name for name, _ in own}
                message["headers"] = own + [one for one in _SAFE_HEADERS if one[0] not in given]
                message["headers"].append((b"x-request-id", request_id.encode()))
                if all(
                    name != _POLICY for name, _ in message["headers"]
                ):  # a page may have its own
                    message["headers"].append((_POLICY, b"default-src 'none'"))
                if has_body or self._is_draining():
                    # The client is not to send another request behind it.
                    message["headers"].append((b"connection", b"close"))
                _LOG.info(
                    "request",
                    method=scope["method"],
                    # As it was declared: a path's own parts are names of people and databases.
                    route=getattr(scope.get("route"), "path", "(other)"),
                    status=message["status"],
                )
            await send(message)

        problem = self._objection(
            Headers(scope=scope), scope["http_version"], scope.get("raw_path") or b""
        ) or self._come_from(scope)
        try:
            if problem is None:
                await self._app(scope, counted, watched)
                return
        except Exception as error:
            log_failure(error, "request")
            if started:
                raise
            problem = HttpProblem(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "the statement could not be run",
                sqlstate=Code.UNAVAILABLE.sqlstate,
            )
        await response_of(problem)(scope, receive, watched)

    def _come_from(self, scope: Scope) -> HttpProblem | None:
        """Take the client's address, and whether it came by TLS, from the proxy that passes a request on."""
        peer = scope.get("client")
        if peer is None or not is_within(peer[0], self._proxies):
            return None
        try:
            client = forwarded_client(
                Headers(scope=scope).getlist("x-forwarded-for"), self._proxies
            )
        except ValueError:
            text = "the proxy's X-Forwarded-For does not say which address the client has"
            return HttpProblem(HTTPStatus.BAD_REQUEST, text)
        if client is not None:
            scope["client"] = (client, 0)
        scheme = Headers(scope=scope).get("x-forwarded-proto", "").rpartition(",")[2].strip()
        if scheme.lower() in _SCHEMES:  # the right-most is the one that the proxy wrote
            scope["scheme"] = scheme.lower()
        return None

    def _objection(self, headers: Headers, version: str, raw_path: bytes) -> HttpProblem | None:
        if version not in _VERSIONS:
            return HttpProblem(
                HTTPStatus.HTTP_VERSION_NOT_SUPPORTED,
                "the protocol is neither HTTP/1.0 nor HTTP/1.1",
                headers={"Connection": "close"},
            )
        if not _is_text(raw_path):
            return HttpProblem(HTTPStatus.BAD_REQUEST, "the path is not text in UTF-8")
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            return HttpProblem(HTTPStatus.BAD_REQUEST, "a request has one Host header")
        if self._hosts_are_local and not is_loopback(_name(hosts[0])):
            return HttpProblem(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this server listens on loopback, and that is not its name",
                hint="Use http://127.0.0.1 or http://localhost.",
            )
        if "transfer-encoding" in headers and ("content-length" in headers or version == "1.0"):
            return HttpProblem(
                HTTPStatus.BAD_REQUEST,
                "Transfer-Encoding is ambiguous with Content-Length, and in HTTP/1.0",
                headers={"Connection": "close"},
            )
        return None


def _is_text(raw_path: bytes) -> bool:
    """Whether names in a path are what the client wrote, and none that stands for other bytes.

    >>> _is_text(b"/groups/%C3%A4"), _is_text(b"/groups/%ff")
    (True, False)
    """
    try:
        unquote_to_bytes(raw_path).decode()
    except UnicodeDecodeError:
        return False
    return True


def _request_id(headers: Headers) -> str:
    """The client's own, if it is fit for a log. Else a new one."""
    given = headers.getlist("x-request-id")
    if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]):
        return given[0]
    return uuid4().hex


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def response_of(problem: HttpProblem) -> Response:
    return Response(
        problem.body(), problem.status, headers=problem.headers, media_type=CONTENT_TYPE
    )


def _name(host: str) -> str:
    """Without the port.

    >>> _name("[::1]:8432"), _name("localhost:8432"), _name("127.0.0.1")
    ('::1', 'localhost', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


# Pages of other sites that may ask /v1: those whose origins `serve --cors-origin` names, and no others.
#
# They bring a bearer token or a password in a header of their own. Cookies are never part of it: /v1 reads
# none.

_PATHS = "/v1/"
_ORIGIN = re.compile(
    r"https?://[a-z0-9.-]+(?::[0-9]{1,5})?|https?://\[[0-9a-f:.]+\](?::[0-9]{1,5})?"
)
_TAKEN = ("Accept", "Authorization", "Content-Type", "X-Request-Id")
_SECONDS = 600  # for which a browser remembers the answer to its first question


class CrossOrigin:
    """
    Args:
        app: What is served.
        origins: As `is_origin`.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        self._app = app
        self._shared = CORSMiddleware(
            app,
            allow_origins=tuple(origins),
            allow_methods=("GET", "POST"),
            allow_headers=_TAKEN,
            expose_headers=(*PRIVACY_HEADERS, "Retry-After", "X-Request-Id"),
            max_age=_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_shared = scope["type"] == "http" and scope["path"].startswith(_PATHS)
        await (self._shared if is_shared else self._app)(scope, receive, send)


def is_origin(text: str) -> bool:
    """Say whether a browser would send this as Origin (RFC 6454), of a site with a name.

    >>> is_origin("https://app.example"), is_origin("http://localhost:3000"), is_origin("*"), is_origin("null")
    (True, True, False, False)
    >>> is_origin("https://app.example/"), is_origin("https://APP.example")
    (False, False)
    """
    return _ORIGIN.fullmatch(text) is not None


# Mark how far a request has come, for its connection: whom it may be closed for when an address has too many.
#
# - Under way: the caller has logged in, the body has come, and there is a place to run. It is not closed.
# - Refused: the credential is wrong, and the answer is only held back. It is closed before one that is checked.

_UNDER_WAY = "dpproxy.under_way"
_REFUSED = "dpproxy.refused"


def mark_under_way(request: HTTPConnection) -> None:
    request.scope[_UNDER_WAY] = True


def is_under_way(scope: Mapping[str, object]) -> bool:
    return bool(scope.get(_UNDER_WAY, False))


def mark_refused(request: HTTPConnection) -> None:
    request.scope[_REFUSED] = True


def is_refused(scope: Mapping[str, object]) -> bool:
    return bool(scope.get(_REFUSED, False))
