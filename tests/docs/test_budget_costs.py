"""docs/explanation/budgets.md says what statements cost: by our formulas, and by dp-accounting where it is."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from proxy.mechanisms.loss import Loss
from proxy.policy.amount_findings import how_long
from proxy.policy.policy_model import Budget
from tests.docs.budget_costs import COUNTS, EPSILONS, HEADS, WITHOUT_PLD, lines, row
from tests.pipeline_world import POLICIES

_TEXT = (Path(__file__).parents[2] / "docs" / "explanation" / "budgets.md").read_text(
    encoding="utf-8"
)
_HAS_PLD = importlib.util.find_spec("dp_accounting") is not None


def test_the_table_is_what_is_computed() -> None:
    assert f"| {' | '.join(HEADS)} |" in _TEXT
    for epsilon in EPSILONS:
        for count in COUNTS:
            assert f"| {row(epsilon, count, WITHOUT_PLD)} | " in _TEXT


@pytest.mark.long
@pytest.mark.skipif(not _HAS_PLD, reason="dp-accounting is not installed (dpproxy[pld])")
def test_the_table_of_pld_is_what_is_computed() -> None:
    assert "\n".join(lines()) in _TEXT


def test_how_long_a_budget_lasts() -> None:
    table = _TEXT[_TEXT.index("| budget, delta") :]
    found = re.findall(
        r"^\| epsilon ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", table, re.MULTILINE
    )
    assert len(found) == 4
    for told in found:
        epsilon, *expected = (int(number.replace(",", "")) for number in told)
        policy = POLICIES["world"]
        budget = Budget(Loss(Fraction(epsilon), Fraction(1, 10**4)))
        privacy = replace(policy.privacy, epsilon=Fraction(1), delta=Fraction(1, 10**6))
        lasting = how_long(
            replace(policy, privacy=privacy, budgets=replace(policy.budgets, total=budget))
        )
        assert [lasting.now, lasting.by_rho, lasting.by_gaussian] == expected
        assert f"`epsilon: {float(lasting.gaussian_epsilon or 0):g}`" in _TEXT
