"""The price of a block: whose rows it reads, and what all that is drawn of them costs.

Believed are the policy and the catalogue. Of a plan nothing is believed: neither types nor keys, neither
sensitivities nor whose rows are in it. A refusal is a Fault: whatever made the plan was wrong.

Not looked at: that SQL means what the plan says (compiler, tests/audit), and that listed keys are public:
whoever makes plans reads no protected row, which is a contract of imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from typing_extensions import assert_never

from proxy.kernel.attribution import relation_of
from proxy.kernel.column_types import (
    check_column,
    check_expressions,
    columns_in,
    is_grouped_in_one_form,
)
from proxy.kernel.continual_rules import check_series
from proxy.kernel.fewest_units import check_fewest_units
from proxy.kernel.fixed_columns import fixed_columns, fixed_times, most_groups
from proxy.kernel.measurements import (
    price_of_choice,
    price_of_release,
    price_of_selection,
    price_of_value_choice,
    price_of_weight_choice,
)
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.owners import ColumnNames, Known, OfUnit, Public, Rows, name
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.prepared_copies import check_copies
from proxy.kernel.price import NOTHING_PAID, Price
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.row_numbers import one_number
from proxy.kernel.shape import Shape, check_groups, shape_of
from proxy.kernel.totality import check_totality
from proxy.kernel.world import World
from proxy.query.ir.expressions import Parameter


def price_of_block(block: BlockPlan, world: World, is_bounded: bool = False) -> Price:
    """Price a block: all its releases, the selection of its groups, the choice of its bounds.

    Args:
        block: The block.
        world: Policy and catalogue.
        is_bounded: Whether the bounds that it chooses have been chosen.

    Raises:
        NotPrivate: Some rule refuses it.
    """
    source = relation_of(block.source, world)
    check_copies([block.source], world)
    _check_parts(block, source, world)
    check_totality(block, world)
    check_neighbours(block, source)
    check_groups(block)
    check_reach(block, source)
    check_fewest_units(block, world.policy)
    check_series(block, world.policy)
    _check_choices(block)
    is_open = block.chooses_rows or bool(block.value_choices)
    shape = shape_of(block, is_open=is_open and not is_bounded)
    return sum(_prices(block, shape, is_bounded), NOTHING_PAID).on(block.present)


def _prices(block: BlockPlan, shape: Shape, is_bounded: bool) -> Iterator[Price]:
    """The selection of groups, the choices of bounds, and each release that is drawn.

    Groups are shown by a selection if a key is private, else as they are listed. A selection among listed
    groups would show others as well, whose texts are not listed: 1.00 is found in a list of 1.
    """
    has_private = block.combinations is None and any(key.values is None for key in block.keys)
    if has_private != (block.selection is not None):
        raise NotPrivate(
            Rule.SELECTION, "private keys without a selection, or one of listed groups"
        )
    if block.selection is not None:
        yield price_of_selection(block.selection, shape)
    yield from map(price_of_choice, block.total_choices.values())
    for one in block.value_choices:
        yield price_of_value_choice(one, shape)
    if block.weight_choice is not None:
        yield price_of_weight_choice(block.weight_choice, shape)
    for _, release in block.drawn_releases:
        yield price_of_release(release, shape, is_bounded)


def check_reach(block: BlockPlan, source: Known) -> None:
    """Let a block pass whose units are in no more groups than it says.

    Privacy: a unit has one value of each key that is a function of columns that it fixes (PROOFS.md 27 K6).

    Raises:
        NotPrivate: A unit may be in more groups.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import WORLD, block_of, key_plan, scan
    >>> block = block_of(scan("r1", "visits"), keys=(key_plan("uid", None), key_plan("i2", ("1", "2"))))
    >>> visits = relation_of(block.source, WORLD)
    >>> check_reach(replace(block, reach=2), visits)
    >>> check_reach(replace(block, reach=1), visits)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if block.reach is None:
        return
    most = most_groups(block.keys, block.combinations, fixed_columns(source), fixed_times(source))
    if most is None or block.reach < most:
        raise NotPrivate(Rule.GROUPS, "a unit may be in more groups than the plan says")


def _check_choices(block: BlockPlan) -> None:
    """Partitions are there, bounds are of units, no two have one name, and what is withheld is not read.

    Withheld releases are not priced, and the compiler makes no statement for them. The scan of deviations is
    one for all means of the block, so none of these is withheld.
    """
    if not block.withheld.isdisjoint(block.deviation_means):
        raise NotPrivate(Rule.DEVIATION_MEAN, "a mean that is withheld and read with the others")
    if any(isinstance(one, SampleAggregate) for one in block.releases) and block.sub_partitions < 1:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "no partitions")
    if block.rows_choice is not None:
        if not isinstance(block.neighbours, UnitNeighbours):
            raise NotPrivate(Rule.CHOSEN_BOUND, "rows by themselves have no bound to choose")
        if block.chooses_rows and block.neighbours.rows not in block.rows_choice.bounds:
            raise NotPrivate(Rule.CHOSEN_BOUND, "a bound that is none of those to choose from")
    numbers = [one.number for one in block.value_choices]
    if block.weight_choice is not None:
        numbers.append(block.weight_choice.number)
    if len(set(numbers)) < len(numbers) or not block.total_choices.keys().isdisjoint(numbers):
        raise NotPrivate(Rule.CHOSEN_VALUE, "two bounds of one name")


