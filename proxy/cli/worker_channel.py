"""A worker's end of the line to its supervisor, and through it to the other workers."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog

# What a supervisor and its workers say to each other: JSON with its length before it, over a socket pair.
#
# A worker inherits its end. Nobody else has one: a message is as good as one of this process.

Message = dict[str, Any]
MOST_WAITING = 32 << 20  # bytes for somebody who does not read: it hangs

_LENGTH = struct.Struct("!I")


def packed(message: Message) -> bytes:
    """
    >>> packed({"do": "lead"})
    b'\\x00\\x00\\x00\\x0e{"do": "lead"}'
    """
    text = json.dumps(message).encode()
    return _LENGTH.pack(len(text)) + text


async def read_message(reader: asyncio.StreamReader) -> Message | None:
    """None: the other end is closed."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return dict(json.loads(await reader.readexactly(length)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def read_first(connection: socket.socket) -> Message | None:
    """As `read_message`, before there is a loop, and not a byte more."""
    head = _exactly(connection, _LENGTH.size)
    text = None if head is None else _exactly(connection, *_LENGTH.unpack(head))
    return None if text is None else dict(json.loads(text))


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    found = b""
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            return None
        found += piece
    return found


ASK_SECONDS = 5.0

_log = structlog.get_logger("dpproxy.worker")

Told = Callable[[int, Any], None]
Asked = Callable[[Any], Awaitable[Any]]


class WorkerChannel:
    """
    Given    the inherited socket
    Gives    `told`, `asked`: what is done with messages, by their kind. To be filled in before `follow` begins
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._writer: asyncio.StreamWriter | None = None
        self._numbers = itertools.count()
        self._awaited: dict[int, asyncio.Future[Message]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self.told: dict[str, Told] = {}
        self.asked: dict[str, Asked] = {}

    async def follow(self) -> str:
        """Read what comes, until the supervisor has ended. Gives why this process cannot go on."""
        reader, self._writer = await asyncio.open_connection(sock=self._connection)
        while (message := await read_message(reader)) is not None:
            match message["do"]:
                case "told":
                    act = self.told.get(message["kind"])
                    if act is not None:
                        act(message["from"], message["body"])
                case "asked":
                    task = asyncio.create_task(self._answer(message))
                    self._answering.add(task)
                    task.add_done_callback(self._answering.discard)
                case "answers":
                    awaited = self._awaited.get(message["id"])
                    if awaited is not None and not awaited.done():
                        awaited.set_result(message)
        return "the supervisor of the workers has ended"

    async def opened(self) -> None:
        """`follow` runs in a task of its own."""
        while self._writer is None:
            await asyncio.sleep(0)

    def say(self, message: Message) -> None:
        writer = self._writer
        if writer is None or writer.transport.is_closing():
            return
        if writer.transport.get_write_buffer_size() < MOST_WAITING:
            writer.write(packed(message))

    def tell(
        self,
        kind: str,
        body: Any,
        *,
        key: str | None = None,
        seconds: float | None = None,
        is_own: bool = False,
    ) -> None:
        """Tell the other workers, and with a key also those that start later.

        Args:
            key: Only the last one of a kind and key is kept.
            seconds: How long it is kept. None: until there is another one, or too many.
            is_own: It is forgotten when this worker ends.
        """
        self.say(
            {
                "do": "tell",
                "kind": kind,
                "body": body,
                "key": key,
                "seconds": seconds,
                "is_own": is_own,
            }
        )

    async def ask(
        self, kind: str, body: Any = None, seconds: float = ASK_SECONDS
    ) -> Mapping[int, Any]:
        """Ask the other workers. Gives their answers by number; of who fails or is slow there is none."""
        answers: Mapping[str, Any] = await self._asked("ask", kind, body, seconds) or {}
        return {int(number): found for number, found in answers.items()}

    async def ask_supervisor(self, kind: str, body: Any = None) -> Any:
        """None where it does not answer."""
        return await self._asked("ask_supervisor", kind, body, ASK_SECONDS)

    async def _asked(self, do: str, kind: str, body: Any, seconds: float) -> Any:
        number = next(self._numbers)
        awaited = self._awaited[number] = asyncio.get_running_loop().create_future()
        self.say({"do": do, "id": number, "kind": kind, "body": body, "seconds": seconds})
        try:
            return (await asyncio.wait_for(awaited, seconds + 1))["body"]
        except asyncio.TimeoutError:
            return None
        finally:
            del self._awaited[number]

    async def _answer(self, message: Message) -> None:
        body = None
        try:
            body = await self.asked[message["kind"]](message["body"])
        except Exception as error:  # the others go on without it
            _log.warning("worker_not_answering", what=message["kind"], kind=type(error).__name__)
        self.say({"do": "answer", "id": message["id"], "body": body})
