"""Structured logs on standard error: what happened, never a row, a literal of a statement or a password."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import EventDict

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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,  # what is configured last holds for every logger
    )
    root = logging.getLogger()
    for before in [one for one in root.handlers if isinstance(one, _OfLibraries)]:
        root.removeHandler(before)
    root.addHandler(_OfLibraries(max(level, logging.WARNING)))
