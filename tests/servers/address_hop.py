"""A TCP hop that makes its clients come from another loopback address."""

from __future__ import annotations

import contextlib
import socket
import threading
import time


class AddressHop:
    """Listens on a free port of 127.0.0.1; what it passes on comes from `address`, e.g. 127.0.0.2.

    late_seconds: how late each piece comes that the server says. first: what it says before its client.
    """

    def __init__(
        self, port: int, address: str, late_seconds: float = 0, first: bytes = b""
    ) -> None:
        self._first = first
        self._late_seconds = late_seconds
        self._target = ("127.0.0.1", port)
        self._address = address
        self._carrying: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def __enter__(self) -> AddressHop:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(60)
        self._listener.close()
        for carrying in self._carrying:
            carrying.join(60)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            carrying = threading.Thread(target=self._carry, args=(client,), daemon=True)
            carrying.start()
            self._carrying.append(carrying)

    def _carry(self, client: socket.socket) -> None:
        with (
            client,
            socket.create_connection(self._target, source_address=(self._address, 0)) as server,
        ):
            server.sendall(self._first)
            late = self._late_seconds
            back = threading.Thread(target=_pump, args=(server, client, late), daemon=True)
            back.start()
            _pump(client, server)
            back.join()


def _pump(source: socket.socket, target: socket.socket, late_seconds: float = 0) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            time.sleep(late_seconds)
            target.sendall(piece)
    for one in (source, target):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
