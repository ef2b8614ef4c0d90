"""Layers of verification of covariance, correlation and regression: see layers.py for the idea."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

from proxy.base.sql_types import SqlType
from proxy.kernel import statistics
from proxy.kernel.formula_model import Formula, NoisySums
from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.estimate import Estimate
from proxy.planner.formulas import FORMULAS
from proxy.policy.policy_model import Bounds, Mechanism
from proxy.query.ir.expressions import Constant
from proxy.query.ir.query_aggregates import AggregateKind
from tests.seeded_bits import SeededBits

Row = tuple[int, int]  # grid indices of y and x, in the order of PostgreSQL's arguments
BOUNDS = (((0, 4), (0, 3)), ((-3, 1), (50, 52)), ((2, 3), (-7, -5)), ((0, 3), (0, 0)))
PAIRS = (
    *(AggregateKind.COVAR_POP, AggregateKind.COVAR_SAMP, AggregateKind.CORR),
    *(AggregateKind.REGR_SLOPE, AggregateKind.REGR_INTERCEPT, AggregateKind.REGR_R2),
)
_RUNS = 400


def formula(kind: AggregateKind) -> Formula:
    return FORMULAS[kind][Mechanism.BEST]


def measured(low: int, high: int, grid: Fraction = Fraction(1), rows: int = 1) -> Measured:
    clamp = Bounds(low * grid, high * grid)
    return Measured(
        operand=Constant(Fraction(0), SqlType.INT4),
        condition=None,
        clamp=clamp,
        grid=grid,
        rows=rows,
    )


def exact_sums(kind: AggregateKind, rows: Sequence[Row], of: tuple[Measured, ...]) -> list[int]:
    """By the definitions, row by row."""
    centred = [[2 * i - (m.low + m.high) for i, m in zip(row, of, strict=True)] for row in rows]
    found = []
    for need in formula(kind).needs:
        match need.statistic:
            case Statistic.ROWS:
                found.append(len(rows))
            case Statistic.CENTRED:
                found.append(sum(row[need.of[0]] for row in centred))
            case Statistic.SQUARES:
                width = of[need.of[0]].high - of[need.of[0]].low
                found.append(sum(2 * row[need.of[0]] ** 2 - width**2 for row in centred))
            case Statistic.PRODUCTS:
                found.append(sum(row[0] * row[1] for row in centred))
            case _:
                raise AssertionError(need)
    return found


def scales(
    kind: AggregateKind, of: tuple[Measured, ...], epsilon: Fraction
) -> tuple[Fraction, ...]:
    """An even part of epsilon for each sum, as the planner plans them."""
    needs, each = formula(kind).needs, epsilon * formula(kind).each
    return tuple(
        discrete_laplace.scale_for(
            of[0].rows * statistics.row_sensitivity(need.statistic, [of[n] for n in need.of]), each
        )
        for need in needs
    )


def estimate(
    kind: AggregateKind, sums: Sequence[int], noise: tuple[Fraction, ...], of: tuple[Measured, ...]
) -> Estimate:
    calculate = formula(kind).of
    assert calculate is not None
    return calculate(NoisySums(sums=tuple(sums), scales=noise, measured=of))


def estimate_of(
    kind: AggregateKind, rows: Sequence[Row], of: tuple[Measured, ...], scale: Fraction
) -> Estimate:
    """Of exact sums, with intervals as of noise of this scale in each."""
    sums = exact_sums(kind, rows, of)
    return estimate(kind, sums, (scale,) * len(sums), of)


def _units(y: tuple[int, int], x: tuple[int, int]) -> Iterator[tuple[Row, ...]]:
    points = list(product(range(y[0], y[1] + 1), range(x[0], x[1] + 1)))
    for rows in (1, 2):
        yield from combinations_with_replacement(points, rows)


def pairs_are_private() -> None:
    """Exact auditor, in fractions: the largest log ratio over every unit, sum |change|/scale, is epsilon for
    the units that move all sums most; no unit costs more."""
    epsilon = Fraction(1)
    for (y, x), kind, rows in product(BOUNDS, PAIRS, (1, 2)):
        of = (measured(*y, rows=rows), measured(*x, rows=rows))
        noise, worst = scales(kind, of, epsilon), Fraction(0)
        for unit in _units(y, x):
            if len(unit) <= rows:
                moves = exact_sums(kind, unit, of)
                worst = max(
                    worst, sum((abs(m) / s for m, s in zip(moves, noise, strict=True)), Fraction(0))
                )
        constant = any(m.low == m.high for m in of)
        assert worst <= epsilon, (y, x, kind, rows, worst)
        assert constant or worst == epsilon, (y, x, kind, rows, worst)


def _tables() -> Iterator[tuple[list[Row], tuple[Measured, ...]]]:
    for seed in range(120):
        chooser = SeededBits(seed)
        y, x = BOUNDS[seed % len(BOUNDS)]
        of = (measured(*y, grid=Fraction(1, 10)), measured(*x, grid=Fraction(5)))
        rows = [
            (y[0] + chooser.below(y[1] - y[0] + 1), x[0] + chooser.below(x[1] - x[0] + 1))
            for _ in range(2 + chooser.below(20))
        ]
        yield rows, of


def _own(rows: Sequence[Row], of: tuple[Measured, ...]) -> Mapping[AggregateKind, Fraction | None]:
    """By the textbook, in fractions; the correlation by its square. None: PostgreSQL's NULL."""
    values = [(row[0] * of[0].grid, row[1] * of[1].grid) for row in rows]
    n = len(values)
    mean_y, mean_x = (sum(part) / Fraction(n) for part in zip(*values, strict=True))
    sxy = sum((y - mean_y) * (x - mean_x) for y, x in values)
    sxx, syy = sum((x - mean_x) ** 2 for _, x in values), sum((y - mean_y) ** 2 for y, _ in values)
    steep = sxy / sxx if sxx else None
    return {
        AggregateKind.COVAR_POP: sxy / n,
        AggregateKind.COVAR_SAMP: sxy / (n - 1),
        AggregateKind.REGR_SLOPE: steep,
        AggregateKind.REGR_INTERCEPT: None if steep is None else mean_y - steep * mean_x,
        AggregateKind.REGR_R2: sxy**2 / (sxx * syy) if sxx and syy else None,
    }


