"""The last word about a plan: it is private at its price, whatever made it, and no unit's rows take too long.

What is compiled, charged and drawn is a `CheckedBlock`. Only the functions of this module make one. So what
runs is what was checked, and what is charged is its price. A block that was changed is another block: no
charge pays for it (`drawing/charges.py`).

This is a wall against mistakes: Python keeps nothing from code that wants to get around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, replace

from proxy.base.errors import Fault
from proxy.kernel.block_price import check_answers, price_of_block
from proxy.kernel.boundary import judging
from proxy.kernel.measurements import check_centres
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    NoisyStatistic,
    PrivatePlan,
    Release,
    with_centres,
)
from proxy.kernel.plan_digest import plan_digest
from proxy.kernel.price import NOTHING_PAID, Price
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.statistics import Counted
from proxy.kernel.units_in_time import budget_lines
from proxy.kernel.well_formed import check_well_formed
from proxy.kernel.work import TooMuchWork, check_work
from proxy.kernel.world import World
from proxy.mechanisms.deviation_mean import NoisyCentres
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.policy.blocks_of_time import is_block_line
from proxy.policy.policy_model import ProtectedTable
from proxy.query.ir.relations import tables_of_rows

_HERE = object()


def _refuse_elsewhere(made: object) -> None:
    if made is not _HERE:
        raise Fault("a plan that was not checked")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedBlock:
    """A block that may be compiled, charged and drawn. Two of them are never equal.

    Attributes:
        block: The block as it is drawn.
        price: Of all that is drawn for it. Of a block with bounds that were chosen, or with centres that were
            released: of what is drawn in the end.
        tables: The protected tables that it reads, and the budgets of blocks of time (`units_in_time`).
        world: Policy and catalogue that it was checked against.
        paid_as: The block whose charge pays for this one. None: its own.
    """

    block: BlockPlan
    price: Price
    tables: tuple[str, ...]
    world: World
    paid_as: CheckedBlock | None = None
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        _refuse_elsewhere(made)

    @property
    def loss(self) -> Loss:
        return self.price.loss

    @property
    def paid(self) -> CheckedBlock:
        """The block whose charge pays for this one."""
        return self if self.paid_as is None else self.paid_as


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedPlan:
    """What one charge is for: blocks of a statement. Each is drawn once under it.

    Attributes:
        blocks: In the order of the statement.
        price: Of all of them, by basic composition; rho adds up (PROOFS.md 5, 16).
        tables: What of it is drawn of each protected table, and of each block of time.
        private: The blocks as plain data, with their loss.
    """

    blocks: tuple[CheckedBlock, ...]
    price: Price
    tables: Mapping[str, Loss]
    private: PrivatePlan
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        _refuse_elsewhere(made)

    @property
    def loss(self) -> Loss:
        return self.private.loss


def check_plan(blocks: Sequence[BlockPlan], wanted: Loss, world: World) -> CheckedPlan:
    """Let a plan pass that is private at its price.

    Args:
        blocks: Of a statement, before any bound is chosen.
        wanted: What the statement may cost.
        world: Policy and catalogue.

    Raises:
        NotPrivate: With the digest of the plan.
        TooMuchWork: The rows of one unit take too long, or too much room.

    >>> from fractions import Fraction
    >>> from tests.kernel.examples import WORLD, series_block
    >>> wanted = check_plan([series_block()], Loss(Fraction(100), Fraction(1, 10)), WORLD).loss
    >>> check_plan([series_block()], Loss(wanted.epsilon / 2, wanted.delta), WORLD)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    with _judging(blocks, world):
        found = together([_checked(one, price_of_block(one, world), world) for one in blocks])
        if not wanted.covers(found.loss):
            raise NotPrivate(Rule.PRICE, "more than the statement may cost")
        check_work(blocks, world)
    return found


