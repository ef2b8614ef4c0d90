"""/docs: Swagger UI on the application's own OpenAPI document. No asset comes from another host."""

from __future__ import annotations

import asyncio
import html
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse

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
