"""The administrators' console: what it shows. Pages call the functions that the routes of the API call."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Response

from proxy.accounting.budget_lines import LineKind
from proxy.ledger import users
from proxy.ledger.ledger_reports import budget_name
from proxy.ledger.receipt_pages import OUTCOMES
from proxy.servers.console.admin_frame import AdminFrame, Visit
from proxy.servers.console.admin_people import AdminPeople
from proxy.servers.console.admin_policies import AdminPolicies
from proxy.servers.console.charts import (
    Paid,
    amount_text,
    amounts,
    burn_down,
    delta_text,
    odds,
    pace,
    shown_line,
    unit_of,
    window_start,
)
from proxy.servers.console.page_responses import static
from proxy.servers.http import admin_report_routes as reports
from proxy.servers.http import admin_routes as api
from proxy.servers.http.admin_access import AdminDoor
from proxy.servers.http.admin_models import BudgetEntry, ReceiptEntry, WaitingAdjustment
from proxy.servers.http.json_models import DatabaseStatus, StatusReport

# Details of the administrators' log as labels and texts for people.

_FIRST_DIGITS = 12
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_LABELS = {
    "source": "database",
    "grp": "group",
    "digest": "after",
    "in_force": "in force",
    "weaker": "points with less protection",
    "points": "keys",
    "per": "renews each",
    "distance": "people taken out",
}
_BUDGETS = {"analysts": "analyst", "groups": "group", "tables": "table"}


def detail_words(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give each entry that says something. Digests are cut to their first digits.

    >>> list(detail_words({"name": "ann", "password": True, "note": None, "epsilon": "2E+1"}))
    [('name', 'ann'), ('password', 'yes'), ('epsilon', '20')]
    >>> list(detail_words({"source": 1, "budgets": {"total": ["", "", "2E+1", "0.00001", "none"]}}))
    [('total', 'ε 20, δ 10⁻⁵ for ever')]
    """
    budgets = detail.get("budgets")
    if isinstance(budgets, Mapping):
        yield from _budgets(budgets)
    for name, value in detail.items():
        is_number_of_source = name == "source" and isinstance(value, int)
        if value in (None, "", []) or name == "budgets" or is_number_of_source:
            continue
        yield _LABELS.get(name, name.replace("_", " ")), _text(name, value)


def _text(name: str, value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_text(name, one) for one in value)
        case str() if name in ("epsilon", "delta", "rho"):
            return _amount(value, is_delta=name == "delta")
        case str():
            return value[:_FIRST_DIGITS] if _DIGEST.fullmatch(value) else value
        case _:
            return json.dumps(value)


def _amount(text: str, *, is_delta: bool = False) -> str:
    try:
        return delta_text(text) if is_delta else amount_text(Decimal(text))
    except (InvalidOperation, ValueError):
        return text


