"""Planning as if the kernel let everything through.

Of a mistake in the planner the kernel would refuse the plan, and what else sees it could not be tried.
"""

from __future__ import annotations

import pytest

from proxy.kernel.plan import PrivatePlan
from proxy.kernel.price import NOTHING_PAID, Price
from proxy.kernel.work import UnitWork
from proxy.planner import planning


def without_kernel(patch: pytest.MonkeyPatch) -> None:
    def nothing_for_each(plan: PrivatePlan, *_: object) -> tuple[Price, ...]:
        return (NOTHING_PAID,) * len(plan.blocks)

    patch.setattr(planning, "check_plan", nothing_for_each)
    patch.setattr(planning, "check_bounded", lambda *_: None)
    patch.setattr(planning, "check_work", lambda *_: UnitWork())
