"""A client that speaks single frames, after libpq has logged it in."""

from __future__ import annotations

import os
import socket
from types import TracebackType

import psycopg

from proxy.pgwire.frames import U32

Frame = tuple[bytes, bytes]  # tag and payload


class RawClient:
    def __init__(self, conninfo: str) -> None:
        # Not pq.PGconn.connect, which holds the interpreter while the server under test needs it.
        self._login = psycopg.connect(conninfo, autocommit=True, sslmode="disable")
        self.socket = socket.socket(fileno=os.dup(self._login.fileno()))
        self.socket.setblocking(True)
        self.socket.settimeout(60)
        self._buffer = b""

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.socket.close()
        self._login.close()

    def send(self, *frames: bytes) -> None:
        self.socket.sendall(b"".join(frames))

    def receive(self) -> Frame | None:
        """The next frame; None at the end of the stream."""
        while len(self._buffer) < 5 or len(self._buffer) < self._needed():
            chunk = self.socket.recv(1 << 16)
            if not chunk:
                return None
            self._buffer += chunk
        end = self._needed()
        frame = self._buffer[:1], self._buffer[5:end]
        self._buffer = self._buffer[end:]
        return frame

    def _needed(self) -> int:
        return 1 + int(U32.unpack_from(self._buffer, 1)[0])

    def until_ready(self, times: int = 1) -> list[Frame]:
        frames = []
        while times:
            frame = self.receive()
            if frame is None:
                break
            frames.append(frame)
            times -= frame[0] == b"Z"
        return frames

    def until(self, tag: bytes) -> list[Frame]:
        frames = []
        while (frame := self.receive()) is not None:
            frames.append(frame)
            if frame[0] == tag:
                break
        return frames
