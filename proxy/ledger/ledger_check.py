"""Whether a ledger says the same everywhere: balances against receipts, known events, triggers."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from proxy.accounting import events

_BALANCES = """\
SELECT s.name, b.kind, b.analyst FROM ledger.balance b JOIN ledger.source s ON s.id = b.source
CROSS JOIN LATERAL (
    SELECT coalesce(sum(coalesce(CASE b.kind WHEN 'total' THEN r.drawn_epsilon END, r.epsilon)), 0) AS epsilon,
           coalesce(sum(coalesce(CASE b.kind WHEN 'total' THEN r.drawn_delta END, r.delta)), 0) AS delta
    FROM ledger.receipt r
    WHERE r.source = b.source AND r.at >= b.window_start
      AND (b.kind = 'total' OR r.analyst = b.analyst)
) spent
CROSS JOIN LATERAL ledger.spent_since(b.source, b.kind, b.analyst, b.window_start) priced
WHERE b.period IS NOT NULL AND (b.epsilon, b.delta, b.rho, b.approx_delta, b.gaussian_delta)
      IS DISTINCT FROM (spent.epsilon, spent.delta, priced.rho, priced.approx_delta, priced.gaussian_delta)
ORDER BY 1, 2, 3"""
_WITHOUT_BALANCE = """\
SELECT DISTINCT s.name, r.analyst FROM ledger.receipt r JOIN ledger.source s ON s.id = r.source
WHERE NOT EXISTS (SELECT FROM ledger.balance b
                  WHERE b.source = r.source AND b.kind = 'analyst' AND b.analyst = r.analyst)
ORDER BY 1, 2"""
_PRICES = """\
SELECT r.id, r.events, r.rho IS NULL
    OR (r.rho, r.approx_delta, r.gaussian_delta) = (p.rho, p.approx_delta, p.gaussian_delta)
FROM ledger.receipt r CROSS JOIN LATERAL ledger.price_of(r.events, r.epsilon, r.delta) p ORDER BY r.id"""
_TRIGGERS = """\
SELECT t.name FROM unnest(ARRAY['receipt', 'settlement', 'operation']) AS t(name)
WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = ('ledger.' || t.name)::regclass
                  AND g.tgname = 'append_only' AND g.tgenabled = 'O')
ORDER BY 1"""


def ledger_problems(ledger_dsn: str) -> tuple[str, ...]:
    """What is wrong, one line each; of one moment, while dpproxy goes on serving."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        return tuple(_problems(connection))


def _problems(connection: psycopg.Connection) -> Iterator[str]:
    for source, kind, analyst in connection.execute(_BALANCES):
        whose = f'analyst "{analyst}"' if kind == "analyst" else "everybody together"
        yield f"{source}: the balance of {whose} is not what the receipts add up to"
    for source, analyst in connection.execute(_WITHOUT_BALANCE):
        yield f'{source}: analyst "{analyst}" has receipts and no balance'
    for (table,) in connection.execute(_TRIGGERS):
        yield f"the table ledger.{table} is not append-only any more"
    with connection.cursor("receipts") as receipts:
        receipts.execute(_PRICES)
        for number, composed, is_priced in receipts:
            try:
                events.check(composed)
            except events.UnknownEvent as error:
                yield f"receipt {number}: {error}"
            else:
                if not is_priced:
                    yield f"receipt {number}: its rho is not that of its events"
