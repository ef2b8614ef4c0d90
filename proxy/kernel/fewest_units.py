"""The smallest group that a policy lets show: which plans keep to it.

It is a promise of the policy beside differential privacy, which holds without it. Whether a group is shown is
decided by what is released, or by the selection that is paid, so it costs nothing (PROOFS.md 32).
"""

from __future__ import annotations

from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic, Release
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.statistics import Statistic
from proxy.policy.policy_model import Policy
from proxy.query.ir.relations import tables_of_rows


def check_fewest_units(block: BlockPlan, policy: Policy) -> None:
    """Let a block pass that shows no group of fewer units than the policy asks for, up to its stated chance.

    Claim: Of a group with fewer units the selection shows nothing, ever (32 M1); the answers of public groups
        are NULL, with `fewest_units.MISSED` as the chance that the noise of a count hides it (32 M2).

    Raises:
        NotPrivate: A smaller group might be shown.

    >>> from tests.kernel.examples import block_of_fewest, policy_of_fewest
    >>> check_fewest_units(block_of_fewest(11), policy_of_fewest(11))
    >>> check_fewest_units(block_of_fewest(10), policy_of_fewest(11))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    units = policy.fewest_units(tables_of_rows(block.source))
    if units <= 1:
        return
    if block.selection is not None and block.combinations is None:
        if block.selection.fewest < counted_of(units, block.neighbours):
            raise NotPrivate(Rule.FEWEST_UNITS, "a selection that shows smaller groups")
        return
    if not block.releases:  # keys that are public, and nothing else
        return
    gate = block.fewest
    if gate is None:
        raise NotPrivate(Rule.FEWEST_UNITS, "groups without a number of units")
    if gate.units < units:
        raise NotPrivate(Rule.FEWEST_UNITS, "smaller groups than the policy shows")
    if not 0 <= gate.release < len(block.releases):
        raise NotPrivate(Rule.FEWEST_UNITS, "a number of units that is not there")
    least = counted_by(block.releases[gate.release], gate.units, block.neighbours)
    if least is None:
        raise NotPrivate(Rule.FEWEST_UNITS, "a number that does not count units")
    if gate.counted < least:
        raise NotPrivate(Rule.FEWEST_UNITS, "fewer rows than so many units can have")


def counted_of(units: int, neighbours: Neighbours) -> int:
    """So many of what a selection counts are of as many units, whoever they are.

    Claim: Where units are gathered each counts once. Else one unit has `rows` rows at most, so that k - 1 units
        have rows (k - 1) at most, and one more row is of one more unit.

    >>> from tests.kernel.examples import row_shape
    >>> counted_of(11, row_shape(changed=3).neighbours)
    31
    """
    if isinstance(neighbours, UnitNeighbours):
        return units
    return neighbours.rows * (units - 1) + 1


def counted_by(release: Release, units: int, neighbours: Neighbours) -> int | None:
    """As `counted_of`, of a release. None: it does not count units, nor rows of which that is known.

    Claim: What a condition or a NULL leaves out makes the number smaller, never larger. Where units are
        gathered a count of them has each once. Of rows by themselves there are no more different values than
        rows, whatever a plan says that these are.

    >>> from tests.kernel.examples import distinct_count, row_shape, shape
    >>> of_units = distinct_count(of_unit=True)
    >>> counted_by(of_units, 11, shape(count=5, groups=None).neighbours)
    11
    >>> counted_by(of_units, 11, row_shape(changed=3).neighbours)
    31
    """
    match release:
        case DistinctCount(of_unit=True) if isinstance(neighbours, UnitNeighbours):
            return units
        case DistinctCount() | NoisyStatistic(statistic=Statistic.ROWS, total=None) if isinstance(
            neighbours, RowNeighbours
        ):
            return counted_of(units, neighbours)
        case _:
            return None
