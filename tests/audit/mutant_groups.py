"""The 18 groups of mutants (docs/design/mechanisms.md 10), each with those of ours that stand for it.

Planner, compiler, release, engine: by the function's name (test_mutants.py here says by which layer each dies).
Mechanisms: by the mutant's name (tests/mechanisms/mutants.py, noise_mutants.py, choice_mutants.py).
"""

from __future__ import annotations

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
