"""The one error boundary: whatever goes wrong in the engine becomes a refusal, and each fault is logged once.

Fail closed, and with a neutral text: an unforeseen error may have met anything. The log gets what failed, the
kind of error and where it arose, never the text of an error, which may quote a statement or a value.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import structlog
from typing_extensions import ParamSpec

from proxy.base.errors import FAULT_HINT, FREE_FAULT_HINT, Fault, Refusal
from proxy.pgwire.calls import Refuse

_log = structlog.get_logger("dpproxy.listeners")

P = ParamSpec("P")
T = TypeVar("T")


def refuse_of(error: Exception, step: str, *, is_free: bool = False) -> Refuse:
    """What a client is told of an error. step: what was being done, for the log; is_free: no charge."""
    if isinstance(error, Refusal):
        return Refuse(
            *(error.code.sqlstate, error.message, error.hint, error.position),
            retry_after=error.retry_after,
            is_kept_from_shadow=error.is_kept_from_shadow,
            code=error.code,
        )
    log_failure(error, step)
    is_fault = isinstance(error, Fault)
    fault = error if isinstance(error, Fault) else Fault()
    hint = FREE_FAULT_HINT if is_free else FAULT_HINT
    return Refuse(
        *(fault.code.sqlstate, fault.message, hint, None),
        is_unforeseen=not is_fault,
        code=fault.code,
    )


def log_failure(error: Exception, step: str) -> None:
    """One line, unless whoever raised the fault has logged it, with more than is known here."""
    if not isinstance(error, Fault):
        last = traceback.extract_tb(error.__traceback__)[-1]
        _log.error(
            "unexpected_error",
            step=step,
            kind=type(error).__name__,
            raised_in=f"{last.name}:{last.lineno}",
        )
    elif not error.is_logged:
        cause = error.__cause__
        kind = type(error if cause is None else cause).__name__
        # A fault's own message holds nothing of a statement or of the data (proxy/base/errors.py).
        _log.error("fault", step=step, failed=error.message, kind=kind, **error.details)


def refuses(step: str) -> Callable[[Callable[P, T]], Callable[P, T | Refuse]]:
    """Of a function that reads a statement: its errors become its result."""

    def decorated(function: Callable[P, T]) -> Callable[P, T | Refuse]:
        @functools.wraps(function)
        def bounded(*given: P.args, **named: P.kwargs) -> T | Refuse:
            try:
                return function(*given, **named)
            except Exception as error:
                return refuse_of(error, step)

        return bounded

    return decorated


def refuses_later(
    step: str, *, is_free: bool = False
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T | Refuse]]]:
    """Of a coroutine function, as `refuses`. is_free: as of refuse_of."""

    def decorated(
        function: Callable[P, Coroutine[Any, Any, T]],
    ) -> Callable[P, Coroutine[Any, Any, T | Refuse]]:
        @functools.wraps(function)
        async def bounded(*given: P.args, **named: P.kwargs) -> T | Refuse:
            try:
                return await function(*given, **named)
            except Exception as error:
                return refuse_of(error, step, is_free=is_free)

        return bounded

    return decorated
