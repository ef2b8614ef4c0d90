"""What an operator adds to what is spent of a budget, or takes from it: an event with a reason, in the chain of
receipts. Nothing that was written is changed, and nothing is taken that is not spent in the present window."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import psycopg

from proxy.accounting.amounts import (
    DELTA_DECIMALS,
    EPSILON_DECIMALS,
    RHO_DECIMALS,
    Amount,
    decimal,
    text,
)
from proxy.accounting.budget_lines import LineKind
from proxy.ledger.admin_log import at_the_command_line, note

_REASON_CHARACTERS = 1000
_KNOWN = """\
SELECT EXISTS (SELECT FROM ledger.allowance
               WHERE source = %(source)s AND kind = %(kind)s AND analyst = %(name)s)
    OR EXISTS (SELECT FROM ledger.balance
               WHERE source = %(source)s AND kind = %(kind)s AND analyst = %(name)s)
    OR (%(kind)s = 'analyst' AND EXISTS (SELECT FROM ledger.analyst WHERE name = %(name)s))
    OR (%(kind)s = 'group' AND EXISTS (SELECT FROM ledger.membership WHERE grp = %(name)s))"""
_ADJUST = (
    "SELECT adjustment, epsilon, delta"
    " FROM ledger.adjust_at(%s, %s, %s, %s, %s, %s, %s, transaction_timestamp(), %s)"
)


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


def adjust(ledger_dsn: str, source: int, wanted: Adjustment) -> Adjusted:
    """
    Refuses  AdjustmentError: no reason, amounts that the ledger cannot hold, a budget that is not there, less
             spent than is to be taken
    """
    reason = wanted.reason.strip()
    if not reason or len(reason) > _REASON_CHARACTERS or not reason.isprintable():
        raise AdjustmentError(f"a reason is one line of 1 to {_REASON_CHARACTERS} characters")
    if wanted.by == Amount(Fraction(0), Fraction(0)) and not wanted.rho:
        raise AdjustmentError("nothing is to be adjusted: give --epsilon or --delta")
    given = (*wanted.by, wanted.rho or Fraction(0))
    for number, decimals in zip(
        given, (EPSILON_DECIMALS, DELTA_DECIMALS, RHO_DECIMALS), strict=True
    ):
        if (number * 10**decimals).denominator != 1 or abs(number) >= 10**20:
            raise AdjustmentError(f"an amount has at most 20 digits and {decimals} decimals")
    line = {"source": source, "kind": wanted.kind.value, "name": wanted.name}
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("SET search_path = pg_catalog")
        known = connection.execute(_KNOWN, line).fetchone()
        if known is None or not known[0]:
            raise AdjustmentError(f'there is no {wanted.kind.value} "{wanted.name}"')
        row = connection.execute(
            _ADJUST,
            (
                *(source, wanted.kind.value, wanted.name),
                *(decimal(wanted.by.epsilon), decimal(wanted.by.delta)),
                *(reason, at_the_command_line()),
                None if wanted.rho is None else decimal(wanted.rho),
            ),
        ).fetchone()
        assert row is not None
        spent = Amount(Fraction(row[1]), Fraction(row[2]))
        if row[0] is None:
            raise AdjustmentError(
                f"only epsilon {text(spent.epsilon)}, delta {text(spent.delta)} is spent of it in its present"
                " window: no more can be taken, nor of its rho"
            )
        detail = {
            **line,
            "epsilon": str(decimal(wanted.by.epsilon)),
            "delta": str(decimal(wanted.by.delta)),
            "rho": None if wanted.rho is None else str(decimal(wanted.rho)),
            "reason": reason,
        }
        note(connection, None, "adjust", detail)
    return Adjusted(int(row[0]), spent)
