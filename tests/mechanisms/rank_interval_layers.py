"""Layers of verification of the intervals of order statistics: see layers.py for the idea."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from proxy.mechanisms import rank_interval
from proxy.mechanisms.order_statistic import ValueCount
from tests.mechanisms.finite_law import Law, log_ratio, p_value
from tests.mechanisms.goodness_of_fit import DRAWS, FALSE_ALARM
from tests.mechanisms.order_statistic_layers import QUANTILES, WIDE, Table, law_of, tables
from tests.seeded_bits import SeededBits

EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(4))
MISSED = Fraction(1, 40)
_ROUNDING = 1e-9


def lower(table: Table, q: Fraction, epsilon: Fraction, rows: int = 1) -> Law:
    law = rank_interval.lower_law(table.runs, q, 0, table.high, epsilon, MISSED, rows)
    return law_of(law)[::-1]


def upper(table: Table, q: Fraction, epsilon: Fraction, rows: int = 1) -> Law:
    return law_of(rank_interval.upper_law(table.runs, q, 0, table.high, epsilon, MISSED, rows))


def quantiles(table: Table, q: Fraction) -> tuple[int, int, int]:
    """percentile_disc, and the rows between which percentile_cont is (PostgreSQL 17 documentation, 9.21)."""
    values = [run.value for run in table.runs for _ in range(run.count)]
    n = len(values)
    exact = q * (n - 1)
    disc = values[max(1, math.ceil(q * n)) - 1]
    return disc, values[math.floor(exact)], values[math.ceil(exact)]


def filled_tables() -> Iterator[Table]:
    """Few rows; ties; and, for each quantile, tables in which the wrong side is as wide as can be: all rows up
    to the rank at one end of the grid and all others at the other."""
    yield from (Table.dense(small) for small in product(range(3), repeat=4) if sum(small))
    for n in (10, 99, 1000, 4001):
        yield Table((0, 1, WIDE), (0, n, 0), WIDE)
        yield Table((0, 7, WIDE), (n // 10, n, n // 3), WIDE)
        for q, away in product(QUANTILES, (-2, -1, 0, 1, 2)):
            below = min(n, max(0, math.ceil(q * n) + away))
            yield Table((0, WIDE), (below, n - below), WIDE)
        skewed = tuple(n // 2**place for place in range(12))
        yield Table(tuple(2**place for place in range(12)), skewed, 2**12)
    yield Table(tuple(range(0, 2000, 2)), (1,) * 1000, WIDE)


def ends_hold_the_quantile() -> None:
    """Exact: how likely each end is on the wrong side of the quantile."""
    worst = worst_missed()
    assert worst <= MISSED, f"an end misses with probability {worst}"


def worst_missed() -> float:
    found = 0.0
    for table, q, epsilon in product(filled_tables(), QUANTILES, EPSILONS):
        disc, before, after = quantiles(table, q)
        if q > 0:
            law = lower(table, q, epsilon)
            found = max(found, law[min(disc, before) + 1 :].sum())
        if q < 1:
            law = upper(table, q, epsilon)
            found = max(found, law[: max(disc, after)].sum())
    return found


def few_rows_have_the_bounds() -> None:
    """Where the rank that an end aims at is not there, the end is that of the grid, nearly always."""
    for counts in ((0, 0, 0), (1, 0, 0), (0, 1, 1), (0, 0, 4)):
        table = Table((0, 1, WIDE), counts, WIDE)
        for q in QUANTILES:
            epsilon = Fraction(1, 10)  # a few rows are a small part of the ranks that it takes
            assert lower(table, q, epsilon)[0] >= 1 - 2 * MISSED, (counts, q)
            assert upper(table, q, epsilon)[-1] >= 1 - 2 * MISSED, (counts, q)


def ends_are_private() -> None:
    """Exact auditor: one row more, anywhere; units of three rows."""
    for epsilon in (Fraction(1, 2), Fraction(4)):
        worst = worst_log_ratio(epsilon)
        assert worst <= 1 + _ROUNDING, f"epsilon {epsilon}: {worst} epsilon"
    for counts in ((0, 0, 0), (30, 2, 30), (1, 4, 0), (0, 40, 1)):
        for table in (Table.dense(counts), Table((0, 1, WIDE), counts, WIDE)):
            for q, end in product(QUANTILES, (lower, upper)):
                here = end(table, q, Fraction(2), 3)
                for places in product(range(3), repeat=3):
                    there = end(table.with_rows(*places), q, Fraction(2), 3)
                    assert log_ratio(here, there) / 2 <= 1 + _ROUNDING, (q, table, places)


def worst_log_ratio(epsilon: Fraction) -> float:
    """Over tables and all places of one more row, in units of epsilon."""
    return max(
        log_ratio(here, end(table.with_rows(i), q, epsilon)) / float(epsilon)
        for table in tables()
        for q, end in product(QUANTILES[1:4], (lower, upper))
        for here in [end(table, q, epsilon)]
        for i in range(len(table.places))
    )


def distant_rows_may_be_put_together() -> None:
    """As compiler/value_scan.py does it: what is rows_needed or more from the rank q n is one value below and
    one above; of q = 0 the smallest values alone."""
    for seed in range(12):
        chooser = SeededBits(seed)
        high, epsilon = 900, Fraction(2 + seed % 3)
        values = [ValueCount(v, 1 + chooser.below(9)) for v in range(0, high, 1 + chooser.below(3))]
        q = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))[seed % 3]
        reach = rank_interval.rows_needed(high, epsilon, q, MISSED)
        together = _together(values, q, reach)
        assert len(together) < len(values)
        for law in (rank_interval.lower_law, rank_interval.upper_law):
            every, some = (
                law_of(law(these, q, 0, high, epsilon, MISSED)) for these in (values, together)
            )
            np.testing.assert_array_equal(every, some)
        reach = rank_interval.rows_needed(high, epsilon, Fraction(0), MISSED)
        assert sum(value.count for value in values) > reach
        every, some = (
            law_of(rank_interval.upper_law(these, Fraction(0), 0, high, epsilon, MISSED))
            for these in (values, values[:reach])
        )
        np.testing.assert_array_equal(every, some)


def _together(values: Sequence[ValueCount], q: Fraction, reach: int) -> list[ValueCount]:
    target = q * sum(value.count for value in values)
    below: list[ValueCount] = []
    near: list[ValueCount] = []
    above: list[ValueCount] = []
    under = 0
    for value in values:
        after = under + value.count
        side = below if target - after >= reach else above if under - target >= reach else near
        side.append(value)
        under = after
    first = [ValueCount(one.value, sum(value.count for value in below)) for one in below[-1:]]
    last = [ValueCount(one.value, sum(value.count for value in above)) for one in above[:1]]
    return [*first, *near, *last]


def interval_formulas_are_golden() -> None:
    """docs/design/mechanisms.md 9.3: ceil((2 s / epsilon) ln((G + 1) / missed)) + 1."""
    half, fortieth = Fraction(1, 2), Fraction(1, 40)
    for steps, text, q, rows, ranks in (
        (120, "1", half, 1, 10), (120, "3/20", half, 1, 58), (120, "3/10", Fraction(0), 1, 58),
        (65536, "3/20", half, 1, 100), (0, "1", half, 1, 5), (120, "1", half, 3, 27),
    ):  # fmt: skip
        found = rank_interval.ranks_outside(steps, Fraction(text), q, fortieth, rows)
        assert found == ranks, (steps, text, q, rows, found)


def ends_are_drawn_by_their_laws() -> None:
    bits = SeededBits(8)
    table = Table.dense((12, 32, 0, 60, 84, 0, 40, 24, 16, 4))
    q, epsilon = Fraction(1, 2), Fraction(1, 10)
    arguments = (table.runs, q, 0, table.high, epsilon, MISSED, bits)
    laws = lower(table, q, epsilon), upper(table, q, epsilon)
    below = p_value(lambda: rank_interval.lower(*arguments), laws[0], 0, DRAWS // 20)
    above = p_value(lambda: rank_interval.upper(*arguments), laws[1], 0, DRAWS // 20)
    assert min(below, above) > FALSE_ALARM, (below, above)


LAYERS = [
    ends_hold_the_quantile,
    few_rows_have_the_bounds,
    ends_are_private,
    distant_rows_may_be_put_together,
    interval_formulas_are_golden,
    ends_are_drawn_by_their_laws,
]
