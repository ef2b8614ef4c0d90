"""Metrics for Prometheus, as of the last full period.

Whoever reads metrics is often not the privacy officer. So no label and no value is made of rows. None names an
analyst, a group, a token, an address, a statement or a column. How long stages took is counted by coarse
buckets and not added up: the sum of one statement is its time. Counts and budgets are shown as of the last
period, so that nobody sees a single statement end.
"""

from __future__ import annotations

import math
import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from proxy.base.errors import Code
from proxy.base.stages import Stage
from proxy.engine.answer_origin import AnswerSource
from proxy.servers.statement_reports import Listener, Outcome, QueryReport

PERIOD_SECONDS = 15.0
_OF_ROWS = (0.05, 0.2, 1.0, 5.0, 30.0, 120.0)  # seconds: of stages whose time hangs on rows
_OTHERS = tuple(2**number / 1000 for number in range(13))  # to 4.096
BUCKETS: Mapping[Stage, tuple[float, ...]] = {
    one: (*(_OF_ROWS if one in (Stage.DATA, Stage.DRAW) else _OTHERS), math.inf) for one in Stage
}
STAGES = "dpproxy_stage_seconds"
# What a session of the shadow was ended for, as its log says it.
ENDED_FOR = (
    *("statement", "transaction", "notifications", "transaction ids", "catalogues"),
    *("temporary space", "locks", "locks that others wait for", "no client"),
)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]
Rows = Mapping[Labels, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """By which labels a metric is told. A counter's name ends with _total.

    Attributes:
        of_workers: What several workers show together: what is one server's or the ledger's, all of them see.
    """

    labels: Labels
    text: str
    of_workers: Callable[[Iterable[float]], float] = max


FAMILIES: Mapping[str, Family] = {
    "dpproxy_build_info": Family(labels=("version", "python"), text="Versions, always 1"),
    "dpproxy_up_since_seconds": Family(labels=("worker",), text="Start of the process, Unix time"),
    "dpproxy_queries_total": Family(
        labels=("database", "listener", "outcome"),
        text="Statements on protected tables that ended",
        of_workers=sum,
    ),
    "dpproxy_answers_total": Family(
        labels=("database", "source"), text="Answers by where they come from", of_workers=sum
    ),
    "dpproxy_refusals_total": Family(
        labels=("database", "code"),
        text="Statements that ended without an answer, by the rule",
        of_workers=sum,
    ),
    STAGES: Family(
        labels=("stage", "le"),
        text="Statements by their time in a stage, in coarse buckets",
        of_workers=sum,
    ),
    "dpproxy_charges_total": Family(
        labels=("database", "outcome"),
        text="Receipts, and charges that no budget covered",
        of_workers=sum,
    ),
    "dpproxy_charge_batches_total": Family(
        labels=("database", "size"),
        text="Transactions that charged so many statements, or fewer",
        of_workers=sum,
    ),
    "dpproxy_budget_spent_epsilon": Family(labels=("database", "line"), text="Spent in its window"),
    "dpproxy_budget_limit_epsilon": Family(labels=("database", "line"), text="Limit of a window"),
    "dpproxy_budget_spent_delta": Family(labels=("database", "line"), text="Spent in its window"),
    "dpproxy_budget_limit_delta": Family(labels=("database", "line"), text="Limit of a window"),
    "dpproxy_budget_spent_rho": Family(labels=("database", "line"), text="Spent in its window"),
    "dpproxy_budget_lines_nearly_spent": Family(
        labels=("database", "kind"), text="Budgets of which 80 % or more are spent"
    ),
    "dpproxy_sessions": Family(
        labels=("listener", "state"), text="Sessions of clients", of_workers=sum
    ),
    "dpproxy_logins_total": Family(
        labels=("listener", "outcome"), text="Logins that ended", of_workers=sum
    ),
    "dpproxy_cancels_total": Family(
        labels=("outcome",), text="CancelRequests with a key that was known, or not", of_workers=sum
    ),
    "dpproxy_shares_ended_total": Family(
        labels=("reason",), text="Sessions that were ended for the sake of others", of_workers=sum
    ),
    "dpproxy_pool_connections": Family(
        labels=("database", "pool", "state"),
        text="Connections to the servers behind",
        of_workers=sum,
    ),
    "dpproxy_pool_limit": Family(
        labels=("database", "pool"), text="The most that there can be", of_workers=sum
    ),
    "dpproxy_pool_waits_total": Family(
        labels=("database", "pool"), text="Times that a connection was waited for", of_workers=sum
    ),
    "dpproxy_publish_age_seconds": Family(
        labels=("database", "table"), text="Since the release that is shown"
    ),
    "dpproxy_publish_stopped": Family(
        labels=("database", "table"), text="1 where releases have stopped"
    ),
    "dpproxy_policy_info": Family(labels=("database", "digest"), text="Policy in force, always 1"),
    "dpproxy_policy_not_taken": Family(
        labels=("database",), text="1 while a change of the policy is not in force"
    ),
    "dpproxy_catalogue_age_seconds": Family(
        labels=("database",), text="Since the catalogue was compared"
    ),
    "dpproxy_tables_changed": Family(
        labels=("database",), text="Tables that are not asked, as they have changed"
    ),
    "dpproxy_ready": Family(
        labels=("part",), text="1 while it answers; accepting: not draining", of_workers=min
    ),
    "dpproxy_worker_restarts_total": Family(
        labels=("worker",), text="Times that a worker that ended was started again"
    ),
}


class Metrics:
    """Counts statements, and holds what was observed of everything else.

    Args:
        databases: Names of those that are served.
        version: Of dpproxy.
        is_draining: Whether the process is about to end.
        worker: Its number.
    """

    def __init__(
        self,
        databases: Sequence[str],
        version: str,
        is_draining: Callable[[], bool],
        worker: int = 1,
    ) -> None:
        self._is_draining = is_draining
        self.share: Callable[[Mapping[str, Rows]], None] = lambda rows: None  # what `observe` took
        self._lock = threading.Lock()  # statements are refused in threads, too
        self._counts: dict[str, Counter[Labels]] = {
            "dpproxy_queries_total": Counter(
                {
                    (database, listener.value, outcome.value): 0
                    for database in databases
                    for listener in Listener
                    for outcome in Outcome
                }
            ),
            "dpproxy_answers_total": Counter(
                {(d, s.value): 0 for d in databases for s in AnswerSource}
            ),
            "dpproxy_refusals_total": Counter({(d, c.name): 0 for d in databases for c in Code}),
            STAGES: Counter(
                {(stage.value, _le(end)): 0 for stage, ends in BUCKETS.items() for end in ends}
            ),
            "dpproxy_shares_ended_total": Counter({(_reason(one),): 0 for one in ENDED_FOR}),
            "dpproxy_charges_total": Counter(
                {(d, o): 0 for d in databases for o in ("charged", "over_budget")}
            ),
        }
        self._observed: dict[str, Rows] = {
            "dpproxy_build_info": {(version, platform.python_version()): 1},
            "dpproxy_up_since_seconds": {(str(worker),): time.time()},
            "dpproxy_worker_restarts_total": {(str(worker),): 0},
        }
        self._ready: Rows = {}
        self._text = b""

    def ended(self, report: QueryReport) -> None:
        database, counts = report.database, self._counts
        with self._lock:
            labels = database, report.listener.value, report.outcome.value
            counts["dpproxy_queries_total"][labels] += 1
            if report.source is not None:
                counts["dpproxy_answers_total"][database, report.source.value] += 1
            if report.code is not None:
                counts["dpproxy_refusals_total"][database, report.code] += 1
            if report.charges:
                counts["dpproxy_charges_total"][database, "charged"] += len(report.charges)
            if report.outcome is Outcome.OVER_BUDGET:
                counts["dpproxy_charges_total"][database, "over_budget"] += 1
            seconds: dict[Stage, float] = {}
            for one in report.stages:
                seconds[one.stage] = seconds.get(one.stage, 0) + one.own_seconds
            for stage, took in seconds.items():
                for end in BUCKETS[stage]:
                    counts[STAGES][stage.value, _le(end)] += took <= end

    def session_ended(self, reason: str) -> None:
        """Count a session that was ended. reason: one of ENDED_FOR"""
        with self._lock:
            self._counts["dpproxy_shares_ended_total"][_reason(reason),] += 1

    def observe(self, observed: Mapping[str, Rows], ready: Mapping[str, bool]) -> None:
        """Take what was seen of other things, and tell all of it from now on.

        Args:
            observed: Rows of the families that they replace.
            ready: Of each part of the databases, whether it answers everywhere.
        """
        self._observed.update(observed)
        self._ready = {(part,): float(answers) for part, answers in ready.items()}
        rows = self._rows()
        self._text = exposition_of(rows)
        self.share({**rows, "dpproxy_ready": self._ready})

    @property
    def accepting(self) -> Rows:
        return {("accepting",): float(not self._is_draining())}

    async def exposition(self) -> bytes:
        """What a reader is shown."""
        return self.text()

    def text(self) -> bytes:
        """As of the last `observe`, but for whether the process is about to end."""
        ready = {**self._ready, **self.accepting}
        return self._text + exposition_of({"dpproxy_ready": ready})

    def _rows(self) -> dict[str, Rows]:
        with self._lock:
            counts = {name: dict(rows) for name, rows in self._counts.items()}
        return {**counts, **self._observed}


def _reason(text: str) -> str:
    return text.replace(" ", "_")


def _le(end: float) -> str:
    return "+Inf" if end == math.inf else str(end)


class Exposition(Protocol):
    """What `GET /metrics` asks: of this process, or of all workers."""

    async def exposition(self) -> bytes: ...


def exposition_of(rows: Mapping[str, Rows]) -> bytes:
    return generate_latest(_Families(rows))


class _Families(CollectorRegistry):
    """A registry of these rows alone."""

    def __init__(self, rows: Mapping[str, Rows]) -> None:
        super().__init__(auto_describe=False)
        self._rows = rows

    def collect(self) -> Iterator[Metric]:
        return _families(self._rows)


def _families(rows: Mapping[str, Rows]) -> Iterator[Metric]:
    """In the order of the table. Raises KeyError for what is not in it."""
    for name in sorted(rows, key=list(FAMILIES).index):
        family = FAMILIES[name]
        if name == STAGES:
            yield _histogram(family, rows[name])
            continue
        make = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
        made = make(name, family.text, labels=family.labels)
        for labels, value in sorted(rows[name].items()):
            made.add_metric(labels, value)
        yield made


def _histogram(family: Family, rows: Rows) -> Metric:
    """Without a sum, and so without a count, which is the last bucket."""
    made = HistogramMetricFamily(STAGES, family.text, labels=family.labels[:1])
    for stage, ends in BUCKETS.items():
        counted = [(_le(end), float(rows.get((stage.value, _le(end)), 0))) for end in ends]
        made.add_metric((stage.value,), counted, sum_value=None)
    return made
