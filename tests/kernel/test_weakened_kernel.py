"""No condition of the kernel without a test that fails when it is gone: functions of it with one condition
less.

Each is seen by a hole that it lets through, by plans of a kind that are broken (both are known not to be
private), or by relations at random of which it claims what does not hold.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random  # noqa: TID251  the same relations for the same seed
from typing import Any

import psycopg
import pytest

from proxy.kernel import (
    attribution,
    block_price,
    column_types,
    fewest_units,
    fixed_columns,
    join_rules,
    known_values,
    listed_values,
    measurements,
    number_totality,
    owners,
    proposal_check,
    row_numbers,
    sensitivities,
    shape,
    text_totality,
    time_totality,
    totality,
    truncation_rules,
)
from proxy.kernel.owners import Known
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.world import World
from proxy.query.ir.relations import Relation
from tests.kernel.all_holes import HOLES
from tests.kernel.claims import Claims
from tests.kernel.holes import judge
from tests.kernel.made_relations import POLICY, RelationMaker
from tests.kernel.tampered_plans import KINDS, Tampered
from tests.kernel.test_golden_plans import EQUIVALENT, golden_blocks
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES

_MODULES = (
    *(attribution, column_types, fixed_columns, join_rules, measurements, block_price, row_numbers),
    *(proposal_check, shape, sensitivities, truncation_rules, fewest_units),
    *(totality, number_totality, time_totality, text_totality, known_values, listed_values),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weakened:
    """A function of the kernel, one text of it, and what stands there instead."""

    function: Callable[..., Any]
    was: str
    now: str

    def put(self, patch: pytest.MonkeyPatch) -> None:
        """The weakened function wherever the kernel has the real one."""
        source = textwrap.dedent(inspect.getsource(self.function))
        source = source.removeprefix("@property\n")
        assert source.count(self.was) == 1, self.was
        made: dict[str, Any] = {}
        module = inspect.getmodule(self.function)
        assert module is not None
        exec(source.replace(self.was, self.now), vars(module), made)
        new = made[self.function.__name__]
        for one in _MODULES:
            for name, there in list(vars(one).items()):
                if there is self.function:
                    patch.setattr(one, name, new)
        if getattr(totality._Judge, self.function.__name__, None) is self.function:
            patch.setattr(totality._Judge, self.function.__name__, new)
        for name, there in list(vars(shape.Shape).items()):
            if isinstance(there, property) and there.fget is self.function:
                patch.setattr(shape.Shape, name, property(new))


def _weak(function: Callable[..., Any], was: str, now: str) -> Weakened:
    return Weakened(function=function, was=was, now=now)


def _without_its_theorem(case: str) -> Weakened:
    """The condition on delta left out in a case; what follows from it cannot be computed then."""
    laplace = "case MedianNoise.LAPLACE:\n"
    return _weak(
        measurements.check_median,
        laplace,
        f"case MedianNoise.LAPLACE if {case}:\n            return\n        {laplace}",
    )


_OF_HOLES = {
    "cut_in_order_of_arrival": _weak(
        truncation_rules._check_order, "not any(key <= untied for key in keys)", "False"
    ),
    "cut_in_the_order_of_jsonb": _weak(
        truncation_rules._check_order, "if tells_forms_apart(types[column])", ""
    ),
    "partitions_by_forms_of_jsonb": _weak(
        block_price._check_partitions, "is_grouped_in_one_form(source.types[column])", "True"
    ),
    "untyped_texts_that_are_called_times": _weak(
        column_types._check_computed, "and not is_right and not is_alike", "and False"
    ),
    "union_with_padded_texts": _weak(
        attribution._common_type, "kind.is_text and kind is not SqlType.BPCHAR", "kind.is_text"
    ),
    "union_of_a_name_twice": _weak(
        attribution.subquery_rule, "len(set(names)) < len(names)", "False"
    ),
    "window_with_ties": _weak(attribution._check_ties, "not seen <= told", "False"),
    "window_in_the_order_of_places": _weak(
        column_types.check_column, "there is SqlType.TID and not may_be_place", "False"
    ),
    "windows_of_two_orders": _weak(
        attribution._check_one_order, "any(sort != sorts[0] for sort in sorts)", "False"
    ),
    "cut_by_places_that_are_handed_on": _weak(
        truncation_rules._is_by_place, "not isinstance(cut.source, Scan)", "False"
    ),
    "cut_by_places_and_more": _weak(
        truncation_rules._is_by_place, "len(cut.ordered_by) != 1 or", ""
    ),
    "cut_of_rows_by_places": _weak(
        truncation_rules._is_by_place,
        "or not isinstance(owner, OfUnit) or name(by) not in owner.columns",
        "",
    ),
    "number_that_only_some_rows_have": _weak(
        attribution._check_ties,
        "seen |= columns_in(tuple(one.present for one in subquery.windows)) - alike",
        "pass",
    ),
    "number_that_is_an_aggregate": _weak(
        attribution._check_function,
        "(window.aggregate is not None) != (window.function is WindowFunction.AGGREGATE)",
        "False",
    ),
    "condition_on_other_rows": _weak(
        column_types._check_computed,
        "if word not in _WORDS or claimed is not SqlType.BOOL",
        "if False",
    ),
    "key_of_a_last_value_of_ties": _weak(
        fixed_columns._is_of_all_rows, "window.order or window.ties", "window.order"
    ),
    "number_that_is_called_a_uuid": _weak(
        column_types._check_computed, "if not _is_of_its_kind(node)", "if False"
    ),
    "number_that_is_called_an_interval": _weak(
        column_types.has_one_form,
        "is_printed_as_number(kind) or kind in several",
        "kind.is_number or kind in several",
    ),
    "alias_with_further_rows": _weak(
        owners.check_alias, "_ALIAS.fullmatch(alias) is None", "False"
    ),
    "window_by_long_texts": _weak(attribution._check_ties, "if types[column].is_text", "if False"),
    "lookup_on_the_unit_alone": _weak(
        join_rules.unit_join, "a.alone and (b.alone or is_once)", "a.alone"
    ),
    "partition_after_a_cut": _weak(
        truncation_rules.key_cut,
        "((frozenset({by}), rows.changed),)",
        "rows.touched",
    ),
    "partitions_by_null": _weak(block_price.check_rows, "not hashed <= owner.filled", "False"),
    "rows_per_group_without_groups": _weak(shape.Shape.rows.fget, "or not self.is_spread", ""),  # type: ignore[attr-defined]
    "group_answered_twice": _weak(
        shape.check_groups, "len(set(answered)) < len(answered)", "False"
    ),
    "units_counted_where_rows_change": _weak(
        sensitivities.of_distinct,
        "of_unit and isinstance(shape.neighbours, UnitNeighbours)",
        "of_unit",
    ),
    "clamp_between_steps": _weak(
        measurements.check_measured, "(end / one.grid).denominator != 1", "False"
    ),
    "no_partition_changes": _weak(
        block_price.check_rows, "rows.partitions is not None and rows.partitions < 1", "False"
    ),
    "list_of_a_protected_table": _weak(
        column_types._check_list,
        "not isinstance(world.policy.tables.get(listed.table), PublicTable)",
        "False",
    ),
    "few_values_fetched": _weak(
        measurements.price_of_order_statistic,
        "release.needed < _values_looked_at(release)",
        "False",
    ),
    "extreme_of_a_fraction": _weak(
        measurements._check_rank, "not is_extreme and not is_quantile", "False"
    ),
    "extreme_of_all_groups": _weak(
        measurements.price_of_unit_extreme,
        "release.measured.rows < shape.values(release.keeps_one_group)",
        "False",
    ),
    "units_counted_in_all_groups": _weak(
        sensitivities.of_kept_units, "shape.values(keeps_one_group)", "1"
    ),
    "values_of_several_rows": _weak(
        measurements.price_of_value_choice,
        "isinstance(shape.neighbours, RowNeighbours) and shape.neighbours.rows != 1",
        "False",
    ),
    "computed_floats_that_are_compared": _weak(
        join_rules.computed_equal, "(is_padded or is_float) and", "is_padded and"
    ),
    "floats_that_are_compared_with_a_constant": _weak(
        join_rules.computed_equal, "(is_padded or is_float) and", "is_padded and"
    ),
    "values_beside_an_answer": _weak(block_price.check_answers, "Parameter in classes", "False"),
    "total_above_its_low_end": _weak(
        measurements.price_of_total, "not total.low <= 0 <= total.high", "False"
    ),
    "alias_of_an_inner_scan": _weak(
        join_rules._is_of_one_unit, "(y, table) in b.named for", "y[1] == 'id' for"
    ),
    "key_of_several_rows": _weak(fixed_columns.fixed_columns, "if owner.alone:", "if True:"),
    "key_of_a_table_of_rows": _weak(fixed_columns.fixed_columns, "if owner.alone:", "if True:"),
    "key_of_a_partner_of_some_rows": _weak(
        fixed_columns._is_met_alike, "columns_in(join.rest) <= fixed", "True"
    ),
    "key_of_a_partner_by_another_column": _weak(
        fixed_columns._is_met_alike, "is_of_unit(pair) or fixed.issuperset(pair)", "True"
    ),
    "key_of_a_partner_of_a_partner": _weak(
        fixed_columns._is_met_alike, "pair[0] in a.columns", "True"
    ),
    "key_of_a_place_of_a_row": _weak(fixed_columns._fixed_partners, "if x in fixed", ""),
    "key_made_of_both_sides": _weak(
        fixed_columns.is_fixed, "columns_in(expression) <= fixed", "columns_in(expression) & fixed"
    ),
    "key_of_a_running_window": _weak(
        fixed_columns._is_of_all_rows, "return is_whole", "return True"
    ),
    "key_of_a_window_by_more": _weak(
        fixed_columns._is_of_all_rows, "or not by_unit.issuperset(parts)", ""
    ),
    "key_of_a_row_number": _weak(
        fixed_columns._is_of_all_rows,
        "case _:\n            return False",
        "case _:\n            return True",
    ),
    "key_of_a_union": _weak(
        attribution.union_rule,
        "named=frozenset(named),",
        "named=frozenset(named), fixed=frozenset(types),",
    ),
    "key_of_a_group_of_a_unit": _weak(fixed_columns.fixed_by_keys, "if is_fixed(key, fixed)", ""),
    "units_kept_by_a_sum": _weak(
        totality.check_aggregate, "release.aggregate.kind not in printed", "False"
    ),
    "extreme_that_is_a_sum": _weak(
        totality.check_aggregate, "UnitExtreme() | KeptUnits()", "KeptUnits()"
    ),
    "partitions_with_sums": _weak(
        totality.check_aggregate, "printed = (*_ENDS, AggregateKind.AVG)", "return"
    ),
    "key_beside_one_that_is_fixed": _weak(fixed_columns.most_groups, "if not kept]", "if False]"),
    "listed_number_of_several_scales": _weak(
        fixed_columns._is_listed_by_text, "has_one_form(column.type) or", "True or"
    ),
    "listed_float_of_two_signs": _weak(
        fixed_columns.most_groups, "map(_is_listed_by_text, others)", "key.values for key in others"
    ),
    "selection_of_listed_groups": _weak(
        block_price._prices,
        "has_private != (block.selection is not None)",
        "has_private and block.selection is None",
    ),
}
_OF_KINDS = {
    "list_with_a_further_table": _weak(
        column_types._check_list, "check_alias(listed.alias)", "pass"
    ),
    "aggregate_of_an_unknown_column": _weak(
        block_price._check_parts, "if not columns_in(", "if False and not columns_in("
    ),
    "sum_of_no_operand": _weak(measurements.price_of_sum, "is_of_nothing or", ""),
    "number_over_a_column": _weak(
        truncation_rules._check_columns, "cut.place in cut.columns", "False"
    ),
    "partitions_by_another_type": _weak(
        column_types.check_column, "not holds(column.type, there)", "False"
    ),
    "deviations_of_groups_by_choice": _weak(
        measurements.price_of_deviation_mean, "shape.count is None", "False"
    ),
    "deviations_withheld": _weak(
        block_price._check_choices,
        "not block.withheld.isdisjoint(block.deviation_means)",
        "False",
    ),
    "deviations_of_rows": _weak(
        measurements.price_of_deviation_mean,
        "not isinstance(shape.neighbours, UnitNeighbours)",
        "False",
    ),
    "squares_on_credit": _weak(
        measurements._spent_on_squares, "min(spent.cells, spent.squares) <= 0", "False"
    ),
    "squares_for_more_than_it_has": _weak(
        measurements.price_of_deviation_mean, " or spent.least <= 0", ""
    ),
    "centre_beyond_the_range": _weak(measurements.check_centres, "abs(centre) > farthest", "False"),
    "single_rows_of_several": _weak(
        measurements.check_centres, "centres.is_single and centres.rows != 1", "False"
    ),
    "public_join_without_key": _weak(join_rules.public_join, "default=None", "default=1"),
    "cut_by_a_key_keeps_more": _weak(
        join_rules._repeated, "changed=rows.changed * times", "changed=rows.changed"
    ),
    "window_over_all": _weak(
        attribution.window_rule,
        "not isinstance(first, ColumnRef) or name(first) not in owner.columns",
        "False",
    ),
    "grouped_by_another_column": _weak(
        attribution.group_rule, "or name(grouped.unit) not in owner.columns", ""
    ),
    "cut_keeps_rows_of_nobody": _weak(
        truncation_rules._cut_by, "keys if by in present else None", "keys"
    ),
    "truncated_join_made_outer": _weak(
        join_rules._joined_by, "2 if join.left_outer and b.in_place != y else 1", "1"
    ),
    "join_loses_the_unit": _weak(
        join_rules._owner_of_join, "if on_one_unit(a, b, pairs)", "if True"
    ),
    "rows_without_their_unit_stay": _weak(
        join_rules.unit_join, "join.left_outer and not a.columns", "False"
    ),
    "keys_without_a_seed": _weak(
        join_rules.check_work_of_others,
        "if join.is_seeded or any(isinstance(owner, Public) for owner in owners):",
        "if True:",
    ),
    "noise_halved": _weak(
        measurements.price_of_noise, "noise.scale * loss.epsilon < moved.l1", "False"
    ),
    "gate_too_quiet": _weak(
        measurements.price_of_sample_aggregate,
        "release.gate.noise.scale * release.gate.loss.epsilon < of_gate(shape).l1",
        "False",
    ),
    "median_sees_more": _weak(
        measurements._check_mechanism, "not each_median(shape, left).covers(each)", "False"
    ),
    "median_without_delta": _without_its_theorem("delta <= 0"),
    "median_with_delta_above_its_theorem": _without_its_theorem("delta > Fraction(7, 10)"),
    "median_of_even_partitions": _weak(measurements.check_median, "partitions % 2 == 0", "False"),
    "median_of_a_smoothness_that_is_not_computed": _weak(
        measurements.check_median, "smooth_sensitivity.SMALLEST_BETA <= smoothness", "True"
    ),
    "fill_outside": _weak(
        measurements._check_outputs, "not release.low <= release.fill <= release.high", "False"
    ),
    "selection_for_nothing": _weak(
        measurements.price_of_selection, "not most.covers(each)", "False"
    ),
    "decision_without_epsilon": _weak(
        measurements.price_of_selection,
        "partition_selection.release_probability(1, each.epsilon, each.delta, selection.fewest)",
        "pass",
    ),
    "decision_without_delta": _weak(
        measurements.price_of_selection,
        "partition_selection.release_probability(1, each.epsilon, each.delta, selection.fewest)",
        "pass",
    ),
    "selection_of_smaller_groups": _weak(
        fewest_units.check_fewest_units,
        "block.selection.fewest < counted_of(units, block.neighbours)",
        "False",
    ),
    "smallest_group_forgotten": _weak(
        fewest_units.check_fewest_units,
        'raise NotPrivate(Rule.FEWEST_UNITS, "groups without a number of units")',
        "return",
    ),
    "smallest_group_of_fewer_units": _weak(
        fewest_units.check_fewest_units, "gate.units < units", "False"
    ),
    "smallest_group_of_fewer_rows": _weak(
        fewest_units.check_fewest_units, "gate.counted < least", "False"
    ),
    "smallest_group_by_what_is_not_there": _weak(
        fewest_units.check_fewest_units,
        "0 <= gate.release < len(block.releases)",
        "gate.release < len(block.releases)",
    ),
    "smallest_group_by_rows_of_units": _weak(
        fewest_units.check_fewest_units,
        'raise NotPrivate(Rule.FEWEST_UNITS, "a number that does not count units")',
        "return",
    ),
    "private_keys_shown": _weak(
        block_price._prices,
        "any(key.values is None for key in block.keys)",
        "False",
    ),
    "extreme_that_is_a_quantile": _weak(
        measurements.price_of_unit_extreme,
        "release.aggregate.fraction is not None",
        "False",
    ),
    "extreme_without_a_loss": _weak(
        measurements.price_of_unit_extreme, "release.loss.epsilon <= 0", "False"
    ),
    "size_for_all_of_the_loss": _weak(
        measurements.price_of_order_statistic, "release.own_loss.epsilon <= 0", "False"
    ),
    "size_with_less_noise": _weak(
        measurements.price_of_order_statistic,
        "release.size.noise.scale * release.size.loss.epsilon < size.l1",
        "False",
    ),
    "weights_of_rows_by_themselves": _weak(
        measurements._check_weights, "not isinstance(shape.neighbours, UnitNeighbours)", "False"
    ),
    "weights_in_private_groups": _weak(measurements._check_weights, "shape.count is None", "False"),
    "weights_of_an_extreme": _weak(
        measurements._check_weights, "release.aggregate.fraction is None or", ""
    ),
    "weights_of_no_rows": _weak(measurements._check_weights, "or release.measured.rows < 1", ""),
    "weights_by_bounds_that_fall": _weak(
        measurements.price_of_weight_choice,
        "list(chosen.bounds) != sorted({1, *chosen.bounds}) or",
        "",
    ),
    "weights_by_a_bound_of_no_rows": _weak(
        measurements.price_of_weight_choice, "or min(chosen.bounds) < 1", ""
    ),
    "weights_chosen_of_rows_by_themselves": _weak(
        measurements.price_of_weight_choice,
        "not isinstance(shape.neighbours, UnitNeighbours)",
        "False",
    ),
    "rows_of_nobody_counted": _weak(
        block_price.check_rows,
        "rows.not_null is None or name(rows.not_null) not in owner.columns",
        "False",
    ),
    "unit_taken_for_one_row": _weak(
        block_price.check_rows,
        "not owner.alone and not one_number(block.where, owner.numbered)",
        "False",
    ),
    "fewer_rows_believed": _weak(block_price.check_rows, "rows.rows < owner.changed", "False"),
    "fewer_partitions": _weak(
        block_price._check_partitions,
        "min(touched, default=owner.changed) > partitions",
        "False",
    ),
    "key_of_another_side": _weak(fixed_columns.is_fixed, "columns_in(expression) <= fixed", "True"),
    "gathered_by_another_column": _weak(
        block_price.check_units, "or name(units.column) not in owner.columns", ""
    ),
}
_OF_RELATIONS = {
    "one_row_pushes_out_none": _weak(truncation_rules.key_cut, "2 if is_first else 1", "1"),
    "partners_of_an_outer_join_hold_the_unit": _weak(
        join_rules.unit_join,
        "a.columns if join.left_outer else a.columns | b.columns",
        "a.columns | b.columns",
    ),
    "any_part_of_a_union_holds_the_unit": _weak(
        attribution.union_rule, "and all(is_so(owner, c)", "and any(is_so(owner, c)"
    ),
    "any_name_is_the_unit_or_null": _weak(
        join_rules.unit_join,
        "(b.columns if join.left_outer else NO_COLUMNS)",
        "frozenset(column for column, _ in b.named)",
    ),
    "groups_of_a_unit_are_one": _weak(attribution.group_rule, "alone=is_alone", "alone=True"),
    "a_side_names_joined_rows": _weak(join_rules._keys, "if once_right:", "if True:"),
    "outer_partners_are_touched": _weak(
        join_rules._joined_by, "a.filled if join.left_outer else", ""
    ),
    "public_partners_of_any_column_are_fixed": _weak(
        fixed_columns._fixed_partners, "if x in fixed", ""
    ),
    "several_public_partners_are_fixed": _weak(
        fixed_columns._fixed_partners, "if is_one else NO_COLUMNS", ""
    ),
    "functions_of_any_column_are_fixed": _weak(
        fixed_columns.is_fixed, "columns_in(expression) <= fixed", "True"
    ),
    "windows_over_some_rows_are_fixed": _weak(
        fixed_columns._is_of_all_rows, "return is_whole", "return True"
    ),
    "parts_of_a_union_fix_alike": _weak(
        attribution.union_rule,
        "named=frozenset(named),",
        "named=frozenset(named), fixed=frozenset(types),",
    ),
}
_HOLES = {hole.name: hole for hole in HOLES}


def test_each_weakening_is_of_the_code_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for weakened in (*_OF_HOLES.values(), *_OF_KINDS.values(), *_OF_RELATIONS.values()):
        with monkeypatch.context() as patch:
            weakened.put(patch)


@pytest.mark.parametrize("name", _OF_HOLES)
def test_a_hole_gets_through(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _OF_HOLES[name].put(monkeypatch)
    hole = _HOLES[name]
    judge(hole.make(), World(POLICIES[hole.policy], CATALOG))


def _broken(kind: str) -> Iterator[tuple[Tampered, Any]]:
    for _, world, block in golden_blocks():
        of = Tampered(block=block, world=world)
        try:
            yield of, KINDS[kind](of)
        except NotPrivate:
            continue


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", _OF_KINDS)
def test_broken_plans_get_through(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [(of, plan) for of, plan in _broken(kind) if plan not in (None, of.block)]
    _OF_KINDS[kind].put(monkeypatch)
    lived = 0
    most, _ = EQUIVALENT.get(kind, (0, ""))
    for of, plan in made:
        try:
            judge(plan, of.world)
        except NotPrivate:
            continue
        lived += 1
        if lived > most:
            return
    raise AssertionError("all of them are refused all the same")


_RELATIONS = 4_000


def _window_over_a_table(maker: RelationMaker) -> Relation:
    while not (found := maker.subquery(maker.scan())).windows:
        pass
    return found


# Of any relations these differ in one of some thousands.
_NEAR: dict[str, Callable[[RelationMaker], Relation]] = {
    "groups_of_a_unit_are_one": lambda maker: maker.group(1),
    "windows_over_some_rows_are_fixed": _window_over_a_table,
}


def _any_relation(maker: RelationMaker) -> Relation:
    return maker.relation(maker.random.choice((2, 3, 3, 4)))


@pytest.mark.every(14)
@pytest.mark.parametrize("name", _OF_RELATIONS)
def test_a_claim_does_not_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of relations of which the weakened kernel claims something else than the real one."""
    world, maker, database = World(POLICY, CATALOG), RelationMaker(Random(11)), tiny_database()
    real = attribution.relation_of
    for number in range(_RELATIONS):
        if number % 40 == 0:
            database.fill(maker.rows())
        relation = _NEAR.get(name, _any_relation)(maker)
        claims: list[Known | None] = []
        for weakened in (False, True):
            with monkeypatch.context() as patch:
                if weakened:
                    _OF_RELATIONS[name].put(patch)
                try:
                    claims.append(real(relation, world))
                except NotPrivate:
                    claims.append(None)
        weakly = claims[1]
        if weakly is None or claims[0] == weakly:
            continue
        try:
            if Claims(database, relation, weakly).broken():
                return
        except psycopg.Error:
            continue
    raise AssertionError("each claim holds all the same")
