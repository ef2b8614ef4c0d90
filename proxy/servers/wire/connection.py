"""One client and its shadow: moves bytes between two sockets and the machines of proxy.pgwire.

Callbacks, not streams: a relayed round trip costs two reads and two writes and no task switch.
"""

from __future__ import annotations

import asyncio
import socket
from typing import cast

import structlog

from proxy.pgwire.calls import Answered, Ask, Read, Refuse, Substitute, Verbatim
from proxy.pgwire.frames import TERMINATE, ProtocolError, fatal
from proxy.pgwire.relay import Effects, Relay
from proxy.pgwire.startup import (
    Authentication,
    Cancel,
    Connect,
    Reply,
    StartTls,
    Startup,
    Step,
    with_database,
)
from proxy.servers.wire.brain import Served
from proxy.servers.wire.guarded_reader import CANCELLED, GuardedReader, guarded_ask
from proxy.servers.wire.hub import Hub
from proxy.servers.wire.shadow_connection import ShadowConnection, connect_to_shadow
from proxy.servers.wire.tls import TlsError, TlsLayer

_log = structlog.get_logger("dpproxy.wire")

_SHUTTING_DOWN = fatal("57P01", "terminating connection due to administrator command")
_SHADOW_AWAY = fatal("57P03", "the database system is not available")
_SHADOW_BROKEN = fatal("08P01", "the connection to the server was lost")
_TOO_MANY = fatal("53300", "sorry, too many clients already")
_TOO_SLOW = fatal("57014", "canceling authentication due to timeout")


