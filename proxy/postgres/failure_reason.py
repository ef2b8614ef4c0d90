"""Why a server could not be asked, for the operator's log: one of a fixed list, never the server's text,
which can hold rows."""

from __future__ import annotations

import re
from enum import Enum

import psycopg


class Reason(str, Enum):
    """What the log says."""

    PASSWORD = "password refused"  # noqa: S105
    ACCESS = "login refused"  # by pg_hba.conf, or a right to connect that was taken away
    UNREACHABLE = "server unreachable"
    TOO_MANY = "too many connections"
    SHUT_DOWN = "server shut down"  # or starting, or recovering
    LOST = "connection lost"
    OTHER = "other"


# PostgreSQL 17 documentation, appendix A. A whole code, or a class by its first two characters.
_OF_SQLSTATE = {
    "28P01": Reason.PASSWORD,
    "28000": Reason.ACCESS,
    "53300": Reason.TOO_MANY,
    "57P01": Reason.SHUT_DOWN,
    "57P02": Reason.SHUT_DOWN,
    "57P03": Reason.SHUT_DOWN,
    "08001": Reason.UNREACHABLE,
    "08": Reason.LOST,
}
# libpq tells no SQLSTATE of a failed login. The texts: src/backend/libpq/auth.c, src/backend/utils/init/,
# src/backend/tcop/backend_startup.c, src/interfaces/libpq/ (PostgreSQL 17); strerror(3), gai_strerror(3).
_OF_TEXT = (
    (Reason.TOO_MANY, ("too many clients", "too many connections", "remaining connection slots")),
    (Reason.SHUT_DOWN, ("the database system is ", "terminating connection due to admin")),
    (Reason.PASSWORD, ("password authentication failed", "no password supplied")),
    (
        Reason.ACCESS,
        (
            "pg_hba.conf",
            "authentication failed",
            "permission denied for",
            "not permitted to log in",
        ),
    ),
    (
        Reason.UNREACHABLE,
        (
            *("connection refused", "timeout expired", "connection timeout", "timed out"),
            *("could not translate host name", "no such file or directory", "no route to host"),
            *("network is unreachable", "host is down", "name or service not known"),
            *("failed to resolve host", "server does not support ssl", "name resolution"),
        ),
    ),
    (
        Reason.LOST,
        (
            *("server closed the connection", "connection is closed", "connection is lost"),
            *("connection reset", "broken pipe", "could not receive data", "could not send data"),
            *("ssl connection has been closed", "ssl syscall error"),
            *("eof detected", "no connection to the server", "unexpected eof"),
        ),
    ),
)
_QUOTED = re.compile(r'"[^"]*"')  # names may read like a message
_CONTEXTS = 4


def reason_of(error: BaseException | None) -> str:
    """
    Given    what was caught; where it is no psycopg.Error, what it was raised for counts
    Gives    the value of a Reason

    >>> reason_of(psycopg.errors.TooManyConnections()), reason_of(ValueError("connection refused"))
    ('too many connections', 'other')
    """
    for _ in range(_CONTEXTS):
        if isinstance(error, psycopg.Error):
            return _reason(error).value
        error = None if error is None else error.__cause__ or error.__context__
    return Reason.OTHER.value


def _reason(error: psycopg.Error) -> Reason:
    code = error.sqlstate
    if code is not None:
        return _OF_SQLSTATE.get(code) or _OF_SQLSTATE.get(code[:2]) or Reason.OTHER
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return Reason.UNREACHABLE
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return Reason.OTHER
    message = _QUOTED.sub("", str(error)).lower()
    return next((r for r, texts in _OF_TEXT if any(t in message for t in texts)), Reason.OTHER)
