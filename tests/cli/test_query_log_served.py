"""`dpproxy serve` writes the query log to standard error, as its options say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.ledger_mark import MARK_FILE
from tests.cli.commands import dpproxy, serving
from tests.samples import SHOP_POLICY
from tests.servers_fixture import servers

_PASSWORD = "pass word"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logging")
    of = ("--state", folder / "state")
    adopted = dpproxy(
        "ledger", "adopt", "--new", "--policy", SHOP_POLICY, *of, environment=_sources()
    )
    assert adopted.code == 0, adopted.err
    assert dpproxy("user", "add", "erin", "--password-stdin", *of, typed=_PASSWORD).code == 0
    return folder


def _sources() -> dict[str, str]:
    return {"SHOP_DSN": servers().source_dsns["shop"]}


def _logged(
    state: Path, *options: str, then: Callable[[str], None] = lambda address: None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ask over both listeners, and `then` of an address. Gives lines of statements, and of HTTP requests."""
    arguments: list[str | Path] = ["serve", "--policy", SHOP_POLICY, *options]
    arguments += ["--state", state / "state"]
    free = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    with serving(state, [*arguments, *free], "/docs\n", _sources()) as running:
        wire = re.search(r"PostgreSQL clients: (\S+):(\d+)", running.printed)
        web = re.search(r"(http://\S+)/docs", running.printed)
        assert wire is not None and web is not None
        dsn = make_conninfo(
            host=wire[1], port=wire[2], user="erin", password=_PASSWORD, dbname="shop"
        )
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("SELECT count(*) FROM shop.orders")
        body = {"database": "shop", "sql": "SELECT count(*) FROM shop.customers"}
        asked: dict[str, Any] = {"json": body, "auth": ("erin", _PASSWORD), "timeout": 60}
        answer = httpx.post(f"{web[1]}/v1/query", headers={"X-Request-Id": "ours-7"}, **asked)
        assert (answer.status_code, answer.headers["x-request-id"]) == (200, "ours-7")
        then(web[1])
        assert running.stop() == 0
    lines = [json.loads(line) for line in (state / "err.txt").read_text().splitlines()]
    return (
        [line for line in lines if line["event"] == "query"],
        [line for line in lines if line["event"] == "request"],
    )


@pytest.mark.long
def test_each_statement_has_a_line_which_its_request_id_joins(state: Path) -> None:
    (wire, web), requests = _logged(state)
    assert (wire["listener"], wire["analyst"], wire["outcome"]) == ("wire", "erin", "answered")
    assert (web["listener"], web["analyst"], web["outcome"]) == ("http", "erin", "answered")
    assert web["request_id"] == "ours-7" and "request_id" not in wire
    assert [one["request_id"] for one in requests if one["route"] == "/v1/query"] == ["ours-7"]
    assert wire["level"] == "info"


@pytest.mark.long
def test_no_lines(state: Path) -> None:
    lines, requests = _logged(state, "--log-queries", "none")
    assert lines == [] and requests


def test_relayed_statements_cannot_be_logged(state: Path) -> None:
    done = dpproxy("serve", "--policy", SHOP_POLICY, "--log-queries", "all")
    assert done.code == 2 and "all" in done.err


def test_agents_leave_the_same_lines_and_no_others(state: Path) -> None:
    """The SDK sets up no logging of its own, and is there with --mcp alone. Analysts stand by their number."""
    made = dpproxy("token", "create", "erin", "--days", "1", "--state", state / "state")
    token = re.search(r"dpp_\S+", made.out)
    assert made.code == 0 and token is not None
    params = {
        "name": "query",
        "arguments": {"sql": "SELECT sum(total) FROM shop.orders", "max_epsilon": 5},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Authorization": f"Bearer {token[0]}",
        "Accept": "application/json, text/event-stream",
    }

    def ask(address: str) -> None:
        answer = httpx.post(f"{address}/mcp", json=message, headers=headers, timeout=60)
        assert answer.json()["result"]["structuredContent"]["source"] == "fresh", answer.text
        httpx.post(f"{address}/mcp", content=b"{", headers=headers, timeout=60)

    lines, requests = _logged(state, "--mcp", "--log-analysts", "number", then=ask)
    mark = json.loads((state / "state" / MARK_FILE).read_text())
    assert mark["receipt"] == lines[2]["receipt"], "after an orderly stop"
    assert [one["listener"] for one in lines] == ["wire", "http", "mcp"]
    assert lines[2]["outcome"] == "answered"
    assert lines[1]["request_id"] == "ours-7" and "request_id" not in lines[0]
    assert [one["request_id"] for one in requests if one["route"] == "/v1/query"] == ["ours-7"]
    assert [type(one["analyst"]) for one in lines] == [int, int, int]
    assert "erin" not in json.dumps(lines)
    assert [one["status"] for one in requests if one["route"] == "/mcp"] == [200, 400]
