"""Mark requests that are under way: the caller has logged in, the body has come, and there is a place to run.

Connections read the mark: only a request under way keeps its connection when an address has too many of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import HTTPConnection

_KEY = "dpproxy.under_way"


def mark_under_way(request: HTTPConnection) -> None:
    request.scope[_KEY] = True


def is_under_way(scope: Mapping[str, object]) -> bool:
    return bool(scope.get(_KEY, False))
