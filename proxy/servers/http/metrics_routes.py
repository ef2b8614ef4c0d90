"""`GET /metrics`: on a listener of its own with the routes of health, and behind the administrators' login."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request, Response

from proxy.servers.http.documented_app import DocumentedApp
from proxy.servers.http.routes import Routes, health_router
from proxy.servers.metrics import CONTENT_TYPE, Exposition

# No operation of an API: what it gives is described by Prometheus ("Exposition formats").
metrics_router = APIRouter(include_in_schema=False)


@metrics_router.get("/metrics")
async def show_metrics(request: Request) -> Response:
    metrics = request.app.state.metrics
    assert metrics is not None
    return Response(await metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})


def metrics_app(metrics: Exposition, routes: Routes) -> FastAPI:
    """The application of a listener without a login. routes: of the analysts, for their health."""
    app = DocumentedApp(
        title="Metrics of dpproxy",
        description="",
        routers=[metrics_router, health_router],
        hint="There are /metrics, /healthz and /readyz.",
        handlers={},
        has_docs=False,
    )
    app.state.routes, app.state.metrics = routes, metrics
    return app
