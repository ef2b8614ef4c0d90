"""By how much the exact results of two states of the database differ, and what was planned for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Statistic
from proxy.mechanisms import deviation_mean, deviation_variance, recentred_mean, zcdp
from proxy.mechanisms.loss import Loss
from tests.audit.reach import Reach
from tests.audit.without_noise import Exact, Keys, Numbers
from tests.kernel.examples import l1

_OF_MEANS = ("rows", "deviations", "squares")
_ONE_VALUE = Reach(rows=1, groups=1, by_unit=True)  # of a unit, in all its groups


def is_random(block: BlockPlan) -> bool:
    unit = block.neighbours
    return bool(block.sub_partitions) and isinstance(unit, RowNeighbours) and unit.is_random


def all_moved(
    block: BlockPlan, reach: Reach, here: Exact, there: Exact, times: int
) -> Iterator[str]:
    """times: how many units one state has and the other has not."""
    if block.selection is not None:
        yield from _units_moved(reach, here, there, times)
    for n, release in enumerate(block.releases):
        for line in _moved(block, n, reach, here, there, times):
            yield f"release {n + 1} ({release.aggregate.kind.value}): {line}"


def _units_moved(reach: Reach, here: Exact, there: Exact, times: int) -> Iterator[str]:
    """Private keys: what the selection decides by."""
    keys = {*here.units, *there.units}
    changed = [abs(here.units.get(k, 0) - there.units.get(k, 0)) for k in keys]
    each = times if reach.by_unit else times * reach.rows
    if max(changed, default=0) > each:
        yield f"the number of units of a group moves by {max(changed)}"
    if sum(changed) > times * reach.groups:
        yield f"numbers of units move by {sum(changed)}, allowed are {times} times {reach.groups}"


@dataclass(frozen=True)
class _Distances:
    """Of one number over all groups, absent ones being 0. far: in the group where it moves most."""

    l1: int
    l2_squared: int
    far: int
    groups: int


def _distances(number: int, place: int, here: Exact, there: Exact) -> _Distances:
    nothing: Numbers = (0,) * (place + 1)
    gaps: list[int] = []
    for keys in {*here.numbers[number], *there.numbers[number]}:
        mine = (here.numbers[number].get(keys) or nothing)[place]
        gaps.append(abs(mine - (there.numbers[number].get(keys) or nothing)[place]))
    squares = sum(gap * gap for gap in gaps)
    return _Distances(sum(gaps), squares, max(gaps, default=0), sum(gap > 0 for gap in gaps))


def _paid(noise: Noise, moves: _Distances, loss: Loss, times: int) -> str:
    """What is wrong with a distance under this noise, or nothing."""
    match noise:
        case LaplaceNoise():
            allowed = times * noise.scale * loss.epsilon
            if moves.l1 > allowed:
                return f"moves by {moves.l1}, noise hides {allowed}"
        case GaussianNoise():
            rho = Fraction(moves.l2_squared) / (2 * noise.sigma2)
            if rho > times**2 * zcdp.rho_of_loss(loss.epsilon, loss.delta):
                return f"moves by the square root of {moves.l2_squared}, rho is {float(rho)}"
        case ContinualNoise():
            return "a series, which no analyst asks for"
        case _:
            assert_never(noise)
    return ""


def _spread(
    block: BlockPlan, reach: Reach, moves: _Distances, one: int, times: int
) -> Iterator[str]:
    """In one group and in how many. one: by how much a row, or a unit where units are counted, moves it."""
    each = reach.rows
    if reach.per_group is not None and block.groups() != 1:
        each = min(each, reach.per_group)
    if moves.far > times * each * one:
        yield f"moves by {moves.far} in one group, planned are {times} times {each} times {one}"
    if moves.groups > times * reach.groups:
        yield f"moves in {moves.groups} groups, planned are {times} times {reach.groups}"


def _moved(
    block: BlockPlan, number: int, reach: Reach, here: Exact, there: Exact, times: int
) -> Iterator[str]:
    release = block.releases[number]
    match release:
        case NoisyStatistic() | DistinctCount():
            moves = _distances(number, 0, here, there)
            planned = l1(block, number)
            if moves.l1 > times * planned:
                yield f"moves by {moves.l1}, planned are {times} times {planned}"
            wrong = _paid(release.noise, moves, release.loss, times)
            if wrong:
                yield wrong
            if isinstance(release, NoisyStatistic):
                yield from _spread(block, reach, moves, _of_row(release), times)
            elif release.of_unit:
                units = replace(reach, rows=1 if reach.by_unit else reach.rows)
                yield from _spread(block, units, moves, 1, times)
        case RecentredMean():
            yield from _moments_moved(block, release, number, reach, here, there, times)
        case KeptUnits():
            moves = _distances(number, 0, here, there)
            yield from _spread(block, _ONE_VALUE, moves, 1, times)
            wrong = _paid(release.noise, moves, release.loss, times)
            if wrong:
                yield wrong
        case DeviationMean():
            yield from _deviations_moved(release, number, here, there, times)
        case OrderStatistic() | UnitExtreme():
            yield from _values_moved(release, number, here, there, times)
        case SampleAggregate():
            yield from _gate_moved(release, number, reach, here, there, times)
            if not is_random(block):
                yield from _outputs_moved(release, number, reach, here, there, times)
        case _:
            assert_never(release)


def _of_row(release: NoisyStatistic) -> int:
    """By how much one row moves it: of the definitions, not by the planner's own table."""
    if not isinstance(release.of, tuple):
        return 1
    widths = [one.high - one.low for one in release.of]
    match release.statistic:
        case Statistic.ROWS:
            return 1
        case Statistic.STEPS:
            return max(abs(release.of[0].low), abs(release.of[0].high))
        case Statistic.CENTRED:
            return widths[0]
        case Statistic.SQUARES:
            return widths[0] ** 2
        case Statistic.PRODUCTS:
            return widths[0] * widths[1]
        case _:
            assert_never(release.statistic)


