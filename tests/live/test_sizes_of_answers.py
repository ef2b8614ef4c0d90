"""Over HTTP, drawn numbers alone tell data with an extreme person from data without: no header, no size."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.live.served_database import served_database
from tests.live_proxy import start_proxy
from tests.servers.http.agent_client import AgentDoor, agent_door
from tests.servers_fixture import PASSWORD, servers

_SIDES = ("with", "less")
_PEOPLE = """\
CREATE TABLE stays (id bigint PRIMARY KEY, person bigint NOT NULL, cost bigint, kind text, note text, at date);
INSERT INTO stays SELECT n, n % 500, n % 100, CASE n % 3 WHEN 0 THEN 'a' ELSE 'b' END, 'n', '2020-01-01'
FROM generate_series(1, 1000) n;
"""
_EXTREME = """\
INSERT INTO stays SELECT 1000000 + n, 987654321987, 9223372036854775807, repeat('q', 9000), repeat('z', 90000),
    'infinity'
FROM generate_series(1, 3000) n;
"""
_TABLES = """\
tables:
  public.stays:
    unit: {person: person}
    max_rows_per_unit: 2
    columns: {cost: {bounds: [0, 100]}, kind: {values: [a, b]}}
"""
# None of which the number may be below its error, which its note would say.
_STATEMENTS = (
    "SELECT count(*), sum(cost) FROM stays",
    "SELECT avg(cost), count(DISTINCT person) FROM stays WHERE kind <> 'b'",
    "SELECT kind, count(*) FROM stays GROUP BY kind ORDER BY kind",
    "SELECT min(cost), max(cost) FROM stays",
    "SELECT count(note) FROM stays WHERE length(note) > 0",
    "EXPLAIN SELECT sum(cost) FROM stays",
    "SELECT sum(cost * cost) FROM stays",
    "SELECT cost FROM stays",
    "SELECT count(*) FROM stays WHERE at < 'infinity'",
    "SELECT count(*) FROM stays WHERE 1 / cost > 0",
)
_ROUNDS = 3
_KINDS = ("application/json", "text/csv", "application/x-ndjson")
_NUMBER = re.compile(r"-?\d[\d.,]*(?:e[-+]?\d+)?")
_DRAWN = re.compile(r"^(date|x-request-id|.*-id|content-length|.*receipt)$")


@pytest.fixture(scope="module")
def door() -> Iterator[AgentDoor]:
    databases = [
        served_database(servers(), f"sizes_{side}", script, _TABLES, "best", most="10")
        for side, script in (("with", _PEOPLE + _EXTREME), ("less", _PEOPLE))
    ]
    proxy = start_proxy(servers(), databases)
    with agent_door(proxy) as found:
        yield found
    proxy.stop()


def _shape(answer: httpx.Response, side: str) -> tuple[object, ...]:
    """All of an answer but its drawn numbers. Its length is that of its body."""
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "content-encoding" not in answer.headers, "a length after compression tells of more"
    headers = tuple(
        (name, "" if _DRAWN.match(name) else _NUMBER.sub("#", value))
        for name, value in answer.headers.multi_items()
    )
    text = re.sub(r"[0-9a-f]{16,}", "#", answer.text.replace(f"sizes_{side}", "sizes"))
    return answer.status_code, headers, _NUMBER.sub("#", text)


@pytest.mark.long
def test_nothing_but_drawn_numbers_differs(door: AgentDoor) -> None:
    seen: dict[tuple[str, ...], dict[str, set[tuple[object, ...]]]] = {}
    name = door.analyst()
    token = door.token(name)
    encoding = {"Accept-Encoding": "gzip, br, deflate, zstd"}
    bearer = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    with httpx.Client(base_url=door.http.client.base_url, timeout=60, headers=encoding) as client:
        for _ in range(_ROUNDS):
            for side in _SIDES:
                for statement in _STATEMENTS:
                    body = {"database": f"sizes_{side}", "sql": statement}
                    for kind in _KINDS:
                        answer = client.post(
                            "/v1/query", json=body, auth=(name, PASSWORD), headers={"Accept": kind}
                        )
                        found = seen.setdefault((kind, statement), {one: set() for one in _SIDES})
                        found[side].add(_shape(answer, side))
                    params = {"name": "query", "arguments": {**body, "max_epsilon": 10}}
                    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                    answer = client.post("/mcp", json=call, headers=bearer)
                    found = seen.setdefault(("mcp", statement), {one: set() for one in _SIDES})
                    found[side].add(_shape(answer, side))
    for what, sides in seen.items():
        assert sides["with"] == sides["less"], what
