"""Proposals at random that the kernel lets through: one unit moves the counts of units no further than is paid,
by brute force, and no row makes their statement raise."""

from __future__ import annotations

from collections import Counter
from random import Random  # noqa: TID251  the same proposals for the same seed

import pytest

from proxy.compiler.proposal_scan import proposal_scan
from proxy.kernel import proposal_check
from proxy.kernel.proposal_check import check_proposals
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.work import TooMuchWork
from proxy.query.ir.relations import scans
from tests.kernel.made_blocks import WORLD
from tests.kernel.made_proposals import ProposalMaker, bands
from tests.kernel.made_values import OF_VALUES, ValueMaker
from tests.kernel.test_weakened_kernel import _weak
from tests.kernel.tiny_database import tiny_database
from tests.unchecked_blocks import unchecked_proposals

_TRIED = 400


def _apart(here: Counter[int], there: Counter[int]) -> int:
    """By how many steps of one unit, or row, that comes or goes. Each is in one band, of the largest value."""
    return sum(abs(here[band] - there[band]) for band in {*here, *there})


def _verified(seed: int, tried: int) -> Counter[str]:
    """How many counts moved by as much as is paid.

    Raises:
        AssertionError: One by more.
        psycopg.Error: A row raised.
    """
    database, found = tiny_database(), Counter[str]()
    maker = ProposalMaker(ValueMaker(Random(seed)))
    for number in range(tried):
        if number % 50 == 0:
            database.fill(maker.values.rows())
        proposed = maker.proposals()
        try:
            check_proposals([proposed], WORLD)
            query = proposal_scan(unchecked_proposals(proposed), 0)
        except (NotPrivate, TooMuchWork):
            continue
        except OverflowError:  # a bound that is no day: there is no statement
            continue
        found["let through"] += 1
        here = bands(database, query)
        read = [f"DELETE FROM {one.table} " for one in scans(proposed.relation)]
        for deletion in OF_VALUES:
            if not any(one in deletion.sql for one in read):
                continue
            with database.without(deletion.sql):
                there = bands(database, query)
            for place, bound in enumerate(proposed.bounds):
                moved = _apart(here.get(place, Counter()), there.get(place, Counter()))
                assert moved <= bound.times, (deletion, bound, proposed)
                found["met"] += moved == bound.times
    return found


@pytest.mark.every(8)
@pytest.mark.parametrize("seed", range(8))
def test_no_unit_is_counted_more_often_than_paid(seed: int) -> None:
    found = _verified(seed, _TRIED)
    assert found["let through"] > 20 and found["met"] > 20, found


_WEAKENED = {
    "fewer rows than change": _weak(
        proposal_check._price_of_bound, "if bound.times < changed:", "if False:"
    ),
    "rows that are not gathered": _weak(
        proposal_check._rows_that_change,
        "if table.unit is None and not owner.alone:",
        "if False:",
    ),
    "gathered by another column": _weak(
        proposal_check._rows_that_change,
        "if table.unit is not None and name(table.unit) not in owner.columns:",
        "if False:",
    ),
    "rows by themselves that are gathered": _weak(
        proposal_check._rows_that_change,
        "if table.unit is not None:\n                raise",
        "if False:\n                raise",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", _WEAKENED)
def test_without_a_condition_one_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _WEAKENED[name].put(monkeypatch)
    with pytest.raises(AssertionError):
        for seed in range(100, 105):
            _verified(seed, _TRIED)
