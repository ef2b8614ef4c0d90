"""What a compiled block says exactly of one state of the database, read by the real release code.

The noise is taken out where it comes in (seen_without_noise), so that everything around it (grouping, padding,
filling of empty partitions, merging of cells, selection of private keys) is the product's own.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import psycopg
from typing_extensions import assert_never

from proxy.compiler import compiling
from proxy.databases.protected import ProtectedDatabase
from proxy.mechanisms import ratio_mean, variance, zcdp
from proxy.planner.plan import (
    BlockPlan,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyCount,
    NoisyDistinct,
    NoisyMean,
    NoisySum,
    NoisyVariance,
    OrderStatistic,
    PrivatePlan,
    Release,
    RowNeighbours,
    SmoothedMedian,
)
from proxy.release import releasing
from tests.audit.planted import Base
from tests.audit.reach import Reach, reach_of
from tests.audit.seen_without_noise import Exact, Keys, Numbers, watching
from tests.seeded_bits import SeededBits
from tests.world import moved

_SEED = 4_242_424_242_424_242
_ANSWER = "42"  # of an earlier block: whatever it is, what compares with it must hold


class Auditor:
    """Runs compiled statements on the states of planted databases."""

    def __init__(self, dsn: str, bases: Sequence[Base]) -> None:
        self.bases = tuple(bases)
        self._loop = asyncio.new_event_loop()
        self._data = ProtectedDatabase(dsn, sessions_max=1, timeout_ms=10_000)
        self._loop.run_until_complete(self._data.open())
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.connection.execute("SET TimeZone = 'UTC'")

    def close(self) -> None:
        self.connection.close()
        self._loop.run_until_complete(self._data.close())
        self._loop.close()

    def exact(self, block: BlockPlan, schema: str) -> Exact:
        tables = []
        here = replace(block, source=moved(block.source, schema))
        for query in compiling.compile_block(here):
            values: dict[str, int | str] = {n: _SEED + i for i, n in enumerate(query.seeds)}
            values.update({name: _ANSWER for name, _ in query.scalars})
            tables.append(self._loop.run_until_complete(self._data.run(query, values)))
        with watching() as seen:
            noised = releasing.release_block(block, tables, SeededBits(1))
        return Exact.of(block, tables, [row.keys for row in noised.rows], seen)

    def audit(self, plan: PrivatePlan, bases: Sequence[Base] | None = None) -> list[str]:
        """Everything in which neighbours differ by more than was planned."""
        wrong: list[str] = []
        for number, block in enumerate(plan.blocks):
            for base in self.bases if bases is None else bases:
                wrong += [f"block {number + 1}, {line}" for line in self._audit_base(block, base)]
        return wrong

    def _audit_base(self, block: BlockPlan, base: Base) -> Iterator[str]:
        whole = replace(block, releases=tuple(map(_unlimited, block.releases)))
        here = self.exact(whole, base.name)
        yield from _grouped(block, here, base)
        if whole != block:
            yield from _are_ends(block, here, self.exact(block, base.name))
        if not _is_random(block) and self.exact(whole, base.reordered) != here:
            yield f"{base.name}: another order of rows gives another result"
        reach = reach_of(block.source)
        if reach.by_unit and self.exact(whole, base.nobodys) != here:
            yield f"{base.name}: rows without a unit change the result"
        for schema in _neighbours(reach, base):
            there = self.exact(whole, schema)
            if block.selection is not None:
                yield from (f"{schema}: {line}" for line in _units_moved(reach, here, there))
            for n, release in enumerate(whole.releases):
                for line in _moved(whole, n, reach, here, there):
                    yield f"{schema}: release {n + 1} ({release.aggregate.kind.value}): {line}"


def _unlimited(release: Release) -> Release:
    """MIN and MAX with all their values, of which so many more are nobody's change."""
    return replace(release, needed=None) if isinstance(release, OrderStatistic) else release


def _are_ends(block: BlockPlan, whole: Exact, cut: Exact) -> Iterator[str]:
    """What is fetched of an order statistic is the end of all values that its answer depends on."""
    for n, release in enumerate(block.releases):
        if not isinstance(release, OrderStatistic) or release.needed is None:
            continue
        for keys, values in whole.numbers[n].items():
            pairs = list(zip(values[::2], values[1::2], strict=True))
            last = release.aggregate.kind.value == "max"
            expected = pairs[-release.needed :] if last else pairs[: release.needed]
            found = cut.numbers[n].get(keys, ())
            if list(zip(found[::2], found[1::2], strict=True)) != expected:
                yield f"release {n + 1} does not see the end of its values"


def _grouped(block: BlockPlan, here: Exact, base: Base) -> Iterator[str]:
    if block.selection is not None:
        return
    expected = list(product(*(key.values or () for key in block.keys)))
    if list(here.shown) != expected:
        yield f"{base.name}: {len(here.shown)} rows for {len(expected)} public groups"


def _is_random(block: BlockPlan) -> bool:
    unit = block.neighbours
    return bool(block.cells) and isinstance(unit, RowNeighbours) and not unit.hashed_by


def _neighbours(reach: Reach, base: Base) -> tuple[str, ...]:
    """By the policy, not by the plan: which states are one protected change away."""
    if reach.by_unit:
        return base.without_unit
    return base.without_three if reach.gone == 3 else base.without_row


