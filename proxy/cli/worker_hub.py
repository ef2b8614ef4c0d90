"""The supervisor's ends of the lines to its workers: it passes on what one says to the others.

It keeps notes for workers that start later: failed logins, who is signed in. It understands none of them.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.cli.worker_channel import MOST_WAITING, Message, packed, read_message

_MOST_NOTES = 20_000  # of one kind
SUPERVISOR = 0  # the number of who is no worker


@dataclass(frozen=True, slots=True)
class _Note:
    worker: int  # whose end ends it; SUPERVISOR: nobody's
    until: float | None
    message: Message


@dataclass(slots=True)
class _Question:
    """That was put to workers."""

    awaited: set[int]
    done: asyncio.Event = field(default_factory=asyncio.Event)
    answers: dict[int, Any] = field(default_factory=dict)

    def leave(self, worker: int) -> None:
        self.awaited.discard(worker)
        if not self.awaited:
            self.done.set()


class WorkerHub:
    """
    Given    told: what the supervisor does with messages that workers say to it alone, by what they do;
             answers: to what it is asked itself, by kind
    """

    def __init__(
        self,
        told: Mapping[str, Callable[[int, Message], None]],
        answers: Mapping[str, Callable[[Any], Any]],
    ) -> None:
        self._told, self._answers = told, answers
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._ready: set[int] = set()
        self._notes: dict[str, OrderedDict[str, _Note]] = {}
        self._questions: dict[int, _Question] = {}
        self._numbers = itertools.count()
        self._asking: set[asyncio.Task[None]] = set()

    @property
    def ready(self) -> list[int]:
        """Workers that serve, the lowest number first."""
        return sorted(self._ready)

    async def serve(
        self, worker: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Until the worker ends."""
        self._writers[worker] = writer
        try:
            while (message := await read_message(reader)) is not None:
                self._take(worker, message)
        finally:
            del self._writers[worker]
            self._ready.discard(worker)
            for question in self._questions.values():
                question.leave(worker)
            for notes in self._notes.values():
                for key in [key for key, one in notes.items() if one.worker == worker]:
                    del notes[key]
            self.tell("left", worker)
            writer.close()

    def say(self, worker: int, message: Message) -> None:
        writer = self._writers.get(worker)
        if writer is None or writer.transport.is_closing():
            return
        if writer.transport.get_write_buffer_size() < MOST_WAITING:
            writer.write(packed(message))

    def is_ready(self, worker: int) -> None:
        """It serves from now on. It learns what the others were told before."""
        now = time.monotonic()
        for notes in self._notes.values():
            for note in notes.values():
                if note.until is None or note.until > now:
                    self.say(worker, note.message)
        self._ready.add(worker)

    def tell(self, kind: str, body: Any) -> None:
        for worker in list(self._writers):
            self.say(worker, {"do": "told", "kind": kind, "from": SUPERVISOR, "body": body})

    async def ask(
        self, kind: str, body: Any, seconds: float, without: int = SUPERVISOR
    ) -> dict[int, Any]:
        """Answers of the workers that serve, but for one."""
        number = next(self._numbers)
        question = self._questions[number] = _Question(self._ready - {without})
        for worker in list(question.awaited):
            self.say(worker, {"do": "asked", "id": number, "kind": kind, "body": body})
        try:
            if question.awaited:
                await asyncio.wait_for(question.done.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        finally:
            del self._questions[number]
        return question.answers

    def _take(self, worker: int, message: Message) -> None:
        match message["do"]:
            case "tell":
                self._pass_on(worker, message)
            case "ask":
                asking = asyncio.create_task(self._ask_for(worker, message))
                self._asking.add(asking)
                asking.add_done_callback(self._asking.discard)
            case "ask_supervisor":
                body = self._answers[message["kind"]](message["body"])
                self.say(worker, {"do": "answers", "id": message["id"], "body": body})
            case "answer":
                question = self._questions.get(message["id"])
                if question is not None:
                    if message["body"] is not None:
                        question.answers[worker] = message["body"]
                    question.leave(worker)
            case other:
                self._told[other](worker, message)

    def _pass_on(self, worker: int, message: Message) -> None:
        kind, key = message["kind"], message["key"]
        passed: Message = {"do": "told", "kind": kind, "from": worker, "body": message["body"]}
        # Who starts meanwhile is told by the notes.
        for other in self._ready - {worker}:
            self.say(other, passed)
        if key is None:
            return
        seconds = message["seconds"]
        notes = self._notes.setdefault(kind, OrderedDict())
        notes.pop(key, None)
        until = None if seconds is None else time.monotonic() + seconds
        notes[key] = _Note(worker if message["is_own"] else SUPERVISOR, until, passed)
        while len(notes) > _MOST_NOTES:
            notes.popitem(last=False)

    async def _ask_for(self, worker: int, message: Message) -> None:
        answers = await self.ask(
            message["kind"], message["body"], message["seconds"], without=worker
        )
        self.say(worker, {"do": "answers", "id": message["id"], "body": answers})
