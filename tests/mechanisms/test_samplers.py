"""Each sampler of the table draws from its law, and the harness sees noise that is 30 % off."""

from __future__ import annotations

import pytest

from tests.mechanisms.samplers import FALSE_ALARM, MANY_DRAWS, OFF, SAMPLERS, Sampler

_OF_TABLE = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


@_OF_TABLE
def test_right_noise_is_accepted_and_noise_30_percent_off_is_not(sampler: Sampler) -> None:
    drawn = sampler.drawn()
    assert sampler.fit(drawn) > FALSE_ALARM
    assert sampler.fit(drawn, OFF) < FALSE_ALARM / 1000, "wider"
    assert sampler.fit(drawn, 1 / OFF) < FALSE_ALARM / 1000, "narrower"


@pytest.mark.long
@_OF_TABLE
def test_right_noise_is_accepted_by_many_draws(sampler: Sampler) -> None:
    drawn = sampler.drawn(min(MANY_DRAWS, 20 * sampler.draws), seed=2)
    assert sampler.fit(drawn) > FALSE_ALARM
