"""What a ledger says to its operator: what is spent of each budget, every receipt and
adjustment, what is published, and whether all of it agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import psycopg
from psycopg.rows import class_row

from proxy.accounting import events
from proxy.accounting.budget_lines import WARNED_FROM, LineKind, lines_of_json
from proxy.ledger.bounds_account import POLICY_BOUNDS, PUBLISHED
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


# What a ledger says of published tables to its operator: the latest release of each, and which stopped.

_LATEST = """\
SELECT s.name, l.name, to_char(l.released_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
       trim_scale(l.epsilon)::text, l.receipt,
       to_char(t.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), t.reason, l.failure
FROM (SELECT DISTINCT ON (p.source, p.name) p.* FROM ledger.published p ORDER BY p.source, p.name, p.id DESC) l
JOIN ledger.source s ON s.id = l.source
LEFT JOIN ledger.stale t ON (t.source, t.name, t.version) = (l.source, l.name, l.version)
UNION ALL
SELECT s.name, t.name, NULL, NULL, NULL, to_char(t.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
       t.reason, NULL
FROM ledger.stale t JOIN ledger.source s ON s.id = t.source
WHERE NOT EXISTS (SELECT FROM ledger.published p WHERE p.source = t.source AND p.name = t.name)
ORDER BY 1, 2"""


def published_lines(ledger_dsn: str) -> Iterator[str]:
    """A line of each that was ever released, or could not be."""
    with psycopg.connect(ledger_dsn) as connection:
        found = connection.execute(_LATEST).fetchall()
    for source, name, released_at, epsilon, receipt, since, reason, failure in found:
        line = f"{source}: published.{name}: "
        if receipt is None:
            line += "never released"
        elif released_at is None:
            line += f"charged (receipt {receipt}), not released yet"
        else:
            line += f"released {released_at}, epsilon {epsilon}, receipt {receipt}"
        if since is not None:
            line += f"; STALE since {since}: {reason}"
        elif failure is not None:
            line += f"; STALE: it is no table: {failure}"
        yield line


# Whether a ledger says the same everywhere: balances against receipts and adjustments, the chain of these,
# known events, triggers.

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


# What is spent of the budgets of one source, for those who watch it. It names no analyst and no group.

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
