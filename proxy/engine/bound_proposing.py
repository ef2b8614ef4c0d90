"""Bounds proposed privately, in the order of a query: budget, session, charge, read, choose, settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.catalog.catalog_model import TableName
from proxy.compiler.proposal_scan import proposal_scan
from proxy.engine.ports import Charged, Ledger, ProtectedData
from proxy.kernel.proposal_check import CheckedProposals
from proxy.mechanisms.bits import RandomBits
from proxy.release.choosing_bounds import ChosenBound
from proxy.release.proposing_bounds import propose

_FINGERPRINT = "policy bounds"  # in the place of a statement's
_SEED_BITS = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundProposals:
    """tables: of each the bounds of its plan, in their order."""

    tables: Mapping[TableName, tuple[ChosenBound, ...]]
    charged: Charged


async def proposed_bounds(
    plan: CheckedProposals,
    account: str,
    digest: str,
    data: ProtectedData,
    ledger: Ledger,
    bits: RandomBits,
) -> BoundProposals:
    """
    Given    account: who pays
    Refuses  OVER_BUDGET, UNAVAILABLE: nothing was read, nothing is charged; Fault: charged
    """
    await ledger.look(account, plan)
    async with data.session(account) as session:
        charged = await ledger.reserve(account, plan, _FINGERPRINT, digest)
        answered = False
        try:
            found = {}
            for number, table in enumerate(plan.proposed):
                query = proposal_scan(plan, number)
                seeds = {name: bits.below(2**_SEED_BITS) for name in query.seeds}
                exact = await session.run(query, seeds)
                found[table.table] = propose(plan, number, exact, bits)
            answered = True
            return BoundProposals(tables=found, charged=charged)
        finally:
            await ledger.settle(charged.receipt, answered)
