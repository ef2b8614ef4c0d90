"""Every broken mechanism is refused by the layer that claims to see it."""

from __future__ import annotations

import pytest

from tests.mechanisms import choice_mutants, mutants, noise_mutants, pair_mutants, shared_mutants
from tests.mechanisms.mutants import Mutant

MUTANTS = [
    *mutants.MUTANTS,
    *noise_mutants.MUTANTS,
    *choice_mutants.MUTANTS,
    *shared_mutants.MUTANTS,
    *pair_mutants.MUTANTS,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_is_killed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    # test_layers.py shows that the same layer accepts the real code.
    for target in mutant.replaces:
        monkeypatch.setattr(target, mutant.with_)
    with pytest.raises(AssertionError):
        mutant.killed_by()
