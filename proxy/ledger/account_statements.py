"""What is read of an account: its lines, and what analysts are told of their budgets and receipts."""

from __future__ import annotations

LINES = """\
SELECT l.line FROM (SELECT %s::bigint AS source, %s::text AS name) who
CROSS JOIN LATERAL ledger.lines_at(
    who.source, who.name, %s::jsonb, transaction_timestamp(), %s, %s, %s::jsonb) l"""
# None of who was removed or may not query this data: as each charge decides it.
ADMITTED_LINES = f"{LINES} WHERE ledger.may_charge(who.source, who.name)"
# Blocks of time are many: those of which nothing is spent are all alike.
BUDGET = """\
SELECT coalesce(json_agg(b), '[]')::text FROM (
    SELECT CASE WHEN kind = 'total' THEN '(everybody together)' WHEN kind = 'analyst' THEN name
                WHEN kind = 'table' AND ledger.is_of_blocks(ARRAY[name]) THEN format('(%%s)', name)
                ELSE format('(%%s %%s)', kind, name) END AS analyst,
           trim_scale(epsilon_limit) AS epsilon_limit,
           ledger.in_steps(epsilon_spent, epsilon_limit, steps, true) AS epsilon_spent,
           ledger.in_steps(epsilon_left, epsilon_limit, steps, false) AS epsilon_remaining,
           trim_scale(delta_limit) AS delta_limit,
           ledger.in_steps(delta_spent, delta_limit, steps, true) AS delta_spent,
           ledger.in_steps(delta_left, delta_limit, steps, false) AS delta_remaining,
           period, renews_at, trim_scale(rho_limit) AS rho_limit,
           ledger.in_steps(rho_spent, rho_limit, steps, true) AS rho_spent
    FROM ledger.lines_at(%(source)s, %(analyst)s, NULL, transaction_timestamp())
    CROSS JOIN LATERAL (SELECT CASE WHEN kind <> 'analyst' THEN %(steps)s::integer END AS steps) told
    WHERE kind <> 'table' OR NOT ledger.is_of_blocks(ARRAY[name]) OR epsilon_spent > 0 OR delta_spent > 0
    UNION ALL
    SELECT name, NULL, trim_scale(epsilon_spent), NULL, NULL, trim_scale(delta_spent), NULL, period, NULL, NULL,
           trim_scale(rho_spent)
    FROM ledger.line_at(%(source)s, 'analyst', ledger.published_account(), transaction_timestamp())
    WHERE EXISTS (SELECT FROM ledger.published r WHERE r.source = %(source)s)) b"""
HISTORY = """\
SELECT row_to_json(h)::text,
       CASE WHEN r.at >= coalesce(own.added_at, '-infinity') THEN r.statement END, r.fingerprint
FROM ledger.receipt r LEFT JOIN ledger.settlement s ON s.receipt = r.id
CROSS JOIN LATERAL (
    SELECT r.id AS receipt, r.at, trim_scale(r.epsilon) AS epsilon, trim_scale(r.delta) AS delta,
           coalesce(s.outcome, 'reserved') AS outcome, r.fingerprint AS statement, r.policy_digest AS policy) h
-- What was asked by who had the name before is not told to who has it now.
LEFT JOIN ledger.analyst own ON own.name = r.analyst AND own.removed_at IS NULL
WHERE r.source = %s AND r.analyst = %s AND r.id < coalesce(%s, 9223372036854775807)
ORDER BY r.id DESC LIMIT %s"""
