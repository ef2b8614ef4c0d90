"""Errors that are stated in ranks, of MIN, MAX and quantiles: where an answer is in the values that PostgreSQL
sorts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import psycopg

from proxy.engine.accuracy import ErrorKind
from proxy.engine.answer_accuracy import accuracies
from tests.seeded_bits import SeededBits
from tests.stated_errors.held import Held
from tests.stated_errors.public_engine import PublicEngine
from tests.stated_errors.redrawn import Redrawn
from tests.stated_errors.shapes import RankShape


def ranks_held(shape: RankShape, public: PublicEngine, runs: int) -> Held:
    """How many answers are within the ranks that are stated of them."""
    with psycopg.connect(public.superuser_dsn) as connection:
        rows = connection.execute(shape.values.encode()).fetchall()
    values = sorted(Fraction(str(value)) for (value,) in rows)
    statement, bits, held = Redrawn(public, shape.sql), SeededBits(3), Held()
    for _ in range(runs):
        ((release,), _) = statement.run(bits)
        plan = replace(statement.private, blocks=(release.block,))
        (described,) = accuracies(plan)
        assert described.error is not None and described.error.kind is ErrorKind.IN_RANK
        answer = release.noisy.rows[0].values[0].text()
        off = ranks_off(values, Fraction(shape.fraction), Fraction(answer or ""))
        held.add(off <= described.error.value)
    return held


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
