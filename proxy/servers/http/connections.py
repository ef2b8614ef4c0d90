"""The HTTP listener's sockets: how many, from where, and for how long without getting on.

uvicorn counts none of this: it waits for ever for a request's header, for a client that reads nothing, and for
the rest of a body that nobody wants. And it takes in up to 256 KiB in one callback, which in tiny chunks of a
body is half a second; here it is given 4 KiB at a time, of a body only what somebody waits for.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from proxy.servers.accepting import accept_in_turns, close_if_cancelled
from proxy.servers.client_address import Networks, is_within, network_of
from proxy.servers.http.guard import is_refused, is_under_way

# Refuse requests that another HTTP server could divide differently (request smuggling).
#
# h11 accepts a bare LF at the end of a line, folded headers, repeated lengths, extensions of chunks and
# trailers. A proxy in front of it may read each of them in another way. Clients do not send them.

_END_OF_HEAD = b"\r\n\r\n"
_WRONG_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
_FOLDED_LINE = re.compile(rb"\n[ \t]")
# The name takes all blanks that follow it and the value the rest of its line: a line of blanks has one reading.
_LENGTH = re.compile(rb"(?im)^content-length[ \t]*:([^\r\n]*)")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}\r\n")
_CHUNK_SIZE_BYTES = 18


class StrictBuffer(ReceiveBuffer):
    """The bytes of one connection, in place of h11's own buffer.

    h11 asks for a block of lines (a request's head, trailers), for one line (a chunk's size), and for bytes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._awaits_trailers = False
        self._checked = 0  # bytes of the head, so that one that comes byte by byte is checked once

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Extract the head of a request, or the end of a body in chunks.

        Raises:
            h11.LocalProtocolError: It can be read in more than one way. h11 makes it an error of the client.
        """
        if self._awaits_trailers:
            return self._no_trailers()
        since = max(0, self._checked - len(_END_OF_HEAD))
        end = self._data.find(_END_OF_HEAD, since)
        until = len(self) if end < 0 else end + 2
        if _WRONG_LINE_END.search(self._data, since, until):
            raise h11.LocalProtocolError("a line does not end in CR LF")
        if _FOLDED_LINE.search(self._data, since, until):
            raise h11.LocalProtocolError("a header is folded")
        self._checked = until
        if end < 0:
            return None
        lengths = [bytes(one).strip(b" \t") for one in _LENGTH.findall(self._data, 0, until)]
        if len(lengths) > 1 or not all(map(bytes.isdigit, lengths)):
            raise h11.LocalProtocolError("Content-Length is not one number")
        return super().maybe_extract_lines()

    def maybe_extract_next_line(self) -> bytearray | None:
        """Extract a chunk's size. Raises h11.LocalProtocolError as above."""
        line = super().maybe_extract_next_line()
        if line is None:
            if len(self) >= _CHUNK_SIZE_BYTES:
                raise h11.LocalProtocolError("the size of a chunk is too long")
            return None
        if not _CHUNK_SIZE.fullmatch(line):
            raise h11.LocalProtocolError("the size of a chunk is not a number alone")
        self._awaits_trailers = int(line, 16) == 0
        return line

    def _extract(self, count: int) -> bytearray:
        self._checked = 0
        return super()._extract(count)

    def _no_trailers(self) -> list[bytearray] | None:
        if len(self) < 2 and bytes(self) in (b"", b"\r"):
            return None
        if not self._data.startswith(b"\r\n"):
            raise h11.LocalProtocolError("trailers are not accepted")
        self._awaits_trailers = False
        return super().maybe_extract_lines()


_PIECE_BYTES = 4 * 1024
_REQUEST_BYTES = (
    512 * 1024
)  # of one request on the line: a body in chunks is longer than its content
_TICK_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """
    at_once, each: connections in all and of one address; where they are all taken, a new one takes the place
    of the oldest without a request under way (guard.py): where no whole request has come, where its
    refusal is held back, or where it waits for its check or a place, whichever are most; of those one that has
    never had any under way
    header_seconds: for a TLS handshake, and for a whole header from its first byte, the first from the start
    rest_seconds: for what follows a request that has been answered: its body, the client's end
    stalled_seconds: in which a client must read at least stalled_bytes, or all that is left
    """

    at_once: int = 512
    each: int = 128
    header_seconds: float = 10.0
    rest_seconds: float = 2.0
    stalled_seconds: float = 10.0
    stalled_bytes: int = 64 * 1024


ADMIN_LIMITS = ConnectionLimits(at_once=64, each=32)


