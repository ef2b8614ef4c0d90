"""The event loop of a command, and how it ends: uvloop where there is one, SIGTERM as an orderly end; what a
service manager is told, and how logs are written."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

import structlog
from structlog.typing import EventDict

from proxy.servers.draining import Draining

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.run(work)
    return uvloop.run(work)


def outlive_hang_ups() -> None:
    """Before the loop runs: SIGHUP asks for policies to be read, which they are at the start anyway. A handler,
    since servers that are started would inherit that it is ignored."""
    if hasattr(signal, "SIGHUP"):  # not on Windows
        signal.signal(signal.SIGHUP, lambda number, frame: None)


def end_on_sigterm() -> None:
    """Before the loop runs: unwind like Ctrl-C, so that servers that were started are stopped."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def tell_ready() -> None:
    """What a service manager waits for before it says that a start is done: sd_notify(3). One that cannot be
    told says itself that the start takes too long."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address[0] == "@":  # an abstract one: unix(7)
        address = f"\0{address[1:]}"
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as telling,
    ):
        telling.sendto(b"READY=1", address)


# SIGTERM and Ctrl-C as the beginning of an orderly end.


def drain_on_signals(draining: Draining, say: Callable[[], None] = lambda: None) -> None:
    """From now on SIGTERM and Ctrl-C begin the end, and a second one ends the waiting. A third one ends the
    process as it would any program. To be called before anybody is told that there is something to stop.

    Args:
        draining: The end.
        say: Called when it begins.
    """
    loop = asyncio.get_running_loop()

    def on_signal(act: Callable[[], None]) -> None:
        is_second = draining.is_begun
        act()
        if not is_second:
            say()
        else:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    loop.add_signal_handler(signal.SIGINT, on_signal, draining.interrupt)
    loop.add_signal_handler(signal.SIGTERM, on_signal, draining.terminate)


# Structured logs on standard error: what happened, never a row, a literal of a statement or a password.

_log = structlog.get_logger("dpproxy.libraries")


class _OfLibraries(logging.Handler):
    """What libraries log, as lines of our own. Their texts may quote anything: a line says where it comes
    from, and of its text what stands in the library's code, without what was filled in."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[0] if record.exc_info else None
        _log.log(
            record.levelno,
            "library_log",
            library=record.name,
            raised_in=f"{record.module}:{record.lineno}",
            **({"text": str(record.msg)} if record.args else {}),
            **({} if error is None else {"kind": error.__name__}),
        )


def log_to_stderr(level: int = logging.INFO, worker: int | None = None) -> None:
    """worker: the number of this process among several that serve."""

    def with_worker(_: object, __: str, event: EventDict) -> EventDict:
        return event if worker is None else {**event, "worker": worker}

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,  # the id of the request
            with_worker,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # A line is one write, also where Python does not buffer: several processes may share the log.
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,  # what is configured last holds for every logger
    )
    root = logging.getLogger()
    for before in [one for one in root.handlers if isinstance(one, _OfLibraries)]:
        root.removeHandler(before)
    root.addHandler(_OfLibraries(max(level, logging.WARNING)))
