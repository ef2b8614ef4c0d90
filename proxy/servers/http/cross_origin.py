"""Pages of other sites that may ask /v1: those whose origins `serve --cors-origin` names, and no others.

They bring a bearer token or a password in a header of their own. Cookies are never part of it: /v1 reads none.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from proxy.servers.http.rendering import PRIVACY_HEADERS

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
