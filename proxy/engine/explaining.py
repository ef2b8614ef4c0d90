"""The privacy plan as text or JSON: what a statement would cost and how exact it would be. No data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.mechanisms import discrete_gaussian, discrete_laplace
from proxy.mechanisms.loss import Loss
from proxy.planner.plan import (
    BlockPlan,
    GaussianNoise,
    LaplaceNoise,
    Measured,
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
    UnitNeighbours,
)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How one aggregate of a statement becomes private. error_95: half width of the 95 % interval, None
    where the scale of the noise is private."""

    block: int
    aggregate: str
    mechanism: str
    sensitivity: str
    epsilon: Fraction
    delta: Fraction
    error_95: Fraction | None
    note: str

    def as_json(self) -> dict[str, object]:
        return {
            "block": self.block,
            "aggregate": self.aggregate,
            "mechanism": self.mechanism,
            "sensitivity": self.sensitivity,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "error_95": None if self.error_95 is None else float(self.error_95),
            "note": self.note,
        }


def accuracies(plan: PrivatePlan) -> tuple[Accuracy, ...]:
    """One entry per distinct noisy release, in the order of the statement."""
    return tuple(
        _accuracy(number, release)
        for number, block in enumerate(plan.blocks, start=1)
        for release in block.releases
    )


def _accuracy(block: int, release: Release) -> Accuracy:
    name = release.aggregate.kind.value
    loss = release.loss

    def entry(mechanism: str, moves: str, error: Fraction | None, note: str) -> Accuracy:
        return Accuracy(block, name, mechanism, moves, loss.epsilon, loss.delta, error, note)

    match release:
        case NoisyCount() | NoisyDistinct():
            noise, reach = _noise(release.noise)
            return entry(noise, f"{release.sensitivity} row(s)", Fraction(reach), "")
        case NoisySum():
            noise, reach = _noise(release.noise)
            grid = release.measured.grid
            moves = decimal_text(release.sensitivity * grid)
            return entry(noise, moves, reach * grid, _clamped(release.measured))
        case NoisyMean():
            note = f"{_clamped(release.measured)}; the error shrinks with the number of rows"
            return entry("noisy sum about a noisy centre", "", None, note)
        case NoisyVariance():
            note = f"{_clamped(release.measured)}; the error shrinks with the number of rows"
            return entry("three noisy sums", "", None, note)
        case OrderStatistic():
            note = f"{_clamped(release.measured)}; the error is a rank, not a distance"
            return entry("exponential mechanism", f"{release.measured.rows} row(s)", None, note)
        case SmoothedMedian():
            noise = "PolyPlace" if release.polyplace else "Laplace"
            note = f"{release.partitions} partitions; the scale of the noise is private"
            return entry(f"smoothed median, {noise} noise", "smooth", None, note)
        case _:
            assert_never(release)


def _noise(noise: Noise) -> tuple[str, int]:
    match noise:
        case LaplaceNoise():
            return "discrete Laplace", discrete_laplace.half_width(noise.scale)
        case GaussianNoise():
            return "discrete Gaussian", discrete_gaussian.half_width(noise.sigma2)
        case _:
            assert_never(noise)


def _clamped(measured: Measured) -> str:
    low, high = decimal_text(measured.clamp.low), decimal_text(measured.clamp.high)
    return f"values clamped to {low} .. {high}, grid {decimal_text(measured.grid)}"


def explain_lines(plan: PrivatePlan, remaining: Loss, sql: Sequence[str]) -> Iterator[str]:
    """sql: the backend statements, parameters unnamed."""
    yield f"Differentially private answer  (epsilon {_text(plan.loss.epsilon)}, delta {_text(plan.loss.delta)})"
    found = accuracies(plan)
    for number, (block, statement) in enumerate(zip(plan.blocks, sql, strict=True), start=1):
        yield f"  Block {number} on {', '.join(block.tables())}: {_unit(block)}"
        if block.keys:
            yield f"    Groups: {_groups(block)}"
        for entry in found:
            if entry.block == number:
                yield "    " + _line(entry)
        yield f"    Backend SQL: {statement}"
    left = remaining.epsilon - plan.loss.epsilon
    yield f"  Budget: {_text(remaining.epsilon)} epsilon left now, {_text(left)} after this statement"
    yield "  Nothing was read and nothing was charged."


def explain_json(plan: PrivatePlan, remaining: Loss, sql: Sequence[str]) -> dict[str, object]:
    return {
        "privacy": {"epsilon": float(plan.loss.epsilon), "delta": float(plan.loss.delta)},
        "remaining": {"epsilon": float(remaining.epsilon), "delta": float(remaining.delta)},
        "blocks": [
            {
                "tables": list(block.tables()),
                "unit": _unit(block),
                "keys": len(block.keys),
                "groups": block.groups(),
                "sql": statement,
            }
            for block, statement in zip(plan.blocks, sql, strict=True)
        ],
        "aggregates": [entry.as_json() for entry in accuracies(plan)],
    }


def _groups(block: BlockPlan) -> str:
    if block.selection is None:
        return f"{block.groups()} public ones, all answered, also empty ones"
    each = block.selection.each
    return (
        f"private; each appears with the optimal probability for its number of units, "
        f"epsilon {_text(each.epsilon)}, delta {_text(each.delta)} each"
    )


def _line(entry: Accuracy) -> str:
    error = "private" if entry.error_95 is None else f"+-{_text(entry.error_95)}"
    text = (
        f"{entry.aggregate}: {entry.mechanism}, sensitivity {entry.sensitivity}, "
        f"epsilon {_text(entry.epsilon)}, delta {_text(entry.delta)}, 95 % error {error}"
    )
    return f"{text} ({entry.note})" if entry.note else text


def _unit(block: BlockPlan) -> str:
    match block.neighbours:
        case RowNeighbours(rows=1, not_null=None):
            return "one row is protected"
        case RowNeighbours(not_null=None, partitions=int()):
            rows = block.neighbours.rows
            return f"one unit changes up to {rows} rows of the join, for which its tables are cut"
        case RowNeighbours(not_null=None):
            return f"any {block.neighbours.rows} rows are protected"
        case RowNeighbours(not_null=column):
            assert column is not None
            return f"the unit in {column.column} is protected, one row each (unique)"
        case UnitNeighbours():
            unit = block.neighbours
            text = f"the unit in {unit.column.column} is protected, {unit.rows} rows of it count"
            return text if unit.groups is None else f"{text}, {unit.groups} groups"
        case _:
            assert_never(block.neighbours)


def _text(value: Fraction) -> str:
    return f"{float(value):.6g}"
