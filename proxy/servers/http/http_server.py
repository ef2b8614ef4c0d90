"""The HTTP server: uvicorn on a socket of ours, in a loop of ours, stopped by us."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import uvicorn
from fastapi import APIRouter, FastAPI

from proxy.engine.query_pipeline import EngineInForce
from proxy.engine.sessions import AnalystSessions
from proxy.servers.accepting import BACKLOG, listening_socket
from proxy.servers.admission import Admission
from proxy.servers.certificate import server_context
from proxy.servers.client_address import Networks, is_loopback
from proxy.servers.http.connections import ConnectionLimits, Connections, HttpProtocol
from proxy.servers.http.guard import CrossOrigin, Guard
from proxy.servers.http.http_logins import Bearers
from proxy.servers.http.routes import Health, Readiness, Routes
from proxy.servers.login_gate import LoginGate
from proxy.servers.statement_reports import StatementObserver

ALPN = "http/1.1"

_IDLE_SECONDS = 30
_LAST_WORDS_SECONDS = 2  # for requests whose statements were ended
_POLL_SECONDS = 0.01


class _Uvicorn(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Connections come in through `Connections`."""
        await self.lifespan.startup()
        self.servers = []
        self.started = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals are the command's, not the server's."""
        yield


class HttpListener:
    """
    Given    make_app: what is served; tls: a certificate and its key; is_draining: whether clients are to
             connect anew; proxies: whose X-Forwarded-For says where a request comes from
    Gives    `start` listens, `address` is where, `stop` lets requests end first
    """

    def __init__(
        self,
        make_app: Callable[[], FastAPI],
        tls: tuple[Path, Path] | None = None,
        limits: ConnectionLimits | None = None,
        is_draining: Callable[[], bool] = lambda: False,
        proxies: Networks = (),
    ) -> None:
        self._is_draining = is_draining
        self._proxies = proxies
        self._make_app = make_app
        self._tls = None if tls is None else server_context(*tls, ALPN)
        self._limits = limits
        self._connections: Connections | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._server: _Uvicorn | None = None
        self._serving: asyncio.Task[None] | None = None
        self._address: tuple[str, int] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Refuses (RuntimeError) before `start`."""
        if self._address is None:
            raise RuntimeError("the HTTP server has not been started")
        return self._address

    @property
    def tls(self) -> ssl.SSLContext | None:
        return self._tls

    async def start(self, host: str, port: int) -> None:
        """Refuses with OSError where the port is taken."""
        await self.start_on(listening_socket(host, port))

    async def start_on(self, listening: socket.socket) -> None:
        """Listen on a socket that is bound."""
        listening.listen(BACKLOG)
        name = listening.getsockname()
        self._address = (name[0], name[1])
        app = self._make_app()
        with_guard = Guard(
            app,
            hosts_are_local=is_loopback(name[0]),
            is_draining=self._is_draining,
            proxies=self._proxies,
        )
        config = uvicorn.Config(
            with_guard,
            http=HttpProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            access_log=False,
            log_config=None,
            log_level="critical",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_IDLE_SECONDS,
        )
        config.load()
        server = _Uvicorn(config)
        self._server = server
        self._serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            if self._serving.done():
                listening.close()
                await self._serving
                raise RuntimeError("the HTTP server did not start")
            await asyncio.sleep(_POLL_SECONDS)
        self._connections = Connections(
            lambda: HttpProtocol(config, server.server_state, {}),
            self._tls,
            self._limits,
            self._proxies,
        )
        self._accepting = asyncio.create_task(self._connections.serve(listening))

    async def stop(self, grace_seconds: float = 30.0, hurried: asyncio.Event | None = None) -> None:
        """No new connections; requests under way may end within the time, or until `hurried` is set. Then their
        statements end, and they are told so."""
        if self._server is None or self._serving is None:
            return
        if self._accepting is not None:
            self._accepting.cancel()
            await asyncio.wait({self._accepting})
        self._server.config.timeout_graceful_shutdown = round(grace_seconds) + _LAST_WORDS_SECONDS
        self._server.should_exit = True
        waiting = {self._serving}
        if hurried is not None:
            waiting.add(asyncio.ensure_future(hurried.wait()))  # type: ignore[arg-type]
        await asyncio.wait(waiting, timeout=grace_seconds, return_when=asyncio.FIRST_COMPLETED)
        for one in waiting - {self._serving}:
            one.cancel()
        self._end_requests()
        await self._serving
        if self._connections is not None:
            self._connections.abort()

    def _end_requests(self) -> None:
        """Statements of requests that are under way."""


class Agents(Protocol):
    """What speaks MCP. `start` comes before the listener opens, `stop` after it is closed."""

    @property
    def router(self) -> APIRouter: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class HttpServer(HttpListener):
    """
    Given    an engine per database; sessions of analysts; what /readyz asks; a certificate and its key;
             what /healthz asks; gate: the one that all listeners share; bearers, admission,
             policies_taken, stuck_sessions, is_draining, observers: as of Routes; pages: for people, beside
             /v1; agents: for programs that speak MCP; proxies: as of HttpListener; sites: origins of others
             whose pages may ask /v1
    """

    def __init__(
        self,
        engines: Mapping[str, EngineInForce],
        sessions: AnalystSessions,
        readiness: Readiness,
        tls: tuple[Path, Path] | None = None,
        health: Health = dict,
        gate: LoginGate | None = None,
        limits: ConnectionLimits | None = None,
        bearers: Bearers | None = None,
        admission: Admission | None = None,
        policies_taken: Callable[[], bool] = lambda: True,
        stuck_sessions: Callable[[], int] = lambda: 0,
        is_draining: Callable[[], bool] = lambda: False,
        observers: Sequence[StatementObserver] = (),
        pages: Callable[[Routes], APIRouter] | None = None,
        agents: Callable[[Routes], Agents] | None = None,
        proxies: Networks = (),
        sites: Sequence[str] = (),
    ) -> None:
        self.routes = routes = Routes(
            *(engines, sessions, readiness, health, gate or LoginGate(), bearers, admission),
            policies_taken,
            stuck_sessions,
            is_draining,
            observers,
        )
        self._agents = None if agents is None else agents(routes)
        more = [] if pages is None else [pages(routes)]
        if self._agents is not None:
            more.append(self._agents.router)
        super().__init__(
            lambda: _shared(routes.app(*more), sites), tls, limits, is_draining, proxies
        )
        self.logins = routes.logins

    async def start_on(self, listening: socket.socket) -> None:
        if self._agents is not None:
            await self._agents.start()
        await super().start_on(listening)

    async def stop(self, grace_seconds: float = 30.0, hurried: asyncio.Event | None = None) -> None:
        await super().stop(grace_seconds, hurried)
        if self._agents is not None:
            await self._agents.stop()

    def _end_requests(self) -> None:
        self.logins.end_all()


def _shared(app: FastAPI, sites: Sequence[str]) -> FastAPI:
    if sites:
        app.add_middleware(CrossOrigin, origins=tuple(sites))
    return app
