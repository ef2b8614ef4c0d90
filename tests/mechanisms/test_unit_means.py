"""What means are made of, for any bound, from bands: near the definition by units, and bounded as it is."""

from __future__ import annotations

from collections import Counter

import pytest

from proxy.mechanisms.private_bound import bounds_up_to
from proxy.mechanisms.unit_means import PARTS, UnitMeans

_BOUNDS = bounds_up_to(20)
_WIDTH = 7  # the largest size of one value
_UNITS = [(1, 3), (2, -5), (5, 35), (5, -35), (9, 1), (13, -40), (30, 210), (41, -287), (17, 1)]


def _means(units: list[tuple[int, int]]) -> UnitMeans:
    columns = [Counter[int]() for _ in range(4)]
    for count, total in units:
        band = 1 + sum(bound < count for bound in _BOUNDS)
        for column, added in zip(
            columns, (1, count, total, int(total / count * PARTS)), strict=True
        ):
            column[band] += added
    number, counts, sums, means = columns
    return UnitMeans(units=number, counts=counts, sums=sums, means=means)


@pytest.mark.parametrize("place", range(len(_BOUNDS)))
def test_a_unit_above_the_bound_adds_its_mean_so_many_times(place: int) -> None:
    bound = _BOUNDS[place]
    count, total = _means(_UNITS).limited(place, bound)
    assert count == sum(min(rows, bound) for rows, _ in _UNITS)
    exact = sum(value * min(1, bound / rows) for rows, value in _UNITS)
    assert exact - 1.1 < total < exact + 0.1


@pytest.mark.parametrize("place", range(len(_BOUNDS)))
def test_one_unit_changes_them_by_no_more_than_its_rows(place: int) -> None:
    bound = _BOUNDS[place]
    here = _means(_UNITS).limited(place, bound)
    for left_out in range(len(_UNITS)):
        there = _means(_UNITS[:left_out] + _UNITS[left_out + 1 :]).limited(place, bound)
        count, total = (one - other for one, other in zip(here, there, strict=True))
        assert count == min(bound, _UNITS[left_out][0])
        assert abs(total) <= count * _WIDTH


def test_they_are_not_printed() -> None:
    assert "287" not in repr(_means(_UNITS))
