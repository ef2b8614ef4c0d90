"""Joins by truncation: neighbours in one table and in both, on tables where the cut bites."""

from __future__ import annotations

import pytest

from tests.audit import truncated
from tests.audit.exact_results import Auditor
from tests.audit.truncated import QUESTIONS


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_join_moves_by_no_more_than_planned(question: str, auditor: Auditor) -> None:
    assert list(truncated.violations(auditor, [question])) == []
    assert list(truncated.too_dear([question])) == []


def test_a_side_is_not_truncated_by_the_key_of_a_public_table_in_it() -> None:
    assert list(truncated.planned()) == []


@pytest.mark.parametrize(
    "join, most",
    [
        # A row out of four takes its two partners with it, and another comes with two: S = 2, T = 2.
        ("people a JOIN visits b ON a.t = b.t", 4),
        # Rows alone with their key: one pair.
        ("people a JOIN events b ON a.i4 = b.i4", 1),
    ],
)
def test_the_audit_sees_what_a_change_of_one_row_can_do(
    join: str, most: int, auditor: Auditor
) -> None:
    last = "percentile_cont(0.5) WITHIN GROUP (ORDER BY a.i4 + 101 * b.i4)"
    assert truncated.largest_change(auditor, f"SELECT {last} FROM {join}") >= most
