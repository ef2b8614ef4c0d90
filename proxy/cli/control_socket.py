"""`DIR/control`: a Unix socket of a serving process, which says how it is to its own user alone.

Whoever connects is sent one JSON document. Nothing is read from them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import structlog

CONTROL = "control"
_LONGEST = 4 << 20
_SECONDS = 15.0

_log = structlog.get_logger("dpproxy.control")


@asynccontextmanager
async def open_control(home: Path, tell: Callable[[], Awaitable[bytes]]) -> AsyncIterator[None]:
    """
    Given    home: the state folder, which one process serves at a time; tell: what is said
    Gives    while it is open, others of the same user are told. A folder without sockets is logged
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(await asyncio.wait_for(tell(), _SECONDS))
            await asyncio.wait_for(writer.drain(), _SECONDS)
        except Exception as error:  # who asks sees that nothing came
            _log.warning("status_not_told", kind=type(error).__name__)
        finally:
            writer.close()

    try:
        listening = _listening(home)
    except OSError as error:
        _log.warning("no_control_socket", reason=error.strerror or type(error).__name__)
        yield
        return
    server = await asyncio.start_unix_server(answer, sock=listening)
    try:
        yield
    finally:
        server.close()
        with contextlib.suppress(OSError):
            (home / CONTROL).unlink()


def read_control(home: Path) -> bytes:
    """
    Raises:
        OSError: nobody serves there.
    """
    with socket.socket(socket.AF_UNIX) as asking, _short(home) as path:
        asking.settimeout(_SECONDS)
        asking.connect(path)
        told = b""
        while piece := asking.recv(1 << 16):
            told += piece
            if len(told) > _LONGEST:
                raise OSError("the answer does not end")
    return told


def _listening(home: Path) -> socket.socket:
    """What a process left there that was killed is replaced."""
    (home / CONTROL).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    try:
        with _short(home) as path:
            # On Linux the file has this from its first moment.
            os.fchmod(listening.fileno(), 0o600)
            listening.bind(path)
            Path(path).chmod(0o600)
        listening.listen(8)
    except BaseException:
        listening.close()
        raise
    return listening


@contextmanager
def _short(home: Path) -> Iterator[str]:
    """A path of the socket below the 108 bytes that an address holds, however long the folder's own is."""
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    try:
        through = f"/proc/self/fd/{folder}"
        yield f"{through if os.path.exists(through) else home}/{CONTROL}"  # noqa: PTH110
    finally:
        os.close(folder)
