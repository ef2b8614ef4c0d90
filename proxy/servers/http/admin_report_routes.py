"""What administrators read over HTTP beyond lists: receipts, budgets over time, policies, audits."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime, time, timedelta, timezone
from http import HTTPStatus
from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from proxy.accounting.budget_lines import LineKind
from proxy.ledger import admin_log, ledger_reports, receipt_pages
from proxy.ledger.ledger_reports import budget_name
from proxy.ledger.receipt_pages import ListedReceipt, ReceiptFilter
from proxy.servers.http.admin_access import (
    AdminDoor,
    Administrator,
    Audits,
    LetIn,
    ReportedPolicies,
    State,
    let_in,
)
from proxy.servers.http.admin_models import (
    AuditList,
    BudgetSpent,
    ChainReport,
    CheckPolicyRequest,
    NewAuditRequest,
    PolicyReport,
    ReceiptEntry,
    ReceiptPage,
    SpendingOverTime,
    SpentDayEntry,
    StartedAudit,
)
from proxy.servers.http.documented_app import Operation, problems
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.json_models import Text

_PAGE = 50
_CSV_ROWS = 100_000
_DAYS = 90
_MOST_DAYS = 800
_ROWS, _DISTANCE = 40, 3
_MOST_ROWS, _MOST_DISTANCE = 2000, 50
_HEADS = (
    *("receipt", "place", "at", "analyst", "also", "epsilon", "delta", "drawn_epsilon", "outcome"),
    *("statement", "policy", "reason"),
)

Database = Annotated[Text, Query(description="A database, as the ledger names it.")]
PolicyName = Annotated[Text, Path(description="A database that this process serves.")]
CheckBody = Annotated[CheckPolicyRequest, Depends(CheckPolicyRequest.read)]
AuditBody = Annotated[NewAuditRequest, Depends(NewAuditRequest.read)]
Word = Annotated[Text | None, Query()]
Day = Annotated[Text | None, Query(description="A day in UTC, as 2026-11-27.")]

report_router = APIRouter(
    prefix="/admin/v1",
    route_class=Operation,
    dependencies=[Depends(let_in)],
    responses=problems(409),
)


@report_router.get("/spending", summary="What each budget paid by day", tags=["budgets"])
async def show_spending(
    administrator: LetIn,
    database: Word = None,
    since: Day = None,
    until: Day = None,
) -> SpendingOverTime:
    """From one day to another, both included: the last 90 days if nothing is said."""
    return await spending(administrator, database, day_of(since), day_of(until))


async def spending(
    administrator: Administrator, database: str | None, first: date | None, last: date | None
) -> SpendingOverTime:
    last = last or datetime.now(timezone.utc).date()
    first = first or last - timedelta(days=_DAYS - 1)
    if not 0 <= (last - first).days < _MOST_DAYS:
        raise HttpProblem(
            HTTPStatus.BAD_REQUEST, f"since and until are at most {_MOST_DAYS} days apart, in order"
        )
    days = await administrator.read(
        lambda dsn: ledger_reports.spending_by_day(
            dsn, database, _midnight(first), _midnight(last + timedelta(days=1))
        )
    )
    return SpendingOverTime(
        budgets=[
            BudgetSpent(
                source=source,
                budget=budget,
                days=[
                    SpentDayEntry(
                        day=one.day.isoformat(),
                        epsilon=one.epsilon,
                        delta=one.delta,
                        rho=one.rho,
                        receipts=one.receipts,
                    )
                    for one in found
                ],
            )
            for (source, budget), found in groupby(days, lambda one: (one.source, one.budget))
        ]
    )


@report_router.get("/receipts", summary="Receipts, page by page", tags=["receipts"])
async def list_receipts(
    administrator: LetIn,
    database: Database,
    text: Annotated[
        Text | None,
        Query(
            alias="q",
            description="A number, or 6 letters that a fingerprint or digest begins with.",
        ),
    ] = None,
    analyst: Word = None,
    outcome: Word = None,
    since: Day = None,
    until: Day = None,
    after: Annotated[Text | None, Query(description="`next` of the page before.")] = None,
) -> ReceiptPage:
    """Of one database, the newest first. Texts of statements are their analyst's alone."""
    wanted = receipt_filter(text, analyst, outcome, day_of(since), day_of(until), after)
    return await receipts(administrator, database, wanted)


async def receipts(
    administrator: Administrator, database: str, wanted: ReceiptFilter, most: int = _PAGE
) -> ReceiptPage:
    found, after = await administrator.read(
        lambda dsn: receipt_pages.receipt_page(dsn, database, wanted, most)
    )
    return ReceiptPage(receipts=[_entry(one) for one in found], next=after)


def receipt_filter(
    text: str | None,
    analyst: str | None,
    outcome: str | None,
    first: date | None,
    last: date | None,
    after: str | None = None,
) -> ReceiptFilter:
    """last: the last day, included."""
    return ReceiptFilter(
        text=text or None,
        analyst=analyst or None,
        outcome=outcome or None,
        since=None if first is None else _midnight(first),
        until=None if last is None or last == date.max else _midnight(last + timedelta(days=1)),
        after=after or None,
    )


