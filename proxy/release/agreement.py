"""Answers of one group that hold together: MIN <= quantiles in order <= MAX, and AVG between MIN and MAX.

Each answer is drawn by itself, so two answers about one operand can contradict each other. The adjustment is
post-processing of released numbers: it costs nothing. Kept answers hold what was drawn; the adjustment is
made for each result set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.kernel.plan import Answer
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.release.noisy_relation import NoisyValue

_QUANTILES = (AggregateKind.QUANTILE_CONT, AggregateKind.QUANTILE_DISC)
_BETWEEN = (AggregateKind.AVG, *_QUANTILES)
_Round = Callable[[Fraction], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandAnswers:
    """The answers about one operand under one FILTER, as positions in the list of answers.

    quantiles: Position and rank of each, by rank.
    between: Everything that lies between MIN and MAX.
    """

    minima: tuple[int, ...]
    maxima: tuple[int, ...]
    quantiles: tuple[tuple[int, Fraction], ...]
    between: tuple[int, ...]


def operand_answers(answers: Sequence[Answer]) -> tuple[OperandAnswers, ...]:
    """Group the answers of a block by operand and FILTER. Single answers cannot contradict anything."""
    positions: dict[object, list[int]] = {}
    for position, answer in enumerate(answers):
        aggregate = answer.aggregate
        if _is_ordered(aggregate):
            key = aggregate.operand, aggregate.condition
            positions.setdefault(key, []).append(position)
    return tuple(_operand_answers(answers, own) for own in positions.values() if len(own) > 1)


def agreed(
    groups: Sequence[OperandAnswers], values: Sequence[NoisyValue]
) -> tuple[NoisyValue, ...]:
    """Adjust the answers of one group so that they agree.

    Args:
        groups: As `operand_answers` gives it for the plan's answers.
        values: The noisy answers, by position. NULL takes no part.

    Returns:
        The answers. A changed answer has an interval that covers its drawn and its shown value.
    """
    adjusted = list(values)
    for group in groups:
        _order_quantiles(group, adjusted)
        for least in group.minima:
            for most in group.maxima:
                _order_ends(least, most, adjusted)
        _widen_ends(group, adjusted)
    return tuple(adjusted)


def _is_ordered(aggregate: Aggregate) -> bool:
    return aggregate.operand is not None and aggregate.kind in (
        AggregateKind.MIN,
        AggregateKind.MAX,
        *_BETWEEN,
    )


def _operand_answers(answers: Sequence[Answer], own: Sequence[int]) -> OperandAnswers:
    def of(*kinds: AggregateKind) -> tuple[int, ...]:
        return tuple(position for position in own if answers[position].aggregate.kind in kinds)

    ranks = [(position, answers[position].aggregate.rank) for position in of(*_QUANTILES)]
    return OperandAnswers(
        minima=of(AggregateKind.MIN),
        maxima=of(AggregateKind.MAX),
        quantiles=tuple(sorted(ranks, key=lambda pair: pair[1])),
        between=of(*_BETWEEN),
    )


def _order_quantiles(group: OperandAnswers, values: list[NoisyValue]) -> None:
    """Quantiles of one rank keep their order, so that the order of columns does not matter."""
    own = [(rank, _number(values[n]), n) for n, rank in group.quantiles if not values[n].is_missing]
    positions = [position for _, _, position in sorted(own)]
    numbers = sorted(number for _, number, _ in own)
    for position, number in zip(positions, numbers, strict=True):
        values[position] = _moved(values[position], number, round)


def _order_ends(least: int, most: int, values: list[NoisyValue]) -> None:
    low, high = values[least], values[most]
    if low.is_missing or high.is_missing or _number(low) <= _number(high):
        return
    values[least] = _moved(low, _number(high), math.floor)
    values[most] = _moved(high, _number(low), math.ceil)


def _widen_ends(group: OperandAnswers, values: list[NoisyValue]) -> None:
    between = [_number(values[n]) for n in group.between if not values[n].is_missing]
    if not between:
        return
    for position in group.minima:
        _widen(position, min(between), values, min, math.floor)
    for position in group.maxima:
        _widen(position, max(between), values, max, math.ceil)


def _widen(
    position: int,
    number: Fraction,
    values: list[NoisyValue],
    farther: Callable[[Fraction, Fraction], Fraction],
    to_index: _Round,
) -> None:
    value = values[position]
    if value.is_missing:
        return
    values[position] = _moved(value, farther(_number(value), number), to_index)


def _number(value: NoisyValue) -> Fraction:
    return value.index * value.grid


def _moved(value: NoisyValue, number: Fraction, to_index: _Round) -> NoisyValue:
    """The answer at another number of its grid. Its interval covers the number that was drawn, too."""
    index = to_index(number / value.grid)
    distance = abs(index - value.index)
    if not distance:
        return value
    at, half_width = value.at, value.half_width
    if half_width is not None:
        half_width += distance
    return replace(
        value,
        index=index,
        half_width=half_width,
        at=None if at is None else lambda level: at(level) + distance,
        is_adjusted=True,
    )
