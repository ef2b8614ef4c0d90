"""How much of a unit counts, and how far it moves a result: each bound where it alone is the least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic
from proxy.kernel.plan_digest import _DRAWN, plan_digest
from proxy.kernel.price import pure_price
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.sensitivities import (
    Sensitivity,
    of_distinct,
    of_step,
    rows_of_step,
    sensitivity_of,
)
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic, row_sensitivity
from proxy.mechanisms.loss import Loss
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from tests.kernel.examples import (
    measured,
    row_shape,
    shape,
    value_choice,
    weight_choice,
)
from tests.pipeline_world import walk

_COUNTED = Counted(operand=None, condition=None, never_null=False)


def _units(of: Shape, **other: object) -> Shape:
    assert isinstance(of.neighbours, UnitNeighbours)
    return replace(of, neighbours=replace(of.neighbours, **other))  # type: ignore[arg-type]


def _rows(changed: int, partitions: int | None) -> RowNeighbours:
    return RowNeighbours(rows=changed, hashed_by=(), not_null=None, partitions=partitions)


def _distinct(of: Shape, of_unit: bool) -> tuple[int, Fraction]:
    found = of_distinct(of, of_unit=of_unit)
    return found.l1, found.squared


def _sum(of: Counted | tuple[Measured, ...], total: UnitTotal | None = None) -> NoisyStatistic:
    return NoisyStatistic(
        aggregate=Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8),
        statistic=Statistic.ROWS if isinstance(of, Counted) else Statistic.STEPS,
        of=of,
        noise=LaplaceNoise(scale=Fraction(1)),
        loss=Loss(Fraction(1), Fraction(0)),
        total=total,
    )


_TOTAL = UnitTotal(low=0, high=50, parts=3, choice=None)
_NOT_SUMMED = _units(shape(count=5, groups=2, rows=2, rows_per_group=5), is_summed=False)
_IN_GROUPS = replace(row_shape(changed=3), neighbours=_rows(3, None), count=4, is_spread=True)
_IN_PARTITIONS = replace(_IN_GROUPS, neighbours=_rows(3, 1))
_BOUNDS: dict[str, tuple[Callable[[], object], object]] = {
    "groups of no rows": (lambda: shape(count=0, groups=None).groups, 1),
    "rows of fewer groups than rows": (lambda: _IN_GROUPS.groups, 3),
    "a group of rows": (lambda: row_shape(changed=3).groups, 1),
    "a group of units": (lambda: shape(count=1, groups=2).groups, 1),
    "values in a group": (lambda: shape(count=1, groups=2).values(keeps_one_group=False), 1),
    "values of rows": (lambda: _IN_GROUPS.values(keeps_one_group=True), 3),
    "fewer rows than in a group": (lambda: _NOT_SUMMED.rows, 4),
    "squares in one group": (lambda: shape(count=1, groups=2, rows_per_group=2).squared, 36),
    "fewer rows than in a step": (lambda: rows_of_step(shape(5, 2, rows=2, rows_per_group=5)), 2),
    "fewer rows than partitions": (lambda: _rows(2, 5).partitions_of_a_group, 2),
    "fewer rows than in groups": (lambda: _rows(3, 2).partitions_of(groups=2), 3),
    "different values of a unit": (lambda: _distinct(shape(5, 2), of_unit=False), (6, 36)),
    "units": (lambda: _distinct(shape(5, 2), of_unit=True), (2, 2)),
    "units of one row each": (lambda: _distinct(_IN_GROUPS, of_unit=True), (3, 9)),
    "a total": (
        lambda: sensitivity_of(_sum((measured(0, 7),), _TOTAL), shape(5, 2)),
        Sensitivity(l1=150, squared=Fraction(150**2)),
    ),
    "a step of a sum": (lambda: of_step(_sum((measured(0, 7),)), shape(5, 2)).each, 42),
    "steps below 0": (lambda: row_sensitivity(Statistic.STEPS, (measured(-3, 2),)), 3),
    "values of units of rows": (lambda: _distinct(_IN_PARTITIONS, of_unit=False), (3, 9)),
}


@pytest.mark.parametrize("name", _BOUNDS)
def test_the_least_bound_holds(name: str) -> None:
    found, wanted = _BOUNDS[name]
    assert found() == wanted


_NO_BOUND: tuple[tuple[str, Callable[[], object]], ...] = (
    ("groups of a unit without a bound", lambda: shape(count=None, groups=None).groups),
    ("rows of a unit without a bound", lambda: _units(shape(5, 2), is_summed=False).rows),
    *(
        (
            "a series of what is no count or sum of bounded rows",
            lambda of=of: of_step(_sum(of, _TOTAL), shape(5, 2)),
        )
        for of in (_COUNTED, (measured(0, 7),))
    ),
)


@pytest.mark.parametrize("number", range(len(_NO_BOUND)))
def test_what_has_no_bound_is_refused(number: int) -> None:
    where, bound = _NO_BOUND[number]
    with pytest.raises(NotPrivate) as refused:
        bound()
    assert refused.value.where == where


def _block(text: str) -> BlockPlan:
    found = walk(text)
    assert found is not None
    return found.plan.blocks[0]


def test_rows_are_gathered_by_group_where_there_are_several() -> None:
    whole, by_key = (
        _block(f"SELECT {keys}count(*) FROM visits{group}")
        for keys, group in (("", ""), ("b, ", " GROUP BY b"))
    )
    assert shape_of(by_key).is_spread
    assert not shape_of(replace(by_key, combinations=(("true",),))).is_spread
    assert not shape_of(replace(whole, combinations=())).is_spread


_OTHER = _block("SELECT t, count(*) FROM people WHERE i4 > 3 GROUP BY t")
_PARTS: dict[str, object] = {
    "combinations": (("x",),),
    "selection": 1,
    "rows_choice": value_choice(Fraction(1)).choice,
    "value_choices": (value_choice(Fraction(1)),),
    "weight_choice": weight_choice(Fraction(10)),
    "withheld": frozenset({0}),
    "sub_partitions": 3,
}


@pytest.mark.parametrize("name", _DRAWN)
def test_the_name_of_a_plan_is_of_each_part_that_is_drawn(name: str) -> None:
    block = _block("SELECT sum(i4) FROM visits")
    changed = replace(block, **{name: _PARTS.get(name, getattr(_OTHER, name))})  # type: ignore[arg-type]
    assert plan_digest([changed], b"a key") != plan_digest([block], b"a key")


def test_that_is_drawn_which_is_named() -> None:
    wanted = {*_PARTS, "source", "neighbours", "where", "keys", "releases"}
    assert set(_DRAWN) == wanted


def test_a_price_of_no_day_has_none() -> None:
    price = pure_price(Loss(Fraction(1), Fraction(0)))
    assert price.on(None).events == price.events != price.on("2026-11-28").events
