"""What a ledger says in a policy report."""

from __future__ import annotations

from proxy.engine.policy_report import LedgerFacts
from proxy.ledger.adjustments import waiting_requests
from proxy.ledger.ledger_reports import adjustments, spending
from proxy.ledger.ledger_sources import Source
from proxy.ledger.noted_reports import earlier_report


def ledger_facts(ledger_dsn: str, source: Source) -> LedgerFacts:
    return LedgerFacts(
        source=source.name,
        spent=tuple(row[1:] for row in spending(ledger_dsn) if row[0] == source.name),
        adjustments=tuple(adjustments(ledger_dsn, source.name)),
        waiting=tuple(
            one.text for one in waiting_requests(ledger_dsn) if one.database == source.name
        ),
        earlier=earlier_report(ledger_dsn, source.id),
    )
