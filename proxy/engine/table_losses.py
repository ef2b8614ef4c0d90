"""What a statement draws of each protected table, for the budgets of tables."""

from __future__ import annotations

from collections.abc import Mapping, Set

from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.loss_events import block_loss
from proxy.policy.policy_model import Policy


def protected_names(policy: Policy) -> frozenset[str]:
    return frozenset(str(table.name) for table in policy.protected())


def tables_of(block: BlockPlan, protected: Set[str]) -> tuple[str, ...]:
    return tuple(name for name in block.tables() if name in protected)


def table_losses(private: PrivatePlan, protected: Set[str]) -> Mapping[str, Loss]:
    """
    Gives    for each table the losses of the blocks that read it, added up; where the blocks' losses are not
             that of the plan, as they are composed in another way, that of the plan, which covers each part
    """
    each = [(tables_of(block, protected), block_loss(block)) for block in private.blocks]
    adds_up = sum((loss for _, loss in each), NOTHING) == private.loss
    found: dict[str, Loss] = {}
    for tables, loss in each:
        for name in tables:
            found[name] = found.get(name, NOTHING) + loss if adds_up else private.loss
    return found