class _Lingering:
    """The transport as uvicorn sees it. Closed with bytes of the client unread, a socket sends a reset, which
    can take the answer away from the client: so it goes on reading for a while, to no purpose. The client hears
    at once that nothing more comes."""

    def __init__(self, transport: asyncio.Transport, is_unread: Callable[[], bool]) -> None:
        self._transport = transport
        self._is_unread = is_unread
        self.is_lingering = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self.is_lingering or self._transport.is_closing()

    def close(self) -> None:
        if self.is_lingering or self._transport.is_closing() or not self._is_unread():
            self._transport.close()
        else:
            self.is_lingering = True
            if self._transport.can_write_eof():  # not with TLS
                self._transport.write_eof()
            self._transport.resume_reading()


class HttpProtocol(H11Protocol):
    """uvicorn's, which answers 400 to a broken body also where its answer has begun, and raises."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn._receive_buffer = StrictBuffer()

    def send_400_response(self, msg: str) -> None:
        has_begun = self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE)
        if self.cycle is not None:
            # Whatever the application still has to say, nobody hears it.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            if has_begun:
                raise h11.LocalProtocolError(msg)
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # or an answer to HEAD, which has no place for the text
            self.transport.abort()


class HttpConnection(asyncio.BufferedProtocol):
    """uvicorn's protocol on one socket, with deadlines."""

    def __init__(
        self,
        address: str,
        inner: H11Protocol,
        limits: ConnectionLimits,
        on_lost: Callable[[HttpConnection], None],
    ) -> None:
        self.address = address
        self.inner = inner
        self.opening: asyncio.Task[None] | None = None
        self._limits = limits
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._buffer = memoryview(bytearray(_PIECE_BYTES))
        self._transport: asyncio.Transport | None = None
        self._lingering: _Lingering | None = None
        self._has_served = False
        self._header_since: float | None = self._loop.time()
        self._rest_since: float | None = None
        self._request_bytes = 0
        self._unread: tuple[float, int] | None = None  # since when, how many bytes

    # Between the transport and uvicorn.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._header_since = self._loop.time()
        self._lingering = _Lingering(self._transport, self._is_unread)
        self.inner.connection_made(cast("asyncio.Transport", self._lingering))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._lingering is not None and self._lingering.is_lingering:
            return
        before = self.inner.cycle
        self.inner.data_received(bytes(self._buffer[:nbytes]))
        self._count(nbytes, before)
        if not self._awaits_header():
            self._header_since = None
        elif self._header_since is None:
            self._header_since = self._loop.time()

    def eof_received(self) -> None:
        if self._lingering is not None:
            self._lingering.close()

    def pause_writing(self) -> None:
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        self._unread = None
        self.inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_lost(self)
        self.inner.connection_lost(exc)

    # For the registry.

    @property
    def has_request(self) -> bool:
        cycle = self.inner.cycle
        return cycle is not None and not cycle.response_complete

    @property
    def has_come(self) -> bool:
        """Whether a request is there with all of its body, and has no answer yet."""
        return self.has_request and not self.inner.cycle.more_body

    @property
    def is_refused(self) -> bool:
        """Whether a request waits for nothing but its refusal."""
        return self.has_come and is_refused(self.inner.cycle.scope)

    @property
    def is_under_way(self) -> bool:
        """Whether it may not be closed for another one.

        Before a request's caller has logged in, its body has come and it has a place, the connection waits.
        """
        cycle = self.inner.cycle
        return self.has_request and (cycle.response_started or _was_let_in(cycle))

    @property
    def has_served(self) -> bool:
        """Whether a caller has been let in on it."""
        cycle = self.inner.cycle
        return self._has_served or _was_let_in(cycle)

    def is_overdue(self, now: float) -> bool:
        limits, transport = self._limits, self._transport
        if (
            self._header_since is None
            and self._awaits_header()
            and self.inner.conn.trailing_data[0]
        ):
            self._header_since = now  # it came along with the request before
        if self._header_since is not None and now - self._header_since > limits.header_seconds:
            return True
        if transport is None:
            return False
        if not self._reads_on(now):
            return True
        assert self._lingering is not None
        has_rest = self._lingering.is_closing() and self._unread is None
        self._rest_since = (self._rest_since or now) if has_rest else None
        return self._rest_since is not None and now - self._rest_since > limits.rest_seconds

    def abort(self) -> None:
        if self.opening is not None:
            self.opening.cancel()
        if self._transport is not None:
            self._transport.abort()

    def _count(self, nbytes: int, before: RequestResponseCycle | None) -> None:
        cycle = self.inner.cycle
        if cycle is not before:
            self._has_served |= _was_let_in(before)
            self._request_bytes = 0
            if cycle.more_body and self.has_request:
                # `receive` goes on with it, once there is somebody whom the body is for.
                self.inner.flow.pause_reading()
        self._request_bytes += nbytes
        if (
            self._request_bytes > _REQUEST_BYTES
            and self.has_request
            and self._transport is not None
        ):
            self._transport.abort()

    def _reads_on(self, now: float) -> bool:
        """Whether the client reads what it is sent."""
        assert self._transport is not None
        left = self._transport.get_write_buffer_size()
        if not left:
            self._unread = None
            return True
        if self._unread is None or left <= self._unread[1] - self._limits.stalled_bytes:
            self._unread = now, left
        return now - self._unread[0] <= self._limits.stalled_seconds

    def _awaits_header(self) -> bool:
        return not self.has_request and self.inner.conn.their_state is h11.IDLE

    def _is_unread(self) -> bool:
        cycle = self.inner.cycle
        return cycle is not None and cycle.more_body