def _budgets(budgets: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """As `budgets_text` of the ledger writes them."""
    for name in ("total", "default"):
        if name in budgets:
            yield name, _limit(budgets[name])
    for kind, word in _BUDGETS.items():
        for name, limit in budgets.get(kind, {}).items():
            yield f"{word} {name}", _limit(limit)


def _limit(limit: Sequence[Any]) -> str:
    _, _, epsilon, delta, per, *_ = limit
    window = "for ever" if per == "none" else f"a {per}"
    return f"ε {_amount(epsilon)}, δ {_amount(delta, is_delta=True)} {window}"


_TOTAL = "(everybody together)"
_DAYS = (30, 90, 365)
_LOGGED = 100  # events of a page
_FINGERPRINT = 12


def admin_console(door: AdminDoor) -> APIRouter:
    """The console before the routes of /admin/v1."""
    return AdminConsole(AdminFrame(door)).router


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    """What an administrator has to do. href, link: where."""

    word: str
    title: str
    text: str
    href: str = ""
    link: str = ""


class AdminConsole:
    """The console's routes, on the administrators' listener."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame, self._door = frame, frame.door

    @property
    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        frame, people = self._frame, AdminPeople(self._frame)
        policies = AdminPolicies(self._frame)
        for path, page in (
            ("/", self.overview),
            ("/budgets", self.budgets),
            ("/receipts", self.receipts),
            ("/receipts.csv", self.receipts_csv),
            ("/chain", self.chain),
            ("/log", self.log),
            ("/people", people.people),
            ("/people/one", people.person),
            ("/change/{action}", people.form),
            ("/policy/{database:path}", policies.policy),
            ("/findings/{database:path}", policies.findings),
            ("/report/{database:path}", policies.report),
            ("/audit/{database:path}", policies.audit),
        ):
            router.add_api_route(path, frame.page(page), methods=["GET", "HEAD"])
        for path, page in (
            ("/sign-out", frame.sign_out),
            ("/change/{action}", people.change),
            ("/policy/{database:path}", policies.act),
            ("/report/{database:path}", policies.note_report),
            ("/audit/{database:path}", policies.run_audit),
        ):
            router.add_api_route(path, frame.page(page), methods=["POST"])
        router.add_api_route("/sign-in", frame.sign_in_page, methods=["GET", "HEAD"])
        router.add_api_route("/sign-in", frame.sign_in, methods=["POST"])
        router.add_api_route("/static/{digest}/{name}", static, methods=["GET", "HEAD"])
        return router

    async def overview(self, visit: Visit) -> Response:
        report = None if self._door.status is None else await api.show_status(self._door)
        shown: dict[str, Any] = {"report": report}
        if report is not None:
            wire = report.sessions.get("wire", {})
            shown |= {
                "started": _moment(report.started_at),
                "sessions": sum(one.sessions for one in report.workers),
                "active": wire.get("active", 0),
                "statements": sum(one.statements for one in report.workers),
                "waiting": [
                    *_waiting(report, self._frame.databases),
                    *[one async for one in self._open_findings()],
                    *_unconfirmed((await api.list_adjustments(visit.administrator)).waiting),
                ],
                "rows": [self._row(one) for one in report.databases],
            }
        return await self._frame.html(
            visit, "admin_overview", page="Overview", title="Overview", **shown
        )

    async def _open_findings(self) -> AsyncIterator[ToDo]:
        for name in self._frame.databases:
            assert self._door.policies is not None
            counts = await self._door.policies.open_findings(name)
            words = [
                f"{counts[severity]} {word}{'s'[: counts[severity] != 1]}"
                for severity, word in (("severe", "severe finding"), ("warning", "warning"))
                if counts.get(severity)
            ]
            if words:
                yield ToDo(
                    word="severe" if counts.get("severe") else "warning",
                    title=f"Open about the policy of {name}: {' and '.join(words)}",
                    text="Each comes with what mends it; the owner can accept it with a reason.",
                    href=f"/findings/{quote(name, safe='')}",
                    link="Findings",
                )

    def _row(self, one: DatabaseStatus) -> Mapping[str, Any]:
        parts = {"protected database": one.protected, "ledger": one.ledger, "shadow": one.shadow}
        stopped = sum(each.is_stopped for each in one.publications)
        published = str(len(one.publications)) + (f", {stopped} stopped" if stopped else "")
        return {
            "name": one.database,
            "missing": ", ".join(part for part, answers in parts.items() if not answers),
            "postgresql": one.postgresql or "",
            "policy": one.policy[:_FINGERPRINT],
            "is_watched": one.database in self._frame.databases,
            "since": _moment(one.policy_since),
            "published": published,
            "pool": f"{one.protected_pool.used} of {one.protected_pool.limit}",
        }

    async def budgets(self, visit: Visit) -> Response:
        found = (await api.list_budgets(visit.administrator)).budgets
        sources = list(dict.fromkeys(one.source for one in found))
        database = _chosen(visit, "database", sources)
        waiting = (await api.list_adjustments(visit.administrator)).waiting
        shown: dict[str, Any] = {
            "sources": sources,
            "database": database,
            "lines": [],
            "waiting": [_asked(one) for one in waiting if one.database == database],
        }
        if database:
            lines = [one for one in found if one.source == database]
            shown |= await self._spending(visit, database, lines)
        return await self._frame.html(
            visit, "admin_budgets", page="Budgets", title="Budgets", **shown
        )

    async def _spending(
        self, visit: Visit, database: str, lines: Sequence[BudgetEntry]
    ) -> Mapping[str, Any]:
        today = datetime.now(timezone.utc).date()
        asked = visit.asked("days")
        days = int(asked) if asked in map(str, _DAYS) else _DAYS[0]
        first = today - timedelta(days=days - 1)
        earliest = min((window_start(one.per, first) or first for one in lines), default=first)
        series = await reports.spending(visit.administrator, database, earliest, today)
        by_line = {
            one.budget: {date.fromisoformat(day.day): (day.epsilon, day.rho) for day in one.days}
            for one in series.budgets
        }

        def paid(line: BudgetEntry) -> Paid:
            is_rho = unit_of(line) == "ρ"
            return {
                day: rho if is_rho else epsilon
                for day, (epsilon, rho) in by_line.get(line.budget, {}).items()
            }

        total = next(one for one in lines if one.budget == _TOTAL)
        drawn = next((one for one in lines if one.budget == visit.asked("line", 400)), total)

        def made() -> Mapping[str, Any]:
            end, rate = pace(total, paid(total), today)
            listed = [
                (
                    _query(database=database, line=one.budget, days=days),
                    shown_line(one, paid(one), today),
                )
                for one in lines
            ]
            one_of = shown_line(drawn, paid(drawn), today)
            return {
                "lines": listed,
                "total": shown_line(total, paid(total), today),
                "odds": odds(Decimal(total.epsilon)),
                "pace": end,
                "pace_of": rate,
                "days": days,
                "line": drawn.budget,
                "drawn": one_of.name,
                "renews": one_of.renews,
                "unit": one_of.unit,
                "has_limit": amounts(drawn)[1] is not None,
                "chart": burn_down(drawn, paid(drawn), first, today),
            }

        return await asyncio.to_thread(made)

    async def receipts(self, visit: Visit) -> Response:
        asked = {name: visit.asked(name) for name in ("q", "analyst", "outcome", "since", "until")}
        sources = await self._sources(visit)
        database = _chosen(visit, "database", sources)
        shown: dict[str, Any] = {"sources": sources, "database": database, "asked": asked}
        if database:
            wanted = _filter(asked, visit.asked("after"))
            page = await reports.receipts(visit.administrator, database, wanted)
            address = {"database": database, **{k: v for k, v in asked.items() if v}}
            following = None if page.next is None else _query(**address, after=page.next)
            shown |= {
                "receipts": [_receipt(one) for one in page.receipts],
                "analysts": await visit.administrator.read(users.list_analysts),
                "outcomes": OUTCOMES,
                "is_filtered": len(address) > 1,
                "first": _query(**address) if visit.asked("after") else "",
                "next": following,
            }
        return await self._frame.html(
            visit, "admin_receipts", page="Receipts", title="Receipts", **shown
        )

    async def receipts_csv(self, visit: Visit) -> Response:
        asked = {name: visit.asked(name) for name in ("q", "analyst", "outcome", "since", "until")}
        database = _chosen(visit, "database", await self._sources(visit))
        return await reports.receipts_as_csv(visit.administrator, database, _filter(asked, ""))

    async def chain(self, visit: Visit) -> Response:
        found = (await reports.verify_chain(visit.administrator)).problems
        now = datetime.now(timezone.utc)
        return await self._frame.html(
            visit, "admin_chain", page="Receipts", title="Ledger", problems=found, at=_moment(now)
        )

    async def log(self, visit: Visit) -> Response:
        events = (await api.show_log(visit.administrator)).events[::-1]
        asked = visit.asked("from")
        first = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 9 else 0
        end = first + _LOGGED
        shown = [
            {
                "at": _second(one.at),
                "who": one.who,
                "what": one.what,
                "detail": list(detail_words(one.detail)),
            }
            for one in events[first:end]
        ]
        return await self._frame.html(
            visit,
            "admin_log",
            page="Log",
            title="Log",
            events=shown,
            older=end if len(events) > end else 0,
            newer=max(0, first - _LOGGED) if first else None,
        )

    async def _sources(self, visit: Visit) -> list[str]:
        """Those that the ledger knows."""
        access = await api.list_access(visit.administrator)
        return [one.source for one in access.databases]


def _waiting(report: StatusReport, watched: Sequence[str]) -> Iterator[ToDo]:
    if report.state != "ready":
        yield ToDo(
            word=report.state,
            title="dpproxy does not serve at the moment",
            text="A part does not answer, or it is being stopped: see the table below.",
        )
    for one in report.databases:
        name, here = one.database, quote(one.database, safe="")
        if not one.is_policy_taken:
            yield ToDo(
                word="not taken",
                title=f"The policy file of {name} says something else than what is in force",
                text="The policy of before stays in force.",
                href=f"/policy/{here}" if name in watched else "",
                link="What keeps it",
            )
        if one.tables_changed:
            yield ToDo(
                word="closed",
                title=f"Tables of {name} changed and are not asked",
                text=f"{', '.join(one.tables_changed)}: they are declared otherwise, or a finding closes them.",
                href=f"/findings/{here}" if name in watched else "",
                link="Findings",
            )
        for budget in one.budgets_nearly_spent:
            yield ToDo(
                word="80 %",
                title=f"A budget of {name} is nearly spent: {budget.strip('()')}",
                text="Statements are refused when it is spent.",
                href=f"/budgets?{urlencode({'database': name})}",
                link="Budgets",
            )
        for each in one.publications:
            if each.is_stopped:
                yield ToDo(
                    word="stopped",
                    title=f"published.{each.table} of {name} is not released any more",
                    text="Run dpproxy publish list: it says why.",
                )
    if report.stuck_sessions:
        yield ToDo(
            word="stuck",
            title=f"{report.stuck_sessions} sessions were told to end and have not",
            text="They hold their places.",
            href="/people",
            link="Sessions",
        )


def _unconfirmed(waiting: Sequence[WaitingAdjustment]) -> Iterator[ToDo]:
    for one in waiting:
        yield ToDo(
            word="confirm",
            title=f"Budget of {one.database} is to be given back, by request {one.number}",
            text=f"{one.made_by}: {one.reason}. Another administrator confirms it, or it ends without effect.",
            href=f"/budgets?{urlencode({'database': one.database})}",
            link="Budgets",
        )


def _asked(one: WaitingAdjustment) -> Mapping[str, str]:
    """A request to give budget back."""
    amounts = (("epsilon", one.epsilon), ("delta", one.delta), ("rho", one.rho))
    return {
        "number": str(one.number),
        "budget": budget_name(LineKind(one.kind), one.name).strip("()"),
        "amounts": ", ".join(f"{name} {each.normalize():f}" for name, each in amounts if each),
        "reason": one.reason,
        "by": one.made_by,
        "until": _moment(one.until),
    }


def _filter(asked: Mapping[str, str], after: str) -> Any:
    return reports.receipt_filter(
        asked["q"].strip(),
        asked["analyst"].strip(),
        asked["outcome"],
        reports.day_of(asked["since"]),
        reports.day_of(asked["until"]),
        after,
    )


def _receipt(one: ReceiptEntry) -> Mapping[str, str]:
    return {
        "receipt": "" if one.receipt is None else str(one.receipt),
        "at": _second(one.at),
        "analyst": one.analyst,
        "also": ", ".join(name.strip("()") for name in one.also),
        "epsilon": amount_text(one.epsilon),
        "delta": delta_text(str(one.delta)),
        "drawn": amount_text(one.drawn_epsilon),
        "outcome": one.outcome,
        "statement": (one.statement or "")[:_FINGERPRINT],
        "reason": one.reason or "",
        "policy": (one.policy or "")[:_FINGERPRINT],
    }


def _chosen(visit: Visit, name: str, known: Sequence[str]) -> str:
    asked = visit.asked(name)
    return asked if asked in known else (known[0] if known else "")


def _query(**values: object) -> str:
    return f"?{urlencode(values)}"


def _moment(at: datetime) -> str:
    found = at.astimezone(timezone.utc)
    return f"{found.day} {found:%b %Y, %H:%M} UTC"


def _second(at: datetime) -> str:
    return f"{at.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S}"
