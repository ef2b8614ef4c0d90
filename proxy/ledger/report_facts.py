"""What a ledger says in a policy report, and which reports were made before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import psycopg

from proxy.engine.policy_report import LedgerFacts
from proxy.engine.report_sections import EarlierReport
from proxy.ledger.adjustments import waiting_requests
from proxy.ledger.admin_log import TEXT, keep_text, note, text_to_keep
from proxy.ledger.ledger_reports import adjustments, spending
from proxy.ledger.ledger_sources import Source
from proxy.ledger.users import data_access, groups, list_analysts
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import read_policy

# Which policy was reported when: what the next report is compared with.

REPORTED = "policy report"
_TIME = 'YYYY-MM-DD HH24:MI:SS "UTC"'
_LAST = """\
SELECT e.detail ->> 'digest' AS digest, to_char(e.at AT TIME ZONE 'UTC', %(time)s) AS at, e.who, e.at AS moment
FROM ledger.admin_event e
WHERE e.what = %(what)s AND (e.detail ->> 'source')::bigint = %(source)s
ORDER BY e.id DESC LIMIT 1"""
_FIRST = """\
SELECT to_char(v.first_served_at AT TIME ZONE 'UTC', %s)
FROM ledger.policy_version v WHERE v.source = %s AND v.digest = %s"""
_SERVED = """\
SELECT v.digest, to_char(v.first_served_at AT TIME ZONE 'UTC', %s)
FROM ledger.policy_version v WHERE v.source = %s AND v.first_served_at > %s
ORDER BY v.first_served_at, v.digest"""


def note_report(ledger_dsn: str, source: int, policy: Policy, by: str | None = None) -> None:
    """Note that this policy was reported now. by: None for who runs this process."""
    with psycopg.connect(ledger_dsn) as connection:
        keep_text(connection, policy, text_to_keep(connection, policy))
        detail = {"source": source, "database": policy.database, "digest": policy.digest}
        note(connection, by, REPORTED, detail)


def earlier_report(ledger_dsn: str, source: int) -> EarlierReport | None:
    """The last one that was noted of this source. None: none was."""
    with psycopg.connect(ledger_dsn) as connection:
        wanted: Mapping[str, object] = {"what": REPORTED, "source": source, "time": _TIME}
        last = connection.execute(_LAST, wanted).fetchone()
        if last is None:
            return None
        digest, at, by, moment = last
        kept = connection.execute(TEXT, (digest,)).fetchone()
        served = connection.execute(_SERVED, (_TIME, source, moment)).fetchall()
    policy = None
    if kept is not None:
        try:
            policy = read_policy(kept[0], "kept", {})
        except PolicyErrors:  # of another version of the format
            policy = None
    return EarlierReport(
        digest=digest,
        at=at,
        by=by,
        policy=policy,
        served=tuple((one, when) for one, when in served),
    )


def first_served(ledger_dsn: str, source: int, digest: str) -> str | None:
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(_FIRST, (_TIME, source, digest)).fetchone()
    return None if row is None else str(row[0])


_RESTORED = """\
SELECT to_char(o.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
       coalesce(o.detail ->> 'as_of', 'an unknown time')
FROM ledger.operation o WHERE o.what = 'restore' ORDER BY o.id"""


def ledger_facts(ledger_dsn: str, source: Source, policy: Policy) -> LedgerFacts:
    waiting = waiting_requests(ledger_dsn)
    return LedgerFacts(
        source=source.name,
        spent=tuple(row[1:] for row in spending(ledger_dsn) if row[0] == source.name),
        adjustments=tuple(adjustments(ledger_dsn, source.name)),
        waiting=tuple(one.text for one in waiting if one.database == source.name),
        earlier=earlier_report(ledger_dsn, source.id),
        restored=tuple(_restored(ledger_dsn)),
        analysts=tuple(_analysts(ledger_dsn, source.name)),
        first_served=first_served(ledger_dsn, source.id, policy.digest),
    )


def _restored(ledger_dsn: str) -> Iterator[str]:
    with psycopg.connect(ledger_dsn) as connection:
        for at, as_of in connection.execute(_RESTORED).fetchall():
            yield f"on {at} as of {as_of}"


def _analysts(ledger_dsn: str, source: str) -> Iterator[tuple[str, str, str]]:
    (access,) = (one for one in data_access(ledger_dsn) if one.source == source)
    grouped = groups(ledger_dsn)
    for name in list_analysts(ledger_dsn):
        held = [group for group, names in grouped.items() if name in names]
        may = not access.is_restricted or name in access.analysts
        may = may or not set(held).isdisjoint(access.groups)
        yield name, ", ".join(held) or "-", "yes" if may else "no"
