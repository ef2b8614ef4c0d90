"""The SDK's own client at /mcp of a served proxy, and the fixture's listener with tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

import httpx2
import psycopg
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool

from proxy.ledger.bearer_tokens import PresentedTokens, create_token
from proxy.ledger.users import PeopleReader
from proxy.servers.admission import Admission
from proxy.servers.http.http_logins import Bearers
from proxy.shadow.analyst_sessions import InnerLogins
from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result:
    """Of a tool: what a model reads, and what a program does."""

    text: str
    data: Mapping[str, Any]
    is_error: bool


@dataclass(slots=True)
class AgentDoor:
    """sources: names of its data in the ledger, by database"""

    http: BothListeners
    admission: Admission
    reader: PeopleReader
    tokens: PresentedTokens
    sources: Mapping[str, str]

    @property
    def url(self) -> str:
        return f"{self.http.client.base_url}/mcp".replace("//mcp", "/mcp")

    def follow(self) -> None:
        """What `serve` does each second."""
        self.admission.people = self.reader.read()

    def analyst(self) -> str:
        name = self.http.proxy.servers.new_analyst()
        self.follow()
        return name

    def token(self, name: str, epsilon: str | None = None, database: str | None = None) -> str:
        made = create_token(
            self.http.proxy.servers.ledger_dsn,
            name,
            days=1,
            epsilon=None if epsilon is None else Decimal(epsilon),
            source=None if database is None else self.sources[database],
        )
        return made.text

    def charged(self, name: str) -> tuple[int, float]:
        count, epsilon = self.http.proxy.when_settled(name)[:2]
        return int(count), float(epsilon)

    def calls(
        self,
        token: str,
        *calls: tuple[str, Mapping[str, Any]],
        mode: str = "auto",
        person: Any = None,
    ) -> list[Result]:
        """Call tools one after the other, in one connection of the client. person: answers its questions."""

        async def run(client: Client) -> list[Result]:
            return [_result(await client.call_tool(name, dict(given))) for name, given in calls]

        return self.use(token, run, mode=mode, person=person)

    def use(
        self,
        token: str,
        work: Callable[[Client], Coroutine[Any, Any, T]],
        mode: str = "auto",
        person: Any = None,
    ) -> T:
        """Do some work in one connection of the client."""

        async def run() -> T:
            web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
            transport = streamable_http_client(self.url, http_client=web)
            async with web, Client(transport, mode=mode, elicitation_callback=person) as client:
                return await work(client)

        return asyncio.run(run())

    def posts(self, token: str, *calls: tuple[str, Mapping[str, Any]]) -> list[Result]:
        """As `calls`, without the SDK's client: each a request by itself, which is quicker."""
        found = []
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
        }
        with httpx2.Client(headers=headers, timeout=60) as web:
            for number, (name, given) in enumerate(calls):
                params = {"name": name, "arguments": dict(given)}
                message = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
                answer = web.post(self.url, json={**message, "params": params}).json()
                found.append(_result(CallToolResult.model_validate(answer["result"])))
        return found

    def call(self, token: str, tool: str, mode: str = "auto", **given: Any) -> Result:
        (found,) = self.calls(token, (tool, {"database": "shop", **given}), mode=mode)
        return found

    def tools(self, token: str, mode: str = "auto") -> tuple[list[Tool], str]:
        """The tools, and the server's instructions."""

        async def run(client: Client) -> tuple[list[Tool], str]:
            return list((await client.list_tools()).tools), client.instructions or ""

        return self.use(token, run, mode)


def _result(found: CallToolResult) -> Result:
    (content,) = found.content
    assert content.type == "text"
    return Result(content.text, found.structured_content or {}, bool(found.is_error))


@contextmanager
def agent_door(proxy: LiveProxy, **options: Any) -> Iterator[AgentDoor]:
    """An HTTP listener with /mcp before a proxy. options: of open_http"""
    pair, sources = proxy.servers, proxy.assembly.sources
    with psycopg.connect(pair.ledger_dsn) as connection:
        named: dict[int, str] = dict(
            connection.execute("SELECT id, name FROM ledger.source").fetchall()
        )
    reader = PeopleReader(pair.ledger_dsn, tuple(sources.values()))
    admission = Admission(sources, reader.read())
    tokens = PresentedTokens(pair.ledger_dsn)
    proxy.do(tokens.open())
    http = open_http(
        proxy,
        inner=InnerLogins(pair.shadow_server.dsn()),
        bearers=Bearers(admission, tokens),
        admission=admission,
        has_agents=True,
        **options,
    )
    try:
        names = {name: named[one] for name, one in sources.items()}
        yield AgentDoor(http, admission, reader, tokens, names)
    finally:
        http.close()
        proxy.do(tokens.close())
        reader.close()