async def receipts_as_csv(
    administrator: Administrator, database: str, wanted: ReceiptFilter
) -> Response:
    """All that the filter lets through, up to 100,000."""
    page = await receipts(administrator, database, wanted, _CSV_ROWS)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_HEADS)
    for one in page.receipts:
        cells = one.model_dump(mode="json") | {"also": "; ".join(one.also)}
        writer.writerow(
            ["" if cells[head] is None else _harmless(str(cells[head])) for head in _HEADS]
        )
    headers = {"Content-Disposition": 'attachment; filename="receipts.csv"'}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _harmless(text: str) -> str:
    """Names are chosen by people: none may be a formula of a spreadsheet."""
    return f"'{text}" if text[:1] in ("=", "+", "@", "\t", "\r") else text


def _entry(one: ListedReceipt) -> ReceiptEntry:
    also = [budget_name(LineKind(share["kind"]), share["name"]) for share in one.shares or ()]
    return ReceiptEntry(
        receipt=one.receipt,
        place=one.place,
        at=one.at,
        analyst=one.analyst,
        also=also,
        epsilon=one.epsilon,
        delta=one.delta,
        drawn_epsilon=one.drawn_epsilon,
        outcome=one.outcome,
        statement=one.statement,
        policy=one.policy,
        reason=one.reason,
    )


@report_router.get("/chain", summary="Whether the ledger is whole", tags=["receipts"])
async def verify_chain(administrator: LetIn) -> ChainReport:
    """Balances, chains of receipts, known events and triggers. It reads the whole ledger."""
    return ChainReport(problems=list(await administrator.read(ledger_reports.ledger_problems)))


@report_router.get(
    "/policies/{database}",
    summary="A policy in force, and what its file changes",
    tags=["policies"],
    responses=problems(404, 501),
)
async def show_policy(routes: State, database: PolicyName) -> PolicyReport:
    """Holds the file against the live database, with what `dpproxy doctor` finds. Nothing is taken up."""
    return await served(routes, database).report(database)


@report_router.post(
    "/policies/{database}/check",
    summary="What a text would change, and what is found about it",
    tags=["policies"],
    responses=problems(404, 501),
)
async def check_policy(routes: State, database: PolicyName, check: CheckBody) -> PolicyReport:
    """As for the file, of a text that is in no file. Nothing is kept."""
    return await served(routes, database).report(database, check.text)


def served(routes: AdminDoor, database: str) -> ReportedPolicies:
    policies = policies_of(routes)
    if database not in policies.names:
        raise HttpProblem(HTTPStatus.NOT_FOUND, "this dpproxy serves no such database")
    return policies


def policies_of(routes: AdminDoor) -> ReportedPolicies:
    if routes.policies is None:
        message = "this dpproxy reads its policies at the start only"
        raise HttpProblem(HTTPStatus.NOT_IMPLEMENTED, message, hint="Run dpproxy policy check.")
    return routes.policies


@report_router.get("/audits", summary="Neighbour audits", tags=["audits"], responses=problems(501))
async def list_audits(routes: State) -> AuditList:
    return AuditList(audits=list(await audits_of(routes).audits()))


@report_router.post(
    "/audits",
    summary="Begin a neighbour audit",
    tags=["audits"],
    status_code=HTTPStatus.CREATED,
    responses=problems(404, 501),
)
async def start_audit(routes: State, administrator: LetIn, new: AuditBody) -> StartedAudit:
    """On invented data that is shaped by the policy, in a process of its own. One runs at a time."""
    audits = audits_of(routes)
    served(routes, new.database)
    rows = _whole(new.rows, "rows", _ROWS, _MOST_ROWS)
    distance = _whole(new.distance, "distance", _DISTANCE, _MOST_DISTANCE)
    detail = {"database": new.database, "rows": rows, "distance": distance}
    number = await audits.start(new.database, rows=rows, distance=distance)
    await administrator.change(admin_log.append_event, what="audit", detail=detail)
    return StartedAudit(number=number)


def audits_of(routes: AdminDoor) -> Audits:
    if routes.audits is None:
        message = "this dpproxy runs no audits"
        raise HttpProblem(HTTPStatus.NOT_IMPLEMENTED, message, hint="Run dpproxy audit.")
    return routes.audits


def _whole(number: str | None, name: str, usual: int, most: int) -> int:
    if number is None:
        return usual
    if not (
        number.isascii() and number.isdecimal() and len(number) < 6 and 1 <= int(number) <= most
    ):
        raise HttpProblem(HTTPStatus.BAD_REQUEST, f"{name} is a whole number from 1 to {most}")
    return int(number)


def day_of(text: str | None) -> date | None:
    """Read a day. Refuses  HttpProblem 400"""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "a day is written as 2026-11-27") from None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), timezone.utc)
