"""What went wrong with a request, as application/problem+json (RFC 9457), in the words of the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from proxy.base.errors import Code, Fault, Refusal
from proxy.engine.sessions import PostgresError, WrongCredentials
from proxy.pgwire.calls import Refuse
from proxy.servers.error_boundary import log_failure
from proxy.turns.fair_share import Busy

CONTENT_TYPE = "application/problem+json"
RETRY_SECONDS = 2

# Class of an SQLSTATE (PostgreSQL 17 documentation, appendix A) or the whole of it -> HTTP status.
_STATUSES = {
    "08": HTTPStatus.SERVICE_UNAVAILABLE,
    "28": HTTPStatus.UNAUTHORIZED,
    "3D000": HTTPStatus.NOT_FOUND,
    "40": HTTPStatus.CONFLICT,
    "42501": HTTPStatus.FORBIDDEN,
    "53": HTTPStatus.SERVICE_UNAVAILABLE,
    "53400": HTTPStatus.FORBIDDEN,  # a budget, which waiting does not renew
    "55": HTTPStatus.CONFLICT,
    "57": HTTPStatus.SERVICE_UNAVAILABLE,
    "57014": HTTPStatus.CONFLICT,
    "58": HTTPStatus.SERVICE_UNAVAILABLE,
    "XX": HTTPStatus.INTERNAL_SERVER_ERROR,
    "08P01": HTTPStatus.BAD_REQUEST,
}


class HttpProblem(Exception):
    """receipt: of a charge that stands although the statement failed after it; code: of a refusal of ours;
    instead: a statement that was planned for this analyst, to be asked in the place of the refused one."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        hint: str | None = None,
        sqlstate: str | None = None,
        position: int | None = None,
        postgres_detail: str | None = None,
        receipt: str | None = None,
        code: Code | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(sqlstate)
        self.status = status
        self.message = message
        self.hint = hint
        self.sqlstate = sqlstate
        self.position = position
        self.postgres_detail = postgres_detail
        self.receipt = receipt
        self.code = code
        self.instead: str | None = None
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        detail = {
            "type": f"urn:dpproxy:sqlstate:{self.sqlstate}" if self.sqlstate else "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "sqlstate": self.sqlstate,
            "detail": self.message,
            "hint": self.hint,
            "position": self.position,
        }
        further = {
            "postgres_detail": self.postgres_detail,
            "receipt": self.receipt,
            "instead": self.instead,
        }
        detail.update({name: value for name, value in further.items() if value is not None})
        return json.dumps(detail).encode()


def status_of(sqlstate: str) -> int:
    """
    >>> status_of("42703"), status_of("42501")
    (400, 403)
    """
    known = _STATUSES.get(sqlstate) or _STATUSES.get(sqlstate[:2])
    return int(known or HTTPStatus.BAD_REQUEST)


def problem_of(error: Exception) -> HttpProblem | None:
    """None: a kind of error that nobody has thought of. A fault is logged here, once: a Problem is none."""
    match error:
        case HttpProblem():
            return error
        case Refusal():
            return HttpProblem(
                _waiting_helps(error.retry_after) or error.code.http_status,
                error.message,
                hint=error.hint or None,
                sqlstate=error.code.sqlstate,
                position=error.position,
                code=error.code,
                headers=_retry(error.retry_after),
            )
        case PostgresError():
            return HttpProblem(
                status_of(error.sqlstate),
                error.message,
                hint=error.hint,
                sqlstate=error.sqlstate,
                position=error.position,
                postgres_detail=error.detail,
            )
        case Fault():
            # Of the session or the ledger: those of the engine are refusals by now (EngineAdapter).
            log_failure(error, "request")
            return HttpProblem(
                error.code.http_status,
                error.message,
                hint="Try again later.",
                sqlstate=error.code.sqlstate,
            )
        case WrongCredentials():
            return unauthorized("password authentication failed", "28P01")
        case Busy():
            return busy()
        case _:
            return None


def refused(refuse: Refuse) -> HttpProblem:
    """A refusal in the vocabulary of both listeners."""
    unforeseen = HTTPStatus.INTERNAL_SERVER_ERROR
    known = _waiting_helps(refuse.retry_after) or status_of(refuse.sqlstate)
    return HttpProblem(
        unforeseen if refuse.is_unforeseen else known,
        refuse.message,
        hint=refuse.hint or None,
        sqlstate=refuse.sqlstate,
        position=refuse.position,
        receipt=refuse.receipt,
        code=refuse.code,
        headers=_retry(refuse.retry_after),
    )


def _waiting_helps(retry_after: int | None) -> int | None:
    """RFC 6585, section 4: 429 is for what may be sent again, later."""
    return None if retry_after is None else int(HTTPStatus.TOO_MANY_REQUESTS)


def _retry(retry_after: int | None) -> Mapping[str, str]:
    return {} if retry_after is None else {"Retry-After": str(max(retry_after, 1))}


def unauthorized(message: str, sqlstate: str) -> HttpProblem:
    return HttpProblem(
        HTTPStatus.UNAUTHORIZED,
        message,
        hint="HTTP Basic, with the name and password of your PostgreSQL role.",
        sqlstate=sqlstate,
        headers={"WWW-Authenticate": 'Basic realm="dpproxy", charset="UTF-8"'},
    )


def not_let_in() -> HttpProblem:
    """Of a bearer token, whatever is wrong with it, and of who is not let in any more."""
    return HttpProblem(
        HTTPStatus.UNAUTHORIZED,
        "the bearer token lets nobody in",
        hint="It may have expired or been revoked, or its name is not an analyst's: ask the operator.",
        sqlstate="28000",
        headers={"WWW-Authenticate": 'Bearer realm="dpproxy", error="invalid_token"'},
    )


def stopping() -> HttpProblem:
    """Of a statement that still ran when the time for it was over. What was charged stays charged."""
    return HttpProblem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "the server is shutting down",
        hint="Ask again when it serves again. What was charged stays charged.",
        sqlstate="57P01",
    )


def busy() -> HttpProblem:
    """Nothing has been begun: the same request may be sent again."""
    return HttpProblem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "too many requests at once",
        hint=f"Send it again in {RETRY_SECONDS} seconds, or fewer at once.",
        sqlstate="53300",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )
