"""Joins by truncation: neighbours in one table and in both, on tables where the cut bites."""

from __future__ import annotations

import pytest

from tests.audit import truncated
from tests.audit.exact_results import Auditor
from tests.audit.truncated import QUESTIONS, WIDER


@pytest.mark.every(4)
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


@pytest.mark.every(4)
@pytest.mark.parametrize("join, told_apart", WIDER)
def test_each_table_changes_no_more_rows_than_planned(
    join: str, told_apart: str, auditor: Auditor
) -> None:
    """Each table by itself, which is tighter than their sum: the worst person may be in either."""
    planned, found = (
        truncated.rows_by_table(join),
        truncated.change_by_table(auditor, join, told_apart),
    )
    assert planned.keys() == found.keys()
    assert {table: (n, planned[table]) for table, n in found.items() if n > planned[table]} == {}


_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})"


@pytest.mark.every(24)
@pytest.mark.parametrize("join, told_apart", WIDER)
def test_wider_joins_move_by_no_more_than_planned(
    join: str, told_apart: str, auditor: Auditor
) -> None:
    rows = truncated.rows_of_all(join)
    aggregates = f"count(*), sum(a.i4), count(DISTINCT b.i4), {_MEDIAN.format(told_apart)}"
    for keys in ("", "a.t, "):
        question = f"SELECT {keys}{aggregates} FROM {join}" + (" GROUP BY a.t" if keys else "")
        assert list(truncated.violations(auditor, [question], "joins best", rows)) == []


@pytest.mark.parametrize(
    "join, told_apart, table, most",
    [
        # A member comes alone: the rows that it meets lose a row without partner and win a pair.
        (*WIDER[2], "members", 6),
        (*WIDER[1], "events", 2),
        # A row that takes the place of another changes two rows of each that it meets, not four.
        (*WIDER[0], "trips", 10),
    ],
)
def test_a_partner_that_comes_alone_counts_twice(
    join: str, told_apart: str, table: str, most: int, auditor: Auditor
) -> None:
    assert truncated.largest_of_seeds(auditor, join, told_apart, table, most) >= most