def pairs_without_noise_are_exact() -> None:
    compared = 0
    for rows, of in _tables():
        own = _own(rows, of)
        for kind, expected in own.items():
            found = estimate_of(kind, rows, of, Fraction(1))
            if expected is None:
                continue  # a rule for noisy numbers takes its place: pairs_that_cannot_be_told
            compared += 1
            assert abs(found.value - expected) < Fraction(1, 10**25), (kind, rows)
        squared = own[AggregateKind.REGR_R2]
        corr = estimate_of(AggregateKind.CORR, rows, of, Fraction(1)).value
        if squared is not None:
            assert abs(corr**2 - squared) < Fraction(1, 10**25)
            assert corr * own[AggregateKind.COVAR_POP] >= 0  # type: ignore[operator]
    assert compared > 400


def _limits(
    of: tuple[Measured, ...], rows: int
) -> Mapping[AggregateKind, tuple[Fraction, Fraction]]:
    """What data of so many rows at most within the bounds can have."""
    widths = [(m.high - m.low) * m.grid for m in of]
    covariance, steepest = widths[0] * widths[1] / 4, widths[0] / of[1].grid
    sample = covariance * rows / (rows - 1)
    along = steepest * max(abs(of[1].clamp.low), abs(of[1].clamp.high))
    return {
        AggregateKind.COVAR_POP: (-covariance, covariance),
        AggregateKind.COVAR_SAMP: (-sample, sample),
        AggregateKind.CORR: (Fraction(-1), Fraction(1)),
        AggregateKind.REGR_SLOPE: (-steepest, steepest),
        AggregateKind.REGR_INTERCEPT: (of[0].clamp.low - along, of[0].clamp.high + along),
        AggregateKind.REGR_R2: (Fraction(0), Fraction(1)),
    }


