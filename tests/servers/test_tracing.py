"""Spans of statements: which there are, and that nothing of a text, a value or a number of rows is in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psycopg
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from proxy.cli.main import main
from proxy.servers.tracing import Tracing
from tests.live_proxy import LiveProxy, sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers
from tests.waiting import until

_COUNT = "SELECT count(*) FROM shop.orders"
_STAGES = {"plan", "charge", "wait", "data", "draw", "present"}
_TRACE, _SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
_PARENT = f"00-{_TRACE}-{_SPAN}-01"


@dataclass(slots=True)
class Traced:
    listeners: BothListeners
    kept: InMemorySpanExporter

    @property
    def proxy(self) -> LiveProxy:
        return self.listeners.proxy

    def spans(self, statements: int) -> Sequence[ReadableSpan]:
        """Since the last look, when so many statements have ended."""

        def ended() -> bool:
            found = self.kept.get_finished_spans()
            return sum(one.name == "dpproxy.statement" for one in found) >= statements

        until(ended)
        found = self.kept.get_finished_spans()
        self.kept.clear()
        return found


@pytest.fixture(scope="module")
def traced() -> Iterator[Traced]:
    kept, provider, pair = InMemorySpanExporter(), TracerProvider(), servers()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracing = Tracing(provider)
    proxy = start_proxy(pair, sample_databases(pair), observers=(tracing,))
    listeners = open_http(proxy, observers=(tracing,))
    yield Traced(listeners, kept)
    listeners.close()
    proxy.stop()
    tracing.close()


def _attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def test_a_statement_is_a_span_with_its_stages_inside(traced: Traced) -> None:
    with traced.proxy.connect() as connection:
        connection.execute(_COUNT.encode())
    spans = traced.spans(1)
    (whole,) = (one for one in spans if one.name == "dpproxy.statement")
    inside = [one for one in spans if one is not whole]
    assert {one.name.removeprefix("dpproxy.") for one in inside} == {"read", *_STAGES}
    for one in inside:
        assert one.parent is not None and one.parent.span_id == whole.context.span_id
        times = (whole.start_time, one.start_time, one.end_time, whole.end_time)
        assert list(times) == sorted(time for time in times if time is not None)
    found = _attributes(whole)
    assert found["dpproxy.kinds"] == ("count(*)",)
    assert found["dpproxy.tables"] == ("shop.orders",)
    assert (found["dpproxy.outcome"], found["dpproxy.source"]) == ("answered", "fresh")
    assert found["dpproxy.epsilon"] == ("1",)
    (data,) = (one for one in inside if one.name == "dpproxy.data")
    assert data.kind is SpanKind.CLIENT
    assert _attributes(data) == {
        "db.system.name": "postgresql",
        "db.operation.name": "SELECT",
        "db.query.summary": "SELECT count(*) shop.orders",
    }


def test_no_text_value_or_person_is_in_a_span(traced: Traced) -> None:
    analyst = traced.proxy.servers.new_analyst()
    marked = (
        "SELECT status AS marked_name, count(*) FROM shop.orders WHERE total > 47110815.25 GROUP BY 1",
        "SELECT sum(total) FROM shop.orders WHERE status = 'marked text'",
        "SELECT count(*) /* marked comment */ FROM shop.orders WHERE 1 / (total - total) > 47120815",
        "SELECT total, 'marked row' FROM shop.orders WHERE total = 47130815",
    )
    for sql in marked:
        with traced.proxy.connect(analyst=analyst) as connection:
            with_error = False
            try:
                connection.execute(sql.encode())
            except psycopg.Error:
                with_error = True
            assert with_error == ("row" in sql or "comment" in sql)
        traced.listeners.query(sql, analyst=analyst)
    with traced.proxy.connect(analyst=analyst) as connection:
        connection.execute("SELECT count(*) FROM shop.orders WHERE total > %s", (47140815,))
    spans = traced.spans(2 * len(marked) + 1)
    # Identifiers and times are digits of chance.
    said = " ".join(f"{one.name} {_attributes(one)} {one.resource.attributes}" for one in spans)
    for word in (
        "marked",
        "4711081",
        "4712081",
        "4713081",
        "4714081",
        analyst,
        "SELECT status",
        "paid",
    ):
        assert word not in said
    known = {
        *("database", "listener", "outcome", "kinds", "tables", "fingerprint", "source", "code"),
        *("receipts", "epsilon", "delta", "rho"),
    }
    for span in spans:
        assert not span.events and span.status.description is None
        names = {key.removeprefix("dpproxy.") for key in _attributes(span)}
        assert names <= known | {"db.system.name", "db.operation.name", "db.query.summary"}


def test_the_trace_of_an_authenticated_request_goes_on(traced: Traced) -> None:
    traced.listeners.query(_COUNT, headers={"traceparent": _PARENT})
    (whole,) = (one for one in traced.spans(1) if one.name == "dpproxy.statement")
    assert whole.parent is not None
    assert f"{whole.context.trace_id:032x}" == _TRACE
    assert f"{whole.parent.span_id:016x}" == _SPAN
    traced.listeners.query(_COUNT)
    (other,) = (one for one in traced.spans(1) if one.name == "dpproxy.statement")
    assert other.parent is None
    traced.listeners.query(_COUNT, headers={"traceparent": f"{_PARENT}-{'x' * 5000}"})
    (wrong,) = (one for one in traced.spans(1) if one.name == "dpproxy.statement")
    assert wrong.parent is None


def test_what_is_missing_is_said_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [one for one in sys.modules if one.startswith("opentelemetry.exporter")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    arguments = ["dpproxy", "serve", "--policy", "missing.yaml", "--traces"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert told == "dpproxy: --traces needs more packages: pip install 'dpproxy[otel]'\n"
