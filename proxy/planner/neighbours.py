"""How neighbours differ: in rows, or in all rows of a unit, within the bounds of a policy or of a choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Fault, Refusal
from proxy.kernel.bound_choices import BoundChoice, UnitTotal
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.sensitivities import OF_REPORT, laplace
from proxy.mechanisms import private_bound
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.facts import PlanningContext, ProtectedRows, PublicRows, RowOwnership, UnitRows
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.expression_walk import column_refs
from proxy.query.ir.relations import Relation, scans


def most_rows(ownership: RowOwnership, neighbours: Neighbours) -> int | None:
    """The largest bound on the rows of a unit, where one is chosen."""
    match ownership, neighbours:
        case UnitRows(is_chosen=True, is_unbounded=False), UnitNeighbours():
            return ownership.rows
        case _:
            return None


def neighbours_of(
    ownership: RowOwnership, groups: int | None, chosen: int | None, reach: int | None = None
) -> Neighbours:
    """Say how neighbours differ.

    Args:
        ownership: Whose rows they are.
        groups: How many groups are answered; None: unknown many.
        chosen: The bound on the rows of a unit, once it is chosen.
        reach: As `fixed_by_units.reach_of` gives it.
    """
    match ownership:
        case ProtectedRows():
            return RowNeighbours(
                rows=ownership.rows,
                hashed_by=ownership.hashed_by,
                not_null=None,
                partitions=ownership.partitions,
            )
        case UnitRows(unique=True, rows=1):
            # A key checked by the server: a unit is one row, nothing has to be bounded.
            return RowNeighbours(rows=1, hashed_by=(ownership.column,), not_null=ownership.column)
        case UnitRows():
            if groups is None and reach is None and lacks_bound(ownership):
                raise Fault  # check_private_keys comes first
            group_bound = min(ownership.rows, ownership.groups or ownership.rows)
            known = min((bound for bound in (groups, reach) if bound is not None), default=None)
            bound_groups = group_bound if known is None or group_bound < known else None
            # One group alone: the bound of all rows of the unit is the one that counts.
            per_group = ownership.rows_per_group if groups is None or groups > 1 else None
            most = group_bound if known is None else min(group_bound, known)
            rows = ownership.rows if chosen is None else chosen
            return UnitNeighbours(
                column=ownership.column,
                rows=rows,
                groups=bound_groups,
                rows_per_group=per_group,
                is_summed=per_group is None or rows < most * per_group,
                is_unbounded=ownership.is_unbounded,
            )
        case PublicRows():
            raise AssertionError("rows of a public table have no neighbours")
        case _:
            assert_never(ownership)


def check_private_keys(
    ownership: RowOwnership, keys: Sequence[tuple[int | None, KeyPlan]], reach: int | None
) -> None:
    """Private keys need a bound on the groups of a unit that is no choice of the statement's own.

    keys: each with its place in the statement; reach: as of neighbours_of

    Refuses  NO_BOUNDS: the policy has none
    """
    private = [(position, key) for position, key in keys if key.values is None]
    if not private or reach is not None or not lacks_bound(ownership):
        return
    position, key = private[0]
    column = next(column_refs(key.expression), None)
    name = "column" if column is None else column.column
    one, other = ("1", "2") if key.type.is_number else ("'a'", "'b'")
    message = "GROUP BY on keys that are not public needs a bound on the groups of a privacy unit"
    if column is not None and column.type.is_time:
        raise Refusal(
            Code.NO_BOUNDS,
            message,
            f"Group by date_trunc('day', {name}), or 'week' or 'month', or leave at most"
            f" {limits.GROUPS_PER_STATEMENT} groups in WHERE. Of a column without bounds in the policy ask the"
            " data owner for max_groups_per_unit.",
            position,
        )
    named = f"; or name those that you want, CASE {name} WHEN {one} THEN {one} WHEN {other} THEN {other} END"
    named *= column is key.expression
    raise Refusal(
        Code.NO_BOUNDS,
        message,
        f"Ask the data owner for `values` of {name}{named}; or ask the data owner for max_groups_per_unit. Of a"
        f" time or number with bounds WHERE has to leave at most {limits.GROUPS_PER_STATEMENT} groups.",
        position,
    )


def lacks_bound(ownership: RowOwnership) -> bool:
    """Whether private keys would need a bound on the groups of a unit that nobody has given."""
    return isinstance(ownership, UnitRows) and ownership.is_chosen and ownership.groups is None


# Rows that belong to nobody: their privacy unit is null, and no answer counts them (ADR 0012).


def columns_without_unit(source: Relation, known: PlanningContext) -> tuple[str, ...]:
    """Columns that name the unit of a row, or lead to it, and can be null."""
    return tuple(dict.fromkeys(_nullable(source, known)))


def _nullable(source: Relation, known: PlanningContext) -> Iterator[str]:
    for scan in scans(source):
        policy = known.policy.tables[scan.table]
        if isinstance(policy, ProtectedTable) and isinstance(policy.unit, IdentifierUnit):
            column = known.catalog.tables[scan.table].column(policy.unit.column)
            if column is not None and column.nullable:
                yield f"{column.name} of {scan.table}"


# --- Bounds on what a unit adds: given by the policy, or chosen privately when the statement runs.
#
# A COUNT or a SUM by itself has a bound of its own on what a unit adds in all groups together. Everything
# else of a block (shared sums, means, order statistics, distinct values) has one bound on the rows of a
# unit. A chosen bound is a part of the release that it is for, or a release of its own
# (proxy/mechanisms/PROOFS.md 23).


_WALK, _REPORT = Fraction(35, 100), Fraction(5, 100)  # of what is spent on a release with its bound
# Shares of a unit's groups are rounded down to so many parts of a row or grid step.
PARTS = 1024


def noise_loss(loss: Loss) -> Loss:
    """What is left for the noise of a release that pays for its bound."""
    return Loss(loss.epsilon * (1 - _WALK - _REPORT), loss.delta)


def rows_weight(weights: Iterable[Fraction]) -> Fraction:
    """Of the bound on rows, beside the weights of the releases that it is for: as much as one of them would
    spend if it paid for a bound of its own."""
    found = list(weights)
    return sum(found, Fraction(0)) / len(found) * (_WALK + _REPORT) / (1 - _WALK - _REPORT)


def choice_of(loss: Loss, most: int) -> BoundChoice:
    """
    Given    loss: of the bound alone; most: of a unit's total, public
    """
    epsilon = loss.epsilon / (_WALK + _REPORT)
    report = Loss(epsilon * _REPORT, Fraction(0))
    return BoundChoice(
        bounds=private_bound.bounds_up_to(most),
        walk=Loss(epsilon * _WALK, Fraction(0)),
        report=report,
        report_scale=laplace(OF_REPORT, report.epsilon).scale,
    )


def report_weight(weights: Iterable[Fraction]) -> Fraction:
    """Of the report on what given bounds cut, beside all other weights of its block."""
    return sum(weights, Fraction(0)) * _REPORT / (1 - _REPORT)


def given_bound(loss: Loss, rows: int) -> BoundChoice:
    """What given bounds on a unit cut is counted, which is all that is spent.

    Given    rows: of a unit, by the policy
    """
    return BoundChoice(
        bounds=(rows,),
        walk=NOTHING,
        report=Loss(loss.epsilon, Fraction(0)),
        report_scale=laplace(OF_REPORT, loss.epsilon).scale,
        is_given=True,
    )


def chosen_total(
    loss: Loss,
    each: tuple[int, int],
    rows: int,
    parts: int,
    bound: int | None,
    given: int | None = None,
) -> UnitTotal:
    """A total that is bounded by choice.

    Given    loss: of the release with its bound; each: the least and the most that one row adds; rows: of a
             unit, at most; bound: the one that was chosen; None: none yet; given: by the policy, which no
             bound is above
    """
    least, most = min(0, each[0]), max(0, each[1])
    largest = max(1, rows * max(-least, most))
    if given is not None:
        largest = min(largest, given)
    high = largest if bound is None else bound
    return UnitTotal(
        low=-high if least < 0 else 0,
        high=high if most > 0 else 0,
        parts=parts,
        choice=choice_of(Loss(loss.epsilon * (_WALK + _REPORT), Fraction(0)), largest),
    )
