"""A budget that is fitted in two ways holds against analysts whose next question hangs on every answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.mechanisms.adaptive_histories import (
    Rule,
    delta_counted_once,
    menu_for,
    moving_split,
    rho_is_a_quarter,
    two_ways,
    worst_delta,
)

_BUDGETS = [(1.0, 0.1), (2.0, 0.2), (0.5, 0.05), (1.0, 0.02), (1.0, 0.3), (4.0, 0.1)]


@pytest.mark.parametrize(("epsilon", "delta"), _BUDGETS)
def test_no_strategy_gets_more_than_delta(epsilon: float, delta: float) -> None:
    found = worst_delta(menu_for(epsilon, delta), epsilon, two_ways(epsilon, delta), 8)
    assert delta / 4 < found <= delta


@pytest.mark.parametrize(
    ("fault", "epsilon", "delta"),
    [
        (delta_counted_once, 1.0, 0.1),
        (moving_split, 0.5, 0.05),
        (rho_is_a_quarter, 1.0, 0.1),
    ],
)
def test_a_rule_with_a_fault_is_found(
    fault: Callable[[float, float], Rule], epsilon: float, delta: float
) -> None:
    assert worst_delta(menu_for(epsilon, delta), epsilon, fault(epsilon, delta), 6) > delta
