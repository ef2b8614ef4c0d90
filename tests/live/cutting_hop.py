"""A TCP hop to the protected server or the ledger's, that cuts connections or falls silent at chosen points."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MARK = b'"orders"'  # stands in the compiled statement alone


@dataclass(slots=True)
class CuttingHop:
    """cut: where to end a connection. `before`: instead of passing on its statement; `after`: instead of the
    reply; `rows`: in the middle of the reply; `run`: instead of the reply to what comes next, as a statement
    is prepared first. times: how many, after `passing` statements. silent: nothing is passed on any more, as
    by a firewall that drops. statements: how many with the mark have come. target: a path is that of a socket.
    """

    target: tuple[str, int] | str
    mark: bytes = MARK
    cut: str = ""
    times: int = 0
    passing: int = 0
    silent: bool = False
    statements: int = 0
    connections: int = 0
    _listener: socket.socket = field(init=False)
    _open: list[socket.socket] = field(default_factory=list)

    def start(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def stop(self) -> None:
        """Refuses connections from now on, and ends those that are open."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.end_all()

    def start_again(self, port: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def end_all(self) -> None:
        """As a server that is started again."""
        for one in tuple(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def cuts(self, where: str) -> bool:
        if self.cut != where or self.times <= 0 or self.statements <= self.passing:
            return False
        self.times -= 1
        return True

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            server = _connected(self.target)
            self._open += [client, server]
            threading.Thread(target=_Hopped(self, client, server).both, daemon=True).start()


@dataclass(slots=True)
class _Hopped:
    hop: CuttingHop
    client: socket.socket
    server: socket.socket
    holds_back: bool = False
    cuts_rows: bool = False
    runs_next: bool = False

    def both(self) -> None:
        back = threading.Thread(target=self.back, daemon=True)
        back.start()
        self.forth()
        back.join()
        for one in (self.client, self.server):
            one.close()

    def forth(self) -> None:
        with contextlib.suppress(OSError):
            while piece := self.client.recv(1 << 16):
                if self.hop.silent:
                    continue
                self.holds_back = self.runs_next
                if self.hop.mark in piece:
                    self.hop.statements += 1
                    if self.hop.cuts("before"):
                        break
                    self.holds_back = self.hop.cuts("after")
                    self.cuts_rows = self.hop.cuts("rows")
                    self.runs_next = self.hop.cuts("run")
                self.server.sendall(piece)
        self._end()

    def back(self) -> None:
        with contextlib.suppress(OSError):
            while piece := self.server.recv(1 << 16):
                if self.hop.silent:
                    continue
                if self.holds_back:
                    break
                if self.cuts_rows:
                    self.client.sendall(piece[: len(piece) // 2])
                    break
                self.client.sendall(piece)
        self._end()

    def _end(self) -> None:
        for one in (self.client, self.server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def _connected(target: tuple[str, int] | str) -> socket.socket:
    if not isinstance(target, str):
        return socket.create_connection(target)
    found = socket.socket(socket.AF_UNIX)
    found.connect(target)
    return found


@contextmanager
def cutting_hop(target: tuple[str, int] | str) -> Iterator[CuttingHop]:
    hop = CuttingHop(target)
    hop.start()
    try:
        yield hop
    finally:
        hop.stop()
