"""Mutants of planner, compiler, release and engine: each must die, by the layer that is named (layers.py,
output_mutants.py, truncated.py), with the kernel off. Of the mechanisms: tests/mechanisms/test_mutants.py; what
the kernel refuses: tests/kernel/test_planner_mutants.py."""

from __future__ import annotations

import pytest

from tests.audit import compiler_mutants, planner_mutants
from tests.audit.exact_results import Auditor
from tests.audit.layers import (
    Layer,
    Patch,
    cost_complains,
    neighbours_complain,
    order_complains,
    own_answer_complains,
)
from tests.audit.output_mutants import OUTPUT_LAYERS, OUTPUT_MUTANTS
from tests.audit.planner_mutants import WORK_MUTANTS, work_complains
from tests.audit.truncation_mutants import TRUNCATION_MUTANTS
from tests.audit.without_kernel import without_kernel
from tests.mechanisms.test_mutants import MUTANTS as MECHANISM_MUTANTS

GROUPS: dict[int, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    1: (
        "sensitivity halved, or epsilon not divided",
        ("sensitivity_halved", "epsilon_not_split"),
        ("sensitivity halved", "epsilon not split", "epsilon not split over sum and count"),
    ),
    2: ("SUM's sensitivity is its width", ("sensitivity_of_a_sum_is_its_width",), ()),
    3: (
        "a unit in several groups, each at the full epsilon",
        ("groups_of_a_unit_not_paid", "groups_of_a_unit_not_cut"),
        ("groups of one unit not charged", "epsilon not split over groups"),
    ),
    4: ("local sensitivity", (), ("local instead of smooth sensitivity",)),
    5: (
        "delta ignored in beta",
        (),
        ("delta ignored: beta = epsilon", "delta ignored: beta = epsilon / 2"),
    ),
    6: ("beta with half of its divisor", (), ("beta = epsilon / ln(1/delta)",)),
    7: ("scale S/epsilon", (), ("scale S/epsilon",)),
    8: ("S* without the bounds", (), ("S* without padding by the bounds",)),
    9: (
        "S* from k = 1, or the next rank",
        (),
        ("S* from k = 1", "S* of the next rank", "median of the next rank"),
    ),
    10: (
        "PolyPlace too narrow",
        (),
        ("PolyPlace scale halved", "PolyPlace S with gamma doubled", "PolyPlace gamma = epsilon"),
    ),
    11: ("partitions by order of rows", ("partition_by_row_order", "groups_cut_by_arrival"), ()),
    12: (
        "empty partitions dropped",
        ("empty_partition_dropped", "empty_partition_filled_from_the_data"),
        (),
    ),
    13: ("m from the true number of rows", ("partitions_from_the_true_number_of_rows",), ()),
    14: (
        "noise or seeds used again",
        (
            *("one_noise_for_all_columns", "one_noise_for_all_answers"),
            "same_seeds_for_every_statement",
        ),
        (),
    ),
    15: (
        "SUM not clamped, NULL a bound, sums of floats",
        ("clamp_left_out", "null_becomes_a_bound", "centred_clamp_left_out", "sums_in_floats"),
        ("release not clamped",),
    ),
    16: (
        "a rare group shown, an empty public one not",
        ("every_private_group_shown", "rows_counted_for_units", "empty_group_dropped"),
        ("a group of one unit is shown",),
    ),
    17: (
        "delta not split, levels not paid, the charge late or lost",
        (
            *("delta_not_split", "levels_of_groups_not_paid"),
            *("charge_after_the_answer", "charge_not_settled_on_failure"),
        ),
        ("delta not split",),
    ),
    18: (
        "an answer off its grid, of another type, or with a private scale",
        ("answer_off_its_grid", "answer_of_another_type", "scale_of_a_median_shown"),
        (),
    ),
}


