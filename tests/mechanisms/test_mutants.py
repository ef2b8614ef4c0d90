"""Every broken mechanism is refused by the layer that claims to see it."""

from __future__ import annotations

import pytest

from tests.mechanisms import (
    choice_mutants,
    growing_places_mutants,
    mutants,
    noise_mutants,
    pair_mutants,
    rho_mutants,
    shared_mutants,
)
from tests.mechanisms.mutants import Mutant

MUTANTS = [
    *mutants.MUTANTS,
    *noise_mutants.MUTANTS,
    *choice_mutants.MUTANTS,
    *growing_places_mutants.MUTANTS,
    *shared_mutants.MUTANTS,
    *pair_mutants.MUTANTS,
    *rho_mutants.MUTANTS,
]


# Samplers that only draws can tell: one of each is in every run, the others at night.
_AT_NIGHT = (
    *(
        "sampler 5 % too wide",
        "sampler's zero too likely",
        "Gaussian sampler with sigma 5 % too large",
    ),
    "PolyPlace sampler rejects instead of clamping",
)


@pytest.mark.every(8)
@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.long] * (one.name in _AT_NIGHT))
        for one in MUTANTS
    ],
)
def test_the_mutant_is_killed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    # test_layers.py shows that the same layer accepts the real code.
    for target in mutant.replaces:
        monkeypatch.setattr(target, mutant.with_)
    with pytest.raises(AssertionError):
        mutant.killed_by()


def test_what_runs_at_night_is_there() -> None:
    assert set(_AT_NIGHT) <= {mutant.name for mutant in MUTANTS}
