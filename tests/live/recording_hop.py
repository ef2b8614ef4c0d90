"""A TCP hop between a client and a server that keeps every byte the server says."""

from __future__ import annotations

import contextlib
import socket
import threading


class RecordingHop:
    """Listens on a free loopback port; `said` is all that came from behind, in order per connection."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._streams: list[list[bytes]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def said(self) -> bytes:
        return b"\n".join(b"".join(stream) for stream in self._streams)

    def taken(self) -> bytes:
        """What was said since it was last taken, by connections that are over."""
        said, self._streams = self.said(), []
        return said

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            stream: list[bytes] = []
            self._streams.append(stream)
            threading.Thread(target=_pump, args=(client, server, None), daemon=True).start()
            threading.Thread(target=_pump, args=(server, client, stream), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket, record: list[bytes] | None) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            if record is not None:
                record.append(piece)
            target.sendall(piece)
    for one in (source, target):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