def _moments_moved(
    block: BlockPlan,
    release: RecentredMean,
    number: int,
    reach: Reach,
    here: Exact,
    there: Exact,
    times: int,
) -> Iterator[str]:
    """Count and centred total: each within rows times its bound per row, together paid."""
    measured = release.measured
    width = measured.high - measured.low
    if width == 0:
        return
    bounds = (1, width)
    moves = [_distances(number, place, here, there) for place in range(len(bounds))]
    for name, move, bound in zip(("count", "total"), moves, bounds, strict=True):
        if move.l1 > times * measured.rows * bound:
            yield f"{name} moves by {move.l1}, planned are {measured.rows} times {bound}"
        for line in _spread(block, reach, move, bound, times):
            yield f"{name} {line}"
    nothing: Numbers = (0,) * len(bounds)
    cost = Fraction(0)
    for keys in {*here.numbers[number], *there.numbers[number]}:
        mine = here.numbers[number].get(keys) or nothing
        theirs = there.numbers[number].get(keys) or nothing
        cost += mean_cost(release, *(abs(a - b) for a, b in zip(mine, theirs, strict=True)))
    if cost > times * release.loss.epsilon:
        yield f"moments cost {float(cost)}"


_PARTS = 2**20


def _deviations_moved(
    release: DeviationMean, number: int, here: Exact, there: Exact, times: int
) -> Iterator[str]:
    """By the definitions: units are counted once, weights add up to 1 unit, sums to half the range; and with
    each bound on rows, deviations or squares what is added is within it."""
    width = release.measured.high - release.measured.low
    mine, theirs = (_Bands.of(numbers) for numbers in (here.numbers[number], there.numbers[number]))
    for kind, name in enumerate(_OF_MEANS):
        counted = mine.apart(theirs, lambda row: row[5], of=(kind,), by=lambda keys, row: row[1])
        if counted > times:
            yield f"units by {name} move by {counted}"
    weights = mine.apart(theirs, lambda row: row[3], of=(0,), by=lambda keys, row: keys)
    if weights > times * _PARTS:
        yield f"weights move by {weights}"
    sums = mine.apart(theirs, lambda row: row[4], of=(0,), by=lambda keys, row: keys)
    if sums > times * _PARTS * width:
        yield f"rough sums move by {sums}, the half range is {width}"
    of_rows = deviation_mean.row_bounds(release.declared)
    low, high = release.measured.low, max(release.measured.low + 1, release.measured.high)
    of_deviations = deviation_mean.deviation_bounds(low, high, is_single=False)
    of_squares = deviation_variance.square_bounds(low, high, is_single=False)
    for kind, bounds in enumerate((of_rows, of_deviations, of_squares)):
        for place, bound in enumerate(bounds):

            def added(row: Numbers, place: int = place, bound: int = bound) -> int:
                return _PARTS * row[2] if row[1] <= place else bound * row[3]

            moved = mine.apart(theirs, added, of=(kind,), by=lambda keys, row: keys)
            if moved > times * _PARTS * bound:
                yield f"sums of {_OF_MEANS[kind]} cut to {bound} move by {moved}"


