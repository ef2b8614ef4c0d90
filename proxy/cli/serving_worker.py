"""What workers share while they serve: each tells the others, and asks them where it must know.

| what | how |
|---|---|
| ends of logins | told to all: each gate counts those of all (`login_gate.py`) |
| sessions of an analyst | told to all: the limit is on their sum |
| who is signed in to the console | told to all; a form is sent once by asking the supervisor |
| a CancelRequest with an unknown key | all are asked |
| status, sessions, reload for administrators | all are asked, wherever the request came |
| looks at the catalogue, releases | one worker leads; another one does when it has ended |
| receipts, metrics | told to the supervisor, which writes the mark and keeps what ended workers counted |
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog

from proxy.cli.assembly import Database
from proxy.cli.following_marks import MARK_SECONDS
from proxy.cli.merged_status import merged_reloads, merged_status, told_rows
from proxy.cli.refreshing import WATCH_SECONDS, watch_catalogues
from proxy.cli.worker import Worker
from proxy.servers.console.signed_in import SignedInAnalysts
from proxy.servers.draining import Draining
from proxy.servers.http.admin_models import SessionList
from proxy.servers.http.json_models import StatusReport
from proxy.servers.login_gate import CheckEnd, LoginGate
from proxy.servers.metrics import Metrics
from proxy.servers.wire.wire_server import WireServer

_REMEMBERED_SECONDS = 360.0  # the longest that a failure delays others
_SIGNED_IN_SECONDS = 10 * 3600.0
_RELOAD_SECONDS = 120.0
_RELOADS = 4  # while some have taken a policy that others have not
_RELOAD_PAUSE = 1.0
_UNLED_PERIODS = 3  # without a look that was told, a worker looks itself

_log = structlog.get_logger("dpproxy.worker")

Report = Callable[[], Awaitable[StatusReport]]
Reload = Callable[[], Awaitable[Mapping[str, Any]]]


async def worker_serves(worker: Worker, databases: Sequence[str], draining: Draining) -> int:
    """The listeners are open. Until the supervisor says that the end begins: signals are its business."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: None)
    worker.channel.say({"do": "serves", "databases": list(databases)})
    await draining.begun.wait()
    return 0


async def join(worker: Worker) -> None:
    """Learn what the others know, before the first client. All that is shared is in place."""
    worker.channel.say({"do": "joins"})
    await worker.channel.ask_supervisor("sync")


def follow_supervisor(worker: Worker, draining: Draining) -> None:
    """Be told to lead, and to end."""

    def lead(_: int, leader: int) -> None:
        worker.leads = leader == worker.number

    def drain(_: int, given: Sequence[float]) -> None:
        draining.delay, draining.grace = given
        draining.begun.set()

    worker.channel.told |= {
        "leader": lead,
        "drain": drain,
        "hurry": lambda _, __: draining.hurried.set(),
    }


def share_gate(worker: Worker, name: str, gate: LoginGate) -> None:
    """name: what the gate is called at all workers"""
    kind = f"login {name}"

    def share(ended: CheckEnd, address: str, name: str) -> None:
        # One success tells as much as many. Each failure counts.
        key = (
            f"{address}\0{name}"
            if ended is CheckEnd.SUCCEEDED
            else f"{worker.number} {time.monotonic()}"
        )
        seconds = None if ended is CheckEnd.SUCCEEDED else _REMEMBERED_SECONDS
        body = [ended.value, address, name, time.monotonic()]
        of = f"{kind} {ended.value}"
        worker.channel.tell(of, body, key=key, seconds=seconds)

    def take(_: int, body: Any) -> None:
        ended, address, name, at = body
        gate.take(CheckEnd(ended), address, name, max(0.0, time.monotonic() - at))

    gate.share = share
    worker.channel.told |= {f"{kind} {ended.value}": take for ended in CheckEnd}


def share_sessions(worker: Worker, wire: WireServer) -> None:
    """Sessions of analysts, and requests to cancel."""
    channel, state = worker.channel, wire.state
    elsewhere: dict[int, Counter[str]] = {}

    def take(other: int, body: Any) -> None:
        analyst, sessions = body
        elsewhere.setdefault(other, Counter())[analyst] = sessions

    def left(_: int, other: int) -> None:
        elsewhere.pop(other, None)

    async def cancel_elsewhere(key: bytes, packet: bytes, requester: str) -> bool:
        answers = await channel.ask("cancel", [key.hex(), packet.hex(), requester])
        return any(answers.values())

    async def cancel(body: Any) -> bool:
        key, packet, requester = body
        return await state.cancels.request_here(
            bytes.fromhex(key), bytes.fromhex(packet), requester
        )

    state.share = lambda analyst, sessions: channel.tell(
        "sessions", [analyst, sessions], key=f"{worker.number} {analyst}", is_own=True
    )
    state.elsewhere = lambda analyst: sum(one[analyst] for one in elsewhere.values())
    state.first_number, state.number_step = worker.number, worker.workers
    state.cancels.elsewhere = cancel_elsewhere
    channel.told |= {"sessions": take, "left": left}
    channel.asked["cancel"] = cancel


