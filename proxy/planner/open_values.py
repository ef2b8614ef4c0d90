"""Values whose range follows from how many rows a unit may have: totals of a unit that a subquery computes.

Where the policy bounds no rows, the range of a total is that of a million of them. So releases of such a value
choose a bound on its size first, as an outer SUM does on what a unit adds (ADR 0096).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from proxy.base.errors import Refusal
from proxy.kernel.statistics import Measured
from proxy.planner import grids
from proxy.planner.bounds import bounded
from proxy.planner.facts import ColumnFacts, Facts
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import Expression

# Grid indices stay exact in the floats of smooth sensitivity, with room to spare.
LARGEST_INDEX = 2**50


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenValue:
    """An operand for which a bound is chosen.

    Attributes:
        measured: The value within the largest bound, whatever FILTER says.
        operands: Its expression as each aggregate measures it.
        bound: In grid steps of `measured`. None: none is chosen yet.
    """

    measured: Measured
    operands: frozenset[Expression]
    bound: int | None = None

    @property
    def grid(self) -> Fraction:
        return self.measured.grid

    @property
    def most(self) -> int:
        """The largest bound."""
        return max(1, -self.measured.low, self.measured.high)

    def within(self, interval: Bounds) -> Bounds:
        """Cut the range of the value to the bound."""
        most = (self.most if self.bound is None else self.bound) * self.grid
        low, high = max(interval.low, -most), min(interval.high, most)
        if low < high or interval.low == interval.high:
            return Bounds(min(low, high), high)
        # Conditions leave only values beyond the bound.
        return Bounds(Fraction(0), most) if interval.high > 0 else Bounds(-most, Fraction(0))


def open_rows(expression: Expression, facts: Facts) -> int | None:
    """Find whether the range of a number follows from how many rows a unit may have, and from how many.

    `least(total, 1000)` has a range of its own.
    """
    named = _open_columns(expression, facts)
    if not named:
        return None
    try:
        wider = bounded(expression, _scaled(facts, named, 2))
        is_open = wider.interval != bounded(expression, facts).interval
    except Refusal:
        is_open = True
    return max(named.values()) if is_open else None


class RangeEnd(Enum):
    """Of a range."""

    LOW = "low"
    HIGH = "high"


def is_open_end(expression: Expression, facts: Facts, unnarrowed: Facts, end: RangeEnd) -> bool:
    """Find whether one end of the range of a number follows from how many rows a unit may have.

    Args:
        facts: As far as conditions leave them: what these leave of the range is the analyst's own bound.
        unnarrowed: The same facts without conditions.
    """
    named = _open_columns(expression, facts)
    if not named:
        return False
    try:
        found = [
            bounded(expression, one).interval
            for one in (facts, unnarrowed, _scaled(facts, named, 2))
        ]
    except Refusal:
        return True
    own, whole, wider = (
        None if one is None else one.low if end is RangeEnd.LOW else one.high for one in found
    )
    return own == whole and own != wider


def kept_facts(facts: Facts) -> Facts:
    """Cut totals of units to the bounds that the policy gives on them."""
    kept = {name: known for name, known in facts.items() if known.kept is not None}
    if not kept:
        return facts
    return facts | {name: cut_to_kept(known) for name, known in kept.items()}


def kept_range(expression: Expression, facts: Facts) -> Bounds | None:
    """The range of a number that is computed of totals, if these are cut to the policy's bounds."""
    if not any(one.kept is not None for one in _facts_in(expression, facts)):
        return None
    try:
        return bounded(expression, kept_facts(facts)).interval
    except Refusal:
        return None


def grid_of_open(expression: Expression, facts: Facts, coarsest: Fraction) -> Fraction:
    """The grid that the value of a unit with one row would have: that of a million rows is too coarse."""
    named = _open_columns(expression, facts)
    if not named and not any(one.kept is not None for one in _facts_in(expression, facts)):
        return coarsest
    few = kept_facts(facts) | {
        name: _within(facts[name], Fraction(1, rows)) for name, rows in named.items()
    }
    try:
        found = bounded(expression, few)
    except Refusal:
        return coarsest
    if found.interval is None:
        return coarsest
    return min(coarsest, grids.of_expression(found.expression, found.interval, few))


def _open_columns(expression: Expression, facts: Facts) -> Mapping[tuple[str, str], int]:
    known = ((name, facts.get(name)) for name in columns(expression))
    return {name: one.open_rows for name, one in known if one is not None and one.open_rows}


def _facts_in(expression: Expression, facts: Facts) -> Iterator[ColumnFacts]:
    for name in columns(expression):
        if name in facts:
            yield facts[name]


def cut_to_kept(known: ColumnFacts) -> ColumnFacts:
    """Cut a total of units to the bound that the policy gives on it."""
    kept, bounds = known.kept, known.bounds
    if kept is None or bounds is None:
        return known
    low, high = max(bounds.low, kept.low), min(bounds.high, kept.high)
    # Of totals that conditions leave beyond the bound nothing else is left.
    return replace(known, bounds=Bounds(low, high) if low <= high else kept)


def _scaled(facts: Facts, named: Mapping[tuple[str, str], int], factor: int) -> Facts:
    return facts | {name: _within(facts[name], Fraction(factor)) for name in named}


def _within(known: ColumnFacts, factor: Fraction) -> ColumnFacts:
    if known.bounds is None:
        return known
    bounds = replace(known.bounds, low=known.bounds.low * factor, high=known.bounds.high * factor)
    return replace(known, bounds=bounds)
