"""Spans of statements, for OpenTelemetry: made of reports, which hold no text, value or number of rows.

A trace has exact times, also of stages that depend on rows. So none is made unless the operator asks for it,
for those who may see such times (SECURITY.md). The provider is our own, and not the process's: what libraries
trace by themselves, as of their requests, goes nowhere.

Source  OpenTelemetry, semantic conventions for database client spans; W3C Trace Context
"""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING

from proxy.base.stages import Stage
from proxy.servers.statement_reports import Outcome, QueryReport

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.util.types import AttributeValue

_NAME = "dpproxy"
_MOST_PARENT = 55  # characters of a traceparent of version 00


class NoTracing(Exception):
    """The packages of the extra are not there."""


class Tracing:
    """Takes reports of statements."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer(_NAME)
        self._inside, self._parents = set_span_in_context, TraceContextTextMapPropagator()
        self._client, self._error = SpanKind.CLIENT, Status(StatusCode.ERROR)

    def ended(self, report: QueryReport) -> None:
        now, clock = time.time_ns(), time.monotonic_ns()

        def at(moment: int) -> int:
            return now - (clock - moment)

        ended = report.begun + round(report.seconds * 10**9)
        begun = min((report.begun, *(one.begun for one in report.stages)))
        parent = None
        if report.parent is not None and len(report.parent) <= _MOST_PARENT:
            parent = self._parents.extract({"traceparent": report.parent})
        span = self._tracer.start_span(
            "dpproxy.statement", parent, attributes=_attributes(report), start_time=at(begun)
        )
        context = self._inside(span, parent)
        for one in report.stages:
            name = f"dpproxy.{one.stage.value}"
            if one.stage is Stage.DATA:
                part = self._tracer.start_span(
                    name, context, self._client, _of_data(report), start_time=at(one.begun)
                )
            else:
                part = self._tracer.start_span(name, context, start_time=at(one.begun))
            part.end(at(one.ended))
        if report.outcome is Outcome.FAILED:
            span.set_status(self._error)
        span.end(at(ended))

    def close(self) -> None:
        """Send what has not been sent, within the exporter's timeout."""
        self._provider.shutdown()


def check_has_packages() -> None:
    """
    Raises:
        NoTracing: Some are missing.
    """
    try:
        importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        raise NoTracing from None


def tracing_by_environment() -> Tracing:
    """Spans go by OTLP over HTTP to where OTEL_EXPORTER_OTLP_ENDPOINT says."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = Resource({"service.name": _NAME}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=named)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)


def _attributes(report: QueryReport) -> dict[str, AttributeValue]:
    """As the line of the query log, without the analyst."""
    found: dict[str, AttributeValue] = {
        "dpproxy.database": report.database,
        "dpproxy.listener": report.listener.value,
        "dpproxy.outcome": report.outcome.value,
        "dpproxy.kinds": report.asked.kinds,
        "dpproxy.tables": report.asked.tables,
        "dpproxy.fingerprint": report.asked.fingerprint,
    }
    if report.source is not None:
        found["dpproxy.source"] = report.source.value
    if report.code is not None:
        found["dpproxy.code"] = report.code
    if report.charges:
        found["dpproxy.receipts"] = tuple(one.receipt for one in report.charges)
        found["dpproxy.epsilon"] = tuple(one.epsilon for one in report.charges)
        found["dpproxy.delta"] = tuple(one.delta for one in report.charges)
        found["dpproxy.rho"] = tuple(one.rho for one in report.charges if one.rho is not None)
    return found


def _of_data(report: QueryReport) -> dict[str, AttributeValue]:
    summary = (*report.asked.kinds, *report.asked.tables)
    return {
        "db.system.name": "postgresql",
        "db.operation.name": "SELECT",
        "db.query.summary": " ".join(("SELECT", *dict.fromkeys(summary))),
    }
