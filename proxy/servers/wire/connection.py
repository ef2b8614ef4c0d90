"""One client and its shadow: moves bytes between two sockets and the machines of proxy.pgwire.

Callbacks, not streams: a relayed round trip costs two reads and two writes and no task switch.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TypeVar, cast

import structlog
from typing_extensions import ParamSpec, assert_never

from proxy.base.errors import Code
from proxy.pgwire.calls import Correct, Look, LookPrepared, PlanTrial, Read, Refuse, RunQuery
from proxy.pgwire.frames import TERMINATE, ProtocolError, fatal
from proxy.pgwire.relay import Effects, QuickRelay, Result, Wanted
from proxy.pgwire.startup import (
    SIGNATURE,
    Cancel,
    Connect,
    HeaderRefused,
    StartTls,
    Startup,
    StartupReply,
    read_header,
)
from proxy.pgwire.statement_look import pieces_of, prepared_of
from proxy.servers.accepting import Strangers
from proxy.servers.certificate import TlsError, TlsLayer
from proxy.servers.client_address import is_within, network_of
from proxy.servers.error_boundary import refuse_of
from proxy.servers.login_gate import printable
from proxy.servers.wire.certificate_rules import certificate_of
from proxy.servers.wire.login import SHADOW_AWAY, TOO_SLOW, Login
from proxy.servers.wire.shadow_connection import ShadowConnection
from proxy.servers.wire.shared_server_state import EnginePort, SharedServerState, WireSession

# What the relay of one connection waits for: the engine's steps, as tasks beside the loop's callbacks.

P = ParamSpec("P")
T = TypeVar("T")

_CANCELLED = Refuse(Code.CANCELLED.sqlstate, "canceling statement due to user request", "", None)


class QueryTasks:
    """
    Given    deliver: takes the result, once the loop is at it

    One at a time: the relay waits. What is long runs in a thread, so that other sessions go on meanwhile.
    """

    def __init__(self, engine: EnginePort, analyst: str, deliver: Callable[[Result], None]) -> None:
        self._engine = engine
        self._analyst = analyst
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._can_be_cancelled = False
        self._is_closed = False

    def start(self, wanted: Wanted) -> None:
        self._can_be_cancelled = isinstance(
            wanted, RunQuery | PlanTrial | Read | Correct
        )  # others are too short
        self._task = self._loop.create_task(self._finished(wanted))
        self._task.add_done_callback(self._ended)

    def cancel(self) -> None:
        """By a CancelRequest: the result is then a refusal."""
        if self._task is not None and self._can_be_cancelled:
            self._task.cancel()

    def close(self) -> None:
        """Nobody waits for a result any more."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()

    async def _in_turn(self, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await self._engine.in_turn(self._analyst, function, *given, **named)

    async def _finished(self, wanted: Wanted) -> None:
        result: Result
        match wanted:
            case RunQuery():
                result = await self._engine.run(self._analyst, wanted)
            case PlanTrial():
                result = await self._engine.trial(self._analyst, wanted)
            case Read():
                result = await self._in_turn(self._engine.read, wanted)
            case Look():
                result = await self._in_turn(pieces_of, self._engine, wanted)
            case LookPrepared():
                result = await self._in_turn(prepared_of, self._engine, wanted)
            case Correct():
                result = await self._engine.correct(self._analyst, wanted)
            case _:
                assert_never(wanted)
        self._task = None
        self._deliver(result)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task that is cancelled before its first step runs none of its code, `except` neither."""
        if task.cancelled() and not self._is_closed:
            self._task = None
            self._deliver(_CANCELLED)


_log = structlog.get_logger("dpproxy.wire")

_SHUTTING_DOWN = fatal("57P01", "terminating connection due to administrator command")
_SHADOW_ENDED = fatal(
    "57P02",
    "terminating connection because the database system is being started again",
    "Connect again in a few seconds. What was charged stays charged.",
)
_NO_HEADER = fatal("08P01", "the balancer sent no valid header of the PROXY protocol, version 2")
_FATAL = b"\0VFATAL\0"  # in an ErrorResponse, by which PostgreSQL itself ends a session
_FATAL_BYTES = 2048
_SHADOW_BROKEN = fatal("08P01", "the connection to the server was lost")


class ClientConnection(asyncio.Protocol):
    def __init__(
        self,
        state: SharedServerState,
        registered: set[ClientConnection],
        strangers: Strangers[ClientConnection],
    ) -> None:
        self._state = state
        self._registered = registered
        self._strangers = strangers
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._tls: TlsLayer | None = None
        self._startup: Startup | None = None
        self._login: Login | None = None
        self._relay: QuickRelay | None = None
        self._shadow: ShadowConnection | None = None
        self._tasks: QueryTasks | None = None
        self._analyst = ""
        self.session: WireSession | None = None
        self._address = ""
        self._header: bytearray | None = None  # of a balancer, until it is whole
        self._connecting: asyncio.Task[None] | None = None
        self._cancel_key: bytes | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._is_closing = False
        self._is_paused = False
        self._shadow_is_full = False
        self._goes_on = False
        self._is_told = False  # why its session ends

    # The client's socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        limits = self._state.limits
        self._transport = transport
        # TCP_NODELAY is asyncio's own default; a client that has vanished must be found out, too.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._registered.add(self)
        name = transport.get_extra_info("peername")
        host = name[0] if isinstance(name, tuple) else None
        self._deadline = self._loop.call_later(
            limits.authentication_seconds, self.end_with, TOO_SLOW
        )
        if is_within(host, self._state.balancers):
            self._header = bytearray()
        self._come_from(host)

    def _come_from(self, host: str | None) -> None:
        """Whose connection it is: the peer's, or what a balancer says of it."""
        self._strangers.remove(self, self._address)
        self._address = network_of(host)
        crowded_out = self._strangers.add(self, self._address)
        if crowded_out is not None:
            crowded_out._abort()
        self._startup = Startup(
            self._state.databases.keys(),
            self._state.tls is not None,
            requires_tls=self._state.requires_tls,
            host=host or "[local]",
        )

    def _behind_header(self, header: bytearray, data: bytes) -> bytes:
        """What comes behind the balancer's header, once that is whole."""
        header += data
        try:
            found = read_header(bytes(header))
        except HeaderRefused as error:
            _log.warning("proxy_header_refused", address=self._address, reason=str(error))
            self.end_with(_NO_HEADER)
            return b""
        if found is None:
            return b""
        self._header = None
        if found.client is not None:
            self._come_from(found.client)
        return bytes(header[found.octets :])

    def data_received(self, data: bytes) -> None:
        if self._header is not None:
            data = b"" if self._is_closing else self._behind_header(self._header, data)
        if self._tls is not None:
            try:
                data, out = self._tls.received(data)
            except TlsError as error:
                _log.info("tls_failed", reason=str(error))
                self._state.gate.outcomes["wire", "tls_failed"] += 1
                self._write_raw(error.alert)
                self._close()
                return
            self._write_raw(out)
        if not data or self._is_closing:
            return
        relay, shadow = self._relay, self._shadow
        try:
            if relay is None or shadow is None:
                self._log_in(data)
            elif relay.passes(data):
                shadow.write(data)
            else:
                self._perform(relay.from_client(data))
        except Exception as error:
            self._end_on(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._is_closing = True
        self._registered.discard(self)
        self._leave_unauthenticated()
        if self._cancel_key is not None:
            if self._relay is not None and self._relay.is_running:
                self._state.cancels.leave_running(self._cancel_key, self._address)
            self._state.cancels.remove(self._cancel_key, self.cancel_query)
        if self._tasks is not None:
            self._tasks.close()
        if self._connecting is not None:
            self._connecting.cancel()
        if self._login is not None:
            self._login.end()
        if self._relay is not None:
            self._leave_connected()
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
    def state(self) -> str:
        """As metrics name it."""
        if self._relay is None:
            return "logging_in"
        if self._relay.idle:
            return "idle"
        return "active" if self._relay.is_running else "in_transaction"

    @property
    def is_idle(self) -> bool:
        return self._relay is None or self._relay.idle

    def end_with(self, last_words: bytes = _SHUTTING_DOWN) -> None:
        self._write_kept()
        self._write(last_words)
        self._close()

    def end_without_shadow(self) -> bool:
        """End it if its session of the shadow has ended while the client read nothing. Gives whether it has."""
        is_ended = not self._is_closing and self._shadow is not None and self._shadow.is_ended
        if is_ended:
            self.shadow_lost()
        return is_ended

    def cancel_query(self) -> None:
        if self._tasks is not None:
            self._tasks.cancel()

    # Until it has logged in.

    def _log_in(self, data: bytes) -> None:
        if self._login is not None:
            self._login.from_client(data)
        elif self._startup is not None:
            self._open(self._startup, data)
        else:
            self._abort()  # it talks while its startup packet is being served: nobody does

    def _open(self, startup: Startup, data: bytes) -> None:
        match startup.from_client(data):
            case None:
                return
            case StartupReply(to_client, close):
                if data.startswith(SIGNATURE):
                    _log.warning("proxy_header_not_expected", address=self._address)
                self._write(to_client)
                if close:
                    self._close()
            case StartTls(to_client, direct):
                assert self._state.tls is not None
                self._write(to_client)
                startup.encrypted()
                self._tls = TlsLayer(self._state.tls, needs_alpn=direct)
                if direct:
                    self.data_received(data)
            case Cancel(key, packet):
                self._startup = None
                self._connecting = self._loop.create_task(self._cancel(key, packet))
            case Connect() as connect:
                self._startup = None
                certificate = None if self._tls is None else certificate_of(self._tls.peer)
                self._login = Login(self._state, self, self._address, connect, certificate)
                self._connecting = self._loop.create_task(self._login.open())

    async def _cancel(self, key: bytes, packet: bytes) -> None:
        await self._state.cancels.request(key, packet, self._address)
        self._close()

    def _begin_relay(self, login: Login) -> None:
        authentication = login.authentication
        served, self._shadow, self._analyst = login.served, login.shadow, login.analyst
        self.session = self._state.begun(login.analyst, login.database, self._address, login.person)
        self._login = None
        self.authentication_is_over()
        self._leave_unauthenticated()
        self._state.connect(self._analyst)
        self._cancel_key = authentication.cancel_key
        if self._cancel_key is not None:
            self._state.cancels.add(self._cancel_key, served.shadow, self.cancel_query)
        engine = served.engine.of(self._analyst)
        self._relay = relay = QuickRelay(engine, authentication.client_encoding)
        self._tasks = QueryTasks(engine, self._analyst, self._go_on_with)
        _log.info("session_started", analyst=printable(self._analyst))
        from_client, from_shadow = authentication.left_over()
        if from_shadow:
            self._perform(relay.from_shadow(from_shadow))
        if from_client:
            self._perform(relay.from_client(from_client))

    def authentication_is_over(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    @property
    def name(self) -> str | None:
        """Who logs in. None before the client has said it."""
        return None if self._login is None else self._login.analyst

    def _leave_unauthenticated(self) -> None:
        self.authentication_is_over()
        self._strangers.remove(self, self._address)

    def _leave_connected(self) -> None:
        self.session = None
        self._state.disconnect(self._analyst)
        _log.info("session_ended", analyst=printable(self._analyst))

    def send(self, data: bytes) -> None:
        self._write(data)

    # The shadow's socket.

    def from_shadow(self, data: bytes) -> None:
        if self._is_closing:
            return
        self._is_told = _FATAL in data[-_FATAL_BYTES:]
        relay, transport = self._relay, self._transport
        try:
            if relay is None:
                if self._login is not None and self._login.from_shadow(data):
                    self._begin_relay(self._login)
            elif self._state.is_stopping or not relay.answer_passes(data):
                self._perform(relay.from_shadow(data))
            elif self._tls is None and transport is not None:
                transport.write(relay.kept_back() + data)
            else:
                self._write(relay.kept_back() + data)
        except Exception as error:
            self._end_on(error)

    def shadow_lost(self) -> None:
        if self._login is not None and self._login.is_refusing:
            return
        self._write_kept()
        if self._relay is None and not self._is_told:
            self._write(SHADOW_AWAY)
        elif self._relay is not None and not (self._is_told or self._relay.is_amid_row):
            self._write(_SHADOW_ENDED)
        self._close()

    def _write_kept(self) -> None:
        """What was to go out with an answer of the shadow. None comes."""
        if self._relay is not None and not self._relay.is_amid_row:
            self._write(self._relay.kept_back())

    def shadow_is_full(self, is_full: bool) -> None:
        self._shadow_is_full = is_full
        self._update_reading()

    # The relay.

    def _perform(self, effects: Effects) -> None:
        if effects.to_shadow and self._shadow is not None:
            self._shadow.write(effects.to_shadow)
        if effects.to_client:
            self._write(effects.to_client)
        if effects.wanted is not None and self._tasks is not None:
            self._tasks.start(effects.wanted)
        if effects.close:
            self._close()
        elif effects.more and not self._goes_on:
            self._goes_on = True
            self._loop.call_soon(self._go_on)
        self._update_reading()
        if self._state.is_stopping and self.is_idle:
            self.end_with(_SHUTTING_DOWN)

    def _go_on(self) -> None:
        self._goes_on = False
        if self._relay is not None and not self._is_closing:
            try:
                self._perform(self._relay.go_on())
            except Exception as error:
                self._end_on(error)

    def _go_on_with(self, result: Result) -> None:
        if self._relay is not None and not self._is_closing:
            try:
                self._perform(self._relay.answered(result))
                self._relay.make_kept()
            except Exception as error:
                self._end_on(error)

    def _update_reading(self) -> None:
        """Stop reading a client whose bytes cannot be passed on, so that memory stays bounded."""
        relay = self._relay
        waiting = 0 if relay is None else relay.waiting_bytes
        pause = self._shadow_is_full or waiting > self._state.limits.waiting_bytes
        if pause == self._is_paused or self._transport is None or self._transport.is_closing():
            return
        self._is_paused = pause
        if pause:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _end_on(self, error: Exception) -> None:
        """Fail closed: a relay that has lost its way is not asked again. The log gets no text of the error."""
        if isinstance(error, ProtocolError):
            _log.error("shadow_protocol_broken", analyst=printable(self._analyst))
            self.end_with(_SHADOW_BROKEN)
            return
        refuse = refuse_of(error, "relay")
        self.end_with(fatal(refuse.sqlstate, refuse.message))

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
        self._loop.call_later(self._state.limits.closing_seconds, self._abort)

    def _abort(self) -> None:
        self._is_closing = True
        if self._transport is not None:
            self._transport.abort()
