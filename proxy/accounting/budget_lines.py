"""Budgets that a statement is charged to: of its analyst, of groups, of tables, and of everybody together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any

from proxy.accounting.amounts import Amount
from proxy.policy.blocks_of_time import is_block_line

WARNED_FROM = Fraction(4, 5)
STEPS = 20  # of a shared budget, as analysts are told of it
NO_COST = Amount(Fraction(0), Fraction(0))


class LineKind(Enum):
    """In the order in which the ledger locks them."""

    ANALYST = "analyst"
    GROUP = "group"
    TABLE = "table"
    TOTAL = "total"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """One budget in its window, and what a statement would cost it.

    left: what one more may cost; fits, fits_fresh: whether this cost does, now and in a window of its own;
    rho_*: in the place of epsilon under zCDP, where there is a limit; window: when it began; None: a lifetime;
    renews_in: seconds from when it was read, by the ledger's clock
    """

    kind: LineKind
    name: str
    limit: Amount
    spent: Amount
    left: Amount
    cost: Amount = NO_COST
    fits: bool = True
    fits_fresh: bool = True
    rho_limit: Fraction | None = None
    rho_spent: Fraction = Fraction(0)
    window: int | None = None
    renews_at: datetime | None = None
    renews_in: int | None = None

    @property
    def falls_short(self) -> bool:
        """Of what was not charged."""
        return not self.fits

    @property
    def wait(self) -> int | None:
        """Seconds until it covers the cost by itself; None: it never does."""
        return self.renews_in if self.fits_fresh else None

    @property
    def used(self) -> Fraction:
        """The share that is spent, of epsilon or delta, whichever is larger; 0 of what allows nothing. Where
        there are two ways to fit, by that which is less spent; half of delta is for the conversion then."""
        epsilon = _share(self.spent.epsilon, self.limit.epsilon)
        if self.rho_limit is None:
            return max(epsilon, _share(self.spent.delta, self.limit.delta))
        half = self.limit.delta / 2
        return max(
            min(epsilon, _share(self.rho_spent, self.rho_limit)),
            _share(half - self.left.delta, half),
        )

    @property
    def is_block(self) -> bool:
        """Of a block of time, to which statements are charged instead of the total."""
        return self.kind is LineKind.TABLE and is_block_line(self.name)

    @property
    def whose(self) -> str:
        match self.kind:
            case LineKind.ANALYST:
                return f'the privacy budget of "{self.name}"'
            case LineKind.GROUP:
                return f'the privacy budget of the group "{self.name}"'
            case LineKind.TABLE if self.is_block:
                return f"the privacy budget of {self.name}"
            case LineKind.TABLE:
                return f"the privacy budget of the table {self.name}"
            case LineKind.TOTAL:
                return "the shared privacy budget"


def lines_of_json(lines: list[Mapping[str, Any]]) -> tuple[BudgetLine, ...]:
    """As ledger.line_json writes them."""
    return tuple(map(_line, lines))


def _line(line: Mapping[str, Any]) -> BudgetLine:
    renews = line["renews"]
    return BudgetLine(
        kind=LineKind(line["kind"]),
        name=line["name"],
        limit=_amount(line["epsilon_limit"], line["delta_limit"]),
        spent=_amount(line["epsilon_spent"], line["delta_spent"]),
        left=_amount(line["epsilon_left"], line["delta_left"]),
        cost=_amount(line["epsilon"], line["delta"]),
        fits=line["fits"],
        fits_fresh=line["fits_fresh"],
        rho_limit=None if line["rho_limit"] is None else _exact(line["rho_limit"]),
        rho_spent=_exact(line["rho_spent"]),
        window=line["window"],
        renews_at=None if renews is None else datetime.fromtimestamp(renews, tz=timezone.utc),
        renews_in=line["renews_in"],
    )


def _amount(epsilon: str, delta: str) -> Amount:
    """Never negative, even where a new policy lowered the limit."""
    return Amount(_not_negative(epsilon), _not_negative(delta))


def _not_negative(number: str) -> Fraction:
    return NO_COST.epsilon if number.startswith("-") else _exact(number)


@lru_cache(maxsize=1024)
def _exact(number: str) -> Fraction:
    """Limits are the same at each charge. A Decimal is read faster than a Fraction, and whole numbers make one
    of them at once: what else it takes is looked for among all kinds of numbers."""
    return Fraction(*Decimal(number).as_integer_ratio())


def _share(spent: Fraction, limit: Fraction) -> Fraction:
    return spent / limit if limit else Fraction(0)


def as_reported(lines: tuple[BudgetLine, ...], *, is_cached: bool) -> tuple[BudgetLine, ...]:
    """As an analyst is told of them. Where answers are cached, a budget that others spend from moves by what
    is new to all of them, and would tell what they have asked: what of it is spent is told in twentieths.

    Source  docs/design/reuse.md 6
    """
    if not is_cached:
        return lines
    return tuple(one if one.kind is LineKind.ANALYST else _in_steps(one) for one in lines)


def _in_steps(line: BudgetLine) -> BudgetLine:
    limit, spent = line.limit, line.spent
    return replace(
        line,
        spent=Amount(_up(spent.epsilon, limit.epsilon), _up(spent.delta, limit.delta)),
        left=_left_in_steps(line),
        rho_spent=_up(line.rho_spent, line.rho_limit) if line.rho_limit else Fraction(0),
    )


def _left_in_steps(line: BudgetLine) -> Amount:
    limit, left = line.limit, line.left
    return Amount(_down(left.epsilon, limit.epsilon), _down(left.delta, limit.delta))


def _up(amount: Fraction, limit: Fraction) -> Fraction:
    """
    >>> _up(Fraction(51), Fraction(100)), _up(Fraction(55), Fraction(100))
    (Fraction(55, 1), Fraction(55, 1))
    """
    return ceil(amount * STEPS / limit) * limit / STEPS if limit else amount


def _down(amount: Fraction, limit: Fraction) -> Fraction:
    return floor(amount * STEPS / limit) * limit / STEPS if limit else amount


def usable(lines: tuple[BudgetLine, ...], *, is_cached: bool) -> Amount:
    """What an analyst is told that they can spend now, of whatever table: it must fit all lines but those of
    tables. is_cached: as of as_reported."""
    left = [
        one.left if one.kind is LineKind.ANALYST or not is_cached else _left_in_steps(one)
        for one in lines
        if one.kind is not LineKind.TABLE
    ]
    return Amount(min(one.epsilon for one in left), min(one.delta for one in left))
