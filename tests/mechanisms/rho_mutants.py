"""Faults of what mechanisms cost under zCDP, and the layers that have to see them."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms import rho_of_noise
from tests.mechanisms import rho_layers
from tests.mechanisms.mutants import Mutant

_LAPLACE = "proxy.mechanisms.rho_of_noise.rho_of_laplace"
_PURE = "proxy.mechanisms.rho_of_noise.rho_of_pure"
_GAUSSIAN = "proxy.mechanisms.rho_of_noise.rho_of_gaussian"
_laplace, _pure, _gaussian = (
    rho_of_noise.rho_of_laplace,
    rho_of_noise.rho_of_pure,
    rho_of_noise.rho_of_gaussian,
)


def _continuous(steps: int, scale: Fraction) -> Fraction:
    epsilon = float(steps / scale)
    return Fraction(epsilon + math.exp(-epsilon) - 1)


MUTANTS = (
    Mutant(
        "rho of the continuous Laplace law",
        rho_layers.rho_is_the_largest_divergence,
        (_LAPLACE,),
        _continuous,
    ),
    Mutant(
        "rho of the continuous Laplace law, seen in many answers",
        rho_layers.rho_bounds_many_answers,
        (_LAPLACE,),
        _continuous,
    ),
    Mutant(
        "rho of discrete Laplace rounded down",
        rho_layers.rho_is_never_below,
        (_LAPLACE,),
        lambda steps, scale: _laplace(steps, scale) - rho_layers.STEP,
    ),
    Mutant(
        "rho of a pure mechanism rounded down",
        rho_layers.rho_is_never_below,
        (_PURE,),
        lambda epsilon: _pure(epsilon) - rho_layers.STEP,
    ),
    Mutant(
        "rho of a pure mechanism is the continuous Laplace law's",
        rho_layers.rho_is_the_largest_divergence,
        (_PURE,),
        lambda epsilon: Fraction(float(epsilon) + math.exp(-float(epsilon)) - 1),
    ),
    Mutant(
        "rho of Gaussian noise rounded down",
        rho_layers.rho_is_never_below,
        (_GAUSSIAN,),
        lambda squared, sigma2: _gaussian(squared, sigma2) - rho_layers.STEP,
    ),
    Mutant(
        "rho of a vector is that of its first steps",
        rho_layers.a_vector_costs_what_one_cell_does,
        (_LAPLACE,),
        lambda steps, scale: _laplace(min(steps, 10), scale),
    ),
)
