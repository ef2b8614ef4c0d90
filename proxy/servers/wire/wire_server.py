"""The wire server: listens, hands each client to a ClientConnection, stops in good order."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Mapping
from functools import partial

from proxy.engine.role_readiness import RoleReadiness
from proxy.pgwire.frames import fatal
from proxy.servers.accepting import (
    BACKLOG,
    Strangers,
    accept_in_turns,
    close_if_cancelled,
    listening_socket,
)
from proxy.servers.admission import no_access
from proxy.servers.client_address import Networks
from proxy.servers.login_gate import LoginGate
from proxy.servers.wire.connection import ClientConnection
from proxy.servers.wire.shared_server_state import (
    LetIn,
    Limits,
    ServedDatabase,
    SharedServerState,
    WireSession,
)

_POLL_SECONDS = 0.05


class WireServer:
    """
    Given    per database its shadow and its engine; TLS if there is a context, and whether it is required;
             gate: the one that all listeners share
    Gives    `start` listens, `address` is where, `stop` lets transactions end first

    Runs on asyncio or uvloop alike.
    """

    def __init__(
        self,
        databases: Mapping[str, ServedDatabase],
        tls: ssl.SSLContext | None = None,
        limits: Limits | None = None,
        gate: LoginGate | None = None,
        *,
        requires_tls: bool = False,
        let_in: LetIn | None = None,
        readiness: RoleReadiness | None = None,
        balancers: Networks = (),
    ) -> None:
        """let_in: None where every analyst may query every database, by a password; readiness: None where the
        shadow's server has its roles as long as it runs; balancers: as of SharedServerState."""
        if requires_tls and tls is None:
            raise ValueError("TLS cannot be required without a certificate")
        self._state = SharedServerState(
            databases,
            tls,
            limits or Limits(),
            gate or LoginGate(),
            requires_tls,
            let_in,
            readiness or RoleReadiness(),
            balancers=balancers,
        )
        self._connections: set[ClientConnection] = set()
        held = self._state.limits
        self._strangers: Strangers[ClientConnection] = Strangers(
            held.unauthenticated_connections,
            held.unauthenticated_per_address,
            lambda one: one.name,
        )
        self._listening: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._opening: set[asyncio.Task[None]] = set()
        self._address: tuple[str, int] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Refuses (RuntimeError) before `start`."""
        if self._address is None:
            raise RuntimeError("the wire server has not been started")
        return self._address

    @property
    def connections(self) -> int:
        return len(self._connections)

    @property
    def states(self) -> Counter[str]:
        """So many clients in each state of a session."""
        return Counter(one.state for one in self._connections)

    @property
    def cancels(self) -> Counter[str]:
        """So many CancelRequests since the start, by whether their key was known."""
        return self._state.cancels.requests

    @property
    def sessions(self) -> tuple[WireSession, ...]:
        """Of who has logged in; the oldest first."""
        found = [one.session for one in self._connections if one.session is not None]
        return tuple(sorted(found, key=lambda one: one.number))

    @property
    def state(self) -> SharedServerState:
        """What the connections share, for who shares it with other workers."""
        return self._state

    def sessions_of(self, analyst: str) -> int:
        return self._state.sessions_of(analyst)

    @property
    def session_limit(self) -> int:
        """Of each analyst."""
        return self._state.limits.connections_per_analyst

    @property
    def backends(self) -> frozenset[int]:
        """Processes of the shadow that serve a client."""
        return self._state.cancels.processes

    def end_session(self, number: int) -> bool:
        """Whether there was one."""
        for connection in list(self._connections):
            if connection.session is not None and connection.session.number == number:
                connection.end_with()
                return True
        return False

    def end_not_admitted(self) -> int:
        """Sessions of who was removed or may not query their database any more, and those that the shadow has
        ended, as with another password."""
        let_in, ended = self._state.let_in, 0
        for connection in list(self._connections) if let_in is not None else ():
            session = connection.session
            if session is None or let_in is None:
                continue
            if connection.end_without_shadow():
                ended += 1
                continue
            admission = let_in.admission
            # None: they logged in before it was read that they were added.
            is_same = session.person in (None, admission.number_of(session.analyst))
            if not (is_same and admission.may_query(session.analyst, session.database)):
                connection.end_with(fatal(*no_access(session.database)))
                ended += 1
        return ended

    async def start(self, host: str, port: int) -> None:
        """Refuses with OSError where the port is taken."""
        await self.start_on(listening_socket(host, port))

    async def start_on(self, listening: socket.socket) -> None:
        """Listen on a socket that is bound."""
        listening.listen(BACKLOG)
        self._listening = listening
        name = listening.getsockname()
        self._address = (name[0], name[1])
        self._accepting = asyncio.create_task(accept_in_turns(self._listening, self._begin))

    def _begin(self, client: socket.socket, _peer: object) -> None:
        opening = asyncio.create_task(self._open(client))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        opening.add_done_callback(partial(close_if_cancelled, client))

    async def _open(self, client: socket.socket) -> None:
        """Until it is open; from then on its protocol hears when it is lost."""
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: ClientConnection(self._state, self._connections, self._strangers), client
            )
        except OSError:
            client.close()

    async def stop(self, grace_seconds: float = 30.0, hurried: asyncio.Event | None = None) -> None:
        """No new clients; idle ones are told and closed, the others when their transaction ends, the time is
        over, or `hurried` is set."""
        self._state.is_stopping = True
        if self._accepting is not None:
            self._accepting.cancel()
            await asyncio.wait({self._accepting, *self._opening})
        if self._listening is not None:
            self._listening.close()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace_seconds
        for connection in list(self._connections):
            if connection.is_idle:
                connection.end_with()
        is_hurried = hurried.is_set if hurried is not None else lambda: False
        while self._connections and loop.time() < deadline and not is_hurried():
            await asyncio.sleep(_POLL_SECONDS)
        for connection in list(self._connections):
            connection.end_with()
        await asyncio.sleep(0)
        await self._state.cancels.close()
