"""What a ledger says in a policy report."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from proxy.engine.policy_report import LedgerFacts
from proxy.ledger.adjustments import waiting_requests
from proxy.ledger.data_access import data_access
from proxy.ledger.ledger_reports import adjustments, spending
from proxy.ledger.ledger_sources import Source
from proxy.ledger.noted_reports import earlier_report, first_served
from proxy.ledger.users import groups, list_analysts
from proxy.policy.policy_model import Policy

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