def _check_parts(block: BlockPlan, source: Known, world: World) -> None:
    """All expressions of the block are of the row at hand.

    So are the columns of aggregates as they were written: they are read, though nothing is computed of them.
    """
    parts = (
        block.where,
        tuple(key.expression for key in block.keys),
        tuple(map(_measured_of, block.releases)),
        tuple(one.measured for one in block.value_choices),
    )
    check_expressions(parts, source.types, world)
    if not columns_in(tuple(one.aggregate for one in block.releases)) <= source.types.keys():
        raise NotPrivate(Rule.EXPRESSION, "a column that is not there")


def check_answers(block: BlockPlan, classes: Set[type]) -> None:
    """Let a block pass that says whether its rows are compared with the answer of an earlier block.

    Privacy: what is shown of such a block hangs on an answer that one analyst was shown, so it is kept apart by
    this (`engine.cached_answers`). All of the block is looked at but what is post-processing.

    Args:
        block: The block.
        classes: Of its nodes, by `check_well_formed`.

    Raises:
        NotPrivate: It says that there is none.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import block_with_an_answer
    >>> check_answers(block_with_an_answer(), {Parameter})
    >>> check_answers(replace(block_with_an_answer(), compared=frozenset()), {Parameter})
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not block.uses_answers and Parameter in classes:
        raise NotPrivate(Rule.EXPRESSION, "an answer of another block that the plan does not name")


def _measured_of(release: Release) -> object:
    match release:
        case NoisyStatistic():
            return release.of
        case DistinctCount():
            return release.operand, release.condition
        case (
            RecentredMean()
            | DeviationMean()
            | OrderStatistic()
            | SampleAggregate()
            | UnitExtreme()
            | KeptUnits()
        ):
            return release.measured
        case _:
            assert_never(release)


def check_neighbours(block: BlockPlan, source: Known) -> None:
    """Let a block pass of which what it says of neighbours is true of its source.

    Privacy: `check_units`, `check_rows`.

    Raises:
        NotPrivate: It is not.
    """
    match block.neighbours:
        case UnitNeighbours():
            check_units(block.neighbours, source)
        case RowNeighbours():
            check_rows(block, block.neighbours, source)
        case _:
            assert_never(block.neighbours)


def check_units(units: UnitNeighbours, source: Known) -> None:
    """Let neighbours pass that differ in the rows of one unit.

    Privacy: rows are gathered by a column that holds the unit, so what is gathered is of one unit; rows of
    nobody are left out (PROOFS.md 18).

    >>> from tests.kernel.examples import WORLD, scan, series_block
    >>> check_units(series_block().neighbours, relation_of(scan("r1", "visits"), WORLD))
    >>> check_units(series_block().neighbours, relation_of(scan("r1", "people"), WORLD))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    owner = source.owner
    if not isinstance(owner, OfUnit) or name(units.column) not in owner.columns:
        raise NotPrivate(Rule.NEIGHBOURS, "gathered by a column that does not hold the unit")
    check_column(units.column, source.types)
    bounds = (units.rows, units.groups, units.rows_per_group)
    if any(bound is not None and bound < 1 for bound in bounds):
        raise NotPrivate(Rule.NEIGHBOURS, "a bound below 1")


def check_rows(block: BlockPlan, rows: RowNeighbours, source: Known) -> None:
    """Let neighbours pass that differ in some rows.

    Privacy: as many rows change as the source says; a unit of one row is a row, if those of nobody are left
    out (PROOFS.md 18 U7). Partitions are by a hash of columns that are never NULL; the rows that change are
    in as many of them as they have values there (4, 17 "Medians").

    >>> from tests.kernel.examples import WORLD, block_of_fewest, joined_cuts, row_shape
    >>> changed = relation_of(joined_cuts(left_most=3, right_most=2), WORLD)
    >>> check_rows(block_of_fewest(2), row_shape(changed=10).neighbours, changed)
    >>> check_rows(block_of_fewest(2), row_shape(changed=9).neighbours, changed)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    for column in rows.hashed_by:
        check_column(column, source.types, may_be_place=True)
    if rows.not_null is not None:
        check_column(rows.not_null, source.types)
    hashed = frozenset(map(name, rows.hashed_by))
    if rows.rows < 1 or (rows.partitions is not None and rows.partitions < 1):
        raise NotPrivate(Rule.NEIGHBOURS, "a bound below 1")
    match source.owner:
        case OfUnit() as owner:
            if not owner.alone and not one_number(block.where, owner.numbered):
                raise NotPrivate(Rule.NEIGHBOURS, "several rows of a unit")
            if rows.not_null is None or name(rows.not_null) not in owner.columns:
                raise NotPrivate(Rule.NEIGHBOURS, "rows of nobody")
            if not hashed <= owner.columns:
                raise NotPrivate(Rule.NEIGHBOURS, "partitions by another column than the unit")
        case Rows() as owner:
            if rows.rows < owner.changed:
                raise NotPrivate(Rule.NEIGHBOURS, "more rows change")
            if not hashed <= owner.filled:
                raise NotPrivate(Rule.NEIGHBOURS, "partitions by a column that may be NULL")
            if rows.partitions is not None and rows.partitions < owner.changed:
                _check_partitions(rows.partitions, hashed, owner, source)
        case Public():
            raise NotPrivate(Rule.NEIGHBOURS, "rows of nobody")
        case _:
            assert_never(source.owner)


def _check_partitions(partitions: int, hashed: ColumnNames, owner: Rows, source: Known) -> None:
    """Rows that change are in as many partitions as they have values, if equal values have one hash."""
    touched = [most for columns, most in owner.touched if hashed and hashed <= columns]
    if min(touched, default=owner.changed) > partitions:
        raise NotPrivate(Rule.NEIGHBOURS, "rows that change are in more partitions")
    if not all(is_grouped_in_one_form(source.types[column]) for column in hashed):
        raise NotPrivate(Rule.NEIGHBOURS, "partitions by values that are hashed in several forms")
