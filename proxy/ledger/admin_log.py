"""What administrators did, in the ledger: appended in the transaction that does it, and never changed."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from proxy.policy.policy_model import Policy
from proxy.policy_file.shown_text import kept_text

_NOTED = (
    "SELECT EXISTS (SELECT FROM ledger.admin_log WHERE what = %s AND who = %s AND detail = %s"
    " AND at > clock_timestamp() - interval '30 seconds')"
)
_PERSON = re.compile(r"(command line|admin API|admin console): (?P<name>.+?)( from \S+)?")
_EVENTS = "SELECT at, who, what, detail FROM ledger.admin_log ORDER BY at, what"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminEvent:
    """detail holds no password, token or statement."""

    at: datetime
    who: str
    what: str
    detail: Mapping[str, Any]


def at_the_command_line() -> str:
    """Who runs this process: the system's name of the account, or its number."""
    number = os.getuid()
    try:
        return f"command line: {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"command line: uid {number}"


def person_of(by: str) -> str:
    """Give the name of whom the log calls `by`, as another's would differ: upper and lower case are one.

    Raises:
        ValueError: It names no person.

    >>> person_of("command line: Ida"), person_of("admin console: ida from 10.0.0.0/24")
    ('ida', 'ida')
    """
    found = _PERSON.fullmatch(by)
    if found is None:
        raise ValueError(f"no person is named: {by}")
    return found["name"].casefold()


def note(
    connection: psycopg.Connection[Any], by: str | None, what: str, detail: Mapping[str, Any]
) -> None:
    """In the transaction of the caller. by: None for who runs this process."""
    connection.execute(
        "INSERT INTO ledger.admin_event (who, what, detail) VALUES (%s, %s, %s)",
        (by or at_the_command_line(), what, Jsonb(dict(detail))),
    )


def append_event(ledger_dsn: str, by: str, what: str, detail: Mapping[str, Any]) -> None:
    """Of what is done outside the ledger; before it is done."""
    with psycopg.connect(ledger_dsn) as connection:
        note(connection, by, what, detail)


def append_event_once(ledger_dsn: str, by: str, what: str, detail: Mapping[str, Any]) -> None:
    """Of what each worker does by itself: the first one within half a minute notes it."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('dpproxy-admin-event'))")
        found = connection.execute(_NOTED, (what, by, Jsonb(dict(detail)))).fetchone()
        if found != (True,):
            note(connection, by, what, detail)


def admin_events(ledger_dsn: str) -> Iterator[AdminEvent]:
    """All, the oldest first."""
    with psycopg.connect(ledger_dsn) as connection, connection.cursor("events") as cursor:
        cursor.execute(_EVENTS)
        for at, who, what, detail in cursor:
            yield AdminEvent(at=at, who=who, what=what, detail=detail)


def has_event(ledger_dsn: str, what: str, detail: Mapping[str, Any], since: datetime) -> bool:
    """Whether it was noted since then with all of this detail."""
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(
            "SELECT EXISTS (SELECT FROM ledger.admin_log WHERE at >= %s AND what = %s AND detail @> %s)",
            (since, what, Jsonb(dict(detail))),
        ).fetchone()
    return row is not None and bool(row[0])


# What the ledger keeps of the texts of policies, by their digests, for reports.

TEXT = "SELECT text FROM ledger.policy_text WHERE digest = %s"


def text_to_keep(connection: psycopg.Connection[Any], policy: Policy) -> str:
    """Give what the ledger is to keep of a policy. "": it has it, or the policy is of no file.

    It takes seconds for a long one, so it is called before anything is locked.
    """
    is_kept = connection.execute(TEXT, (policy.digest,)).fetchone() is not None
    return "" if is_kept or not policy.text else kept_text(policy.text, policy.source)


def keep_text(connection: psycopg.Connection[Any], policy: Policy, text: str) -> None:
    """Keep what `text_to_keep` gave, once, in the transaction of the caller."""
    if text:
        connection.execute(
            "INSERT INTO ledger.policy_text (digest, text) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (policy.digest, text),
        )
