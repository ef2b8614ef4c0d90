"""The columns of a table in a policy file: bounds, grid, values, mechanism, references."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction

from proxy.base.limits import GROUPS_PER_STATEMENT
from proxy.catalog.catalog_model import TableName
from proxy.mechanisms.smoothed_median import MOST_PARTITIONS
from proxy.policy.grid import fits_bigint, has_step
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    Mechanism,
    MovingBounds,
)
from proxy.policy_file.policy_accept import SAID_KEYS, read_said
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import (
    fields,
    is_identifier,
    member,
    named_entries,
    number,
    text,
    values,
    whole,
)
from proxy.policy_file.policy_shapes import (
    NUMBER,
    TEXT,
    Either,
    Keyed,
    KeyList,
    NamedBy,
    Number,
    OneOf,
    Pair,
    one_of,
    whole_number,
)
from proxy.policy_file.yaml_positions import (
    Entry,
    MappingNode,
    Node,
    Position,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

# Bounds of a column: numbers, dates (days since 1970-01-01), timestamps (seconds since, UTC); or up to now.

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


CHOSEN_PRIVATELY = "auto"
UNBOUNDED = "none"

_PARTITIONS = whole_number(3, MOST_PARTITIONS)
_VALUES = KeyList(GROUPS_PER_STATEMENT)
_BOUND = Either((NUMBER, TEXT))  # a number, or a date or timestamp
COLUMN = Keyed(
    {
        "values": _VALUES,
        "bounds": Pair(_BOUND),
        "grid": Number(Fraction(0)),
        "partitions": _PARTITIONS,
        "mechanism": one_of(Mechanism),
        "references": TEXT,
        "per_unit": Either((OneOf((CHOSEN_PRIVATELY,)), Pair(NUMBER))),
        **SAID_KEYS,
    },
    about="columns.C",
)
PUBLIC_COLUMNS = NamedBy(Keyed({}), least=1)


def read_column(entry: Entry, problems: ProblemList) -> ColumnPolicy | None:
    if not is_identifier(entry.key, "a column", entry.key_at, problems):
        return None
    where = f"column {quoted_text(entry.key)}"
    found = fields(entry.value, where, entry.key_at, COLUMN, problems)
    if found is None:
        return None
    mechanism = member(found.get("mechanism"), Mechanism, problems)
    limits = bounds(found["bounds"].value, "bounds", problems) if "bounds" in found else None
    grid = number(found["grid"].value, "grid", problems) if "grid" in found else None
    for key in ("grid", "partitions", "mechanism", "per_unit"):
        if key in found and "bounds" not in found:
            problems.add(
                found[key].key_at,
                f"{key} has no effect without bounds",
                f"write bounds: [low, high], or take {key} out",
            )
    if mechanism in (Mechanism.AUTO, Mechanism.BEST) and "partitions" in found:
        problems.add(
            found["partitions"].key_at,
            f"partitions has no effect with mechanism: {mechanism.value}",
            "only the smoothed median uses partitions",
        )
    if mechanism in (Mechanism.CLIPPED_MEAN, Mechanism.SUM_OVER_COUNT) and (
        limits is not None and limits.kind is not BoundsKind.NUMBER
    ):
        problems.add(
            found["mechanism"].value.at,
            f"mechanism: {mechanism.value} is of AVG, which {limits.kind.value} do not have",
            "MIN and MAX have auto, smooth_median or best",
        )
    if grid is not None and grid <= 0:
        hint = "the step of results, such as 0.01; or leave grid out"
        problems.add(found["grid"].value.at, "grid must be above 0", hint)
    elif grid is not None and isinstance(limits, Bounds) and limits.kind is BoundsKind.NUMBER:
        # Of dates the column's type says whether they count days or seconds: proxy.policy.check.
        if not has_step(limits, grid):
            problems.add(
                found["grid"].value.at,
                "the bounds contain no whole step of the grid",
                "give a finer grid, or bounds that are multiples of it",
            )
        elif not fits_bigint(limits, grid):
            problems.add(
                found["grid"].value.at,
                "bounds / grid does not fit into a bigint",
                "use a coarser grid or tighter bounds",
            )
    keys = values(found.get("values"), _VALUES, problems)
    partitions = _partitions(found.get("partitions"), problems)
    target = _target(found["references"], problems) if "references" in found else None
    per_unit = _per_unit(found.get("per_unit"), limits, problems)
    for key in SAID_KEYS:
        if key in found and not found.keys() & {"bounds", "values"}:
            problems.add(
                found[key].key_at,
                f"{key} has no effect without bounds or values",
                f"write what is said, as bounds or values, or take {key} out",
            )
    return ColumnPolicy(
        entry.key,
        limits,
        keys,
        grid,
        partitions,
        target,
        mechanism,
        per_unit=per_unit if isinstance(per_unit, Bounds) else None,
        chooses_per_unit=per_unit is True,
        said=read_said(found, where, problems),
    )


def _per_unit(
    entry: Entry | None, limits: Bounds | MovingBounds | None, problems: ProblemList
) -> Bounds | bool | None:
    """The bounds of a unit's total; True: they are chosen privately."""
    if entry is None:
        return None
    if limits is not None and limits.kind is not BoundsKind.NUMBER:
        problems.add(
            entry.key_at,
            f"per_unit is of a SUM, which {limits.kind.value} do not have",
            "take per_unit out",
        )
        return None
    if isinstance(entry.value, ScalarNode):
        if entry.value.text == CHOSEN_PRIVATELY:
            return True
        problems.add(
            entry.value.at,
            f"per_unit cannot be {quoted_text(entry.value.text)}",
            f"write [low, high], the bounds of one unit's total, or {CHOSEN_PRIVATELY}",
        )
        return None
    found = bounds(entry.value, "per_unit", problems)
    if found is None or (isinstance(found, Bounds) and found.kind is BoundsKind.NUMBER):
        return found
    hint = "write [low, high], the bounds of one unit's total"
    problems.add(entry.value.at, "per_unit is two numbers", hint)
    return None


