"""Draw means of deviations, and variances about the same centres.

The centres are drawn from their scan, then all else from the scan about these centres.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proxy.base.errors import Fault
from proxy.exact.table import ExactTable
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.plan import BlockPlan, DeviationMean
from proxy.mechanisms import deviation_mean, deviation_variance
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.deviation_mean import GroupDeviations, GroupRows, NoisyCentres
from proxy.release.drawn_values import Drawn, DrawnNumber, Keys

_NUMBERS = 6  # of a place: compiler.deviation_scan


def drawn_centres(
    block: CheckedBlock, table: ExactTable, bits: RandomBits
) -> Mapping[int, NoisyCentres]:
    """Release the centres of all means of a block.

    Args:
        block: The block.
        table: What the first part of `compiler.deviation_scan.CentredScan` has read for it.
        bits: Random bits.
    """
    plan, found = block.block, read_places(block.block, table)
    return {
        number: _centres(plan, release, found[2 * place], bits)
        for place, (number, release) in enumerate(plan.deviation_means.items())
        if release.measured.low < release.measured.high
    }


def drawn_means(
    plan: BlockPlan, table: ExactTable, bits: RandomBits
) -> Mapping[int, Mapping[Keys, Drawn]]:
    """Release all means of a block, by number and group.

    Args:
        plan: The block about centres that were released.
        table: What `compiler.deviation_scan.deviation_scan` has read for this very block.
        bits: Random bits.

    Raises:
        Fault: A mean has no centres. To draw them here as well would be paid once and drawn twice.
    """
    found, count = read_places(plan, table), len(plan.deviation_means)
    means: dict[int, Mapping[Keys, Drawn]] = {}
    for place, (number, release) in enumerate(plan.deviation_means.items()):
        low, high = release.measured.low, release.measured.high
        if low == high:  # public
            means[number] = dict.fromkeys(plan.listed_groups, DrawnNumber(low))
            continue
        places = found[2 * place], found[2 * place + 1], found[2 * count + place]
        means[number] = dict(
            zip(plan.listed_groups, _drawn(plan, release, places, bits), strict=True)
        )
    return means


def _drawn(
    plan: BlockPlan, release: DeviationMean, places: tuple[Place, Place, Place], bits: RandomBits
) -> Sequence[Drawn]:
    """Of all groups. Squares are about the same centres, so they are drawn with the mean or not at all."""
    of_rows, of_deviations, of_squares = places
    low, high, centres = release.measured.low, release.measured.high, release.centres
    if centres is None:
        raise Fault("a mean is drawn without its centres")
    means = deviation_mean.noisy(
        _groups(plan, of_rows),
        _deviations(plan, of_deviations),
        of_deviations.units,
        centres,
        low,
        high,
        release.epsilon_of_mean,
        release.declared,
        bits,
    )
    if not release.has_squares:
        return means
    return deviation_variance.noisy(
        means,
        _deviations(plan, of_squares),
        of_squares.units,
        centres,
        low,
        high,
        (release.epsilon_of_mean, release.epsilon_of_squares),
        release.declared,
        bits,
    )


def _deviations(plan: BlockPlan, found: Place) -> Sequence[GroupDeviations]:
    return [
        GroupDeviations(sums=bands.totals, shares=bands.shares) for bands in found.by_group(plan)
    ]


def _centres(
    plan: BlockPlan, release: DeviationMean, found: Place, bits: RandomBits
) -> NoisyCentres:
    measured = release.measured
    return deviation_mean.centred(
        _groups(plan, found),
        found.units,
        measured.low,
        measured.high,
        release.epsilon_of_mean,
        release.declared,
        bits,
    )


def _groups(plan: BlockPlan, found: Place) -> Sequence[GroupRows]:
    return [
        GroupRows(rows=bands.totals, shares=bands.shares, sums=bands.mean)
        for bands in found.by_group(plan)
    ]


@dataclass(slots=True, repr=False)
class Bands:
    """Of one group: exact, secret."""

    totals: dict[int, int] = field(default_factory=dict)
    shares: dict[int, int] = field(default_factory=dict)
    mean: int = 0

    def __repr__(self) -> str:
        return "Bands(hidden)"


@dataclass(slots=True, repr=False)
class Place:
    """Of all groups, and the number of units by band: exact, secret."""

    units: dict[int, int] = field(default_factory=dict)
    groups: dict[Keys, Bands] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "Place(hidden)"

    def by_group(self, plan: BlockPlan) -> Iterator[Bands]:
        for keys in plan.listed_groups:
            yield self.groups.get(keys) or Bands()


def read_places(plan: BlockPlan, table: ExactTable) -> list[Place]:
    """Two places of each mean: of rows, and of deviations. Then one of each for its squares, if it has any."""
    places = [Place() for _ in range(3 * len(plan.deviation_means))]
    listed = frozenset(plan.listed_groups)
    for row in table.rows:
        # Rows are as wide as other releases of the same statement need.
        number, band, total, share, mean, units = (value or 0 for value in row.values[:_NUMBERS])
        if row.keys not in listed:
            continue
        place = places[number]
        place.units[band] = place.units.get(band, 0) + units
        bands = place.groups.setdefault(row.keys, Bands())
        bands.totals[band] = bands.totals.get(band, 0) + total
        bands.shares[band] = bands.shares.get(band, 0) + share
        bands.mean += mean
    return places
