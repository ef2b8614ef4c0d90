"""What each budget line paid on each day, in UTC: charges and adjustments, as the ledger adds them up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import psycopg
from psycopg.rows import class_row

from proxy.accounting.budget_lines import LineKind
from proxy.ledger.ledger_reports import budget_name

# As ledger.payments, of all lines at once.
_DAYS = """\
SELECT s.name AS source, x.kind, x.name, (date_trunc('day', x.at, 'UTC') AT TIME ZONE 'UTC')::date AS day,
       trim_scale(sum(x.epsilon)) AS epsilon, trim_scale(sum(x.delta)) AS delta,
       trim_scale(round(sum(x.rho), 9)) AS rho, count(x.receipt) AS receipts
FROM ledger.source s CROSS JOIN LATERAL (
    SELECT 'analyst' AS kind, r.analyst AS name, r.at, r.epsilon, r.delta, p.rho, r.id AS receipt
    FROM ledger.receipt r CROSS JOIN LATERAL ledger.price_for('analyst', r) p WHERE r.source = s.id
    UNION ALL
    SELECT 'total', '', r.at, coalesce(r.drawn_epsilon, r.epsilon), coalesce(r.drawn_delta, r.delta),
           p.rho, r.id
    FROM ledger.receipt r CROSS JOIN LATERAL ledger.price_for('total', r) p WHERE r.source = s.id
    UNION ALL
    SELECT e ->> 'kind', e ->> 'name', r.at, c.epsilon, c.delta, p.rho, r.id
    FROM ledger.receipt r CROSS JOIN LATERAL jsonb_array_elements(r.shares) e
    CROSS JOIN LATERAL (SELECT (e ->> 'epsilon')::numeric AS epsilon, (e ->> 'delta')::numeric AS delta) c
    CROSS JOIN LATERAL ledger.drawn_price(
        ledger.price_for('analyst', r), r.epsilon, r.delta, c.epsilon, c.delta) p
    WHERE r.source = s.id
    UNION ALL
    SELECT a.kind, a.name, a.at, a.epsilon, a.delta, a.rho, NULL FROM ledger.adjustment a WHERE a.source = s.id
) x WHERE x.at >= %(since)s AND x.at < %(until)s AND (%(source)s::text IS NULL OR s.name = %(source)s)
GROUP BY 1, 2, 3, 4 ORDER BY 1, array_position(ARRAY['total', 'table', 'group', 'analyst'], x.kind), 3, 4"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentDay:
    """budget: as in `spending`."""

    source: str
    budget: str
    day: date
    epsilon: Decimal
    delta: Decimal
    rho: Decimal
    receipts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpendingRow:
    source: str
    kind: str
    name: str
    day: date
    epsilon: Decimal
    delta: Decimal
    rho: Decimal
    receipts: int


def spending_by_day(
    ledger_dsn: str, source: str | None, since: datetime, until: datetime
) -> list[SpentDay]:
    """Read what was paid from `since` to before `until`.

    Args:
        source: Its name in the ledger. None: of all.
    """
    with psycopg.connect(ledger_dsn) as connection:
        rows = (
            connection.cursor(row_factory=class_row(_SpendingRow))
            .execute(_DAYS, {"source": source, "since": since, "until": until})
            .fetchall()
        )
    return [
        SpentDay(
            source=one.source,
            budget=budget_name(LineKind(one.kind), one.name),
            day=one.day,
            epsilon=one.epsilon,
            delta=one.delta,
            rho=one.rho,
            receipts=one.receipts,
        )
        for one in rows
    ]
