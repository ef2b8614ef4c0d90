"""Compares each response of the analysts' listener with what its OpenAPI document declares."""

from __future__ import annotations

import functools
from typing import Any, cast

import httpx
from fastapi import FastAPI
from pydantic import TypeAdapter

from proxy.servers.http.documented_app import Operation
from proxy.servers.http.json_models import ProblemDocument
from proxy.servers.http.routes import Routes
from proxy.servers.login_gate import LoginGate

_CHECKED_BYTES = (
    256 * 1024
)  # more would hold up the listener, which is in this process, and is watched


@functools.cache
def analysts_app() -> FastAPI:
    nothing = cast(Any, None)
    return Routes({}, nothing, nothing, nothing, LoginGate()).app()


def check_declared(response: httpx.Response) -> None:
    """A hook of the tests' client. What is no operation is not looked at: /docs, 404, 405, HEAD."""
    operation = _operation(response.request)
    if operation is None:
        return
    response.read()
    path = analysts_app().openapi()["paths"][operation.path_format]
    declared = path[response.request.method.lower()]["responses"]
    assert str(response.status_code) in declared, (operation.path, response.status_code)
    content = declared[str(response.status_code)]["content"]
    kind = response.headers["content-type"].partition(";")[0]
    assert kind in content, (operation.path, response.status_code, kind)
    if kind == "application/problem+json":
        ProblemDocument.model_validate_json(response.content, strict=True, extra="forbid")
    elif kind == "application/json" and len(response.content) <= _CHECKED_BYTES:
        adapter: TypeAdapter[Any] = TypeAdapter(operation.response_model)
        adapter.validate_json(response.content, strict=True, extra="forbid")


def _operation(request: httpx.Request) -> Operation | None:
    for route in analysts_app().routes:
        if (
            isinstance(route, Operation)
            and route.path_regex.match(request.url.path)
            and request.method in route.answered
        ):
            return route
    return None
