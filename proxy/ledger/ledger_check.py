"""Whether a ledger says the same everywhere: balances against receipts and adjustments, the chain of these,
known events, triggers."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from proxy.accounting import events

_BALANCES = """\
SELECT s.name, b.kind, b.analyst FROM ledger.balance b JOIN ledger.source s ON s.id = b.source
CROSS JOIN LATERAL ledger.spent_since(b.source, b.kind, b.analyst, b.window_start) spent
WHERE b.period IS NOT NULL
  AND (b.epsilon, b.delta, b.rho, b.approx_delta, b.gaussian_delta) IS DISTINCT FROM
      (spent.epsilon, spent.delta, spent.rho, spent.approx_delta, spent.gaussian_delta)
ORDER BY 1, 2, 3"""
_WITHOUT_BALANCE = """\
SELECT s.name, p.kind, p.name FROM (
    SELECT r.source, 'analyst' AS kind, r.analyst AS name FROM ledger.receipt r
    UNION SELECT r.source, 'total', '' FROM ledger.receipt r
    UNION SELECT r.source, e ->> 'kind', e ->> 'name'
          FROM ledger.receipt r CROSS JOIN LATERAL jsonb_array_elements(r.shares) e
    UNION SELECT a.source, a.kind, a.name FROM ledger.adjustment a
) p JOIN ledger.source s ON s.id = p.source
WHERE NOT EXISTS (SELECT FROM ledger.balance b
                  WHERE b.source = p.source AND b.kind = p.kind AND b.analyst = p.name)
ORDER BY 1, 2, 3"""
_PRICES = """\
SELECT r.id, r.events, r.rho IS NULL
    OR (r.rho, r.approx_delta, r.gaussian_delta) = (p.rho, p.approx_delta, p.gaussian_delta)
FROM ledger.receipt r CROSS JOIN LATERAL ledger.price_of(r.events, r.epsilon, r.delta) p ORDER BY r.id"""
_CHAINS = """\
SELECT s.name, f.fault FROM ledger.source s CROSS JOIN LATERAL ledger.chain_faults(s.id) f ORDER BY s.id"""
_APPEND_ONLY = (
    *("receipt", "settlement", "operation", "adjustment", "token_charge", "admin_event"),
    *("policy_text", "adjustment_request"),
)
_EXPECTED = (
    *(("append_only", name) for name in _APPEND_ONLY),
    *(("join_chain", name) for name in ("receipt", "adjustment")),
)
_TRIGGERS = """\
SELECT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = to_regclass('ledger.' || %s)
               AND g.tgname = %s AND g.tgenabled = 'O')"""
_TOKENS = """\
SELECT t.id FROM ledger.token t CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.epsilon), 0) AS whole,
           coalesce(sum(c.epsilon) FILTER (WHERE c.at < t.window_start), 0) AS before
    FROM ledger.token_charge c WHERE c.token = t.id) charged
WHERE (t.spent, t.spent_before) <> (charged.whole, charged.before)
ORDER BY 1"""


def ledger_problems(ledger_dsn: str) -> tuple[str, ...]:
    """What is wrong, one line each; of one moment, while dpproxy goes on serving."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        return tuple(observed_problems(connection))


def observed_problems(connection: psycopg.Connection) -> Iterator[str]:
    """By a transaction."""
    for source, kind, name in connection.execute(_BALANCES):
        yield f"{source}: the balance of {_line(kind, name)} is not what was charged and adjusted"
    for source, kind, name in connection.execute(_WITHOUT_BALANCE):
        yield f"{source}: {_line(kind, name)} has receipts or adjustments and no balance"
    for source, fault in connection.execute(_CHAINS):
        yield f"{source}: {fault}"
    for (token,) in connection.execute(_TOKENS):
        yield f"what was spent through token {token} is not what its charges add up to"
    for trigger, table in _EXPECTED:
        row = connection.execute(_TRIGGERS, (table, trigger)).fetchone()
        if row is None or not row[0]:
            missing = "append-only" if trigger == "append_only" else "chained"
            yield f"the table ledger.{table} is not {missing} any more"
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


def _line(kind: str, name: str) -> str:
    return "everybody together" if kind == "total" else f'{kind} "{name}"'
