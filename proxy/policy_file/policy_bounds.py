"""Bounds of a column: numbers, dates (days since 1970-01-01), timestamps (seconds since, UTC); or up to now."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction

from proxy.policy.policy_model import Bounds, BoundsKind, MovingBounds
from proxy.policy_file.policy_errors import ProblemList
from proxy.policy_file.policy_nodes import number
from proxy.policy_file.yaml_positions import (
    MappingNode,
    Node,
    Position,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP = re.compile(
    _DATE.pattern + r"[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,6})?)?(Z|\+00(?::?00)?)?"
)
NOW = "now"  # as an upper end
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_DAY_SECONDS = 86_400


def bounds(node: Node, what: str, problems: ProblemList) -> Bounds | MovingBounds | None:
    """[low, high], both numbers, dates or timestamps; or [low, now]."""
    match node:
        case SequenceNode(items=(low_node, high_node)):
            pass
        case RefusedNode():
            return None
        case ScalarNode() | MappingNode() | SequenceNode():
            problems.add(node.at, f"{what} must be two values", "write [low, high]")
            return None
    if _is_now(low_node):
        problems.add(
            low_node.at,
            f"{NOW} can only be the high bound",
            f"write [low, {NOW}] with the first date or time that the column has",
        )
        return None
    low = _bound(low_node, "the low bound", problems)
    if _is_now(high_node):
        return None if low is None else _moving(*low, high_node.at, problems)
    high = _bound(high_node, "the high bound", problems)
    if low is None or high is None:
        return None
    (low_value, low_kind), (high_value, high_kind) = low, high
    if low_kind is not high_kind and BoundsKind.NUMBER in (low_kind, high_kind):
        problems.add(
            high_node.at,
            f"{what} mix {low_kind.value} and {high_kind.value}",
            f"write two {low_kind.value}, or two {high_kind.value}",
        )
        return None
    if low_kind is not high_kind:  # a date beside a timestamp is its midnight
        low_value, high_value = (
            value * _DAY_SECONDS if kind is BoundsKind.DATE else value
            for value, kind in ((low_value, low_kind), (high_value, high_kind))
        )
        low_kind = BoundsKind.TIMESTAMP
    if low_value >= high_value:
        wrong = "the wrong way round" if low_value > high_value else "equal"
        problems.add(node.at, f"{what} are {wrong}", "write [low, high] with low below high")
        return None
    return Bounds(low_value, high_value, low_kind)


def _is_now(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.text == NOW


def _moving(
    low: Fraction, kind: BoundsKind, at: Position, problems: ProblemList
) -> MovingBounds | None:
    if kind is BoundsKind.NUMBER:
        problems.add(
            at,
            f"{NOW} is the high bound of dates and timestamps, and the low bound is a number",
            f"write two numbers, or such as [2018-01-01, {NOW}]",
        )
        return None
    return MovingBounds(low, kind)


def _bound(node: Node, what: str, problems: ProblemList) -> tuple[Fraction, BoundsKind] | None:
    if isinstance(node, ScalarNode):
        if (found := _DATE.fullmatch(node.text)) is not None:
            days = _days(found, what, node.at, problems)
            return None if days is None else (Fraction(days), BoundsKind.DATE)
        if (found := _TIMESTAMP.fullmatch(node.text)) is not None:
            seconds = _seconds(found, what, node.at, problems)
            return None if seconds is None else (seconds, BoundsKind.TIMESTAMP)
        if re.match(r"[0-9]{4}-", node.text):
            problems.add(
                node.at, f"{what} is not a date", "write 2026-12-31, or 2026-12-31 23:59:59 in UTC"
            )
            return None
    value = number(node, what, problems)
    return None if value is None else (value, BoundsKind.NUMBER)


def _days(found: re.Match[str], what: str, at: Position, problems: ProblemList) -> int | None:
    year, month, day = (int(part) for part in found.group(1, 2, 3))
    try:
        return datetime.date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        hint = "write the last day of the month, such as 2026-02-28"
        problems.add(at, f"{what} is a day that the calendar does not have", hint)
        return None


def _seconds(
    found: re.Match[str], what: str, at: Position, problems: ProblemList
) -> Fraction | None:
    days = _days(found, what, at, problems)
    if days is None:
        return None
    hour, minute, second = (int(part or 0) for part in found.group(4, 5, 6))
    if hour > 23 or minute > 59 or second > 59:
        hint = "the last is 23:59:59; or write the date alone, which is its midnight"
        problems.add(at, f"{what} is a time that the clock does not have", hint)
        return None
    fraction = Fraction("0" + (found.group(7) or ".0"))
    return days * _DAY_SECONDS + hour * 3600 + minute * 60 + second + fraction