@dataclass(frozen=True)
class _Bands:
    """Rows of a scan, of six numbers each: kind, band, total, share, mean, units; by group."""

    rows: tuple[tuple[Keys, Numbers], ...]

    @classmethod
    def of(cls, numbers: Mapping[Keys, Numbers]) -> _Bands:
        return cls(
            tuple(
                (keys, found[at : at + 6])
                for keys, found in numbers.items()
                for at in range(0, len(found), 6)
            )
        )

    def apart(
        self,
        other: _Bands,
        number: Callable[[Numbers], int],
        of: tuple[int, ...],
        by: Callable[[Keys, Numbers], object],
    ) -> int:
        """The L1 distance of sums of a number over rows of a kind that are alike in `by`."""
        sums: Counter[object] = Counter()
        for sign, bands in ((1, self), (-1, other)):
            for keys, row in bands.rows:
                if row[0] in of:
                    sums[by(keys, row)] += sign * number(row)
        return sum(map(abs, sums.values()))


def mean_cost(release: RecentredMean, count: int, total: int) -> Fraction:
    """The largest log ratio when one group's count and total move by so much."""
    measured = release.measured
    return recentred_mean.cost(
        total, count, measured.low, measured.high, release.loss.epsilon, measured.rows
    )


def _multiset(numbers: Numbers) -> Counter[int]:
    return Counter(dict(zip(numbers[::2], numbers[1::2], strict=True)))


def _values_moved(
    release: OrderStatistic | UnitExtreme, number: int, here: Exact, there: Exact, times: int
) -> Iterator[str]:
    changed, low, high = 0, release.measured.low, release.measured.high
    planned = release.measured.rows
    if isinstance(release, OrderStatistic) and release.weights is not None:
        planned *= _PARTS
    if isinstance(release, UnitExtreme):  # numbers of places
        low, high = 0, release.places.last
    for keys in {*here.numbers[number], *there.numbers[number]}:
        mine = _multiset(here.numbers[number].get(keys, ()))
        theirs = _multiset(there.numbers[number].get(keys, ()))
        changed += (mine - theirs).total() + (theirs - mine).total()
        if any(not low <= v <= high for v in mine):
            yield "a value is outside the clamp"
    if changed > times * planned:
        yield f"{changed} values change, planned are {times} times {planned}"
    if isinstance(release, OrderStatistic):
        yield from _sizes_moved(release, here.sizes[number], there.sizes[number], times)


def _sizes_moved(
    release: OrderStatistic, here: Mapping[Keys, int], there: Mapping[Keys, int], times: int
) -> Iterator[str]:
    """A unit counts as its rows that count; with weights once, divided over its groups."""
    moved = sum(abs(here.get(keys, 0) - there.get(keys, 0)) for keys in {*here, *there})
    each = release.measured.rows if release.weights is None else _PARTS
    hidden = min(Fraction(each), release.size.noise.scale * release.size.loss.epsilon)
    if moved > times * hidden:
        yield f"sizes move by {moved}, their noise hides {times} times {hidden}"


def _gate_moved(
    release: SampleAggregate, number: int, reach: Reach, here: Exact, there: Exact, times: int
) -> Iterator[str]:
    """What decides whether there is an answer: a unit counts once in each of its groups."""
    mine, theirs = here.gates[number], there.gates[number]
    gaps = [abs(mine.get(keys, 0) - theirs.get(keys, 0)) for keys in {*mine, *theirs}]
    each, most = (1, reach.groups) if reach.by_unit else (reach.rows, reach.rows)
    if max(gaps, default=0) > times * each:
        yield f"the gate of a group moves by {max(gaps)}, allowed are {times} times {each}"
    hidden = min(Fraction(most), release.gate.noise.scale * release.gate.loss.epsilon)
    if sum(gaps) > times * hidden:
        yield f"gates move by {sum(gaps)}, their noise hides {times} times {hidden}"


def _outputs_moved(
    release: SampleAggregate,
    number: int,
    reach: Reach,
    here: Exact,
    there: Exact,
    times: int,
) -> Iterator[str]:
    keys: set[Keys] = {*here.numbers[number], *there.numbers[number]}
    empty: Numbers = (release.fill,) * release.partitions
    pairs = [
        (here.numbers[number].get(k, empty), there.numbers[number].get(k, empty)) for k in keys
    ]
    if any(len(outputs) != release.partitions for pair in pairs for outputs in pair):
        yield "not one output per partition"
        return
    changed = [sum(a != b for a, b in zip(mine, theirs, strict=True)) for mine, theirs in pairs]
    if not reach.by_unit:
        allowed = times * reach.partitions(len(keys))
        if sum(changed) > allowed:
            yield f"{sum(changed)} partition outputs change, allowed are {allowed}"
        return
    if max(changed, default=0) > times:
        yield f"{max(changed)} partition outputs change in one group"
    if sum(changed) > times * reach.groups:
        yield f"outputs change in {sum(changed)} groups, allowed are {times} times {reach.groups}"
