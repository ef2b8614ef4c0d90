"""/docs renders every operation in a browser, and nothing of it comes from another host."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.servers.http.both_listeners import BothListeners

_NAMES = {
    *("run_query", "explain_query", "list_databases", "show_schema", "show_budget", "show_history"),
    *("check_health", "check_readiness", "create_own_token"),
}


class _Assets(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.found += [str(given[name]) for name in ("src", "href") if name in given]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)
        self.inline += [name for name in given if name.startswith("on") or name == "style"]


def test_every_asset_is_served_with_the_policy(listeners: BothListeners) -> None:
    page = listeners.client.get("/docs")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy and "http" not in policy
    assets = _Assets()
    assets.feed(page.text)
    assert assets.inline == []
    assert len([one for one in assets.found if one.startswith("docs/")]) == 3
    for address in assets.found:
        if address == "data:,":
            continue
        assert re.match(r"[a-z]+[/.]", address), "a path of this host"
        told = listeners.client.get(f"/{address}")
        assert told.status_code == 200
        assert len(told.content) > 100
        assert told.headers["content-security-policy"] == "default-src 'none'"
        assert told.headers["x-content-type-options"] == "nosniff"
    assert "://" not in page.text + listeners.client.get("/docs/start.js").text


@pytest.mark.long
def test_a_browser_shows_every_operation(listeners: BothListeners, tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium (apt-get install chromium)")
    host, port = listeners.server.address
    origin, log = f"http://{host}:{port}", tmp_path / "net.json"
    done = subprocess.run(
        [
            *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *("--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}"),
            # Chromium's own requests end here; the page's are in the log with the page as initiator.
            *(f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {host}", f"--log-net-log={log}"),
            *("--virtual-time-budget=30000", "--dump-dom", f"{origin}/docs"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    shown = set(re.findall(r'class="opblock-summary-operation-id">(\w+)<', done.stdout))
    assert shown == _NAMES, done.stderr[-2000:]
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert console == [], "the policy refused something"
    requested = _requested(log, origin)
    assert f"{origin}/openapi.json" in requested
    assert [url for url in requested if not url.startswith(f"{origin}/")] == []


def _requested(log: Path, origin: str) -> set[str]:
    """Addresses that the page asked for."""
    text = log.read_text(encoding="utf-8", errors="replace")
    events = json.loads(text if text.rstrip().endswith("}") else text.rstrip().rstrip(",") + "]}")
    given = [event.get("params", {}) for event in events["events"]]
    return {str(one["url"]) for one in given if "url" in one and one.get("initiator") == origin}
