"""The HTTP server beside the wire server of a LiveProxy, and clients of both that tell errors alike."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
from psycopg.pq import DiagnosticField, ExecStatus

from proxy.servers.admission import Admission
from proxy.servers.console.pages import console
from proxy.servers.http.connections import ConnectionLimits
from proxy.servers.http.http_logins import Bearers
from proxy.servers.http.http_server import HttpServer
from proxy.servers.login_gate import GateLimits, LoginGate
from proxy.servers.mcp.endpoint import agents
from proxy.servers.statement_reports import StatementObserver
from proxy.shadow.analyst_sessions import InnerLogins, SessionLimits, ShadowSessions
from tests.live_proxy import LiveProxy
from tests.servers.http.declared_responses import check_declared
from tests.servers_fixture import PASSWORD

_FIELDS = {
    "sqlstate": DiagnosticField.SQLSTATE,
    "detail": DiagnosticField.MESSAGE_PRIMARY,
    "hint": DiagnosticField.MESSAGE_HINT,
    "position": DiagnosticField.STATEMENT_POSITION,
    "postgres_detail": DiagnosticField.MESSAGE_DETAIL,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one statement. columns: name and type; error: as a problem's members."""

    columns: tuple[tuple[str, str], ...]
    error: Mapping[str, str | None] | None


@dataclass(slots=True)
class BothListeners:
    proxy: LiveProxy
    server: HttpServer
    sessions: ShadowSessions
    client: httpx.Client
    readiness: dict[str, bool]
    health: dict[str, bool]

    @property
    def analyst(self) -> str:
        return self.proxy.analyst

    def query(self, sql: str, *params: Any, database: str = "shop", **more: Any) -> httpx.Response:
        """more: members of the body, `headers`, or `analyst`."""
        headers = more.pop("headers", None)
        user = more.pop("analyst", self.analyst)
        path = more.pop("path", "/v1/query")
        body = {"database": database, "sql": sql, "params": list(params), **more}
        return self.client.post(path, json=body, headers=headers, auth=(user, PASSWORD))

    def get(self, path: str, **query: str) -> httpx.Response:
        return self.client.get(path, params=query, auth=(self.analyst, PASSWORD))

    @contextmanager
    def leaving(
        self, path: str, body: object, analyst: str = "", headers: Mapping[str, str] | None = None
    ) -> Iterator[None]:
        """A client that sends a request and leaves at the end of the block, without an answer."""
        login = base64.b64encode(f"{analyst or self.analyst}:{PASSWORD}".encode()).decode()
        given = headers or {"Authorization": f"Basic {login}"}
        request = self.client.build_request("POST", path, json=body, headers=given)
        head = [f"POST {path} HTTP/1.1", *(f"{n}: {v}" for n, v in request.headers.items()), "\r\n"]
        with socket.create_connection(self.server.address, timeout=60) as client:
            client.sendall("\r\n".join(head).encode() + request.content)
            yield

    def over_http(self, sql: str, params: Sequence[str | None], database: str) -> Outcome:
        response = self.query(sql, *params, database=database)
        body = response.json()
        if response.status_code == 200:
            return Outcome(tuple((c["name"], c["type"]) for c in body["columns"]), None)
        assert response.headers["content-type"] == "application/problem+json"
        assert body["status"] == response.status_code
        told = {name: body.get(name) for name in _FIELDS}
        return Outcome((), {k: None if v is None else str(v) for k, v in told.items()})

    def over_the_wire(self, sql: str, params: Sequence[str | None], database: str) -> Outcome:
        """The extended protocol, in a session of its own."""
        with self.proxy.connect(database) as connection:
            values = [None if value is None else value.encode() for value in params]
            result = connection.pgconn.exec_params(sql.encode(), values)
            if result.status == ExecStatus.FATAL_ERROR:
                told = {name: result.error_field(field) for name, field in _FIELDS.items()}
                return Outcome((), {k: None if v is None else v.decode() for k, v in told.items()})
            return Outcome(
                tuple(
                    (
                        (result.fname(index) or b"").decode(),
                        _type_name(connection, result.ftype(index), result.fmod(index)),
                    )
                    for index in range(result.nfields)
                ),
                None,
            )

    def close(self) -> None:
        self.client.close()
        self.proxy.do(self.server.stop(1))
        self.proxy.loop.call_soon_threadsafe(self.sessions.close)


def _type_name(connection: psycopg.Connection, oid: int, modifier: int) -> str:
    row = connection.execute("SELECT format_type(%s, %s)", (oid, modifier)).fetchone()
    assert row is not None
    return str(row[0])


def open_http(
    proxy: LiveProxy,
    limits: SessionLimits | None = None,
    *,
    gate: GateLimits | LoginGate | None = None,
    connections: ConnectionLimits | None = None,
    tls: tuple[Path, Path] | None = None,
    inner: InnerLogins | None = None,
    bearers: Bearers | None = None,
    admission: Admission | None = None,
    observers: Sequence[StatementObserver] = (),
    has_agents: bool = False,
    calls_a_minute: int = 10_000,
    issuer: str | None = None,
    sites: Sequence[str] = (),
) -> BothListeners:
    """gate: without one, wrong passwords are hardly delayed."""
    readiness = {"protected": True, "ledger": True}
    health = {"shadow": True, "ledger": True}

    async def start() -> tuple[HttpServer, ShadowSessions]:
        sessions = ShadowSessions(
            {
                name: database.shadow.analyst_host_port
                for name, database in proxy.assembly.databases.items()
            },
            limits,
            inner,
        )

        async def ready() -> dict[str, dict[str, bool]]:
            return {"shop": dict(readiness), "other": dict.fromkeys(readiness, True)}

        server = HttpServer(
            proxy.assembly.engines,
            sessions,
            ready,
            tls,
            lambda: dict(health),
            gate
            if isinstance(gate, LoginGate)
            else LoginGate(gate or GateLimits(longest_delay_seconds=0.01)),
            connections,
            bearers,
            admission,
            observers=observers,
            pages=console(admission),
            agents=agents(observers, issuer, calls_a_minute) if has_agents else None,
            sites=sites,
        )
        # As a worker does, which is given its socket.
        await server.start_on(socket.create_server(("127.0.0.1", 0), backlog=512))
        return server, sessions

    server, sessions = proxy.do(start())
    host, port = server.address
    scheme = "http" if tls is None else "https"
    client = httpx.Client(
        base_url=f"{scheme}://{host}:{port}",
        timeout=60,
        verify=tls is None,
        event_hooks={"response": [check_declared]},
    )
    return BothListeners(proxy, server, sessions, client, readiness, health)
