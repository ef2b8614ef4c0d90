"""What a ledger says to its operator: spending by analyst, and every receipt."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

_SPENDING = """\
SELECT s.name, coalesce(nullif(w.analyst, ''), '(everybody together)'), st.period,
       trim_scale(st.epsilon_spent)::text, trim_scale(st.epsilon_limit)::text,
       trim_scale(st.delta_spent)::text, trim_scale(st.delta_limit)::text,
       round(st.rho_spent, 6)::text, coalesce(round(st.rho_limit, 6)::text, '-'), w.receipts::text
FROM ledger.source s
CROSS JOIN LATERAL (
    SELECT r.analyst, count(*) AS receipts FROM ledger.receipt r WHERE r.source = s.id GROUP BY 1
    UNION ALL SELECT '', count(*) FROM ledger.receipt r WHERE r.source = s.id
) w
JOIN ledger.allowance a ON a.source = s.id AND a.kind = 'total'
CROSS JOIN LATERAL ledger.standing(s.id, w.analyst, transaction_timestamp()) st
WHERE (st.kind = 'total') = (w.analyst = '')
ORDER BY 1, 2"""
_RECEIPTS = """\
SELECT r.id, s.name, r.at, r.analyst, r.epsilon::text, r.delta::text, coalesce(o.outcome, 'reserved'),
       r.fingerprint, r.policy_digest, r.events::text, (ledger.price_for('analyst', r)).rho::text
FROM ledger.receipt r JOIN ledger.source s ON s.id = r.source
LEFT JOIN ledger.settlement o ON o.receipt = r.id ORDER BY r.id"""
_HEADS = (
    *("receipt", "source", "at", "analyst", "epsilon", "delta", "outcome", "statement", "policy"),
    *("events", "rho"),
)


def spending(ledger_dsn: str) -> Iterator[tuple[str, ...]]:
    """Source, analyst, period, epsilon spent and allowed, delta and rho likewise, number of receipts."""
    with psycopg.connect(ledger_dsn) as connection:
        yield from connection.execute(_SPENDING).fetchall()


def receipts(ledger_dsn: str) -> Iterator[tuple[object, ...]]:
    """A line of heads, then every receipt, oldest first."""
    yield _HEADS
    with psycopg.connect(ledger_dsn) as connection, connection.cursor("receipts") as cursor:
        cursor.execute(_RECEIPTS)
        yield from cursor