def together(blocks: Sequence[CheckedBlock]) -> CheckedPlan:
    """Put blocks under one charge: those of a statement that are drawn, or others instead of some.

    Privacy: each is private at its price, whatever the others are and say (PROOFS.md 5, 16). A charge that
        names blocks of time is to their budgets alone, and not to that of everybody together, so no block is
        beside them that has none (34 T3).

    Raises:
        NotPrivate: Some blocks are paid for by budgets of blocks of time, and others are not.

    >>> from proxy.base.sql_types import SqlType
    >>> from tests.kernel.examples import TIMED, block_of, checked_block, column, of_table, scan, visits_of
    >>> month, unit = visits_of(range(24_230, 24_231), "uid"), column("r1", "unit", SqlType.TEXT)
    >>> one = checked_block(block_of(month, unit=unit), TIMED)
    >>> str(together([one, one]).loss.epsilon)
    '2'
    >>> other = block_of(scan("r1", "members"), unit=of_table("r1", "members", "uid"))
    >>> together([one, checked_block(other, TIMED)])
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if len({any(map(is_block_line, one.tables)) for one in blocks if one.tables}) > 1:
        raise NotPrivate(Rule.UNIT_IN_TIME, "rows that two kinds of budgets pay for")
    losses = tuple(one.loss for one in blocks)
    tables: dict[str, Loss] = {}
    for one, loss in zip(blocks, losses, strict=True):
        for name in one.tables:
            tables[name] = tables.get(name, NOTHING) + loss
    price = sum((one.price for one in blocks), NOTHING_PAID)
    private = PrivatePlan(
        blocks=tuple(one.block for one in blocks),
        loss=price.loss,
        losses=losses,
    )
    return CheckedPlan(
        blocks=tuple(blocks), price=price, tables=tables, private=private, made=_HERE
    )


def check_bounded(block: BlockPlan, of: CheckedBlock) -> CheckedBlock:
    """Let a block pass that is drawn with bounds which were chosen after it was charged.

    Privacy: its price is counted anew, from the noise that is drawn, and is no more in any currency than
    what was charged before the choice (PROOFS.md 23 B3 says so of epsilon; of rho see
    `measurements.price_of_noise`). It is the same question, so it reads what was charged. What was drawn and
    read before is in it as it was: the choices, which were paid of the charge, and what was read with the
    totals of units, sums and means of deviations, as noise for others would not hide them.

    Args:
        block: The block with bounds.
        of: The block that was charged. It is checked against the same policy and catalogue.

    Raises:
        NotPrivate: With the digest of the block.
        Fault: Its rows take too long. That is seen before the charge: bounds change no row.

    >>> from fractions import Fraction
    >>> from tests.kernel.examples import WORLD, block_of, checked_block, counted, scan
    >>> of = checked_block(block_of(scan("r1", "visits")), WORLD)
    >>> check_bounded(of.block, of).paid is of
    True
    >>> dearer = replace(counted(noise=Fraction(1, 2)), loss=Loss(Fraction(2), Fraction(0)))
    >>> check_bounded(replace(of.block, releases=(dearer,)), of)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    world = of.world
    with _judging([block], world):
        if _question_of(block) != _question_of(of.block):
            raise NotPrivate(Rule.PRICE, "another question than was charged")
        if _choices_of(block) != _choices_of(of.block):
            raise NotPrivate(Rule.PRICE, "other choices of bounds than were drawn")
        if _read_before(block, of.block) != _read_before(of.block, of.block):
            raise NotPrivate(Rule.PRICE, "other sums than were read with the totals of units")
        price = price_of_block(block, world, is_bounded=True)
        if not of.price.covers(price):
            raise NotPrivate(Rule.PRICE, "a bound that made it dearer")
        try:
            check_work([block], world)
        except TooMuchWork:
            raise Fault from None
    return _made_of(of, block, price)


def check_centred(centres: Mapping[int, NoisyCentres], of: CheckedBlock) -> CheckedBlock:
    """Let a block pass that is drawn about centres which were released after it was checked.

    Privacy: the block is the one that was checked, and is made here, so nothing but the centres is new. They
    change no price (PROOFS.md 28 D3).

    Args:
        centres: Of means of the block, by their numbers.
        of: The block that was checked.

    Raises:
        NotPrivate: The centres are not those of its groups, or it has some. With the digest of the block.

    >>> from fractions import Fraction
    >>> from tests.kernel.examples import WORLD, block_of, centres, checked_block, deviation_mean, scan
    >>> of = checked_block(block_of(scan("r1", "visits"), deviation_mean(0, 10, Fraction(1))), WORLD)
    >>> check_centred({0: centres(-3)}, of).price is of.price
    True
    >>> check_centred({0: centres(-3, 4)}, of)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    with judging(lambda: plan_digest([of.block], of.world.naming_key)):
        means = of.block.deviation_means
        if not centres.keys() <= {number for number, one in means.items() if one.centres is None}:
            raise NotPrivate(Rule.DEVIATION_MEAN, "centres of no mean that waits for them")
        block = with_centres(of.block, centres)
        check_well_formed(block, BlockPlan)
        for mean in block.deviation_means.values():
            check_centres(mean, len(block.listed_groups))
    return _made_of(of, block, of.price)


def _checked(block: BlockPlan, price: Price, world: World) -> CheckedBlock:
    read = tables_of_rows(block.source)
    of_people = (name for name in read if isinstance(world.policy.tables[name], ProtectedTable))
    tables = (*map(str, of_people), *budget_lines(block.source, world))
    return CheckedBlock(block=block, price=price, tables=tables, world=world, made=_HERE)


def _made_of(of: CheckedBlock, block: BlockPlan, price: Price) -> CheckedBlock:
    return CheckedBlock(
        block=block, price=price, tables=of.tables, world=of.world, paid_as=of.paid, made=_HERE
    )


def _question_of(block: BlockPlan) -> object:
    return block.source, block.where, block.keys, block.combinations


def _choices_of(block: BlockPlan) -> object:
    """All that is drawn of a block to choose its bounds, whatever was chosen."""
    of_values = tuple(replace(one, bound=None) for one in block.value_choices)
    return block.total_choices, of_values, block.weight_choice


def _read_before(block: BlockPlan, of: BlockPlan) -> object:
    """What is read for the block that was charged, `of`, before its bounds are chosen, and drawn after."""
    numbers = (*of.sums_of_totals, *(of.deviation_means if of.is_of_totals else ()))
    kinds = [type(one) for one in block.releases]  # what was read is found by their places
    return block.is_of_totals, kinds, [_of_any_rows(block.releases[number]) for number in numbers]


def _of_any_rows(release: Release) -> object:
    """What is measured, whatever the noise and the number of rows that count."""
    match release:
        case NoisyStatistic(of=Counted()):
            return release.statistic, release.of
        case NoisyStatistic(of=tuple() as of):
            return release.statistic, tuple(replace(one, rows=1) for one in of)
        case DeviationMean():
            return replace(release, measured=replace(release.measured, rows=1))
        case _:
            raise NotPrivate(Rule.PRICE, "other sums than were read with the totals of units")


@contextmanager
def _judging(blocks: Sequence[BlockPlan], world: World) -> Iterator[None]:
    """The boundary, for blocks of which each part is of its type."""
    with judging(lambda: plan_digest(blocks, world.naming_key)):
        for block in blocks:
            check_answers(block, check_well_formed(block, BlockPlan))
        yield