MUTANTS: tuple[tuple[Patch, Layer], ...] = (
    (planner_mutants.sensitivity_halved, neighbours_complain),
    (planner_mutants.epsilon_not_split, cost_complains),
    (planner_mutants.delta_not_split, cost_complains),
    (planner_mutants.groups_of_a_unit_not_paid, cost_complains),
    (planner_mutants.size_of_a_quantile_not_paid, cost_complains),
    (planner_mutants.gate_not_paid, cost_complains),
    (planner_mutants.groups_of_a_gate_not_counted, neighbours_complain),
    (planner_mutants.groups_of_a_clipped_mean_not_paid, cost_complains),
    (planner_mutants.rows_of_a_shared_sum_not_paid, neighbours_complain),
    (planner_mutants.delta_not_grown_for_k_rows, cost_complains),
    (planner_mutants.k_rows_treated_as_one, neighbours_complain),
    (planner_mutants.any_key_taken_for_fixed, neighbours_complain),
    (compiler_mutants.partition_by_row_order, neighbours_complain),
    (compiler_mutants.clamp_left_out, neighbours_complain),
    (compiler_mutants.null_becomes_a_bound, own_answer_complains),
    (compiler_mutants.rows_of_a_unit_not_bounded, neighbours_complain),
    (compiler_mutants.rows_of_a_group_not_bounded, neighbours_complain),
    (compiler_mutants.groups_of_a_unit_not_cut, neighbours_complain),
    (compiler_mutants.groups_cut_by_arrival, neighbours_complain),
    (compiler_mutants.share_of_a_group_rounded_up, neighbours_complain),
    (compiler_mutants.cut_skipped_by_rows_of_a_group, neighbours_complain),
    (compiler_mutants.cut_skipped_for_every_unit, neighbours_complain),
    (compiler_mutants.cut_of_a_group_skipped_by_rows_of_all, neighbours_complain),
    (compiler_mutants.rows_without_a_unit_kept, neighbours_complain),
    (compiler_mutants.distinct_values_of_a_unit_not_cut, neighbours_complain),
    (compiler_mutants.values_of_a_unit_not_cut, neighbours_complain),
    (compiler_mutants.groups_of_an_extreme_not_cut, neighbours_complain),
    (compiler_mutants.extreme_not_gathered_by_unit, neighbours_complain),
    (compiler_mutants.centred_clamp_left_out, neighbours_complain),
    (compiler_mutants.products_not_centred, neighbours_complain),
    (planner_mutants.products_of_one_width, neighbours_complain),
    (compiler_mutants.groups_not_cut_for_private_keys, neighbours_complain),
    (planner_mutants.multiplicity_of_a_join_ignored, neighbours_complain),
    (planner_mutants.units_along_a_foreign_key_not_equal, neighbours_complain),
    (planner_mutants.rows_of_a_union_not_added, neighbours_complain),
    (planner_mutants.hidden_unit_dropped, neighbours_complain),
    (compiler_mutants.rows_without_a_unit_kept_per_unit, neighbours_complain),
    (planner_mutants.reference_not_followed, neighbours_complain),
    (planner_mutants.empty_partition_dropped, neighbours_complain),
    (planner_mutants.empty_partition_filled_from_the_data, neighbours_complain),
    (planner_mutants.partitions_from_the_true_number_of_rows, neighbours_complain),
    (planner_mutants.empty_group_dropped, neighbours_complain),
    (planner_mutants.charge_after_the_answer, order_complains),
    (planner_mutants.charge_not_settled_on_failure, order_complains),
    *OUTPUT_MUTANTS,
    *TRUNCATION_MUTANTS,
    *WORK_MUTANTS,
    (planner_mutants.sign_of_a_sum_by_its_given_total, neighbours_complain),
)
# The real code of joins by truncation: test_truncated_joins.py.
LAYERS = (
    *(neighbours_complain, cost_complains, own_answer_complains, order_complains),
    *OUTPUT_LAYERS,
    work_complains,
)


@pytest.mark.every(3)
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
def test_the_real_code_lives(layer: Layer, auditor: Auditor) -> None:
    assert not layer(auditor)


@pytest.mark.every(16)
@pytest.mark.parametrize("mutant, layer", MUTANTS, ids=[m.__name__ for m, _ in MUTANTS])
def test_a_mutant_dies(
    mutant: Patch, layer: Layer, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant(monkeypatch)
    without_kernel(monkeypatch)
    assert layer(auditor)


def test_every_group_of_the_design_has_a_mutant_that_is_tried() -> None:
    ours = {mutant.__name__ for mutant, _ in MUTANTS}
    mechanisms = {mutant.name for mutant in MECHANISM_MUTANTS}
    assert sorted(GROUPS) == list(range(1, 19))
    for what, own, of_mechanisms in GROUPS.values():
        assert own or of_mechanisms, what
        assert set(own) <= ours and set(of_mechanisms) <= mechanisms, what


def test_planner_and_compiler_have_at_least_25_mutants() -> None:
    modules = ("planner_mutants", "compiler_mutants", "truncation_mutants")
    assert sum(mutant.__module__.endswith(modules) for mutant, _ in MUTANTS) >= 25
