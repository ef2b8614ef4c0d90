"""Errors of a server, as it tells them: message, hint, SQLSTATE, position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx


class DpproxyError(Exception):
    """What the server answered instead of a result.

    Attributes:
        status: Of HTTP.
        sqlstate: As a PostgreSQL client would get it; None if the answer was not of dpproxy.
        detail: What is wrong.
        hint: What to do. It is an instruction, or SQL that works.
        position: Of the word in the statement, from 1.
        receipt: Of the charge, if the statement was charged before it failed.
        retry_after: Seconds after which the same may be granted.
        problem: All members of the answer, also those that this version does not know.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: int | None) -> None:
        self.status = status
        self.problem = dict(problem)
        self.sqlstate: str | None = problem.get("sqlstate")
        self.detail = str(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        self.hint: str | None = problem.get("hint")
        self.position: int | None = problem.get("position")
        self.receipt: str | None = problem.get("receipt")
        self.retry_after = retry_after
        super().__init__(f"{self.detail}\nHINT: {self.hint}" if self.hint else self.detail)


class Refused(DpproxyError):
    """The statement breaks a rule. Nothing was charged, unless `receipt` is there."""


class OverBudget(Refused):
    """A budget does not cover the statement."""


class NotAllowed(DpproxyError):
    """The name, password or token is wrong."""


class Unavailable(DpproxyError):
    """The server, or one behind it, does not answer now."""


def error_of(response: httpx.Response) -> DpproxyError:
    """Make the error that a response tells."""
    try:
        found = response.json()
    except ValueError:
        found = None
    problem = found if isinstance(found, dict) else {}
    seconds = response.headers.get("Retry-After", "")
    retry_after = int(seconds) if seconds.isdigit() else None
    if problem.get("sqlstate") == "53400":
        kind: type[DpproxyError] = OverBudget
    elif response.status_code == 401:
        kind = NotAllowed
    elif response.status_code >= 500:
        kind = Unavailable
    else:
        kind = Refused
    return kind(response.status_code, problem, retry_after)