def _was_let_in(cycle: RequestResponseCycle | None) -> bool:
    """Whether a whole request was, of somebody who has logged in. A body that does not come earns nothing."""
    return cycle is not None and is_under_way(cycle.scope) and not cycle.more_body


class Connections:
    """
    Given    make: uvicorn's protocol for a new connection; tls, if there is a certificate
    Gives    `serve` accepts and watches until it is cancelled; then all connections are to be ended elsewhere
    """

    def __init__(
        self,
        make: Callable[[], H11Protocol],
        tls: ssl.SSLContext | None,
        limits: ConnectionLimits | None = None,
        proxies: Networks = (),
    ) -> None:
        """proxies: pass on connections of many clients, so that the limit of an address is not theirs."""
        self._proxies = proxies
        self._make = make
        self._tls = tls
        self._limits = limits or ConnectionLimits()
        self._open: dict[HttpConnection, None] = {}  # the oldest first
        self._of_addresses: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    async def serve(self, listening: socket.socket) -> None:
        watching = asyncio.ensure_future(self._watch())
        try:
            await accept_in_turns(listening, self._begin)
        finally:
            watching.cancel()

    def abort(self) -> None:
        for connection in list(self._open):
            connection.abort()

    def _begin(self, client: socket.socket, peer: object) -> None:
        host = peer[0] if isinstance(peer, tuple) else None
        address = network_of(host)
        if not self._close_one_waiting(address, is_within(host, self._proxies)):
            client.close()
            return
        connection = HttpConnection(address, self._make(), self._limits, self._remove)
        self._open[connection] = None
        self._of_addresses[address] += 1
        connection.opening = asyncio.create_task(self._serve(connection, client))
        connection.opening.add_done_callback(partial(close_if_cancelled, client))

    def _close_one_waiting(self, address: str, is_proxy: bool) -> bool:
        """Whether there is a place, if need be one that was taken from somebody."""
        if not is_proxy and self._of_addresses[address] >= self._limits.each:
            return self._close_longest_waiting(address)
        if len(self._open) >= self._limits.at_once:
            (most, _), *_ = self._of_addresses.most_common(1)
            return self._close_longest_waiting(most) or self._close_longest_waiting(None)
        return True

    def _close_longest_waiting(self, address: str | None) -> bool:
        waiting = [
            one for one in self._open if not one.is_under_way and address in (None, one.address)
        ]
        if not waiting:
            return False
        not_come = [one for one in waiting if not one.has_come]
        refused = [one for one in waiting if one.is_refused]
        checked = [one for one in waiting if one.has_come and not one.is_refused]
        # Those of one flood are of one kind, and the most.
        many = max(not_come, refused, checked, key=len)
        closed = min(many, key=lambda one: one.has_served)  # the oldest
        self._remove(closed)
        closed.abort()
        return True

    async def _serve(self, connection: HttpConnection, client: socket.socket) -> None:
        """Until it is open; from then on its protocol hears when it is lost."""
        loop = asyncio.get_running_loop()
        seconds = None if self._tls is None else self._limits.header_seconds
        try:
            await loop.connect_accepted_socket(
                lambda: connection, client, ssl=self._tls, ssl_handshake_timeout=seconds
            )
        except BaseException as error:
            self._remove(connection)
            client.close()
            if not isinstance(error, (OSError, asyncio.TimeoutError)):
                raise

    def _remove(self, connection: HttpConnection) -> None:
        if connection in self._open:
            del self._open[connection]
            self._of_addresses[connection.address] -= 1
            if not self._of_addresses[connection.address]:
                del self._of_addresses[connection.address]

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            now = loop.time()
            for connection in list(self._open):
                if connection.is_overdue(now):
                    connection.abort()
