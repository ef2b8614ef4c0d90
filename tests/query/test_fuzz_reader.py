"""A statement gives a plan, is relayed, or is refused: whatever it and its parameters hold, and soon."""

from __future__ import annotations

import pytest

from tests.fuzz_loop import in_a_child


@pytest.mark.long
def test_made_up_statements() -> None:
    outcome = in_a_child("tests.query.fuzz_reader")
    assert outcome.tried > 1000, outcome.report
