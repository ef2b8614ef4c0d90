"""`dpproxy serve --workers N`: one process that starts N others, starts again those that end, and passes on
what they say to each other.

It has the listening sockets, the ledger's server and the mark. It reads no protected data and answers no
client: what can fail is in the workers. When it ends, so do they.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import signal
import socket
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import structlog

from proxy.cli.cli_error import CliError
from proxy.cli.control_socket import open_control
from proxy.cli.following_marks import write_last_mark, write_marks
from proxy.cli.keeping_servers import keep_servers
from proxy.cli.listen_addresses import Sockets
from proxy.cli.merged_status import merged_status, status_without_reports
from proxy.cli.proxy_servers import ServedLedger
from proxy.cli.source_variables import inherited_environment
from proxy.cli.worker_channel import MOST_WAITING, Message, packed, read_message
from proxy.servers.draining import Draining

# The supervisor's ends of the lines to its workers: it passes on what one says to the others.
#
# It keeps notes for workers that start later: failed logins, who is signed in. It understands none of them.

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


_STARTS = 5  # that fail one after another, before a worker stays down
_QUICK_SECONDS = 3.0  # a worker that ends sooner is not started again at once
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
_LAST_SECONDS = 30.0  # beyond delay and grace
_END_SECONDS = 15.0  # for a worker whose line to here is closed
_RELOAD_SECONDS = 120.0
_STATUS_SECONDS = 10.0
_MOST_ONCE = 100_000
_COUNTED = ("_total", "_stage_seconds")  # metrics that only grow; the second is a histogram
# Without the current folder on the path, which is no part of the program.
_PROGRAM = "import sys; del sys.path[0]; from proxy.cli.worker import run_worker; run_worker({})"

_log = structlog.get_logger("dpproxy.supervisor")


@dataclass(slots=True)
class WorkerProcess:
    number: int
    sockets: Sockets
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    is_serving: bool = False
    served_at: float = 0.0
    is_down: bool = False
    failure: str = ""  # why it could not go on, if it said so
    databases: Sequence[str] = ()

    @property
    def silence(self) -> str:
        """What it means that it says nothing."""
        if self.is_down:
            return "down"
        return "silent" if self.is_serving else "starting"


class Supervisor:
    """
    Given    the ledger that all serve; for each worker its sockets; draining: as of `serve`, set by signals
    Gives    `run`
    """

    def __init__(
        self, ledger: ServedLedger, sockets: Sequence[Sockets], draining: Draining
    ) -> None:
        self._ledger, self._draining = ledger, draining
        self._workers = [WorkerProcess(number, one) for number, one in enumerate(sockets, 1)]
        self._hub = WorkerHub(
            told={
                "joins": lambda worker, _: self._hub.is_ready(worker),
                "serves": self._serves,
                "failed": self._failed,
                "rows": self._take_rows,
                "receipt": self._take_receipt,
            },
            answers={
                "sync": lambda _: True,
                "once": self._once,
                "metrics": self._metrics,
                "workers": lambda _: self._processes,
            },
        )
        self._changed = asyncio.Event()  # a worker serves, or has ended
        self._has_served = False
        self._leader = 0
        self._last_receipt = 0
        self._noted: OrderedDict[str, None] = OrderedDict()
        self._rows: dict[int, dict[str, list[Any]]] = {}
        self._rows_before: dict[tuple[str, tuple[str, ...]], float] = {}  # of workers that ended
        self._status: dict[str, Any] | None = None  # as it was told last
        self._keeping: list[asyncio.Task[None]] = []

    async def run(self, announce: Callable[[Sequence[str]], None]) -> None:
        """
        Given    announce: called with the databases' names when all workers serve
        Gives    when it was told to end, and all workers have
        Refuses  Stopped where a worker does not start, or none does any more, or the ledger's server
        """
        loop = asyncio.get_running_loop()
        tasks = [asyncio.create_task(self._keep(one)) for one in self._workers]
        lost = asyncio.create_task(keep_servers(self._ledger.embedded))
        marks = asyncio.create_task(write_marks(self._ledger, lambda: self._last_receipt))
        begun = asyncio.create_task(self._draining.begun.wait())
        for task in tasks:
            task.add_done_callback(lambda _: self._changed.set())
        self._keeping = tasks
        try:
            with self._hang_ups(loop):
                await self._until(lambda: all(one.is_serving for one in self._workers), lost, begun)
                if not self._draining.is_begun:
                    self._has_served = True
                    await self._told_status()  # there is one from now on, whoever ends
                    async with open_control(self._ledger.mark.state, self._as_json):
                        announce(self._workers[0].databases)
                        await self._until(lambda: False, lost, begun)
                        await self._drain(tasks)
                else:
                    raise SystemExit(128 + signal.SIGTERM)
        finally:
            ending: tuple[asyncio.Task[Any], ...] = (*tasks, lost, marks, begun)
            for one in ending:
                one.cancel()
            await asyncio.to_thread(self._end_all)
            await write_last_mark(self._ledger)

    async def _until(
        self,
        holds: Callable[[], bool],
        lost: asyncio.Task[str],
        begun: asyncio.Task[Literal[True]],
    ) -> None:
        """Until it holds, or the end has begun. Refuses  Stopped where nothing can go on"""
        while not holds() and not self._draining.is_begun:
            if lost.done():
                raise CliError(lost.result())
            for task in self._keeping:
                if task.done() and (error := task.exception()) is not None:
                    raise error
            failed = [one for one in self._workers if one.is_down]
            if failed and (not self._has_served or len(failed) == len(self._workers)):
                one = failed[0]
                raise CliError(one.failure or f"worker {one.number} does not start: see its log")
            self._changed.clear()
            changed = asyncio.create_task(self._changed.wait())
            await asyncio.wait({changed, lost, begun}, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()

    # A worker

    async def _keep(self, one: WorkerProcess) -> None:
        """Until the end has begun, or the worker does not start any more."""
        failures = quick = 0
        while True:
            status = await self._run(one)
            has_served, one.is_serving = one.is_serving, False
            self._forget(one)
            if self._draining.is_begun:
                return
            failures = 0 if has_served else failures + 1
            is_quick = time.monotonic() - one.served_at < _QUICK_SECONDS or not has_served
            quick = quick + 1 if is_quick else 0
            if self._has_served:
                _log.error("worker_ended", worker=one.number, status=status, reason=one.failure)
            one.is_down = not self._has_served or failures == _STARTS
            if one.is_down:
                for listening in one.sockets.values():
                    listening.close()
            self._changed.set()
            if one.is_down:
                if self._has_served:
                    _log.error("worker_stays_down", worker=one.number)
                return
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (quick - 1)) if quick else 0.0
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._draining.begun.wait(), pause)
                return
            one.restarts += 1

    async def _run(self, one: WorkerProcess) -> int:
        """Give the status with which it ends."""
        ours, theirs = socket.socketpair()
        one.failure = ""
        with theirs:
            files = {name: listening.fileno() for name, listening in one.sockets.items()}
            is_told = one.number == 1 and not self._has_served
            one.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _PROGRAM.format(theirs.fileno()), *sys.argv[1:]],
                pass_fds=[theirs.fileno(), *files.values()],
                stdin=subprocess.DEVNULL,
                stdout=None if is_told else subprocess.DEVNULL,
                env=inherited_environment(),
                start_new_session=True,  # the terminal's Ctrl-C is for the supervisor
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        start = {
            "number": one.number,
            "workers": len(self._workers),
            "ledger": self._ledger.ledger_dsn,
            "accept": self._ledger.accept,
            "is_first_start": not self._has_served,
            "sockets": files,
        }
        writer.write(packed(start))
        await self._hub.serve(one.number, reader, writer)
        return await asyncio.to_thread(one.process.wait)

    def _forget(self, one: WorkerProcess) -> None:
        for name, rows in self._rows.pop(one.number, {}).items():
            if name.endswith(_COUNTED):  # a counter goes on from where it was
                for labels, value in rows:
                    key = name, tuple(labels)
                    self._rows_before[key] = self._rows_before.get(key, 0) + value
        self._choose_leader()

    def _choose_leader(self) -> None:
        serving = [one.number for one in self._workers if one.is_serving]
        if self._leader not in serving and serving:
            self._leader = serving[0]
            self._hub.tell("leader", self._leader)

    # What workers say

    def _serves(self, worker: int, message: Message) -> None:
        one = self._workers[worker - 1]
        one.is_serving, one.served_at = True, time.monotonic()
        one.databases = message["databases"]
        self._choose_leader()
        if self._has_served:
            _log.warning("worker_started_again", worker=worker, restarts=one.restarts)
        self._changed.set()

    def _failed(self, worker: int, message: Message) -> None:
        self._workers[worker - 1].failure = message["text"]

    def _take_rows(self, worker: int, message: Message) -> None:
        self._rows[worker] = message["rows"]

    def _take_receipt(self, worker: int, message: Message) -> None:
        self._last_receipt = max(self._last_receipt, message["receipt"])

    # What they ask

    def _once(self, key: str) -> bool:
        """Whether nobody has said this before."""
        is_new = key not in self._noted
        self._noted[key] = None
        if len(self._noted) > _MOST_ONCE:
            self._noted.popitem(last=False)
        return is_new

    def _metrics(self, _: object) -> dict[str, Any]:
        before: dict[str, list[Any]] = {}
        for (name, labels), value in self._rows_before.items():
            before.setdefault(name, []).append((labels, value))
        restarts = {str(one.number): one.restarts for one in self._workers}
        return {"of_workers": [*self._rows.values(), before], "restarts": restarts}

    @property
    def _processes(self) -> list[dict[str, Any]]:
        return [
            {
                "worker": one.number,
                "pid": 0 if one.process is None else one.process.pid,
                "restarts": one.restarts,
                "is_serving": one.is_serving,
                "state": one.silence,
            }
            for one in self._workers
        ]

    # What operators ask

    async def _as_json(self) -> bytes:
        return json.dumps(await self._told_status()).encode()

    async def _told_status(self) -> dict[str, Any]:
        reports = await self._hub.ask("status", None, _STATUS_SECONDS)
        if reports:
            of_workers = [reports[one] for one in sorted(reports)]
            self._status = merged_status(of_workers, self._processes)
        elif self._status is not None:
            is_draining = self._draining.is_begun
            self._status = status_without_reports(
                self._status, self._processes, is_draining=is_draining
            )
        if self._status is None:
            raise CliError("no worker answers")
        return self._status

    @contextlib.contextmanager
    def _hang_ups(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """SIGHUP: all workers read their policies again."""
        reloads: set[asyncio.Task[Any]] = set()

        def reload() -> None:
            reloading = asyncio.create_task(self._hub.ask("reload", None, _RELOAD_SECONDS))
            reloads.add(reloading)
            reloading.add_done_callback(reloads.discard)

        loop.add_signal_handler(signal.SIGHUP, reload)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGHUP)

    # The end

    async def _drain(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        draining = self._draining
        self._close_sockets()  # a worker has its own until it closes them
        self._hub.tell("drain", [draining.delay, draining.grace])
        for one in self._workers:
            if not one.is_serving and one.process is not None:
                one.process.terminate()
        hurrying = asyncio.create_task(self._hurry())
        await asyncio.wait(tasks, timeout=draining.delay + draining.grace + _LAST_SECONDS)
        hurrying.cancel()

    async def _hurry(self) -> None:
        await self._draining.hurried.wait()
        self._hub.tell("hurry", None)

    def _close_sockets(self) -> None:
        for one in self._workers:
            for listening in one.sockets.values():
                listening.close()

    def _end_all(self) -> None:
        """Workers that are left: where the start failed, or that do not end."""
        self._close_sockets()
        left = [one.process for one in self._workers if one.process and one.process.poll() is None]
        for process in left:
            process.terminate()
        for process in left:
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
