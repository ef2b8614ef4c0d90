"""What a ledger says to its operator: what is spent of each budget, and every receipt and adjustment."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from proxy.accounting.budget_lines import WARNED_FROM, LineKind, lines_of_json
from proxy.policy.blocks_of_time import is_block_line

# Of everybody, groups and tables all that have a budget or were charged; of blocks of time those that were
# charged; of analysts those who were charged, or who are there, too.
_SPENDING = """\
SELECT s.name, w.kind, w.name, coalesce(st.period, 'none'), trim_scale(st.epsilon_spent)::text,
       coalesce(trim_scale(st.epsilon_limit)::text, '-'), trim_scale(st.delta_spent)::text,
       coalesce(trim_scale(st.delta_limit)::text, '-'), round(st.rho_spent, 6)::text,
       coalesce(round(st.rho_limit, 6)::text, '-'), st.line, w.receipts::text
FROM ledger.source s
JOIN ledger.allowance a ON a.source = s.id AND a.kind = 'total'
CROSS JOIN LATERAL (
    SELECT x.kind, x.name, sum(x.n) AS receipts FROM (
        SELECT 'analyst' AS kind, r.analyst AS name, 1 AS n FROM ledger.receipt r WHERE r.source = s.id
        UNION ALL SELECT 'total', '', 1 FROM ledger.receipt r WHERE r.source = s.id
        UNION ALL SELECT e ->> 'kind', e ->> 'name', 1
                  FROM ledger.receipt r CROSS JOIN LATERAL jsonb_array_elements(r.shares) e
                  WHERE r.source = s.id
        UNION ALL SELECT j.kind, j.name, 0 FROM ledger.adjustment j WHERE j.source = s.id
        UNION ALL SELECT l.kind, l.analyst, 0 FROM ledger.allowance l
                  WHERE l.source = s.id AND l.kind IN ('total', 'group', 'table')
                    AND NOT (l.kind = 'table' AND ledger.is_of_blocks(ARRAY[l.analyst]))
        UNION ALL SELECT 'analyst', p.name, 0 FROM ledger.analyst p WHERE %s AND p.removed_at IS NULL
    ) x GROUP BY 1, 2
) w
CROSS JOIN LATERAL ledger.line_at(s.id, w.kind, w.name, transaction_timestamp()) st
ORDER BY s.name, array_position(ARRAY['total', 'table', 'group', 'analyst'], w.kind), w.name COLLATE "C"
"""
_RECEIPTS = """\
SELECT r.id, s.name, r.at, r.analyst, r.epsilon::text, r.delta::text, coalesce(o.outcome, 'reserved'),
       r.fingerprint, r.policy_digest, r.events::text, (ledger.price_for('analyst', r)).rho::text,
       coalesce(r.drawn_epsilon, r.epsilon)::text, coalesce(r.drawn_delta, r.delta)::text, r.shares::text,
       NULL, NULL, r.place, encode(r.digest, 'hex')
FROM ledger.receipt r JOIN ledger.source s ON s.id = r.source
LEFT JOIN ledger.settlement o ON o.receipt = r.id
UNION ALL
SELECT NULL, s.name, a.at, CASE a.kind WHEN 'analyst' THEN a.name WHEN 'total' THEN '(everybody together)'
       ELSE format('(%s %s)', a.kind, a.name) END, a.epsilon::text, a.delta::text, 'adjusted',
       NULL, NULL, NULL, a.rho::text, NULL, NULL, NULL, a.reason, a.made_by, a.place, encode(a.digest, 'hex')
FROM ledger.adjustment a JOIN ledger.source s ON s.id = a.source
ORDER BY 2, 17"""
_ADJUSTMENTS = """\
SELECT to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), a.kind, a.name, trim_scale(a.epsilon)::text,
       trim_scale(a.delta)::text, trim_scale(a.rho)::text, a.reason, a.made_by, coalesce(a.confirmed_by, '-')
FROM ledger.adjustment a JOIN ledger.source s ON s.id = a.source
WHERE s.name = %s
ORDER BY a.place"""
_HEADS = (
    *("receipt", "source", "at", "analyst", "epsilon", "delta", "outcome", "statement", "policy"),
    *("events", "rho", "drawn_epsilon", "drawn_delta", "shares", "reason", "made_by", "place"),
    "digest",
)
NEARLY_SPENT = " !"
_BUDGET_NAMES = {
    LineKind.ANALYST: "{}",
    LineKind.GROUP: "(group {})",
    LineKind.TABLE: "(table {})",
    LineKind.TOTAL: "(everybody together)",
}


def budget_name(kind: LineKind, name: str) -> str:
    """
    >>> budget_name(LineKind.TABLE, "shop.orders"), budget_name(LineKind.TABLE, "person 2026-03")
    ('(table shop.orders)', '(person 2026-03)')
    """
    is_block = kind is LineKind.TABLE and is_block_line(name)
    return f"({name})" if is_block else _BUDGET_NAMES[kind].format(name)


def spending(ledger_dsn: str, *, uncharged: bool = False) -> Iterator[tuple[str, ...]]:
    """Source, budget, period, epsilon spent and allowed, delta and rho likewise, the share that is spent
    (marked where it is nearly all), number of receipts. uncharged: also of analysts before
    their first charge."""
    with psycopg.connect(ledger_dsn) as connection:
        for source, kind, name, *amounts, line, count in connection.execute(
            _SPENDING, (uncharged,)
        ).fetchall():
            used = "-"
            if line["epsilon_limit"] is not None:
                (found,) = lines_of_json([line])
                mark = NEARLY_SPENT if found.used >= WARNED_FROM else ""
                used = f"{int(found.used * 100)} %{mark}"
            yield source, budget_name(LineKind(kind), name), *amounts, used, count


def receipts(ledger_dsn: str) -> Iterator[tuple[object, ...]]:
    """A line of heads, then every receipt and adjustment, of each source in the order of its chain."""
    yield _HEADS
    with psycopg.connect(ledger_dsn) as connection, connection.cursor("receipts") as cursor:
        cursor.execute(_RECEIPTS)
        yield from cursor


def adjustments(ledger_dsn: str, source: str) -> Iterator[tuple[str, ...]]:
    """Time, budget, epsilon, delta, rho, reason, by whom, by whom confirmed: below 0 it was given back."""
    with psycopg.connect(ledger_dsn) as connection:
        for at, kind, name, *more in connection.execute(_ADJUSTMENTS, (source,)).fetchall():
            yield f"{at} UTC", budget_name(LineKind(kind), name), *more
