"""Time windows that the conditions of a statement bound, while what names the present is not yet a constant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from proxy.base.instants import iso_text, seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.written_times import names_its_zone
from proxy.planner.constant_times import shifted_time
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import (
    Case,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    Extract,
    Not,
    Parameter,
    Shift,
)
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import rebuild
from proxy.query.syntax.placeholders import ClientArray, ClientParameter

_DAY = 86_400
# A window of which a minute is a twentieth: where the present bounds none it stands for a width.
_UNKNOWN_WIDTH = Fraction(20 * 60)
_LOWER = frozenset({Comparator.GT, Comparator.GE})
_UPPER = frozenset({Comparator.LT, Comparator.LE})
_PART = re.compile(r"\.\d{1,6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """When a statement is run, in seconds since 1970-01-01.

    Attributes:
        instant: Of the instant.
        clock: As the session's clock shows it, read as if it were UTC's.
        values: Constants that name the present, by their number, exactly.
        moving: Numbers of those that the longest slot changes.
    """

    instant: Fraction
    clock: Fraction
    values: Mapping[int, Constant]
    moving: frozenset[int]

    def seconds(self, constant: Constant) -> Fraction | None:
        """Return the instant of a constant; None: it is no time."""
        kind, value = constant.type, constant.value
        if kind is not None and kind.is_number and isinstance(value, Fraction):
            return value
        if kind is None or not kind.is_time or not isinstance(value, str):
            return None
        if kind is SqlType.TIMESTAMPTZ and names_its_zone(value):
            return seconds_of(value)
        local = seconds_of(value, is_local=True)
        return None if local is None else local - self.clock + self.instant


@dataclass(frozen=True, slots=True)
class _Edge:
    at: Fraction
    is_lower: bool
    is_moving: bool


def narrowest_window(blocks: Sequence[AggregateBlock], present: Present) -> Fraction | None:
    """Return the seconds of the narrowest window that the present bounds.

    A window lies between two neighbouring times that one operand is compared with, or between the last lower
    end and the present.

    Returns:
        None: all are open to one side. At most 20 minutes, where the present bounds no window there.
    """
    widths: list[Fraction] = []
    for block in blocks:
        edges: dict[Expression, list[_Edge]] = {}
        compared, named = 0, 0

        def visit(part: Expression, edges: dict[Expression, list[_Edge]] = edges) -> Expression:
            nonlocal compared, named
            named += _names(part, present)
            if isinstance(part, Not | Case):  # its comparisons are also asked the other way round
                for inner in _comparisons(part):
                    for operand, found in _edges(inner, present):
                        turned = [replace(edge, is_lower=not edge.is_lower) for edge in found]
                        edges.setdefault(operand, []).extend(turned)
            for operand, found in _edges(part, present):
                compared += found[0].is_moving
                edges.setdefault(operand, []).extend(found)
            return part

        changed(block, lambda part: rebuild(part, visit))
        if compared != named:
            widths.append(_UNKNOWN_WIDTH)
        for operand, found in edges.items():
            widths += _widths(found, _present_of(operand, present))
    return min(widths, default=None)


def _comparisons(part: Expression) -> Iterator[Comparison]:
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Comparison):
            yield one
        waiting += children(one)


def _names(part: Expression, present: Present) -> int:
    """How many constants that move a node names by itself."""
    match part:
        case Parameter(source=ClientParameter(number=number) | ClientArray(number=number)):
            return number in present.moving
        case _:
            given = getattr(part, "given", None)
            return isinstance(given, ClientParameter) and given.number in present.moving


def _edges(part: Expression, present: Present) -> Iterator[tuple[Expression, list[_Edge]]]:
    """Ends that a comparison with a constant gives to its other side."""
    for operand, constant, comparator in _sides(part):
        is_moving = bool(_names(constant, present))
        value = _constant(constant, present)
        at = None if value is None else present.seconds(value)
        is_epoch = isinstance(operand, Extract) and operand.field == "epoch"
        if value is None or at is None or _constant(operand, present) is not None:
            continue
        if value.type is not None and value.type.is_number and not is_epoch:
            continue
        if comparator in _LOWER or comparator in _UPPER:
            yield operand, [_Edge(at, comparator in _LOWER, is_moving)]
        elif value.type is SqlType.DATE:
            yield operand, [_Edge(at, True, is_moving), _Edge(at + _DAY, False, is_moving)]


def _constant(part: Expression, present: Present) -> Constant | None:
    match part:
        case Constant():
            return part
        case Parameter(source=ClientParameter(number=number)):
            return present.values.get(number)
        case _:
            return None


def _present_of(operand: Expression, present: Present) -> Fraction:
    """The present, moved as the operand is: `at + interval '7 days' > now()` is a week."""
    if isinstance(operand, Shift) and not operand.given:
        inner = _present_of(operand.operand, present)
        moved = shifted_time(inner, operand)
        return inner if moved is None else moved
    return present.instant


def _widths(edges: Sequence[_Edge], now: Fraction) -> Iterator[Fraction]:
    found = sorted(edges, key=lambda edge: edge.at)
    lower = [edge for edge in found if edge.is_lower and edge.at < now]
    if lower and lower[-1].is_moving:
        yield now - lower[-1].at
    for one, other in pairwise(found):
        if one.at < other.at and (one.is_moving or other.is_moving):
            yield other.at - one.at


def with_whole_steps(block: AggregateBlock, seconds: int) -> AggregateBlock:
    """Round both ends of constant windows down to whole steps.

    Only where both ends lie equally far beyond a step, as tools write a window that moves with the clock. A
    window of whole steps stays as it is.
    """

    def change(part: Expression) -> Expression:
        if not isinstance(part, Connective) or part.word != "AND":
            return part
        moved: set[tuple[Expression, Constant]] = set()
        for operand, low, high in _constant_windows(part):
            beyond = _beyond(low, seconds)
            if beyond and beyond == _beyond(high, seconds):
                moved |= {(operand, low), (operand, high)}
        return rebuild(part, lambda one: _with_rounded(one, moved, seconds)) if moved else part

    return changed(block, lambda part: rebuild(part, change))


def _with_rounded(
    part: Expression, moved: set[tuple[Expression, Constant]], seconds: int
) -> Expression:
    if not isinstance(part, Comparison):
        return part
    left, right = part.left, part.right
    if isinstance(right, Constant) and (left, right) in moved:
        return replace(part, right=_rounded(right, seconds))
    if isinstance(left, Constant) and (right, left) in moved:
        return replace(part, left=_rounded(left, seconds))
    return part


def _constant_windows(part: Connective) -> Iterator[tuple[Expression, Constant, Constant]]:
    """Each operand of an AND with a lower and an upper end that it is given."""
    lower: list[tuple[Expression, Constant]] = []
    upper: list[tuple[Expression, Constant]] = []
    waiting: list[Expression] = list(part.operands)
    while waiting:
        one = waiting.pop()
        if isinstance(one, Connective) and one.word == "AND":
            waiting += one.operands
        for operand, constant, comparator in _sides(one):
            if isinstance(constant, Constant) and not isinstance(operand, Constant):
                lower += [(operand, constant)] * (comparator in _LOWER)
                upper += [(operand, constant)] * (comparator in _UPPER)
    for operand, low in lower:
        yield from ((operand, low, high) for other, high in upper if other == operand)


def _sides(part: Expression) -> Iterator[tuple[Expression, Expression, Comparator]]:
    """A comparison as it reads from either side."""
    if isinstance(part, Comparison):
        mirrored = part.comparator.turned
        yield part.left, part.right, part.comparator
        yield part.right, part.left, mirrored


def _beyond(constant: Constant, seconds: int) -> Fraction:
    """How far a timestamp lies beyond a step, by the clock that it is written by; 0 of anything else."""
    if constant.type not in (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ):
        return Fraction(0)
    at = _written(constant)
    return Fraction(0) if at is None else at % seconds


def _written(constant: Constant) -> Fraction | None:
    if not isinstance(constant.value, str):
        return None
    return seconds_of(constant.value, is_local=not _has_zone(constant))


def _has_zone(constant: Constant) -> bool:
    return constant.type is SqlType.TIMESTAMPTZ and names_its_zone(str(constant.value))


def _rounded(constant: Constant, seconds: int) -> Constant:
    text, at = str(constant.value), _written(constant)
    assert at is not None and constant.type is not None
    if seconds == 1:
        return Constant(_PART.sub("", text), constant.type, constant.position)
    kind = SqlType.TIMESTAMPTZ if _has_zone(constant) else SqlType.TIMESTAMP
    return Constant(
        iso_text(at // seconds * Fraction(seconds), kind), constant.type, constant.position
    )
