"""What an operator adds to what is spent of a budget, or takes from it: an event with a reason, in the chain of
receipts. Nothing that was written is changed, and nothing is taken that is not spent in the present window.

What takes is a request until another person confirms it, within `WAITS_DAYS` and the same window of the budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
from psycopg.rows import dict_row

from proxy.accounting.amounts import (
    DELTA_DECIMALS,
    EPSILON_DECIMALS,
    RHO_DECIMALS,
    Amount,
    decimal,
    text,
)
from proxy.accounting.budget_lines import LineKind
from proxy.ledger.admin_log import at_the_command_line, note, person_of
from proxy.ledger.ledger_reports import budget_name

WAITS_DAYS = 7
_REASON_CHARACTERS = 1000
_KNOWN = """\
SELECT WHERE EXISTS (SELECT FROM ledger.allowance
                     WHERE source = %(source)s AND kind = %(kind)s AND analyst = %(name)s)
    OR EXISTS (SELECT FROM ledger.balance
               WHERE source = %(source)s AND kind = %(kind)s AND analyst = %(name)s)
    OR (%(kind)s = 'analyst' AND EXISTS (SELECT FROM ledger.analyst WHERE name = %(name)s))
    OR (%(kind)s = 'group' AND EXISTS (SELECT FROM ledger.membership WHERE grp = %(name)s))"""
_ADJUST = """\
SELECT adjustment, epsilon, delta FROM ledger.adjust_at(
    %(source)s, %(kind)s, %(name)s, %(epsilon)s, %(delta)s, %(reason)s, %(made_by)s, transaction_timestamp(),
    %(rho)s, %(request)s, %(confirmed_by)s)"""
_REQUEST = """\
INSERT INTO ledger.adjustment_request (at, source, kind, name, epsilon, delta, rho, reason, made_by)
VALUES (transaction_timestamp(), %(source)s, %(kind)s, %(name)s, %(epsilon)s, %(delta)s, %(rho)s, %(reason)s,
        %(made_by)s)
RETURNING id AS request"""
# has_renewed: what it is about was spent in a window of the budget that has ended.
_REQUESTS = """\
SELECT r.id AS request, s.name AS database, r.source, r.at, r.kind, r.name, r.epsilon, r.delta, r.rho, r.reason,
       r.made_by, r.at + make_interval(days => %(days)s) AS until,
       EXISTS (SELECT FROM ledger.adjustment a WHERE a.request = r.id) AS is_confirmed,
       w.at >= r.at + make_interval(days => %(days)s) AS is_late,
       ledger.window_start(w.period, r.at) <> ledger.window_start(w.period, w.at) AS has_renewed
FROM ledger.adjustment_request r JOIN ledger.source s ON s.id = r.source
CROSS JOIN LATERAL (SELECT transaction_timestamp() AS at,
                           coalesce((ledger.allowance_of(r.source, r.kind, r.name)).period, 'none') AS period) w
"""
_LOCKED = "SELECT FROM ledger.adjustment_request WHERE id = %s FOR UPDATE"
_ONE = _REQUESTS + "WHERE r.id = %(request)s"
_ALL = _REQUESTS + "ORDER BY r.id"


class AdjustmentError(RuntimeError):
    """Nothing was adjusted; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """by: to be added to what is spent; below 0 to be taken from it. rho: the same of rho; None: of what is
    added the most that it can be, of what is taken nothing, since nobody knows what it was."""

    kind: LineKind
    name: str
    by: Amount
    reason: str
    rho: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Adjusted:
    """spent: of the budget in its window, from now on."""

    number: int
    spent: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRequest:
    """What another person can confirm."""

    number: int
    database: str
    kind: LineKind
    name: str
    epsilon: Decimal
    delta: Decimal
    rho: Decimal | None
    reason: str
    made_by: str
    at: datetime
    until: datetime

    @property
    def text(self) -> str:
        """What is asked for, why and by whom."""
        amounts = (("epsilon", self.epsilon), ("delta", self.delta), ("rho", self.rho))
        changed = ", ".join(f"{name} {one.normalize():f}" for name, one in amounts if one)
        budget = budget_name(self.kind, self.name)
        return f'{changed} of {budget}, "{self.reason}", by {self.made_by}'


