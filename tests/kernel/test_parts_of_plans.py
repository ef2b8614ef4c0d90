"""What a plan says of its own parts: each is left out by the condition that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.plan import (
    BlockPlan,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    Release,
    read_tables,
    with_centres,
)
from proxy.kernel.statistics import Statistic
from proxy.mechanisms.loss import Loss
from proxy.planner.neighbours import choice_of
from proxy.query.ir.expressions import Is
from proxy.query.ir.query_aggregates import AggregateKind
from tests.kernel.examples import (
    WORLD,
    centres,
    columns_of,
    deviation_mean,
    distinct_count,
    kept_units,
    key_plan,
    maximum,
    measured,
    of_table,
    quantile,
    scan,
    shape,
    value_choice,
    weight_choice,
)
from tests.pipeline_world import walk

_CHOICE = choice_of(Loss(Fraction(1), Fraction(0)), 100)
_GIVEN = replace(_CHOICE, is_given=True)
_TOTAL = UnitTotal(low=0, high=100, parts=1, choice=_CHOICE)
_KEY = key_plan("t", ("x", "y"))
_CONDITION = Is(of_table("r1", "people", "i4"), None)
_OF_VALUES, _OF_WEIGHTS = value_choice(Fraction(1)), weight_choice(Fraction(10))


def _sum(statistic: Statistic, total: UnitTotal | None = None) -> NoisyStatistic:
    return NoisyStatistic(
        aggregate=maximum(keeps_one_group=True).aggregate,
        statistic=statistic,
        of=(replace(measured(0, 100), grid=Fraction(2)),),
        noise=LaplaceNoise(scale=Fraction(1)),
        loss=Loss(Fraction(3), Fraction(0)),
        total=total,
    )


_ROWS, _STEPS = _sum(Statistic.ROWS), _sum(Statistic.STEPS)
_CENTRED, _CUT = _sum(Statistic.CENTRED), _sum(Statistic.STEPS, _TOTAL)
_MEAN = deviation_mean(0, 10, Fraction(1))
_OF_UNITS, _OF_OTHERS = distinct_count(of_unit=True), distinct_count(of_unit=False)
_FROM_AN_END = quantile(rows=1, weights=False)
_FROM_AN_END = replace(
    _FROM_AN_END,
    needed=10,
    aggregate=replace(_FROM_AN_END.aggregate, kind=AggregateKind.MAX, fraction=None),
)


def _of_people(*releases: Release, **other: object) -> BlockPlan:
    found = walk("SELECT count(*) FROM people")
    assert found is not None
    return replace(found.plan.blocks[0], releases=releases, **other)  # type: ignore[arg-type]


def _of_units(*releases: Release, **other: object) -> BlockPlan:
    return _of_people(*releases, neighbours=shape(1, None).neighbours, **other)


def _ends(change: Callable[[OrderStatistic], OrderStatistic], **other: object) -> bool:
    return _of_people(change(_FROM_AN_END), **other).looks_at_ends([0])


def _same(one: OrderStatistic) -> OrderStatistic:
    return one


def test_the_ends_of_a_whole_table_are_looked_at() -> None:
    assert _ends(_same)
    assert not _ends(_same, where=_CONDITION)
    assert not _ends(_same, keys=(_KEY,))
    assert not _ends(_same, source=columns_of("people", "i4"))
    assert not _of_units(_FROM_AN_END).looks_at_ends([0])
    assert not _of_people(maximum(keeps_one_group=True)).looks_at_ends([0])
    median = replace(_FROM_AN_END.aggregate, kind=AggregateKind.QUANTILE_DISC)
    weights = quantile(rows=1, weights=True).weights
    for other in ({"needed": None}, {"aggregate": median}, {"weights": weights}):
        assert not _ends(lambda one, other=other: replace(one, **other))  # type: ignore[misc]
    filtered = replace(_FROM_AN_END.measured, condition=_CONDITION)
    assert not _ends(lambda one: replace(one, measured=filtered))


def test_each_choice_has_its_name() -> None:
    block = _of_units(_CUT, _ROWS, rows_choice=_CHOICE)
    assert block.choices == {None: _CHOICE, 0: _CHOICE}
    of_values = replace(block, value_choices=(replace(_OF_VALUES, number=1),))
    assert of_values.choices == {None: _CHOICE, 0: _CHOICE, 1: _OF_VALUES.choice}
    of_weights = replace(_OF_WEIGHTS, number=1)
    assert replace(block, weight_choice=of_weights).choices[1] == of_weights
    assert block.chooses_rows and not replace(block, rows_choice=_GIVEN).chooses_rows


def test_a_choice_is_for_its_releases() -> None:
    of_values = replace(_OF_VALUES, number=1, releases=frozenset({1, 2}))
    of_weights = replace(_OF_WEIGHTS, number=3, releases=frozenset({3, 8}))
    block = _of_units(
        *(_CUT, _ROWS, _OF_OTHERS, quantile(rows=1, weights=True), _OF_UNITS, _MEAN),
        *(maximum(keeps_one_group=True), kept_units(keeps_one_group=True)),
        quantile(rows=1, weights=True),
        rows_choice=_CHOICE,
        value_choices=(of_values,),
        weight_choice=of_weights,
    )
    wanted = {None: {1, 2}, 0: {0}, 1: {1, 2}, 3: {3, 8}}
    assert {choice: set(block.bounded_by(choice)) for choice in wanted} == wanted
    assert [block.is_of_weights(choice) for choice in (3, 1, None)] == [True, False, False]
    assert not replace(block, weight_choice=None).is_of_weights(3)
    assert block.value_choice(1) == of_values and block.value_choice(2) is None


_SHARED = (_CUT, _ROWS, _CENTRED, _MEAN)


def test_sums_that_follow_from_totals() -> None:
    block = _of_units(*_SHARED, rows_choice=_CHOICE)
    assert block.sums_of_totals == (1, 2) and block.is_of_totals
    for other in (
        replace(block, releases=(*_SHARED, _STEPS)),
        replace(block, releases=(*_SHARED, _OF_UNITS)),
        replace(block, keys=(_KEY,)),
        replace(block, value_choices=(_OF_VALUES,)),
        replace(block, weight_choice=_OF_WEIGHTS),
        replace(block, rows_choice=_GIVEN),
        replace(block, rows_choice=None),
    ):
        assert other.sums_of_totals == () and not other.is_of_totals


def test_what_is_of_totals_has_totals() -> None:
    alone = _of_units(_CUT)
    assert alone.is_of_totals
    assert not _of_units(_MEAN).is_of_totals
    assert not replace(alone, keys=(_KEY,)).is_of_totals
    chosen = replace(_of_units(_ROWS), value_choices=(_OF_VALUES,))
    assert not chosen.is_of_totals
    assert not replace(_of_units(_ROWS), weight_choice=_OF_WEIGHTS).is_of_totals


def test_groups_are_those_that_are_listed() -> None:
    block = _of_people(_ROWS, keys=(_KEY,))
    assert block.listed_groups == (("x",), ("y",)) and block.groups() == 2
    some = replace(block, combinations=(("y",),))
    assert some.listed_groups == (("y",),) and some.groups() == 1
    private = replace(block, keys=(key_plan("t", None),))
    assert private.listed_groups == () and private.groups() is None


def test_what_is_withheld_is_not_drawn() -> None:
    block = _of_people(_ROWS, _STEPS, withheld=frozenset({0}))
    assert block.drawn_releases == ((1, _STEPS),)


def test_different_values_are_read_apart() -> None:
    assert _of_units(_OF_OTHERS, _OF_UNITS).read_apart == ((0,),)
    assert _of_people(_OF_OTHERS).read_apart == ()
    assert _of_people(_OF_OTHERS, sub_partitions=3).read_apart == ((0,),)


def test_what_choosing_costs_is_no_noise() -> None:
    assert _STEPS.noise_loss == _STEPS.loss
    assert _CUT.noise_loss.epsilon == 2
    assert _STEPS.grid == 2 and _ROWS.grid == _CENTRED.grid == 1


@pytest.mark.parametrize(
    ("table", "read"),
    [
        ("lines", {"lines", "orders"}),
        ("visits", {"visits"}),
        ("people", {"people"}),
        ("rates", {"rates"}),
    ],
)
def test_tables_that_are_read(table: str, read: set[str]) -> None:
    block = _of_people(source=scan("r1", table))
    names = {TableName("w", name) for name in read}
    assert read_tables(block, WORLD.policy) == names


def test_a_count_has_no_grid() -> None:
    found = walk("SELECT count(i4) FROM people")
    assert found is not None
    release = found.plan.blocks[0].releases[0]
    assert isinstance(release, NoisyStatistic)
    assert replace(release, statistic=Statistic.STEPS).grid == 1
    assert release.aggregate.type is SqlType.INT8


def test_a_mean_whose_centres_were_not_released_stays_as_it_is() -> None:
    block = _of_units(_MEAN, _MEAN, _ROWS)
    centred = with_centres(block, {0: centres(-3)})
    assert centred.releases == (replace(_MEAN, centres=centres(-3)), _MEAN, _ROWS)