def _units_moved(reach: Reach, here: Exact, there: Exact) -> Iterator[str]:
    """Private keys: what the selection decides by."""
    keys = {*here.units, *there.units}
    changed = [abs(here.units.get(k, 0) - there.units.get(k, 0)) for k in keys]
    each = 1 if reach.by_unit else reach.rows
    if max(changed, default=0) > each:
        yield f"the number of units of a group moves by {max(changed)}"
    if sum(changed) > reach.groups:
        yield f"numbers of units move by {sum(changed)}, allowed are {reach.groups}"


def _distances(number: int, place: int, here: Exact, there: Exact) -> tuple[int, int]:
    """L1 and squared L2 distance of one number over all groups, absent ones being 0."""
    found = [0, 0]
    nothing: Numbers = (0,) * (place + 1)
    for keys in {*here.numbers[number], *there.numbers[number]}:
        mine = (here.numbers[number].get(keys) or nothing)[place]
        gap = abs(mine - (there.numbers[number].get(keys) or nothing)[place])
        found = [found[0] + gap, found[1] + gap * gap]
    return found[0], found[1]


def _paid(noise: Noise, distances: tuple[int, int], epsilon: Fraction, delta: Fraction) -> str:
    """What is wrong with a distance under this noise, or nothing."""
    match noise:
        case LaplaceNoise():
            allowed = noise.scale * epsilon
            if distances[0] > allowed:
                return f"moves by {distances[0]}, noise hides {allowed}"
        case GaussianNoise():
            rho = Fraction(distances[1]) / (2 * noise.sigma2)
            if rho > zcdp.rho_of_loss(epsilon, delta):
                return f"moves by the square root of {distances[1]}, rho is {float(rho)}"
        case _:
            assert_never(noise)
    return ""


def _moved(block: BlockPlan, number: int, reach: Reach, here: Exact, there: Exact) -> Iterator[str]:
    release = block.releases[number]
    match release:
        case NoisyCount() | NoisySum() | NoisyDistinct():
            distances = _distances(number, 0, here, there)
            if distances[0] > release.sensitivity:
                yield f"moves by {distances[0]}, planned are {release.sensitivity}"
            wrong = _paid(release.noise, distances, release.loss.epsilon, release.loss.delta)
            if wrong:
                yield wrong
        case NoisyMean() | NoisyVariance():
            yield from _moments_moved(release, number, here, there)
        case OrderStatistic():
            yield from _values_moved(release, number, here, there)
        case SmoothedMedian():
            if not _is_random(block):
                yield from _outputs_moved(release, number, reach, here, there)
        case _:
            assert_never(release)


def _moments_moved(
    release: NoisyMean | NoisyVariance, number: int, here: Exact, there: Exact
) -> Iterator[str]:
    """Count, centred total, centred squares: each within rows times its bound per row, together paid."""
    measured = release.measured
    width = measured.high - measured.low
    if width == 0:
        return
    bounds = (1, width, width**2)[: 2 if isinstance(release, NoisyMean) else 3]
    moves = [_distances(number, place, here, there)[0] for place in range(len(bounds))]
    for name, moves_by, bound in zip(("count", "total", "squares"), moves, bounds, strict=False):
        if moves_by > measured.rows * bound:
            yield f"{name} moves by {moves_by}, planned are {measured.rows} times {bound}"
    cost = sum(
        (moves_by / scale for moves_by, scale in zip(moves, scales_of(release), strict=True)),
        Fraction(0),
    )
    if cost > release.loss.epsilon:
        yield f"moments cost {float(cost)}"


def scales_of(release: NoisyMean | NoisyVariance) -> tuple[Fraction, ...]:
    """Of count, total and squares, in this order."""
    measured, epsilon = release.measured, release.loss.epsilon
    if isinstance(release, NoisyMean):
        mean = ratio_mean.scales(measured.low, measured.high, epsilon, measured.rows)
        return mean.count, mean.total
    found = variance.scales(measured.low, measured.high, epsilon, measured.rows)
    return found.count, found.total, found.squares


def _multiset(numbers: Numbers) -> Counter[int]:
    return Counter(dict(zip(numbers[::2], numbers[1::2], strict=True)))


def _values_moved(release: OrderStatistic, number: int, here: Exact, there: Exact) -> Iterator[str]:
    changed = 0
    for keys in {*here.numbers[number], *there.numbers[number]}:
        mine = _multiset(here.numbers[number].get(keys, ()))
        theirs = _multiset(there.numbers[number].get(keys, ()))
        changed += (mine - theirs).total() + (theirs - mine).total()
        if any(not release.measured.low <= v <= release.measured.high for v in mine):
            yield "a value is outside the clamp"
    if changed > release.measured.rows:
        yield f"{changed} values change, planned are {release.measured.rows}"


def _outputs_moved(
    release: SmoothedMedian, number: int, reach: Reach, here: Exact, there: Exact
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
        if sum(changed) > reach.rows:
            yield f"{sum(changed)} partition outputs change, allowed are {reach.rows}"
        return
    if max(changed, default=0) > 1:
        yield f"{max(changed)} partition outputs change in one group"
    if sum(changed) > reach.groups:
        yield f"outputs change in {sum(changed)} groups, allowed are {reach.groups}"
