"""What a plan is charged as: a function of the plan alone, made once for each that is remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Set
from dataclasses import dataclass

from proxy.accounting.events import Event
from proxy.engine.table_losses import table_losses
from proxy.mechanisms.loss import Loss
from proxy.planner.loss_events import loss_events
from proxy.planner.plan import PrivatePlan

_CACHED = 64  # as of plans (remembered_plans.py)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCost:
    """plan: held, so that no other object can have its identity; tables: what each table pays"""

    plan: PrivatePlan
    events: tuple[Event, ...]
    tables: Mapping[str, Loss]


class PlanCosts:
    """
    Given    protected: the names of the policy's protected tables
    """

    def __init__(self, protected: Set[str]) -> None:
        self._protected = protected
        self._cached: OrderedDict[int, PlanCost] = OrderedDict()

    def of(self, plan: PrivatePlan) -> PlanCost:
        found = self._cached.get(id(plan))
        if found is None:
            tables = table_losses(plan, self._protected)
            found = PlanCost(plan=plan, events=loss_events(plan), tables=tables)
            self._cached[id(plan)] = found
            if len(self._cached) > _CACHED:
                self._cached.popitem(last=False)
        assert found.plan is plan
        return found
