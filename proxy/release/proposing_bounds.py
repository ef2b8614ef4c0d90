"""Exact numbers of units by the size of their totals + a plan + bits -> proposed bounds."""

from __future__ import annotations

from proxy.exact.table import ExactTable
from proxy.kernel.proposal_check import CheckedProposals
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.private_bound import UnitTotals
from proxy.release.choosing_bounds import ChosenBound, chosen_bound


def propose(
    plan: CheckedProposals, number: int, exact: ExactTable, bits: RandomBits
) -> tuple[ChosenBound, ...]:
    """One for each of a table's bounds, in their order.

    Given    number: of the table; exact: what compiler.proposal_scan returned for it
    """
    units: dict[int, dict[int, int]] = {}
    for row in exact.rows:
        place, band, counted = (value or 0 for value in row.values)
        units.setdefault(place, {})[band] = counted
    return tuple(
        chosen_bound(bound.choice, UnitTotals(units=units.get(place, {}), sums={}), bits)
        for place, bound in enumerate(plan.proposed[number].bounds)
    )
