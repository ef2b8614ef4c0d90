"""Mark how far a request has come, for its connection: whom it may be closed for when an address has too many.

- Under way: the caller has logged in, the body has come, and there is a place to run. It is not closed.
- Refused: the credential is wrong, and the answer is only held back. It is closed before one that is checked.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import HTTPConnection

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
