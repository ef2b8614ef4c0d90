"""Bounds that are chosen privately are near the best ones in hindsight: what accuracy.md says holds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from statistics import mean, stdev

import numpy as np
import pytest

from proxy.mechanisms import discrete_laplace, private_bound
from proxy.mechanisms.loss import Loss
from tests.mechanisms.bound_accuracy import (
    EPSILON,
    Accuracy,
    accuracy,
    chosen,
    error,
    lines,
    totals_in_bands,
)
from tests.mechanisms.unit_sizes import DATA, UnitSizes, invented, real
from tests.seeded_bits import SeededBits

_LOSS = Loss(EPSILON, Fraction(0))


@pytest.fixture(scope="module")
def small() -> list[UnitSizes]:
    return list(invented((500,)))


def _missed(sets: Iterator[UnitSizes] | list[UnitSizes]) -> list[str]:
    found = [accuracy(sizes) for sizes in sets]
    assert any(one.enough for one in found)
    return [line for line in lines(one for one in found if _misses(one)) if "|" in line][2:]


def _misses(one: Accuracy) -> bool:
    return one.enough and not one.holds


def test_few_hundred_units_are_enough(small: list[UnitSizes]) -> None:
    assert _missed(small) == []


@pytest.mark.long
def test_the_whole_table_holds() -> None:
    assert _missed(invented()) == []


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the data beside the repository")
def test_real_data_holds() -> None:
    assert _missed(real()) == []


def test_what_is_computed_is_what_is_drawn(small: list[UnitSizes]) -> None:
    """With the product's own draws: 200 answers have the mean error that the law gives."""
    sizes = next(one for one in small if one.name.startswith("log-normal"))
    found = chosen(sizes, _LOSS)
    bands = totals_in_bands(sizes.totals, found.choice.bounds)
    walk, bits, exact = private_bound.walk(found.choice.walk.epsilon), SeededBits(8), sizes.totals
    errors = []
    for _ in range(200):
        place = private_bound.choose(bands, found.choice.bounds, walk, bits)
        if place is not None:
            bound = found.choice.bounds[place]
            noise = discrete_laplace.sample(bits, found.scale * bound)
            errors.append(abs(bands.clamped(place, bound) + noise - int(exact.sum())))
    assert len(errors) > 190
    computed = accuracy(sizes).ours
    assert abs(mean(errors) - computed) < 4 * stdev(errors) / len(errors) ** 0.5
    assert computed * 0.7 < mean(errors) < computed * 1.4


def test_the_error_of_noise_with_bias() -> None:
    scale = Fraction(7, 2)
    p = np.exp(-1 / float(scale))
    at = np.arange(-400, 401)
    law = (1 - p) / (1 + p) * p ** np.abs(at)
    for bias in (0, 1, -9, 60):
        assert error(bias, scale) == pytest.approx(float((law * np.abs(at + bias)).sum()))


def test_bands_are_those_of_the_product() -> None:
    bands = totals_in_bands(np.array([0, 1, 2, 5, 6, 6, 40]), (1, 2, 5, 30))
    assert bands.units == {1: 1, 2: 1, 3: 1, 4: 2, 5: 1}
    assert bands.sums == {1: 1, 2: 2, 3: 5, 4: 12, 5: 40}


def test_a_bound_ten_times_too_large_is_seen(
    small: list[UnitSizes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_bound, "_STOP", Fraction(-10))
    assert len(_missed(small)) > 5
