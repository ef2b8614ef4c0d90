"""Receipts and adjustments of one source for its administrators, page by page, the newest first.

No text of a statement is read: that is its analyst's alone. A fingerprint says which statements are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import psycopg
from psycopg.rows import class_row

from proxy.ledger.users import UserError, source_number

OUTCOMES = ("answered", "failed", "reserved", "adjusted")
_CURSOR = re.compile(r"([0-9-]{10}T[0-9:.]{8,15}\+00:00)/([0-9]{1,18})")
# Both parts are ordered by their indexes on (source, at).
_PAGE = """\
SELECT x.* FROM (
    (SELECT r.id AS receipt, r.at, r.analyst, r.shares, r.epsilon, r.delta,
            coalesce(r.drawn_epsilon, r.epsilon) AS drawn_epsilon, coalesce(o.outcome, 'reserved') AS outcome,
            r.fingerprint AS statement, r.policy_digest AS policy, NULL AS reason, r.place
     FROM ledger.receipt r LEFT JOIN ledger.settlement o ON o.receipt = r.id
     WHERE r.source = %(source)s AND (r.at, r.place) < (%(at)s, %(place)s)
       AND r.at >= %(since)s AND r.at < %(until)s
       AND (%(analyst)s::text IS NULL OR r.analyst = %(analyst)s)
       AND (%(outcome)s::text IS NULL OR coalesce(o.outcome, 'reserved') = %(outcome)s)
       AND (%(text)s::text IS NULL OR r.id::text = %(text)s OR (length(%(text)s) >= 6
            AND (starts_with(r.fingerprint, %(text)s) OR starts_with(r.policy_digest, %(text)s))))
     ORDER BY r.at DESC, r.place DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT NULL, a.at, CASE a.kind WHEN 'analyst' THEN a.name ELSE '' END,
            CASE WHEN a.kind <> 'analyst'
                 THEN jsonb_build_array(jsonb_build_object('kind', a.kind, 'name', a.name)) END,
            a.epsilon, a.delta, CASE a.kind WHEN 'total' THEN a.epsilon ELSE 0 END, 'adjusted', NULL, NULL,
            a.reason, a.place
     FROM ledger.adjustment a
     WHERE a.source = %(source)s AND (a.at, a.place) < (%(at)s, %(place)s)
       AND a.at >= %(since)s AND a.at < %(until)s
       AND (%(analyst)s::text IS NULL OR (a.kind = 'analyst' AND a.name = %(analyst)s))
       AND (%(outcome)s::text IS NULL OR %(outcome)s = 'adjusted') AND %(text)s::text IS NULL
     ORDER BY a.at DESC, a.place DESC LIMIT %(limit)s)
) x ORDER BY x.at DESC, x.place DESC LIMIT %(limit)s"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptFilter:
    """text: a receipt's number, or 6 or more letters that a fingerprint or a policy's digest begins with;
    since, until: of times, the second excluded; after: what a page before says comes next."""

    text: str | None = None
    analyst: str | None = None
    outcome: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedReceipt:
    """receipt None: an adjustment, with its reason; shares: other lines that were charged, as {kind, name}."""

    receipt: int | None
    at: datetime
    analyst: str
    shares: Sequence[dict[str, str]] | None
    epsilon: Decimal
    delta: Decimal
    drawn_epsilon: Decimal
    outcome: str
    statement: str | None
    policy: str | None
    reason: str | None
    place: int


def receipt_page(
    ledger_dsn: str, source: str, wanted: ReceiptFilter, limit: int
) -> tuple[list[ListedReceipt], str | None]:
    """Read a page of a source's receipts.

    Returns:
        The receipts, and what `after` of the next page is. None: there is none.

    Raises:
        UserError: An unknown source or outcome, or an `after` of no page.
    """
    if wanted.outcome is not None and wanted.outcome not in OUTCOMES:
        raise UserError(f"an outcome is one of {', '.join(OUTCOMES)}")
    at: datetime | str = "infinity"
    place = 2**62
    if wanted.after is not None:
        found = _CURSOR.fullmatch(wanted.after)
        try:
            at, place = datetime.fromisoformat(found[1]), int(found[2])  # type: ignore[index]
        except (TypeError, ValueError):
            raise UserError("after is what a page before has said") from None
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        rows = (
            connection.cursor(row_factory=class_row(ListedReceipt))
            .execute(
                _PAGE,
                {
                    "source": source_number(connection, source),
                    "at": at,
                    "place": place,
                    "since": wanted.since or "-infinity",
                    "until": wanted.until or "infinity",
                    "analyst": wanted.analyst,
                    "outcome": wanted.outcome,
                    "text": wanted.text,
                    "limit": limit + 1,
                },
            )
            .fetchall()
        )
    page = rows[:limit]
    if len(rows) <= limit:
        return page, None
    return page, f"{page[-1].at.isoformat()}/{page[-1].place}"
