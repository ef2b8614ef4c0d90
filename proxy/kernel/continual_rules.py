"""Which blocks may have noise for all groups together: series, and days that are released at once."""

from __future__ import annotations

from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.well_formed import check_well_formed
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.query.ir.expressions import InPublic
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, relations_of


def check_series(block: BlockPlan, policy: Policy) -> None:
    """Let a block pass that is no series, or whose groups are the steps of one.

    Claim: One unit is in so many steps as `neighbours.groups` says. Where all are read at once, SQL sees to it,
        whichever steps it keeps (PROOFS.md 33 C6). Else it is so whenever each step is read, if rows are only
        added (C3): the rows of the block only become more then, and SQL keeps the first steps of a unit, in the
        order of their texts, in which they are listed. Nothing else is drawn of the block: neither bounds nor
        groups are chosen, as they would be anew at each step.

    Raises:
        NotPrivate: One of these conditions does not hold.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import WORLD, series_block
    >>> check_series(series_block(), WORLD.policy)
    >>> hashed = replace(series_block().neighbours, is_in_order=False)
    >>> check_series(replace(series_block(), neighbours=hashed), WORLD.policy)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not block.continual:
        return
    if len(block.continual) < len(block.releases):
        raise NotPrivate(Rule.CONTINUAL, "another release beside those of a series")
    if len({noise.is_at_once for noise in block.continual.values()}) > 1:
        raise NotPrivate(Rule.CONTINUAL, "a series beside what is drawn at once")
    if block.selection is not None or block.choices or block.fewest is not None:
        raise NotPrivate(Rule.CONTINUAL, "something else that is drawn at each step")
    if block.withheld or block.sub_partitions or block.uses_answers:
        raise NotPrivate(Rule.CONTINUAL, "steps that are not alike")
    if len(block.keys) != 1 or block.combinations is not None:
        raise NotPrivate(Rule.CONTINUAL, "groups that are no steps")
    values = block.keys[0].values or ()
    texts = [value for value in values if value is not None]
    if len(texts) < len(values) or len(texts) < 2 or texts != sorted(set(texts)):
        raise NotPrivate(Rule.CONTINUAL, "steps that are not listed in their order")
    if not block.is_stepwise:
        return
    units = block.neighbours
    if isinstance(units, UnitNeighbours) and not units.is_in_order:
        raise NotPrivate(Rule.CONTINUAL, "steps of a unit that are not its first ones")
    if not only_grows(block, policy):
        raise NotPrivate(Rule.CONTINUAL, "rows that may go when others come")


def only_grows(block: BlockPlan, policy: Policy) -> bool:
    """Whether rows of a block stay there when rows are added to its tables.

    Claim: A row of a filter or an inner join is there if some stored rows are, and is in one step, whatever
        else is there. That is not so of what windows, GROUP BY, cuts of rows and outer joins make. Public rows
        may change without a word, so no part of the block looks into them, its keys least of all.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import WORLD, columns_of, numbered_visits, series_block
    >>> plain, numbered = columns_of("visits", "uid"), numbered_visits("uid")
    >>> [only_grows(replace(series_block(), source=one), WORLD.policy) for one in (plain, numbered)]
    [True, False]
    """
    if InPublic in check_well_formed(block, BlockPlan):
        return False
    return all(_only_grows(one, policy) for one in relations_of(block.source))


def _only_grows(relation: Relation, policy: Policy) -> bool:
    match relation:
        case Scan():
            is_protected = isinstance(policy.tables.get(relation.table), ProtectedTable)
            return is_protected and relation.copy is None  # whose rows are replaced
        case Subquery():
            return not relation.windows
        case Join():
            return not (relation.left_outer or relation.is_lookup)
        case _:
            return False
