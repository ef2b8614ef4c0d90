"""The administrators' pages of a policy: what is in force, what its file changes, findings, audits."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from difflib import SequenceMatcher
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Response
from markupsafe import Markup

from proxy.base.shown_numbers import shown_number
from proxy.engine.policy_report import PrivacyReport
from proxy.engine.report_formats import report_html, report_json, report_markdown
from proxy.policy_file.shown_text import HIDDEN_LINE
from proxy.servers.console.admin_frame import AdminFrame, Visit, told
from proxy.servers.console.charts import Plot, share_bar
from proxy.servers.console.page_responses import HEADERS, to
from proxy.servers.http import admin_report_routes as reports
from proxy.servers.http import admin_routes as api
from proxy.servers.http.admin_models import (
    AuditedStatement,
    AuditRun,
    CheckPolicyRequest,
    FindingEntry,
    NewAuditRequest,
    PolicyReport,
)
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import JsonNumber

_WIDE, _NARROW = 1180, 358
_AROUND = 3  # lines around a change
_TIGHT = 0.9
_FEW = 8  # lines that can be told from each other
_ROWS, _DISTANCE = "80", "5"
# Ending, type and printer of a file.
_FORMATS: Mapping[str, tuple[str, str, Callable[[PrivacyReport], str]]] = {
    "HTML": ("html", "text/html", report_html),
    "Markdown": ("md", "text/markdown", report_markdown),
    "JSON": ("json", "application/json", report_json),
}


class AdminPolicies:
    def __init__(self, frame: AdminFrame) -> None:
        self._frame, self._door = frame, frame.door

    async def policy(self, visit: Visit) -> Response:
        database = _database(visit)
        report = await reports.show_policy(self._door, database)
        done = _reloaded(visit, self._frame.databases) if visit.asked("done") == "reload" else ""
        return await self._shown(visit, report, done=done)

    async def act(self, visit: Visit) -> Response:
        database, form = _database(visit), await visit.form()
        if form.get("act") == "check":
            text = form.get("text", "")
            wanted = CheckPolicyRequest.validated({"text": text})
            report = await reports.check_policy(self._door, database, wanted)
            return await self._shown(visit, report, given=text)
        answer = await api.reload_policies(self._door, visit.administrator)
        refused = [
            one["database"]
            for one in json.loads(bytes(answer.body))["policies"]
            if one["not_taken"]
        ]
        place = urlencode({"done": "reload", "refused": refused}, doseq=True)
        return to(f"/policy/{quote(database, safe='')}?{place}")

    async def _shown(
        self, visit: Visit, report: PolicyReport, *, done: str = "", given: str | None = None
    ) -> Response:
        file = report.file
        old, new, what = report.text, file.text, "What the file changes"
        changes, people = file.changes, file.people
        if given is not None:
            what = "What this text changes about the policy in force"
        elif file.is_in_force and report.before is not None:
            old, new = report.before.text, report.text
            changes, people = report.before.changes, report.before.people
            what = f"What the last change did (before: {report.before.digest[:12]})"
        diff = await asyncio.to_thread(lambda: list(_diff(old, new or old)))
        return await self._frame.html(
            visit,
            "admin_policy",
            page="Policy",
            title=f"Policy of {report.database}",
            database=report.database,
            report=report,
            file=file,
            is_in_force=file.is_in_force,
            checked=given is not None,
            given=report.text if given is None else given,
            is_source_hidden=HIDDEN_LINE in (report.text if given is None else given),
            since=_moment(report.since),
            done=done,
            what_changes=what,
            changes=changes,
            people=people,
            diff=diff,
            counts=_counts(file.findings),
            lines=report.text.splitlines(),
        )

    async def findings(self, visit: Visit) -> Response:
        database = _database(visit)
        report = await reports.show_policy(self._door, database)
        file = report.file
        # A text that is not in force, or is none, says nothing of what is served.
        found = file.findings if file.is_in_force and not file.problems else report.findings
        opened = [one for one in found or () if one.accepted is None]
        accepted = [one for one in found or () if one.accepted is not None]
        of = Counter(one.severity for one in opened)
        counted = [
            ("Severe", of["severe"], "nothing is served with one, unless the owner accepts it"),
            ("Warnings", of["warning"], "answers are worse or slower than they could be"),
            ("Notes", of["note"], "worth knowing"),
            ("Accepted", len(accepted), "by the owner, with a reason"),
        ]
        return await self._frame.html(
            visit,
            "admin_findings",
            page="Findings",
            title=f"Findings about {database}",
            database=database,
            open=opened,
            accepted=accepted,
            counted=[] if found is None else counted,
            is_looked_for=found is not None,
            is_file=file.is_in_force,
            problems=len(file.problems),
        )

    async def report(self, visit: Visit) -> Response:
        """The privacy report: as a page, or as a file with `format`."""
        database, wanted = _database(visit), visit.asked("format")
        report = await reports.served(self._door, database).privacy_report(database)
        if wanted:
            return _file(database, wanted, report)
        return await self._frame.html(
            visit,
            "admin_report",
            page="Policy",
            title=f"Privacy report of {database}",
            database=database,
            report=report,
            formats=list(_FORMATS),
            done="The report is noted. The next one says what has changed since."
            if visit.asked("done") == "noted"
            else "",
        )

    async def note_report(self, visit: Visit) -> Response:
        database = _database(visit)
        await visit.form()
        by = visit.administrator.by
        await reports.served(self._door, database).note_report(database, by)
        return to(f"/report/{quote(database, safe='')}?done=noted")

    async def audit(self, visit: Visit) -> Response:
        return await self._audit(visit, _ROWS, _DISTANCE)

    async def run_audit(self, visit: Visit) -> Response:
        database, form = _database(visit), await visit.form()
        rows, distance = form.get("rows", "").strip(), form.get("distance", "").strip()
        try:
            wanted = NewAuditRequest.validated(
                {
                    "database": database,
                    "rows": JsonNumber(rows),
                    "distance": JsonNumber(distance),
                }
            )
            await reports.start_audit(self._door, visit.administrator, wanted)
        except Exception as error:
            return await self._audit(visit, rows, distance, told(error))
        return to(f"/audit/{quote(database, safe='')}")

    async def _audit(self, visit: Visit, rows: str, distance: str, problem: Any = None) -> Response:
        database = _database(visit)
        audits = (await reports.list_audits(self._door)).audits
        own = [one for one in audits if one.database == database]
        running = next((one for one in audits if one.state == "running"), None)
        run = next((one for one in own if one.state == "done"), None)
        failed = own[0] if own and own[0].state == "failed" else None
        shown = {} if run is None else await asyncio.to_thread(_audit_shown, run)
        return await self._frame.html(
            visit,
            "admin_audit",
            status=HTTPStatus.OK if problem is None else problem.status,
            page="Audit",
            title=f"Audit of {database}",
            database=database,
            rows=rows,
            distance=distance,
            problem=problem,
            running=running,
            running_since="" if running is None else _moment(running.at),
            failed=failed,
            run=run,
            **shown,
        )


def _file(database: str, wanted: str, report: PrivacyReport) -> Response:
    if wanted not in _FORMATS:
        words = ", ".join(_FORMATS)
        raise HttpProblem(HTTPStatus.BAD_REQUEST, f"there is no such format: {words}")
    ending, kind, printed = _FORMATS[wanted]
    name = f"privacy-report-{re.sub('[^A-Za-z0-9_-]', '_', database)}.{ending}"
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(printed(report), media_type=f"{kind}; charset=utf-8", headers=headers)


def _database(visit: Visit) -> str:
    return str(visit.request.path_params["database"])


def _reloaded(visit: Visit, databases: Sequence[str]) -> str:
    """Which files were refused when they were read again, and which are in force."""
    refused = set(visit.request.query_params.getlist("refused"))
    parts = [
        ("In force as the file says", [one for one in databases if one not in refused]),
        (
            "Refused, so that the policy of before stays",
            [one for one in databases if one in refused],
        ),
    ]
    told = " ".join(f"{what}: {', '.join(names)}." for what, names in parts if names)
    return f"The files were read again. {told}"


def _counts(findings: Sequence[FindingEntry]) -> str:
    found = Counter("accepted" if one.accepted is not None else one.severity for one in findings)
    return ", ".join(
        f"{count} {word}{'s' if count > 1 and word in ('warning', 'note') else ''}"
        for word, count in found.items()
    )


def _diff(old: str, new: str) -> Iterator[tuple[str, str, str]]:
    """Changed lines with some around them: "add", "del" or "", a number, the line.

    >>> list(_diff("a\\nb\\n", "a\\nc\\n"))
    [('', '1', 'a'), ('del', '2', 'b'), ('add', '2', 'c')]
    >>> list(_diff("a\\n", "a\\n"))
    []
    """
    before, after = old.splitlines(), new.splitlines()
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(_AROUND)):
        if number:
            yield "", "", "⋯"
        for what, i1, i2, j1, j2 in group:
            if what == "equal":
                yield from (("", str(j1 + n + 1), line) for n, line in enumerate(after[j1:j2]))
                continue
            yield from (("del", str(i1 + n + 1), line) for n, line in enumerate(before[i1:i2]))
            yield from (("add", str(j1 + n + 1), line) for n, line in enumerate(after[j1:j2]))


def _audit_shown(run: AuditRun) -> Mapping[str, Any]:
    listed = [
        {
            "sql": one.sql,
            "release": one.release,
            "measure": one.measure,
            "planned": _number(one.planned),
            "observed": _number(one.observed),
            "bar": share_bar(one.shares[0] if one.shares else 0.0),
            "share": f"{100 * one.shares[0]:.0f}" if one.shares else "",
            "is_above": one.is_above,
        }
        for one in run.statements
    ]
    tight = sum(bool(one.shares) and one.shares[0] >= _TIGHT for one in run.statements)
    return {
        "listed": listed,
        "statements": len({one.sql for one in run.statements}),
        "above": sum(one.is_above for one in run.statements),
        "tight": tight,
        "day": f"{run.at.day} {run.at:%b}",
        "at": f"{run.at.astimezone(timezone.utc):%H:%M} UTC",
        "plot": audit_plot(run.statements, run.distance),
        "plot_words": _audit_words(run.statements),
    }


def audit_plot(statements: Sequence[AuditedStatement], most: int) -> Markup:
    """The largest change at each distance, in units of what is planned for one. Above the dashed line nothing
    is allowed."""
    plotted = [one.shares for one in statements if one.shares]
    if not plotted:
        return Markup("")
    top = max(float(most), *(max(one) for one in plotted))
    top *= 1.15  # so that the region above the limit can be seen at its end, too
    title = (
        f"Largest change of {len(plotted)} answers by people taken out, 0 to {most};"
        f" the largest is {max(max(one) for one in plotted):.2f} times what is planned for one"
    )
    end = float(most)
    made = []
    for width, height, name in ((_WIDE, 340, "plot at-wide"), (_NARROW, 280, "plot at-narrow")):
        plot = Plot(
            *(width, height, (0.0, end), (0.0, top)),
            left=40,
            titles=(
                "people taken out of the data",
                "change of the answer ÷ planned change for one person",
            ),
        )
        plot.filled([(0.0, 0.0), (end, end), (end, top), (0.0, top)], "forbidden")
        ticks = range(0, most + 1, max(1, math.ceil(most / 10)))
        plot.y_axis(shown_number, 6).x_axis([(float(n), str(n)) for n in ticks])
        different = dict.fromkeys(map(tuple, plotted))
        own = "line" if len(different) <= _FEW else "line thin"
        for shares in different:
            points = [(0.0, 0.0), *((float(n), one) for n, one in enumerate(shares, 1))]
            plot.line(points, "line over" if _is_above(shares) else own)
        plot.line([(0.0, 0.0), (end, end)], "line limit-line")
        plot.text((end * 0.04, top * 0.9), "more than the plan allows")
        made.append(plot.svg(title, name))
    return Markup("").join(made)


def _is_above(shares: Sequence[float]) -> bool:
    return any(one > n * (1 + 1e-9) for n, one in enumerate(shares, 1))


def _audit_words(statements: Sequence[AuditedStatement]) -> str:
    """What the plot shows.

    >>> _audit_words([])
    ''
    """
    plotted = [one.shares for one in statements if one.shares]
    if not plotted:
        return ""
    above = sum(map(_is_above, plotted))
    at = sum(shares[0] >= _TIGHT for shares in plotted) - above
    count = len(plotted)
    of = f"{count} answers of the statements below: "
    if above:
        return f"{of}{above} changed by more than the plan allows. That is a defect: report it."
    below = count - at
    rest = f" {below} stay further below: their noise could be smaller." if below else ""
    return (
        f"{of}none changed by more than the plan allows. {at} reach 90 % of it or more: the plan"
        f" wastes nothing there.{rest}"
    )


def _number(value: float) -> str:
    """
    >>> _number(1048576.0), _number(0.5), _number(1 / 3)
    ('1,048,576', '0.5', '0.3333')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _moment(at: datetime) -> str:
    found = at.astimezone(timezone.utc)
    return f"{found.day} {found:%b %Y, %H:%M} UTC"
