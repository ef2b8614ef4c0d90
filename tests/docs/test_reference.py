"""The reference says what the program can be given: no more, no less. Its tables are made from the code."""

from __future__ import annotations

import asyncio
import functools
import re
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from docs.site.log_events import MEANINGS, MORE_FIELDS, log_events
from docs.site.page_sources import GENERATED, page_text, pages
from docs.site.reference_tables import TABLES
from proxy.base.errors import Code
from proxy.base.session_settings import DP_SETTINGS, SESSION_SETTINGS
from proxy.servers.metrics import FAMILIES
from proxy.servers.statement_reports import AskedStatement, Listener, Outcome, QueryLog, QueryReport
from tests.deploy.files import DEPLOY, ROOT, commands
from tests.servers.http.declared_responses import analysts_app

_SETTINGS = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
_CODE = re.compile(r"`([^`]*)`")
_VARIABLE = re.compile(
    r"\b(?:DPPROXY|XDG|CREDENTIALS|OTEL|NOTIFY)_[A-Z_]*[A-Z]\b|(?<=environ\.get\(\")TERM\b"
)


@functools.cache
def _page(name: str) -> str:
    path = ROOT / "docs" / "reference" / f"{name}.md"
    return page_text(f"docs/reference/{name}.md", path.read_text(encoding="utf-8"))


def _first_cells(table: str) -> list[str]:
    return [line.split("|")[1].strip(" `") for line in table.splitlines() if line.startswith("| `")]


def test_each_table_stands_on_one_page() -> None:
    named = [
        name for text in pages().values() for name in GENERATED.findall(text.read_text("utf-8"))
    ]
    # Findings are in the reference of policies, which a command prints (tests/policy/test_policy_manual.py).
    assert sorted(named) == sorted(TABLES)


@pytest.mark.parametrize(
    ("path", "command"), list(commands()), ids=[path for path, _ in commands()]
)
def test_each_option_is_there_with_its_meaning(path: str, command: Any) -> None:
    heading = "## dpproxy" if path == "dpproxy" else f"## dpproxy {path}"
    section = re.split(rf"(?m)^{re.escape(heading)}$", _page("commands"))[1].split("\n## ")[0]
    section = section.replace(r"\|", "/")  # between choices
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            assert parameter.name.upper() in section
            continue
        for name in (*parameter.opts, *parameter.secondary_opts):
            (row,) = re.findall(rf"^\| [^|]*`{name}[ `][^|]*\| ([^|]+) \|", section, re.MULTILINE)
            assert len(row.strip()) > 5, f"{name} has no help"


def test_each_code_setting_metric_and_operation_is_there_once() -> None:
    assert sorted(_first_cells(TABLES["errors"]())) == sorted(Code.__members__)
    assert _first_cells(TABLES["settings"]()) == list(DP_SETTINGS)
    assert _first_cells(TABLES["metrics"]()) == list(FAMILIES)
    assert _first_cells(TABLES["events"]()) == list(log_events())
    document = analysts_app().openapi()["paths"]
    operations = [f"{m.upper()} {path}" for path, methods in document.items() for m in methods]
    assert _first_cells(TABLES["operations"]()) == operations
    assert all(f"`{operation}`" in _page("http") for operation in operations)


def test_settings_of_postgres_that_matter_are_there_and_no_other() -> None:
    table = _SETTINGS.split("PostgreSQL's own settings", 1)[1].split("\n## ", 1)[0]
    assert sorted(_first_cells(table)) == sorted(SESSION_SETTINGS[len(DP_SETTINGS) :])


def test_every_environment_variable_is_there_and_no_other() -> None:
    product = {
        name
        for file in (ROOT / "proxy").rglob("*.py")
        for name in _VARIABLE.findall(file.read_text())
    }
    # Others are read by their own name somewhere: each such line is one of ours, or hands the whole on.
    reads = [
        line.strip()
        for file in (ROOT / "proxy").rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"environ(?:\.get\(|\[)|getenv\(", line)
    ]
    assert reads
    named = ("XDG_STATE_HOME", "NOTIFY_SOCKET", "_VARIABLE", '"TERM"')
    assert all(any(name in line for name in named) for line in reads), reads
    table = _SETTINGS.split("\n## Environment variables", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert product == {name for cell in rows for name in _CODE.findall(cell)}


def test_every_link_of_the_pages_for_operators_leads_somewhere() -> None:
    for page in DEPLOY.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / Path(target)).exists(), (page.name, target)


def test_each_event_of_the_log_is_told_with_its_fields() -> None:
    found = log_events()
    assert found.keys() == MEANINGS.keys()
    assert {"session_started", "query", "server_not_started", "published_stale"} <= found.keys()
    assert {name for name, one in found.items() if one.has_more} == MORE_FIELDS.keys()
    report = QueryReport(
        database="shop",
        listener=Listener.HTTP,
        analyst="ann",
        asked=AskedStatement(kinds=(), tables=(), fingerprint=""),
        outcome=Outcome.ANSWERED,
        source=None,
        code=None,
        seconds=0.0,
        charges=(),
    )
    with capture_logs() as lines:
        log = QueryLog()
        log.ended(report)
        asyncio.run(log.flush())
    assert lines[0].keys() - {"event", "log_level"} == set(MORE_FIELDS["query"])
