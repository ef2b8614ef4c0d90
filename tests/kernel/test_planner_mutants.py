"""Mutants of the planner (tests/audit): the kernel refuses some plan of each, before a row is read.

Beside the audit, which finds them by neighbours with the kernel off (tests/audit/without_kernel.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from proxy.base.errors import Refusal
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.policy.policy_model import Policy
from tests.audit import layers, planner_mutants, truncated, truncation_mutants
from tests.audit.test_mutants import MUTANTS
from tests.never_raise.guards import GUARDS
from tests.pipeline_world import POLICIES, walk

Mutant = Callable[[pytest.MonkeyPatch], None]
_JOINS = POLICIES["joins"]
ASKED: tuple[tuple[Policy, str], ...] = (
    *((POLICIES["world"], question) for question in layers.QUESTIONS),
    *((POLICIES[name], question) for name, question in layers.OTHER_QUESTIONS),
    *((layers._with_a_total(POLICIES["best"]), question) for question in layers.TOTALS_QUESTIONS),
    *((_JOINS, question) for question in truncated.QUESTIONS),
    *((_JOINS, question) for question in truncated.REFUSED),
    *((_JOINS, f"SELECT count(*) FROM {join}") for join, _ in truncated.WIDER),
)
# Of these mutants plans are as they should be, or the planner refuses them by itself.
OUT_OF_SIGHT: dict[str, str] = {
    "groups_of_a_unit_not_paid": "a function of the mechanisms, which the kernel takes too",
    "delta_not_grown_for_k_rows": "a function of the mechanisms, which the kernel takes too",
    "groups_of_a_clipped_mean_not_paid": "a function of the mechanisms, which draws",
    "products_of_one_width": "a function of the kernel",
    **dict.fromkeys(
        (
            "evicted_row_forgotten",
            "partners_of_a_row_forgotten",
            "change_of_one_side_forgotten",
            "rows_of_a_side_forgotten",
            "partner_that_comes_alone_counts_once",
            "earlier_joins_of_a_row_forgotten",
        ),
        "a function of the kernel",
    ),
    **dict.fromkeys(
        (
            "empty_partition_dropped",
            "empty_partition_filled_from_the_data",
            "partitions_from_the_true_number_of_rows",
            "empty_group_dropped",
            "charge_after_the_answer",
            "charge_not_settled_on_failure",
        ),
        "of releases and charges, behind the plan",
    ),
    **dict.fromkeys(
        (
            "sides_of_a_join_not_cut",
            "left_side_of_a_join_not_cut",
            "product_of_a_join_not_limited",
            "product_of_earlier_joins_forgotten",
            "several_rows_taken_for_one",
            "reference_that_is_joined_again_forgotten",
        ),
        "of the work of one unit, at the price of before",
    ),
    "excess_of_a_key_kept": "printed otherwise than planned",
    "excess_of_a_unit_kept_before_a_join": "printed otherwise than planned",
    "row_that_is_not_alone_kept": "printed otherwise than planned",
    "rows_kept_by_arrival": "printed otherwise than planned",
    "rows_without_a_unit_compete": "printed otherwise than planned",
    "cut_by_the_first_key_alone": "printed otherwise than planned",
    "sign_of_a_sum_by_its_given_total": "printed otherwise than planned",
}
_MODULES = {planner_mutants.__name__, truncation_mutants.__name__}
_OF_THE_PLANNER = [mutant for mutant, _ in MUTANTS if mutant.__module__ in _MODULES]
_SEEN = [mutant for mutant in _OF_THE_PLANNER if mutant.__name__ not in OUT_OF_SIGHT]


def _refused() -> Iterator[NotPrivate]:
    for policy, question in ASKED:
        with suppress(Refusal):
            try:
                walk(question, policy)
            except NotPrivate as refused:
                yield refused


@pytest.mark.every(4)
@pytest.mark.parametrize("mutant", _SEEN, ids=lambda mutant: mutant.__name__)
def test_the_kernel_refuses_it(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    refused = next(_refused(), None)
    assert refused is not None
    assert len(refused.digest) == 64


def test_the_real_planner_is_let_through() -> None:
    assert next(_refused(), None) is None


def test_what_is_out_of_sight_is_a_mutant() -> None:
    assert {mutant.__name__ for mutant in _OF_THE_PLANNER} >= set(OUT_OF_SIGHT)


@pytest.mark.parametrize("name", [name for name, guard in GUARDS.items() if guard.statement])
def test_a_guard_that_is_forgotten_ends_in_a_fault(name: str) -> None:
    """A planner that forgets a clamp, a cut or a check of a constant makes plans of which some row raises."""
    guard = GUARDS[name]
    with guard.forgotten(), pytest.raises(NotPrivate) as refused:
        walk(guard.statement)
    assert refused.value.rule is Rule.TOTALITY