def adjust(
    ledger_dsn: str, source: int, wanted: Adjustment, by: str | None = None
) -> Adjusted | WaitingRequest:
    """Add to what is spent, or note the request to take from it. by: None for who runs this process.

    Raises:
        AdjustmentError: No reason, amounts that the ledger cannot hold, or a budget that is not there.
    """
    reason = wanted.reason.strip()
    if not reason or len(reason) > _REASON_CHARACTERS or not reason.isprintable():
        raise AdjustmentError(f"a reason is one line of 1 to {_REASON_CHARACTERS} characters")
    if wanted.by == Amount(Fraction(0), Fraction(0)) and not wanted.rho:
        raise AdjustmentError("nothing is to be adjusted: give --epsilon or --delta")
    amounts = (*wanted.by, wanted.rho or Fraction(0))
    for number, decimals in zip(
        amounts, (EPSILON_DECIMALS, DELTA_DECIMALS, RHO_DECIMALS), strict=True
    ):
        if (number * 10**decimals).denominator != 1 or abs(number) >= 10**20:
            raise AdjustmentError(f"an amount has at most 20 digits and {decimals} decimals")
    given = {
        "source": source,
        "kind": wanted.kind.value,
        "name": wanted.name,
        "epsilon": decimal(wanted.by.epsilon),
        "delta": decimal(wanted.by.delta),
        "rho": None if wanted.rho is None else decimal(wanted.rho),
        "reason": reason,
        "made_by": by or at_the_command_line(),
    }
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("SET search_path = pg_catalog")
        if connection.execute(_KNOWN, given).fetchone() is None:
            raise AdjustmentError(f'there is no {wanted.kind.value} "{wanted.name}"')
        if min(amounts) >= 0:
            return _adjusted(connection, {**given, "request": None, "confirmed_by": None})
        row = _by_name(connection).execute(_REQUEST, given).fetchone()
        assert row is not None
        asked = _row(connection, row["request"])
        _note(connection, asked["made_by"], "adjust request", asked)
    return _waiting(asked)


def confirm(ledger_dsn: str, number: int, by: str | None = None) -> Adjusted:
    """Take what a request asks for. by: another person than who made it; None for who runs this process.

    Raises:
        AdjustmentError: No such request, the same person, too late, or less spent than is to be taken.
    """
    by = by or at_the_command_line()
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("SET search_path = pg_catalog")
        asked = _row(connection, number)
        if person_of(by) == person_of(asked["made_by"]):
            raise AdjustmentError(
                f"request {number} was made by {asked['made_by']}: another administrator has to confirm it"
            )
        if (reason := _over(asked)) is not None:
            raise AdjustmentError(f"request {number} {reason}")
        return _adjusted(connection, {**asked, "confirmed_by": by})


def waiting_requests(ledger_dsn: str) -> list[WaitingRequest]:
    """Those that can be confirmed, the oldest first."""
    with psycopg.connect(ledger_dsn) as connection:
        rows = _by_name(connection).execute(_ALL, {"days": WAITS_DAYS}).fetchall()
    return [_waiting(row) for row in rows if _over(row) is None]


def _by_name(connection: psycopg.Connection[Any]) -> psycopg.Cursor[dict[str, Any]]:
    return connection.cursor(row_factory=dict_row)


def _row(connection: psycopg.Connection[Any], number: int) -> Mapping[str, Any]:
    row = None
    if 0 < number < 2**63:
        connection.execute(
            _LOCKED, (number,)
        )  # who confirms it at the same time sees the adjustment
        row = _by_name(connection).execute(_ONE, {"days": WAITS_DAYS, "request": number}).fetchone()
    if row is None:
        raise AdjustmentError(f"there is no request {number}")
    found: Mapping[str, Any] = row
    return found


def _over(asked: Mapping[str, Any]) -> str | None:
    """Why it waits no longer."""
    if asked["is_confirmed"]:
        return "is confirmed already"
    if asked["has_renewed"]:
        return "is about a window of the budget that has ended: nothing of it limits anybody now"
    if asked["is_late"]:
        return f"is older than {WAITS_DAYS} days: make it again"
    return None


def _waiting(row: Mapping[str, Any]) -> WaitingRequest:
    return WaitingRequest(
        number=row["request"],
        kind=LineKind(row["kind"]),
        **{
            name: row[name]
            for name in (
                "database",
                "name",
                "epsilon",
                "delta",
                "rho",
                "reason",
                "made_by",
                "at",
                "until",
            )
        },
    )


def _adjusted(connection: psycopg.Connection[Any], given: Mapping[str, Any]) -> Adjusted:
    row = _by_name(connection).execute(_ADJUST, given).fetchone()
    assert row is not None
    spent = Amount(Fraction(row["epsilon"]), Fraction(row["delta"]))
    if row["adjustment"] is None:
        raise AdjustmentError(
            f"only epsilon {text(spent.epsilon)}, delta {text(spent.delta)} is spent of it in its present"
            " window: no more can be taken, nor of its rho"
        )
    _note(connection, given["confirmed_by"] or given["made_by"], "adjust", given)
    return Adjusted(int(row["adjustment"]), spent)


def _note(
    connection: psycopg.Connection[Any], by: str, what: str, given: Mapping[str, Any]
) -> None:
    detail = {name: given[name] for name in ("source", "kind", "name", "reason")}
    amounts = {
        name: None if given[name] is None else f"{given[name]:f}"
        for name in ("epsilon", "delta", "rho")
    }
    requested = (
        {"request": given["request"], "requested_by": given["made_by"]} if given["request"] else {}
    )
    note(connection, by, what, {**detail, **amounts, **requested})
