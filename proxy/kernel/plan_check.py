"""The last word about a plan: it is private at the price that is charged, whatever made it.

Believed are the policy and the catalogue. Of a plan nothing is believed: neither types nor keys, neither
sensitivities nor whose rows are in it. A refusal is a Fault: whatever made the plan was wrong.

Not looked at: that SQL means what the plan says (compiler, tests/audit), that it never raises on a row and
what a row costs, and that listed keys are public: whoever makes plans reads no protected row, which is a
contract of imports.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from typing_extensions import assert_never

from proxy.accounting.events import Event
from proxy.kernel.attribution import one_number, relation_of
from proxy.kernel.column_types import (
    check_column,
    check_expressions,
    is_grouped_in_one_form,
)
from proxy.kernel.fixed_columns import fixed_columns
from proxy.kernel.measurements import (
    check_centres,
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
    PrivatePlan,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.plan_digest import plan_digest
from proxy.kernel.price import NOTHING_PAID, Price, price_of_events
from proxy.kernel.refusals import NotCovered, NotPrivate, Rule
from proxy.kernel.shape import shape_of
from proxy.kernel.world import World


def check_plan(plan: PrivatePlan, events: Iterable[Event], world: World) -> tuple[Price, ...]:
    """Let a plan pass that is private at the price of its events.

    Privacy: basic composition over blocks and releases; rho adds up (PROOFS.md 5, 16). What is charged
    covers the price in every currency, and the loss that the plan states covers epsilon and delta.

    Args:
        plan: The plan of a statement, before any bound is chosen.
        events: What is charged for it.
        world: Policy and catalogue.

    Returns:
        The price of each block.

    Raises:
        NotPrivate: With the digest of the plan.
    """
    try:
        prices = tuple(price_of_block(block, world) for block in plan.blocks)
        total = sum(prices, NOTHING_PAID)
        if not plan.loss.covers(total.loss):
            raise NotPrivate(Rule.PRICE, "a loss below what it costs")
        if not price_of_events(events).covers(total):
            raise NotPrivate(Rule.PRICE, "a charge below what it costs")
    except NotPrivate as refused:
        refused.digest = plan_digest(plan.blocks, world.naming_key)
        raise
    return prices


def check_bounded(block: BlockPlan, of: BlockPlan, charged: Price, world: World) -> None:
    """Let a block pass that is drawn with bounds which were chosen after it was charged.

    Privacy: its price is counted anew, from the noise that is drawn, and is no more in any currency than
    what was charged before the choice (PROOFS.md 23 B3 says so of epsilon; of rho see
    `measurements.price_of_noise`). It is the same question, so it reads what was charged.

    Args:
        block: The block with bounds.
        of: The block that was charged.
        charged: The price of that.
        world: Policy and catalogue.

    Raises:
        NotPrivate: With the digest of the block.
    """
    try:
        if _question_of(block) != _question_of(of):
            raise NotPrivate(Rule.PRICE, "another question than was charged")
        if not charged.covers(price_of_block(block, world, is_bounded=True)):
            raise NotPrivate(Rule.PRICE, "a bound that made it dearer")
    except NotPrivate as refused:
        refused.digest = plan_digest([block], world.naming_key)
        raise


def check_centred(block: BlockPlan, of: BlockPlan) -> None:
    """Let a block pass that is drawn about centres which were released after it was checked.

    Privacy: nothing else has changed, and centres change no price (PROOFS.md 28 D3).

    Args:
        block: The block with centres.
        of: The block that was checked.

    Raises:
        NotPrivate: Something else has changed, or the centres are not those of its groups.
    """
    if replace(block, releases=of.releases) != of or len(block.releases) != len(of.releases):
        raise NotPrivate(Rule.DEVIATION_MEAN, "another block than was checked")
    for release, other in zip(block.releases, of.releases, strict=True):
        if not isinstance(release, DeviationMean):
            if release != other:
                raise NotPrivate(Rule.DEVIATION_MEAN, "another release than was checked")
            continue
        if replace(release, centres=None) != other:
            raise NotPrivate(Rule.DEVIATION_MEAN, "another mean than was checked")
        check_centres(release, len(block.listed_groups))


def check_top_up(block: BlockPlan, events: Iterable[Event], world: World) -> None:
    """Let a block pass that is drawn beside an answer which was shown: what is withheld draws nothing.

    Privacy: what was shown has been charged; the rest is drawn whatever that says, at its own price
    (PROOFS.md 26).

    Args:
        block: The block as it is drawn.
        events: What is charged for it.
        world: Policy and catalogue.

    Raises:
        NotPrivate: With the digest of the block.
    """
    try:
        if not price_of_events(events).covers(price_of_block(block, world)):
            raise NotPrivate(Rule.PRICE, "a charge below what it costs")
    except NotPrivate as refused:
        refused.digest = plan_digest([block], world.naming_key)
        raise


def _question_of(block: BlockPlan) -> object:
    return block.source, block.where, block.keys, block.combinations


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
    _check_parts(block, source, world)
    check_neighbours(block, source)
    is_open = block.chooses_rows or bool(block.value_choices)
    shape = shape_of(block, is_open and not is_bounded, fixed_columns(source))
    prices = [
        price_of_release(release, shape, is_bounded)
        for number, release in enumerate(block.releases)
        if number not in block.withheld
    ]
    if any(isinstance(one, SampleAggregate) for one in block.releases) and block.sub_partitions < 1:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "no partitions")
    if block.selection is not None:
        prices.append(price_of_selection(block.selection, shape))
    elif block.combinations is None and any(key.values is None for key in block.keys):
        raise NotPrivate(Rule.SELECTION, "private keys without a selection")
    if block.rows_choice is not None:
        if not isinstance(block.neighbours, UnitNeighbours):
            raise NotPrivate(Rule.CHOSEN_BOUND, "rows by themselves have no bound to choose")
        if block.chooses_rows and block.neighbours.rows not in block.rows_choice.bounds:
            raise NotPrivate(Rule.CHOSEN_BOUND, "a bound that is none of those to choose from")
        prices.append(price_of_choice(block.rows_choice))
    numbers = [one.number for one in block.value_choices]
    if block.weight_choice is not None:
        numbers.append(block.weight_choice.number)
    if len(set(numbers)) < len(numbers) or not block.total_choices.keys().isdisjoint(numbers):
        raise NotPrivate(Rule.CHOSEN_VALUE, "two bounds of one name")
    prices += [price_of_value_choice(one, shape) for one in block.value_choices]
    if block.weight_choice is not None:
        prices.append(price_of_weight_choice(block.weight_choice, shape))
    return sum(prices, NOTHING_PAID)


def _check_parts(block: BlockPlan, source: Known, world: World) -> None:
    """All expressions of the block are of the row at hand."""
    parts = (
        block.where,
        tuple(key.expression for key in block.keys),
        tuple(map(_measured_of, block.releases)),
        tuple(one.measured for one in block.value_choices),
    )
    check_expressions(parts, source.types, world)


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
            raise NotCovered(Rule.NOISE, "a release that is not in the list")


def check_neighbours(block: BlockPlan, source: Known) -> None:
    """Let a block pass of which what it says of neighbours is true of its source.

    Privacy: `check_units`, `check_rows`.

    Args:
        block: The block.
        source: What is known of its source.

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
    """
    for column in (*rows.hashed_by, *(() if rows.not_null is None else (rows.not_null,))):
        check_column(column, source.types)
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
                _check_partitions(rows, hashed, owner, source)
        case Public():
            raise NotPrivate(Rule.NEIGHBOURS, "rows of nobody")
        case _:
            assert_never(source.owner)


def _check_partitions(rows: RowNeighbours, hashed: ColumnNames, owner: Rows, source: Known) -> None:
    """Rows that change are in as many partitions as they have values, if equal values have one hash."""
    touched = [most for columns, most in owner.touched if hashed and hashed <= columns]
    if rows.partitions is None or min(touched, default=owner.changed) > rows.partitions:
        raise NotPrivate(Rule.NEIGHBOURS, "rows that change are in more partitions")
    if not all(is_grouped_in_one_form(source.types[column]) for column in hashed):
        raise NotPrivate(Rule.NEIGHBOURS, "partitions by values that are hashed in several forms")
