"""How often stated intervals hold: counted over shapes and runs, and judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from zlib import crc32

import psycopg

from proxy.base.errors import Refusal
from proxy.kernel.plan import BlockPlan
from tests.seeded_bits import SeededBits
from tests.stated_errors.held import ENOUGH, Held
from tests.stated_errors.own_answers import OwnAnswers, own_answers
from tests.stated_errors.public_engine import NotProtected, PublicEngine
from tests.stated_errors.redrawn import Number, Redrawn, Release
from tests.stated_errors.shapes import Shape

# Of one noisy sum alone, of a large scale: the interval is no wider than it need be.
TIGHT, HOLDS_AT_MOST = "sum", Fraction(97, 100)


@dataclass(slots=True)
class Measured:
    """One shape. exact: intervals that hold the exact answer at the bounds that were chosen; own: those that
    hold PostgreSQL's own, where no unit was above a bound; differ: where these two are not the same although
    nothing was clipped; clipped: what is said of clipped units; unsaid: numbers without error, reason or NULL.
    """

    shape: Shape
    exact: dict[tuple[bool, int], Held] = field(default_factory=dict)
    own: Held = field(default_factory=Held)
    differ: int = 0
    clipped: Held = field(default_factory=Held)
    unsaid: list[str] = field(default_factory=list)

    @property
    def stated(self) -> Held:
        found = Held()
        for one in self.exact.values():
            found += one
        return found

    def add(self, release: Release, own: OwnAnswers | None) -> None:
        for number in release.numbers():
            place = number.is_column, number.place
            self.exact.setdefault(place, Held()).add(number.holds)
            if own is not None and number.is_column and not release.clips:
                self._add_own(number, own.of(number))
        for one in release.chosen.values():
            stated = one.stated
            self.clipped.add(abs(stated.units - one.units) <= stated.half_width)
            self.clipped.add(abs(stated.above - one.above) <= stated.half_width)

    def _add_own(self, number: Number, truth: Fraction | None) -> None:
        if truth is None:
            return
        self.own.add(number.low <= truth <= number.high)
        # Means and deviations are on a grid, distances from the middle of a step of 0.01.
        self.differ += abs(number.exact - truth) > abs(truth) / 10**4 + Fraction(2, 100)


def measured(shape: Shape, public: PublicEngine, runs: int) -> Measured | None:
    """None: the statement is refused, or nothing of it is noisy."""
    try:
        statement = Redrawn(public, shape.sql, **shape.settings)
    except (Refusal, NotProtected):
        return None
    blocks = statement.private.blocks
    if not any(block.releases for block in blocks):
        return None
    found, own = Measured(shape), _own(shape, blocks, public)
    # A seed of its own: equal draws would make shapes of equal structure fail together.
    bits = SeededBits(crc32(shape.name.encode()))
    for _ in range(runs):
        releases, columns = statement.run(bits)
        for release, answers in zip(releases, own, strict=True):
            found.add(release, answers)
        found.unsaid += [
            column.name
            for column in columns
            if column.groups and not column.reason and (column.most is None or column.without)
        ]
    return found


def _own(
    shape: Shape, blocks: Sequence[BlockPlan], public: PublicEngine
) -> list[OwnAnswers | None]:
    """Of each block; None where rows are compared with a noisy answer, and are others than PostgreSQL's."""
    asked: Sequence[str | None] = shape.own or (*(None for _ in blocks[1:]), shape.sql)
    with psycopg.connect(public.superuser_dsn, autocommit=True) as connection:
        return [
            None if sql is None or block.uses_answers else own_answers(connection, sql, block)
            for sql, block in zip(asked, blocks, strict=True)
        ]


def by_kind(found: Iterable[Measured]) -> dict[str, Held]:
    kinds: dict[str, Held] = {}
    for one in found:
        total = kinds.setdefault(one.shape.kind, Held())
        total += one.stated
    return kinds


def totals(found: Iterable[Measured]) -> dict[str, Held]:
    named = {"all": Held(), "PostgreSQL's own": Held(), "dp.clipped": Held()}
    whole, own, clipped = named.values()
    for one in found:
        whole += one.stated
        own += one.own
        clipped += one.clipped
    return named


def complaints(found: list[Measured]) -> list[str]:
    """What is wrong with the errors that are stated."""
    kinds = by_kind(found)
    wrong = [f"{name}: {held}" for name, held in totals(found).items() if held.is_low]
    wrong += [f"{kind}: {held}" for kind, held in kinds.items() if held.is_low]
    for one in found:
        wrong += [
            f"{one.shape.name}, {place}: {held}" for place, held in one.exact.items() if held.is_low
        ]
        if one.differ:
            wrong.append(f"{one.shape.name}: {one.differ} differ from PostgreSQL, nothing clipped")
        wrong += [f"{one.shape.name}: no error and no reason of {name}" for name in one.unsaid[:1]]
    tight = kinds.get(TIGHT, Held())
    if tight.numbers >= ENOUGH and tight.share > HOLDS_AT_MOST:
        wrong.append(f"{TIGHT}: {tight}, its noise is smaller than it says")
    return wrong