def share_signed_in(worker: Worker, people: SignedInAnalysts) -> None:
    channel = worker.channel

    async def is_new(digest: str, form: str) -> bool:
        """Also False where nobody can say it: then nothing runs, and nothing is charged."""
        return await channel.ask_supervisor("once", f"{digest} {form}") is True

    people.share = lambda digest, told: channel.tell(
        "signed in", [digest, told], key=digest, seconds=_SIGNED_IN_SECONDS
    )
    people.is_new = is_new
    channel.told["signed in"] = lambda _, body: people.take(*body)


def share_metrics(worker: Worker, metrics: Metrics) -> None:
    metrics.share = lambda rows: worker.channel.say({"do": "rows", "rows": told_rows(rows)})


async def tell_receipts(worker: Worker, last_receipt: Callable[[], int]) -> None:
    """Until it is cancelled."""
    told = 0
    while True:
        highest = last_receipt()
        if highest > told:
            worker.channel.say({"do": "receipt", "receipt": highest})
            told = highest
        await asyncio.sleep(MARK_SECONDS)


class ReportsOfAll:
    """What administrators ask of all workers, through any.

    Args:
        worker: This one.
        wire: Its sessions.
        own_sessions: Give them, as they are listed.
        report: Give its status.
        reload: Reads its policies again. None: it has none that it could read.
    """

    def __init__(
        self,
        worker: Worker,
        wire: WireServer,
        own_sessions: Callable[[], SessionList],
        report: Report,
        reload: Reload | None,
    ) -> None:
        self._channel, self._report, self._reload = worker.channel, report, reload

        async def tell_status(_: object) -> Any:
            return (await report()).model_dump(mode="json")

        async def tell_sessions(_: object) -> Any:
            return own_sessions().model_dump(mode="json")

        async def end_session(number: Any) -> bool:
            return wire.end_session(number)

        async def reload_own(_: object) -> Any:
            return None if reload is None else await reload()

        worker.channel.asked |= {
            "status": tell_status,
            "own sessions": tell_sessions,
            "end session": end_session,
            "reload": reload_own,
        }

    async def sessions(self) -> SessionList:
        """Of the others."""
        answers = await self._channel.ask("own sessions")
        return SessionList.joined([SessionList.model_validate(one) for one in answers.values()])

    async def end_session(self, number: int) -> bool:
        return any((await self._channel.ask("end session", number)).values())

    async def status(self) -> StatusReport:
        own = (await self._report()).model_dump(mode="json")
        others = await self._channel.ask("status")
        workers = await self._channel.ask_supervisor("workers")
        reports = [own, *(others[number] for number in sorted(others))]
        return StatusReport.model_validate(merged_status(reports, workers or own["workers"]))

    async def reload(self) -> Mapping[str, Any]:
        """All of them. New budgets are in force when the last worker has agreed: the others try again."""
        assert self._reload is not None
        for attempt in range(1, _RELOADS + 1):
            own, others = await asyncio.gather(
                self._reload(), self._channel.ask("reload", seconds=_RELOAD_SECONDS)
            )
            reports = [own, *others.values()]
            found = merged_reloads(reports)
            refused = [one for one in found["policies"] if one["not_taken"]]
            is_mixed = any(found != one for one in reports)
            if not refused or not is_mixed or attempt == _RELOADS:
                break
            await asyncio.sleep(_RELOAD_PAUSE)
        return found


async def watch_together(worker: Worker, databases: Sequence[Database]) -> None:
    """Until it is cancelled. The leader looks at the catalogues; the others do when it has seen a change."""
    by_name = {one.policy.database: one for one in databases}
    looking: set[asyncio.Task[None]] = set()

    def look(database: Database) -> None:
        """In a thread, each period."""
        since = time.monotonic() - database.looked_at
        if worker.leads or since > _UNLED_PERIODS * WATCH_SECONDS:
            before = database.seen
            database.look_for_changes()
            loop.call_soon_threadsafe(tell, database, database.seen != before)

    def tell(database: Database, is_changed: bool) -> None:
        worker.channel.tell("looked", [database.policy.database, is_changed])

    def take(_: int, body: Any) -> None:
        name, is_changed = body
        database = by_name[name]
        database.looked_at = time.monotonic()
        if is_changed:
            task = asyncio.create_task(look_as_well(database))
            looking.add(task)
            task.add_done_callback(looking.discard)

    async def look_as_well(database: Database) -> None:
        try:
            await asyncio.to_thread(database.look_for_changes)
        except Exception as error:  # the next one looks again
            database.looked_at -= _UNLED_PERIODS * WATCH_SECONDS
            name, kind = database.policy.database, type(error).__name__
            _log.warning("catalogue_not_read", database=name, kind=kind)

    loop = asyncio.get_running_loop()
    worker.channel.told["looked"] = take
    with suppress(asyncio.CancelledError):
        await watch_catalogues(databases, WATCH_SECONDS, look)
