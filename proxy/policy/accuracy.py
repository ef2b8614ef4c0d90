"""How exact answers will be: noise per column and aggregate, from public numbers only.

Every row is for a statement that asks for this one aggregate, ungrouped, at the policy's epsilon and
delta. A statement with k distinct aggregates has k times the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.catalog.catalog_model import Catalog, Column, Table
from proxy.mechanisms import (
    clipped_mean,
    discrete_gaussian,
    discrete_laplace,
    polyplace,
    recentred_mean,
    smoothed_median,
    sum_over_count,
    variance,
    zcdp,
)
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.split import per_unit
from proxy.policy import policy_model
from proxy.policy.accuracy_line import AccuracyAggregate, AccuracyMechanism, PolicyAccuracy
from proxy.policy.check import fitted
from proxy.policy.grid import average_grid, grid_of, indices
from proxy.policy.policy_model import (
    Bounds,
    ColumnPolicy,
    MedianNoise,
    Noise,
    Policy,
    Privacy,
    ProtectedTable,
    RowUnit,
    Unit,
)

ORDER_STEPS = 2**16  # grid points of an order statistic; the planner makes the grid coarser above
_LEVEL = Fraction(95, 100)
UNITS_PER_PARTITION = 8  # below, the median of partition results is off by more than its noise
ALL_ROWS = "*"


def accuracy_table(policy: Policy, catalog: Catalog) -> list[PolicyAccuracy]:
    """A line per protected table, column and aggregate that the policy allows.

    Given    a policy for which `check` finds nothing
    Refuses  another one with ValueError
    Source   docs/design/mechanisms.md 2, 3, 4, 5, 6, 7, 9
    """
    policy = fitted(policy, catalog)
    lines: list[PolicyAccuracy] = []
    for table in policy.protected():
        rows = rows_of_unit(table, catalog.tables[table.name])
        lines.append(_count(table, ALL_ROWS, rows, policy.privacy))
        for name, limits in table.columns.items():
            lines.append(_count(table, name, rows, policy.privacy))
            column = catalog.tables[table.name].column(name)
            if column is not None and limits.bounds is not None:
                lines.extend(_bounded(table, column, limits, limits.bounds, rows, policy.privacy))
    return lines


def rows_of_unit(table: ProtectedTable, described: Table) -> int:
    """How many rows one privacy unit adds to a COUNT or a SUM at most."""
    if isinstance(table.unit, RowUnit):
        return table.unit.rows
    if table.unit.path is None and described.is_unique(table.unit.column):
        return 1  # the server allows no second row
    if table.max_rows_per_unit is None:
        raise ValueError(f"'{table.name}' has an identifier without max_rows_per_unit")
    return table.max_rows_per_unit


def _count(table: ProtectedTable, column: str, rows: int, privacy: Privacy) -> PolicyAccuracy:
    return _additive(table, column, AccuracyAggregate.COUNT, rows, Fraction(1), privacy)


def _additive(
    table: ProtectedTable,
    column: str,
    aggregate: AccuracyAggregate,
    steps: int,
    grid: Fraction,
    privacy: Privacy,
) -> PolicyAccuracy:
    """`steps`: how many grid steps one unit can add to the answer, or take from it."""
    match privacy.noise:
        case Noise.LAPLACE:
            mechanism = AccuracyMechanism.LAPLACE
            scale = discrete_laplace.scale_for(steps, privacy.epsilon)
            error = discrete_laplace.half_width(scale)
        case Noise.GAUSSIAN:
            mechanism = AccuracyMechanism.GAUSSIAN
            rho = zcdp.rho_of_loss(privacy.epsilon, privacy.delta)
            sigma2 = discrete_gaussian.sigma2_for(steps * steps, rho)
            scale = Fraction(math.sqrt(sigma2))
            error = discrete_gaussian.half_width(sigma2)
        case _:
            assert_never(privacy.noise)
    name = str(table.name)
    return PolicyAccuracy(
        name, column, aggregate, mechanism, steps * grid, scale * grid, error * grid
    )


def _bounded(
    table: ProtectedTable,
    column: Column,
    limits: ColumnPolicy,
    bounds: Bounds,
    rows: int,
    privacy: Privacy,
) -> list[PolicyAccuracy]:
    grid = grid_of(column, limits)
    low, high = indices(bounds, grid)
    chosen = limits.mechanism or privacy.mechanism
    lines: list[PolicyAccuracy] = []
    if column.type.is_number:
        largest = max(abs(low), abs(high))
        lines.append(
            _additive(table, column.name, AccuracyAggregate.SUM, rows * largest, grid, privacy)
        )
        average = average_grid(column, limits)
        match chosen:
            case policy_model.Mechanism.BEST:
                lines.append(_mean(table, column.name, high - low, grid, rows, privacy))
            case policy_model.Mechanism.SUM_OVER_COUNT:
                lines.append(_ratio(table, column.name, low, high, grid, rows, privacy))
            case policy_model.Mechanism.CLIPPED_MEAN:
                lines.append(_clipped(table, limits, bounds, average, privacy))
            case policy_model.Mechanism.SMOOTH_MEDIAN:
                lines.append(
                    _median(table, AccuracyAggregate.AVG, limits, bounds, average, privacy)
                )
            case _:
                assert_never(chosen)
    for aggregate in (AccuracyAggregate.MIN, AccuracyAggregate.MAX):
        if chosen.of_extremes is policy_model.Mechanism.BEST:
            lines.append(_rank(table, column.name, aggregate, high - low, rows, privacy))
        else:
            lines.append(_median(table, aggregate, limits, bounds, grid, privacy))
    if column.type.is_number:
        lines.append(_variance(table, column.name, high - low, grid, rows, privacy))
    lines.append(_rank(table, column.name, AccuracyAggregate.QUANTILE, high - low, rows, privacy))
    return lines


def _median(
    table: ProtectedTable,
    aggregate: AccuracyAggregate,
    limits: ColumnPolicy,
    bounds: Bounds,
    grid: Fraction,
    privacy: Privacy,
) -> PolicyAccuracy:
    low, high = indices(bounds, grid)
    steps = high - low
    m = limits.partitions
    match privacy.median_noise:
        case MedianNoise.LAPLACE:
            mechanism = AccuracyMechanism.SMOOTHED_MEDIAN
            loss = per_row(Loss(privacy.epsilon, privacy.delta), table.unit)
            m = m or smoothed_median.partitions(loss.epsilon, loss.delta, steps)
            floor = smoothed_median.noise_floor(steps, m, loss.epsilon, loss.delta)
            error = smoothed_median.expected_floor(steps, m, loss.epsilon, loss.delta)
            feasible = smoothed_median.feasible(steps, m, loss.epsilon, loss.delta)
        case MedianNoise.POLYPLACE:
            mechanism = AccuracyMechanism.POLYPLACE
            loss = per_row(Loss(privacy.epsilon, Fraction(0)), table.unit)
            of_mean = aggregate is AccuracyAggregate.AVG
            kappa = polyplace.KAPPA_OF_MEANS if of_mean else polyplace.KAPPA_OF_EXTREMES
            m = m or polyplace.partitions(loss.epsilon, steps, kappa)
            floor = polyplace.noise_floor(steps, m, loss.epsilon)
            error = polyplace.expected_floor(steps, m, loss.epsilon)
            feasible = polyplace.feasible(steps, m, loss.epsilon)
        case _:
            assert_never(privacy.median_noise)
    return PolicyAccuracy(
        str(table.name),
        limits.name,
        aggregate,
        mechanism,
        None,
        None,
        error * grid,
        m,
        UNITS_PER_PARTITION * m,
        floor * float(grid),
        feasible,
    )


def _mean(
    table: ProtectedTable, column: str, steps: int, grid: Fraction, rows: int, privacy: Privacy
) -> PolicyAccuracy:
    """To first order: noise of the sum about the farthest mean, in half steps."""
    share = recentred_mean.allocation(privacy.epsilon)
    (total,) = _reaches((discrete_laplace.scale_for(2 * steps * rows, share.many),))
    return _moments(table, column, AccuracyAggregate.AVG, total * grid / 2)


def _ratio(
    table: ProtectedTable,
    column: str,
    low: int,
    high: int,
    grid: Fraction,
    rows: int,
    privacy: Privacy,
) -> PolicyAccuracy:
    """To first order, as for a mean of noisy sums: at the farthest mean."""
    noise = sum_over_count.scales(low, high, privacy.epsilon, rows)
    total, count = _reaches((noise.total, noise.count))
    error = (total + max(abs(low), abs(high)) * count) * grid
    found = _moments(table, column, AccuracyAggregate.AVG, error)
    return replace(found, mechanism=AccuracyMechanism.SUM_OVER_COUNT)


def _clipped(
    table: ProtectedTable,
    limits: ColumnPolicy,
    bounds: Bounds,
    grid: Fraction,
    privacy: Privacy,
) -> PolicyAccuracy:
    low, high = indices(bounds, grid)
    changed = table.unit.rows if isinstance(table.unit, RowUnit) else 1
    m = limits.partitions or clipped_mean.partitions(privacy.epsilon, changed)
    scale = clipped_mean.scale(low, high, privacy.epsilon, changed) / m
    error = clipped_mean.half_width(m, low, high, privacy.epsilon, changed)
    return PolicyAccuracy(
        str(table.name),
        limits.name,
        AccuracyAggregate.AVG,
        AccuracyMechanism.CLIPPED_MEAN,
        Fraction(changed * (high - low), m) * grid,
        scale * grid,
        error * grid,
        m,
        UNITS_PER_PARTITION * m,
        feasible=error < high - low,
    )


def _variance(
    table: ProtectedTable, column: str, steps: int, grid: Fraction, rows: int, privacy: Privacy
) -> PolicyAccuracy:
    """Of VAR_POP, to first order in each of three noises, at the worst mean and variance.

    With D steps and n rows, 4 VAR = (S/n + D^2)/2 - (T/n)^2 with |S/n| <= D^2 and |T/n| <= D.
    """
    noise = variance.scales(0, steps, privacy.epsilon, rows)
    squares, total, count = _reaches((noise.squares, noise.total, noise.count))
    of_squares = Fraction(squares + steps**2 * count, 2)
    of_total = 2 * steps * (total + steps * count)
    return _moments(
        table, column, AccuracyAggregate.VARIANCE, (of_squares + of_total) * grid**2 / 4
    )


def _reaches(scales: Sequence[Fraction]) -> list[int]:
    """Half widths that hold all at once in 95 of 100 answers (union bound)."""
    each = 1 - (1 - _LEVEL) / len(scales)
    return [discrete_laplace.half_width(scale, each) for scale in scales]


def _moments(
    table: ProtectedTable, column: str, aggregate: AccuracyAggregate, error_times_rows: Fraction
) -> PolicyAccuracy:
    return PolicyAccuracy(
        str(table.name),
        column,
        aggregate,
        AccuracyMechanism.NOISY_MOMENTS,
        None,
        None,
        None,
        error_times_rows=error_times_rows,
    )


def _rank(
    table: ProtectedTable,
    column: str,
    aggregate: AccuracyAggregate,
    steps: int,
    rows: int,
    privacy: Privacy,
) -> PolicyAccuracy:
    """(2 s / epsilon) ln(G / 0.05) for G grid points: McSherry, Talwar 2007, theorem 6 with the right
    value on the grid. A quantile's s is at most that of MIN and MAX."""
    while steps > ORDER_STEPS:
        steps = -(-steps // 10)
    missed = math.log((steps + 1) / float(1 - _LEVEL))
    return PolicyAccuracy(
        str(table.name),
        column,
        aggregate,
        AccuracyMechanism.ORDER_STATISTIC,
        None,
        None,
        None,
        error_in_rank=math.ceil(2 * rows / float(privacy.epsilon) * missed),
    )


def per_row(loss: Loss, unit: Unit) -> Loss:
    """What sample-and-aggregate may spend: an identifier is in one partition, k rows in up to k."""
    return per_unit(loss, unit.rows) if isinstance(unit, RowUnit) else loss
