"""Planning as if the kernel let everything through.

Of a mistake in the planner the kernel would refuse the plan, and what else sees it could not be tried.
"""

from __future__ import annotations

import pytest

from proxy.planner import planning
from tests.unchecked_blocks import unchecked, unchecked_plan


def without_kernel(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planning, "check_plan", lambda blocks, *_: unchecked_plan(blocks))
    patch.setattr(planning, "check_bounded", lambda block, *_: unchecked(block))
