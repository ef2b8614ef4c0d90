"""BlockPlan -> the SQL statements that compute its exact partial results; in one scan whatever can be.

Shapes (docs/design/backends.md 1): rows as units are aggregated at once, by key and cell; other
units are gathered per unit first, bounded, then added up. A cell is a keyed hash of the unit alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass, fields, replace
from functools import partial

from typing_extensions import assert_never

from proxy.base.errors import Fault
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.bound_scan import bound_scan
from proxy.compiler.clip_scan import clip_scan
from proxy.compiler.deviation_scan import CentredScan, centred_scan, deviation_scan
from proxy.compiler.extreme_scan import extreme_scan
from proxy.compiler.proposal_scan import proposal_scan
from proxy.compiler.row_scan import row_scan
from proxy.compiler.unit_scan import unit_scan
from proxy.compiler.value_counts import has_sums
from proxy.compiler.value_scan import value_scan
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    KeptUnits,
    UnitExtreme,
)
from proxy.kernel.proposal_check import CheckedProposals

_HERE = object()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CompiledQuery(BackendQuery):
    """A statement of something that was checked. Only the functions of this module make one.

    Attributes:
        of: What it was compiled of.
    """

    of: CheckedBlock | CheckedProposals
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        if made is not _HERE:
            raise Fault("a statement that was not compiled")


_WRITTEN = tuple(one.name for one in fields(BackendQuery))


def _compiled(query: BackendQuery, of: CheckedBlock | CheckedProposals) -> CompiledQuery:
    parts = {name: getattr(query, name) for name in _WRITTEN}
    return CompiledQuery(**parts, of=of, made=_HERE)


def compile_block(block: CheckedBlock, *, repeats_names: bool = False) -> tuple[CompiledQuery, ...]:
    """The backend statements of one block: one for all releases, one for all minima and maxima of units, one
    for all means of deviations, one for all order statistics of the same values, and one for each count of
    distinct values that cannot be put together from partial results. None but that of means where all follows
    from totals read before; none for all releases where the list of values of order statistics has their sums.
    A release that is withheld is in none of them.

    Given    repeats_names: as of Binds, for the audit
    """
    written = _written(block.block, partial(Binds, repeats_names=repeats_names))
    return tuple(_compiled(one, block) for one in written)


def _written(plan: BlockPlan, binds: Callable[[], Binds]) -> tuple[BackendQuery, ...]:
    means = plan.deviation_means
    of_means = [deviation_scan(plan, binds())] if means else []
    if plan.is_of_totals:
        return tuple(of_means)
    extremes = _extremes(plan)
    together = _together(plan)
    along = next((one for one in plan.read_apart if has_sums(plan, one, together)), ())
    queries = [
        value_scan(plan, one, together if one == along else (), binds()) for one in plan.read_apart
    ]
    queries += of_means
    if extremes:
        queries.insert(0, extreme_scan(plan, extremes, binds()))
    if (together and not along) or plan.selection is not None:
        queries.insert(0, _scan(plan, together, binds()))
    return tuple(queries)


def _extremes(plan: BlockPlan) -> tuple[int, ...]:
    """The minima and maxima of units, which share a scan, and the numbers of units that these are of."""
    drawn = plan.drawn_releases
    return tuple(n for n, release in drawn if isinstance(release, UnitExtreme | KeptUnits))


def _together(plan: BlockPlan) -> tuple[int, ...]:
    """The releases of the one scan for all that need none of their own."""
    apart = {number for several in plan.read_apart for number in several}
    return tuple(
        number
        for number, release in plan.drawn_releases
        if number not in apart and not isinstance(release, UnitExtreme | KeptUnits | DeviationMean)
    )


def compile_choices(block: CheckedBlock, *, repeats_names: bool = False) -> CompiledQuery | None:
    """What bounds of the block are chosen by, or those that are given are looked at by; None where none is.

    Given    repeats_names: as of Binds, for the audit
    """
    plan, binds = block.block, Binds(repeats_names=repeats_names)
    if _looks_at_given(plan):
        return _compiled(clip_scan(plan, binds), block)
    return _compiled(bound_scan(plan, binds), block) if plan.choices else None


def _looks_at_given(plan: BlockPlan) -> bool:
    return plan.rows_choice is not None and plan.rows_choice.is_given


def compile_centres(block: CheckedBlock) -> CentredScan | None:
    """What means of deviations are released by, in two parts, the first of which their centres are released by;
    None without such means. Other releases have their rows of it where they can, and so has the choice of
    bounds of a block without keys."""
    plan = block.block
    if not plan.deviation_means:
        return None
    if plan.is_of_totals:
        found = centred_scan(plan, (), has_choices=not _looks_at_given(plan))
    else:
        found = centred_scan(plan, _together(plan), _extremes(plan))
    return replace(found, query=_compiled(found.query, block))


def compile_proposal(plan: CheckedProposals, number: int) -> CompiledQuery:
    """Compile the statement by which bounds of one table are proposed.

    Args:
        plan: The proposals.
        number: Of the table.
    """
    return _compiled(proposal_scan(plan, number), plan)


def _scan(plan: BlockPlan, releases: tuple[int, ...], binds: Binds) -> BackendQuery:
    match plan.neighbours:
        case RowNeighbours():
            return row_scan(plan, releases, plan.neighbours, binds)
        case UnitNeighbours():
            return unit_scan(plan, releases, plan.neighbours, binds)
        case _:
            assert_never(plan.neighbours)