class ClientConnection(asyncio.Protocol):
    def __init__(self, hub: Hub, registered: set[ClientConnection]) -> None:
        self._hub = hub
        self._registered = registered
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._tls: TlsLayer | None = None
        self._startup: Startup | None = Startup(hub.databases.keys(), hub.tls is not None)
        self._authentication: Authentication | None = None
        self._relay: Relay | None = None
        self._shadow: ShadowConnection | None = None
        self._served: Served | None = None
        self._analyst = ""
        self._connecting: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._cancel_key: bytes | None = None
        self._is_unauthenticated = False
        self._deadline: asyncio.TimerHandle | None = None
        self._is_closing = False
        self._is_paused = False
        self._shadow_is_full = False
        self._goes_on = False

    # The client's socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        limits = self._hub.limits
        self._transport = transport
        # TCP_NODELAY is asyncio's own default; a client that has vanished must be found out, too.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._registered.add(self)
        if self._hub.unauthenticated >= limits.unauthenticated_connections:
            transport.abort()
            return
        self._hub.unauthenticated += 1
        self._is_unauthenticated = True
        self._deadline = self._loop.call_later(
            limits.authentication_seconds, self.end_with, _TOO_SLOW
        )

    def data_received(self, data: bytes) -> None:
        if self._tls is not None:
            try:
                data, out = self._tls.received(data)
            except TlsError as error:
                _log.info("tls_failed", reason=str(error))
                self._abort()
                return
            self._write_raw(out)
        if data and not self._is_closing:
            self._from_client(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._is_closing = True
        self._registered.discard(self)
        self._leave_unauthenticated()
        if self._cancel_key is not None:
            self._hub.cancels.remove(self._cancel_key, self.cancel_ask)
        for task in (self._asking, self._connecting):
            if task is not None:
                task.cancel()
        if self._relay is not None:
            self._hub.connected -= 1
            _log.info("session_ended", analyst=self._analyst)
        if self._shadow is not None:
            self._shadow.write(TERMINATE)
            self._shadow.close()

    def pause_writing(self) -> None:
        if self._shadow is not None:
            self._shadow.pause_reading(True)

    def resume_writing(self) -> None:
        if self._shadow is not None:
            self._shadow.pause_reading(False)

    # What the server may call.

    @property
    def is_idle(self) -> bool:
        return self._relay is None or self._relay.idle

    def end_with(self, last_words: bytes = _SHUTTING_DOWN) -> None:
        self._write(last_words)
        self._close()

    def cancel_ask(self) -> None:
        if self._asking is not None:
            self._asking.cancel()

    # From the first byte to AuthenticationOk.

    def _from_client(self, data: bytes) -> None:
        if self._relay is not None:
            self._perform(self._relay.from_client(data))
        elif self._authentication is not None:
            self._step(self._authentication.from_client(data))
        elif self._startup is not None:
            self._open(self._startup, data)
        else:
            self._abort()  # it talks while its startup packet is being served: nobody does

    def _open(self, startup: Startup, data: bytes) -> None:
        match startup.from_client(data):
            case None:
                return
            case Reply(to_client, close):
                self._write(to_client)
                if close:
                    self._close()
            case StartTls(to_client, direct):
                assert self._hub.tls is not None
                self._write(to_client)
                startup.encrypted()
                self._tls = TlsLayer(self._hub.tls, needs_alpn=direct)
                if direct:
                    self.data_received(data)
            case Cancel(key, packet):
                self._startup = None
                self._connecting = self._loop.create_task(self._cancel(key, packet))
            case Connect() as connect:
                self._startup = None
                self._connecting = self._loop.create_task(self._connect(connect))

    async def _cancel(self, key: bytes, packet: bytes) -> None:
        addresses = {served.shadow for served in self._hub.databases.values()}
        await self._hub.cancels.request(key, packet, addresses)
        self._close()

    async def _connect(self, connect: Connect) -> None:
        databases = self._hub.databases
        if self._hub.connected >= self._hub.limits.connections or not databases:
            self.end_with(_TOO_MANY)
            return
        packet, database = connect.packet, connect.database
        if not connect.database_is_served:
            # Any shadow can tell whether the password is right; see Authentication.
            database = next(iter(databases))
            packet = with_database(packet, database)
        served = databases[database]
        try:
            shadow = await connect_to_shadow(served.shadow, self)
        except OSError:
            _log.error("shadow_unreachable", database=database)
            self.end_with(_SHADOW_AWAY)
            return
        self._served, self._shadow, self._analyst = served, shadow, connect.user
        self._authentication = Authentication(connect.database, connect.database_is_served)
        shadow.write(packet)

    def _step(self, step: Step) -> None:
        if step.to_shadow and self._shadow is not None:
            self._shadow.write(step.to_shadow)
        self._write(step.to_client)
        if step.close:
            self._close()

    def _begin_relay(self, authentication: Authentication) -> None:
        assert self._served is not None
        self._leave_unauthenticated()
        self._hub.connected += 1
        self._cancel_key = authentication.cancel_key
        if self._cancel_key is not None:
            self._hub.cancels.add(self._cancel_key, self._served.shadow, self.cancel_ask)
        reader = GuardedReader(self._served.brain)
        self._relay = relay = Relay(reader, authentication.client_encoding)
        self._authentication = None
        _log.info("session_started", analyst=self._analyst)
        from_client, from_shadow = authentication.left_over()
        if from_shadow:
            self._perform(relay.from_shadow(from_shadow))
        if from_client:
            self._perform(relay.from_client(from_client))

    def _leave_unauthenticated(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if self._is_unauthenticated:
            self._is_unauthenticated = False
            self._hub.unauthenticated -= 1

    # The shadow's socket.

    def from_shadow(self, data: bytes) -> None:
        if self._is_closing:
            return
        try:
            if self._relay is not None:
                self._perform(self._relay.from_shadow(data))
            elif self._authentication is not None:
                authentication = self._authentication
                step = authentication.from_shadow(data)
                self._step(step)
                if step.ready:
                    self._begin_relay(authentication)
        except ProtocolError:
            _log.error("shadow_protocol_broken", analyst=self._analyst)
            self.end_with(_SHADOW_BROKEN)

    def shadow_lost(self) -> None:
        self._close()

    def shadow_is_full(self, is_full: bool) -> None:
        self._shadow_is_full = is_full
        self._update_reading()

    # The relay.

    def _perform(self, effects: Effects) -> None:
        if effects.to_shadow and self._shadow is not None:
            self._shadow.write(effects.to_shadow)
        if effects.to_client:
            self._write(effects.to_client)
        if effects.ask is not None:
            self._asking = self._loop.create_task(self._ask(effects.ask))
        if effects.close:
            self._close()
        elif effects.more and not self._goes_on:
            self._goes_on = True
            self._loop.call_soon(self._go_on)
        self._update_reading()
        if self._hub.is_stopping and self.is_idle:
            self.end_with(_SHUTTING_DOWN)

    def _go_on(self) -> None:
        self._goes_on = False
        if self._relay is not None and not self._is_closing:
            self._perform(self._relay.go_on())

    async def _ask(self, ask: Ask | Read) -> None:
        assert self._served is not None
        brain = self._served.brain
        result: Answered | Verbatim | Substitute | Refuse
        try:
            if isinstance(ask, Read):
                result = await asyncio.to_thread(GuardedReader(brain).read, ask)
            else:
                result = await guarded_ask(brain, self._analyst, ask)
        except asyncio.CancelledError:
            if self._is_closing:
                raise
            result = CANCELLED
        self._asking = None
        if self._relay is not None and not self._is_closing:
            self._perform(self._relay.answered(result))

    def _update_reading(self) -> None:
        """Stop reading a client whose bytes cannot be passed on, so that memory stays bounded."""
        relay = self._relay
        waiting = 0 if relay is None else relay.waiting_bytes
        pause = self._shadow_is_full or waiting > self._hub.limits.waiting_bytes
        if pause == self._is_paused or self._transport is None or self._transport.is_closing():
            return
        self._is_paused = pause
        if pause:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    # Writing and closing.

    def _write(self, data: bytes) -> None:
        if not data or self._is_closing:
            return
        if self._tls is None:
            self._write_raw(data)
        elif self._tls.is_established:
            self._write_raw(self._tls.sent(data))

    def _write_raw(self, data: bytes) -> None:
        if data and self._transport is not None:
            self._transport.write(data)

    def _close(self) -> None:
        if self._is_closing or self._transport is None:
            return
        if self._tls is not None:
            self._write_raw(self._tls.closed())
        self._is_closing = True
        self._transport.close()
        # A client that reads nothing must not keep its buffers for ever.
        self._loop.call_later(self._hub.limits.closing_seconds, self._abort)

    def _abort(self) -> None:
        self._is_closing = True
        if self._transport is not None:
            self._transport.abort()
