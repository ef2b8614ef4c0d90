"""Errors that are stated in ranks, of MIN, MAX and quantiles: where an answer is in the values that PostgreSQL
sorts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import psycopg

from proxy.engine.accuracy import ErrorKind
from proxy.engine.answer_accuracy import accuracies
from proxy.estimates import sampling_accuracy
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, UnitExtreme
from tests.seeded_bits import SeededBits
from tests.stated_errors.held import Held
from tests.stated_errors.public_engine import PublicEngine
from tests.stated_errors.redrawn import Redrawn
from tests.stated_errors.shapes import RankShape


def ranks_held(shape: RankShape, public: PublicEngine, runs: int) -> Held:
    """How many answers are within the ranks that are stated of them. Of units whose values share places no
    rank is stated; it is that of the places."""
    statement, bits, held = Redrawn(public, shape.sql), SeededBits(3), Held()
    values = _values(shape, public, statement.private.blocks[0])
    for _ in range(runs):
        ((release,), _) = statement.run(bits)
        plan = replace(statement.private, blocks=(release.block,))
        (described,) = accuracies(plan)
        first = release.block.releases[0]
        if described.error is None:
            assert isinstance(first, UnitExtreme) and first.places.last < first.measured.width
            allowed = sampling_accuracy.error_in_rank(first.places.last, first.own_loss.epsilon)
        else:
            assert described.error.kind is ErrorKind.IN_RANK
            allowed = math.ceil(described.error.value)
        answer = release.noisy.rows[0].values[0].text()
        off = ranks_off(values, Fraction(shape.fraction), Fraction(answer or ""))
        held.add(off <= allowed)
    return held


def _values(shape: RankShape, public: PublicEngine, block: BlockPlan) -> list[Fraction]:
    """Of each row; of units the one that each of them has, at its place."""
    release, sql = block.releases[0], shape.values
    if isinstance(release, UnitExtreme) and isinstance(block.neighbours, UnitNeighbours):
        sql = f"SELECT {shape.of} FROM {shape.rest} GROUP BY {block.neighbours.column.column}"
    with psycopg.connect(public.superuser_dsn) as connection:
        rows = connection.execute(sql.encode()).fetchall()
    values = [Fraction(str(value)) for (value,) in rows if value is not None]
    if isinstance(release, UnitExtreme):
        one, places = release.measured, release.places
        indices = (min(max(round(v / one.grid), one.low), one.high) for v in values)
        values = [places.indices[places.place_of(index)] * one.grid for index in indices]
    return sorted(values)


def ranks_off(values: Sequence[Fraction], fraction: Fraction, answer: Fraction) -> Fraction:
    """By how many rows the answer is away from the quantile; from the first or last value for 0 and 1.

    >>> values = [Fraction(value) for value in (1, 2, 2, 5)]
    >>> [str(ranks_off(values, Fraction(1, 2), Fraction(at))) for at in (2, 3, 6)]
    ['0', '1', '2']
    >>> str(ranks_off(values, Fraction(0), Fraction(5))), str(ranks_off(values, Fraction(1), Fraction(9)))
    ('3', '0')
    """
    below, upto = bisect_left(values, answer), bisect_right(values, answer)
    if fraction == 0:
        return Fraction(max(0, below))
    if fraction == 1:
        return Fraction(max(0, len(values) - upto))
    target = fraction * len(values)
    return max(below - target, target - upto, Fraction(0))