def pairs_are_clamped() -> None:
    """Whatever the noise did, the answer is one that data within the bounds could have, in its interval."""
    chooser, beyond = SeededBits(3), 0
    for (y, x), kind in product(BOUNDS, PAIRS):
        of = (measured(*y, grid=Fraction(1, 10)), measured(*x, grid=Fraction(5)))
        for _ in range(60):
            sums = [chooser.below(400) - 200 for _ in formula(kind).needs]
            found = estimate(kind, sums, (Fraction(3),) * len(sums), of)
            low, high = _limits(of, 2)[kind]
            assert low <= found.least <= found.value <= found.most <= high, (kind, sums)
            beyond += found.value in (low, high)
    assert beyond > 120


def pairs_that_cannot_be_told() -> None:
    """Where PostgreSQL says NULL, the variance that is divided by is 0: the answer is 0, its interval all.
    (Of no rows at all it is 0 too; intervals suppose that there is a row.)"""
    of = (measured(0, 4), measured(0, 3))
    for rows in ([(1, 2)], [(0, 2), (4, 2)]):
        for kind in (AggregateKind.CORR, AggregateKind.REGR_SLOPE, AggregateKind.REGR_R2):
            found = estimate_of(kind, rows, of, Fraction(1, 100))
            low, high = _limits(of, 2)[kind]
            assert (found.value, found.least, found.most) == (Fraction(0), low, high), (kind, rows)
            assert estimate_of(kind, [], of, Fraction(1, 100)).value == 0


