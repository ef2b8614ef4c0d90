"""Bounds proposed privately, in the order of a query: budget, session, look, charge, read, choose, settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.catalog.catalog_model import TableName
from proxy.drawing.drawer import Drawer, proposal_queries
from proxy.drawing.statement_run import run_of_owner
from proxy.engine.ports import Ledger
from proxy.kernel.proposal_check import CheckedProposals
from proxy.release.choosing_bounds import ChosenBound

_FINGERPRINT = "policy bounds"  # in the place of a statement's


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundProposals:
    """tables: of each the bounds of its plan, in their order."""

    tables: Mapping[TableName, tuple[ChosenBound, ...]]
    receipt: str


async def proposed_bounds(
    plan: CheckedProposals,
    account: str,
    drawer: Drawer,
    ledger: Ledger,
) -> BoundProposals:
    """
    Given    account: who pays
    Refuses  OVER_BUDGET, UNAVAILABLE: nothing was read, nothing is charged; Fault: charged
    """
    run = run_of_owner(account)
    await ledger.look(account, plan)
    async with drawer.session(run.turn) as session:
        await session.refuse_impossible(proposal_queries(plan))
        charge = await ledger.reserve(run, plan, _FINGERPRINT, drawer.policy.digest)
        receipt, answered = charge.receipt, False
        assert receipt is not None, "what is reserved has a receipt"
        try:
            found = await drawer.proposed(charge, plan, session, run)
            answered = True
            names = (one.table for one in plan.proposed)
            return BoundProposals(tables=dict(zip(names, found, strict=True)), receipt=receipt)
        finally:
            await ledger.settle(receipt, answered)