def read_public_columns(entry: Entry | None, problems: ProblemList) -> tuple[str, ...] | None:
    """The columns of a public table that are there for analysts, `{id: {}, name: {}}`; None: all of them."""
    if entry is None:
        return None
    entries = named_entries(entry.value, "columns", problems)
    if entries is not None and not entries:
        problems.add(entry.key_at, "columns names no column", "leave it out to list all of them")
    for column in (entries or {}).values():
        is_identifier(column.key, "a column", column.key_at, problems)
        if not isinstance(column.value, MappingNode | RefusedNode) or (
            isinstance(column.value, MappingNode) and column.value.entries
        ):
            problems.add(
                column.value.at,
                f"nothing can be set for the public column {quoted_text(column.key)}",
                "write {}: all its values are public",
            )
    return tuple(entries or ())


def _partitions(entry: Entry | None, problems: ProblemList) -> int | None:
    m = whole(entry, _PARTITIONS, problems)
    if entry is not None and m is not None and m % 2 == 0:
        problems.add(
            entry.value.at,
            "partitions must be odd",
            f"the median of an odd number is one of the outputs; write {m + 1}",
        )
        return None
    return m


def _target(entry: Entry, problems: ProblemList) -> tuple[TableName, str] | None:
    value = text(entry.value, "references", problems)
    if value is None:
        return None
    if value.count(".") != 2 or not all(value.split(".")):
        problems.add(
            entry.value.at,
            f"references cannot be {quoted_text(value)}",
            "write schema.table.column, such as shop.products.id",
        )
        return None
    return column_of_table(value, entry.value.at, problems)


def column_of_table(
    written: str, at: Position, problems: ProblemList
) -> tuple[TableName, str] | None:
    """Of `schema.table.column`, which has its two dots."""
    schema, table, column = written.split(".")
    for part, what in ((schema, "a schema"), (table, "a table"), (column, "a column")):
        if not is_identifier(part, what, at, problems):
            return None
    return TableName(schema, table), column
