"""What a plan is charged as: a function of the plan alone, made with it and remembered with it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from proxy.accounting.events import Event
from proxy.engine.table_losses import table_losses
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCost:
    """tables: what each protected table pays"""

    events: tuple[Event, ...]
    tables: Mapping[str, Loss]


def plan_cost(plan: PrivatePlan, events: tuple[Event, ...], protected: Set[str]) -> PlanCost:
    """
    Given    events: of the plan; protected: the names of the policy's protected tables
    """
    return PlanCost(events=events, tables=table_losses(plan, protected))
