"""A process that serves beside others, under a supervisor: what it inherits."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from proxy.cli.listen_addresses import Sockets
from proxy.cli.main import main
from proxy.cli.worker_channel import WorkerChannel, packed, read_first


@dataclass(slots=True, kw_only=True)
class Worker:
    """ledger_dsn holds a password: never log it; accept: as of ServedLedger; is_first_start: the supervisor has
    never served; leads: whether it does what one of all workers does."""

    number: int
    workers: int
    ledger_dsn: str = field(repr=False)
    accept: str
    is_first_start: bool
    sockets: Sockets
    channel: WorkerChannel
    leads: bool = False


_inherited: list[Worker] = []


def inherited_worker() -> Worker | None:
    """None: this process serves alone, or is the supervisor."""
    return _inherited[0] if _inherited else None


def inherit(number: int) -> Callable[[str], None]:
    """
    Given    the file descriptor of the line to the supervisor
    Gives    this process is a worker from now on; tells the supervisor why it cannot go on
    """
    connection = socket.socket(fileno=number)
    start = read_first(connection)
    if start is None:
        raise SystemExit(1)
    connection.setblocking(False)
    last_words = connection.dup()  # open until this process ends, which is how its end is noticed
    last_words.setblocking(True)
    worker = Worker(
        number=start["number"],
        workers=start["workers"],
        ledger_dsn=start["ledger"],
        accept=start["accept"],
        is_first_start=start["is_first_start"],
        sockets={name: socket.socket(fileno=one) for name, one in start["sockets"].items()},
        channel=WorkerChannel(connection),
    )
    _inherited.append(worker)

    def fail(text: str) -> None:
        try:
            last_words.sendall(packed({"do": "failed", "text": text}))
        except OSError:  # the supervisor has ended, which is why
            sys.stderr.write(f"dpproxy: worker {worker.number}: {text}\n")

    return fail


# The program of a worker: the command that its supervisor was given, with what it inherits.


def run_worker(number: int) -> None:
    """
    Given    the file descriptor of the line to the supervisor
    """
    main(inherit(number))
