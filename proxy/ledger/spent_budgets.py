"""What is spent of the budgets of one source, for those who watch it. It names no analyst and no group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import psycopg
from psycopg.rows import class_row

from proxy.accounting.budget_lines import WARNED_FROM, LineKind, lines_of_json
from proxy.ledger.bounds_account import POLICY_BOUNDS, PUBLISHED
from proxy.ledger.ledger_reports import budget_name

_LINES = """\
SELECT l.kind, l.name, x.epsilon_spent, x.epsilon_limit, x.delta_spent, x.delta_limit, x.rho_spent, x.line
FROM (SELECT kind, analyst AS name FROM ledger.allowance
      WHERE source = %(source)s AND kind IN ('total', 'group', 'table')
        AND NOT (kind = 'table' AND ledger.is_of_blocks(ARRAY[analyst]))
      UNION SELECT kind, analyst FROM ledger.balance WHERE source = %(source)s) l
CROSS JOIN LATERAL ledger.line_at(%(source)s, l.kind, l.name, transaction_timestamp()) x"""

_STATE = """\
SELECT current_setting('server_version'), (SELECT coalesce(max(id), 0) FROM ledger.receipt)"""
_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentBudget:
    """Of one line, in its window. Limits: None where there are none; used: the share that is spent."""

    epsilon: Decimal
    epsilon_limit: Decimal | None
    delta: Decimal
    delta_limit: Decimal | None
    rho: Decimal
    used: Fraction = Fraction(0)

    @property
    def is_nearly_spent(self) -> bool:
        return self.used >= WARNED_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentBudgets:
    """lines: of everybody ("total"), of what is published ("published"), of tables ("table:NAME").
    nearly_spent: so many budgets of analysts and of groups, of which 80 % or more are spent."""

    lines: Mapping[str, SpentBudget]
    nearly_spent: Mapping[LineKind, int]


def spent_budgets(ledger_dsn: str, source: int) -> SpentBudgets:
    """
    Raises:
        psycopg.Error: The ledger cannot be asked.
    """
    with psycopg.connect(ledger_dsn) as connection:
        found = connection.execute(_LINES, {"source": source}).fetchall()
    lines: dict[str, SpentBudget] = {}
    near = Counter({LineKind.ANALYST: 0, LineKind.GROUP: 0})
    for kind, name, epsilon, epsilon_limit, delta, delta_limit, rho, line in found:
        shown = _shown(LineKind(kind), name)
        used = Fraction(0) if epsilon_limit is None else lines_of_json([line])[0].used
        if shown is not None:
            lines[shown] = SpentBudget(
                epsilon=epsilon,
                epsilon_limit=epsilon_limit,
                delta=delta,
                delta_limit=delta_limit,
                rho=rho,
                used=used,
            )
        elif name != POLICY_BOUNDS and epsilon_limit is not None:
            near[LineKind(kind)] += used >= WARNED_FROM
    return SpentBudgets(lines=lines, nearly_spent=near)


def known_budgets(ledger_dsn: str, source: int) -> SpentBudgets:
    """As `spent_budgets`. Nothing is known while the ledger does not answer."""
    try:
        return spent_budgets(ledger_dsn, source)
    except psycopg.Error:
        return SpentBudgets(lines={}, nearly_spent={LineKind.ANALYST: 0, LineKind.GROUP: 0})


def known_state(ledger_dsn: str) -> tuple[str | None, int | None]:
    """Version of the ledger's server, and its last receipt. None: it does not answer."""
    try:
        with psycopg.connect(ledger_dsn, connect_timeout=_SECONDS) as connection:
            row = connection.execute(_STATE).fetchone()
    except psycopg.Error:
        return None, None
    assert row is not None
    return str(row[0]).split(" ")[0], int(row[1])


def _shown(kind: LineKind, name: str) -> str | None:
    """None: of an analyst or a group."""
    match kind:
        case LineKind.TOTAL:
            return "total"
        case LineKind.TABLE:
            return f"table:{name}"
        case LineKind.ANALYST:
            return "published" if name == PUBLISHED else None
        case LineKind.GROUP:
            return None


# What each budget line paid on each day, in UTC: charges and adjustments, as the ledger adds them up.

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
