"""A policy file gives a policy or PolicyErrors with positions, soon and in little memory."""

from __future__ import annotations

import pytest

from tests.fuzz_loop import in_a_child


@pytest.mark.long
def test_made_up_policies() -> None:
    outcome = in_a_child("tests.policy.fuzz_policies")
    assert outcome.tried > 1000, outcome.report