def _data() -> tuple[list[Row], tuple[Measured, ...]]:
    """Many rows along a line, with something beside it."""
    chooser = SeededBits(11)
    of = (measured(0, 60), measured(-20, 20))
    rows = []
    for _ in range(4000):
        x = chooser.below(41) - 20
        rows.append((min(max(25 + x // 2 + chooser.below(13) - 6, 0), 60), x))
    return rows, of


def _drawn(sums: Sequence[int], noise: tuple[Fraction, ...], bits: RandomBits) -> list[int]:
    return [s + discrete_laplace.sample(bits, scale) for s, scale in zip(sums, noise, strict=True)]


def pair_errors_are_the_closed_form() -> None:
    """At epsilon 1, to first order: the root of 2 sum (gradient scale)^2, of independent Laplace noise; the
    covariance's gradient by hand, the others' by differences. The measured root mean square spreads by 5 %."""
    rows, of = _data()
    bits = SeededBits(5)
    for kind in PAIRS:
        sums, noise = exact_sums(kind, rows, of), scales(kind, of, Fraction(1))
        truth = estimate(kind, sums, noise, of).value
        errors = [
            float(estimate(kind, _drawn(sums, noise, bits), noise, of).value - truth)
            for _ in range(_RUNS)
        ]
        measured_error = math.sqrt(math.fsum(error * error for error in errors) / _RUNS)
        closed = math.sqrt(
            2
            * math.fsum(
                (g * float(s)) ** 2 for g, s in zip(_gradient(kind, sums, of), noise, strict=True)
            )
        )
        assert 0.85 <= measured_error / closed <= 1.18, (kind, measured_error, closed)


def _gradient(kind: AggregateKind, sums: Sequence[int], of: tuple[Measured, ...]) -> list[float]:
    if kind is AggregateKind.COVAR_POP:
        n, first, second, products = sums
        of_count = 2 * first * second / n**3 - products / n**2
        slopes = (of_count, -second / n**2, -first / n**2, 1 / n)
        return [slope / 4 for slope in slopes]
    found = []
    for place in range(len(sums)):
        ends = []
        for step in (-1, 1):
            changed = [s + step * (n == place) for n, s in enumerate(sums)]
            ends.append(estimate(kind, changed, (Fraction(1, 100),) * len(sums), of).value)
        found.append(float(ends[1] - ends[0]) / 2)
    return found


def pair_intervals_hold_the_truth() -> None:
    """In 95 of 100 answers at least. By union bounds, so rather more; and they are no wider than the range."""
    rows, of = _data()
    bits = SeededBits(6)
    for kind in PAIRS:
        sums, noise = exact_sums(kind, rows, of), scales(kind, of, Fraction(1))
        truth = estimate(kind, sums, noise, of).value
        found = [estimate(kind, _drawn(sums, noise, bits), noise, of) for _ in range(100)]
        held = sum(one.least <= truth <= one.most for one in found)
        assert held >= 95, (kind, held)
        low, high = _limits(of, len(rows))[kind]
        assert all(one.most - one.least < (high - low) * Fraction(3, 5) for one in found), kind


def pair_intervals_are_the_extremes() -> None:
    """Of a covariance: against every point of the box of noises, which no corner alone tells."""
    of = (measured(0, 9), measured(-4, 4))
    for sums in ([6, 11, -9, 25], [4, -8, 10, -30], [9, 20, 30, 60], [5, 0, 3, 8]):
        noise = (Fraction(1, 2), Fraction(1), Fraction(1), Fraction(2))
        found = estimate(AggregateKind.COVAR_POP, sums, noise, of)
        each = 1 - Fraction(5, 100) / 4
        reaches = [discrete_laplace.half_width(scale, each) for scale in noise]
        nearest = [range(s - r, s + r + 1) for s, r in zip(sums, reaches, strict=True)]
        sides = [(part[0], part[len(part) // 2], part[-1]) for part in nearest[1:]]
        nothing = (Fraction(1, 10**9),) * 4
        all_values = [
            estimate(AggregateKind.COVAR_POP, (n, *rest), nothing, of).value
            for n in nearest[0]
            for rest in product(*sides)
        ]
        assert found.least == min(all_values), sums
        assert found.most == max(all_values), sums


def pair_formulas_are_golden() -> None:
    """By hand: y = 0 1 4, x = 0 1 2 within 0..4 and 0..2: covariance 4/3, slope 2, intercept -1/3, r2 12/13."""
    of, rows = (measured(0, 4), measured(0, 2)), [(0, 0), (1, 1), (4, 2)]
    # u = -4 -2 4, v = -2 0 2: products 8 0 8; 2 v^2 - 4 = 4 -4 4; 2 u^2 - 16 = 16 -8 16
    assert exact_sums(AggregateKind.CORR, rows, of) == [3, -2, 0, 16, 4, 24]
    expected = {
        AggregateKind.COVAR_POP: Fraction(4, 3),
        AggregateKind.COVAR_SAMP: Fraction(2),
        AggregateKind.REGR_SLOPE: Fraction(2),
        AggregateKind.REGR_INTERCEPT: Fraction(-1, 3),
        AggregateKind.REGR_R2: Fraction(12, 13),
    }
    for kind, value in expected.items():
        sums = exact_sums(kind, rows, of)
        found = estimate(kind, sums, (Fraction(1),) * len(sums), of).value
        assert abs(found - value) < Fraction(1, 10**25), (kind, found)
    moves = {Statistic.CENTRED: (of[0], 4), Statistic.SQUARES: (of[0], 16)}
    for statistic, (one, width) in moves.items():
        assert statistics.of_row(statistic, (one,)) == (-width, width)
    assert statistics.of_row(Statistic.PRODUCTS, of) == (-8, 8)
    assert statistics.row_sensitivity(Statistic.PRODUCTS, (replace(of[0]), of[1])) == 8


LAYERS = [
    pairs_are_private,
    pairs_without_noise_are_exact,
    pairs_are_clamped,
    pairs_that_cannot_be_told,
    pair_errors_are_the_closed_form,
    pair_intervals_hold_the_truth,
    pair_intervals_are_the_extremes,
    pair_formulas_are_golden,
]
