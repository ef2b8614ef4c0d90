"""Bounds proposed privately, in the order of a query: budget, session, charge, read, choose, settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.accounting.statement_record import StatementRecord
from proxy.catalog.catalog_model import TableName
from proxy.compiler.proposal_scan import proposal_scan
from proxy.engine.ports import Charged, Ledger, ProtectedData
from proxy.kernel.proposal_plan import ProposalPlan, TableProposals
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import NOTHING, Loss
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
    plan: ProposalPlan,
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
    events = tuple(plan.events())
    record = StatementRecord(tables={str(one.table): _loss(one) for one in plan.tables})
    await ledger.look(account, plan.loss, events, record)
    async with data.session(account) as session:
        charged = await ledger.reserve(account, plan.loss, _FINGERPRINT, digest, events, record)
        answered = False
        try:
            found = {}
            for table in plan.tables:
                query = proposal_scan(table)
                seeds = {name: bits.below(2**_SEED_BITS) for name in query.seeds}
                found[table.table] = propose(table, await session.run(query, seeds), bits)
            answered = True
            return BoundProposals(tables=found, charged=charged)
        finally:
            await ledger.settle(charged.receipt, answered)


def _loss(table: TableProposals) -> Loss:
    return sum((bound.loss for bound in table.bounds), NOTHING)
