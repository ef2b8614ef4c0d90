"""AVG of units with several rows: noisy deviations of units from a noisy centre.

Two scans. The first one gives a rough mean of each group, in which each unit has weight 1 over all groups, and
a bound on rows. The second one adds up how far each unit's rows deviate from the rough means. A unit deviates
far less than its rows times half the range, so the bound on that is far lower.

Values are y = 2 i - (low + high) of the grid index i: half grid steps about the middle of the range. Centres
and deviations are in `fineness` parts of a half step, so that a mean of few grid steps has a centre near it.
Proof: PROOFS.md, "Means of deviations".
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.mechanisms import discrete_laplace, octave_bound
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.octave_bound import OctaveBound, OctaveRule, octaves_of, quarter_bounds

# Shares of a unit's rows and deviations are taken in so many parts, rounded toward 0.
PARTS = 2**20

# All constants below: fitted on sixteen data sets and judged on others (docs/reference/accuracy.md).
_UNITS = Fraction(2, 100)
_MANY = 1500  # noisy units times epsilon
_SINGLE_CELLS = Fraction(8, 100)
_SINGLE_MASS = Fraction(1, 20)  # of all units: the mass of rows above 1
_ROWS_OCTAVES, _OCTAVES, _SINGLE_OCTAVES = 21, 22, 7
_FINE_STEPS = 1024  # a range has so many steps for centres at least
_LEAST = 64  # the lowest bound on deviations is this part of the range
_RULE = OctaveRule(least=2.5, gap=1.6)
_SINGLE_RULE = OctaveRule(least=2.0, gap=0.0)
_FILLED = 2.0  # scales of noise: a group with fewer rough rows has no centre of its own
_OWN_CENTRE, _ALL_CENTRE = 0.05, 0.3  # of the range: the error at which a centre counts by half
_SPREAD = 1.5  # what is cut is in one group by so much more than its share
_ROUGH_SUMS = Fraction(4, 5)  # of what is left, if nothing is seen


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviationShares:
    """How epsilon is divided. All parts add up to epsilon.

    Attributes:
        units: Number of units.
        sums, weights: Rough sums and rough numbers of rows.
        row_cells, cells: Histograms of rows and of deviations.
        rows, deviations: Numbers of rows and sums of deviations.
    """

    units: Fraction
    sums: Fraction
    weights: Fraction
    row_cells: Fraction
    cells: Fraction
    rows: Fraction
    deviations: Fraction

    @property
    def total(self) -> Fraction:
        first = self.units + self.sums + self.weights + self.row_cells
        return first + self.cells + self.rows + self.deviations

    @property
    def least(self) -> Fraction:
        """Of the parts that have noise always: all but the histogram of rows."""
        return min(self.units, self.sums, self.weights, self.cells, self.rows, self.deviations)


def shares(
    epsilon: Fraction, *, is_few: bool, is_declared: bool, is_single: bool
) -> DeviationShares:
    """Divide epsilon.

    Args:
        epsilon: Of the mean.
        is_few: Whether there are few units, by their noisy number.
        is_declared: Whether the rows of a unit are bounded by the policy.
        is_single: Whether hardly any unit has two rows.

    >>> shares(Fraction(1), is_few=True, is_declared=False, is_single=False).total
    Fraction(1, 1)
    """
    parts = (10, 4, 18, 22, 20, 24) if is_few else (7, 3, 13, 18, 18, 39)
    sums, weights, row_cells, cells, rows, deviations = (Fraction(part, 100) for part in parts)
    if is_declared:
        row_cells, deviations = Fraction(0), deviations + row_cells
    if is_single:
        cells, deviations = _SINGLE_CELLS, deviations + cells - _SINGLE_CELLS
    return DeviationShares(
        units=epsilon * _UNITS,
        sums=epsilon * sums,
        weights=epsilon * weights,
        row_cells=epsilon * row_cells,
        cells=epsilon * cells,
        rows=epsilon * rows,
        deviations=epsilon * deviations,
    )


def typical_shares(epsilon: Fraction, units: int) -> DeviationShares:
    """Give the shares for so many units, some of which have several rows."""
    is_few = units * epsilon < _MANY
    return shares(epsilon, is_few=is_few, is_declared=False, is_single=False)


def row_bounds(declared: int | None) -> tuple[int, ...]:
    """Give the bounds by which rows of units are counted: that of the policy alone, if there is one."""
    if declared is not None:
        return (declared,)
    return quarter_bounds(Fraction(1), _ROWS_OCTAVES)


def fineness(low: int, high: int) -> int:
    """Give the parts of a half grid step in which centres and deviations are.

    >>> fineness(0, 1), fineness(0, 50_000)
    (512, 1)
    """
    return 1 << max(0, (-(-_FINE_STEPS // (2 * (high - low))) - 1).bit_length())


def deviation_bounds(low: int, high: int, *, is_single: bool) -> tuple[int, ...]:
    """Give the bounds by which deviations of units are counted, in fine steps, or in PARTS of one (single)."""
    lowest = Fraction(2 * (high - low) * fineness(low, high), _LEAST)
    if is_single:
        return quarter_bounds(lowest * PARTS, _SINGLE_OCTAVES)
    return quarter_bounds(lowest, _OCTAVES)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupRows:
    """Rows of one group: exact, secret.

    Attributes:
        rows: Number of rows, by the band of how many rows their unit has in all groups.
        shares: Sum over units of the share of their rows that are here, in PARTS, by the same band.
        sums: Sum over units of the same share of the mean of their rows, in PARTS of a half step.
    """

    rows: Mapping[int, int]
    shares: Mapping[int, int]
    sums: int

    def __repr__(self) -> str:
        return "GroupRows(hidden)"

    @property
    def weight(self) -> int:
        """Number of units, each divided over its groups, in PARTS."""
        return sum(self.shares.values())

    def bounded(self, place: int, bound: int) -> int:
        """Number of rows, in PARTS, where a unit of more than `bound` keeps the same share of each group.

        Args:
            place: The last band of units that have at most `bound` rows.
            bound: In rows.
        """
        return _bounded(self.rows, self.shares, place, bound)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupDeviations:
    """Deviations of units in one group, by the band of a unit's deviation in all groups: exact, secret.

    Attributes:
        sums: Sum of the deviations.
        shares: Sum of the deviations, each divided by the unit's deviation in all groups, in PARTS.
    """

    sums: Mapping[int, int]
    shares: Mapping[int, int]

    def __repr__(self) -> str:
        return "GroupDeviations(hidden)"

    def bounded(self, place: int, bound: int) -> int:
        """Sum of deviations, in PARTS, where a unit above `bound` keeps the same share of each group."""
        return _bounded(self.sums, self.shares, place, bound)


def _bounded(sums: Mapping[int, int], shares: Mapping[int, int], place: int, bound: int) -> int:
    """
    >>> _bounded({0: 4, 1: 9}, {0: PARTS, 1: PARTS // 2}, 0, 6) == PARTS * (4 + 6 // 2)
    True
    """
    within = sum(found for band, found in sums.items() if band <= place)
    above = sum(found for band, found in shares.items() if band > place)
    return PARTS * within + bound * above


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyCentres:
    """What the first scan releases for a mean: private already.

    Attributes:
        units: Number of units.
        is_few, is_single: As of `shares`.
        rows: Bound on the rows of a unit; None if the histogram shows nothing.
        lost_rows: Estimated number of rows above the bound, rounded up.
        weights, sums: Of each group, in PARTS of a unit and of a half step.
        centres: Of each group, in fine steps about the middle of the range.
    """

    units: int
    is_few: bool
    is_single: bool
    rows: int | None
    lost_rows: int
    weights: tuple[int, ...]
    sums: tuple[int, ...]
    centres: tuple[int, ...]

    def shares(self, epsilon: Fraction, declared: int | None) -> DeviationShares:
        return shares(
            epsilon,
            is_few=self.is_few,
            is_declared=declared is not None,
            is_single=self.is_single,
        )


def centred(
    groups: Sequence[GroupRows],
    units: Mapping[int, int],
    low: int,
    high: int,
    epsilon: Fraction,
    declared: int | None,
    bits: RandomBits,
) -> NoisyCentres:
    """Release rough means and a bound on rows.

    Privacy: the parts `units`, `sums`, `weights` and `row_cells` of epsilon. Over all groups the weights of
    one unit add up to 1, the sizes of its sums to half the range, and it is in one cell.

    Args:
        groups: Of all groups that are answered, in their order.
        units: Number of units by band of their rows in all groups, counted from 0 (`row_bounds`).
        low, high: Grid indices of all values, low < high.
        epsilon: Of the mean.
        declared: Rows of a unit that count by the policy; None if they are to be chosen.
        bits: Random bits.
    """
    number = sum(units.values())
    of_units = discrete_laplace.scale_for(1, epsilon * _UNITS)
    noisy_units = number + discrete_laplace.sample(bits, of_units)
    is_few = noisy_units * epsilon < _MANY
    spent = shares(epsilon, is_few=is_few, is_declared=declared is not None, is_single=False)
    of_weights = discrete_laplace.scale_for(PARTS, spent.weights)
    of_sums = discrete_laplace.scale_for((high - low) * PARTS, spent.sums)
    weights = tuple(one.weight + discrete_laplace.sample(bits, of_weights) for one in groups)
    sums = tuple(one.sums + discrete_laplace.sample(bits, of_sums) for one in groups)
    centres = _centres(weights, sums, low, high, spent)
    found: OctaveBound | None = None
    if declared is None:
        found = _chosen_rows(units, weights, spent, bits)
    rows = declared if found is None else found.bound
    above_one = 0.0 if found is None else found.cut
    is_single = rows == 1 and above_one <= _SINGLE_MASS * max(1, noisy_units)
    return NoisyCentres(
        units=noisy_units,
        is_few=is_few,
        is_single=is_single,
        rows=rows,
        lost_rows=0 if found is None else math.ceil(found.cut + found.unseen),
        weights=weights,
        sums=sums,
        centres=centres,
    )


def _chosen_rows(
    units: Mapping[int, int], weights: Sequence[int], spent: DeviationShares, bits: RandomBits
) -> OctaveBound | None:
    of_cells = discrete_laplace.scale_for(1, spent.row_cells)
    cells = octave_bound.noisy(octaves_of(units, _ROWS_OCTAVES), of_cells, bits)
    return octave_bound.chosen(
        cells,
        row_bounds(None),
        float(1 / spent.row_cells),
        float(1 / spent.rows),
        _concentration(_parts(weights, spent)),
        _RULE,
    )


def _parts(weights: Sequence[int], spent: DeviationShares) -> list[float]:
    """The share of all units that each group has, about."""
    least = _FILLED * float(1 / spent.weights)
    filled = [max(weight / PARTS, least) for weight in weights]
    whole = sum(filled)
    return [weight / whole for weight in filled]


def group_parts(centres: NoisyCentres, epsilon: Fraction, declared: int | None) -> Sequence[float]:
    """Give the share of all units that each group has, about. Post-processing."""
    return _parts(centres.weights, centres.shares(epsilon, declared))


def share_of_cut(part: float, groups: int) -> float:
    """Give the most of what bounds cut that may be in one group.

    Args:
        part: Of all units.
        groups: How many there are.

    >>> share_of_cut(0.25, 4), share_of_cut(0.9, 2), share_of_cut(1.0, 1)
    (0.375, 1.0, 1.0)
    """
    return min(1.0, (_SPREAD if groups > 1 else 1) * part)


def _concentration(parts: Iterable[float]) -> float:
    return sum(part**2 for part in parts)


def _centres(
    weights: Sequence[int], sums: Sequence[int], low: int, high: int, spent: DeviationShares
) -> tuple[int, ...]:
    """Rough means, moved toward that of all groups and then toward the middle as far as they are noise."""
    middle, width, groups = float(high - low), 2.0 * (high - low), len(weights)
    of_sum, least = math.sqrt(2) * middle / float(spent.sums), _FILLED * float(1 / spent.weights)

    fine = fineness(low, high)

    def clipped(value: float) -> float:
        return min(max(value, -middle), middle)

    whole = max(sum(weights) / PARTS, least * math.sqrt(groups))
    error_of_all = of_sum * math.sqrt(groups) / whole
    of_all = clipped(sum(sums) / PARTS / whole) / (1 + (error_of_all / (_ALL_CENTRE * width)) ** 2)
    found = []
    for weight, total in zip(weights, sums, strict=True):
        rows, centre = weight / PARTS, of_all
        if groups > 1 and rows > least:
            counted = 1 / (1 + (of_sum / rows / (_OWN_CENTRE * width)) ** 2)
            centre += counted * (clipped(total / PARTS / rows) - of_all)
        found.append(round(fine * clipped(centre)))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyDeviations:
    """What a mean of one group is made of: private already.

    Attributes:
        units: Number of units, in all groups.
        is_few, is_single: As of `shares`.
        centre: In fine steps about the middle.
        count: Number of rows, in PARTS.
        total: Sum of deviations, in PARTS of their step; of rough means, sum of values in PARTS of a half step.
        rows, bound: Bounds on rows and deviations of a unit; bound None: total and count are rough.
        lost_rows, lost: Estimated mass of rows and of deviations above the bounds that is in this group.
    """

    units: int
    is_few: bool
    is_single: bool
    centre: int
    count: int
    total: int
    rows: int
    bound: int | None
    lost_rows: int
    lost: int


def noisy(
    groups: Sequence[GroupRows],
    deviations: Sequence[GroupDeviations],
    units: Mapping[int, int],
    centres: NoisyCentres,
    low: int,
    high: int,
    epsilon: Fraction,
    declared: int | None,
    bits: RandomBits,
) -> tuple[NoisyDeviations, ...]:
    """Release what the means of all groups are made of.

    Privacy: the parts `cells`, `rows` and `deviations` of epsilon, for any centres. A unit is in one cell.
    Its rows add up to at most the bound on rows over all groups, and the sizes of its deviations to at most the
    bound on deviations. Both bounds were released before.

    Args:
        groups, deviations: Of all groups, in the order of `centres`.
        units: Number of units by band of their deviation in all groups (`deviation_bounds`).
        centres: As released, about which deviations were taken.
        low, high, epsilon, declared, bits: As of `centred`.
    """
    spent = centres.shares(epsilon, declared)
    bound = _chosen_bound(units, centres, low, high, spent, bits)
    if centres.rows is None or bound is None:
        return tuple(_rough(groups, centres, low, high, spent, bits))
    rows = _rows_for(bound.bound, centres, low, high, declared)
    of_rows = discrete_laplace.scale_for(rows * PARTS, spent.rows)
    of_deviations = discrete_laplace.scale_for(bound.bound * PARTS, spent.deviations)
    last_band = bisect_right(row_bounds(declared), rows) - 1
    found = []
    for place, part in enumerate(_parts(centres.weights, spent)):
        here = share_of_cut(part, len(groups))
        count = groups[place].bounded(last_band, rows)
        total = deviations[place].bounded(bound.place, bound.bound)
        found.append(
            NoisyDeviations(
                units=centres.units,
                is_few=centres.is_few,
                is_single=centres.is_single,
                centre=centres.centres[place],
                count=count + discrete_laplace.sample(bits, of_rows),
                total=total + discrete_laplace.sample(bits, of_deviations),
                rows=rows,
                bound=bound.bound,
                lost_rows=math.ceil(here * centres.lost_rows),
                lost=math.ceil(here * bound.above),
            )
        )
    return tuple(found)


def _chosen_bound(
    units: Mapping[int, int],
    centres: NoisyCentres,
    low: int,
    high: int,
    spent: DeviationShares,
    bits: RandomBits,
) -> OctaveBound | None:
    is_single = centres.is_single
    octaves, rule = (_SINGLE_OCTAVES, _SINGLE_RULE) if is_single else (_OCTAVES, _RULE)
    bounds = deviation_bounds(low, high, is_single=is_single)
    of_cells = discrete_laplace.scale_for(1, spent.cells)
    cells = octave_bound.noisy(octaves_of(units, octaves), of_cells, bits)
    scale, noise = float(1 / spent.cells), float(1 / spent.deviations)
    concentration = _concentration(_parts(centres.weights, spent))
    found = octave_bound.chosen(cells, bounds, scale, noise, concentration, rule)
    if not is_single:
        return found
    most_of_one = farthest(centres, low, high) * PARTS
    if found is None or found.bound >= most_of_one / 2:
        # No unit is above that: all are in the bands up to its own.
        place = bisect_left(bounds, most_of_one)
        return OctaveBound(place=place, bound=most_of_one, cut=0.0, unseen=0.0)
    most = (2 * most_of_one - found.bound) * scale
    return OctaveBound(
        place=found.place, bound=found.bound, cut=found.cut, unseen=min(found.unseen, most)
    )


def farthest(centres: NoisyCentres, low: int, high: int) -> int:
    """Give how far one row can be from its centre, in fine steps."""
    return (high - low) * fineness(low, high) + max(map(abs, centres.centres))


def _rows_for(bound: int, centres: NoisyCentres, low: int, high: int, declared: int | None) -> int:
    """A unit that deviates by so much has so many rows at least."""
    assert centres.rows is not None
    if declared is not None or centres.is_single:
        return centres.rows
    needed = max(1, bound // farthest(centres, low, high))
    return min(max(centres.rows, 1 << (needed.bit_length() - 1)), row_bounds(None)[-1])


def _rough(
    groups: Sequence[GroupRows],
    centres: NoisyCentres,
    low: int,
    high: int,
    spent: DeviationShares,
    bits: RandomBits,
) -> Iterable[NoisyDeviations]:
    """The rough means once more, with what is left, both added up."""
    left = spent.rows + spent.deviations
    of_sums = discrete_laplace.scale_for((high - low) * PARTS, left * _ROUGH_SUMS)
    of_weights = discrete_laplace.scale_for(PARTS, left * (1 - _ROUGH_SUMS))
    counted = left * _ROUGH_SUMS / (left * _ROUGH_SUMS + spent.sums)
    for place, group in enumerate(groups):
        total = group.sums + discrete_laplace.sample(bits, of_sums)
        count = group.weight + discrete_laplace.sample(bits, of_weights)
        both = (total, centres.sums[place]), (count, centres.weights[place])
        total, count = (round(counted * new + (1 - counted) * old) for new, old in both)
        yield NoisyDeviations(
            units=centres.units,
            is_few=centres.is_few,
            is_single=centres.is_single,
            centre=centres.centres[place],
            count=max(count, math.ceil(2 * PARTS / left)),
            total=total,
            rows=1,
            bound=None,
            lost_rows=0,
            lost=0,
        )


def fine_step(noisy: NoisyDeviations, low: int, high: int) -> float:
    """Half steps in a step of the deviations."""
    fine = 1 / fineness(low, high)
    return fine / PARTS if noisy.is_single else fine
