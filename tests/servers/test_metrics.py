"""Metrics: their names, what they count, and the rules of what they may tell."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from proxy.base.errors import Code
from proxy.base.stages import Stage
from proxy.cli.status_report import observe_metrics
from proxy.engine.answer_origin import AnswerSource
from proxy.servers.login_gate import LoginGate
from proxy.servers.metrics import BUCKETS, ENDED_FOR, FAMILIES, Metrics
from proxy.servers.statement_reports import Listener, Outcome
from tests.live_proxy import LiveProxy, sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD, servers
from tests.waiting import until

_ROOT = Path(__file__).parents[2]
_COUNT = "SELECT count(*) FROM shop.orders"
_STATES = {"logging_in", "idle", "active", "in_transaction"}
# Of each label all that it may ever say. What is not here is open, and a test of its own looks at it.
_VALUES = {
    "listener": {"wire", "http", "mcp"},
    "outcome": {one.value for one in Outcome}
    | {"charged", "ok", "wrong", "busy", "tls_failed", "not_admitted", "known", "unknown"},
    "source": {one.value for one in AnswerSource},
    "code": {one.name for one in Code},
    "kind": {"analyst", "group"},
    "pool": {"protected", "ledger"},
    "state": _STATES | {"idle", "used"},
    "part": {"protected", "ledger", "shadow", "accepting"},
    "worker": {"1"},
    "size": {"1", "2", "4", "8", "16", "32"},
    "stage": {one.value for one in Stage},
    "reason": {one.replace(" ", "_") for one in ENDED_FOR},
    "le": {str(float(end)) for ends in BUCKETS.values() for end in ends} | {"+Inf"},
    "database": {"shop", "census"},
    "line": {
        "total",
        "published",
        "table:shop.orders",
        "table:shop.customers",
        "table:census.adult",
    },
}


_BUCKETS = "dpproxy_stage_seconds_bucket"


def _family(sample: str) -> str:
    return sample.removesuffix("_bucket")


@dataclass(slots=True)
class Watched:
    listeners: BothListeners
    metrics: Metrics
    gate: LoginGate
    draining: list[bool]

    @property
    def proxy(self) -> LiveProxy:
        return self.listeners.proxy

    def look(self) -> None:
        """What the task does when a period is full."""
        databases = list(self.proxy.assembly.databases.values())

        async def checks() -> dict[str, dict[str, bool]]:
            return {"shop": {"protected": True, "ledger": True}, "census": {"protected": False}}

        async def once() -> None:
            before = self.metrics._text
            looking = asyncio.ensure_future(
                observe_metrics(
                    self.metrics,
                    databases,
                    self.proxy.server,
                    self.listeners.sessions,
                    self.gate,
                    checks,
                )
            )
            while self.metrics._text is before and not looking.done():
                await asyncio.sleep(0.01)
            assert not looking.done()
            looking.cancel()

        self.proxy.do(once())

    def samples(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        families = text_string_to_metric_families(self.metrics.text().decode())
        return {
            (one.name, tuple(sorted(one.labels.items()))): one.value
            for family in families
            for one in family.samples
        }

    def value(self, name: str, **labels: str) -> float:
        return self.samples()[name, tuple(sorted(labels.items()))]


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    pair, draining = servers(), [False]
    metrics = Metrics(("shop", "census"), "1.2.3", lambda: draining[0])
    proxy = start_proxy(pair, sample_databases(pair), observers=(metrics,))
    gate = LoginGate()
    listeners = open_http(proxy, gate=gate, observers=(metrics,))
    watched = Watched(listeners, metrics, gate, draining)
    watched.look()
    yield watched
    listeners.close()
    proxy.stop()


def test_statements_of_both_listeners_are_counted_once_a_period_is_full(watched: Watched) -> None:
    proxy, analyst = watched.proxy, watched.proxy.servers.new_analyst()
    poor = watched.proxy.servers.new_analyst()
    proxy.set_limit("shop", poor, "0.5", "0.1")
    before = watched.samples()
    with proxy.connect(analyst=analyst) as connection:
        connection.execute(_COUNT.encode())
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT total FROM shop.orders WHERE total > 1")
    assert watched.listeners.query(_COUNT, analyst=analyst).status_code == 200
    assert watched.listeners.query(_COUNT, analyst=poor).status_code == 403
    assert watched.samples() == before, "rule 4: nobody sees a single statement end"
    watched.look()
    after = watched.samples()

    def more(name: str, **labels: str) -> float:
        key = name, tuple(sorted({"database": "shop", **labels}.items()))
        return after[key] - before[key]

    queries = "dpproxy_queries_total"
    assert more(queries, listener="wire", outcome="answered") == 1
    assert more(queries, listener="http", outcome="answered") == 1
    assert more(queries, listener="wire", outcome="refused") == 1
    assert more(queries, listener="http", outcome="over_budget") == 1
    assert more("dpproxy_answers_total", source="fresh") == 2
    assert more("dpproxy_refusals_total", code="RAW_ROWS") == 1
    assert more("dpproxy_refusals_total", code="OVER_BUDGET") == 1
    assert more("dpproxy_charges_total", outcome="charged") == 2
    assert more("dpproxy_charges_total", outcome="over_budget") == 1
    assert more("dpproxy_budget_spent_epsilon", line="total") == pytest.approx(2)


def test_stages_are_counted_by_buckets_and_not_added_up(watched: Watched) -> None:
    def counted() -> dict[Stage, float]:
        watched.look()
        name = "dpproxy_stage_seconds_bucket"
        return {one: watched.value(name, stage=one.value, le="+Inf") for one in Stage}

    before, analyst = counted(), watched.proxy.servers.new_analyst()
    with watched.proxy.connect(analyst=analyst) as connection:
        connection.execute(_COUNT.encode())
    after = counted()
    assert {stage: after[stage] - before[stage] for stage in Stage} == dict.fromkeys(Stage, 1)
    text = watched.metrics.text().decode()
    assert "dpproxy_stage_seconds_sum" not in text and "dpproxy_stage_seconds_count" not in text
    for stage in (Stage.DATA, Stage.DRAW):
        ends = re.findall(rf'stage="{stage.value}"}}|le="([^"]+)",stage="{stage.value}"', text)
        assert ends == ["0.05", "0.2", "1.0", "5.0", "30.0", "120.0", "+Inf"]


def test_sessions_that_are_ended_are_counted_by_the_reason(watched: Watched) -> None:
    """Each reason that the code of the shadow has is one of the metric."""
    name, passed = "dpproxy_shares_ended_total", set()
    for file in ("shadow_monitor.py", "shadow_monitor.py"):
        text = (_ROOT / "proxy" / "shadow" / file).read_text(encoding="utf-8")
        for call in (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)):
            is_end = isinstance(call.func, ast.Name) and call.func.id == "end"
            given = [one.value for one in call.keywords if one.arg == "passed"]
            given += call.args[-1:] if is_end else []
            passed |= {one.value for one in given if isinstance(one, ast.Constant)}
    assert passed == {*ENDED_FOR}
    before = watched.value(name, reason="no_client")
    watched.metrics.session_ended("no client")
    assert watched.value(name, reason="no_client") == before, "rule 4"
    watched.look()
    assert watched.value(name, reason="no_client") == before + 1


def test_the_state_of_the_process(watched: Watched) -> None:
    proxy = watched.proxy
    analyst = proxy.servers.new_analyst()
    idle, busy = proxy.connect(analyst=analyst), proxy.connect(analyst=analyst, autocommit=False)
    busy.execute("SELECT 1")
    assert watched.listeners.client.get("/v1/budget", auth=(analyst, "wrong")).status_code == 401
    assert watched.listeners.query("SELECT 1", analyst=analyst).status_code == 200
    watched.look()
    assert watched.value("dpproxy_sessions", listener="wire", state="idle") == 1
    assert watched.value("dpproxy_sessions", listener="wire", state="in_transaction") == 1
    assert watched.value("dpproxy_logins_total", listener="http", outcome="wrong") == 1
    assert watched.value("dpproxy_logins_total", listener="http", outcome="ok") >= 1
    assert watched.value("dpproxy_pool_limit", database="shop", pool="protected") == 8
    idles = watched.value("dpproxy_pool_connections", database="shop", pool="ledger", state="idle")
    assert idles >= 1
    digest = proxy.assembly.databases["shop"].policy.digest[:12]
    assert watched.value("dpproxy_policy_info", database="shop", digest=digest) == 1
    assert watched.value("dpproxy_policy_not_taken", database="shop") == 0
    assert watched.value("dpproxy_tables_changed", database="shop") == 0
    proxy.assembly.databases["shop"].looked_at -= 100
    busy.close()
    idle.cancel_safe(timeout=60)
    idle.close()
    until(lambda: proxy.server.connections == 0)
    watched.look()
    assert watched.value("dpproxy_catalogue_age_seconds", database="shop") >= 100
    assert watched.value("dpproxy_sessions", listener="wire", state="idle") == 0
    assert watched.value("dpproxy_cancels_total", outcome="known") >= 1


def test_logins_over_the_wire(watched: Watched) -> None:
    proxy = watched.proxy
    gate = proxy.server._state.gate
    before = dict(gate.outcomes)
    dsn = proxy.dsn().replace(PASSWORD.replace("'", r"\'"), "nonsense")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(dsn, password="nonsense")
    proxy.connect().close()
    assert gate.outcomes["wire", "wrong"] == before.get(("wire", "wrong"), 0) + 1
    assert gate.outcomes["wire", "ok"] == before.get(("wire", "ok"), 0) + 1


def test_it_is_told_at_once_that_the_process_ends(watched: Watched) -> None:
    assert watched.value("dpproxy_ready", part="accepting") == 1
    watched.draining[0] = True
    try:
        assert watched.value("dpproxy_ready", part="accepting") == 0
    finally:
        watched.draining[0] = False
    assert watched.value("dpproxy_ready", part="protected") == 0, "one database is away"
    assert watched.value("dpproxy_ready", part="ledger") == 1


def test_a_budget_that_is_nearly_spent_is_counted_and_not_named(watched: Watched) -> None:
    analyst = watched.proxy.servers.new_analyst()
    watched.proxy.set_limit("shop", analyst, "1.2", "0.1")
    with watched.proxy.connect(analyst=analyst) as connection:
        connection.execute(_COUNT.encode())
    watched.look()
    near = watched.value("dpproxy_budget_lines_nearly_spent", database="shop", kind="analyst")
    assert near == 1
    assert watched.value("dpproxy_budget_limit_epsilon", database="shop", line="total") == 10**6


def test_transactions_that_charge_are_counted_by_size(watched: Watched) -> None:
    def batches() -> list[float]:
        watched.look()
        sizes = ("1", "2", "4", "8", "16", "32")
        return [
            watched.value("dpproxy_charge_batches_total", database="shop", size=one)
            for one in sizes
        ]

    before = batches()
    with watched.proxy.connect(analyst=watched.proxy.servers.new_analyst()) as connection:
        for least in (2, 3):
            connection.execute(
                f"SELECT count(*) FROM shop.orders WHERE quantity > {least}".encode()
            )
    assert [after - b for after, b in zip(batches(), before, strict=True)] == [2, 0, 0, 0, 0, 0]


# Privacy of metrics.


def test_nothing_is_made_of_rows(watched: Watched) -> None:
    """Rule 1. Two statements that differ in rows alone move the same numbers by the same amounts."""
    moved = []
    for condition in ("quantity >= 1", "quantity > 5 AND total < 0"):  # all rows, and none
        watched.look()
        before = watched.samples()
        with watched.proxy.connect(analyst=watched.proxy.servers.new_analyst()) as connection:
            connection.execute(
                f"SELECT status, count(*), sum(total) FROM shop.orders WHERE {condition} GROUP BY 1".encode()
            )
        until(lambda: watched.proxy.server.connections == 0)
        watched.look()
        counted = {
            k: v - before[k] for k, v in watched.samples().items() if k[0].endswith("_total")
        }
        # Waits for the ledger, where no row is, depend on what else the machine does.
        of_ledger = ("dpproxy_pool_waits_total", (("database", "shop"), ("pool", "ledger")))
        counted.pop(of_ledger, None)
        moved.append({name: by for name, by in counted.items() if by and "logins" not in name[0]})
    assert moved[0] == moved[1] and moved[0]


def test_labels_are_of_closed_sets_and_name_nobody(watched: Watched) -> None:
    """Rule 2."""
    analyst = watched.proxy.servers.new_analyst()
    watched.listeners.query("SELECT avg(total) FROM shop.orders", analyst=analyst)
    watched.look()
    for name, labels in watched.samples():
        assert {label for label, _ in labels} == set(FAMILIES[_family(name)].labels)
        for label, value in labels:
            if label in _VALUES:
                assert value in _VALUES[label], (name, label, value)
            else:
                assert (name, label) in {
                    ("dpproxy_build_info", "version"),
                    ("dpproxy_build_info", "python"),
                    ("dpproxy_policy_info", "digest"),
                }
    text = watched.metrics.text().decode()
    for secret in (analyst, "127.0.0", "total>", "avg", "quantity", "SELECT", "status="):
        assert secret not in text


def test_nothing_tells_how_long_a_statement_took(watched: Watched) -> None:
    """Rule 3: the one histogram has coarse buckets and no sum, so none of a single statement."""
    text = watched.metrics.text().decode()
    assert not re.search(r"_(sum|count|created)\b", text)
    assert {*re.findall(r"\w+_bucket\b", text)} == {_BUCKETS}
    kinds = set(re.findall(r"^# TYPE \S+ (\w+)$", text, re.MULTILINE))
    assert kinds == {"counter", "gauge", "histogram"}


def test_the_text_stays_as_it_is_within_a_period(watched: Watched) -> None:
    """Rule 4, also for sessions, logins and budgets."""
    watched.look()
    before = watched.metrics.text()
    with watched.proxy.connect(analyst=watched.proxy.servers.new_analyst()) as connection:
        connection.execute(_COUNT.encode())
        assert watched.metrics.text() == before


def test_security_says_what_metrics_tell() -> None:
    """Rule 5."""
    assert "**Who reads the metrics**" in (_ROOT / "SECURITY.md").read_text()


def test_every_family_is_told_but_for_tables_that_nobody_publishes(watched: Watched) -> None:
    told = {_family(name) for name, _ in watched.samples()}
    unpublished = {"dpproxy_publish_age_seconds", "dpproxy_publish_stopped"}
    assert told == set(FAMILIES) - unpublished
    assert all(name.startswith("dpproxy_") for name in FAMILIES)
    assert {one.value for one in Listener} == {"wire", "http", "mcp"}
