"""The FastAPI application of a listener: its settings, its errors, and the OpenAPI document made from it."""

from __future__ import annotations

import asyncio
import copy
import html
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from proxy.base.errors import Code, Fault, Refusal
from proxy.engine.sessions import PostgresError, WrongCredentials
from proxy.servers.http.guard import response_of
from proxy.servers.http.http_problem import CONTENT_TYPE, HttpProblem, problem_of
from proxy.servers.http.json_models import ProblemDocument, RequestModel, parameter_problem
from proxy.turns.fair_share import Busy

# /docs: Swagger UI on the application's own OpenAPI document. No asset comes from another host.

# A package of files: Swagger UI as it is published, in Python's package index. None of its code runs.
_ASSETS = "fastapi_offline"
_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="operations"></div>
<noscript>This page needs JavaScript. The same is in <a href="openapi.json">/openapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
"""
_START = """\
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#operations",
  deepLinking: true,
  displayOperationId: true,
  validatorUrl: null,
});
"""

docs_router = APIRouter(include_in_schema=False)


@docs_router.api_route("/docs", methods=["GET", "HEAD"])
async def docs_page(request: Request) -> Response:
    return HTMLResponse(_PAGE.format(title=html.escape(request.app.title)), headers=_POLICY)


@docs_router.api_route("/docs/start.js", methods=["GET", "HEAD"])
async def docs_start() -> Response:
    return Response(_START, media_type="text/javascript")


@docs_router.api_route("/docs/swagger-ui-bundle.js", methods=["GET", "HEAD"])
async def docs_program() -> Response:
    return FileResponse(_asset("swagger-ui-bundle.js"), media_type="text/javascript")


@docs_router.api_route("/docs/swagger-ui.css", methods=["GET", "HEAD"])
async def docs_style() -> Response:
    return FileResponse(_asset("swagger-ui.css"), media_type="text/css")


@docs_router.api_route("/openapi.json", methods=["GET", "HEAD"])
async def openapi_document(request: Request) -> Response:
    return JSONResponse(await asyncio.to_thread(request.app.openapi))


def _asset(name: str) -> Path:
    package = find_spec(_ASSETS)
    assert package is not None and package.origin is not None
    return Path(package.origin).parent / "static" / name


Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]

_SCHEMAS = "#/components/schemas/{model}"
_REPORTED = (HttpProblem, Refusal, Fault, PostgresError, WrongCredentials, Busy)
# Of every operation: a wrong Host header, one of another site, an unforeseen error, too many requests.
_ANYWHERE = (400, 421, 500, 503)
_LOGIN = (401,)
_BODY = (408, 413, 415)


class Operation(APIRoute):
    """A route that answers HEAD wherever it answers GET (RFC 9110, section 9.3.2)."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        options["operation_id"] = endpoint.__name__
        super().__init__(path, endpoint, **options)
        if "GET" in self.answered:
            self.methods = {*self.answered, "HEAD"}

    @property
    def answered(self) -> set[str]:
        """The methods without HEAD."""
        return (self.methods or set()) - {"HEAD"}

    def documented(self) -> Operation:
        """This route as the OpenAPI document shows it: without HEAD."""
        shown = copy.copy(self)
        shown.methods = self.answered
        return shown


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare the errors that an operation has besides those of the guard, the login and the body."""
    schema = {"$ref": _SCHEMAS.format(model=ProblemDocument.__name__)}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {CONTENT_TYPE: {"schema": schema}},
        }
        for status in statuses
    }


class DocumentedApp(FastAPI):
    """FastAPI without what it does unasked: pages that load from elsewhere, redirects, its texts of errors.

    Args:
        routers: The listener's operations. Their routes belong to this application.
        hint: What the problem of an unknown path or method says.
        has_docs: Whether it serves /docs.
        handlers: Of errors that this listener alone has, or tells in its own way.
    """

    def __init__(
        self,
        *,
        title: str,
        description: str,
        routers: Sequence[APIRouter],
        hint: str,
        handlers: Mapping[int | type[Exception], Handler],
        has_docs: bool = True,
    ) -> None:
        known: dict[int | type[Exception], Handler] = {
            **dict.fromkeys(_REPORTED, _reported),
            HTTPException: _not_served(hint),
            RequestValidationError: _wrong_parameter,
            Exception: _unforeseen,
            **handlers,
        }
        super().__init__(
            title=title,
            version="1",
            description=description,
            openapi_url=None,
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
            exception_handlers=known,
            # No trace, metric or log of a request leaves the process, whatever its environment says.
            telemetry={
                "tracing": False,
                "metrics": False,
                "logs": False,
                "operation_spans": False,
                "auto_configure": False,
            },
        )
        for router in (*routers, *((docs_router,) if has_docs else ())):
            self.router.routes.extend(router.routes)

    def openapi(self) -> dict[str, Any]:
        """Generate the document (OpenAPI 3.1), once."""
        if self.openapi_schema is None:
            operations = [route for route in self.routes if isinstance(route, Operation)]
            document = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                routes=[operation.documented() for operation in operations],
            )
            _complete(document, operations)
            self.openapi_schema = (
                document  # now that it is whole: threads of other requests read it
            )
        return self.openapi_schema


def _complete(document: dict[str, Any], operations: Sequence[Operation]) -> None:
    """Add bodies and errors. FastAPI documents the bodies that it reads; ours are read after the login."""
    models: set[type[Any]] = {ProblemDocument}
    for operation in operations:
        for method in operation.answered:
            shown = document["paths"][operation.path_format][method.lower()]
            statuses = [*_ANYWHERE, *(_LOGIN if "security" in shown else ())]
            for model in _request_models(operation.dependant):
                models.add(model)
                shown["requestBody"] = _request_body(model)
                statuses += _BODY
            declared = {str(status): text for status, text in problems(*statuses).items()}
            declared.update(shown["responses"])
            declared.pop("422", None)  # a wrong parameter is 400
            shown["responses"] = dict(sorted(declared.items()))
    _, described = models_json_schema(
        [(model, "validation") for model in sorted(models, key=lambda one: one.__name__)],
        ref_template=_SCHEMAS,
    )
    schemas = document["components"].setdefault("schemas", {})
    schemas.update(described["$defs"])
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)


def _request_models(dependant: Dependant) -> Iterator[type[RequestModel]]:
    for dependency in dependant.dependencies:
        model = getattr(dependency.call, "__self__", None)
        if isinstance(model, type) and issubclass(model, RequestModel):
            yield model


def _request_body(model: type[RequestModel]) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"$ref": _SCHEMAS.format(model=model.__name__)}}
    examples = model.model_json_schema().get("examples", [])
    if examples:
        content["example"] = examples[0]
    return {"required": True, "content": {"application/json": content}}


async def _reported(_: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem is None:
        raise error
    return response_of(problem)


async def _wrong_parameter(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return response_of(parameter_problem(list(error.errors())))


async def _unforeseen(_: Request, __: Exception) -> Response:
    """Answer without a word about the error, which the guard logs."""
    return response_of(
        HttpProblem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "the request could not be answered",
            sqlstate=Code.UNAVAILABLE.sqlstate,
        )
    )


def _not_served(hint: str) -> Handler:
    async def handle(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        message = HTTPStatus(error.status_code).description or HTTPStatus(error.status_code).phrase
        return response_of(
            HttpProblem(error.status_code, message, hint=hint, headers=error.headers)
        )

    return handle
