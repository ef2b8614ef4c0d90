"""Every formula of docs/design/mechanisms.md and the test that has golden values of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mechanisms import (
    formula_goldens,
    gaussian_layers,
    growing_places_layers,
    layers,
    moments_layers,
    order_statistic_layers,
    pair_layers,
    polyplace_layers,
    selection_layers,
    shared_layers,
    test_errors_over_rows,
    test_private_bound,
)
from tests.mechanisms.test_layers import LAYERS
from tests.planner import test_sensitivity_table as sensitivities

Check = Callable[..., None]
_PAGE = Path(__file__).parents[2] / "docs" / "design" / "mechanisms.md"
_NOT_ADOPTED = "PROOFS.md 15"
_WITHOUT_FORMULA = {"1", "2", "3", "4", "5", "5.1", "6", "7", "9", "10"}  # headings, rules in words


@dataclass(frozen=True)
class Formula:
    section: str
    formula: str
    source: str
    checks: tuple[Check, ...]


FORMULAS = (
    Formula(
        "5.6",
        "S* = max (a_j - a_i) e^(-beta (j-i-1))",
        "Nissim, Raskhodnikova, Smith 2007, proposition 3.4",
        (layers.smooth_sensitivity_is_its_definition, layers.formulas_are_golden),
    ),
    Formula(
        "5.3",
        "beta = ln(1 + epsilon/(2 ln(2/delta))), scale 2 S/epsilon",
        "PROOFS.md 4",
        (layers.formulas_are_golden, layers.the_median_is_private),
    ),
    Formula(
        "5.4",
        "h(z), N, A, |Z|'s quantiles, scale S/gamma",
        "Hladik, Tetek 2025; PROOFS.md 6",
        (polyplace_layers.polyplace_formulas_are_golden,),
    ),
    Formula(
        "5.2",
        "m = odd(ceil(kappa L ln((hi-lo)/g)))",
        "PROOFS.md 4",
        (layers.formulas_are_golden, polyplace_layers.polyplace_formulas_are_golden),
    ),
    Formula(
        "5.5",
        "clipped mean: (hi-lo) moved/(m epsilon)",
        "Mohan et al. 2012 (GUPT)",
        (shared_layers.clipped_mean_formulas_are_golden,),
    ),
    Formula(
        "3.4",
        "walk: 1/s_r + 1/s_n = e_1, s_n = 4/e_1",
        "PROOFS.md 23",
        (test_private_bound.test_the_walk_is_private,),
    ),
    Formula(
        "5.7",
        "gate: 8 m and the half width of DLap(groups/e_0)",
        "PROOFS.md 4",
        (layers.a_sum_is_private,),
    ),
    Formula(
        "2.4",
        "DLap(Delta/epsilon)",
        "Ghosh, Roughgarden, Sundararajan 2009",
        (layers.a_sum_is_private, layers.the_scale_is_opendps),
    ),
    Formula(
        "2.1",
        "COUNT: Delta = 1",
        "PROOFS.md 1",
        (formula_goldens.sensitivities_are_golden,),
    ),
    Formula(
        "2.2",
        "SUM: Delta = max(|lo|, |hi|) in grid steps",
        "PROOFS.md 1",
        (formula_goldens.sensitivities_are_golden,),
    ),
    Formula(
        "7.3",
        "AVG as sum over count: scales 2 max(|lo|, |hi|)/epsilon, 2/epsilon",
        "PROOFS.md 13",
        (shared_layers.sum_over_count_formulas_are_golden,),
    ),
    Formula(
        "3.1",
        "k rows: (k e, k e^((k-1) e) d)",
        "PROOFS.md 16",
        (formula_goldens.rows_of_a_unit_are_golden, layers.a_loss_is_shared),
    ),
    Formula(
        "3.2",
        "L1 = G R' Delta, L2 = R' Delta sqrt(G); Gaussian from G = 15 (textbook) or 11",
        "Tumult Analytics, Understanding sensitivity",
        (
            sensitivities.test_laplace_noise_is_for_the_l1_sensitivity,
            sensitivities.test_gaussian_noise_is_for_the_l2_sensitivity,
            gaussian_layers.gaussian_formulas_are_golden,
        ),
    ),
    Formula(
        "3.3",
        "T_l S_r M_r + T_r S_l M_l: 8, 4, 6; flat map n m",
        "Tumult Analytics, Understanding sensitivity",
        (sensitivities.test_laplace_noise_is_for_the_l1_sensitivity,),
    ),
    Formula(
        "4.1",
        "one group per unit: max epsilon_i",
        "McSherry 2009, theorem 4",
        (formula_goldens.groups_are_golden, layers.a_loss_is_shared),
    ),
    Formula(
        "4.2",
        "pi_n, half at 109, 26, 14, 8",
        "Desfontaines, Voss, Gipson, Mandayam 2022",
        (selection_layers.selection_is_optimal_and_golden,),
    ),
    Formula(
        "6.1",
        "tau = 2 ln(G)/epsilon, K, scores",
        "McSherry, Talwar 2007; PROOFS.md 9",
        (order_statistic_layers.order_formulas_are_golden,),
    ),
    Formula(
        "6.2",
        "max(#(x<c) - q n, q n - #(x<=c), 0), sensitivity max(q, 1-q)",
        "PROOFS.md 9",
        (
            order_statistic_layers.laws_are_their_definition,
            order_statistic_layers.order_statistics_are_private,
        ),
    ),
    Formula(
        "6.3",
        "places: 8 and 4 an octave, 64 parts; tau = (2/epsilon) ln n; 3 tau units",
        "PROOFS.md 9 (Places)",
        (
            growing_places_layers.numbers_of_places_are_golden,
            growing_places_layers.places_grow_from_the_ends,
            growing_places_layers.extremes_of_units_are_private,
        ),
    ),
    Formula(
        "7.1",
        "S~ about the middle, N~: scales 2r/epsilon, 2/epsilon",
        "PROOFS.md 10",
        (moments_layers.moments_formulas_are_golden,),
    ),
    Formula(
        "7.2",
        "N, sum y, sum (y^2 - r^2/2) at epsilon/3",
        "PROOFS.md 10",
        (
            moments_layers.moments_formulas_are_golden,
            moments_layers.moments_without_noise_are_exact,
        ),
    ),
    Formula(
        "7.4",
        "sum u v in +- D_u D_v; covariance, slope, intercept, correlation from 4, 5, 6 sums",
        "PROOFS.md 10",
        (
            pair_layers.pair_formulas_are_golden,
            pair_layers.pairs_without_noise_are_exact,
            pair_layers.pairs_are_private,
        ),
    ),
    Formula(
        "2.3",
        "COUNT(DISTINCT): 1, D, 1 of units",
        "PROOFS.md 18",
        (formula_goldens.sensitivities_are_golden,),
    ),
    Formula(
        _NOT_ADOPTED,
        "propose-test-release: T = ln(1/(2 delta))/epsilon",
        "PROOFS.md 15",
        (formula_goldens.propose_test_release_is_golden,),
    ),
    Formula(
        _NOT_ADOPTED,
        "automatic bounds: T = ln(B/(2p))/epsilon",
        "PROOFS.md 15",
        (formula_goldens.automatic_bounds_are_golden,),
    ),
    Formula(
        "8",
        "basic: epsilon/k, delta/k, by weights; zCDP: epsilon^2/2, Delta^2/(2 sigma^2), conversion",
        "Dwork, Roth 2014, 3.16; Bun, Steinke 2016; Canonne, Kamath, Steinke 2020",
        (
            formula_goldens.shares_are_golden,
            gaussian_layers.gaussian_formulas_are_golden,
            gaussian_layers.rho_is_opendps,
            shared_layers.shared_sums_meet_every_need,
        ),
    ),
    Formula(
        "9.1",
        "half widths, corners of a ratio",
        "PROOFS.md 1, 4, 10",
        (
            formula_goldens.intervals_are_golden,
            moments_layers.intervals_hold_the_truth,
            shared_layers.shared_totals_reach_as_far_as_said,
        ),
    ),
    Formula(
        "9.2",
        "floor of a median's noise: (high - low) e^(-beta (m-1)/2)/epsilon",
        "PROOFS.md 4",
        (formula_goldens.intervals_are_golden,),
    ),
    Formula(
        "9.3",
        "error in ranks: (2 s/epsilon) ln((G + 1)/a)",
        "McSherry, Talwar 2007, theorem 6; PROOFS.md 9",
        (
            test_errors_over_rows.test_an_error_in_rank_holds,
            order_statistic_layers.order_formulas_are_golden,
        ),
    ),
    Formula(
        "2.4",
        "E|DLap(b)| = b, deviation sqrt(2) b",
        "Ghosh, Roughgarden, Sundararajan 2009",
        (formula_goldens.integer_noise_is_golden,),
    ),
    Formula(
        "8.1",
        "S = sum of (r_t + ... + r_(t-b+1))^2, and a by the least mean variance of totals",
        "Fichtenberger, Henzinger, Upadhyay 2023; mechanisms/PROOFS.md 33",
        (formula_goldens.series_are_golden,),
    ),
)


@pytest.mark.parametrize("golden", formula_goldens.GOLDENS, ids=lambda golden: golden.__name__)
def test_golden_values(golden: Check) -> None:
    golden()


def test_every_section_has_a_formula_and_every_check_runs() -> None:
    stated = re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(stated) > 20
    sections = {formula.section for formula in FORMULAS} - {_NOT_ADOPTED}
    assert sections | _WITHOUT_FORMULA == set(stated)
    running = {*LAYERS, *formula_goldens.GOLDENS}
    for formula in FORMULAS:
        assert formula.source
        assert formula.checks
        for check in formula.checks:
            assert check in running or check.__name__.startswith("test_"), check
