"""What a statement draws of each protected table, for the budgets of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from fractions import Fraction

from proxy.accounting.events import Event
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.loss_events import block_events
from proxy.planner.plan import BlockPlan, PrivatePlan
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
    each = [(tables_of(block, protected), loss_of(block_events(block))) for block in private.blocks]
    adds_up = sum((loss for _, loss in each), NOTHING) == private.loss
    found: dict[str, Loss] = {}
    for tables, loss in each:
        for name in tables:
            found[name] = found.get(name, NOTHING) + loss if adds_up else private.loss
    return found


def loss_of(events: Iterator[Event]) -> Loss:
    each = (Loss(Fraction(str(one["epsilon"])), Fraction(str(one["delta"]))) for one in events)
    return sum(each, NOTHING)
